/** Metrics of the cluster: leases, rooms taken over and handed over, connections forwarded to a room's owner. */
import type { Maker } from "./maker.ts";

/** Results of one lease renewal. ok: extended. lost: another process holds it. failed: the store did not answer. */
const RENEWALS = ["ok", "lost", "failed"] as const;
export type Renewal = (typeof RENEWALS)[number];

/** proxy: forwarded. unreachable: the owner did not answer. */
const FORWARDS = ["proxy", "unreachable"] as const;

/**
 * Reasons for quarantine. attempts: the processes that took the room over crashed. steps: its steps failed repeatedly.
 * version: another version of program or scene stepped it. differs: its journal does not reproduce the recorded states.
 */
const QUARANTINE_REASONS = ["attempts", "steps", "version", "differs"] as const;
export type QuarantineReason = (typeof QUARANTINE_REASONS)[number];

/** moved: a running room, because this process was too busy. placed: a new room, created at a less busy process. */
const BALANCED = ["moved", "placed"] as const;

/** Values read at every scrape. */
export interface ClusterSources {
  /** Rooms whose lease this process holds. */
  roomsOwned: () => number;
  /** Time left of the lease that ends first, s, by this process's monotonic clock; Infinity without leases. */
  leaseSecondsLeft: () => number;
}

export class ClusterMetrics {
  /** Set by the holder of the leases. */
  sources: ClusterSources = { roomsOwned: () => 0, leaseSecondsLeft: () => Infinity };
  /** Counts lease renewals by result; `by` leases at once. */
  readonly renewal: (result: Renewal, by?: number) => void;
  /** Counts rooms taken over from a process that died or was cut off. */
  readonly takeover: () => void;
  /** Counts rooms released for other processes (out), and claimed after a release (in). */
  readonly handover: (direction: "out" | "in") => void;
  /** Counts requests and sockets for rooms of other processes. */
  readonly forwarded: (way: (typeof FORWARDS)[number]) => void;
  /** Sets the number of rooms of all processes, from this process's last read of the store. */
  readonly known: (owned: number, free: number, quarantined: number) => void;
  /** Counts rooms that went to a less busy process. */
  readonly balanced: (what: (typeof BALANCED)[number]) => void;
  /** Share of the stepping threads' time that this process reports to the others. Set by the reporter. */
  load: () => number = () => 0;
  /** Number of known processes by their reported state. */
  processes: () => Record<string, number> = () => ({});
  /** Counts quarantined rooms. */
  readonly quarantined: (reason: QuarantineReason) => void;

  constructor(maker: Maker) {
    this.renewal = maker.countBy("pliant_lease_renewals_total", "Lease renewals, by result.", "result", RENEWALS);
    const takeovers = maker.counter(
      "pliant_takeovers_total",
      "Rooms taken over from a process whose lease had expired.",
    );
    this.takeover = () => takeovers.inc();
    this.handover = maker.countBy(
      "pliant_handovers_total",
      "Rooms handed over to another process (out) and taken from a process that released them (in).",
      "direction",
      ["out", "in"],
    );
    this.forwarded = maker.countBy(
      "pliant_forwarded_total",
      "Requests and sockets for rooms of other processes, by result.",
      "way",
      FORWARDS,
    );
    const known = { owned: 0, free: 0, quarantined: 0 };
    maker.gaugeBy(
      "pliant_rooms_known",
      "Rooms of all processes as of this process's last read of the store: owned, free to take, or quarantined.",
      "state",
      () => known,
    );
    this.known = (owned, free, quarantined) => void Object.assign(known, { owned, free, quarantined });
    this.balanced = maker.countBy(
      "pliant_balanced_rooms_total",
      "Rooms that went to a less busy process: running ones (moved) and new ones (placed).",
      "what",
      BALANCED,
    );
    maker.gauge(
      "pliant_process_load_ratio",
      "Share of the stepping threads' time that shared rooms take, 0 to 1, as reported to other processes.",
      () => this.load(),
    );
    maker.gaugeBy(
      "pliant_processes_known",
      "Processes on the same store as of this process's last read, by their reported state.",
      "state",
      () => this.processes(),
    );
    this.quarantined = maker.countBy(
      "pliant_rooms_quarantined_total",
      "Quarantined rooms: no process serves them until an operator has inspected them.",
      "reason",
      QUARANTINE_REASONS,
    );
    maker.gauge("pliant_rooms_owned", "Rooms whose lease this process holds.", () => this.sources.roomsOwned());
    maker.gauge("pliant_lease_seconds_left", "Time left of the lease that ends first; +Inf without leases.", () =>
      this.sources.leaseSecondsLeft(),
    );
  }
}
