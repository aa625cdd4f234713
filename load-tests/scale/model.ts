/**
 * What a tick takes on N threads, from what its pieces take on one and what it costs to share a piece out.
 *
 *   T(N) = sum of serial pieces + sum over shared pieces of  ceil(c / n) t / c + (n + 2) l,   n = min(N, c)
 *
 *   t, c   seconds on one thread, chunks
 *   l      until a cache line that another core has written is here: the ticket's, the own counter's and the sum's once
 *   for the last one to come, and the
 *          sum's once for each of the others, one after the other. Claims of the own part cost nothing that was not
 *          measured with t.
 *
 * A leader whom nobody helps in time does a piece alone: never more than t + 3 l. What the model leaves out: memory and
 * cores that get slower when all of them work, and cores farther apart than the two that l was measured on.
 */

/** A piece of a tick in the order in which it runs. */
export interface Piece {
  label: string;
  /** On one thread. */
  seconds: number;
  /** 1: serial. */
  chunks: number;
}

/** Seconds of a tick of these pieces on so many threads, each with a core of its own. @param line l, s */
export function predict(pieces: readonly Piece[], line: number, threads: number): number {
  return pieces.reduce((sum, { seconds, chunks }) => {
    const n = Math.min(threads, chunks);
    if (n < 2) return sum + seconds;
    return sum + Math.min((Math.ceil(chunks / n) * seconds) / chunks + (n + 2) * line, seconds + 3 * line);
  }, 0);
}

/** Serial seconds of the tick by label, largest first. */
export function serialStages(pieces: readonly Piece[]): [string, number][] {
  const sums = new Map<string, number>();
  for (const { label, seconds, chunks } of pieces) if (chunks < 2) sums.set(label, (sums.get(label) ?? 0) + seconds);
  return [...sums].sort((x, y) => y[1] - x[1]);
}
