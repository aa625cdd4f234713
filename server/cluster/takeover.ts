/**
 * Takes rooms that nobody owns: their process died, was cut off, or gave them up. Every process looks at the list of
 * rooms now and then and takes a few at a time; the store decides who gets which. Nobody needs to know who else is
 * there.
 *
 * Spread: before it takes another, a process waits the longer the larger its share of all rooms is, with some chance in
 * it, so that those with few rooms come first. A process of this very machine that is certainly dead is not waited for
 * (store/processName.ts).
 */
import type { ClusterMetrics } from "../metrics/cluster.ts";
import { isCertainlyDead } from "../store/processName.ts";
import type { Holder, Listing, Store } from "../store/store.ts";
import type { Log } from "./leaseKeeper.ts";
import type { AdoptCause, ClusterRooms } from "./rooms.ts";

/**
 * Between two looks, ms. With a term of 6 s a dead process's rooms step again after 7 s at most, and the store is asked
 * little.
 */
const LOOK_MS = 500;
/**
 * Restored at once, whoever asks for them: each reads its state and steps its journal on one of the threads. More would
 * only take turns there, and all be back as late as the last.
 */
const AT_ONCE = 4;
/** What a process that has all rooms waits before it takes one more, ms; with others there, who come first then. */
const LOAD_MS = 400;
/** A room that this process has handed over is left to others for this long, ms; if there are none it comes back. */
const LEAVE_MS = 5000;
/** After a room could not be restored here, ms: first and longest; doubled each time. */
const FIRST_RETRY_MS = 1000;
const LAST_RETRY_MS = 60_000;
/** Between two looks at a parked room of another version: this process may have its scene by then, ms. */
const READ_AGAIN_MS = 30_000;

export interface TakeoverOptions {
  /** The lease keeper's. */
  store: Store;
  holder: Holder;
  rooms: Pick<ClusterRooms, "serves" | "names" | "reads" | "turn" | "adopt">;
  maxRooms: number;
  /** Whose these rooms are that nobody owns; those that are not in it, anybody may take. */
  heirs: (free: readonly Listing[]) => Promise<Map<string, Holder>>;
  metrics: ClusterMetrics;
  log: Log;
}

export class Takeover {
  readonly #options: TakeoverOptions;
  /** Rooms that are not to be taken before, ms on performance.now(), and how often they failed. */
  readonly #notBefore = new Map<string, { ms: number; failures: number }>();
  /** Parked rooms of other versions that are not to be looked into before, ms on performance.now(). */
  readonly #readAgain = new Map<string, number>();
  readonly #taking = new Map<string, Promise<boolean>>();
  /** Being restored, and those that wait for one of them. */
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

  /** Takes no more; resolves when what was being taken is here. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer) clearTimeout(this.#timer);
    await Promise.allSettled(this.#taking.values());
  }

  /** This process has given the room up: others first. */
  leave(room: string): void {
    this.#notBefore.set(room, { ms: performance.now() + LEAVE_MS, failures: 0 });
  }

  /**
   * Takes one room now, because somebody wants to go in.
   * @returns is it here now?
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

  /** AT_ONCE at a time, in the order in which they were asked for. */
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

  /** Never rejects. @returns when to look again, ms */
  async #look(): Promise<number> {
    const { store, rooms, metrics, log } = this.#options;
    try {
      const listings = await store.rooms();
      metrics.known(
        listings.filter(({ owner }) => owner !== null).length,
        listings.filter(({ owner, parked }) => owner === null && parked === null).length,
        listings.filter(({ parked }) => parked !== null).length,
      );
      this.#blind = false;
      const dead = new Set(
        listings.flatMap(({ owner }) => (owner && isCertainlyDead(owner.process) ? [owner.process] : [])),
      );
      for (const process of dead)
        log.warn(
          { process, rooms: (await store.endLeases(process)).length },
          "a process of this machine died; its rooms are free",
        );
      const unowned = listings
        .filter(
          ({ name, owner, parked }) =>
            (owner === null || dead.has(owner.process)) && parked === null && !rooms.serves(name) && this.#ripe(name),
        )
        .map((listing) => ({ ...listing, lapsed: listing.owner?.process ?? listing.lapsed }));
      const heirs = await this.#options.heirs(unowned);
      const free = unowned.filter(({ name }) => !heirs.has(name));
      free.push(...(await this.#readable(listings)));
      this.#forgetGone(listings);
      // With nobody else to leave them to there is nothing to wait for: a server that starts again.
      const alone = listings.every(
        ({ owner }) => owner === null || owner.process === this.#options.holder.process || dead.has(owner.process),
      );
      const takeSome = async (): Promise<void> => {
        while (free.length > 0 && !this.#stopped) {
          // Any of them: if all began with the first, all but one would come too late each time. But rooms that nobody
          // has survived come last.
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

  /** Rooms that were parked because another version stepped them, and this process is of that version. */
  async #readable(listings: readonly Listing[]): Promise<Listing[]> {
    const { rooms } = this.#options;
    const readable: Listing[] = [];
    for (const listing of listings) {
      const { name, owner, parked } = listing;
      if (parked?.reason !== "version" || owner !== null || rooms.serves(name) || !this.#ripe(name)) continue;
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

  #forgetGone(listings: readonly Listing[]): void {
    const names = new Set(listings.map(({ name }) => name));
    for (const known of [this.#notBefore, this.#readAgain])
      for (const name of known.keys()) if (!names.has(name)) known.delete(name);
  }

  /** Alone among those that have their last attempt: what the process dies of is then this room's doing. */
  async #takeAlone(listing: Listing): Promise<boolean> {
    const over = await this.#options.rooms.turn?.(listing.attempts + 1);
    try {
      return await this.#take(listing);
    } finally {
      over?.();
    }
  }

  /** Never rejects. */
  async #take(listing: Listing): Promise<boolean> {
    const { store, holder, rooms, metrics, log } = this.#options;
    const { name } = listing;
    // It may be over here, and the store has forgotten by whom: a failover took the claim.
    if (rooms.serves(name)) return false;
    const startMs = performance.now();
    let lease: Awaited<ReturnType<typeof store.claim>>;
    try {
      lease = await store.claim(name, holder, { parked: listing.parked !== null });
    } catch (error) {
      log.error({ room: name, err: error }, "a room could not be claimed");
      return false;
    }
    if (lease === null) return false; // Somebody was faster.
    try {
      if (listing.parked) await store.unpark(lease);
      if ((await rooms.adopt(listing, lease, causeOf(listing))) === null) return false;
      this.#notBefore.delete(name);
      if (listing.lapsed === null) metrics.handover("in");
      else metrics.takeover();
      log.info(
        { room: name, epoch: lease.epoch, from: listing.lapsed, seconds: (performance.now() - startMs) / 1000 },
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
      await store.release(lease).catch(() => {}); // It runs out by itself otherwise.
      return false;
    }
  }
}

function causeOf({ lapsed }: Listing): AdoptCause {
  if (lapsed === null) return "handover";
  return isCertainlyDead(lapsed) ? "restart" : "takeover";
}
