/** "Did you mean": the known word that a misspelled one is nearest to. */

/** Longest name that is compared; the longest field has 22 characters. */
const LONGEST = 40;

/** Returns a limit with the word that a misspelled one means, if there is one. */
export const hinted = (limit: string, meant: string | undefined): string =>
  meant === undefined ? limit : `${limit}; did you mean ${meant}?`;

/** The nearest of some words. @param part most letters that may differ, as a part of the word */
export function nearest(name: string, words: readonly unknown[], part: number): string | undefined {
  if (name.length > LONGEST) return undefined;
  let best: string | undefined;
  let least = Infinity;
  for (const word of words) {
    if (typeof word !== "string") continue;
    const distance = editDistance(name.toLowerCase(), word.toLowerCase());
    if (distance < least && distance <= word.length * part) [best, least] = [word, distance];
  }
  return best;
}

/** Insertions, deletions, replacements and swaps of neighbors between two words (F. Damerau 1964). */
function editDistance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, rows[i - 1]![j - 1]! + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, rows[i - 2]![j - 2]! + 1);
      row.push(least);
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}
