/**
 * Smoothed particles, weakly compressible: points whose pressure is that of their density.
 *
 *   rho_i/rho_0 = sum_j W_ij/W_0 + w(d),   P_i = c^2 max(0, rho_i/rho_0 - 1)   (Becker and Teschner 2007, eq. 6, 7)
 *   a_i = g - sum_j (P_i + P_j) grad_i W_ij/W_0 - P_i grad w          the gradient of sum_i m P_i^2/2c^2
 *       + 10 nu sum_j (v_ij . x_ij)/(x_ij^2 + 0.01 H^2) grad_i W_ij/W_0                (Monaghan 2005, section 8.2)
 *   cohesion and vorticity confinement: fluidForces.ts.   Symplectic Euler, v then x.
 *
 * W = (1 - q)^4 (1 + 4q), q = r/H (Wendland 1995), W_0 its sum over the lattice that the body begins as. c is as much
 * as the step can follow (c h = COURANT H): what has more steps is less compressible, by g depth/c^2 at the bottom.
 *
 * Walls: half a space of fluid at the distance d adds gamma(d) = u^6 (3.5 - 4.5u + 1.5u^2), u = 1 - d/H, the integral
 * of W. w is gamma^2, scaled so that a layer of the lattice half a spacing away lacks nothing: its slope is twice that
 * of gamma, as if the wall had the point's own pressure. With w = gamma and that pressure nothing keeps energy, and a
 * tank boils within a second. Several walls join like parts of a volume: 1 - w = prod (1 - w_k).
 *
 * Soft bodies are walls that move: at the nearest place of their surface, with the opposite impulse on its corners
 * after every step, between two substeps of the kernel. Where that is stiffer than what it acts on can follow in a
 * step, springs that are not take its place. A cloth is wet on both sides: its points stay each other's neighbors, and
 * springs alone keep them off it.
 *
 * Measured: docs/LIMITS.md. Tried for light surfaces: points that take over the surface's velocity along the normal
 * (implicit in the contact's spring): a corner that weighs a tenth of a point follows the fluid before its constraints
 * have an answer, and the fluid sinks into what it should carry. Fluid near a cloth as mass that its constraints move,
 * too: carries, and shakes.
 */
import type { SmoothedParticles as Spec } from "../../../shared/scene.ts";
import { SceneError } from "../../../shared/sceneError.ts";
import { cohere, confine, normalOf, type Pairs } from "./fluidForces.ts";
import { GRIPS } from "./integrators.ts";
import type { Method, MethodBody, MethodKind, MethodState, Outside, Surface, Wall } from "./method.ts";
import { Neighbors } from "./neighbors.ts";
import { ALONG, DISTANCE, NEAREST } from "./nearestOn.ts";
import { REACH, W_0, wallAt, wallSlope } from "./wendland.ts";
import { mostMoved, Wetting } from "./wetting.ts";

/** c h/H; artificial nu over c H/10. */
const COURANT = 0.4;
const ARTIFICIAL = 0.05;
/** Pairs are listed until two have moved by so much together, H. */
const SKIN = 0.2;
/** But for so many steps at least: a drop that flies meets others a quarter of a spacing late. */
const LEAST = 4;
/** What is further from a surface hardly feels it, spacings. */
const FELT = 1.2;
/** Surfaces count as so much further away: walls are smooth, they have edges. Spacings. */
const EDGED = 0.07;
/** Of springs at a cloth: h^2 k/m, 4 is the limit; and what a step takes of the velocity along them. */
const STIFF = 1;
const DAMPED = 0.2;
/** No faster than so many c is a point pushed off a surface: what is put in where fluid is does not blow it up. */
const PARTING = 0.2;
/** Where they begin, spacings: half of one, and some more to stop what comes fast. */
const KEPT = 0.6;
/** Damper of a hand over its stiffness, in steps, as of explicit integrators. */
const GRIP_DAMPING = 2;

export const smoothedParticles: MethodKind = {
  meetsBodies: true,
  anyStep: true,
  grip: () => GRIPS.explicit,
  plan(template, spec, { h }, path) {
    const { viscosity = 0 } = spec as Spec;
    const most = mostViscous(REACH * template.meanEdge, h);
    if (viscosity > most)
      throw new SceneError(path.replace(/type$/, "viscosity"), viscosity, `at most ${most} with these steps`);
    return { spacing: Float64Array.of(template.meanEdge) };
  },
  open: ({ spacing }, spec, body) => new Fluid((spacing as Float64Array)[0]!, spec as Spec, body),
};

/** Half of what is stable, m^2/s: 65 nu h/H^2 < 2, by the lattice's sum of slopes. */
const mostViscous = (H: number, h: number): number => (0.015 * H * H) / h;

/**
 * Denser than by so much, pressure rises by a tenth of what it should: blows of single points are no stronger than what
 * flows at 0.2 c.
 */
const FIRM = 0.02;

class Fluid implements Method {
  private readonly body: MethodBody;
  private readonly spec: Spec;
  private readonly H: number;
  /** Of sound, m/s. */
  private readonly c: number;
  /** Artificial and the fluid's own, m^2/s. */
  private readonly nu: number;
  /** Of a free point. */
  private readonly mass: number;
  private readonly w: Float64Array;
  /** 1/kg, 0: fixed */
  private readonly light: Float64Array;
  private readonly neighbors: Neighbors;
  private readonly sorted: Record<"x" | "v" | "a" | "sum", Float64Array>;
  /** By places in their order: those within H, and where the ones of each of the neighbors' groups begin. */
  private readonly pairs: Pairs;
  private readonly group: Uint32Array;
  private readonly a: Float64Array;
  /** grad_i of what walls and surfaces add, over 1 - w; then times P (1 - w). */
  private readonly own: Float64Array;
  /** Product of 1 - w. */
  private readonly free: Float64Array;
  private readonly density: Float64Array;
  private readonly P: Float64Array;
  /** Where points were when pairs were listed. */
  private readonly listed: Float64Array;
  private fresh = false;
  /** Steps since then. */
  private age = 0;
  private wettings: Wetting[] = [];

  constructor(spacing: number, spec: Spec, body: MethodBody) {
    const { count, h, mass } = body;
    this.body = body;
    this.spec = spec;
    this.H = REACH * spacing;
    this.c = (COURANT * this.H) / h;
    // owners may have it take longer steps than the scene says
    const nu = Math.min(spec.viscosity ?? 0, mostViscous(this.H, h));
    this.nu = 0.1 * ARTIFICIAL * this.c * this.H + nu;
    this.mass = mass.find((m) => m > 0) ?? 1;
    this.w = mass.map((m) => (m > 0 ? 1 : 0));
    this.light = mass.map((m) => (m > 0 ? 1 / m : 0));
    this.neighbors = new Neighbors(count);
    const vector = (n: number): Float64Array => new Float64Array(n * count);
    [this.a, this.own, this.listed] = [vector(3), vector(3), vector(3)];
    [this.free, this.density, this.P] = [vector(1), vector(1), vector(1)];
    this.sorted = { x: vector(3), v: vector(3), a: vector(3), sum: vector(1) };
    this.group = new Uint32Array(count + 1);
    this.pairs = pairsOf(0);
  }

  begin(): void {
    this.fresh = false;
  }

  step(state: MethodState, outside: Outside): void {
    const { h } = this.body;
    const { x, v } = state;
    this.list(x, outside.surfaces ?? []);
    this.gather(state);
    this.sumPairs();
    this.meet(x, outside.walls);
    this.accelerate(state, outside);
    for (let k = 0; k < v.length; k++) v[k]! += h * this.a[k]!;
    for (const wetting of this.wettings) this.press(wetting, v);
    for (let k = 0; k < x.length; k++) x[k]! += h * v[k]!;
  }

  /** What is compressed by a hundredth has next to none. */
  energy(): number {
    return 0;
  }

  /** In the last step by the virial of a point's pairs, without walls, Pa: rho_0/6 sum_j (P_i + P_j) r |dW/dr|/W_0. */
  pressure(x: Float64Array): Float64Array {
    const { group, neighbors } = this;
    const { order } = neighbors;
    const { j, slope } = this.pairs;
    const scale = this.mass / (this.H / REACH) ** 3 / 6;
    const pressure = new Float64Array(this.body.count);
    for (let n = 0; n < order.length; n++)
      for (let p = group[n]!; p < group[n + 1]!; p++) {
        const [a, b] = [order[n]!, order[j[p]!]!];
        let square = 0;
        for (let r = 0; r < 3; r++) square += (x[3 * a + r]! - x[3 * b + r]!) ** 2;
        const part = -scale * (this.P[a]! + this.P[b]!) * slope[p]! * square;
        pressure[a]! += part;
        pressure[b]! += part;
      }
    return pressure;
  }

  /** In the order of cells, what pairs ask of both: neighbors lie near each other in memory. */
  private gather({ x, v }: MethodState): void {
    const { order } = this.neighbors;
    const { sorted } = this;
    for (let n = 0; n < order.length; n++)
      for (let r = 0, k = 3 * order[n]!, at = 3 * n; r < 3; r++) {
        sorted.x[at + r] = x[k + r]!;
        sorted.v[at + r] = v[k + r]!;
      }
  }

  /** Lists pairs where what has moved may have come near. */
  private list(x: Float64Array, surfaces: readonly Surface[]): void {
    const { H, listed, neighbors } = this;
    const skin = SKIN * H;
    const [first, second] = mostMoved(x, listed);
    const still = first + second < skin && !this.wettings.some((wetting) => !(first + wetting.moved() < skin));
    this.age++;
    if (this.fresh && (still || this.age < LEAST)) return;
    this.fresh = true;
    this.age = 0;
    neighbors.findInOrder(x, H + skin);
    if (this.pairs.i.length < neighbors.pairs) Object.assign(this.pairs, pairsOf(Math.ceil(1.5 * neighbors.pairs)));
    listed.set(x);
    if (
      surfaces.some((surface, n) => this.wettings[n]?.surface !== surface) ||
      surfaces.length !== this.wettings.length
    )
      this.wettings = surfaces.map((surface) => new Wetting(surface, this.body.count));
    for (const wetting of this.wettings) wetting.list(x, neighbors, (FELT * H) / REACH, skin);
  }

  /** rho/rho_0 without walls; pairs within H. */
  private sumPairs(): void {
    const { density, H, pairs, group, neighbors } = this;
    const { order, group: from, second } = neighbors;
    const { x, sum } = this.sorted;
    const { i, j, slope, weight } = pairs;
    const scale = 1 / W_0;
    const steep = (-20 * scale) / (H * H);
    const per = 1 / H;
    // what only fluidForces.ts asks
    const more = Boolean(this.spec.surfaceTension || this.spec.vorticity);
    sum.fill(scale);
    let count = 0;
    for (let n = 0; n < order.length; n++) {
      group[n] = count;
      const ax = x[3 * n]!;
      const ay = x[3 * n + 1]!;
      const az = x[3 * n + 2]!;
      let own = 0;
      const end = from[n + 1]!;
      for (let p = from[n]!; p < end; p++) {
        const b = second[p]!;
        const dx = ax - x[3 * b]!;
        const dy = ay - x[3 * b + 1]!;
        const dz = az - x[3 * b + 2]!;
        const square = dx * dx + dy * dy + dz * dz;
        // what is too far is overwritten: a branch that a processor guesses wrong costs more than a pair
        j[count] = b;
        slope[count] = square;
        count += Number(square < H * H);
      }
      for (let p = group[n]!; p < count; p++) {
        const q = Math.sqrt(slope[p]!) * per;
        const u = 1 - q;
        const cube = u * u * u;
        const w = scale * cube * u * (1 + 4 * q);
        slope[p] = steep * cube;
        if (more) {
          i[p] = n;
          weight[p] = w;
        }
        own += w;
        sum[j[p]!]! += w;
      }
      sum[n]! += own;
    }
    group[order.length] = count;
    pairs.count = count;
    for (let n = 0; n < order.length; n++) density[order[n]!] = sum[n]!;
  }

  /** Walls and surfaces; then pressures, and what they do to both. */
  private meet(x: Float64Array, walls: readonly Wall[]): void {
    const { own, free, density, P, c, H } = this;
    own.fill(0);
    free.fill(1);
    for (const wall of walls) this.meetWall(wall, x);
    for (const wetting of this.wettings) {
      wetting.find(x, this.listed, (FELT * H) / REACH);
      wetting.share(H / REACH);
      if (!wetting.surface.closed) continue;
      for (let n = 0; n < wetting.count; n++)
        this.lack(wetting.point[n]!, wetting.found[NEAREST * n + DISTANCE]! + (EDGED * H) / REACH);
    }
    for (let k = 0; k < P.length; k++) {
      const over = density[k]! - free[k]!;
      P[k] = over > FIRM ? c * c * (0.9 * FIRM + 0.1 * over) : over > 0 ? c * c * over : 0;
      const s = P[k]! * free[k]!;
      for (let r = 0; r < 3; r++) own[3 * k + r]! *= s;
    }
  }

  private meetWall(wall: Wall, x: Float64Array): void {
    const { H, own } = this;
    const n = Float64Array.from(wall.plane ?? [0, 0, 0]);
    const [nx, ny, nz] = n as unknown as [number, number, number];
    const offset = wall.distanceTo(0, 0, 0);
    for (let k = 0, at = 0; at < x.length; k++, at += 3) {
      const px = x[at]!;
      const py = x[at + 1]!;
      const pz = x[at + 2]!;
      const d = wall.plane ? nx * px + ny * py + nz * pz + offset : wall.distanceTo(px, py, pz);
      if (!(d < H)) continue;
      if (!wall.plane) normalOf(wall, px, py, pz, 1e-3 * H, n);
      const slope = this.lack(k, d);
      for (let r = 0; r < 3; r++) own[at + r]! += slope * n[r]!;
    }
  }

  /** Share of a wall's force that a surface can follow: k = m c^2 |grad w|^2 no stiffer than springs there may be. */
  private followed(wetting: Wetting, n: number, d: number): number {
    const steep = this.body.h * this.c * wallSlope(d, this.H);
    const most = STIFF / (this.light[wetting.point[n]!]! + wetting.light(n));
    return steep === 0 ? 0 : Math.min(1, most / (this.mass * steep * steep));
  }

  /** What a half space at the distance d adds to a point. @returns its slope along d, over 1 - w */
  private lack(k: number, d: number): number {
    const w = wallAt(d, this.H);
    this.free[k]! *= 1 - w;
    return wallSlope(d, this.H) / (1 - w);
  }

  /**
   * What acts on points and surfaces alike: of a soft body the opposite of what its wall does, as far as its mass can
   * follow, and springs for the rest; of a cloth springs alone, and a damper. Springs are as stiff as is stable by
   * Gershgorin's circles: h^2 k (1/m + sum_c b_c w_c sum_j b_jc) = STIFF, at most 4, with weights b of corners.
   */
  private press(wetting: Wetting, v: Float64Array): void {
    const { P, free, body, mass, H, light } = this;
    const { found, point, surface } = wetting;
    const reach = (KEPT * H) / REACH;
    for (let n = 0; n < wetting.count; n++) {
      const k = point[n]!;
      const d = found[NEAREST * n + DISTANCE]!;
      const moved = light[k]! + wetting.light(n);
      if (!(moved > 0)) continue;
      const rate = wetting.rate(n, v);
      let spring = 1;
      let impulse = 0;
      if (surface.closed) {
        const away = d + (EDGED * H) / REACH;
        const share = this.followed(wetting, n, away);
        spring = 1 - share;
        impulse = (-share * body.h * P[k]! * free[k]! * wallSlope(away, H) * mass) / (1 - wallAt(away, H));
      }
      if (d < reach) impulse += (spring * ((STIFF * (reach - Math.max(d, 0))) / body.h - DAMPED * rate)) / moved;
      impulse = Math.min(impulse, Math.max(0, PARTING * this.c - rate) / moved);
      for (let r = 0; r < 3; r++) v[3 * k + r]! += impulse * light[k]! * found[NEAREST * n + ALONG + r]!;
      wetting.push(n, impulse);
    }
  }

  private accelerate({ x, v }: MethodState, { force, points }: Outside): void {
    const { a, own, spec, light } = this;
    const { alpha, h } = this.body;
    a.fill(0);
    if (points.count > 0) {
      points.linearize(x, a);
      points.product(v, a, GRIP_DAMPING * h);
    }
    for (let i = 0, k = 0; k < a.length; i++)
      for (let end = k + 3; k < end; k++)
        a[k] = light[i]! > 0 ? (force[k]! - a[k]!) * light[i]! - alpha * v[k]! - own[k]! : 0;
    const { sorted, pairs, neighbors, w } = this;
    sorted.a.fill(0);
    if (spec.surfaceTension) cohere(pairs, sorted.x, sorted.a, spec.surfaceTension);
    if (spec.vorticity) confine(pairs, sorted.x, sorted.v, sorted.a, spec.vorticity);
    this.pushPairs();
    for (let n = 0; n < neighbors.order.length; n++) {
      const k = neighbors.order[n]!;
      for (let r = 0; r < 3; r++) a[3 * k + r]! += w[k]! * sorted.a[3 * n + r]!;
    }
  }

  /** Pressure and viscosity. */
  private pushPairs(): void {
    const { P, H, pairs, group } = this;
    const { order } = this.neighbors;
    const { x, v, a, sum: pressure } = this.sorted;
    const { j, slope } = pairs;
    const eps = 0.01 * H * H;
    const nu = 10 * this.nu;
    for (let n = 0; n < order.length; n++) pressure[n] = P[order[n]!]!;
    for (let n = 0; n < order.length; n++) {
      const ka = 3 * n;
      const ax = x[ka]!;
      const ay = x[ka + 1]!;
      const az = x[ka + 2]!;
      const ux = v[ka]!;
      const uy = v[ka + 1]!;
      const uz = v[ka + 2]!;
      const own = pressure[n]!;
      let fx = 0;
      let fy = 0;
      let fz = 0;
      const end = group[n + 1]!;
      for (let p = group[n]!; p < end; p++) {
        const b = j[p]!;
        const kb = 3 * b;
        const dx = ax - x[kb]!;
        const dy = ay - x[kb + 1]!;
        const dz = az - x[kb + 2]!;
        const rate = dx * (ux - v[kb]!) + dy * (uy - v[kb + 1]!) + dz * (uz - v[kb + 2]!);
        const f = slope[p]! * ((nu * rate) / (dx * dx + dy * dy + dz * dz + eps) - own - pressure[b]!);
        fx += f * dx;
        fy += f * dy;
        fz += f * dz;
        a[kb]! -= f * dx;
        a[kb + 1]! -= f * dy;
        a[kb + 2]! -= f * dz;
      }
      a[ka]! += fx;
      a[ka + 1]! += fy;
      a[ka + 2]! += fz;
    }
  }
}

const pairsOf = (most: number): Pairs => ({
  count: 0,
  i: new Uint32Array(most),
  j: new Uint32Array(most),
  slope: new Float64Array(most),
  weight: new Float64Array(most),
});
