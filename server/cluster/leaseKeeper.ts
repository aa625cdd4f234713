/**
 * Keeps the leases of this process: renews them, knows by its own clock until when each of them certainly holds, and
 * says what was lost.
 *
 *     asked           answered                                       renewals every third of a term
 *       |----------------|-----|-------------------------------|----|
 *       0                      store's term begins            ownedUntilMs   term by our clock
 *
 * The store counts a term from some moment after we asked, we count it from the moment before: so ours ends first,
 * however long the answer took, and by a margin on top, which is for a tick that has begun. The clock is monotonic and
 * goes on while the process is stopped (SIGSTOP), so whoever wakes after the term knows it before the next tick.
 *
 * A lease that has run out is not lost yet: nobody may have claimed the room. Its room stands still; the renewal says
 * whether it goes on (epoch unchanged) or is dropped.
 */
import type { ClusterMetrics } from "../metrics/cluster.ts";
import { type Holder, type Lease, LeaseLost, type Store } from "../store/store.ts";
import type { ClusterRooms } from "./rooms.ts";

/** Renewals in a term: two may fail in a row. */
const RENEWALS_PER_TERM = 3;
/** Share of a term that a room stands still before its end. */
const MARGIN = 0.1;
/** After a renewal that failed, ms: the store may be back any moment, and rooms stand still. */
const RETRY_MS = 250;
/**
 * A lease without a room: how long a room may take to open, s. Scenes with large meshes are built in up to a minute.
 */
const OPENING_SECONDS = 120;

export interface Log {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

type StoreMethod = (...args: unknown[]) => unknown;

interface HeldLease {
  lease: Lease;
  /** Certain until then, ms on performance.now(). */
  untilMs: number;
  sinceMs: number;
}

export interface LeaseKeeperOptions {
  store: Store;
  holder: Holder;
  rooms: Pick<ClusterRooms, "serves" | "members" | "drop">;
  metrics: ClusterMetrics;
  log: Log;
}

export class LeaseKeeper {
  /**
   * The same store, watched: leases that come and go through it are known here without anybody having to say so.
   * Everybody uses this one.
   */
  readonly store: Store;
  readonly #options: LeaseKeeperOptions;
  readonly #held = new Map<string, HeldLease>();
  readonly #termMs: number;
  #timer: NodeJS.Timeout | null = null;
  #failing = false;
  #closed = false;

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
    this.#termMs = 1000 * options.store.leaseSeconds;
    this.store = this.#watched(options.store);
    options.metrics.sources = { roomsOwned: () => this.#held.size, leaseSecondsLeft: () => this.#secondsLeft() };
    this.#schedule(this.#termMs / RENEWALS_PER_TERM);
  }

  /**
   * Until when may this process step the room, ms on performance.now()? To be asked before every tick, which must not
   * begin later.
   */
  ownedUntilMs(room: string): number {
    return this.#held.get(room)?.untilMs ?? -Infinity;
  }

  lease(room: string): Lease | undefined {
    return this.#held.get(room)?.lease;
  }

  /** Renews no more. Leases that are still held run out by themselves. */
  close(): void {
    this.#closed = true;
    if (this.#timer) clearTimeout(this.#timer);
  }

  #secondsLeft(): number {
    return Math.min(...[...this.#held.values()].map(({ untilMs }) => (untilMs - performance.now()) / 1000));
  }

  #until(askedMs: number): number {
    return askedMs + this.#termMs * (1 - MARGIN);
  }

  #took(lease: Lease | null, askedMs: number): void {
    if (lease && lease.process === this.#options.holder.process)
      this.#held.set(lease.room, { lease, untilMs: this.#until(askedMs), sinceMs: askedMs });
  }

  #forget({ room, epoch }: Lease): void {
    if (this.#held.get(room)?.lease.epoch === epoch) this.#held.delete(room);
  }

  #watched(store: Store): Store {
    const watched: Partial<Store> = {
      createRoom: async (record, holder, key) => {
        const askedMs = performance.now();
        const answer = await store.createRoom(record, holder, key);
        if (answer.created) this.#took(answer.lease, askedMs);
        return answer;
      },
      claim: async (room, holder, options) => {
        const askedMs = performance.now();
        const lease = await store.claim(room, holder, options);
        this.#took(lease, askedMs);
        return lease;
      },
      // Forgotten before it is asked: from here on the room may be another's any moment.
      release: async (lease) => {
        this.#forget(lease);
        await store.release(lease);
      },
      park: async (lease, parked) => {
        await store.park(lease, parked);
        this.#forget(lease);
      },
      removeRoom: async (lease) => {
        await store.removeRoom(lease);
        this.#forget(lease);
      },
    };
    // Everything else goes straight to the store, whatever it is made of.
    return new Proxy(store, {
      get: (target, name) => {
        const own = watched[name as keyof Store];
        if (own !== undefined) return this.#heeding(own as StoreMethod);
        const value = Reflect.get(target, name) as unknown;
        return typeof value === "function" ? this.#heeding((value as StoreMethod).bind(target)) : value;
      },
    });
  }

  /**
   * A write that was refused says that the lease is lost, and its room ends by that. Should a replica take over that
   * has not got the claim yet, a renewal would have the lease back, and no room under it.
   */
  #heeding(ask: StoreMethod): StoreMethod {
    return (...args) => {
      const answer = ask(...args);
      if (answer instanceof Promise)
        answer.catch((error: unknown) => {
          if (error instanceof LeaseLost) this.#forget(args[0] as Lease);
        });
      return answer;
    };
  }

  /** The next renewal counts from when the last was asked, as its term does: an answer may have taken most of one. */
  #schedule(delayMs: number): void {
    if (this.#closed) return;
    this.#timer = setTimeout(() => {
      const askedMs = performance.now();
      void this.#renew().then((renewed) => {
        const dueMs = askedMs + this.#termMs / RENEWALS_PER_TERM;
        this.#schedule(renewed ? Math.max(dueMs - performance.now(), RETRY_MS) : RETRY_MS);
      });
    }, delayMs);
  }

  /** Never rejects. @returns did the store answer? */
  async #renew(): Promise<boolean> {
    const { store, holder, rooms, metrics, log } = this.#options;
    const askedMs = performance.now();
    const asked = [...this.#held.values()].filter((held) => !this.#abandoned(held, askedMs));
    if (asked.length === 0) return true;
    let lost: Set<string>;
    try {
      lost = new Set(
        await store.renew(
          holder,
          asked.map(({ lease }) => ({ ...lease, members: rooms.members(lease.room) })),
        ),
      );
    } catch (error) {
      metrics.renewal("failed", asked.length);
      if (!this.#failing)
        log.error({ err: error, rooms: asked.length }, "leases cannot be renewed; rooms will stand still");
      this.#failing = true;
      return false;
    }
    if (this.#failing) log.info({ rooms: asked.length, lost: lost.size }, "leases are renewed again");
    this.#failing = false;
    for (const { lease } of asked) {
      const held = this.#held.get(lease.room);
      // Released, removed or claimed anew while the store was being asked: what it says is of yesterday.
      if (held?.lease.epoch !== lease.epoch) continue;
      if (!lost.has(lease.room)) {
        held.untilMs = Math.max(held.untilMs, this.#until(askedMs));
        continue;
      }
      this.#held.delete(lease.room);
      log.warn({ room: lease.room, epoch: lease.epoch }, "the room is another process's now");
      void rooms
        .drop(lease.room)
        .catch((error: unknown) => log.error({ room: lease.room, err: error }, "a lost room could not be ended"));
    }
    metrics.renewal("ok", asked.length - lost.size);
    if (lost.size > 0) metrics.renewal("lost", lost.size);
    return true;
  }

  /** A lease whose room did not open, or ended without a word: kept alive it would hide the room from everybody. */
  #abandoned({ lease, sinceMs }: HeldLease, nowMs: number): boolean {
    const { rooms, log } = this.#options;
    if (rooms.serves(lease.room) || nowMs - sinceMs < 1000 * OPENING_SECONDS) return false;
    log.error({ room: lease.room, epoch: lease.epoch }, "a lease without a room is given up");
    void this.store.release(lease).catch(() => {}); // It runs out by itself otherwise.
    return true;
  }
}
