/**
 * Twin of kernel/assembly/colliders/collide.ts: particles against analytic colliders, each given by its signed
 * distance.
 *
 * A signed distance changes by at most the length of a motion (it is 1-Lipschitz). So steps of d - r along xPrev -> x
 * never jump over a surface: conservative advancement (Mirtich 1996). The response, with the outward normal n and the
 * depth p:
 *   x moves out by p along n
 *   the tangential displacement is removed wholly up to mu_static p, else by mu p/|dx_t| (Coulomb)
 *   the push makes no velocity away from the surface; if the approach exceeds two substeps of external acceleration,
 *   restitution times the approach remains
 */
import { addAt, setAt, vectorAt, type Particles } from "./particles.ts";
import { add, apply, dot, norm, scale, subtract, transpose, type Matrix, type Vector } from "./vector.ts";

export type Shape =
  | { type: "plane"; normal: Vector; offset: number }
  | { type: "sphere"; center: Vector; radius: number }
  | { type: "capsule"; a: Vector; b: Vector; radius: number }
  /** solid, flat ends */
  | { type: "cylinder"; a: Vector; b: Vector; radius: number }
  /** the middle of the wall goes from radiusA around a to radiusB around b */
  | { type: "funnel"; a: Vector; b: Vector; radiusA: number; radiusB: number; thickness: number }
  /** toLocal: world to box axes; its rows are the axes */
  | { type: "box"; center: Vector; halfExtents: Vector; toLocal: Matrix };

/** Pose of a moving collider: world = s + R (p - center). */
interface Frame {
  s: Vector;
  R: Matrix;
}

/** `way`: pose of a moving collider at the start and the end of the substep. */
export type ReferenceCollider = Shape & {
  rootFriction: number /** default: same as the dynamic one */;
  rootStatic?: number /** default 0 */;
  rootBounce?: number;
  way?: { center: Vector; start: Frame; end: Frame };
};

/** Signed distance to the surface, m (negative inside), and the outward unit normal there. */
export function distanceTo(shape: Shape, p: Vector): { d: number; n: Vector } {
  switch (shape.type) {
    case "plane":
      return { d: dot(p, shape.normal) - shape.offset, n: shape.normal };
    case "sphere":
      return aroundPoint(shape.center, shape.radius, p);
    case "capsule": {
      const axis = subtract(shape.b, shape.a);
      const s = dot(subtract(p, shape.a), axis) / dot(axis, axis);
      return aroundPoint(add(shape.a, scale(Math.min(Math.max(s, 0), 1), axis)), shape.radius, p);
    }
    case "cylinder":
      return revolved(shape.a, shape.b, p, (rho, s, length) => rectangle(shape.radius, rho, s, length));
    case "funnel":
      return revolved(shape.a, shape.b, p, (rho, s, length) => wall(shape, rho, s, length));
    case "box": {
      const local = apply(shape.toLocal, subtract(p, shape.center));
      const sign = local.map((c) => (c < 0 ? -1 : 1)) as unknown as Vector;
      const beyond = local.map((c, r) => Math.abs(c) - shape.halfExtents[r]!) as unknown as Vector;
      let d: number;
      let n: Vector;
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

/**
 * Distance to a figure of revolution: `profile` is the distance in the half plane of radius and height, and its
 * gradient.
 */
function revolved(
  a: Vector,
  b: Vector,
  p: Vector,
  profile: (rho: number, s: number, length: number) => { d: number; along: [number, number] },
): { d: number; n: Vector } {
  const axis = subtract(b, a);
  const length = norm(axis);
  const u = scale(1 / length, axis);
  const s = dot(subtract(p, a), u);
  const across = subtract(subtract(p, a), scale(s, u));
  const rho = norm(across);
  // on the axis any perpendicular direction works
  const away =
    rho > 0
      ? scale(1 / rho, across)
      : Math.abs(u[0]) < 0.6
        ? scale(1 / Math.hypot(u[1], u[2]), [0, -u[2], u[1]])
        : scale(1 / Math.hypot(u[0], u[1]), [-u[1], u[0], 0]);
  const { d, along } = profile(rho, s, length);
  return { d, n: add(scale(along[0], away), scale(along[1], u)) };
}

/** Rectangle of half width `radius` (from the axis) and height `length`. */
function rectangle(radius: number, rho: number, s: number, length: number): { d: number; along: [number, number] } {
  const qr = rho - radius;
  const qs = Math.abs(s - length / 2) - length / 2;
  const end = s < length / 2 ? -1 : 1;
  if (qr <= 0 && qs <= 0) return qr >= qs ? { d: qr, along: [1, 0] } : { d: qs, along: [0, end] };
  const d = Math.hypot(Math.max(qr, 0), Math.max(qs, 0));
  return { d, along: [Math.max(qr, 0) / d, (end * Math.max(qs, 0)) / d] };
}

/** Segment from (radiusA, 0) to (radiusB, length), with half of the wall on each side. */
function wall(
  c: Extract<Shape, { type: "funnel" }>,
  rho: number,
  s: number,
  length: number,
): { d: number; along: [number, number] } {
  const slope = c.radiusB - c.radiusA;
  const t = Math.min(Math.max(((rho - c.radiusA) * slope + s * length) / (slope ** 2 + length ** 2), 0), 1);
  const gr = rho - c.radiusA - t * slope;
  const gs = s - t * length;
  const d = Math.hypot(gr, gs);
  const k = Math.hypot(slope, length);
  return {
    d: d - c.thickness / 2,
    along: d > 0 ? [gr / d, gs / d] : t > 0 && t < 1 ? [-length / k, slope / k] : [0, t > 0 ? 1 : -1],
  };
}

function aroundPoint(center: Vector, radius: number, p: Vector): { d: number; n: Vector } {
  const away = subtract(p, center);
  const length = norm(away);
  return { d: length - radius, n: length > 0 ? scale(1 / length, away) : [0, 1, 0] };
}

/** Steps after which the march counts as a hit, which is the safe choice. */
const MAX_MARCH = 24;
/** Speed out of the margin, in margins per second. */
const RISE = 2;

/**
 * Depth, normal and entry (share of the motion) of the response to the motion from -> to of a particle of radius r;
 * undefined: no hit.
 */
export function answer(
  shape: Shape,
  from: Vector,
  to: Vector,
  r: number,
): { depth: number; n: Vector; entry: number } | undefined {
  const dx = subtract(to, from);
  const move = norm(dx);
  const end = distanceTo(shape, to);
  const start = distanceTo(shape, from);
  const d0 = start.d - r;
  const d1 = end.d - r;
  if (d1 > 0 && d1 > move) return undefined;
  if (d0 <= 0) {
    // The particle starts within the margin. It moves away from that surface, or further in, perhaps through to another
    // side.
    const inward = dot(dx, start.n);
    if (inward < 0 && (d1 > 0 || dot(start.n, end.n) < 0.5)) return { depth: -(d0 + inward), n: start.n, entry: 0 };
    return d1 > 0 ? undefined : { depth: -d1, n: end.n, entry: 0 };
  }
  if (d1 > 0 && d0 + d1 > move) return undefined;
  if (shape.type === "funnel" && move > 0) return answerConcave(shape, from, to, r, d0 / move, { d: d1, n: end.n });
  /** Share of the motion after which the tangent of a distance reaches the surface; 1: not during the motion. */
  const tangent = (d: number, n: Vector): number => (dot(dx, n) < 0 ? d / -dot(dx, n) : 1);
  let t = tangent(d0, start.n);
  let hit = false;
  let n = end.n;
  for (let step = 1; t < 1; step++) {
    const here = distanceTo(shape, add(from, scale(t, dx)));
    const d = here.d - r;
    n = here.n;
    hit = d <= 1e-4 * r || step > MAX_MARCH;
    if (hit) break;
    t += tangent(d, n);
  }
  // through to another side, or out again: respond at the entry. A shallow hit slides along the surface at its end.
  if (hit && (d1 > 0 || dot(n, end.n) < 0.5)) {
    const depth = -dot(subtract(to, add(from, scale(t, dx))), n);
    return depth > 0 ? { depth, n, entry: t } : undefined;
  }
  return d1 < 0 ? { depth: -d1, n: end.n, entry: hit ? t : d0 / move } : undefined;
}

const MAX_CONCAVE_MARCH = 64;

/**
 * For concave shapes: a touch counts only on the way in; steps are at least half the margin; an unfinished march counts
 * as a hit.
 */
function answerConcave(
  shape: Shape,
  from: Vector,
  to: Vector,
  r: number,
  clear: number,
  end: { d: number; n: Vector },
): { depth: number; n: Vector; entry: number } | undefined {
  const dx = subtract(to, from);
  const move = norm(dx);
  let t = clear;
  let entry = 0;
  let n = end.n;
  for (let step = 0; t < 1; step++) {
    const here = distanceTo(shape, add(from, scale(t, dx)));
    const d = here.d - r;
    n = here.n;
    if (d > -0.25 * r) entry = t;
    if ((d <= 1e-4 * r && dot(dx, n) < 0) || step >= MAX_CONCAVE_MARCH) break;
    t += Math.max(d, 0.5 * r) / move;
  }
  if (t >= 1 && end.d > 0) return undefined;
  if (t >= 1 || (end.d <= 0 && dot(n, end.n) >= 0.5)) return { depth: -end.d, n: end.n, entry };
  return { depth: Math.max(1e-4 * r, -dot(subtract(to, add(from, scale(t, dx))), n)), n, entry };
}

/** The point in the collider's own frame. */
function inFrame(c: ReferenceCollider, when: "start" | "end", p: Vector): Vector {
  if (!c.way) return p;
  const { s, R } = c.way[when];
  return add(c.way.center, apply(transpose(R), subtract(p, s)));
}

/**
 * Moves all particles out of all colliders, in their order, and corrects velocities.
 * @param own square roots of static friction and restitution; default: static friction equals dynamic, no bounce; safe:
 * float64[3N] positions at the start of the substep, m, if contact may have moved xPrev
 */
export function collide(
  p: Particles,
  colliders: readonly ReferenceCollider[],
  h: number,
  own: { rootStatic?: number; rootBounce?: number; safe?: Float64Array } = {},
): void {
  for (let i = 0; i < p.count; i++) {
    if (p.w[i] === 0) continue;
    const origin = vectorAt(p.xPrev, i);
    let touched = false;
    for (const c of colliders) {
      const from = inFrame(c, "start", origin);
      let x = inFrame(c, "end", vectorAt(p.x, i));
      const r = p.radius[i]!;
      const hit = answer(c, from, x, r);
      if (!hit || !(hit.depth > 0)) continue;
      const { n } = hit;
      const entry = add(from, scale(hit.entry, subtract(x, from)));
      const approach = -dot(subtract(x, from), n);
      // depth for friction; a particle inside the margin moves out slowly
      const grip = Math.min(hit.depth, Math.max(approach, 0));
      const start = inFrame(c, "start", vectorAt(own.safe ?? p.xPrev, i));
      const within = Math.min(r, Math.max(0, r - distanceTo(c, start).d));
      const slow = hit.entry === 0 && hit.depth > grip + RISE * h * r;
      const depth = slow ? Math.min(hit.depth, Math.max(0, hit.depth - within) + RISE * h * r) : hit.depth;
      const restitution = (own.rootBounce ?? 0) * (c.rootBounce ?? 0);
      const resting = 2 * h * h * norm(vectorAt(p.acceleration, i));
      const back = approach > resting ? restitution * approach : approach < -resting ? -approach : 0;
      const sticks = (own.rootStatic ?? p.rootFriction[i]!) * (c.rootStatic ?? c.rootFriction) * grip;
      touched = true;
      x = add(x, scale(depth, n));
      const dx = subtract(x, from);
      const tangential = subtract(dx, scale(dot(dx, n), n));
      const slide = norm(tangential);
      if (slide > 0)
        x = subtract(
          x,
          scale(slide <= sticks ? 1 : Math.min(1, (p.rootFriction[i]! * c.rootFriction * grip) / slide), tangential),
        );
      // pushing out of one wall of a concave shape can hit another wall: stop at the margin, at the entry
      if (c.type === "funnel" && (answer(c, from, x, 0.5 * r)?.depth ?? 0) > 0) {
        const there = distanceTo(c, entry);
        x = add(entry, scale(Math.max(0, r - there.d), there.n));
      }
      setAt(p.x, i, c.way ? add(c.way.end.s, apply(c.way.end.R, subtract(x, c.way.center))) : x);
      const away = dot(subtract(x, from), n) - back;
      if (away > 0 || back > 0) addAt(p.xPrev, i, scale(away, c.way ? apply(c.way.end.R, n) : n));
    }
    // particles that other colliders pushed through a plane return to it
    if (touched && colliders.length > 1)
      for (const c of colliders) {
        const { d, n } =
          c.type === "plane" && !c.way ? distanceTo(c, vectorAt(p.x, i)) : { d: 0, n: [0, 0, 0] as Vector };
        if (d < 0) addAt(p.x, i, scale(-d, n));
      }
    if (touched)
      setAt(p.v, i, scale(1 / (h * (1 + h * p.damping[i]!)), subtract(vectorAt(p.x, i), vectorAt(p.xPrev, i))));
  }
}
