/**
 * Boundary elements, without inertia (James and Pai 1999). The solid is reduced to three matrices over the free corners
 * of the surface and the inner particles (greensFunctions.ts):
 *
 *   G   displacements of corners by unit forces on them      K = G^-1      N = G_inside K
 *
 * Inner particles move by N u, and a force inside acts on the corners by N^T, which is exact for the corners by Betti's
 * reciprocal theorem. An acceleration of the whole body has its own columns. The body is a massless solid of Kelvin and
 * Voigt, K (u + beta u') = f, by backward Euler:
 *
 *   u <- (1 - s) u + s G f,   s = h / (h + beta)
 *
 * Grabs are springs. Their forces F solve a small system, the capacitance matrix, which is built for the current grabs.
 * Let b_a map corner displacements to the displacement of grab a's point, and p_a be the point's position without
 * grabs:
 *
 *   F_a + k_a b_a s G sum_c b_c^T F_c = -k_a (p_a - target_a)
 *
 * The solid is linear: it swells when it turns.
 */
import { SceneError } from "../../../../shared/scene/sceneError.ts";
import { solveDense } from "./denseSolve.ts";
import { greensFunctions, type Hooke } from "./greensFunctions.ts";
import { GRABS } from "../elements/integrators.ts";
import type { Constants, Method, MethodBody, MethodKind, MethodState, Outside } from "../method.ts";

/** Largest number of corners times particles whose integrals are planned. */
const MOST_INTEGRALS = 100_000;

export const boundaryElements: MethodKind = {
  grab: () => GRABS.implicit,
  plan(template, spec, body, path) {
    const { streamedCount: corners, triangles, positions } = template;
    const refuse = (limit: string): SceneError => new SceneError(path, spec.type, limit);
    if (corners * body.count > MOST_INTEGRALS)
      throw refuse(
        `another method: at most ${MOST_INTEGRALS} particles times surface particles; this body has ${corners * body.count}`,
      );
    const fixed = Uint8Array.from({ length: corners }, (_, i) => (body.mass[i]! > 0 ? 0 : 1));
    const free = Uint32Array.from({ length: corners }, (_, i) => i).filter((i) => !fixed[i]);
    if (free.length === 0 || !isHeld(positions, fixed))
      throw refuse(
        `another method: ${corners - free.length} of ${corners} particles on the body's surface are fixed; it needs a free one, and three fixed ones that are not on a line`,
      );
    try {
      // shared/scene/sceneMethod.ts requires a material with these values
      return greensFunctions({ positions, triangles, fixed }, free, template.material as Hooke);
    } catch (error) {
      if (error instanceof RangeError) throw refuse(`another method: ${error.message}`);
      throw error;
    }
  },
  open: (constants, _, body) => new Boundary(constants, body),
};

/** True if three fixed corners are off a line, by a thousandth of their distance. */
function isHeld(positions: Float64Array, fixed: Uint8Array): boolean {
  const held = Array.from(fixed.keys()).filter((i) => fixed[i]);
  const between = (p: number, q: number): number[] =>
    [0, 1, 2].map((r) => positions[3 * q + r]! - positions[3 * p + r]!);
  const square = (d: readonly number[]): number => d[0]! * d[0]! + d[1]! * d[1]! + d[2]! * d[2]!;
  const first = held[0]!;
  const far = held.reduce((p, q) => (square(between(first, q)) > square(between(first, p)) ? q : p), first);
  const u = between(first, far);
  return held.some((p) => {
    const v = between(first, p);
    const across = [u[1]! * v[2]! - u[2]! * v[1]!, u[2]! * v[0]! - u[0]! * v[2]!, u[0]! * v[1]! - u[1]! * v[0]!];
    return square(across) > 1e-6 * square(u) * square(u);
  });
}

class Boundary implements Method {
  private readonly body: MethodBody;
  private readonly rest: Float64Array;
  private readonly green: Float64Array;
  private readonly stiffness: Float64Array;
  private readonly inside: Float64Array;
  private readonly pulled: Float64Array;
  private readonly pulledInside: Float64Array;
  /** Rows of the state: of the free corners, and of the inner particles. */
  private readonly rows: number[];
  private readonly innerRows: number[];

  constructor({ rest, free, green, stiffness, inside, pulled, pulledInside }: Constants, body: MethodBody) {
    this.body = body;
    this.rest = rest as Float64Array;
    this.green = green as Float64Array;
    this.stiffness = stiffness as Float64Array;
    this.inside = inside as Float64Array;
    this.pulled = pulled as Float64Array;
    this.pulledInside = pulledInside as Float64Array;
    this.rows = Array.from(free!).flatMap((p) => [3 * p, 3 * p + 1, 3 * p + 2]);
    const inner = inside!.length / this.rows.length;
    this.innerRows = Array.from({ length: inner }, (_, i) => 3 * body.count - inner + i);
  }

  step(state: MethodState, { force, points }: Outside): void {
    const { h, beta } = this.body;
    const s = h / (h + beta);
    const a = this.accelerationOf(force);
    const rest = force.map((value, row) => value - this.body.mass[Math.floor(row / 3)]! * a[row % 3]!);
    const wanted = this.displacedBy(this.onCorners(rest)).map((value, i) => {
      const g = this.pulled;
      return value + (g[3 * i]! * a[0]! + g[3 * i + 1]! * a[1]! + g[3 * i + 2]! * a[2]!);
    });
    const u = this.displacementOf(state.x).map((value, i) => (1 - s) * value + s * wanted[i]!);
    const springs = points.springs(state.x);
    if (springs.length > 0) this.hold(springs, u, s);
    this.moveTo(state, u, a);
  }

  /** Acceleration of the whole body: the mean over inner particles, or over all particles if there are none inside. */
  private accelerationOf(force: Float64Array): number[] {
    const first = this.innerRows.length > 0 ? this.innerRows[0]! / 3 : 0;
    const sum = [0, 0, 0];
    let mass = 0;
    for (let p = first; p < this.body.count; p++) {
      mass += this.body.mass[p]!;
      for (let r = 0; r < 3; r++) sum[r]! += force[3 * p + r]!;
    }
    return sum.map((value) => (mass > 0 ? value / mass : 0));
  }

  energy({ x }: MethodState): number {
    const u = this.displacementOf(x);
    const f = multiply(this.stiffness, u);
    return 0.5 * dot(u, f);
  }

  private displacementOf(x: Float64Array): Float64Array {
    return Float64Array.from(this.rows, (row) => x[row]! - this.rest[row]!);
  }

  /** f_corners + N^T f_inside for forces or weights, float64[3N] -> float64[3F] */
  private onCorners(force: Float64Array): Float64Array {
    const n = this.rows.length;
    const f = Float64Array.from(this.rows, (row) => force[row]!);
    this.innerRows.forEach((row, i) => {
      const value = force[row]!;
      if (value !== 0) for (let j = 0; j < n; j++) f[j]! += value * this.inside[n * i + j]!;
    });
    return f;
  }

  private displacedBy(f: Float64Array): Float64Array {
    return multiply(this.green, f);
  }

  /** u += s G sum b^T F, with the forces of all grabs at once. */
  private hold(springs: ReturnType<Outside["points"]["springs"]>, u: Float64Array, s: number): void {
    const n = 3 * springs.length;
    // b, and s G b^T
    const moves: Float64Array[] = [];
    const moved: Float64Array[] = [];
    const C = new Float64Array(n * n);
    const F = new Float64Array(n);
    springs.forEach(({ point, stiffness }, a) => {
      for (let r = 0; r < 3; r++) {
        const weights = new Float64Array(this.rest.length);
        let at = -point.target[r]!;
        point.particles.forEach((p, i) => {
          weights[3 * p + r]! += point.weights[i]!;
          at += point.weights[i]! * this.rest[3 * p + r]!;
        });
        const b = this.onCorners(weights);
        moves.push(b);
        moved.push(this.displacedBy(b).map((value) => s * value));
        F[3 * a + r] = -stiffness * (at + dot(b, u));
      }
    });
    for (let i = 0; i < n; i++)
      for (let j = 0; j < n; j++)
        C[n * i + j] = (i === j ? 1 : 0) + springs[Math.floor(i / 3)]!.stiffness * dot(moves[i]!, moved[j]!);
    // I + k b s G b^T with G positive: the system has a solution
    solveDense(C, F, n, 1);
    moved.forEach((column, i) => column.forEach((value, k) => (u[k]! += F[i]! * value)));
  }

  private moveTo({ x, v }: MethodState, u: Float64Array, a: readonly number[]): void {
    const { h, mass } = this.body;
    const put = (row: number, displacement: number): void => {
      if (!(mass[Math.floor(row / 3)]! > 0)) return;
      const to = this.rest[row]! + displacement;
      v[row] = (to - x[row]!) / h;
      x[row] = to;
    };
    this.rows.forEach((row, i) => put(row, u[i]!));
    const n = u.length;
    this.innerRows.forEach((row, i) => {
      const g = this.pulledInside;
      let sum = g[3 * i]! * a[0]! + g[3 * i + 1]! * a[1]! + g[3 * i + 2]! * a[2]!;
      for (let j = 0; j < n; j++) sum += this.inside[n * i + j]! * u[j]!;
      put(row, sum);
    });
  }
}

/** A b, where A has as many rows as b has entries. */
function multiply(A: Float64Array, b: Float64Array): Float64Array {
  const n = b.length;
  return b.map((_, i) => {
    let sum = 0;
    for (let j = 0, at = n * i; j < n; j++, at++) sum += A[at]! * b[j]!;
    return sum;
  });
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}
