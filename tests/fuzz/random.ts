/** Reproducible random numbers from a seed (mulberry32), and choices made with them. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** uint32 */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  }

  /** [0, 1) */
  unit(): number {
    return this.next() / 2 ** 32;
  }

  /** 0 .. below - 1 */
  below(below: number): number {
    return Math.floor(this.unit() * below);
  }

  chance(of: number): boolean {
    return this.unit() < of;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.next() & 255);
  }
}
