/**
 * Keeps the leases of this process: renews them, knows by its own clock until when each of them certainly holds, and
 * reports lost ones.
 *
 *     asked           answered                                       renewals every third of a term
 *       |----------------|-----|-------------------------------|----|
 *       0                      store's term begins            ownedUntilMs   term by our clock
 *
 * The store counts a term from some moment after the request was sent; this process counts it from before. So the local
 * term ends first, however long the answer took. It is also shorter by a margin, for a tick that has already begun. The
 * clock is monotonic and continues while the process is stopped (SIGSTOP), so a process that wakes after the term
 * detects it before its next tick.
 *
 * An expired lease is not lost yet: perhaps no process has claimed the room. The room is paused, and the next renewal
 * tells whether it continues (epoch unchanged) or is dropped.
 */
import type { ClusterMetrics } from "../metrics/cluster.ts";
import { type Holder, type Lease, LeaseLost, type Store } from "../store/store.ts";
import type { ClusterRooms } from "./rooms.ts";

/** Renewals per term: two in a row may fail. */
const RENEWALS_PER_TERM = 3;
/** Share of the term by which a room stops stepping before the term's end. */
const MARGIN = 0.1;
/** Pause after a failed renewal, ms. It is short, because rooms are paused and the store may be back any moment. */
const RETRY_MS = 250;
/**
 * Longest time that a lease may exist without a room, s: the time to open the room. Building a scene with large meshes
 * takes up to a minute.
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
  /** Time until which the lease certainly holds, ms on performance.now(). */
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
  /** The store, wrapped: it registers leases that are claimed and released through it. All code must use this one. */
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
   * Time until which this process may step the room, ms on performance.now(). Check it before every tick; a tick must
   * not begin later.
   */
  ownedUntilMs(room: string): number {
    return this.#held.get(room)?.untilMs ?? -Infinity;
  }

  lease(room: string): Lease | undefined {
    return this.#held.get(room)?.lease;
  }

  /** Stops renewing. Leases that are still held expire. */
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
      // Forget the lease before the store is asked: from then on another process may have the room at any moment.
      release: async (lease) => {
        this.#forget(lease);
        await store.release(lease);
      },
      quarantine: async (lease, quarantined) => {
        await store.quarantine(lease, quarantined);
        this.#forget(lease);
      },
      removeRoom: async (lease) => {
        await store.removeRoom(lease);
        this.#forget(lease);
      },
    };
    // All other methods go straight to the store.
    return new Proxy(store, {
      get: (target, name) => {
        const own = watched[name as keyof Store];
        if (own !== undefined) return this.#endingOnRefusal(own as StoreMethod);
        const value = Reflect.get(target, name) as unknown;
        return typeof value === "function" ? this.#endingOnRefusal((value as StoreMethod).bind(target)) : value;
      },
    });
  }

  /**
   * Returns a store method that forgets a lease after a refused write, which also ends its room. Otherwise, if a
   * replica takes over that does not have the new claim yet, a renewal could bring the lease back without a room.
   */
  #endingOnRefusal(ask: StoreMethod): StoreMethod {
    return (...args) => {
      const answer = ask(...args);
      if (answer instanceof Promise)
        answer.catch((error: unknown) => {
          if (error instanceof LeaseLost) this.#forget(args[0] as Lease);
        });
      return answer;
    };
  }

  /**
   * Schedules the next renewal from the time of the last request, as the term does: the answer may take most of a term.
   */
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

  /** Renews all leases. Never rejects. @returns did the store answer? */
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
        log.error({ err: error, rooms: asked.length }, "leases cannot be renewed; rooms will be paused");
      this.#failing = true;
      return false;
    }
    if (this.#failing) log.info({ rooms: asked.length, lost: lost.size }, "leases are renewed again");
    this.#failing = false;
    for (const { lease } of asked) {
      const held = this.#held.get(lease.room);
      // Released, removed or claimed again during the request: the answer is outdated.
      if (held?.lease.epoch !== lease.epoch) continue;
      if (!lost.has(lease.room)) {
        held.untilMs = Math.max(held.untilMs, this.#until(askedMs));
        continue;
      }
      this.#held.delete(lease.room);
      log.warn({ room: lease.room, epoch: lease.epoch }, "another process has the room now");
      void rooms
        .drop(lease.room)
        .catch((error: unknown) => log.error({ room: lease.room, err: error }, "a lost room could not be ended"));
    }
    metrics.renewal("ok", asked.length - lost.size);
    if (lost.size > 0) metrics.renewal("lost", lost.size);
    return true;
  }

  /** A lease whose room did not open or ended unnoticed. If it were renewed, no process could open the room. */
  #abandoned({ lease, sinceMs }: HeldLease, nowMs: number): boolean {
    const { rooms, log } = this.#options;
    if (rooms.serves(lease.room) || nowMs - sinceMs < 1000 * OPENING_SECONDS) return false;
    log.error({ room: lease.room, epoch: lease.epoch }, "a lease without a room is released");
    void this.store.release(lease).catch(() => {}); // If this fails, the lease expires.
    return true;
  }
}
