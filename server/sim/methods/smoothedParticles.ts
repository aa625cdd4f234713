import type { SmoothedParticles as Spec } from "../../../shared/scene.ts";
import { cohere, confine, normalOf, type Pairs } from "./fluidForces.ts";
import { GRIPS } from "./integrators.ts";
import type { Method, MethodBody, MethodKind, MethodState, Outside, Surface, Wall } from "./method.ts";
import { Neighbors } from "./neighbors.ts";
import { nearer, nearestOn, type Nearest } from "./nearestOn.ts";

/** H in spacings: there the sums over simple, body- and face-centered cubic lattices of a density differ by 0.2 % only. */
const REACH = 2.2;
/** c h/H; */
export const P = { CFL: 0.4, ALPHA: 0.05, STRENGTH: 1 };
/** Pairs are listed for as long as nothing has moved further than half of this, H. */
const SKIN = 0.2;
/** What is further from a surface hardly feels it, spacings. */
const FELT = 1.5;
/** Damper of a hand over its stiffness, in steps, as of explicit integrators. */
const GRIP_DAMPING = 2;

export const smoothedParticles: MethodKind = {
  meetsBodies: true,
  anyStep: true,
  grip: () => GRIPS.explicit,
  plan: (template) => ({ spacing: Float64Array.of(template.meanEdge) }),
  open: ({ spacing }, spec, body) => new Fluid((spacing as Float64Array)[0]!, spec as Spec, body),
};

const weightAt = (q: number): number => (q < 1 ? (1 - q) * (1 - q) * (1 - q) * (1 - q) * (1 + 4 * q) : 0);
/** Part of W beyond a plane at the distance (1 - u) H, and its slope along u. */
const beyond = (u: number): number => u * u * u * u * u * u * (3.5 - 4.5 * u + 1.5 * u * u);
const slopeOfBeyond = (u: number): number => 21 * u * u * u * u * u * (1 - 1.5 * u + (4 / 7) * u * u);

/** Sums of W/W(0) over the cubic lattice: all of it, and what lies on one side of a point's own layer. */
function latticeSums(): { all: number; side: number } {
  let all = 0;
  let side = 0;
  for (let i = -2; i <= 2; i++)
    for (let j = -2; j <= 2; j++)
      for (let k = -2; k <= 2; k++) {
        const w = weightAt(Math.sqrt(i * i + j * j + k * k) / REACH);
        all += w;
        if (i > 0) side += w;
      }
  return { all, side };
}
const LATTICE = latticeSums();
/** w(d) = WALL beyond^2 is what a layer at half a spacing lacks, with twice the slope of that. */
const WALL = LATTICE.side / LATTICE.all / beyond(1 - 0.5 / REACH) ** 2;
const MOST_WALL = 0.95;

/** A point near the surface of a body. */
interface Contact extends Nearest {
  point: number;
  surface: Surface;
  /** Of w/(1 - w) along the normal. */
  slope: number;
}

export class Fluid implements Method {
  private readonly body: MethodBody;
  private readonly spec: Spec;
  private readonly H: number;
  /** Of sound, m/s. */
  readonly c: number;
  /** Artificial and the fluid's own, m^2/s. */
  private readonly nu: number;
  /** Of a free point. */
  private readonly mass: number;
  private readonly w: Float64Array;
  private readonly neighbors: Neighbors;
  private readonly pairs: Pairs;
  private readonly a: Float64Array;
  /** grad_i of what walls and surfaces add, over 1 - w. */
  private readonly own: Float64Array;
  /** Product of 1 - w. */
  private readonly free: Float64Array;
  readonly density: Float64Array;
  private readonly P: Float64Array;
  /** Where points were when pairs were listed; none: they have to be. */
  private readonly listed: Float64Array;
  private fresh = false;
  private near: { surface: Surface; listed: Float64Array; points: number[]; triangles: number[] }[] = [];
  private readonly contacts: Contact[] = [];

  constructor(spacing: number, spec: Spec, body: MethodBody) {
    const { count, h, mass } = body;
    this.body = body;
    this.spec = spec;
    this.H = REACH * spacing;
    this.c = (P.CFL * this.H) / h;
    this.nu = 0.1 * P.ALPHA * this.c * this.H + (spec.viscosity ?? 0);
    this.mass = mass.find((m) => m > 0) ?? 1;
    this.w = mass.map((m) => (m > 0 ? 1 : 0));
    this.neighbors = new Neighbors(count);
    const vector = (n: number): Float64Array => new Float64Array(n * count);
    [this.a, this.own, this.listed] = [vector(3), vector(3), vector(3)];
    [this.free, this.density, this.P] = [vector(1), vector(1), vector(1)];
    this.pairs = { neighbors: this.neighbors, slope: new Float64Array(0), weight: new Float64Array(0) };
  }

  begin(): void {
    this.fresh = false;
  }

  step(state: MethodState, outside: Outside): void {
    const { h } = this.body;
    const { x, v } = state;
    const { surfaces = [] } = outside;
    this.list(x, surfaces);
    this.sumPairs(x);
    this.meet(x, outside.walls);
    this.accelerate(state, outside);
    for (let k = 0; k < v.length; k++) v[k]! += h * this.a[k]!;
    for (const contact of this.contacts) this.press(contact, v);
    for (const contact of this.contacts) this.follow(contact, v);
    if (this.spec.vorticity) confine(this.pairs, x, v, this.w, h * this.spec.vorticity);
    for (let k = 0; k < x.length; k++) x[k]! += h * v[k]!;
  }

  energy(): number {
    return 0;
  }

  pressure(): Float64Array {
    return this.P.map((p) => (p * this.mass) / (this.H / REACH) ** 3);
  }

  /** Lists pairs where what has moved may have come near. */
  private list(x: Float64Array, surfaces: readonly Surface[]): void {
    const { H, listed, neighbors, pairs } = this;
    const far = (0.5 * SKIN * H) ** 2;
    this.fresh &&= !hasMoved(x, listed, far) && this.near.every((n) => !hasMoved(n.surface.x, n.listed, far));
    if (this.fresh) return;
    this.fresh = true;
    neighbors.find(x, (1 + SKIN) * H);
    if (pairs.slope.length < neighbors.pairs) {
      pairs.slope = new Float64Array(Math.ceil(1.5 * neighbors.pairs));
      pairs.weight = new Float64Array(pairs.slope.length);
    }
    listed.set(x);
    const reach = (FELT * H) / REACH + SKIN * H;
    this.near = surfaces.map((surface) => {
      const [points, triangles]: [number[], number[]] = [[], []];
      for (let t = 0; t < surface.triangles.length / 3; t++)
        neighbors.eachIn(...boxOf(surface, t, reach), (i) => {
          points.push(i);
          triangles.push(t);
        });
      return { surface, listed: surface.x.slice(), points, triangles };
    });
  }

  /** rho/rho_0 without walls; W and slopes of pairs. */
  private sumPairs(x: Float64Array): void {
    const { density, H } = this;
    const { slope, weight } = this.pairs;
    const { i, j, pairs } = this.neighbors;
    const scale = 1 / LATTICE.all;
    const steep = (-20 * scale) / (H * H);
    density.fill(scale);
    for (let p = 0; p < pairs; p++) {
      const [a, b] = [i[p]!, j[p]!];
      const dx = x[3 * a]! - x[3 * b]!;
      const dy = x[3 * a + 1]! - x[3 * b + 1]!;
      const dz = x[3 * a + 2]! - x[3 * b + 2]!;
      const q = Math.sqrt(dx * dx + dy * dy + dz * dz) / H;
      const u = 1 - q;
      if (!(u > 0)) {
        slope[p] = 0;
        weight[p] = 0;
        continue;
      }
      const cube = u * u * u;
      slope[p] = steep * cube;
      const w = scale * cube * u * (1 + 4 * q);
      weight[p] = w;
      density[a]! += w;
      density[b]! += w;
    }
  }

  /** Walls and surfaces; then pressures. */
  private meet(x: Float64Array, walls: readonly Wall[]): void {
    const { own, free, density, P, c } = this;
    own.fill(0);
    free.fill(1);
    for (const wall of walls) this.meetWall(wall, x);
    this.contacts.length = 0;
    for (const { surface, points, triangles } of this.near) this.meetSurface(surface, points, triangles, x);
    for (let k = 0; k < P.length; k++) {
      const over = density[k]! - free[k]!;
      P[k] = over > 0 ? c * c * over : 0;
      const s = P[k]! * free[k]!;
      for (let r = 0; r < 3; r++) own[3 * k + r]! *= s;
    }
  }

  private meetWall(wall: Wall, x: Float64Array): void {
    const { H, own } = this;
    const n = new Float64Array(3);
    const offset = wall.plane ? wall.distanceTo(0, 0, 0) : 0;
    if (wall.plane) n.set(wall.plane);
    for (let k = 0; k < this.body.count; k++) {
      const [px, py, pz] = [x[3 * k]!, x[3 * k + 1]!, x[3 * k + 2]!];
      const d = wall.plane ? n[0]! * px + n[1]! * py + n[2]! * pz + offset : wall.distanceTo(px, py, pz);
      if (!(d < H)) continue;
      if (!wall.plane) normalOf(wall, px, py, pz, 1e-3 * H, n);
      const slope = this.lacks(k, d);
      for (let r = 0; r < 3; r++) own[3 * k + r]! += slope * n[r]!;
    }
  }

  /** What a half space at the distance d adds to a point. @returns its slope along d, over 1 - w */
  private lacks(k: number, d: number): number {
    const u = d > 0 ? 1 - d / this.H : 1;
    const b = beyond(u);
    const w = Math.min(MOST_WALL, WALL * b * b);
    this.free[k]! *= 1 - w;
    return (-2 * WALL * b * slopeOfBeyond(u)) / (this.H * (1 - w));
  }

  private meetSurface(surface: Surface, points: readonly number[], triangles: readonly number[], x: Float64Array): void {
    const reach = (FELT * this.H) / REACH;
    const nearest = new Map<number, Nearest>();
    for (let p = 0; p < points.length; p++) {
      const k = points[p]!;
      const best = nearest.get(k);
      const found = nearestOn(surface, triangles[p]!, x, 3 * k, best ? best.distance * (1 + 1e-6) : reach);
      if (found && nearer(found, best)) nearest.set(k, found);
    }
    for (const [point, found] of nearest) {
      if (surface.closed && found.height < 0) {
        found.distance *= -1;
        for (let r = 0; r < 3; r++) found.normal[r]! *= -1;
      }
      this.contacts.push({ ...found, point, surface, slope: this.lacks(point, found.distance) });
    }
  }

  private accelerate({ x, v }: MethodState, { force, points }: Outside): void {
    const { a, own, P, H, spec } = this;
    const { mass, alpha, h } = this.body;
    a.fill(0);
    if (points.count > 0) {
      points.linearize(x, a);
      points.product(v, a, GRIP_DAMPING * h);
    }
    for (let k = 0; k < a.length; k++) {
      const m = mass[(k / 3) | 0]!;
      a[k] = m > 0 ? (force[k]! - a[k]!) / m - alpha * v[k]! - own[k]! : 0;
    }
    if (spec.surfaceTension) cohere(this.pairs, x, a, spec.surfaceTension);
    const { i, j, pairs } = this.neighbors;
    const { slope } = this.pairs;
    const eps = 0.01 * H * H;
    const nu = 10 * this.nu;
    for (let p = 0; p < pairs; p++) {
      const s = slope[p]!;
      if (s === 0) continue;
      const ka = 3 * i[p]!;
      const kb = 3 * j[p]!;
      const dx = x[ka]! - x[kb]!;
      const dy = x[ka + 1]! - x[kb + 1]!;
      const dz = x[ka + 2]! - x[kb + 2]!;
      const rate = dx * (v[ka]! - v[kb]!) + dy * (v[ka + 1]! - v[kb + 1]!) + dz * (v[ka + 2]! - v[kb + 2]!);
      const f = s * ((nu * rate) / (dx * dx + dy * dy + dz * dz + eps) - P[i[p]!]! - P[j[p]!]!);
      a[ka]! += f * dx;
      a[ka + 1]! += f * dy;
      a[ka + 2]! += f * dz;
      a[kb]! -= f * dx;
      a[kb + 1]! -= f * dy;
      a[kb + 2]! -= f * dz;
    }
    for (let k = 0; k < a.length; k++) if (!(mass[(k / 3) | 0]! > 0)) a[k] = 0;
  }

  /** Pressure on a surface: both get the same impulse. */
  private press(contact: Contact, v: Float64Array): void {
    const { P, free, body, mass } = this;
    const k = contact.point;
    if (P[k] === 0) return;
    this.push(contact, -body.h * P[k]! * free[k]! * contact.slope * mass, v);
  }

  /**
   * The contact's own spring, k = m c^2 |grad w|^2, once more, so that the step is implicit in it: however light a
   * surface is, kappa = h^2 k (1/m + 1/m_s) leaves 1/(1 + kappa) of the velocity along the normal.
   */
  private follow(contact: Contact, v: Float64Array): void {
    const { surface, triangle, weights, point, slope } = contact;
    if (this.P[point] === 0) return;
    let light = this.w[point]! / this.mass;
    for (let c = 0; c < 3; c++) light += weights[c]! * weights[c]! * surface.w[surface.triangles[3 * triangle + c]!]!;
    const steep = this.body.h * this.c * this.free[point]! * slope;
    const kappa = steep * steep * this.mass * light * P.STRENGTH;
    if (light > 0) this.push(contact, (-kappa / (1 + kappa) / light) * rateOf(contact, v), v);
  }

  /** An impulse along the normal on the point, and against it on the surface. */
  private push({ surface, triangle, weights, normal, point }: Contact, impulse: number, v: Float64Array): void {
    const own = (impulse * this.w[point]!) / this.mass;
    for (let r = 0; r < 3; r++) v[3 * point + r]! += own * normal[r]!;
    for (let c = 0; c < 3; c++) {
      const at = surface.triangles[3 * triangle + c]!;
      const part = impulse * weights[c]! * surface.w[at]!;
      for (let r = 0; r < 3; r++) surface.v[3 * at + r]! -= part * normal[r]!;
    }
  }
}

function rateOf({ surface, triangle, weights, normal, point }: Contact, v: Float64Array): number {
  let rate = 0;
  for (let r = 0; r < 3; r++) {
    let u = v[3 * point + r]!;
    for (let c = 0; c < 3; c++) u -= weights[c]! * surface.v[3 * surface.triangles[3 * triangle + c]! + r]!;
    rate += u * normal[r]!;
  }
  return rate;
}

function hasMoved(x: Float64Array, from: Float64Array, square: number): boolean {
  for (let k = 0; k < x.length; k += 3) {
    const dx = x[k]! - from[k]!;
    const dy = x[k + 1]! - from[k + 1]!;
    const dz = x[k + 2]! - from[k + 2]!;
    if (!(dx * dx + dy * dy + dz * dz < square)) return true;
  }
  return false;
}

function boxOf({ x, triangles }: Surface, t: number, reach: number): [low: number[], high: number[]] {
  const along = (r: number): number[] => [0, 1, 2].map((c) => x[3 * triangles[3 * t + c]! + r]!);
  return [
    [0, 1, 2].map((r) => Math.min(...along(r)) - reach),
    [0, 1, 2].map((r) => Math.max(...along(r)) + reach),
  ];
}
