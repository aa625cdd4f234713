/**
 * Twin of kernel/assembly/implicit/heldPoints.ts: attachments and grabs of an implicit body, as springs in the
 * objective of its step.
 *   c = sum_i b_i x_i - target,   E = k |c|^2 / 2 up to |c| = F/k, then F (|c| - F/2k): a grab that pulls harder slips
 *   k = 1/(alpha + W/(RIGID coefficient)),  W = sum_i b_i^2/m_i
 */
import type { ImplicitModel } from "../../implicit/model.ts";

/** Stiffness of a point without compliance, relative to the inertia of its particles. */
const RIGID = 1e4;
/** Largest finite maxForce, N: a point with more holds with any force. */
const ANY_FORCE = 1e38;

/** One weighted point, with the body's own particle numbers. */
export interface HeldPoint {
  particles: readonly number[];
  weights: readonly number[];
  target: readonly [number, number, number];
  /** m/N */
  compliance: number;
  /** N */
  maxForce: number;
}

export class RigidGrabs {
  private readonly model: Pick<ImplicitModel, "mass" | "coefficient">;
  private points: readonly HeldPoint[] = [];
  /** For each point: k; k or F/|c| of the last linearization; the direction of a pull at the limit F, else 0. */
  private stiffness: number[] = [];
  private effective: number[] = [];
  private along: number[][] = [];

  constructor(model: Pick<ImplicitModel, "mass" | "coefficient">) {
    this.model = model;
  }

  get count(): number {
    return this.points.length;
  }

  /** True if a grab holds the body, or an attachment with a force limit. */
  get anyGrab(): boolean {
    return this.points.some(({ maxForce }) => maxForce < ANY_FORCE);
  }

  hold(points: readonly HeldPoint[]): void {
    const { mass, coefficient } = this.model;
    this.points = points;
    this.stiffness = points.map(({ particles, weights, compliance }) => {
      let W = 0;
      particles.forEach((p, i) => (W += mass[p]! > 0 ? (weights[i]! * weights[i]!) / mass[p]! : 0));
      return 1 / (compliance + W / (RIGID * coefficient));
    });
  }

  energy(x: Float64Array): number {
    let sum = 0;
    this.points.forEach((point, n) => {
      const k = this.stiffness[n]!;
      const size = length(gap(point, x));
      sum += k * size <= point.maxForce ? 0.5 * k * size * size : point.maxForce * (size - (0.5 * point.maxForce) / k);
    });
    return sum;
  }

  linearize(x: Float64Array, g: Float64Array): void {
    this.points.forEach((point, n) => {
      const c = gap(point, x);
      const k = this.stiffness[n]!;
      const size = length(c);
      const slips = k * size > point.maxForce;
      this.effective[n] = slips ? point.maxForce / size : k;
      this.along[n] = c.map((value) => (slips ? value / size : 0));
      scatter(point, this.effective[n]!, c, g);
    });
  }

  /** The points, each with k or F/|c| at x, N/m. */
  springs(x: Float64Array): { point: HeldPoint; stiffness: number }[] {
    return this.points.map((point, n) => {
      const k = this.stiffness[n]!;
      const size = length(gap(point, x));
      return { point, stiffness: k * size <= point.maxForce ? k : point.maxForce / size };
    });
  }

  /** q += scale H p of the last linearization. */
  product(p: Float64Array, q: Float64Array, scale = 1): void {
    this.points.forEach((point, n) => {
      const c = weighted(point, p);
      const d = this.along[n]!;
      const along = d.reduce((sum, value, r) => sum + value * c[r]!, 0);
      const across = c.map((value, r) => value - along * d[r]!);
      scatter(point, scale * this.effective[n]!, across, q);
    });
  }
}

function weighted({ particles, weights }: HeldPoint, x: Float64Array): number[] {
  const c = [0, 0, 0];
  particles.forEach((p, i) => {
    for (let r = 0; r < 3; r++) c[r]! += weights[i]! * x[3 * p + r]!;
  });
  return c;
}

const gap = (point: HeldPoint, x: Float64Array): number[] => weighted(point, x).map((c, r) => c - point.target[r]!);

const length = (c: readonly number[]): number => Math.sqrt(c[0]! * c[0]! + c[1]! * c[1]! + c[2]! * c[2]!);

function scatter({ particles, weights }: HeldPoint, k: number, c: readonly number[], g: Float64Array): void {
  particles.forEach((p, i) => {
    for (let r = 0; r < 3; r++) g[3 * p + r]! += weights[i]! * (k * c[r]!);
  });
}
