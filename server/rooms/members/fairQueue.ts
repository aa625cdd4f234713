/**
 * Items of members that wait for a shared budget. Addresses take turns, and the members of an address take turns: the
 * address, and of it the member, that was served longest ago is next. If more items wait than may, the address with the
 * most loses one of its member with the most (longest queue drop, Suter et al. 1998). So neither an address with many
 * members nor one member uses up the budget.
 */

/** Owner of an item. */
export interface Source {
  member: number;
  /** As limits count it (auth/addresses.ts). */
  address: string;
}

/** Addresses and members with a remembered turn. The others count as never served. */
const MOST_TURNS = 4096;

export class FairQueue<Item extends { source: Source }> {
  readonly #most: number;
  /** Oldest first. */
  #waiting: Item[] = [];
  /** Number of the last service of an address or a member, least recently served first. */
  readonly #turns = new Map<string | number, number>();
  #turn = 0;

  /** @param most items that may wait */
  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#waiting.length;
  }

  /** Adds an item. @returns the item that is dropped for it; null: none */
  add(item: Item): Item | null {
    this.#waiting.push(item);
    if (this.#waiting.length <= this.#most) return null;
    const counts = new Map<string | number, number>();
    for (const { source } of this.#waiting)
      for (const key of [source.address, source.member]) counts.set(key, (counts.get(key) ?? 0) + 1);
    const load = ({ source: { address, member } }: Item): number[] =>
      [address, member].flatMap((key) => [counts.get(key)!, this.#turnOf(key)]);
    return this.#remove((item, older) => compare(load(item), load(older)) >= 0);
  }

  /** Removes up to `count` items, one of each source in turn. @returns them in the order of their arrival */
  take(count: number): Item[] {
    const turns = ({ source: { address, member } }: Item): number[] => [this.#turnOf(address), this.#turnOf(member)];
    const arrived = [...this.#waiting];
    while (arrived.length - this.#waiting.length < count && this.#waiting.length > 0) {
      const next = this.#remove((item, older) => compare(turns(item), turns(older)) < 0);
      for (const key of [next.source.address, next.source.member]) this.#serve(key);
    }
    return arrived.filter((item) => !this.#waiting.includes(item));
  }

  /** Returns the first item that fits; undefined: none does. */
  find(fits: (item: Item) => boolean): Item | undefined {
    return this.#waiting.find(fits);
  }

  /** Keeps only the items to which `stays` applies. */
  keep(stays: (item: Item) => boolean): void {
    this.#waiting = this.#waiting.filter(stays);
  }

  /** @param goesBefore whether an item is a better choice than an older one */
  #remove(goesBefore: (item: Item, older: Item) => boolean): Item {
    let chosen = 0;
    for (let k = 1; k < this.#waiting.length; k++)
      if (goesBefore(this.#waiting[k]!, this.#waiting[chosen]!)) chosen = k;
    return this.#waiting.splice(chosen, 1)[0]!;
  }

  #turnOf(key: string | number): number {
    return this.#turns.get(key) ?? 0;
  }

  #serve(key: string | number): void {
    this.#turns.delete(key);
    this.#turns.set(key, ++this.#turn);
    if (this.#turns.size > MOST_TURNS) this.#turns.delete(this.#turns.keys().next().value!);
  }
}

/** Compares two lists of equal length by their first difference. */
function compare(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, k) => value !== b[k]);
  return at < 0 ? 0 : a[at]! - b[at]!;
}
