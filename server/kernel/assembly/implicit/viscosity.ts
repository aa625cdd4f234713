/**
 * Material damping of an implicit body (Kelvin and Voigt): every stress has a viscous part, tau times the rate of what
 * the elastic one goes by, with the same moduli. tau is the material's retardation time, s.
 *
 *   S = C (eps + tau deps/dt),   deps/dt = c1 (eps(y) - eps_p)
 *   BDF2    c1 = 3/(2h),   eps_p = (4 eps(x) - eps(x1))/3
 *   Euler   c1 = 1/h,      eps_p = eps(x)
 * so the step also minimizes theta times the elastic energy of eps - eps_p, theta = tau c1: convex where that is, and
 * it never gives energy. Green's strain does not change in a rigid motion, so that neither does its rate. A stencil's K
 * x turns with the sheet: it is taken along by the frame of its edges, from where it was to where the step begins to
 * solve; where that turning gets faster, the rate is wrong by the square of the step. A free body whose stress is C tau
 * deps/dt loses neither momentum nor, but for that, angular momentum. Twin: sim/reference/implicit/elements.ts.
 */
import {
  IMPLICIT_COUNT,
  IMPLICIT_PAST,
  IMPLICIT_RETARDATION,
  IMPLICIT_STEP_SECONDS,
  IMPLICIT_STIFFENING,
} from "../layout/layout";
import { keepPastOfBends, keepPastOfTriangles } from "./sheets";
import { keepPastOfTets } from "./solids";

// @inline
export function isViscous(row: usize): bool {
  return load<u32>(row, IMPLICIT_PAST) !== 0;
}

/**
 * theta and eps_p of the step that begins.
 * @param state x, v, x1, v1; y where its solution begins
 */
export function keepPast(row: usize, state: usize, y: usize, euler: bool): void {
  const h = load<f64>(row, IMPLICIT_STEP_SECONDS);
  const theta = (load<f64>(row, IMPLICIT_RETARDATION) * (euler ? 1 : 1.5)) / h;
  const x1 = state + 48 * <usize>load<i32>(row, IMPLICIT_COUNT);
  const a: f64 = euler ? 1 : 4 / 3.0;
  const b: f64 = euler ? 0 : -1 / 3.0;
  const share = theta / (1 + theta);
  store<f64>(row, 1 + theta, IMPLICIT_STIFFENING);
  keepPastOfTets(row, state, x1, a, b, share);
  keepPastOfTriangles(row, state, x1, a, b, share);
  keepPastOfBends(row, state, x1, y, a, b);
}
