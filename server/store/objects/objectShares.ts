/**
 * Shares the store's object places among visitors' networks. All but OPERATORS_SHARE of the places and bytes are for
 * visitors. If these are full, the heaviest network loses its oldest unused object to a lighter one (max-min fairness).
 * So a network with few objects gets a place, however many addresses fill the store. An address that would become as
 * heavy as the heaviest network is refused.
 */
import { networksOf } from "../../../shared/networks.ts";
import type { ObjectLimits, ObjectRecord } from "./objectStore.ts";

/** Share of places and bytes reserved for operators. */
const OPERATORS_SHARE = 0.1;
/** Number of oldest unused objects among which one is chosen for eviction. */
export const MOST_CANDIDATES = 10_000;
/** Objects and scenes that were used within this time are not evicted, s. */
const GRACE_SECONDS = 30;

/** Objects of one address; null: operators. */
export interface Owned {
  address: string | null;
  count: number;
  bytes: number;
}

/** An object that no room uses. */
export interface Candidate {
  id: string;
  address: string;
  bytes: number;
}

/** Returns the places and bytes for visitors, or for operators (null). */
export function mostOf(address: string | null, { count, bytes }: ObjectLimits): { count: number; bytes: number } {
  if (address === null) return { count, bytes };
  return { count: count - Math.ceil(OPERATORS_SHARE * count), bytes: Math.floor((1 - OPERATORS_SHARE) * bytes) };
}

type Newcomer = Pick<ObjectRecord, "address" | "bytes">;

/** Returns the time since when an object must be unused to be evicted. @param at now, ISO 8601 */
export const unusedSince = (at: string): string => new Date(Date.parse(at) - 1000 * GRACE_SECONDS).toISOString();

/**
 * @param owned objects of each address
 * @param candidates called if places are short: objects that may be evicted, oldest first
 * @returns ids of the objects to evict, empty if there is a free place; or why the object may not be stored
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
    // An operator's object evicts any visitor's object.
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

/** Whether other objects must be evicted for the new one. */
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

  /** Returns the larger of a network's shares of the visitors' places and bytes. */
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
