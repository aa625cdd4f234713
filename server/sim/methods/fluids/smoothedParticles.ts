/**
 * Smoothed particles, weakly compressible: a point's pressure follows from its density.
 *
 *   rho_i/rho_0 = sum_j W_ij/W_0 + w(d),   P_i = c^2 max(0, rho_i/rho_0 - 1)   (Becker and Teschner 2007, eq. 6, 7)
 *   a_i = g - sum_j (P_i + P_j) grad_i W_ij/W_0 - P_i grad w          the gradient of sum_i m P_i^2/2c^2
 *       + 10 nu sum_j (v_ij . x_ij)/(x_ij^2 + 0.01 H^2) grad_i W_ij/W_0                (Monaghan 2005, section 8.2)
 *   cohesion and vorticity confinement: fluidForces.ts.   Symplectic Euler, v then x.
 *
 * W = (1 - q)^4 (1 + 4q), q = r/H (Wendland 1995), W_0 its sum over the body's initial lattice. c is the largest that
 * the step can follow (c h = COURANT H): more steps make the fluid less compressible, by g depth/c^2 at the bottom.
 *
 * Walls: a half space of fluid at the distance d adds gamma(d) = u^6 (3.5 - 4.5u + 1.5u^2), u = 1 - d/H, the integral
 * of W. w is gamma^2, scaled so that a layer of the lattice half a spacing away has its full density. Its slope is
 * twice that of gamma, as if the wall had the point's own pressure. With w = gamma and that pressure, energy is not
 * conserved, and a tank boils within a second. Several walls combine like parts of a volume: 1 - w = prod (1 - w_k).
 *
 * Soft bodies are moving walls, at the nearest place of their surface. Their corners get the opposite impulse after
 * every step, between two substeps of the kernel (fluidSolidCoupling.ts). If the wall is too stiff for the surface's
 * mass in a step, softer springs replace it. A cloth has fluid on both sides: points across it stay neighbors, and only
 * springs keep them off it. Points of another fluid are neighbors (fluidCoupling.ts).
 *
 * Measured: docs/LIMITS.md. Tried for light surfaces: points that take over the surface's normal velocity (implicit in
 * the contact's spring). A corner of a tenth of a point's mass follows the fluid before its constraints respond, and
 * the fluid sinks into a body that it should carry. Fluid mass that moves with a cloth's constraints carries, but
 * shakes.
 */
import type { SmoothedParticles as Spec } from "../../../../shared/scene/sceneMethodTypes.ts";
import { SceneError } from "../../../../shared/scene/sceneError.ts";
import { FluidCoupling } from "./fluidCoupling.ts";
import { accelerate, cohere, confine } from "./fluidForces.ts";
import { type CoupledFluid, FluidSolidCoupling } from "./fluidSolidCoupling.ts";
import { eachNear } from "./halfSpaces.ts";
import { GRABS } from "../elements/integrators.ts";
import type { FluidPoints, Method, MethodBody, MethodKind, MethodState, Outside, Wall } from "../method.ts";
import { mostMoved } from "./neighbors.ts";
import { SphSums } from "./sphSums.ts";
import { REACH, wallAt, wallSlope } from "./wendland.ts";

/** Courant number c h/H; and artificial viscosity over c H/10. */
const COURANT = 0.4;
const ARTIFICIAL = 0.05;
/** Pairs are listed until two points have moved by SKIN H together. With 0.2 a tick of `tank` takes 8 % more. */
const SKIN = 0.12;
/** Smallest number of steps between listings: a flying drop then meets others less than half a spacing late. */
const LEAST = 4;

export const smoothedParticles: MethodKind = {
  meetsBodies: true,
  anyStep: true,
  grab: () => GRABS.explicit,
  plan(template, spec, { h }, path) {
    const { viscosity = 0 } = spec as Spec;
    const most = mostViscous(REACH * template.meanEdge, h);
    if (viscosity > most)
      throw new SceneError(path.replace(/type$/, "viscosity"), viscosity, `at most ${most} with these steps`);
    return { spacing: Float64Array.of(template.meanEdge) };
  },
  open: ({ spacing }, spec, body) => new Fluid((spacing as Float64Array)[0]!, spec as Spec, body),
};

/** Largest viscosity, half of the stable limit, m^2/s: 65 nu h/H^2 < 2, by the lattice's sum of slopes. */
const mostViscous = (H: number, h: number): number => (0.015 * H * H) / h;

/**
 * Relative compression above which pressure rises at a tenth of the rate: impacts of single points are limited to those
 * of a flow at 0.2 c.
 */
const FIRM = 0.02;

class Fluid implements Method, CoupledFluid {
  readonly body: MethodBody;
  private readonly spec: Spec;
  readonly H: number;
  /** Speed of sound, m/s. */
  readonly c: number;
  readonly h: number;
  /** Artificial viscosity plus the fluid's own, m^2/s. */
  private readonly nu: number;
  /** Mass of a free point, kg. */
  readonly mass: number;
  /** Inverse mass, 1/kg; 0: fixed. */
  readonly light: Float64Array;
  private readonly sums: SphSums;
  private readonly a: Float64Array;
  /** The walls' and surfaces' part of grad_i, over 1 - w; then times P (1 - w). */
  private readonly own: Float64Array;
  /** Product of 1 - w. */
  readonly free: Float64Array;
  private readonly density: Float64Array;
  readonly P: Float64Array;
  /** Positions of the points when pairs were listed. */
  private readonly listed: Float64Array;
  private fresh = false;
  /** Steps since then. */
  private age = 0;
  private couplings: FluidSolidCoupling[] = [];
  private others: FluidCoupling[] = [];

  constructor(spacing: number, spec: Spec, body: MethodBody) {
    const { count, h, mass } = body;
    this.body = body;
    this.spec = spec;
    this.h = h;
    this.H = REACH * spacing;
    this.c = (COURANT * this.H) / h;
    // owners may choose longer steps than the scene
    const nu = Math.min(spec.viscosity ?? 0, mostViscous(this.H, h));
    this.nu = 0.1 * ARTIFICIAL * this.c * this.H + nu;
    this.mass = mass.find((m) => m > 0) ?? 1;
    this.light = mass.map((m) => (m > 0 ? 1 / m : 0));
    this.sums = new SphSums(count, this.H);
    const vector = (n: number): Float64Array => new Float64Array(n * count);
    [this.a, this.own, this.listed] = [vector(3), vector(3), vector(3)];
    [this.free, this.density, this.P] = [vector(1), vector(1), vector(1)];
  }

  get points(): FluidPoints {
    return this;
  }

  begin(): void {
    this.fresh = false;
  }

  step(state: MethodState, outside: Outside): void {
    const { h, sums, spec, P } = this;
    const { x, v } = state;
    this.list(x, outside);
    sums.gather(state);
    sums.sumDensity(this.density, Boolean(spec.surfaceTension || spec.vorticity));
    for (const other of this.others) other.addDensity(x, this.density);
    this.meet(x, outside.walls);
    if (spec.surfaceTension) cohere(sums.pairs, sums.x, sums.a, spec.surfaceTension);
    if (spec.vorticity) confine(sums.pairs, sums.x, sums.v, sums.a, spec.vorticity);
    sums.push(P, this.nu);
    this.accelerate(state, outside);
    for (let k = 0; k < v.length; k++) v[k]! += h * this.a[k]!;
    for (const coupling of this.couplings) coupling.press(v);
    for (const other of this.others) other.press(state, P, this.nu);
    for (let k = 0; k < x.length; k++) x[k]! += h * v[k]!;
  }

  /** Elastic energy: neglected, since the fluid is compressed by only a hundredth. */
  energy(): number {
    return 0;
  }

  /** Pressure in the last step, without walls, Pa: rho_0/6 sum_j (P_i + P_j) r |dW/dr|/W_0. */
  pressure(x: Float64Array): Float64Array {
    return this.sums.virial(x, this.P, this.mass / (this.H / REACH) ** 3 / 6);
  }

  /** Lists pairs again once points may have come near others. */
  private list(x: Float64Array, { surfaces = [], others = [] }: Outside): void {
    const { listed, sums, couplings } = this;
    const skin = SKIN * this.H;
    const [first, second] = mostMoved(x, listed);
    const near = [...couplings, ...this.others];
    const still = first + second < skin && !near.some((coupling) => !(first + coupling.moved() < skin));
    this.age++;
    if (this.fresh && (still || this.age < LEAST)) return;
    this.fresh = true;
    this.age = 0;
    sums.list(x, skin);
    listed.set(x);
    if (surfaces.length !== couplings.length || surfaces.some((surface, n) => couplings[n]!.surface !== surface))
      this.couplings = surfaces.map((surface) => new FluidSolidCoupling(surface, this));
    this.others = others.flatMap(({ method, state }) =>
      method.points ? [new FluidCoupling(this, method.points, state)] : [],
    );
    for (const coupling of [...this.couplings, ...this.others]) coupling.list(x, sums.neighbors, skin);
  }

  /** Adds walls and surfaces; then computes pressures and their forces on both. */
  private meet(x: Float64Array, walls: readonly Wall[]): void {
    const { own, free, density, P, c, H } = this;
    own.fill(0);
    free.fill(1);
    for (const wall of walls)
      eachNear(wall, x, H, (k, d, n) => {
        const slope = this.lack(k, d);
        for (let r = 0; r < 3; r++) own[3 * k + r]! += slope * n[r]!;
      });
    for (const coupling of this.couplings) {
      coupling.find(x, this.listed);
      coupling.eachWall((k, d) => this.lack(k, d));
    }
    for (let k = 0; k < P.length; k++) {
      const over = density[k]! - free[k]!;
      P[k] = over > FIRM ? c * c * (0.9 * FIRM + 0.1 * over) : over > 0 ? c * c * over : 0;
      const s = P[k]! * free[k]!;
      for (let r = 0; r < 3; r++) own[3 * k + r]! *= s;
    }
  }

  /**
   * Adds the contribution of a half space at the distance d to a point.
   * @returns its slope along d, over 1 - w
   */
  private lack(k: number, d: number): number {
    const w = wallAt(d, this.H);
    this.free[k]! *= 1 - w;
    return wallSlope(d, this.H) / (1 - w);
  }

  private accelerate(state: MethodState, outside: Outside): void {
    const { a, own, light, sums } = this;
    accelerate(this.body, state, outside, a);
    const { order } = sums.neighbors;
    for (let n = 0; n < order.length; n++) {
      const i = order[n]!;
      if (light[i] === 0) continue;
      for (let r = 0; r < 3; r++) a[3 * i + r]! += sums.a[3 * n + r]! - own[3 * i + r]!;
    }
  }
}
