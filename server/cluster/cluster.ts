/**
 * One process among several that share a store. It keeps its leases, takes over rooms without owner, locates rooms, and
 * hands its own rooms over when it ends.
 *
 *     server A --- lease of room x, epoch 7 --- store --- listing: x is at A --- server B: forwards requests for x to A
 *       |  dies, is cut off, or hands over        |
 *       '-- lease expires or is released          '--- B or C claims x, epoch 8, restores it, steps it; a late write of
 *                                                 A (7) is refused
 *
 * With a store for one process (SQLite) the same code runs without other processes; that is how rooms come back after a
 * restart.
 */
import type { ClusterMetrics } from "../metrics/cluster.ts";
import { processName } from "../store/processName.ts";
import type { Holder, ListedProcess, Listing, Quarantined, Store } from "../store/store.ts";
import { Balancer, type Balancing, type PlaceForRoom } from "./balancer.ts";
import { LeaseKeeper, type Log } from "./leaseKeeper.ts";
import { type OwnState, Processes } from "./processes.ts";
import type { ClusterRooms } from "./rooms.ts";
import { Takeover } from "./takeover.ts";

/** Location of a room. moving: it exists, and a process will have it in a moment. quarantined: it is quarantined. */
export type Place =
  | { kind: "here" }
  | { kind: "there"; url: string; process: string }
  | { kind: "moving" }
  | { kind: "quarantined"; quarantined: Quarantined }
  | { kind: "nowhere" };

/**
 * Lifetime of a cached store answer about a room, ms: a thousand clients that reconnect at once cause only a few
 * queries.
 */
const BELIEVED_MS = 300;
/** Longest wait of a request for a moving room, and interval between two looks, ms. */
const PATIENCE_MS = 4000;
const PATIENCE_STEP_MS = 100;
/** Number of rooms that are handed over at the same time; each saves and stores its state. */
const HANDED_AT_ONCE = 4;

export interface ClusterOptions {
  store: Store;
  rooms: ClusterRooms;
  maxRooms: number;
  balancing: Balancing;
  /** This process's state for its reports. */
  own: () => OwnState;
  metrics: ClusterMetrics;
  log: Log;
}

export class Cluster {
  /** The store that all code must use, because it registers claimed and released leases. */
  readonly store: Store;
  /** This process; its URL is set by `start`, once it listens. */
  readonly holder: Holder = { process: processName(), url: "" };
  readonly #options: ClusterOptions;
  readonly #keeper: LeaseKeeper;
  readonly #takeover: Takeover;
  readonly #processes: Processes;
  readonly #balancer: Balancer;
  readonly #asked = new Map<string, { listing: Promise<Listing | null>; untilMs: number }>();
  /** Rooms that are being handed over. */
  readonly #leaving = new Set<string>();
  #closing: Promise<void> | null = null;

  constructor(options: ClusterOptions) {
    this.#options = options;
    this.#keeper = new LeaseKeeper({ ...options, holder: this.holder });
    this.store = this.#keeper.store;
    this.#processes = new Processes({ ...options, holder: this.holder });
    this.#balancer = new Balancer({
      ...options,
      processes: this.#processes,
      handOver: (rooms) => this.#handOverTo(rooms),
    });
    this.#takeover = new Takeover({
      ...options,
      store: this.store,
      holder: this.holder,
      successors: (free) => this.#balancer.successors(free),
    });
  }

  /** Starts taking rooms over. @param url at which other processes reach this one */
  start(url: string): void {
    this.holder.url = url.replace(/\/+$/, "");
    if (this.#closing !== null) return;
    this.#processes.start(() => void this.#balancer.look());
    this.#takeover.start();
  }

  /** Time until which this process may step the room, ms on performance.now(). Check it before every tick. */
  ownedUntilMs(room: string): number {
    return this.#keeper.ownedUntilMs(room);
  }

  /** Lists all rooms of all processes. @throws StoreUnavailable */
  list(): Promise<Listing[]> {
    return this.store.rooms();
  }

  /** Processes with a valid report at the last look, including this one. */
  get processes(): readonly ListedProcess[] {
    return this.#processes.known;
  }

  /** Returns the time by which the clock of a process is ahead of this one's, ms; 0 if unknown. */
  aheadMs(process: string): number {
    return this.#processes.aheadMs(process);
  }

  /** Best process for a new room; null: this one. */
  place(): PlaceForRoom | null {
    return this.#balancer.place();
  }

  /** Returns whether this room without owner is left to another process. */
  async isOthers(room: Listing): Promise<boolean> {
    return (await this.#balancer.successors([room])).size > 0;
  }

  /** Locates a room; takes it over if it has no owner. @throws StoreUnavailable */
  async locate(room: string): Promise<Place> {
    const { rooms } = this.#options;
    for (const untilMs = performance.now() + PATIENCE_MS; ; ) {
      if (rooms.isOpen(room)) return { kind: "here" };
      const listing = await this.#look(room);
      if (listing === null) return { kind: "nowhere" };
      const { owner } = listing;
      // An owner at this process's address has ended: its lease expires, and the room comes back here or elsewhere.
      if (owner && owner.process !== this.holder.process && owner.url !== this.holder.url)
        return { kind: "there", url: owner.url, process: owner.process };
      if (listing.quarantined && !owner) return { kind: "quarantined", quarantined: listing.quarantined };
      const successor = owner ? undefined : (await this.#balancer.successors([listing])).get(room);
      if (successor) return { kind: "there", url: successor.url, process: successor.process };
      if (!owner && this.#closing === null && (await this.#takeover.take(listing))) return { kind: "here" };
      if (performance.now() > untilMs) return { kind: "moving" };
      // The room is being opened here, or another process was faster to claim it.
      await new Promise((resolve) => setTimeout(resolve, PATIENCE_STEP_MS));
      this.#asked.delete(room);
    }
  }

  /** Forgets the cached location, because the owner did not answer or left the room: the next call asks the store. */
  suspect(room: string): void {
    this.#asked.delete(room);
  }

  /**
   * Hands rooms over to the least busy processes of this version. If there is none, the rooms come back after some
   * seconds.
   * @param rooms names; rooms that are not open here, or already being handed over, are ignored
   * @returns names of the rooms that were handed over
   */
  handOver(rooms: readonly string[]): Promise<string[]> {
    return this.#handOverTo(this.#balancer.receivers(rooms));
  }

  /** @param rooms names, each with its receiver */
  async #handOverTo(rooms: ReadonlyMap<string, string | null>): Promise<string[]> {
    const { rooms: own } = this.#options;
    const remaining = [...rooms.keys()].filter((room) => own.isOpen(room) && !this.#leaving.has(room));
    for (const room of remaining) this.#leaving.add(room);
    const leaving = [...remaining];
    try {
      await this.#processes.give(rooms);
      return await this.#handOverAll(remaining);
    } finally {
      for (const room of leaving) this.#leaving.delete(room);
    }
  }

  /** @param remaining names; emptied. @returns names of the rooms that were handed over */
  async #handOverAll(remaining: string[]): Promise<string[]> {
    const { rooms: own, log } = this.#options;
    const handed: string[] = [];
    const work = async (): Promise<void> => {
      for (let room = remaining.shift(); room !== undefined; room = remaining.shift()) {
        this.#takeover.leave(room);
        try {
          await own.handOver(room);
          handed.push(room);
        } catch (error) {
          if (own.isOpen(room)) log.error({ room, err: error }, "a room could not be handed over; it continues here");
          else
            log.error(
              { room, err: error },
              "a room could not be handed over; another process continues it from its last checkpoint",
            );
        } finally {
          // The cached answer may be older than the room.
          this.suspect(room);
        }
      }
    };
    await Promise.all(Array.from({ length: HANDED_AT_ONCE }, work));
    return handed;
  }

  /**
   * Takes over no more rooms, and keeps the leases until the last room is handed over. Does not close the store.
   * @param endRooms hands over all rooms that are open here
   */
  close(endRooms: () => Promise<void>): Promise<void> {
    this.#closing ??= (async () => {
      const taken = this.#takeover.stop();
      this.#processes.drain();
      await this.#processes.give(this.#balancer.receivers(this.#options.rooms.names()));
      await endRooms();
      await taken;
      this.#keeper.close();
      await this.#processes.close();
    })();
    return this.#closing;
  }

  #look(room: string): Promise<Listing | null> {
    const nowMs = performance.now();
    const known = this.#asked.get(room);
    if (known && nowMs < known.untilMs) return known.listing;
    if (this.#asked.size > 10_000) this.#asked.clear(); // Mostly names of rooms that never existed.
    const listing = this.store.room(room);
    this.#asked.set(room, { listing, untilMs: nowMs + BELIEVED_MS });
    listing.catch(() => this.#asked.delete(room));
    return listing;
  }
}
