/**
 * Predicts the time of a tick on N threads, from its pieces' times on one thread and the cost of sharing a piece.
 *
 *   T(N) = sum of serial pieces + sum over shared pieces of  ceil(c / n) t / c + (n + 2) l,   n = min(N, c)
 *
 *   t, c   seconds on one thread, chunks
 *   l      time to receive a cache line that another core has written: once each for the ticket, the thread's own
 *          counter and the sum, for the last thread to arrive; and once for the sum for each other thread, one after
 *          another. Claims of a thread's own part cost nothing beyond t.
 *
 * If no helper arrives in time, the orchestrator does a piece alone: at most t + 3 l. The model ignores that memory and
 * cores slow down when all cores work, and that other cores may be farther apart than the two on which l was measured.
 */

/** A piece of a tick, in the order of execution. */
export interface Piece {
  label: string;
  /** Time on one thread. */
  seconds: number;
  /** Number of chunks; 1: serial. */
  chunks: number;
}

/** Seconds of a tick with these pieces on this number of threads, each on a core of its own. @param line l, s */
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
