/**
 * A fluid of smoothed particles and the surface of a soft body or cloth, coupled both ways by impulses between points
 * and the corners of the triangles that are nearest to them: of a soft body the opposite of what its wall does, as far
 * as its mass can follow, and springs for the rest; of a cloth springs alone, and a damper. Springs are as stiff as is
 * stable by Gershgorin's circles: h^2 k (1/m + sum_c b_c w_c sum_j b_jc) = STIFF, at most 4, with weights b of corners.
 */
import type { Surface } from "./method.ts";
import { ALONG, DISTANCE, NEAREST, WEIGHT_B, WEIGHT_C } from "./nearestOn.ts";
import { NearestTriangles } from "./nearestTriangles.ts";
import type { Neighbors } from "./neighbors.ts";
import { REACH, wallAt, wallSlope } from "./wendland.ts";

/** What is further from a surface hardly feels it, spacings. */
const FELT = 1.2;
/** Surfaces count as so much further away: walls are smooth, they have edges. Spacings. */
const EDGED = 0.07;
/** Of springs at a cloth: h^2 k/m, 4 is the limit; and what a step takes of the velocity along them. */
const STIFF = 1;
const DAMPED = 0.2;
/** No faster than so many c is a point pushed off a surface: what is put in where fluid is does not blow it up. */
const PARTING = 0.2;
/** Where springs begin, spacings: half of one, and some more to stop what comes fast. */
const KEPT = 0.6;

/** What a coupling has to know of a fluid. */
export interface CoupledFluid {
  /** m; of sound, m/s; s; of a free point, kg */
  H: number;
  c: number;
  h: number;
  mass: number;
  /** By point: 1/kg, 0: fixed; pressure over density, m^2/s^2; product of 1 - w of all walls. */
  light: Float64Array;
  P: Float64Array;
  free: Float64Array;
}

export class FluidSolidCoupling {
  readonly surface: Surface;
  private readonly fluid: CoupledFluid;
  private readonly near: NearestTriangles;
  private readonly spacing: number;
  /** By particle of the surface: sum of weights of points within a spacing. */
  private readonly shares: Float64Array;

  constructor(surface: Surface, fluid: CoupledFluid) {
    this.surface = surface;
    this.fluid = fluid;
    this.near = new NearestTriangles(surface, fluid.light.length);
    this.spacing = fluid.H / REACH;
    this.shares = new Float64Array(surface.w.length);
  }

  /** Lists what may be near until two have moved by `skin` together. @param skin m */
  list(x: Float64Array, neighbors: Neighbors, skin: number): void {
    this.near.list(x, neighbors, FELT * this.spacing, skin);
  }

  /** How far a particle of the surface has moved since then, at most, m. */
  moved(): number {
    return this.near.moved();
  }

  /** @param from float64[3N] where the points were when they were listed, m */
  find(x: Float64Array, from: Float64Array): void {
    const { near, shares, spacing } = this;
    near.find(x, from, FELT * spacing);
    shares.fill(0);
    for (let n = 0; n < near.count; n++)
      if (near.found[NEAREST * n + DISTANCE]! < spacing)
        this.eachCorner(n, (corner, weight) => (shares[corner]! += weight));
  }

  /** Visits the points before a soft body, with their distances as from a wall, m. */
  eachWall(visit: (point: number, distance: number) => void): void {
    const { near, surface, spacing } = this;
    if (!surface.closed) return;
    for (let n = 0; n < near.count; n++) visit(near.point[n]!, near.found[NEAREST * n + DISTANCE]! + EDGED * spacing);
  }

  /** What acts on points and surface alike. @param v float64[3N] of points, inout: m/s */
  press(v: Float64Array): void {
    const { h, c, light } = this.fluid;
    const { found, point, count } = this.near;
    const reach = KEPT * this.spacing;
    for (let n = 0; n < count; n++) {
      const k = point[n]!;
      const d = found[NEAREST * n + DISTANCE]!;
      const moved = light[k]! + this.lightness(n);
      if (!(moved > 0)) continue;
      const rate = this.rate(n, v);
      const { share, impulse: wall } = this.surface.closed ? this.wallImpulse(k, d, moved) : NO_WALL;
      const spring = d < reach ? (1 - share) * ((STIFF * (reach - Math.max(d, 0))) / h - DAMPED * rate) : 0;
      const impulse = Math.min(wall + spring / moved, Math.max(0, PARTING * c - rate) / moved);
      for (let r = 0; r < 3; r++) v[3 * k + r]! += impulse * light[k]! * found[NEAREST * n + ALONG + r]!;
      this.push(n, impulse);
    }
  }

  /**
   * The opposite of what a wall does to point k, N s, and the share of it that the surface can follow: k = m c^2
   * |grad w|^2 no stiffer than springs there may be. @param moved 1/kg
   */
  private wallImpulse(k: number, d: number, moved: number): { share: number; impulse: number } {
    const { H, h, c, mass, P, free } = this.fluid;
    const away = d + EDGED * this.spacing;
    const slope = wallSlope(away, H);
    const steep = h * c * slope;
    const share = steep === 0 ? 0 : Math.min(1, STIFF / moved / (mass * steep * steep));
    return { share, impulse: (-share * h * P[k]! * free[k]! * slope * mass) / (1 - wallAt(away, H)) };
  }

  /** Relative velocity of near point n along its normal, m/s. */
  private rate(n: number, v: Float64Array): number {
    const { surface } = this;
    const { found, point } = this.near;
    const at = NEAREST * n + ALONG;
    let rate = 0;
    for (let r = 0; r < 3; r++) rate += v[3 * point[n]! + r]! * found[at + r]!;
    this.eachCorner(n, (corner, weight) => {
      for (let r = 0; r < 3; r++) rate -= weight * surface.v[3 * corner + r]! * found[at + r]!;
    });
    return rate;
  }

  /** An impulse on the surface at near point n, against its normal. @param impulse N s */
  private push(n: number, impulse: number): void {
    const { surface } = this;
    const { found } = this.near;
    const at = NEAREST * n + ALONG;
    this.eachCorner(n, (corner, weight) => {
      const part = impulse * weight * surface.w[corner]!;
      for (let r = 0; r < 3; r++) surface.v[3 * corner + r]! -= part * found[at + r]!;
    });
  }

  /** How much a push at near point n and the same ones at all others move the surface there, 1/kg. */
  private lightness(n: number): number {
    let sum = 0;
    this.eachCorner(n, (corner, weight) => (sum += weight * this.surface.w[corner]! * this.shares[corner]!));
    return sum;
  }

  private eachCorner(n: number, visit: (corner: number, weight: number) => void): void {
    const { triangles } = this.surface;
    const { found, triangle } = this.near;
    const [b, c] = [found[NEAREST * n + WEIGHT_B]!, found[NEAREST * n + WEIGHT_C]!];
    const t = 3 * triangle[n]!;
    visit(triangles[t]!, 1 - b - c);
    visit(triangles[t + 1]!, b);
    visit(triangles[t + 2]!, c);
  }
}

const NO_WALL = { share: 0, impulse: 0 } as const;
