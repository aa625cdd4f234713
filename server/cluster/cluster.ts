/**
 * One process among several that share a store: it keeps its leases, takes rooms that nobody has, knows where each room
 * is, and hands its own over when it goes.
 *
 *     server A --- lease of room x, epoch 7 --- store --- listing: x is at A --- server B: whoever asks B for x is
 *     passed on to A
 *       |  dies, is cut off, or hands over        |
 *       '-- lease runs out or is released         '--- B or C claims x, epoch 8, restores it, steps it; a late write of
 *                                                 A (7) is refused
 *
 * With a store of one process (SQLite) it is the same with nobody else there; that is how rooms come back after a
 * restart.
 */
import type { ClusterMetrics } from "../metrics/cluster.ts";
import { processName } from "../store/processName.ts";
import type { Holder, ListedProcess, Listing, Parked, Store } from "../store/store.ts";
import { Balancer, type Balancing } from "./balancer.ts";
import { LeaseKeeper, type Log } from "./leaseKeeper.ts";
import { type OwnState, Processes } from "./processes.ts";
import type { ClusterRooms } from "./rooms.ts";
import { Takeover } from "./takeover.ts";

/** Where a room is. moving: it exists, and in a moment somebody will have it. parked: an operator has to look at it. */
export type Place =
  | { kind: "here" }
  | { kind: "there"; url: string; process: string }
  | { kind: "moving" }
  | { kind: "parked"; parked: Parked }
  | { kind: "nowhere" };

/**
 * What the store said about a room is believed this long, ms: a thousand clients who come back at once ask it a few
 * times.
 */
const BELIEVED_MS = 300;
/** How long somebody who wants into a room waits until it is somewhere, and between two looks, ms. */
const PATIENCE_MS = 4000;
const PATIENCE_STEP_MS = 100;
/** Rooms handed over at the same time: each takes its state and writes it. */
const HANDED_AT_ONCE = 4;

export interface ClusterOptions {
  store: Store;
  rooms: ClusterRooms;
  maxRooms: number;
  balancing: Balancing;
  /** What the process says of itself. */
  own: () => OwnState;
  metrics: ClusterMetrics;
  log: Log;
}

export class Cluster {
  /** To be used for everything: it knows which leases come and go. */
  readonly store: Store;
  /** This process; its address is known once it listens (`start`). */
  readonly holder: Holder = { process: processName(), url: "" };
  readonly #options: ClusterOptions;
  readonly #keeper: LeaseKeeper;
  readonly #takeover: Takeover;
  readonly #processes: Processes;
  readonly #balancer: Balancer;
  readonly #asked = new Map<string, { listing: Promise<Listing | null>; untilMs: number }>();
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
      heirs: (free) => this.#balancer.heirs(free),
    });
  }

  /** @param url where other processes reach this one: rooms are taken from now on */
  start(url: string): void {
    this.holder.url = url.replace(/\/+$/, "");
    if (this.#closing !== null) return;
    this.#processes.start(() => void this.#balancer.look());
    this.#takeover.start();
  }

  /** Until when may this process step the room, ms on performance.now()? To be asked before every tick. */
  ownedUntilMs(room: string): number {
    return this.#keeper.ownedUntilMs(room);
  }

  /** All rooms of all processes. @throws StoreUnavailable */
  list(): Promise<Listing[]> {
    return this.store.rooms();
  }

  /** The processes that say that they are there, this one included, as of the last look. */
  get processes(): readonly ListedProcess[] {
    return this.#processes.known;
  }

  /** Where a new room is best made; null: here. */
  place(): Holder | null {
    return this.#balancer.place();
  }

  /** Is the room, which nobody owns, left to another process? */
  async isOthers(room: Listing): Promise<boolean> {
    return (await this.#balancer.heirs([room])).size > 0;
  }

  /** Where is it? Takes a room that nobody has. @throws StoreUnavailable */
  async locate(room: string): Promise<Place> {
    const { rooms } = this.#options;
    for (const untilMs = performance.now() + PATIENCE_MS; ; ) {
      if (rooms.isOpen(room)) return { kind: "here" };
      const listing = await this.#look(room);
      if (listing === null) return { kind: "nowhere" };
      const { owner } = listing;
      if (owner && owner.process !== this.holder.process)
        return { kind: "there", url: owner.url, process: owner.process };
      if (listing.parked && !owner) return { kind: "parked", parked: listing.parked };
      const heir = owner ? undefined : (await this.#balancer.heirs([listing])).get(room);
      if (heir) return { kind: "there", url: heir.url, process: heir.process };
      if (!owner && this.#closing === null && (await this.#takeover.take(listing))) return { kind: "here" };
      if (performance.now() > untilMs) return { kind: "moving" };
      // It is being opened here, or another process was faster.
      await new Promise((resolve) => setTimeout(resolve, PATIENCE_STEP_MS));
      this.#asked.delete(room);
    }
  }

  /** The owner that `locate` named did not answer: ask again the next time. */
  doubt(room: string): void {
    this.#asked.delete(room);
  }

  /**
   * Gives rooms up so that other processes take them, the least busy ones of this version; if there are none they come
   * back after some seconds.
   * @param rooms names; those that are not open here are left out
   * @returns which were handed over
   */
  handOver(rooms: readonly string[]): Promise<string[]> {
    return this.#handOverTo(this.#balancer.receivers(rooms));
  }

  /** @param rooms names, and for whom they are */
  async #handOverTo(rooms: ReadonlyMap<string, string | null>): Promise<string[]> {
    const { rooms: own, log } = this.#options;
    const remaining = [...rooms.keys()].filter((room) => own.isOpen(room));
    await this.#processes.give(rooms);
    const handed: string[] = [];
    const work = async (): Promise<void> => {
      for (let room = remaining.shift(); room !== undefined; room = remaining.shift()) {
        this.#takeover.leave(room);
        try {
          await own.handOver(room);
          handed.push(room);
        } catch (error) {
          if (own.isOpen(room)) log.error({ room, err: error }, "a room could not be handed over; it goes on here");
          else
            log.error(
              { room, err: error },
              "a room could not be handed over; it goes on elsewhere from its last checkpoint",
            );
        }
      }
    };
    await Promise.all(Array.from({ length: HANDED_AT_ONCE }, work));
    return handed;
  }

  /**
   * Takes no more rooms; leases are kept until the last one is handed over. The store stays open: it is not ours.
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
    if (this.#asked.size > 10_000) this.#asked.clear(); // Names that were made up.
    const listing = this.store.room(room);
    this.#asked.set(room, { listing, untilMs: nowMs + BELIEVED_MS });
    listing.catch(() => this.#asked.delete(room));
    return listing;
  }
}
