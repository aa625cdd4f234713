/**
 * Loosely coupled particles (Physically Based Deformable Models, "Loosely coupled particle systems"; Tonnesen 1991):
 * the Lennard-Jones bi-reciprocal function of each pair at the distance d,
 *
 *   phi(d) = -e_0/(m - n) (m (d_0/d)^n - n (d_0/d)^m),    m < n,   minimum -e_0 at d_0
 *   phi_c(d) = phi(d) - phi(d_c) - (d - d_c) phi'(d_c)     below the cut-off d_c: energy and force are 0 there
 *
 * d_0 is chosen so that the body's initial lattice is at rest: sum d phi_c'(d) = 0 over the neighbors of its middle.
 * Each step is a kick in the middle of a drift (position Verlet): symplectic, with one evaluation of forces. The number
 * of steps makes omega h <= STIFFEST, with omega^2 = 8 phi''(d_0)/M, the fastest frequency of a close-packed lattice;
 * the limit is 2.
 *
 * Heat is a thermostat of pairs (Groot and Warren 1997, eq. 4 to 9), so it keeps the momentum:
 *   f_ij = (-gamma w^2 (v_ij . n) + sqrt(2 gamma k T / h) w zeta) n,   w = 1 - d/d_c,  <zeta> = 0, <zeta^2> = 1
 * zeta is uniform, from a hash of the pair and the step number, which is the body's only extra state.
 */
import type { LennardJones as Spec } from "../../../../shared/scene/sceneMethodTypes.ts";
import { SceneError } from "../../../../shared/scene/sceneError.ts";
import type { BodyTemplate } from "../../body/template.ts";
import { GRABS, outerForce } from "../elements/integrators.ts";
import type { Constants, Method, MethodBody, MethodKind, MethodState, Outside } from "../method.ts";
import { Neighbors } from "../fluids/neighbors.ts";

/** Largest omega h: a quarter of the limit, since colliding pairs are stiffer than pairs at rest. */
const STIFFEST = 0.5;
/** Margin of listed pairs beyond the cut-off, in d_0; they are listed again once a point has moved half of it. */
const SKIN = 0.3;
/** Largest product of points and steps in a tick, own substeps included. With 27 pairs a point it takes 30 ms. */
const MOST_STEPPED = 2 ** 16;
const DEFAULTS = { exponents: [6, 12], cutOff: 2.2, heatRate: 4 } as const;

export const lennardJones: MethodKind = {
  grab: () => GRABS.explicit,
  plan(template, spec, body, path) {
    const law = lawOf(template, spec as Spec);
    const substeps = Math.ceil((body.h * omegaOf(law)) / STIFFEST);
    const steps = substeps * (spec.steps ?? 4) * body.count;
    if (steps > MOST_STEPPED)
      throw new SceneError(
        path.replace(/type$/, "dissociation"),
        (spec as Spec).dissociation,
        `less, or use fewer and larger points: its pairs need ${substeps} substeps in each step of the method, and points times substeps are limited to ${MOST_STEPPED} a tick`,
      );
    return { law: Float64Array.of(law.d0, law.cutOff, law.m, law.n, law.depth, substeps) };
  },
  open: (constants, spec, body) => new Particles(constants, spec as Spec, body),
  more: () => new Float64Array(1),
};

/** The function of a pair. Energies are in J/kg, for points of 1 kg. */
export interface PairLaw {
  d0: number;
  /** m */
  cutOff: number;
  m: number;
  n: number;
  /** e_0, J/kg */
  depth: number;
}

const omegaOf = ({ m, n, depth, d0 }: PairLaw): number => Math.sqrt(8 * m * n * depth) / d0;

/** x^p for integer p > 0, by squaring: the bits of Math.pow differ between machines. */
function power(x: number, p: number): number {
  let result = 1;
  for (let base = x, left = p; left > 0; left >>= 1, base *= base) if (left & 1) result *= base;
  return result;
}

/**
 * phi and -phi'/d, without cut-off. Tried: powers of 6 and 12 with shared squares, and sums written out: same bits,
 * same time.
 * @param out [energy J/kg, force over distance 1/s^2]
 */
function uncut({ d0, m, n, depth }: PairLaw, d: number, out: Float64Array): void {
  const q = d0 / d;
  const near = power(q, n);
  const far = power(q, m);
  const scale = depth / (n - m);
  out[0] = scale * (m * near - n * far);
  out[1] = (scale * m * n * (near - far)) / (d * d);
}

/** The law under which the body's lattice is at rest. */
export function lawOf(template: BodyTemplate, spec: Spec): PairLaw {
  const [m, n] = spec.exponents ?? DEFAULTS.exponents;
  const spacing = template.meanEdge;
  const law = { m, n, depth: spec.dissociation, cutOff: (spec.cutOff ?? DEFAULTS.cutOff) * spacing };
  const distances = distancesAtMiddle(template.positions, law.cutOff);
  // the neighbors' pull grows as d_0 shrinks: bisect until no bit changes
  let low = 0.5 * spacing;
  let high = 1.5 * spacing;
  for (let n = 0; n < 60; n++) {
    const d0 = 0.5 * (low + high);
    const pair = new Pair({ ...law, d0 });
    const push = distances.reduce((sum, d) => sum + d * d * pair.at(d), 0);
    if (push > 0) high = d0;
    else low = d0;
  }
  return { ...law, d0: 0.5 * (low + high) };
}

/** Distances within reach from the point nearest to the middle to all others, m. */
function distancesAtMiddle(x: Float64Array, reach: number): number[] {
  const count = x.length / 3;
  const middle = [0, 1, 2].map((r) => x.reduce((sum, value, k) => (k % 3 === r ? sum + value / count : sum), 0));
  const distance = (k: number, to: ArrayLike<number>): number => {
    const [dx, dy, dz] = [x[k]! - to[0]!, x[k + 1]! - to[1]!, x[k + 2]! - to[2]!];
    return Math.sqrt(dx * dx + dy * dy + dz * dz);
  };
  let nearest = 0;
  for (let k = 3; k < x.length; k += 3) if (distance(k, middle) < distance(nearest, middle)) nearest = k;
  const to = x.slice(nearest, nearest + 3);
  return Array.from({ length: count }, (_, i) => distance(3 * i, to)).filter((d) => d > 0 && d < reach);
}

/** The function of a pair, with cut-off. */
export class Pair {
  private readonly law: PairLaw;
  private readonly out = new Float64Array(2);
  private readonly energyThere: number;
  private readonly forceThere: number;

  constructor(law: PairLaw) {
    this.law = law;
    uncut(law, law.cutOff, this.out);
    this.energyThere = this.out[0]!;
    this.forceThere = this.out[1]! * law.cutOff;
  }

  /** -phi_c'(d)/d, 1/s^2: repulsion is positive. */
  at(d: number): number {
    uncut(this.law, d, this.out);
    return this.out[1]! - this.forceThere / d;
  }

  /** phi_c(d), J/kg */
  energy(d: number): number {
    uncut(this.law, d, this.out);
    return this.out[0]! - this.energyThere + (d - this.law.cutOff) * this.forceThere;
  }
}

/** Uniform noise in [-sqrt 3, sqrt 3): mean 0, mean square 1; by the finalizer of MurmurHash3. */
function noise(i: number, j: number, step: number): number {
  let hash = Math.imul(i, 0x9e3779b1) ^ Math.imul(j, 0x85ebca6b) ^ Math.imul(step, 0xc2b2ae35);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  hash ^= hash >>> 16;
  return ((hash >>> 0) * 2 ** -31 - 1) * Math.sqrt(3);
}

class Particles implements Method {
  private readonly body: MethodBody;
  private readonly spec: Spec;
  private readonly law: PairLaw;
  private readonly pair: Pair;
  private readonly substeps: number;
  /** Mass M of a free point, kg; fixed points push with the same strength. */
  private readonly mass: number;
  private readonly neighbors: Neighbors;
  private readonly f: Float64Array;
  /** Positions of the points when they were listed. */
  private readonly listed: Float64Array;

  constructor({ law }: Constants, spec: Spec, body: MethodBody) {
    const [d0, cutOff, m, n, depth, substeps] = law as Float64Array;
    this.law = { d0: d0!, cutOff: cutOff!, m: m!, n: n!, depth: depth! };
    this.substeps = substeps!;
    this.pair = new Pair(this.law);
    this.spec = spec;
    this.body = body;
    this.mass = body.mass.find((mass) => mass > 0) ?? 1;
    this.neighbors = new Neighbors(body.count);
    this.f = new Float64Array(3 * body.count);
    this.listed = new Float64Array(3 * body.count);
  }

  step(state: MethodState, outside: Outside): void {
    const h = this.body.h / this.substeps;
    this.list(state.x);
    for (let n = 0; n < this.substeps; n++) {
      this.drift(state, h / 2);
      if (this.farFromListed(state.x)) this.list(state.x);
      this.sumForces(state, outside, h);
      this.kick(state, h);
      this.drift(state, h / 2);
      state.more[0]! += 1;
    }
  }

  energy({ x }: MethodState): number {
    this.neighbors.find(x, this.law.cutOff);
    const { i, j, pairs } = this.neighbors;
    let sum = 0;
    for (let p = 0; p < pairs; p++) sum += this.pair.energy(distance(x, 3 * i[p]!, 3 * j[p]!));
    return this.mass * sum;
  }

  private list(x: Float64Array): void {
    this.neighbors.find(x, this.law.cutOff + SKIN * this.law.d0);
    this.listed.set(x);
  }

  private farFromListed(x: Float64Array): boolean {
    const far = 0.5 * SKIN * this.law.d0;
    for (let k = 0; k < x.length; k += 3) if (!(distanceTo(x, this.listed, k) < far)) return true;
    return false;
  }

  private drift({ x, v }: MethodState, h: number): void {
    const { mass } = this.body;
    for (let k = 0; k < x.length; k++) if (mass[(k / 3) | 0]! > 0) x[k]! += h * v[k]!;
  }

  private kick({ v }: MethodState, h: number): void {
    const { mass } = this.body;
    for (let k = 0; k < v.length; k++) {
      const m = mass[(k / 3) | 0]!;
      if (m > 0) v[k]! += (h * this.f[k]!) / m;
    }
  }

  /** f = pairs + outer - C v - grabs' springs with their dampers. */
  private sumForces(state: MethodState, outside: Outside, h: number): void {
    const { f } = this;
    const { x, v, more } = state;
    const { mass, alpha } = this.body;
    outerForce(state, outside, this.body.h, f);
    for (let k = 0; k < f.length; k++) f[k]! -= alpha * mass[(k / 3) | 0]! * v[k]!;
    const heat = this.temperature(more[0]! * h);
    if (heat === undefined) this.addPairs(x, f);
    else this.addWarmPairs(x, v, f, more[0]!, heat, h);
  }

  /**
   * k T over the mass of a point, m^2/s^2.
   * @param seconds since the body began
   */
  private temperature(seconds: number): number | undefined {
    const { temperature, warmUp = 0, dissociation } = this.spec;
    if (temperature === undefined) return undefined;
    return temperature * dissociation * (seconds < warmUp ? seconds / warmUp : 1);
  }

  private addPairs(x: Float64Array, f: Float64Array): void {
    const { i, j, pairs } = this.neighbors;
    const { cutOff } = this.law;
    for (let p = 0; p < pairs; p++) {
      const a = 3 * i[p]!;
      const b = 3 * j[p]!;
      const d = distance(x, a, b);
      if (d < cutOff) push(x, f, a, b, this.mass * this.pair.at(d));
    }
  }

  private addWarmPairs(x: Float64Array, v: Float64Array, f: Float64Array, step: number, kT: number, h: number): void {
    const { i, j, pairs } = this.neighbors;
    const { cutOff } = this.law;
    const rate = this.spec.heatRate ?? DEFAULTS.heatRate;
    const kicks = Math.sqrt((2 * rate * kT) / h);
    for (let p = 0; p < pairs; p++) {
      const a = 3 * i[p]!;
      const b = 3 * j[p]!;
      const d = distance(x, a, b);
      if (!(d < cutOff)) continue;
      const w = 1 - d / cutOff;
      let apart = 0;
      for (let r = 0; r < 3; r++) apart += (v[a + r]! - v[b + r]!) * (x[a + r]! - x[b + r]!);
      const warm = -rate * w * w * (apart / d) + kicks * w * noise(i[p]!, j[p]!, step);
      push(x, f, a, b, this.mass * (this.pair.at(d) + warm / d));
    }
  }
}

/** Adds s (x_a - x_b) to f_a, and subtracts it from f_b. */
function push(x: Float64Array, f: Float64Array, a: number, b: number, s: number): void {
  for (let r = 0; r < 3; r++) {
    const part = s * (x[a + r]! - x[b + r]!);
    f[a + r]! += part;
    f[b + r]! -= part;
  }
}

function distance(x: Float64Array, a: number, b: number): number {
  const dx = x[a]! - x[b]!;
  const dy = x[a + 1]! - x[b + 1]!;
  const dz = x[a + 2]! - x[b + 2]!;
  return Math.sqrt(dx * dx + dy * dy + dz * dz);
}

function distanceTo(x: Float64Array, y: Float64Array, k: number): number {
  const dx = x[k]! - y[k]!;
  const dy = x[k + 1]! - y[k + 1]!;
  const dz = x[k + 2]! - y[k + 2]!;
  return Math.sqrt(dx * dx + dy * dy + dz * dz);
}
