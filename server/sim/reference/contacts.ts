/**
 * Twin of kernel/assembly/contact/solve/contactSolver.ts and contactSlide.ts: contact of a pair of primitives.
 *   C = n . sum_k b_k x_k - r >= 0,  n and b from the closest points at the substep's start, or at x for a sliding pair
 *   dL = -C / sum_k w_k b_k^2,  x_k += w_k b_k dL n
 */
import { addAt, vectorAt, type Particles } from "./particles.ts";
import { edgesDistance, vertexTriangleDistance, type Closest } from "./closestPoints.ts";
import { combine, dot, norm, scale, subtract, type Vector } from "./vector.ts";

/** A pair by its particles. */
export interface PairName {
  kind: "vertex" | "edges";
  particles: [number, number, number, number];
}

export interface ReferenceContactPair extends PairName {
  /** contact distance, m; -Infinity: other code solves this pair */
  thickness: number;
  /** least distance, m */
  keep: number;
  staticFriction: number;
  dynamicFriction: number;
  restitution: number;
  /** A separation direction of the pair, and its gap at the substep's start, m. */
  normal: Vector;
  gap: number;
  /** True if the pair is solved in this substep, with these weights of the closest points. */
  near: boolean;
  weights: Closest["weights"];
}

/** Constants of the kernel: rows.ts, contactSolver.ts, release.ts, contactSlide.ts. */
export const EDGE_SHARE = 0.65;
const RELEASE = 0.25;
const OPENED = 0.05;
const RELEASE_FALLS = 4;
const FAST = 16;
const STRAY = 0.05;
const SAME_WAY = 0.5;

/** Closest points of a pair at positions x. */
export function closestOf({ kind, particles }: PairName, x: Float64Array): Closest {
  const [a, b, c, d] = particles.map((p) => vectorAt(x, p)) as [Vector, Vector, Vector, Vector];
  return kind === "vertex" ? vertexTriangleDistance(a, b, c, d) : edgesDistance(a, b, c, d);
}

/** Separation of a pair by direction n: least n . (first - second) over its particles, m. */
export function separation({ kind, particles }: PairName, x: Float64Array, n: Vector): number {
  const along = particles.map((p) => dot(n, subtract(vectorAt(x, p), vectorAt(x, particles[3]))));
  const first = kind === "vertex" ? 1 : 2;
  return Math.min(...along.slice(0, first)) - Math.max(...along.slice(first));
}

/**
 * Direction and weights for solving a pair. If the pair slides by more than STRAY of its thickness, they are those of
 * the closest points at x. That requires that both directions point the same way, or that the new one separated the
 * pair at the start.
 * @returns undefined: its primitives have passed each other
 */
function turnAlong(
  p: Particles,
  touch: ReferenceContactPair,
): Pick<ReferenceContactPair, "normal" | "weights"> | undefined {
  const { particles, normal: n, weights: b, thickness: r } = touch;
  const moved = combine(
    b,
    particles.map((i) => subtract(vectorAt(p.x, i), vectorAt(p.xPrev, i))),
  );
  if (!(norm(subtract(moved, scale(dot(moved, n), n))) > STRAY * r)) return touch;
  const { distance, difference, weights } = closestOf(touch, p.x);
  const m = scale(1 / distance, difference);
  if (!(distance > 0)) return touch;
  // relative displacement: sliding is more across m than along it
  const way = subtract(
    difference,
    combine(
      weights,
      particles.map((i) => subtract(vectorAt(p.xPrev, i), vectorAt(p.xPrev, particles[3]))),
    ),
  );
  const glides = dot(way, way) > 2 * dot(way, m) ** 2;
  if (glides && (dot(m, n) >= SAME_WAY || separation(touch, p.xPrev, m) >= 0.5 * r)) return { normal: m, weights };
  const between = scale(1 / norm(combine([1, 1], [m, n])), combine([1, 1], [m, n]));
  return distance >= r && [p.x, p.xPrev].every((x) => separation(touch, x, between) >= 0.5 * r) ? undefined : touch;
}

/**
 * First iteration over all near pairs without a common particle, in order.
 * @param h s
 * @param substeps of a tick
 */
export function solveContacts(
  p: Particles,
  touches: readonly ReferenceContactPair[],
  h: number,
  substeps: number,
): void {
  for (const touch of touches) {
    // guard
    const { near, particles, thickness: r, staticFriction, dynamicFriction, restitution } = touch;
    if (
      !near ||
      !(
        dot(
          touch.normal,
          combine(
            touch.weights,
            particles.map((i) => subtract(vectorAt(p.x, i), vectorAt(p.x, particles[3]))),
          ),
        ) < r
      )
    )
      continue;
    const turned = turnAlong(p, touch);
    if (!turned) continue;
    const { normal: n, weights: b } = turned;
    const W = particles.reduce((sum, i, k) => sum + p.w[i]! * b[k]! ** 2, 0);
    if (!(W > 0)) continue;
    // gradient b_k n; C in two parts: the approach in this substep, and a share of the violation before it
    const along = (x: Float64Array): number =>
      dot(
        n,
        combine(
          b,
          particles.map((i) => subtract(vectorAt(x, i), vectorAt(x, particles[3]))),
        ),
      );
    const g = along(p.x);
    const hold = Math.min(r, along(p.xPrev));
    const fall = h * h * Math.max(...particles.map((i) => norm(vectorAt(p.acceleration, i))));
    if (!(g < r)) continue;
    const approach = Math.max(0, hold - g);
    const push = (to: Float64Array, by: Vector): void =>
      particles.forEach((i, k) => addAt(to, i, scale((p.w[i]! * b[k]!) / W, by)));
    // friction: the displacement of this substep perpendicular to n
    const moved = combine(
      b,
      particles.map((i) => subtract(vectorAt(p.x, i), vectorAt(p.xPrev, i))),
    );
    const tangential = subtract(moved, scale(dot(moved, n), n));
    const slide = norm(tangential);
    const slow = (OPENED * r) / substeps;
    const most = norm(moved) > FAST * slow ? Infinity : slow + RELEASE_FALLS * fall;
    const still = Math.min(RELEASE * (r - hold), most);
    const extra = Math.max(0, hold + still - (g + approach));
    // restitution: if the approach is faster than external acceleration alone causes, that by the velocities before
    // the substep is reversed, times `restitution`
    const nearer = dot(moved, n);
    const impact = Math.max(nearer, Math.min(0, h * along(p.v)));
    const back = restitution > 0 && nearer < -2 * fall ? nearer + restitution * impact + approach : 0;
    const cut = slide <= staticFriction * approach ? 1 : Math.min(1, (dynamicFriction * approach) / slide);
    // apply; the second part adds no velocity
    push(p.x, subtract(scale(approach + extra, n), scale(cut, tangential)));
    push(p.xPrev, scale(extra + back, n));
  }
}
