/**
 * Twin of kernel/assembly/collide.ts: particles against analytic colliders, each given by its signed distance.
 *
 * A signed distance changes by at most the length of a motion (it is 1-Lipschitz), so steps of d - r along xPrev -> x never jump over a
 * surface: conservative advancement (Mirtich 1996). Answer, with the outward normal n and the depth p:
 *   x moves out by p along n; the tangential displacement is cut by min(1, mu p/|dx_t|) (Coulomb); no velocity away from the surface is left.
 */
import { addAt, setAt, vectorAt, type Particles } from "./particles.ts";
import { add, apply, dot, norm, scale, subtract, transpose, type Matrix, type Vector } from "./vector.ts";

export type Shape =
  | { type: "plane"; normal: Vector; offset: number }
  | { type: "sphere"; center: Vector; radius: number }
  | { type: "capsule"; a: Vector; b: Vector; radius: number }
  /** toLocal: world to box axes, rows are the axes */
  | { type: "box"; center: Vector; halfExtents: Vector; toLocal: Matrix };

export type ReferenceCollider = Shape & { rootFriction: number };

/** Signed distance to the surface, m (negative inside), and the outward unit normal there. */
export function distanceTo(shape: Shape, p: Vector): { d: number; n: Vector } {
  switch (shape.type) {
    case "plane": return { d: dot(p, shape.normal) - shape.offset, n: shape.normal };
    case "sphere": return aroundPoint(shape.center, shape.radius, p);
    case "capsule": {
      const axis = subtract(shape.b, shape.a), s = dot(subtract(p, shape.a), axis) / dot(axis, axis);
      return aroundPoint(add(shape.a, scale(Math.min(Math.max(s, 0), 1), axis)), shape.radius, p);
    }
    case "box": {
      const local = apply(shape.toLocal, subtract(p, shape.center)), sign = local.map((c) => (c < 0 ? -1 : 1)) as unknown as Vector;
      const beyond = local.map((c, r) => Math.abs(c) - shape.halfExtents[r]!) as unknown as Vector;
      let d: number, n: Vector;
      if (beyond.every((c) => c <= 0)) {
        // inside: out through the nearest face
        d = Math.max(...beyond);
        const face = beyond.indexOf(d);
        n = [face === 0 ? 1 : 0, face === 1 ? 1 : 0, face === 2 ? 1 : 0];
      } else {
        n = [Math.max(beyond[0], 0), Math.max(beyond[1], 0), Math.max(beyond[2], 0)];
        d = norm(n);
        n = scale(1 / d, n);
      }
      return { d, n: apply(transpose(shape.toLocal), [sign[0] * n[0], sign[1] * n[1], sign[2] * n[2]]) };
    }
  }
}

function aroundPoint(center: Vector, radius: number, p: Vector): { d: number; n: Vector } {
  const away = subtract(p, center), length = norm(away);
  return { d: length - radius, n: length > 0 ? scale(1 / length, away) : [0, 1, 0] };
}

/** A grazing motion shortens its steps for ever; what is left after this many counts as a hit, which errs on the safe side. */
const MAX_MARCH = 24;

/** Depth and normal of the answer to the motion from -> to of a particle of radius r, or nothing. */
export function answer(shape: Shape, from: Vector, to: Vector, r: number): { depth: number; n: Vector } | undefined {
  const dx = subtract(to, from), move = norm(dx), end = distanceTo(shape, to), start = distanceTo(shape, from);
  const d0 = start.d - r, d1 = end.d - r;
  if (d1 > 0 && d1 > move) return undefined;
  if (d0 <= 0) {
    // from within the margin: away from the surface where it began, or on into it, through to another side even
    const inward = dot(dx, start.n);
    if (inward < 0 && (d1 > 0 || dot(start.n, end.n) < 0.5)) return { depth: -(d0 + inward), n: start.n };
    return d1 > 0 ? undefined : { depth: -d1, n: end.n };
  }
  if (d1 > 0 && d0 + d1 > move) return undefined;
  let t = move > 0 ? d0 / move : 1, hit = false, n = end.n;
  for (let step = 1; t < 1; step++) {
    const here = distanceTo(shape, add(from, scale(t, dx))), d = here.d - r;
    n = here.n;
    hit = d <= 1e-4 * r || step > MAX_MARCH;
    if (hit) break;
    t += d / move;
  }
  // through to another side, or out again: answer at the entry. A shallow hit slides along the surface where it ended.
  if (hit && (d1 > 0 || dot(n, end.n) < 0.5)) {
    const depth = -dot(subtract(to, add(from, scale(t, dx))), n);
    return depth > 0 ? { depth, n } : undefined;
  }
  return d1 < 0 ? { depth: -d1, n: end.n } : undefined;
}

/** Moves all particles out of all colliders, in their order, and corrects velocities. */
export function collide(p: Particles, colliders: readonly ReferenceCollider[], h: number): void {
  for (let i = 0; i < p.count; i++) {
    if (p.w[i] === 0) continue;
    const from = vectorAt(p.xPrev, i);
    let touched = false;
    for (const c of colliders) {
      let x = vectorAt(p.x, i);
      const hit = answer(c, from, x, p.radius[i]!);
      if (!hit || !(hit.depth > 0)) continue;
      const { depth, n } = hit;
      touched = true;
      x = add(x, scale(depth, n));
      const dx = subtract(x, from), tangential = subtract(dx, scale(dot(dx, n), n)), slide = norm(tangential);
      if (slide > 0) x = subtract(x, scale(Math.min(1, (p.rootFriction[i]! * c.rootFriction * depth) / slide), tangential));
      setAt(p.x, i, x);
      const away = dot(subtract(x, from), n);
      if (away > 0) addAt(p.xPrev, i, scale(away, n));
    }
    if (touched) setAt(p.v, i, scale(1 / (h * (1 + h * p.damping[i]!)), subtract(vectorAt(p.x, i), vectorAt(p.xPrev, i))));
  }
}
