/**
 * Shares of the places for objects. Visitors have all but OPERATORS_SHARE of them, and of their bytes.
 * When these are full, the heaviest network makes way for lighter ones, its oldest unused object first (max-min
 * fairness): however many addresses fill the store, one that has less gets its place. An address that would be as heavy
 * as the heaviest is refused.
 */
import { networksOf } from "../../shared/networks.ts";
import type { ObjectLimits, ObjectRecord } from "./objectStore.ts";

/** Part of places and bytes that visitors cannot take. */
const OPERATORS_SHARE = 0.1;
/** Objects that may make way are looked for among so many, the oldest. */
export const MOST_CANDIDATES = 10_000;
/** Objects and scenes with use this recent do not make way, s. */
const GRACE_SECONDS = 30;

/** Objects of one address; null: operators. */
export interface Owned {
  address: string | null;
  count: number;
  bytes: number;
}

/** An object that no room has. */
export interface Candidate {
  id: string;
  address: string;
  bytes: number;
}

/** Places and bytes that visitors, or operators (null), may have. */
export function mostOf(address: string | null, { count, bytes }: ObjectLimits): { count: number; bytes: number } {
  if (address === null) return { count, bytes };
  return { count: count - Math.ceil(OPERATORS_SHARE * count), bytes: Math.floor((1 - OPERATORS_SHARE) * bytes) };
}

type Newcomer = Pick<ObjectRecord, "address" | "bytes">;

/** Since when an object must be unused to make way. @param at now, ISO 8601 */
export const unusedSince = (at: string): string => new Date(Date.parse(at) - 1000 * GRACE_SECONDS).toISOString();

/**
 * @param owned of all addresses
 * @param candidates called where places are short: objects that may make way, the oldest first
 * @returns ids of those that make way, none where there is room; or why the object may not be stored
 */
export function placeFor(
  newcomer: Newcomer,
  owned: readonly Owned[],
  limits: ObjectLimits,
  candidates: () => Candidate[],
): string[] | "full" | "share" {
  const ledger = new Ledger(owned, limits);
  if (ledger.isBeyondShare(newcomer.address)) return "share";
  if (newcomer.bytes > mostOf(newcomer.address, limits).bytes) return "full";
  const madeWay: string[] = [];
  if (ledger.fits(newcomer)) return madeWay;
  const left = candidates();
  while (!ledger.fits(newcomer)) {
    let heaviest = -1;
    // An operator's place is worth more than any visitor's.
    let load = newcomer.address === null ? -1 : ledger.load(newcomer.address, newcomer);
    for (const [i, { address }] of left.entries()) {
      const other = ledger.load(address);
      if (other > load) [heaviest, load] = [i, other];
    }
    if (heaviest < 0) return "full";
    const [victim] = left.splice(heaviest, 1) as [Candidate];
    ledger.remove(victim);
    madeWay.push(victim.id);
  }
  return madeWay;
}

/** Whether others have to make way for it. */
export const isShort = (newcomer: Newcomer, owned: readonly Owned[], limits: ObjectLimits): boolean =>
  !new Ledger(owned, limits).fits(newcomer);

interface Sum {
  count: number;
  bytes: number;
}

class Ledger {
  readonly #limits: ObjectLimits;
  readonly #all = { count: 0, bytes: 0 };
  readonly #visitors = { count: 0, bytes: 0 };
  readonly #networks = new Map<string, { count: number; bytes: number }>();

  constructor(owned: readonly Owned[], limits: ObjectLimits) {
    this.#limits = limits;
    for (const { address, count, bytes } of owned) this.#add(address, count, bytes);
  }

  remove({ address, bytes }: Candidate): void {
    this.#add(address, -1, -bytes);
  }

  isBeyondShare(address: string | null): boolean {
    return (
      address !== null &&
      networksOf(address).some(
        ({ network, share }) => (this.#networks.get(network)?.count ?? 0) >= share * this.#limits.countPerAddress,
      )
    );
  }

  fits({ address, bytes }: Newcomer): boolean {
    const isWithin = (sum: Sum, most: Sum): boolean => sum.count < most.count && sum.bytes + bytes <= most.bytes;
    if (!isWithin(this.#all, this.#limits)) return false;
    return address === null || isWithin(this.#visitors, mostOf(address, this.#limits));
  }

  /** Part of the visitors' places or bytes that a network of the address has, whichever is more. */
  load(address: string, more?: Newcomer): number {
    const most = mostOf(address, this.#limits);
    return Math.max(
      ...networksOf(address).map(({ network, share }) => {
        const { count, bytes } = this.#networks.get(network) ?? { count: 0, bytes: 0 };
        const places = (count + (more ? 1 : 0)) / Math.max(1, most.count);
        const space = (bytes + (more?.bytes ?? 0)) / Math.max(1, most.bytes);
        return Math.max(places, space) / share;
      }),
    );
  }

  #add(address: string | null, count: number, bytes: number): void {
    const sums = [this.#all];
    if (address !== null) {
      sums.push(this.#visitors);
      for (const { network } of networksOf(address)) {
        const sum = this.#networks.get(network) ?? { count: 0, bytes: 0 };
        this.#networks.set(network, sum);
        sums.push(sum);
      }
    }
    for (const sum of sums) {
      sum.count += count;
      sum.bytes += bytes;
    }
  }
}
