/**
 * Geometric constraints of position based dynamics: lengths of edges, volumes of tetrahedra, the volume inside a whole
 * surface (Mueller et al. 2007; Rodero Gomez, chapter 3).
 *
 * What k means here. The thesis: k' = 1 - (1 - k)^(1/n) makes n iterations of one step remove the share k of an error,
 * "however, the resulting material stiffness is still dependent on the time step". So k is taken for a step of one
 * whole tick, T, and a substep of T/s gets the share
 *   k_h = k/(k + (1 - k) s^2),   k' = 1 - (1 - k_h)^(1/n)
 * The reason: under a constant force a constraint rests where the share that each step takes out of C + w f h^2 leaves
 * C, that is at C = w f h^2 (1 - k_h)/k_h, which this makes w f T^2 (1 - k)/k for every s. It is XPBD's law with
 * compliance w T^2 (1 - k)/k; with one substep a tick it is the thesis's to the letter, and k = 1 is rigid for any s.
 * Counting n over all substeps of a tick instead, 1 - (1 - k)^(1/(n s)), gives a rest position that goes with 1/s:
 * rejected. What is left: constraints that share particles disturb each other within an iteration, and k still depends
 * on tickHz and on the mesh. A compliance does not.
 */
import type { GeometricStiffness } from "../../../shared/scene.ts";
import type { DistanceElements, Hold, VolumeElements } from "./elements.ts";
import { sixVolumes, triplesOf } from "./polyhedron.ts";

/** How often a tick visits a constraint. */
export interface Pace {
  substeps: number;
  iterations: number;
}

/** k' of one iteration from k of a tick, dimensionless. Plain arithmetic, the same bits on any machine. */
export function stiffnessOfIteration(k: number, { substeps: s, iterations: n }: Pace): number {
  const left = ((1 - k) * s * s) / (k + (1 - k) * s * s); // 1 - k_h
  return 1 - root(left, n);
}

/** q^(1/n) for 0 <= q <= 1 by halving, until the interval has no number inside. */
function root(q: number, n: number): number {
  if (n === 1) return q;
  let low = 0;
  let high = 1;
  for (;;) {
    const middle = (low + high) / 2;
    if (middle === low || middle === high) return high;
    let power = 1;
    for (let i = 0; i < n; i++) power *= middle;
    if (power < q) low = middle;
    else high = middle;
  }
}

export type Held = GeometricStiffness & { unilateral?: boolean };

/** What a scene says about a constraint, for the solver. @returns how it acts, and its compliance (m/N or m^3/Pa) */
function holdOf(asked: Held, pace: Pace): { hold: Hold; alpha: number } {
  const unilateral = asked.unilateral ?? false;
  if ("compliance" in asked && asked.compliance !== undefined)
    return { hold: { stiffness: 1, keeps: true, unilateral }, alpha: asked.compliance };
  return {
    hold: {
      stiffness: stiffnessOfIteration((asked as { stiffness: number }).stiffness, pace),
      keeps: false,
      unilateral,
    },
    alpha: 0,
  };
}

/**
 * Every edge of triangles or tetrahedra once, ends ascending, in the order of the elements.
 * @param corners of an element
 */
export function edgesOf(elements: Uint32Array, corners: 3 | 4): Uint32Array {
  const seen = new Set<number>();
  const edges: number[] = [];
  for (let e = 0; e < elements.length; e += corners) {
    for (let i = 0; i < corners; i++) {
      for (let j = i + 1; j < corners; j++) {
        const a = Math.min(elements[e + i]!, elements[e + j]!);
        const b = Math.max(elements[e + i]!, elements[e + j]!);
        const key = a * 2 ** 26 + b; // fewer than 2^26 particles fit in a room
        if (seen.has(key)) continue;
        seen.add(key);
        edges.push(a, b);
      }
    }
  }
  return Uint32Array.from(edges);
}

/** Not Math.hypot, whose rounding is the engine's own choice. */
export function lengthsOf(X: Float64Array, edges: Uint32Array): Float64Array {
  return Float64Array.from({ length: edges.length / 2 }, (_, i) => {
    const a = 3 * edges[2 * i]!;
    const b = 3 * edges[2 * i + 1]!;
    const d = [0, 1, 2].map((r) => X[a + r]! - X[b + r]!) as [number, number, number];
    return Math.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
  });
}

/** float64[3n] unit vectors from the second end of each edge to the first. */
export function directionsOf(X: Float64Array, edges: Uint32Array, lengths: Float64Array): Float64Array {
  return Float64Array.from({ length: 3 * lengths.length }, (_, k) => {
    const i = Math.floor(k / 3);
    const r = k % 3;
    return (X[3 * edges[2 * i]! + r]! - X[3 * edges[2 * i + 1]! + r]!) / lengths[i]!;
  });
}

/** @param X float64[3N] m, undeformed positions; edges uint32[2n] */
export function distanceElements(X: Float64Array, edges: Uint32Array, asked: Held, pace: Pace): DistanceElements {
  const { hold, alpha } = holdOf(asked, pace);
  const rest = lengthsOf(X, edges);
  return {
    kind: "distance",
    particles: edges,
    rest,
    direction: directionsOf(X, edges, rest),
    alpha: rest.map(() => alpha),
    ...hold,
  };
}

/** @param X float64[3N] m, undeformed positions; tets uint32[4n], of positive volume */
export function volumeElements(X: Float64Array, tets: Uint32Array, asked: Held, pace: Pace): VolumeElements {
  const { hold, alpha } = holdOf(asked, pace);
  const n = tets.length / 4;
  const rest = Float64Array.from({ length: n }, (_, e) => {
    const [a, b, c, d] = tets.subarray(4 * e, 4 * e + 4) as unknown as [number, number, number, number];
    return sixVolumes(X, [[a, b, c]], d);
  });
  return { kind: "volume", particles: tets, rest, alpha: rest.map(() => alpha), ...hold };
}

/** One constraint over a body's whole surface. */
export interface EnclosedVolume extends Hold {
  /** six times the wanted volume, m^3 */
  rest: number;
  /** m^3/Pa */
  alpha: number;
}

/**
 * @param X float64[3N] m, undeformed positions; triangles uint32[3T], closed, outward; pressure the wanted volume in
 *   rest volumes
 */
export function enclosedVolume(
  X: Float64Array,
  triangles: Uint32Array,
  asked: Held & { pressure?: number },
  pace: Pace,
): EnclosedVolume {
  const { hold, alpha } = holdOf(asked, pace);
  return { ...hold, alpha, rest: (asked.pressure ?? 1) * sixVolumes(X, triplesOf(triangles), triangles[0]!) };
}
