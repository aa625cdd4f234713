/**
 * Fair sharing of a limited resource (rooms, seats, queue places) among addresses. Each address may take only a
 * multiple of the free amount, so its limit falls as the resource fills (dynamic thresholds, Choudhury and Hahne 1998).
 * With `ratio` 1 one address alone gets half, the next one a quarter, and so on: two addresses can never take
 * everything.
 */
import { networksOf } from "../../shared/networks.ts";

/**
 * @param own amount that the address has
 * @param taken amount that all addresses have
 * @param all total amount
 * @param ratio limit of an address, relative to the free amount
 * @returns whether the address may have one more
 */
export function mayTake(own: number, taken: number, all: number, ratio: number): boolean {
  return taken < all && own < ratio * (all - taken);
}

interface Counted {
  /** Fixed limit per address; an IPv6 network has its share of it (shared/networks.ts). */
  perAddress: number;
  taken: number;
  all: number;
  /** The `ratio` of `mayTake`; 0 disables the limit by the free amount. */
  ratio: number;
}

/**
 * Applies `mayTake` to the address and to each IPv6 network that contains it. The ratio of a /56 is doubled, that of a
 * /48 tripled and that of a /32 quadrupled: alone they get two thirds, three quarters and four fifths.
 * @param owners addresses, one per taken item
 * @returns the count of the first network at its limit, with the limit; null: the address may have one more
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

/** Counts by address and by each IPv6 network that contains it. */
export class NetworkCounts {
  readonly #counts = new Map<string, number>();

  /** @returns the limit of the first network that has reached it; null: none has */
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
