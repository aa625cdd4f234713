/**
 * Position-based fluid (Macklin and Mueller 2013): points that keep their initial density.
 *
 *   C_i = rho_i/rho_0 - 1 <= 0,   rho_i/rho_0 = sum_j W_ij/W_0          (eq. 1, 2; corrected only if too dense)
 *   lambda_i = -C_i/(sum_k w_k |grad_k C_i|^2),   dx_k = w_k sum_i lambda_i grad_k C_i     (eq. 9, 12, with masses)
 *   v = (x* - x)/h,   v_i += c sum_j (v_j - v_i) W_ij/W_0                           (eq. 17, XSPH)
 *   v_i += h eps N x omega_i,   omega_i = sum_j (v_j - v_i) x grad_j W_ij/W_0        (eq. 15, 16)
 *   cohesion: a_i -= kappa sum_j W_ij/W_0 (x_i - x_j)                  (Becker and Teschner 2007, eq. 7)
 *
 * W = (1 - r/H)^3, H = 2 spacings, for density and its gradient alike (the paper has poly6 for one and its spiky kernel
 * for the other). So corrections follow the slope of the density that they correct, and clusters push apart. W_0 is the
 * sum over the body's initial lattice. Pressure is -lambda rho_0/h^2.
 *
 * Walls: the contribution of a half space of fluid at the distance d from a plane, integrated by hand,
 *   2 pi H^3/s^3 ((1-q)^5/20 - (1-q)^6/30),  q = d/H,  scaled so that a layer of the lattice half a spacing away rests.
 * Without it points crowd at walls and the fluid loses volume. Shapes other than planes count as a plane at each point.
 *
 * Corrections are made all at once and under-relaxed: with full corrections, a step of one iteration blows up. The
 * density error that a step leaves is lost volume: a column of 12 points at 8 steps of 2 in 1/30 s settles 1.1 % too
 * low.
 *
 * Tried: starting with the pressure of the previous step (0.9 of it): a column boils. Particles of other bodies as
 * neighbors with their own volume (Akinci et al. 2012) with impulses at the tick's end: surface particles are so light
 * that they leave their body before its constraints respond, and the fluid runs into a cube that it should carry.
 */
import type { PositionBasedFluid as Spec } from "../../../../shared/scene/sceneMethodTypes.ts";
import { accelerate, cohere, confine, type Pairs } from "./fluidForces.ts";
import { eachNear, latticeSums } from "./halfSpaces.ts";
import { GRABS } from "../elements/integrators.ts";
import type { Method, MethodBody, MethodKind, MethodState, Outside, Wall } from "../method.ts";
import { Neighbors } from "./neighbors.ts";

/** H in spacings. */
const REACH = 2;
/**
 * Reach of the pair list, in H. Pairs are listed once a step; a pair that comes near during the step is then in the
 * list.
 */
const LISTED = 1.1;
/** Part of each correction that is applied. */
const RELAXATION = 0.75;
const DEFAULTS = { iterations: 2, viscosity: 0.01, surfaceTension: 0, vorticity: 0 } as const;

export const positionBasedFluid: MethodKind = {
  grab: () => GRABS.explicit,
  plan: (template) => ({ spacing: Float64Array.of(template.meanEdge) }),
  open: ({ spacing }, spec, body) => new Fluid((spacing as Float64Array)[0]!, spec as Spec, body),
};

/** W/W(0) */
const weightAt = (q: number): number => (q < 1 ? (1 - q) * (1 - q) * (1 - q) : 0);
const LATTICE = latticeSums(weightAt, REACH, 1);
/** Contribution of a half space at q = d/H, before scaling. */
const halfSpace = (u: number): number => (u * u * u * u * u) / 20 - (u * u * u * u * u * u) / 30;
const WALL = LATTICE.side / LATTICE.all / halfSpace(1 - 0.5 / REACH);

class Fluid implements Method {
  private readonly body: MethodBody;
  private readonly H: number;
  private readonly spec: Spec;
  /** Mass of a free point, kg. */
  private readonly mass: number;
  private readonly neighbors: Neighbors;
  private readonly x: Float64Array;
  private readonly v: Float64Array;
  /** x at the start of an iteration, where the slopes were taken. */
  private readonly listed: Float64Array;
  /** For each iteration: lambda, and the walls' part of grad_i. */
  private readonly push: Float64Array;
  private readonly own: Float64Array;
  private readonly gradient: Float64Array;
  /** Inverse mass times a point's mass: 0 for fixed points. */
  private readonly w: Float64Array;
  private readonly density: Float64Array;
  private readonly squares: Float64Array;
  /** Sum of lambda over a step's iterations: pressure follows from it. */
  readonly lambda: Float64Array;
  private readonly f: Float64Array;
  private readonly pairs: Pairs;

  constructor(spacing: number, spec: Spec, body: MethodBody) {
    this.H = REACH * spacing;
    this.spec = spec;
    this.body = body;
    this.mass = body.mass.find((m) => m > 0) ?? 1;
    this.lambda = new Float64Array(body.count);
    this.f = new Float64Array(3 * body.count);
    this.neighbors = new Neighbors(body.count);
    const { i, j } = this.neighbors;
    this.pairs = { count: 0, i, j, slope: new Float64Array(0), weight: new Float64Array(0) };
    const vector = (n: number): Float64Array => new Float64Array(n * body.count);
    [this.x, this.v, this.listed, this.gradient, this.own] = [vector(3), vector(3), vector(3), vector(3), vector(3)];
    [this.push, this.density, this.squares] = [vector(1), vector(1), vector(1)];
    this.w = body.mass.map((m) => (m > 0 ? 1 : 0));
  }

  step(state: MethodState, outside: Outside): void {
    const { h } = this.body;
    this.neighbors.find(state.x, LISTED * this.H);
    const { i, j, pairs } = this.neighbors;
    Object.assign(this.pairs, { count: pairs, i, j });
    if (this.pairs.slope.length < pairs) {
      this.pairs.slope = new Float64Array(2 * pairs);
      this.pairs.weight = new Float64Array(2 * pairs);
    }
    this.v.set(state.v);
    this.accelerate(state, outside);
    for (let k = 0; k < this.x.length; k++) this.x[k] = state.x[k]! + h * this.w[(k / 3) | 0]! * this.v[k]!;
    this.lambda.fill(0);
    const { iterations = DEFAULTS.iterations } = this.spec;
    for (let n = 0; n < iterations; n++) this.correct(outside.walls);
    for (let k = 0; k < this.x.length; k++) this.v[k] = (this.x[k]! - state.x[k]!) / h;
    this.smooth();
    if (this.spec.vorticity) {
      this.own.fill(0);
      confine(this.pairs, this.listed, this.v, this.own, this.spec.vorticity);
      for (let k = 0; k < this.v.length; k++) this.v[k]! += h * this.w[(k / 3) | 0]! * this.own[k]!;
    }
    state.x.set(this.x);
    state.v.set(this.v);
  }

  /** Energy: keeping the density stores none. */
  energy(): number {
    return 0;
  }

  /**
   * Pressure at each point in the last step, by the virial of its pairs, Pa: p = rho_0/(6 h^2) sum_j (lambda_i +
   * lambda_j) r dW/dr/W_0. Without walls.
   */
  pressure(): Float64Array {
    const { lambda, H } = this;
    const { slope } = this.pairs;
    const { h, count } = this.body;
    const { i, j, pairs } = this.neighbors;
    const scale = this.mass / (H / REACH) ** 3 / (6 * h * h);
    const pressure = new Float64Array(count);
    for (let p = 0; p < pairs; p++) {
      const d = this.distance(p);
      const part = scale * (lambda[i[p]!]! + lambda[j[p]!]!) * slope[p]! * d * d;
      pressure[i[p]!]! += part;
      pressure[j[p]!]! += part;
    }
    return pressure;
  }

  private distance(p: number): number {
    const { x } = this;
    const a = 3 * this.neighbors.i[p]!;
    const b = 3 * this.neighbors.j[p]!;
    const dx = x[a]! - x[b]!;
    const dy = x[a + 1]! - x[b + 1]!;
    const dz = x[a + 2]! - x[b + 2]!;
    return Math.sqrt(dx * dx + dy * dy + dz * dz);
  }

  /** v += h (outer - C v - grabs + cohesion) */
  private accelerate(state: MethodState, outside: Outside): void {
    const { f, v } = this;
    accelerate(this.body, state, outside, f);
    if (this.spec.surfaceTension) {
      this.x.set(state.x);
      this.sumDensity();
      cohere(this.pairs, state.x, f, this.spec.surfaceTension);
    }
    for (let k = 0; k < f.length; k++) v[k]! += this.body.h * f[k]!;
  }

  /** One iteration: computes all lambda, then moves all points. */
  private correct(walls: readonly Wall[]): void {
    const { count } = this.body;
    const { x, gradient, w, density, squares, lambda } = this;
    this.sumDensity();
    const { push, own } = this;
    push.fill(0);
    own.fill(0);
    for (const wall of walls) this.addWall(wall, own);
    for (let i = 0; i < count; i++) {
      const at = 3 * i;
      const C = density[i]! - 1;
      if (!(C > 0)) continue;
      let square = squares[i]!;
      for (let r = 0; r < 3; r++) square += w[i]! * gradient[at + r]! * gradient[at + r]!;
      push[i] = square > 0 ? (-RELAXATION * C) / square : 0;
      lambda[i]! += push[i]!;
      for (let r = 0; r < 3; r++) x[at + r]! += w[i]! * push[i]! * own[at + r]!;
    }
    const { listed, neighbors } = this;
    const { slope } = this.pairs;
    const { i, j, pairs } = neighbors;
    for (let p = 0; p < pairs; p++) {
      const s = slope[p]!;
      if (s === 0) continue;
      const a = i[p]!;
      const b = j[p]!;
      const both = s * (push[a]! + push[b]!);
      if (both === 0) continue;
      const [ka, kb] = [3 * a, 3 * b];
      const px = both * (listed[ka]! - listed[kb]!);
      const py = both * (listed[ka + 1]! - listed[kb + 1]!);
      const pz = both * (listed[ka + 2]! - listed[kb + 2]!);
      const wa = w[a]!;
      x[ka]! += wa * px;
      x[ka + 1]! += wa * py;
      x[ka + 2]! += wa * pz;
      const wb = w[b]!;
      x[kb]! -= wb * px;
      x[kb + 1]! -= wb * py;
      x[kb + 2]! -= wb * pz;
    }
  }

  /** rho/rho_0, grad_i C_i, sum_{k != i} w_k |grad_k C_i|^2. */
  private sumDensity(): void {
    const { x, w, density, squares, gradient, H } = this;
    const { slope, weight } = this.pairs;
    const { i, j, pairs } = this.neighbors;
    this.listed.set(x);
    density.fill(1 / LATTICE.all);
    squares.fill(0);
    gradient.fill(0);
    for (let p = 0; p < pairs; p++) {
      slope[p] = 0;
      weight[p] = 0;
      const a = i[p]!;
      const b = j[p]!;
      const [ka, kb] = [3 * a, 3 * b];
      const dx = x[ka]! - x[kb]!;
      const dy = x[ka + 1]! - x[kb + 1]!;
      const dz = x[ka + 2]! - x[kb + 2]!;
      const d = Math.sqrt(dx * dx + dy * dy + dz * dz);
      const u = 1 - d / H;
      if (!(u > 0 && d > 0)) continue;
      weight[p] = (u * u * u) / LATTICE.all;
      const g = (-3 * u * u) / (H * LATTICE.all);
      const s = g / d;
      slope[p] = s;
      density[a]! += weight[p]!;
      density[b]! += weight[p]!;
      squares[a]! += w[b]! * g * g;
      squares[b]! += w[a]! * g * g;
      gradient[ka]! += s * dx;
      gradient[ka + 1]! += s * dy;
      gradient[ka + 2]! += s * dz;
      gradient[kb]! -= s * dx;
      gradient[kb + 1]! -= s * dy;
      gradient[kb + 2]! -= s * dz;
    }
  }

  /** @param own float64[3N], inout: the walls' part of grad_i */
  private addWall(wall: Wall, own: Float64Array): void {
    const { x, H, density, gradient } = this;
    eachNear(wall, x, H, (i, d, n) => {
      const u = Math.min(1, 1 - d / H);
      density[i]! += WALL * halfSpace(u);
      const slope = (-WALL * (u * u * u * u - 0.8 * u * u * u * u * u)) / (4 * H);
      for (let r = 0; r < 3; r++) {
        own[3 * i + r]! += slope * n[r]!;
        gradient[3 * i + r]! += slope * n[r]!;
      }
    });
  }

  /** XSPH viscosity. */
  private smooth(): void {
    const c = this.spec.viscosity ?? DEFAULTS.viscosity;
    const { v } = this;
    const { weight } = this.pairs;
    const { i, j, pairs } = this.neighbors;
    const dv = this.own;
    dv.fill(0);
    for (let p = 0; p < pairs; p++) {
      const a = 3 * i[p]!;
      const b = 3 * j[p]!;
      if (weight[p] === 0) continue;
      const mixed = c * weight[p]!;
      const px = mixed * (v[b]! - v[a]!);
      const py = mixed * (v[b + 1]! - v[a + 1]!);
      const pz = mixed * (v[b + 2]! - v[a + 2]!);
      dv[a]! += px;
      dv[a + 1]! += py;
      dv[a + 2]! += pz;
      dv[b]! -= px;
      dv[b + 1]! -= py;
      dv[b + 2]! -= pz;
    }
    for (let k = 0; k < dv.length; k++) if (this.w[(k / 3) | 0]! > 0) v[k]! += dv[k]!;
  }
}
