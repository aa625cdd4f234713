/**
 * Twin of the first stage of kernel/assembly/touchResponse.ts: pairs that are not clear are pushed apart one by one, inelastic but for restitution, with
 * friction (Bridson, Fedkiw & Anderson 2002, section 7.3). What eight rounds do not clear would be a rigid zone, which this twin does not have.
 */
import { vectorAt, addAt, type Particles } from "./particles.ts";
import { closestOf, type ReferenceTouch } from "./touches.ts";
import { combine, dot, norm, scale, subtract, type Vector } from "./vector.ts";

/** Time of impact of 24 numbers in [0, 1], or -1. */
export interface Detection {
  vertexTriangle: (q: Float64Array) => number;
  edgeEdge: (q: Float64Array) => number;
}

const ROUNDS = 8, BEFORE = 0.9, ROUNDING = 1 / 1024, AGAIN = 2;

type Answer = { answer: "clear" } | { answer: "near" | "meet"; keep: number; impact: number };

/** Is the way of a pair from `safe` to x clear? */
export function examine(touch: ReferenceTouch, safe: Float64Array, x: Float64Array, detect: Detection): Answer {
  const keep = Math.min(touch.keep, (1 - ROUNDING) * closestOf(touch, safe).distance);
  const q = Float64Array.from([safe, x].flatMap((at) => touch.particles.flatMap((i) => [...vectorAt(at, i)])));
  const impact = touch.kind === "vertex" ? detect.vertexTriangle(q) : detect.edgeEdge(q);
  if (impact >= 0) return { answer: "meet", keep, impact };
  return closestOf(touch, x).distance >= keep ? { answer: "clear" } : { answer: "near", keep, impact };
}

/**
 * Pushes `touches` apart until all are clear.
 * @param bad those that are not, in list order; all the whole list
 * @returns for every particle that was moved where it was before. @throws Error where impulses are not enough
 */
export function pushAllApart(p: Particles, safe: Float64Array, bad: readonly ReferenceTouch[], all: readonly ReferenceTouch[], detect: Detection): Map<number, Vector> {
  const before = new Map<number, Vector>();
  let queue = bad.filter((touch) => examine(touch, safe, p.x, detect).answer !== "clear");
  for (let round = 0; round < ROUNDS && queue.length > 0; round++) {
    const moved = new Set<number>(), again = new Set<ReferenceTouch>();
    for (const touch of queue) {
      const found = examine(touch, safe, p.x, detect);
      if (found.answer === "clear") continue;
      for (const i of touch.particles) if (!before.has(i)) before.set(i, vectorAt(p.x, i));
      const pushed = pushApart(p, safe, touch, found, round);
      if (pushed.length === 0) again.add(touch);
      for (const i of pushed) moved.add(i);
    }
    for (const i of moved) for (const touch of all) if (touch.particles.includes(i) && examine(touch, safe, p.x, detect).answer !== "clear") again.add(touch);
    queue = [...again];
  }
  if (queue.length > 0) throw new Error(`${queue.length} pairs are not clear after ${ROUNDS} rounds of impulses`);
  return before;
}

/** Velocities of what was pushed, over a substep of h, and fresh directions for its pairs. @param before what pushAllApart returned */
export function updatePushed(p: Particles, before: ReadonlyMap<number, Vector>, all: readonly ReferenceTouch[], h: number): void {
  for (const [i, from] of before) if (p.w[i]! > 0) addAt(p.v, i, scale(1 / (h * (1 + h * p.damping[i]!)), subtract(vectorAt(p.x, i), from)));
  for (const touch of all) {
    if (!touch.particles.some((i) => before.has(i))) continue;
    const { distance, difference, weights } = closestOf(touch, p.x);
    Object.assign(touch, { normal: scale(1 / distance, difference), gap: distance, weights, near: distance < AGAIN * touch.thickness });
  }
}

/** @returns the particles that it moved */
function pushApart(p: Particles, safe: Float64Array, touch: ReferenceTouch, { answer, keep, impact }: Exclude<Answer, { answer: "clear" }>, round: number): number[] {
  const { particles, thickness, staticFriction, dynamicFriction, restitution } = touch, r = thickness > 0 ? thickness : 2 * keep, x = p.x;
  const holdAt = (distance: number): number => Math.max(keep, Math.min(r, distance)), unit = ({ distance, difference }: { distance: number; difference: Vector }): Vector => scale(1 / distance, difference);
  let at = closestOf(touch, safe), hold = holdAt(at.distance);
  const along = (): number => dot(unit(at), combine(at.weights, particles.map((i) => subtract(vectorAt(x, i), vectorAt(x, particles[3])))));
  if (answer === "near") at = closestOf(touch, x);
  else if (along() >= hold || round % 2 === 1) {
    at = closestOf(touch, x.map((end, k) => safe[k]! + BEFORE * impact * (end - safe[k]!)));
    hold = holdAt(at.distance);
  }
  const n = unit(at), b = at.weights, g = answer === "near" ? at.distance : along();
  if (!(g < hold)) hold = g + keep;
  const W = particles.reduce((sum, i, k) => sum + p.w[i]! * b[k]! ** 2, 0);
  if (!(W > 0)) return [];
  const approach = hold - g, moved = combine(b, particles.map((i) => subtract(vectorAt(x, i), vectorAt(safe, i)))), tangential = subtract(moved, scale(dot(moved, n), n)), slide = norm(tangential);
  const cut = !(thickness > 0) ? 0 : slide <= staticFriction * approach ? 1 : Math.min(1, (dynamicFriction * approach) / slide);
  const push = subtract(scale((1 + restitution) * approach, n), scale(cut, tangential)), shoved = particles.filter((i, k) => p.w[i]! * b[k]! !== 0);
  particles.forEach((i, k) => addAt(x, i, scale((p.w[i]! * b[k]!) / W, push)));
  return shoved;
}
