/**
 * Elimination order of a body's free particles: geometric nested dissection (George 1973) on the graph of its elements.
 * A separator is the set of particles below a plane that have a neighbor above it; of three axes and five planes the
 * smallest separator is chosen. Ties are broken by particle number, so that the same mesh gets the same order on any
 * machine.
 */

/** Largest part that is not dissected further. */
const LEAF = 8;
/** Positions of the planes, as parts of the particles sorted along the axis. */
const PLANES = [0.42, 0.46, 0.5, 0.54, 0.58];

/**
 * Neighbors of every particle, itself included, ascending: those of particle i are at start[i] .. start[i + 1] of
 * `columns`.
 */
export interface Graph {
  /** uint32[n + 1] */
  start: Uint32Array;
  columns: Uint32Array;
}

/** @param sets elements as uint32[corners * m], with their number of corners */
export function graphOf(count: number, sets: readonly { particles: Uint32Array; corners: number }[]): Graph {
  const near = Array.from({ length: count }, (_, i) => new Set([i]));
  for (const { particles, corners } of sets) {
    for (let e = 0; e < particles.length; e += corners) {
      for (let a = e; a < e + corners; a++)
        for (let b = e; b < e + corners; b++) near[particles[a]!]!.add(particles[b]!);
    }
  }
  const start = new Uint32Array(count + 1);
  near.forEach((set, i) => (start[i + 1] = start[i]! + set.size));
  const columns = new Uint32Array(start[count]!);
  near.forEach((set, i) => columns.set(Uint32Array.from(set).sort(), start[i]));
  return { start, columns };
}

interface Parts {
  below: number[];
  above: number[];
  separator: number[];
}

/**
 * @param X float64[3n] m, undeformed positions
 * @param free whether a particle belongs to the order
 * @returns uint32[m] free particles in elimination order
 */
export function nestedDissection(graph: Graph, X: Float64Array, free: (i: number) => boolean): Uint32Array {
  const count = graph.start.length - 1;
  const order: number[] = [];
  const mark = new Int32Array(count);
  let stamp = 0;

  /** Parts of `sorted` on both sides of index `cut`. */
  const split = (sorted: readonly number[], cut: number): Parts => {
    stamp++;
    for (let i = cut; i < sorted.length; i++) mark[sorted[i]!] = stamp;
    const parts: Parts = { below: [], above: sorted.slice(cut), separator: [] };
    for (let i = 0; i < cut; i++) {
      const particle = sorted[i]!;
      const columns = graph.columns.subarray(graph.start[particle], graph.start[particle + 1]);
      (columns.some((c) => mark[c] === stamp) ? parts.separator : parts.below).push(particle);
    }
    return parts;
  };

  const dissect = (part: readonly number[]): void => {
    let best: Parts | undefined;
    let least = Infinity;
    if (part.length > LEAF) {
      for (let axis = 0; axis < 3; axis++) {
        const sorted = [...part].sort((a, b) => X[3 * a + axis]! - X[3 * b + axis]! || a - b);
        for (const plane of PLANES) {
          const parts = split(sorted, Math.floor(sorted.length * plane));
          const cost = 10 * parts.separator.length + Math.abs(parts.below.length - parts.above.length);
          if (cost < least && parts.below.length > 0) [best, least] = [parts, cost];
        }
      }
    }
    if (!best) return void order.push(...part);
    dissect(best.below);
    dissect(best.above);
    order.push(...best.separator);
  };

  dissect(Array.from({ length: count }, (_, i) => i).filter(free));
  return Uint32Array.from(order);
}
