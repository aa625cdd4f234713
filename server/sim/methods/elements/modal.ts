/**
 * Linear modal analysis (Physically Based Deformable Models, "Linear modal analysis"; Pentland and Williams 1989): with
 * K phi = lambda M phi and Phi^T M Phi = 1, u = x - x_0 = Phi q splits into single oscillators
 *
 *   q'' + (alpha + beta lambda) q' + lambda q = g,   g = Phi^T f
 *
 * each of which is stepped exactly for a constant force during the step, at any stiffness. K is that of linear finite
 * elements at rest, so rotations swell in the same way. The lowest `modes` are kept; motion outside of their span (an
 * impulse at one particle, a corner on the floor) is lost. The state is x and v: q = Phi^T M u.
 */
import type { Method as MethodSpec } from "../../../../shared/scene/sceneMethodTypes.ts";
import { SceneError } from "../../../../shared/scene/sceneError.ts";
import { placedElements, volumeGradients } from "./finiteElements.ts";
import { GRABS, outerForce } from "./integrators.ts";
import type { Constants, Method, MethodBody, MethodKind, MethodState, Outside } from "../method.ts";
import { propagator } from "./oscillator.ts";
import { symmetricEigen } from "./symmetricEigen.ts";
import { Tetrahedra, tetrahedraOf } from "./linearTetrahedra.ts";

/** Largest number of rows. The dense eigenproblem takes 0.2 s of processor time for 375 rows, and 5 s for this many. */
const MOST_ROWS = 1200;
/** Number of modes if the scene names none: enough for a cube to bulge and to bend. */
export const DEFAULT_MODES = 24;

type Spec = Extract<MethodSpec, { type: "modal" }>;

export const modal: MethodKind = {
  grab: () => GRABS.explicit,
  plan(template, spec, body, path) {
    const rows = Uint32Array.from(
      Array.from({ length: 3 * body.count }, (_, k) => k).filter((k) => body.mass[Math.floor(k / 3)]! > 0),
    );
    if (rows.length === 0) throw new SceneError(path, spec.type, "another method: every particle of the body is fixed");
    if (rows.length > MOST_ROWS)
      throw new SceneError(
        path,
        spec.type,
        `another method: at most ${MOST_ROWS / 3} free particles; this body has ${rows.length / 3}`,
      );
    const elements = placedElements(template);
    const stiffness = new Tetrahedra(tetrahedraOf(elements, volumeGradients(elements)), false);
    const { values, vectors } = symmetricEigen(scaledStiffness(stiffness, rows, body), rows.length);
    const modes = Math.min((spec as Spec).modes ?? DEFAULT_MODES, rows.length);
    return {
      rest: template.positions,
      rows,
      eigenvalues: values.subarray(0, modes).map((value) => Math.max(0, value)),
      // Phi^T M^1/2, with rows of length 1
      shapes: vectors.subarray(0, modes * rows.length),
    };
  },
  open: (constants, spec, body) => new Modes(constants, body, (spec as Spec).modes ?? DEFAULT_MODES),
  anyStep: true,
  modes: ({ eigenvalues }) => eigenvalues!.length,
};

/** M^-1/2 K M^-1/2 over the free rows. */
function scaledStiffness(stiffness: Tetrahedra, rows: Uint32Array, { count, mass }: MethodBody): Float64Array {
  const n = rows.length;
  const A = new Float64Array(n * n);
  const p = new Float64Array(3 * count);
  const q = new Float64Array(3 * count);
  const root = Float64Array.from(rows, (k) => 1 / Math.sqrt(mass[Math.floor(k / 3)]!));
  rows.forEach((k, j) => {
    p[k] = root[j]!;
    q.fill(0);
    stiffness.addProduct(p, q, 1, 0);
    p[k] = 0;
    rows.forEach((l, i) => (A[n * i + j] = root[i]! * q[l]!));
  });
  // makes it symmetric to the bit
  for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) A[n * j + i] = A[n * i + j]!;
  return A;
}

class Modes implements Method {
  private readonly rest: Float64Array;
  private readonly rows: Uint32Array;
  private readonly eigenvalues: Float64Array;
  private readonly shapes: Float64Array;
  private readonly root: Float64Array;
  private readonly h: number;
  /** For each mode: q' = [0] q + [1] s + [2] g, s' = [3] q + [4] s + [5] g, with s the velocity of q. */
  private readonly steps: Float64Array;
  private readonly f: Float64Array;

  /** @param kept number of lowest modes to keep; all if there are fewer */
  constructor(
    { rest, rows, eigenvalues, shapes }: Constants,
    { count, mass, h, alpha, beta }: MethodBody,
    kept: number,
  ) {
    this.rest = rest as Float64Array;
    this.rows = rows as Uint32Array;
    this.eigenvalues = (eigenvalues as Float64Array).subarray(0, kept);
    this.shapes = shapes as Float64Array;
    this.h = h;
    this.root = Float64Array.from(this.rows, (k) => Math.sqrt(mass[Math.floor(k / 3)]!));
    this.steps = new Float64Array(6 * this.eigenvalues.length);
    this.eigenvalues.forEach((value, m) => this.steps.set(propagator(value, alpha + beta * value, h), 6 * m));
    this.f = new Float64Array(3 * count);
  }

  step(state: MethodState, outside: Outside): void {
    const { f, rows, root, shapes, steps } = this;
    const { x, v } = state;
    outerForce(state, outside, this.h, f);
    const n = rows.length;
    const position = new Float64Array(n);
    const speed = new Float64Array(n);
    for (let m = 0; m < this.eigenvalues.length; m++) {
      let q = 0;
      let s = 0;
      let g = 0;
      for (let i = 0, at = n * m; i < n; i++, at++) {
        const k = rows[i]!;
        const a = shapes[at]!;
        q += a * root[i]! * (x[k]! - this.rest[k]!);
        s += a * root[i]! * v[k]!;
        g += (a * f[k]!) / root[i]!;
      }
      const to = 6 * m;
      const moved = steps[to]! * q + steps[to + 1]! * s + steps[to + 2]! * g;
      const sped = steps[to + 3]! * q + steps[to + 4]! * s + steps[to + 5]! * g;
      for (let i = 0, at = n * m; i < n; i++, at++) {
        position[i]! += shapes[at]! * moved;
        speed[i]! += shapes[at]! * sped;
      }
    }
    for (let i = 0; i < n; i++) {
      x[rows[i]!] = this.rest[rows[i]!]! + position[i]! / root[i]!;
      v[rows[i]!] = speed[i]! / root[i]!;
    }
  }

  /** Energy within the span of the modes. */
  energy({ x }: MethodState): number {
    const n = this.rows.length;
    let sum = 0;
    this.eigenvalues.forEach((value, m) => {
      let q = 0;
      for (let i = 0; i < n; i++) {
        const k = this.rows[i]!;
        q += this.shapes[n * m + i]! * this.root[i]! * (x[k]! - this.rest[k]!);
      }
      sum += 0.5 * value * q * q;
    });
    return sum;
  }
}
