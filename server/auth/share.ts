/**
 * What is shared by all who come (rooms, seats, places in a line) and may be taken by each address only as long as it
 * leaves enough for others: a limit that falls with what is left (dynamic thresholds, Choudhury and Hahne 1998). With
 * `ratio` 1 one address alone gets half, the next one a quarter, and so on: no two ever have everything.
 */

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
