/**
 * Balances rooms between processes: places new rooms at the least busy process, moves running rooms away from a busy
 * one, and finds the successor of rooms without owner (balance.ts). Moves use the same hand-over as operators do. They
 * are counted and logged, and can be switched off.
 */
import type { ClusterMetrics } from "../metrics/cluster.ts";
import type { Holder, ListedProcess, Listing } from "../store/store.ts";
import { BusyWatch, expected, successorOf, movesOf, placeOf, spread } from "./balance.ts";
import { BALANCE } from "./balanceRules.ts";
import type { Log } from "./leaseKeeper.ts";
import type { Processes } from "./processes.ts";

/**
 * on: running rooms are moved, too. place: only new rooms are placed. off: every process opens the rooms that it is
 * asked for.
 */
export type Balancing = "on" | "place" | "off";

/** Requests for new rooms that one other process may have without an answer. More rooms open here. */
const PLACED_AT_ONCE = 8;
/** A process that did not answer such a request gets no other one for this time, ms. */
const AVOIDED_MS = 60_000;

/** The process for a new room. Call `answered` once, when it has answered the request or failed to. */
export interface PlaceForRoom {
  holder: Holder;
  answered: (ok: boolean) => void;
}

export interface BalancerOptions {
  balancing: Balancing;
  processes: Processes;
  /** Hands rooms to these processes. @returns names of the rooms that were handed over */
  handOver: (rooms: ReadonlyMap<string, string | null>) => Promise<string[]>;
  metrics: ClusterMetrics;
  log: Log;
}

export class Balancer {
  readonly #options: BalancerOptions;
  readonly #watch = new BusyWatch(BALANCE);
  readonly #asked = new Map<string, { open: number; avoidedUntilMs: number }>();
  #moving = false;

  constructor(options: BalancerOptions) {
    this.#options = options;
  }

  /**
   * Successors of rooms without owner. A room that is absent from the map may be taken by any process. Never rejects.
   */
  async successors(free: readonly Pick<Listing, "name" | "expired">[]): Promise<Map<string, ListedProcess>> {
    if (free.length === 0) return new Map();
    const { processes } = this.#options;
    const table = await processes.table();
    const own = processes.report();
    return new Map(
      free.flatMap((listing): [string, ListedProcess][] => {
        const successor = successorOf(listing, own, table, BALANCE);
        return successor ? [[listing.name, successor]] : [];
      }),
    );
  }

  /** Best process for a new room; null: this one. */
  place(): PlaceForRoom | null {
    const { processes, balancing } = this.#options;
    if (balancing === "off") return null;
    const nowMs = performance.now();
    for (const [process, { open, avoidedUntilMs }] of this.#asked)
      if (open === 0 && avoidedUntilMs <= nowMs) this.#asked.delete(process);
    const able = processes.known.filter(({ process }) => {
      const asked = this.#asked.get(process);
      return !asked || (asked.open < PLACED_AT_ONCE && asked.avoidedUntilMs <= nowMs);
    });
    const holder = placeOf(processes.report(), able, BALANCE);
    if (holder === null) return null;
    processes.expect(holder, BALANCE.newRoomShare);
    const asked = this.#asked.get(holder.process) ?? { open: 0, avoidedUntilMs: 0 };
    this.#asked.set(holder.process, asked);
    asked.open += 1;
    const answered = (ok: boolean): void => {
      asked.open -= 1;
      if (!ok) asked.avoidedUntilMs = performance.now() + AVOIDED_MS;
    };
    return { holder, answered };
  }

  /** Receivers for rooms that are handed over; null: any process. */
  receivers(rooms: readonly string[]): Map<string, string | null> {
    const { processes } = this.#options;
    const shares = new Map(processes.loads.map(({ name, share }) => [name, share]));
    const loads = rooms.map((name) => ({ name, share: shares.get(name) ?? 0 }));
    const places = spread(processes.report(), processes.threads, processes.known, loads, BALANCE);
    return new Map(rooms.map((room) => [room, places.get(room) ?? null]));
  }

  /** Hands rooms over if this process has been too busy for a while. Never rejects. */
  async look(): Promise<void> {
    const { processes, balancing, handOver, metrics, log } = this.#options;
    if (balancing !== "on" || this.#moving) return;
    const nowMs = performance.now();
    if (!this.#watch.look(processes.load, nowMs)) return;
    const own = processes.report();
    const moves = movesOf(own, processes.threads, processes.known, processes.loads, BALANCE);
    if (moves.length === 0) return;
    this.#moving = true;
    for (const { room, share, to } of moves) {
      const theirs = expected([to], BALANCE)[0]!.load;
      log.info({ room, to: to.url, share, load: own.load, theirs }, "a room goes to a less busy process");
    }
    const handed = await handOver(new Map(moves.map(({ room, to }) => [room, to.process])));
    for (const _room of handed) metrics.balanced("moved");
    this.#watch.moved(performance.now());
    this.#moving = false;
  }
}
