/**
 * What is shared by all who come (rooms, seats, places in a line) and may be taken by each address only as long as it
 * leaves enough for others: a limit that falls with what is left (dynamic thresholds, Choudhury and Hahne 1998). With
 * `ratio` 1 one address alone gets half, the next one a quarter, and so on: no two ever have everything.
 */
import { networksOf } from "../../shared/networks.ts";

/**
 * @param own what the address has
 * @param taken what all have
 * @param all there is
 * @param ratio times as much as is left, an address may have
 * @returns may the address have one more?
 */
export function mayTake(own: number, taken: number, all: number, ratio: number): boolean {
  return taken < all && own < ratio * (all - taken);
}

interface Counted {
  /** What each address has at most; an IPv6 network has its share of it (shared/networks.ts). */
  perAddress: number;
  taken: number;
  all: number;
  /** As of `mayTake`; 0: what is left for others does not count. */
  ratio: number;
}

/**
 * As `mayTake`, for the address and each IPv6 network that it lies in. The ratio of a /56 is twice, of a /48 three
 * times as large: alone it gets two thirds, or three quarters.
 * @param owners addresses, one for each thing that is taken
 * @returns what the fullest network has that may have no more, and its limit; null: the address may have one more
 */
export function fullNetwork(
  address: string,
  owners: readonly string[],
  { perAddress, taken, all, ratio }: Counted,
): { own: number; limit: number | null } | null {
  const networks = owners.map(networksOf);
  for (const [step, { network, share }] of networksOf(address).entries()) {
    const own = networks.filter((of) => of[step]?.network === network).length;
    if (own >= share * perAddress) return { own, limit: share * perAddress };
    if (ratio > 0 && !mayTake(own, taken, all, (step + 1) * ratio)) return { own, limit: null };
  }
  return null;
}

/** Counts by address and by each IPv6 network that it lies in. */
export class NetworkCounts {
  readonly #counts = new Map<string, number>();

  /** @returns the limit of the first network that has as much as it may; null: none has */
  full(address: string, perAddress: number): number | null {
    const full = networksOf(address).find(({ network, share }) => this.#of(network) >= share * perAddress);
    return full ? full.share * perAddress : null;
  }

  add(address: string, count: 1 | -1): void {
    for (const { network } of networksOf(address)) {
      const left = this.#of(network) + count;
      if (left > 0) this.#counts.set(network, left);
      else this.#counts.delete(network);
    }
  }

  get size(): number {
    return this.#counts.size;
  }

  #of(network: string): number {
    return this.#counts.get(network) ?? 0;
  }
}
