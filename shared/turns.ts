/** A line in which addresses take turns: who asks for much holds up itself. */
export class Turns {
  readonly #atOnce: number;
  #running = 0;
  #waiting = 0;
  /** By address; whose turn it is first. */
  readonly #lines = new Map<string, (() => void)[]>();
  readonly #usedOf: (address: string) => number;

  /**
   * @param atOnce pieces of work
   * @param usedOf what an address has used: the one that has used least is next. Absent: they take turns
   */
  constructor(atOnce: number, usedOf: (address: string) => number = () => 0) {
    this.#atOnce = atOnce;
    this.#usedOf = usedOf;
  }

  /**
   * @param address who asks, as limits count them (server/auth/addresses.ts)
   * @param mayWait asked if it has to wait: how many of the address wait already, and of all; throws if it may not
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
      // Whoever is done hands its place over: `running` stays.
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

  /** Of the address whose turn it is, which then waits behind the others. */
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
