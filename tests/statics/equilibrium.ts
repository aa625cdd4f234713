/**
 * Static equilibrium of a loaded solid by Newton's method: grad Pi(x) = 0 over the free particles (solidMesh.ts).
 *
 * The load is applied in steps. If the Hessian is indefinite, the negative curvature of each element is left out. Every
 * Newton step is shortened until the potential energy decreases; near the end, where rounding dominates the energy,
 * until the residual decreases. No element may invert, so that the solution continues the undeformed shape.
 */
import { densityOf, type Density, type StaticModel } from "./materials.ts";
import {
  elasticEnergy,
  elasticGradient,
  elasticHessian,
  extremeStretches,
  roundingOf,
  solidMesh,
  type SolidMesh,
} from "./solidMesh.ts";
import {
  blockMatrix,
  conjugateGradients,
  factorize,
  patience,
  solveFactored,
  type BlockMatrix,
  type Factor,
} from "./sparse.ts";

export interface StaticProblem {
  /** float64[3N] m, undeformed */
  rest: Float64Array;
  /** uint32[4n] */
  tets: Uint32Array;
  material: { model: StaticModel; youngsModulus: number; poissonsRatio: number };
  /** uint8[N] */
  fixed: Uint8Array;
  /** float64[3N] N, dead loads, including weight */
  force: Float64Array;
  /** float64[3N] m: places of fixed particles, and the first guess for the free ones; default `rest` */
  start?: Float64Array;
}

export interface StaticSolution {
  /** float64[3N] m */
  x: Float64Array;
  newtonSteps: number;
  /** Largest residual force on a free particle, N, and the largest load, N. */
  residual: number;
  load: number;
  /** J */
  energy: number;
  smallestStretch: number;
  largestStretch: number;
}

/**
 * The search ends when residual forces are below this share of the largest load, or below the rounding of the elastic
 * forces.
 */
const TOLERANCE = 1e-8;
const MOST_STEPS = 60;

/**
 * @param steps equal load steps at first; a step that fails is halved
 * @throws Error if a load step of 1/1024 does not converge
 */
export function staticEquilibrium(problem: StaticProblem, steps = 4): StaticSolution {
  const { force, fixed } = problem;
  const mesh = solidMesh(problem.rest, problem.tets);
  const { model, youngsModulus, poissonsRatio } = problem.material;
  const search = new Search(
    mesh,
    densityOf(model, youngsModulus, poissonsRatio),
    blockMatrix(problem.tets, fixed),
    force,
    youngsModulus / (1 - 2 * poissonsRatio),
  );
  let x: Float64Array = Float64Array.from(problem.start ?? problem.rest);
  let share = 0;
  let step = problem.start ? 1 : 1 / steps;
  while (share < 1) {
    const next = Math.min(1, share + step);
    const found = search.newton(x, next);
    if (found) {
      x = found;
      share = next;
    } else {
      step /= 2;
      if (step < 1 / 1024)
        throw new Error(`no equilibrium: at ${share} of the load a step of ${step} does not converge`);
    }
  }
  const { smallest, largest } = extremeStretches(mesh, x);
  return {
    x,
    newtonSteps: search.steps,
    residual: search.residual,
    load: search.load,
    energy: elasticEnergy(mesh, search.density, x),
    smallestStretch: smallest,
    largestStretch: largest,
  };
}

class Search {
  steps = 0;
  residual = 0;
  readonly load: number;
  readonly density: Density;
  private readonly mesh: SolidMesh;
  private readonly matrix: BlockMatrix;
  private readonly force: Float64Array;
  private readonly modulus: number;
  private factor: Factor | undefined;

  constructor(mesh: SolidMesh, density: Density, matrix: BlockMatrix, force: Float64Array, modulus: number) {
    this.modulus = modulus;
    this.mesh = mesh;
    this.density = density;
    this.matrix = matrix;
    this.force = force;
    this.load = force.reduce((most, f) => Math.max(most, Math.abs(f)), 0);
  }

  /**
   * Equilibrium under `share` of the load, or undefined. Without a load, residual forces are relative to the elastic
   * forces at the start.
   */
  newton(start: Float64Array, share: number): Float64Array | undefined {
    let x = start;
    let r = this.residualAt(x, share);
    let projected = false;
    const enough = TOLERANCE * (this.load || largest(elasticGradient(this.mesh, this.density, start)));
    for (let step = 0; step < MOST_STEPS; step++) {
      this.residual = largest(r);
      if (this.residual <= enough || this.residual <= roundingOf(this.mesh, this.modulus, x)) return x;
      this.steps++;
      let move = this.direction(x, r, projected);
      if (!move) {
        projected = true;
        move = this.direction(x, r, true);
        if (!move) return undefined;
      }
      const taken = this.shorten(x, r, move, share);
      if (!taken) return undefined;
      projected = taken.t < 1 && projected;
      x = taken.x;
      r = taken.r;
    }
    return undefined;
  }

  /** -grad Pi of the free particles, in matrix order. */
  private residualAt(x: Float64Array, share: number): Float64Array {
    const g = elasticGradient(this.mesh, this.density, x);
    const { place, count } = this.matrix;
    const r = new Float64Array(3 * count);
    place.forEach((row, p) => {
      if (row >= 0) for (let c = 0; c < 3; c++) r[3 * row + c] = share * this.force[3 * p + c]! - g[3 * p + c]!;
    });
    return r;
  }

  private potential(x: Float64Array, share: number): number {
    return (
      elasticEnergy(this.mesh, this.density, x) -
      share * this.force.reduce((sum, f, i) => sum + f * (x[i]! - this.mesh.rest[i]!), 0)
    );
  }

  private direction(x: Float64Array, r: Float64Array, project: boolean): Float64Array | undefined {
    elasticHessian(this.mesh, this.density, x, this.matrix, project);
    const again = this.factor && conjugateGradients(this.matrix, this.factor, r, 1e-10, patience(this.factor));
    if (again) return again;
    const factor = factorize(this.matrix);
    if (!factor) return undefined;
    this.factor = factor;
    const move = Float64Array.from(r);
    solveFactored(factor, move);
    return move;
  }

  private shorten(
    x: Float64Array,
    r: Float64Array,
    move: Float64Array,
    share: number,
  ): { x: Float64Array; r: Float64Array; t: number } | undefined {
    const { place } = this.matrix;
    const before = this.potential(x, share);
    const slope = move.reduce((sum, m, i) => sum - m * r[i]!, 0);
    const size = norm(r);
    for (let t = 1; t > 1e-6; t /= 2) {
      const next = Float64Array.from(x);
      place.forEach((row, p) => {
        if (row >= 0) for (let c = 0; c < 3; c++) next[3 * p + c]! += t * move[3 * row + c]!;
      });
      const after = this.potential(next, share);
      if (!(after < Infinity)) continue;
      const left = this.residualAt(next, share);
      if (after <= before + 1e-4 * t * slope || norm(left) < 0.5 * size) return { x: next, r: left, t };
    }
    return undefined;
  }
}

function largest(a: Float64Array): number {
  return a.reduce((most, v) => Math.max(most, Math.abs(v)), 0);
}

function norm(a: Float64Array): number {
  return Math.sqrt(a.reduce((sum, v) => sum + v * v, 0));
}
