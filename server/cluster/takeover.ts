/**
 * Takes over rooms without owner: their process died, was cut off, or released them. Every process reads the list of
 * rooms regularly and claims a few at a time; the store decides which process gets which room. No process needs to know
 * the others.
 *
 * Spread: a process pauses before each further claim, longer the larger its share of all rooms is, with a random part.
 * So processes with few rooms come first. The leases of a process of this machine that is certainly dead are ended at
 * once (store/processName.ts).
 */
import type { ClusterMetrics } from "../metrics/cluster.ts";
import { isCertainlyDead } from "../store/processName.ts";
import type { Holder, Listing, Store } from "../store/store.ts";
import type { Log } from "./leaseKeeper.ts";
import type { TakeOverCause, ClusterRooms } from "./rooms.ts";

/**
 * Interval between two looks at the list, ms. With a term of 6 s, a dead process's rooms step again after at most 7 s,
 * at little load for the store.
 */
const LOOK_MS = 500;
/**
 * Number of rooms that are restored at the same time. Each replays its journal on one of the threads; more rooms would
 * only share these threads and all be back as late as the last.
 */
const AT_ONCE = 4;
/** Pause of a process that owns all rooms before it claims another one, ms. Other processes then come first. */
const LOAD_MS = 400;
/** A handed-over room is left to other processes for this time, ms; after that this process may take it back. */
const LEAVE_MS = 5000;
/** First and longest pause after a room could not be restored here, ms; doubled each time. */
const FIRST_RETRY_MS = 1000;
const LAST_RETRY_MS = 60_000;
/** Interval between two checks of a quarantined room of another version, ms: its scene may have arrived meanwhile. */
const READ_AGAIN_MS = 30_000;

export interface TakeoverOptions {
  /** The lease keeper's store. */
  store: Store;
  holder: Holder;
  rooms: Pick<ClusterRooms, "serves" | "names" | "reads" | "turn" | "takeOver">;
  maxRooms: number;
  /** Successors of rooms without owner. A room that is absent from the map may be taken by any process. */
  successors: (free: readonly Listing[]) => Promise<Map<string, Holder>>;
  metrics: ClusterMetrics;
  log: Log;
}

export class Takeover {
  readonly #options: TakeoverOptions;
  /** Earliest next attempt for each room, ms on performance.now(), and the number of failures. */
  readonly #notBefore = new Map<string, { ms: number; failures: number }>();
  /** Earliest next check of quarantined rooms of other versions, ms on performance.now(). */
  readonly #readAgain = new Map<string, number>();
  readonly #taking = new Map<string, Promise<boolean>>();
  /** Number of rooms that are being restored; further ones are queued. */
  #restoring = 0;
  readonly #queued: (() => void)[] = [];
  #timer: NodeJS.Timeout | null = null;
  #stopped = true;
  #blind = false;

  constructor(options: TakeoverOptions) {
    this.#options = options;
  }

  start(): void {
    if (!this.#stopped) return;
    this.#stopped = false;
    this.#schedule(Math.random() * LOOK_MS);
  }

  /** Takes over no more rooms; resolves when running takeovers have ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer) clearTimeout(this.#timer);
    await Promise.allSettled(this.#taking.values());
  }

  /** Leaves a handed-over room to other processes for LEAVE_MS. */
  leave(room: string): void {
    this.#notBefore.set(room, { ms: performance.now() + LEAVE_MS, failures: 0 });
  }

  /**
   * Takes one room over now, because a request needs it.
   * @returns whether the room is open here now
   */
  take(listing: Listing): Promise<boolean> {
    const { name } = listing;
    const held = this.#notBefore.get(name);
    if (this.#stopped || this.#full || (held && performance.now() < held.ms)) return Promise.resolve(false);
    const running = this.#taking.get(name);
    if (running) return running;
    const taking = this.#inTurn(() => this.#takeAlone(listing)).finally(() => this.#taking.delete(name));
    this.#taking.set(name, taking);
    return taking;
  }

  /** Runs a takeover. At most AT_ONCE run at a time; the others wait in the order of the calls. */
  async #inTurn(take: () => Promise<boolean>): Promise<boolean> {
    if (this.#restoring < AT_ONCE) this.#restoring += 1;
    else await new Promise<void>((resolve) => this.#queued.push(resolve));
    try {
      return !this.#stopped && (await take());
    } finally {
      const next = this.#queued.shift();
      if (next) next();
      else this.#restoring -= 1;
    }
  }

  get #full(): boolean {
    return this.#options.rooms.names().length + this.#taking.size >= this.#options.maxRooms;
  }

  #schedule(delayMs: number): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      void this.#look().then((delay) => this.#schedule(delay));
    }, delayMs);
  }

  /** Reads the list and takes rooms over. Never rejects. @returns delay until the next look, ms */
  async #look(): Promise<number> {
    const { store, rooms, metrics, log } = this.#options;
    try {
      const listings = await store.rooms();
      metrics.known(
        listings.filter(({ owner }) => owner !== null).length,
        listings.filter(({ owner, quarantined }) => owner === null && quarantined === null).length,
        listings.filter(({ quarantined }) => quarantined !== null).length,
      );
      this.#blind = false;
      const dead = new Set(
        listings.flatMap(({ owner }) => (owner && isCertainlyDead(owner.process) ? [owner.process] : [])),
      );
      for (const process of dead)
        log.warn(
          { process, rooms: (await store.endLeases(process)).length },
          "a process of this machine died: its rooms can be taken over",
        );
      const unowned = listings
        .filter(
          ({ name, owner, quarantined }) =>
            (owner === null || dead.has(owner.process)) &&
            quarantined === null &&
            !rooms.serves(name) &&
            this.#ripe(name),
        )
        .map((listing) => ({ ...listing, expired: listing.owner?.process ?? listing.expired }));
      const successors = await this.#options.successors(unowned);
      const free = unowned.filter(({ name }) => !successors.has(name));
      free.push(...(await this.#readable(listings)));
      this.#forgetMissing(listings);
      // Without other processes there is no reason to pause: for example after a restart of the only server.
      const alone = listings.every(
        ({ owner }) => owner === null || owner.process === this.#options.holder.process || dead.has(owner.process),
      );
      const takeSome = async (): Promise<void> => {
        while (free.length > 0 && !this.#stopped) {
          // Choose at random: if all processes began with the first room, all but one would be too late each time.
          // Rooms with more failed attempts come last.
          const fewest = Math.min(...free.map(({ attempts }) => attempts));
          const first = free.filter(({ attempts }) => attempts === fewest);
          const room = first[Math.floor(Math.random() * first.length)]!;
          free.splice(free.indexOf(room), 1);
          await this.take(room);
          if (!alone)
            await new Promise((resolve) => setTimeout(resolve, this.#loadPause(rooms.names().length, listings.length)));
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, takeSome));
      return LOOK_MS * (0.75 + Math.random() / 2);
    } catch (error) {
      if (!this.#blind) log.error({ err: error }, "the list of rooms cannot be read");
      this.#blind = true;
      return LOOK_MS;
    }
  }

  /** Returns rooms that are quarantined because of their version, and that this process can read. */
  async #readable(listings: readonly Listing[]): Promise<Listing[]> {
    const { rooms } = this.#options;
    const readable: Listing[] = [];
    for (const listing of listings) {
      const { name, owner, quarantined } = listing;
      if (quarantined?.reason !== "version" || owner !== null || rooms.serves(name) || !this.#ripe(name)) continue;
      const nowMs = performance.now();
      if (nowMs < (this.#readAgain.get(name) ?? 0)) continue;
      this.#readAgain.set(name, nowMs + READ_AGAIN_MS);
      if (!(await rooms.reads?.(listing))) continue;
      this.#readAgain.delete(name);
      readable.push(listing);
    }
    return readable;
  }

  #loadPause(own: number, all: number): number {
    return LOAD_MS * (own / Math.max(1, all)) * (0.5 + Math.random());
  }

  #ripe(room: string): boolean {
    return performance.now() >= (this.#notBefore.get(room)?.ms ?? 0);
  }

  #forgetMissing(listings: readonly Listing[]): void {
    const names = new Set(listings.map(({ name }) => name));
    for (const known of [this.#notBefore, this.#readAgain])
      for (const name of known.keys()) if (!names.has(name)) known.delete(name);
  }

  /** Takes a room over; a room on its last attempt runs alone, so that a crash is known to be its doing. */
  async #takeAlone(listing: Listing): Promise<boolean> {
    const over = await this.#options.rooms.turn?.(listing.attempts + 1);
    try {
      return await this.#take(listing);
    } finally {
      over?.();
    }
  }

  /** Never rejects. @returns whether the room is open here now */
  async #take(listing: Listing): Promise<boolean> {
    const { store, holder, rooms, metrics, log } = this.#options;
    const { name } = listing;
    // The room may be ending here, while a store that failed over has lost the claim.
    if (rooms.serves(name)) return false;
    const startMs = performance.now();
    let lease: Awaited<ReturnType<typeof store.claim>>;
    try {
      lease = await store.claim(name, holder, { quarantined: listing.quarantined !== null });
    } catch (error) {
      log.error({ room: name, err: error }, "a room could not be claimed");
      return false;
    }
    if (lease === null) return false; // Another process was faster.
    try {
      if (listing.quarantined) await store.endQuarantine(lease);
      if ((await rooms.takeOver(listing, lease, causeOf(listing))) === null) return false;
      this.#notBefore.delete(name);
      if (listing.expired === null) metrics.handover("in");
      else metrics.takeover();
      log.info(
        { room: name, epoch: lease.epoch, from: listing.expired, seconds: (performance.now() - startMs) / 1000 },
        "room taken over",
      );
      return true;
    } catch (error) {
      const failures = (this.#notBefore.get(name)?.failures ?? 0) + 1;
      const waitMs = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** (failures - 1));
      this.#notBefore.set(name, { ms: performance.now() + waitMs, failures });
      log.error(
        { room: name, err: error, failures, againInSeconds: waitMs / 1000 },
        "a room could not be restored here",
      );
      await store.release(lease).catch(() => {}); // If this fails, the lease expires.
      return false;
    }
  }
}

function causeOf({ expired }: Listing): TakeOverCause {
  if (expired === null) return "handover";
  return isCertainlyDead(expired) ? "restart" : "takeover";
}
