/** The largest number of something that still holds, found by trying. */

export interface KneeOptions {
  /** Known to be worth a try. */
  from: number;
  /** No more are tried. */
  most: number;
  /** The answer is at most this share below the first number that does not hold. */
  precision: number;
}

/**
 * Doubles until it no longer holds, then halves the interval. A number fails only when it fails twice: what else a
 * machine does may spoil one try.
 *
 * @param holds one try with this many
 * @returns the largest number that held; 0 if not even one does
 */
export async function knee(
  holds: (count: number) => Promise<boolean>,
  { from, most, precision }: KneeOptions,
): Promise<number> {
  const twice = async (count: number): Promise<boolean> => (await holds(count)) || (await holds(count));
  let good = 0;
  let bad = most + 1;
  let next = Math.min(from, most);
  while (good < most && (bad > most || bad - good > Math.max(1, precision * bad))) {
    if (await twice(next)) good = next;
    else bad = next;
    next = bad > most ? Math.min(2 * good, most) : Math.max(1, Math.round((good + bad) / 2));
  }
  return good;
}
