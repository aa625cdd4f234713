/**
 * Twin of kernel/assembly/broadphase.ts, closest.ts and contacts.ts: particles against the triangles of other bodies.
 *   C = n . (x - q) - r >= 0,  q = sum_i b_i x_i the triangle's closest point; dL = -C/(w + sum_i w_i b_i^2), at most r an iteration
 * and Coulomb friction on the tangential displacement of the substep. The broad phase here compares everything with everything.
 */
import { addAt, vectorAt, type Particles } from "./particles.ts";
import { add, combine, cross, dot, norm, scale, subtract, type Vector } from "./vector.ts";

export interface ReferenceSurface {
  /** First particle, and how many are on the surface. */
  first: number;
  count: number;
  /** particle numbers, three per triangle */
  triangles: ArrayLike<number>;
  /** contact thickness, m */
  radius: number;
  /** closed: its triangles have one outside */
  solid: boolean;
}

export interface ReferenceContact {
  particle: number;
  /** thickness of the pair, m */
  radius: number;
  /** nearest first; side +1 or -1 is where the particle belongs */
  triangles: { corners: [number, number, number]; side: number; distance: number }[];
}

/** A contact keeps so many triangles of one other body. */
export const CONTACT_TRIANGLES = 8;

/** Barycentric weights of the point of triangle a b c that is closest to p: the smallest of face, edges and corners. */
export function closestWeights(p: Vector, a: Vector, b: Vector, c: Vector): Vector {
  const u = subtract(b, a), v = subtract(c, a), n = cross(u, v), nn = dot(n, n);
  if (nn > 0) {
    const q = subtract(p, a), beta = dot(cross(q, v), n) / nn, gamma = dot(cross(u, q), n) / nn;
    if (beta >= 0 && gamma >= 0 && beta + gamma <= 1) return [1 - beta - gamma, beta, gamma];
  }
  const corners = [a, b, c];
  let best: Vector = [1, 0, 0], least = Infinity;
  for (const [i, j] of [[0, 1], [1, 2], [2, 0]] as const) {
    const edge = subtract(corners[j]!, corners[i]!), ee = dot(edge, edge);
    const s = ee > 0 ? Math.min(Math.max(dot(subtract(p, corners[i]!), edge) / ee, 0), 1) : 0;
    const weights: [number, number, number] = [0, 0, 0];
    weights[i] = 1 - s;
    weights[j] += s;
    const d = norm(subtract(p, combine(weights, corners)));
    if (d < least) [best, least] = [weights, d];
  }
  return best;
}

/** How far a particle of body a may be from a triangle of body b and still matter in this tick, m. */
export function reachOf(p: Particles, a: ReferenceSurface, b: ReferenceSurface, tickSeconds: number): number {
  const fastest = (s: ReferenceSurface): number => {
    let most = 0;
    for (let i = s.first; i < s.first + s.count; i++) most = Math.max(most, norm(vectorAt(p.v, i)));
    return most;
  };
  return 2 * (a.radius + b.radius) + 1.5 * (fastest(a) + fastest(b)) * tickSeconds;
}

/** Every pair within reach, in the kernel's order: by the body of the triangles, then that of the particles, then by particle. */
export function findContacts(p: Particles, surfaces: readonly ReferenceSurface[], tickSeconds: number): ReferenceContact[] {
  const contacts: ReferenceContact[] = [];
  for (const b of surfaces) {
    for (const a of surfaces) {
      if (a === b) continue;
      const reach = reachOf(p, a, b, tickSeconds);
      for (let particle = a.first; particle < a.first + a.count; particle++) {
        const x = vectorAt(p.x, particle), near: ReferenceContact["triangles"] = [];
        for (let t = 0; t < b.triangles.length; t += 3) {
          const corners: [number, number, number] = [b.triangles[t]!, b.triangles[t + 1]!, b.triangles[t + 2]!];
          const [A, B, C] = corners.map((c) => vectorAt(p.x, c)) as [Vector, Vector, Vector];
          const distance = norm(subtract(x, combine(closestWeights(x, A, B, C), [A, B, C])));
          if (distance > reach) continue;
          const above = dot(subtract(x, A), cross(subtract(B, A), subtract(C, A))) >= 0;
          near.push({ corners, side: b.solid || above ? 1 : -1, distance });
        }
        near.sort((s, t) => s.distance - t.distance); // stable: equal distances stay in triangle order
        if (near.length > 0) contacts.push({ particle, radius: a.radius + b.radius, triangles: near.slice(0, CONTACT_TRIANGLES) });
      }
    }
  }
  return contacts;
}

/** The triangle that the particle answers to now: the nearest, and among equals one that has the particle in front. */
function choose(p: Particles, contact: ReferenceContact): { corners: [number, number, number]; b: Vector; n: Vector; height: number } | undefined {
  const x = vectorAt(p.x, contact.particle);
  let best: { corners: [number, number, number]; b: Vector; n: Vector; height: number; d2: number; inFront: boolean } | undefined;
  for (const { corners, side } of contact.triangles) {
    const places = corners.map((c) => vectorAt(p.x, c)) as [Vector, Vector, Vector], [A, B, C] = places;
    const normal = cross(subtract(B, A), subtract(C, A)), area = norm(normal);
    if (!(area > 0)) continue;
    const outward = scale(side / area, normal), b = closestWeights(x, A, B, C), g = subtract(x, combine(b, places));
    const d2 = dot(g, g), up = dot(g, outward), limit = best?.d2 ?? Infinity;
    const tie = d2 <= limit * (1 + 1e-3) && d2 >= limit * (1 - 1e-3);
    if (tie ? best!.inFront || up < 0 : d2 > limit) continue;
    const inFront = up >= 0, distance = Math.sqrt(d2);
    best = inFront && distance > 0 ? { corners, b, n: scale(1 / distance, g), height: distance, d2, inFront } : { corners, b, n: outward, height: up, d2, inFront };
  }
  return best && best.height < contact.radius ? best : undefined;
}

/** One iteration over all contacts, in order. */
export function solveContacts(p: Particles, contacts: readonly ReferenceContact[]): void {
  for (const contact of contacts) {
    // guard
    const nearest = choose(p, contact);
    if (!nearest) continue;
    const { corners, b, n, height } = nearest, all = [contact.particle, ...corners], s = [1, -b[0], -b[1], -b[2]];
    const W = all.reduce((sum, i, k) => sum + p.w[i]! * s[k]! * s[k]!, 0);
    if (!(W > 0)) continue;
    // gradient s_k n; C
    const depth = Math.min(contact.radius - height, contact.radius);
    // lambda; apply
    all.forEach((i, k) => addAt(p.x, i, scale((p.w[i]! * s[k]! * depth) / W, n)));
    // friction
    const moved = all.reduce<Vector>((sum, i, k) => add(sum, scale(s[k]!, subtract(vectorAt(p.x, i), vectorAt(p.xPrev, i)))), [0, 0, 0]);
    const tangential = subtract(moved, scale(dot(moved, n), n)), slide = norm(tangential);
    if (!(slide > 0)) continue;
    const mu = p.rootFriction[contact.particle]! * p.rootFriction[corners[0]]!, cut = Math.min(1, (mu * depth) / slide);
    all.forEach((i, k) => addAt(p.x, i, scale((-p.w[i]! * s[k]! * cut) / W, tangential)));
  }
}
