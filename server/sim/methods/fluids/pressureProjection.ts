/**
 * Makes a velocity on a staggered grid free of divergence: div grad p = div u, then u -= grad p. Conjugate gradients
 * with modified incomplete Cholesky (Bridson, Fluid Simulation for Computer Graphics, section 5.3); obstacles are whole
 * cells.
 */
import type { Field } from "./gridInterpolation.ts";

/** Residual after the projection, relative to the largest divergence before. */
const TOLERANCE = 1e-9;
const MOST_ITERATIONS = 400;
/** Parameters of MIC(0): Bridson's tau, and the limit for the fallback to plain incomplete Cholesky. */
const MODIFIED = 0.97;
const SAFE = 0.25;

/** Cells of a grid that contain fluid. */
export interface FluidCells {
  /** Velocity components u, v, w. */
  fields: readonly Field[];
  /** uint8 by cell with a rim: 1 for fluid. */
  fluid: Uint8Array;
  /** Fluid cells, in ascending order, and for each axis the lower face of each cell. */
  cells: Uint32Array;
  lower: readonly Uint32Array[];
  /** Index steps to the next cell along each axis. */
  cellStep: readonly [number, number, number];
}

export class PressureProjection {
  private readonly grid: FluidCells;
  /**
   * For each cell, rim included: pressure times h over density and edge, residual, and vectors of the conjugate
   * gradients.
   */
  private readonly p: Float64Array;
  private readonly r: Float64Array;
  private readonly z: Float64Array;
  private readonly s: Float64Array;
  private readonly factor: Float64Array;
  private readonly degrees: Float64Array;

  constructor(grid: FluidCells) {
    this.grid = grid;
    const vector = (): Float64Array => new Float64Array(grid.fluid.length);
    [this.p, this.r, this.z, this.s, this.factor] = [vector(), vector(), vector(), vector(), vector()];
    this.degrees = vector();
    for (const c of grid.cells) this.degrees[c] = this.degree(c);
    this.factorize();
  }

  /** Largest divergence of a fluid cell times the cells' edge, m/s. */
  largestOutflow(): number {
    let most = 0;
    for (let m = 0; m < this.grid.cells.length; m++) most = Math.max(most, Math.abs(this.outflow(m)));
    return most;
  }

  /** Removes the divergence from the velocity. */
  project(): void {
    const { p, r, z, s } = this;
    const { cells } = this.grid;
    for (const array of [p, r, z, s]) array.fill(0);
    let most = 0;
    for (let m = 0; m < cells.length; m++) {
      r[cells[m]!] = -this.outflow(m);
      most = Math.max(most, Math.abs(r[cells[m]!]!));
    }
    const enough = TOLERANCE * most;
    this.precondition();
    s.set(z);
    let rz = dot(r, z);
    for (let n = 0; n < MOST_ITERATIONS && most > enough; n++) {
      for (let m = 0; m < cells.length; m++) z[cells[m]!] = this.laplacian(s, cells[m]!);
      const curvature = dot(s, z);
      if (!(curvature > 0)) break;
      const alpha = rz / curvature;
      most = 0;
      for (let c = 0; c < p.length; c++) {
        p[c]! += alpha * s[c]!;
        r[c]! -= alpha * z[c]!;
        const size = Math.abs(r[c]!);
        if (size > most) most = size;
      }
      this.precondition();
      const next = dot(r, z);
      const beta = next / rz;
      for (let c = 0; c < s.length; c++) s[c] = z[c]! + beta * s[c]!;
      rz = next;
    }
    this.subtractGradient();
  }

  /** Outflow of the listed cell m: the sum over its faces, m/s. */
  private outflow(m: number): number {
    let sum = 0;
    for (let axis = 0; axis < 3; axis++) {
      const { values, step } = this.grid.fields[axis]!;
      const at = this.grid.lower[axis]![m]!;
      sum += values[at + step[axis]!]! - values[at]!;
    }
    return sum;
  }

  /** Number of fluid cells around a cell. */
  private degree(c: number): number {
    const { fluid, cellStep } = this.grid;
    let n = 0;
    for (let r = 0; r < 3; r++) n += fluid[c - cellStep[r]!]! + fluid[c + cellStep[r]!]!;
    return n;
  }

  /** MIC(0) of the Laplacian, whose off-diagonal entries are -1. */
  private factorize(): void {
    const { factor } = this;
    const { cells, cellStep, fluid } = this.grid;
    for (const c of cells) {
      const diagonal = this.degree(c);
      let e = diagonal;
      for (let r = 0; r < 3; r++) {
        const behind = c - cellStep[r]!;
        if (!fluid[behind]) continue;
        const f = factor[behind]!;
        e -= f * f;
        let others = 0;
        for (let q = 0; q < 3; q++) if (q !== r) others += fluid[behind + cellStep[q]!]!;
        e -= MODIFIED * others * f * f;
      }
      if (e < SAFE * diagonal) e = diagonal;
      factor[c] = e > 0 ? 1 / Math.sqrt(e) : 0;
    }
  }

  /** z = M^-1 r */
  private precondition(): void {
    const { r, z, factor } = this;
    const { cells } = this.grid;
    const [a, b, d] = this.grid.cellStep;
    // in cells without fluid, factors and z are 0
    for (let m = 0; m < cells.length; m++) {
      const c = cells[m]!;
      z[c] =
        (r[c]! + factor[c - a]! * z[c - a]! + factor[c - b]! * z[c - b]! + factor[c - d]! * z[c - d]!) * factor[c]!;
    }
    for (let m = cells.length - 1; m >= 0; m--) {
      const c = cells[m]!;
      z[c] = (z[c]! + factor[c]! * (z[c + a]! + z[c + b]! + z[c + d]!)) * factor[c]!;
    }
  }

  private laplacian(x: Float64Array, c: number): number {
    const [a, b, d] = this.grid.cellStep;
    // in cells without fluid, x is 0
    return this.degrees[c]! * x[c]! - x[c - a]! - x[c + a]! - x[c - b]! - x[c + b]! - x[c - d]! - x[c + d]!;
  }

  private subtractGradient(): void {
    const { p } = this;
    const { fields, lower, fluid, cellStep, cells } = this.grid;
    fields.forEach(({ values }, axis) => {
      const faces = lower[axis]!;
      for (let m = 0; m < cells.length; m++) {
        const before = cells[m]! - cellStep[axis]!;
        if (fluid[before]) values[faces[m]!]! -= p[cells[m]!]! - p[before]!;
      }
    });
  }
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let k = 0; k < a.length; k++) sum += a[k]! * b[k]!;
  return sum;
}
