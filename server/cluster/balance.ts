/**
 * Decides which room goes to which process, from the processes' reports. Pure: no input or output.
 *
 *     new rooms       go to the least busy process, if it is less busy than this one by a margin
 *     running rooms   leave a process that has been too busy for a while, for the least busy one of its version
 *     free rooms      are left to the process that they were handed to, or to processes of the version that had them
 *
 * A move is made only if it leaves the receiver no busier than the giver, so the sum of the squares of all loads falls
 * with each move. As long as the rooms' loads do not change, the moves end, and no room goes in circles.
 */
import type { ListedProcess, Listing, ProcessReport } from "../store/store.ts";
import type { BalanceRules } from "./balanceRules.ts";
import type { RoomLoad } from "./rooms.ts";

export interface Move {
  room: string;
  /** Share of the time of the process's threads. */
  share: number;
  to: ListedProcess;
}

type Loaded = Pick<ProcessReport, "load" | "rooms" | "maxRooms">;

/** Used part of the threads' time or of the room places, whichever is larger, 0 to 1. */
const pressureOf = ({ load, rooms, maxRooms }: Loaded): number => Math.max(load, rooms / maxRooms);

export const isAlive = ({ secondsLeft, state }: ListedProcess): boolean => secondsLeft > 0 && state !== "gone";

const hasPlace = ({ rooms, maxRooms }: ListedProcess): boolean => rooms < maxRooms;

/** Adds rooms that are on their way to a process to its report. */
export function expected(table: readonly ListedProcess[], rules: BalanceRules): ListedProcess[] {
  return table.map((process) => {
    const coming = table.flatMap(({ given }) =>
      given.filter(({ to, secondsAgo }) => to === process.process && secondsAgo < rules.offerSeconds),
    ).length;
    return coming === 0
      ? process
      : { ...process, rooms: process.rooms + coming, load: Math.min(1, process.load + coming * rules.newRoomShare) };
  });
}

/** Least busy other process of this version that is ready and has a free place; null: none. */
function leastBusy(own: ProcessReport, table: readonly ListedProcess[]): ListedProcess | null {
  let least: ListedProcess | null = null;
  for (const other of table) {
    if (other.process === own.process || other.version !== own.version) continue;
    if (!isAlive(other) || other.state !== "ready" || !hasPlace(other)) continue;
    if (least === null || pressureOf(other) < pressureOf(least)) least = other;
  }
  return least;
}

/** Best process for a new room; null: this one. */
export function placeOf(
  own: ProcessReport,
  table: readonly ListedProcess[],
  rules: BalanceRules,
): ListedProcess | null {
  const least = leastBusy(own, expected(table, rules));
  if (least === null) return null;
  if (own.state !== "ready" || own.rooms >= own.maxRooms) return least;
  return pressureOf(own) - pressureOf(least) >= rules.placeGap ? least : null;
}

/**
 * Moves that relieve a busy process, largest rooms first.
 * @param threads number of threads that step rooms here
 */
export function movesOf(
  own: ProcessReport,
  threads: number,
  table: readonly ListedProcess[],
  rooms: readonly RoomLoad[],
  rules: BalanceRules,
): Move[] {
  const moves: Move[] = [];
  const left = rooms.filter(({ movable, residentMs }) => movable && residentMs >= rules.residenceMs);
  let giver = own;
  let receivers = expected(table, rules);
  while (moves.length < rules.atOnce && giver.load > rules.calm) {
    const to = leastBusy(giver, receivers);
    if (to === null || giver.load - to.load < rules.gap) break;
    const most = (giver.load - to.load) / 2;
    const share = (room: RoomLoad): number => room.share / threads;
    const best = left
      .filter((room) => share(room) >= rules.leastShare && share(room) <= most)
      .sort((a, b) => b.share - a.share || (a.name < b.name ? -1 : 1))[0];
    if (!best) break;
    left.splice(left.indexOf(best), 1);
    moves.push({ room: best.name, share: share(best), to });
    giver = { ...giver, load: giver.load - share(best) };
    receivers = receivers.map((other) =>
      other.process === to.process ? { ...other, rooms: other.rooms + 1, load: other.load + share(best) } : other,
    );
  }
  return moves;
}

/** Receivers for the rooms of an ending process, least busy first. A room without receiver is absent from the map. */
export function spread(
  own: ProcessReport,
  threads: number,
  table: readonly ListedProcess[],
  rooms: readonly Pick<RoomLoad, "name" | "share">[],
  rules: BalanceRules,
): Map<string, string> {
  const places = new Map<string, string>();
  let receivers = expected(table, rules);
  for (const { name, share } of [...rooms].sort((a, b) => b.share - a.share)) {
    const to = leastBusy(own, receivers);
    if (to === null) break;
    places.set(name, to.process);
    receivers = receivers.map((other) =>
      other.process === to.process ? { ...other, rooms: other.rooms + 1, load: other.load + share / threads } : other,
    );
  }
  return places;
}

/**
 * Successor of a room without owner.
 * @returns null: any process may take the room over
 */
export function successorOf(
  { name, expired }: Pick<Listing, "name" | "lapsed">,
  own: ProcessReport,
  table: readonly ListedProcess[],
  rules: BalanceRules,
): ListedProcess | null {
  const given = table
    .flatMap((by) => by.given.map((room) => ({ by, ...room })))
    .filter(({ room }) => room === name)
    .sort((a, b) => a.secondsAgo - b.secondsAgo)[0];
  const last = expired === null ? given?.by : table.find(({ process }) => process === expired);
  if (!last) return null;
  if (expired === null && given && given.to !== null && given.secondsAgo < rules.offerSeconds) {
    const to = table.find(({ process }) => process === given.to);
    if (to && isAlive(to) && to.state !== "draining") return to.process === own.process ? null : to;
  }
  if (last.version === own.version) return null;
  // This program cannot read the room's states: leave it to processes of its version.
  const able = table
    .filter((other) => other.version === last.version && isAlive(other) && other.state !== "draining")
    .filter((other) => hasPlace(other) && other.process !== own.process)
    .sort((a, b) => pressureOf(a) - pressureOf(b));
  return able[0] ?? null;
}

/** Tells whether the process has been too busy for long enough that it should hand rooms over. */
export class BusyWatch {
  readonly #rules: BalanceRules;
  #sinceMs: number | null = null;
  #busy = false;
  #notBeforeMs = -Infinity;

  constructor(rules: BalanceRules) {
    this.#rules = rules;
  }

  /** @param load current load of the process. @returns true: hand rooms over now */
  look(load: number, nowMs: number): boolean {
    const { busy, calm, sustainedMs } = this.#rules;
    if (load < (this.#busy ? calm : busy)) {
      this.#sinceMs = null;
      this.#busy = false;
      return false;
    }
    this.#sinceMs ??= nowMs;
    this.#busy ||= nowMs - this.#sinceMs >= sustainedMs;
    return this.#busy && nowMs >= this.#notBeforeMs;
  }

  moved(nowMs: number): void {
    this.#notBeforeMs = nowMs + this.#rules.pauseMs;
  }
}
