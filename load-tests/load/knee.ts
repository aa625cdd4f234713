/** Finds the largest number for which a condition holds, by trying. */

export interface KneeOptions {
  /** First number to try. */
  from: number;
  /** Upper limit of the search. */
  most: number;
  /** The result is at most this share below the first number that fails. */
  precision: number;
}

/**
 * Doubles the number until it fails, then bisects. A number fails only after two failed tries, because other load of
 * the machine may spoil one.
 *
 * @param holds tries this number once
 * @returns the largest number that held; 0 if 1 fails
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
