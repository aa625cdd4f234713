/** A queue in which addresses take turns, so that an address with many requests delays only itself. */
export class Turns {
  readonly #atOnce: number;
  #running = 0;
  #waiting = 0;
  /** Waiting work by address; the next address comes first. */
  readonly #lines = new Map<string, (() => void)[]>();
  readonly #usedOf: (address: string) => number;

  /**
   * @param atOnce limit of concurrent work
   * @param usedOf amount that an address has used: the address with the least is next. Absent: they take turns
   */
  constructor(atOnce: number, usedOf: (address: string) => number = () => 0) {
    this.#atOnce = atOnce;
    this.#usedOf = usedOf;
  }

  /**
   * @param address of the caller, as limits count them (server/auth/addresses.ts)
   * @param mayWait called before waiting, with the numbers of waiting tasks of the address and of all; throws to refuse
   */
  async run<T>(
    address: string,
    work: () => Promise<T>,
    mayWait: (own: number, all: number) => void = () => {},
  ): Promise<T> {
    if (this.#running < this.#atOnce) this.#running += 1;
    else {
      const line = this.#lines.get(address) ?? [];
      mayWait(line.length, this.#waiting);
      this.#lines.set(address, line);
      this.#waiting += 1;
      // A finished task passes its place on, so `running` stays the same.
      await new Promise<void>((resolve) => line.push(resolve));
    }
    try {
      return await work();
    } finally {
      const next = this.#takeNext();
      if (next) next();
      else this.#running -= 1;
    }
  }

  /** Takes the first task of the next address, which then moves behind the others. */
  #takeNext(): (() => void) | undefined {
    let next: [string, (() => void)[]] | undefined;
    let least = Infinity;
    for (const entry of this.#lines) {
      const used = this.#usedOf(entry[0]);
      if (used < least) [next, least] = [entry, used];
    }
    if (!next) return undefined;
    const [address, line] = next;
    this.#lines.delete(address);
    const go = line.shift();
    this.#waiting -= 1;
    if (line.length > 0) this.#lines.set(address, line);
    return go;
  }
}
