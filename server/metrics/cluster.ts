/**
 * Which process has which rooms: leases, rooms taken over and handed over, connections passed on to the process that
 * owns the room.
 */
import type { Maker } from "./maker.ts";

/** Of one lease at one renewal. ok: prolonged. lost: it is somebody else's. failed: the store did not answer. */
const RENEWALS = ["ok", "lost", "failed"] as const;
export type Renewal = (typeof RENEWALS)[number];

/** proxy: passed through. unreachable: the owner did not answer. */
const FORWARDS = ["proxy", "unreachable"] as const;

/**
 * attempts: whoever took the room did not survive it. steps: its steps were lost again and again. version: another
 * program or scene stepped it. differs: its journal does not lead to the states that it was recorded with.
 */
const PARKED_REASONS = ["attempts", "steps", "version", "differs"] as const;
export type ParkedReason = (typeof PARKED_REASONS)[number];

/** moved: a running room, because this process was too busy. placed: a new one, made at a less busy process. */
const BALANCED = ["moved", "placed"] as const;

/** Read at every scrape. */
export interface ClusterSources {
  /** Rooms whose lease this process holds. */
  roomsOwned: () => number;
  /** Seconds left of the lease that ends first, by this process's monotonic clock; Infinity when there is none. */
  leaseSecondsLeft: () => number;
}

export class ClusterMetrics {
  /** Whoever keeps leases puts its own here. */
  sources: ClusterSources = { roomsOwned: () => 0, leaseSecondsLeft: () => Infinity };
  /** A lease was renewed, or not; `by` leases at once. */
  readonly renewal: (result: Renewal, by?: number) => void;
  /** A room of a process that died or was cut off goes on here. */
  readonly takeover: () => void;
  /** A room was given up for others to claim, or claimed after another process gave it up. */
  readonly handover: (direction: "out" | "in") => void;
  /** A request or socket for a room that another process owns. */
  readonly forwarded: (way: (typeof FORWARDS)[number]) => void;
  /** Rooms of all processes at this process's last look into the store. */
  readonly known: (owned: number, free: number, parked: number) => void;
  /** A room went to a less busy process. */
  readonly balanced: (what: (typeof BALANCED)[number]) => void;
  /** Share of the stepping threads' time, as other processes are told. Whoever tells them puts its own here. */
  load: () => number = () => 0;
  /** Processes that others know of, by what they say of themselves. */
  processes: () => Record<string, number> = () => ({});
  /** A room is not served any more until an operator has looked at it. */
  readonly parked: (reason: ParkedReason) => void;

  constructor(maker: Maker) {
    this.renewal = maker.countBy(
      "pliant_lease_renewals_total",
      "Leases that were due for renewal, by what became of them.",
      "result",
      RENEWALS,
    );
    const takeovers = maker.counter(
      "pliant_takeovers_total",
      "Rooms taken over from a process whose lease had run out.",
    );
    this.takeover = () => takeovers.inc();
    this.handover = maker.countBy(
      "pliant_handovers_total",
      "Rooms handed over to another process (out) and taken from one that gave them up (in).",
      "direction",
      ["out", "in"],
    );
    this.forwarded = maker.countBy(
      "pliant_forwarded_total",
      "Requests and sockets for rooms of other processes, by what was done with them.",
      "way",
      FORWARDS,
    );
    const known = { owned: 0, free: 0, parked: 0 };
    maker.gaugeBy(
      "pliant_rooms_known",
      "Rooms of all processes at this process's last look into the store, by whether anybody owns them, may own them (free), or is not to (parked).",
      "state",
      () => known,
    );
    this.known = (owned, free, parked) => void Object.assign(known, { owned, free, parked });
    this.balanced = maker.countBy(
      "pliant_balanced_rooms_total",
      "Rooms that went to a less busy process: running ones (moved) and new ones (placed).",
      "what",
      BALANCED,
    );
    maker.gauge(
      "pliant_process_load_ratio",
      "Share of the stepping threads' time that shared rooms take, 0 to 1, as other processes are told.",
      () => this.load(),
    );
    maker.gaugeBy(
      "pliant_processes_known",
      "Processes on the same store as of this one's last look, by what they say of themselves.",
      "state",
      () => this.processes(),
    );
    this.parked = maker.countBy(
      "pliant_rooms_parked_total",
      "Rooms that were parked: nobody serves them until an operator has looked at them.",
      "reason",
      PARKED_REASONS,
    );
    maker.gauge("pliant_rooms_owned", "Rooms whose lease this process holds.", () => this.sources.roomsOwned());
    maker.gauge(
      "pliant_lease_seconds_left",
      "What is left of the lease that ends first; +Inf when this process holds none.",
      () => this.sources.leaseSecondsLeft(),
    );
  }
}
