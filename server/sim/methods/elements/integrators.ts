/**
 * Explicit, symplectic and implicit Euler for M a = f(x, v) (Physically Based Deformable Models, "Time integration"):
 *
 *   explicit     x' = x + h v,   v' = v + h M^-1 f(x, v)
 *   symplectic   v' = v + h M^-1 f(x, v),   x' = x + h v'          ("forward-backward")
 *   implicit     (M + h C + h^2 K) dv = h (f(x, v) - h K v),   v' = v + dv,   x' = x + h v'
 *
 * with K = -df/dx and C = -df/dv: one Newton step of backward Euler (Baraff and Witkin 1998, eq. 6), solved by their
 * modified conjugate gradients (section 5.2). Fixed particles are filtered out of every direction, and the masses are
 * the preconditioner. C = alpha M + beta D. Grabs are springs of the implicit system. In the two others they are forces
 * with a damper of GRIP_DAMPING steps, which keeps a grabbed body stable for a grip up to 1/2.
 * The torque of -h^2 K v' about x is not 0 in a stressed body. So an implicit step of a free body gets the angular
 * momentum of its forces back, as a spin: an oscillating cube lost 1e-3 of a collision's.
 */
import type { ForceModel } from "./forceModel.ts";
import { solveDense } from "../boundary/denseSolve.ts";
import type { Method, MethodBody, MethodState, Outside } from "../method.ts";

/**
 * Relative residual at the end of a solve, in the norm of M^-1; and the largest number of iterations, which bounds a
 * step's cost.
 */
const TOLERANCE = 1e-8;
const MOST_ITERATIONS = 400;
/**
 * Damper of a grab over its stiffness, in steps: the determinant of the step is 1 - a/h^2 < 1 for a spring of a/h^2 W.
 */
const GRIP_DAMPING = 2;

export type Integrator = "explicit" | "symplectic" | "implicit";
/** @see MethodKind.grip */
export const GRABS: Readonly<Record<Integrator, number>> = { explicit: 0.25, symplectic: 0.25, implicit: 1e4 };

/** Steps a force-based method with one of the three integrators. */
export function integrate(model: ForceModel, integrator: Integrator, body: MethodBody): Method {
  const f = new Float64Array(3 * body.count);
  const solve = new ConjugateGradients(model, body);
  return {
    step(state, outside) {
      model.at(state.x);
      sumForces(model, body, state, outside, f);
      if (integrator === "implicit") solve.step(state, outside, f);
      else {
        if (integrator === "explicit") advance(state.x, state.v, body);
        for (let k = 0; k < f.length; k++) {
          const m = body.mass[(k / 3) | 0]!;
          if (m > 0) state.v[k]! += (body.h * f[k]!) / m;
        }
        if (integrator === "symplectic") advance(state.x, state.v, body);
      }
    },
    energy({ x }) {
      model.at(x);
      return model.energy();
    },
  };
}

function advance(x: Float64Array, v: Float64Array, { h, mass }: MethodBody): void {
  for (let k = 0; k < x.length; k++) if (mass[(k / 3) | 0]! > 0) x[k]! += h * v[k]!;
}

/**
 * Force of gravity, loads, grabs and attachments for explicit steps: springs with dampers.
 * @param h s
 * @param f float64[3N] out: N
 */
export function outerForce({ x, v }: MethodState, { force, points }: Outside, h: number, f: Float64Array): void {
  f.fill(0);
  if (points.count > 0) {
    points.linearize(x, f);
    points.product(v, f, GRIP_DAMPING * h);
  }
  for (let k = 0; k < f.length; k++) f[k] = force[k]! - f[k]!;
}

/** f = internal + outer - C v - springs of grabs; for explicit integrators also their dampers. */
function sumForces(
  model: ForceModel,
  { h, mass, alpha, beta }: MethodBody,
  state: MethodState,
  outside: Outside,
  f: Float64Array,
): void {
  const { v } = state;
  outerForce(state, outside, h, f);
  for (let k = 0; k < f.length; k++) f[k]! -= alpha * mass[(k / 3) | 0]! * v[k]!;
  model.addForce(f);
  if (beta > 0) model.addProduct(v, f, 0, -beta);
}

/** Modified conjugate gradients for the implicit step. */
class ConjugateGradients {
  private readonly model: ForceModel;
  private readonly body: MethodBody;
  private readonly r: Float64Array;
  private readonly p: Float64Array;
  private readonly q: Float64Array;
  private readonly dv: Float64Array;
  private readonly free: boolean;
  private readonly total: number;
  private readonly center = new Float64Array(3);
  private readonly turn = new Float64Array(3);
  private readonly inertia = new Float64Array(9);

  constructor(model: ForceModel, body: MethodBody) {
    this.model = model;
    this.body = body;
    const vector = (): Float64Array => new Float64Array(3 * body.count);
    [this.r, this.p, this.q, this.dv] = [vector(), vector(), vector(), vector()];
    this.free = body.mass.every((m) => m > 0);
    this.total = body.mass.reduce((sum, m) => sum + m, 0);
  }

  /** @param f force at the state, N */
  step(state: MethodState, outside: Outside, f: Float64Array): void {
    const { r, p, q, dv } = this;
    const { h, mass } = this.body;
    // h (f - h K v)
    q.fill(0);
    this.model.addProduct(state.v, q, h, 0);
    outside.points.product(state.v, q, h);
    for (let k = 0; k < r.length; k++) r[k] = mass[(k / 3) | 0]! > 0 ? h * (f[k]! - q[k]!) : 0;
    dv.fill(0);
    let rz = this.precondition(p);
    const enough = TOLERANCE * TOLERANCE * rz;
    for (let n = 0; n < MOST_ITERATIONS && rz > enough; n++) {
      this.multiply(outside);
      let curvature = 0;
      for (let k = 0; k < p.length; k++) curvature += p[k]! * q[k]!;
      if (!(curvature > 0)) break;
      const a = rz / curvature;
      for (let k = 0; k < p.length; k++) {
        dv[k]! += a * p[k]!;
        r[k]! -= a * q[k]!;
      }
      const next = this.residual();
      const share = next / rz;
      for (let k = 0; k < p.length; k++) {
        const m = mass[(k / 3) | 0]!;
        if (m > 0) p[k] = r[k]! / m + share * p[k]!;
      }
      rz = next;
    }
    if (this.free && outside.points.count === 0) this.keepTurn(state, outside);
    for (let k = 0; k < dv.length; k++) state.v[k]! += dv[k]!;
    advance(state.x, state.v, this.body);
  }

  /**
   * Adds w x (x - c) to dv, so that (1 + h alpha) sum m (x - c) x dv = h sum (x - c) x (F - alpha m v), F from outside.
   * Angular momentum at x and at x + h v' is the same.
   */
  private keepTurn({ x, v }: MethodState, { force }: Outside): void {
    const { dv, body } = this;
    const { h, mass, alpha } = body;
    const c = this.center;
    c.fill(0);
    for (let k = 0; k < x.length; k++) c[k % 3]! += (mass[(k / 3) | 0]! * x[k]!) / this.total;
    const [A, L] = [this.inertia.fill(0), this.turn.fill(0)];
    for (let k = 0, i = 0; k < x.length; k += 3, i++) {
      const m = mass[i]!;
      for (let r = 0; r < 3; r++) {
        const [s, t] = [(r + 1) % 3, (r + 2) % 3];
        const [p, q, o] = [x[k + s]! - c[s]!, x[k + t]! - c[t]!, x[k + r]! - c[r]!];
        const gain = (e: number): number => (h * (force[e]! - alpha * m * v[e]!)) / (1 + h * alpha) - m * dv[e]!;
        L[r]! += p * gain(k + t) - q * gain(k + s);
        A[4 * r]! += m * (p * p + q * q);
        A[3 * r + s]! -= m * o * p;
        A[3 * r + t]! -= m * o * q;
      }
    }
    // a body without width has no rotation about its axis
    if (!solveDense(A, L, 3, 1)) return;
    for (let k = 0; k < x.length; k++) {
      const [s, t] = [(k + 1) % 3, (k + 2) % 3];
      const from = k - (k % 3);
      dv[k]! += L[s]! * (x[from + t]! - c[t]!) - L[t]! * (x[from + s]! - c[s]!);
    }
  }

  /**
   * z = M^-1 r.
   * @returns r.z
   */
  private precondition(z: Float64Array): number {
    const { mass } = this.body;
    for (let k = 0; k < z.length; k++) {
      const m = mass[(k / 3) | 0]!;
      z[k] = m > 0 ? this.r[k]! / m : 0;
    }
    return this.residual();
  }

  private residual(): number {
    const { mass } = this.body;
    let sum = 0;
    for (let k = 0; k < this.r.length; k++) {
      const m = mass[(k / 3) | 0]!;
      if (m > 0) sum += (this.r[k]! * this.r[k]!) / m;
    }
    return sum;
  }

  /** q = S (M + h C + h^2 K) p, S the filter of fixed particles. */
  private multiply({ points }: Outside): void {
    const { p, q } = this;
    const { h, mass, alpha, beta } = this.body;
    for (let k = 0; k < p.length; k++) q[k] = (1 + h * alpha) * mass[(k / 3) | 0]! * p[k]!;
    this.model.addProduct(p, q, h * h, h * beta);
    // the spring and the damper that sumForces gives every grab
    points.product(p, q, (1 + GRIP_DAMPING) * h * h);
    for (let k = 0; k < q.length; k++) if (!(mass[(k / 3) | 0]! > 0)) q[k] = 0;
  }
}
