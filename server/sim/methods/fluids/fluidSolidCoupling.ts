/**
 * Two-way coupling of a fluid of smoothed particles with the surface of a soft body or cloth: impulses between points
 * and the corners of their nearest triangles. A soft body acts as a wall and gets the opposite impulse. If its mass is
 * too small to follow that impulse in one step, springs supply the rest. A cloth has only springs and a damper. Springs
 * have the largest stiffness that Gershgorin's circles allow: h^2 k (1/m + sum_c b_c w_c sum_j b_jc) = STIFF, at most
 * 4, with weights b of corners.
 */
import type { FluidPoints, Surface } from "../method.ts";
import { ALONG, DISTANCE, NEAREST, WEIGHT_B, WEIGHT_C } from "./nearestOn.ts";
import { NearestTriangles } from "./nearestTriangles.ts";
import type { Neighbors } from "./neighbors.ts";
import { REACH, wallAt, wallSlope } from "./wendland.ts";

/** Distance beyond which points barely feel a surface, spacings. */
const FELT = 1.2;
/** Extra distance of surfaces, spacings: walls are smooth, but surfaces have edges. */
const EDGED = 0.07;
/** Springs at a cloth: h^2 k/m, limit 4; and the share of the velocity along them that a step removes. */
const STIFF = 1;
const DAMPED = 0.2;
/** Largest speed at which a point is pushed off a surface, in c: a body put into a fluid does not make it explode. */
const PARTING = 0.2;
/** Range of springs, spacings: half of one, and a margin to stop fast points. */
const KEPT = 0.6;

/** Values of a fluid that a coupling needs. */
export interface CoupledFluid extends FluidPoints {
  /** Speed of sound, m/s. */
  c: number;
  /** For each point: pressure over density, m^2/s^2; product of 1 - w over all walls. */
  P: Float64Array;
  free: Float64Array;
}

export class FluidSolidCoupling {
  readonly surface: Surface;
  private readonly fluid: CoupledFluid;
  private readonly near: NearestTriangles;
  private readonly spacing: number;
  /** For each particle of the surface: sum of weights of points within a spacing. */
  private readonly shares: Float64Array;

  constructor(surface: Surface, fluid: CoupledFluid) {
    this.surface = surface;
    this.fluid = fluid;
    this.near = new NearestTriangles(surface, fluid.light.length);
    this.spacing = fluid.H / REACH;
    this.shares = new Float64Array(surface.w.length);
  }

  /**
   * Lists candidate pairs, valid until two of them have moved by `skin` together.
   * @param skin m
   */
  list(x: Float64Array, neighbors: Neighbors, skin: number): void {
    this.near.list(x, neighbors, FELT * this.spacing, skin);
  }

  /** Largest displacement of a surface particle since the last `list`, m. */
  moved(): number {
    return this.near.moved();
  }

  /**
   * Finds the nearest triangle of each listed point.
   * @param from float64[3N] positions of the points when they were listed, m
   */
  find(x: Float64Array, from: Float64Array): void {
    const { near, shares, spacing } = this;
    near.find(x, from, FELT * spacing);
    shares.fill(0);
    for (let n = 0; n < near.count; n++)
      if (near.found[NEAREST * n + DISTANCE]! < spacing)
        this.eachCorner(n, (corner, weight) => (shares[corner]! += weight));
  }

  /** Visits the points near a soft body, with their distances as from a wall, m. */
  eachWall(visit: (point: number, distance: number) => void): void {
    const { near, surface, spacing } = this;
    if (!surface.closed) return;
    for (let n = 0; n < near.count; n++) visit(near.point[n]!, near.found[NEAREST * n + DISTANCE]! + EDGED * spacing);
  }

  /**
   * Applies opposite impulses to points and surface.
   * @param v float64[3N] of points, inout: m/s
   */
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
   * Impulse on the surface opposite to the wall's on point k, N s, and the share of it that the surface can follow. The
   * stiffness m c^2 |grad w|^2 is limited to that of the stiffest springs.
   * @param moved 1/kg
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

  /**
   * Applies an impulse to the surface at near point n, against its normal.
   * @param impulse N s
   */
  private push(n: number, impulse: number): void {
    const { surface } = this;
    const { found } = this.near;
    const at = NEAREST * n + ALONG;
    this.eachCorner(n, (corner, weight) => {
      const part = impulse * weight * surface.w[corner]!;
      for (let r = 0; r < 3; r++) surface.v[3 * corner + r]! -= part * found[at + r]!;
    });
  }

  /** Velocity of the surface at near point n, over the impulse, if all near points get the same impulse, 1/kg. */
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
