/**
 * Processor time that each address has used recently, so that queues can serve the lightest address first (fair queuing
 * by used time; P. Goyal, H. Vin, H. Cheng 1996, Start-time Fair Queuing). Use decays by half every HALF_LIFE_MS, so an
 * address that used much waits, but not forever.
 */

const HALF_LIFE_MS = 60_000;
/** Most remembered addresses; beyond that the least recently charged one is forgotten. */
const MOST_ADDRESSES = 10_000;

export class WorkShares {
  /** Least recently charged first. */
  readonly #used = new Map<string, { ms: number; atMs: number }>();

  /** @param address as limits count them (auth/addresses.ts) */
  charge(address: string, ms: number, nowMs = performance.now()): void {
    const used = this.of(address, nowMs) + ms;
    this.#used.delete(address);
    this.#used.set(address, { ms: used, atMs: nowMs });
    if (this.#used.size > MOST_ADDRESSES) this.#used.delete(this.#used.keys().next().value!);
  }

  /** @returns decayed processor time of the address, ms */
  of(address: string, nowMs = performance.now()): number {
    const used = this.#used.get(address);
    return used ? used.ms * 0.5 ** ((nowMs - used.atMs) / HALF_LIFE_MS) : 0;
  }
}
