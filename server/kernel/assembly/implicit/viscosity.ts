/**
 * Material damping of an implicit body (Kelvin and Voigt): every stress has a viscous part, tau times the rate of its
 * elastic strain, with the same moduli. tau is the material's retardation time, s.
 *
 *   S = C (eps + tau deps/dt),   deps/dt = c1 (eps(y) - eps_p)
 *   BDF2    c1 = 3/(2h),   eps_p = (4 eps(x) - eps(x1))/3
 *   Euler   c1 = 1/h,      eps_p = eps(x)
 * So the step also minimizes theta times the elastic energy of eps - eps_p, theta = tau c1. That is convex where the
 * elastic energy is, and never adds energy. Green's strain and its rate do not change in a rigid motion. A stencil's K
 * x turns with the sheet. So the frame of its edges carries it along, from its old place to where the solve starts. If
 * that rotation accelerates, the rate has an error of order h^2. A free body keeps its momentum, and its angular
 * momentum up to that error. Twin: sim/reference/implicit/elements.ts.
 */
import * as L from "../layout/layout";
import { keepPastOfBends, keepPastOfTriangles } from "./sheets";
import { keepPastOfTets } from "./solids";

// @inline
export function isViscous(row: usize): bool {
  return load<u32>(row, L.IMPLICIT_PAST) !== 0;
}

/**
 * Sets theta and eps_p of the step that begins.
 * @param state x, v, x1, v1; y where the solve starts
 */
export function keepPast(row: usize, state: usize, y: usize, euler: bool): void {
  const h = load<f64>(row, L.IMPLICIT_STEP_SECONDS);
  const theta = (load<f64>(row, L.IMPLICIT_RETARDATION) * (euler ? 1 : 1.5)) / h;
  const x1 = state + 48 * <usize>load<i32>(row, L.IMPLICIT_COUNT);
  const a: f64 = euler ? 1 : 4 / 3.0;
  const b: f64 = euler ? 0 : -1 / 3.0;
  const share = theta / (1 + theta);
  store<f64>(row, 1 + theta, L.IMPLICIT_STIFFENING);
  keepPastOfTets(row, state, x1, a, b, share);
  keepPastOfTriangles(row, state, x1, a, b, share);
  keepPastOfBends(row, state, x1, y, a, b);
}
