/**
 * Wind on surfaces: in every substep, before prediction, computes the force of the air on every exposed triangle, then
 * the external acceleration of every particle. A triangle of area A and unit normal n that moves with v in air that
 * moves with u feels, with w = u - v and s = w . n,
 *     F = rho/2 A ( C_D |s| w  +  C_L s (|w| n - s/|w| w) )
 * drag along w on its area across w, and lift across w, with C_L sin cos of the angle of attack like a flat plate (S.
 * F. Hoerner, Fluid-Dynamic Drag, chapters 3 and 7; as a model of cloth: M. Keckeisen et al. 2004, Wind and Snow for
 * cloth; C. Wilson 2014, Simulating wind effects on cloth and hair in Disney's Frozen). Both are 0, and smooth, where
 * air flows along the triangle. Both sides of a sheet feel it. On a closed surface only triangles that the air meets
 * from outside do, so a convex body's drag is rho/2 C_D |w|^2 times its shadow. A third of F goes to each corner.
 * Bodies do not shelter each other.
 *
 * u is the wind's velocity plus a few waves (sim/tuning/windRow.ts), which are transverse and so divergence-free:
 *     u = U + sum_m a_m f(k_m . c + phase_m),   a_m . k_m = 0,   f the parabolas through the zeros of a sine
 * plus the flow of fluids on grids, at the triangle's center c, once a tick. f has no transcendental function: the same
 * bits on any machine.
 *
 * The force is explicit. So its change of velocity in a substep, at a triangle's lightest corner, is limited to half of
 * |w|; otherwise light silk would oscillate in a storm. The limit is 1/h = 1200/s times half; cotton in 10 m/s has
 * 60/s. Each particle sums over its triangles in their order: the result does not depend on threads.
 * Twin: sim/reference/wind.ts.
 */
import * as L from "../layout/layout";

// @inline
function dot(a: v128, b: v128): f32 {
  const c = f32x4.mul(a, b);
  return f32x4.extract_lane(c, 0) + f32x4.extract_lane(c, 1) + f32x4.extract_lane(c, 2);
}

// @inline
function cross(a: v128, b: v128): v128 {
  const ayzx = v128.shuffle<f32>(a, a, 1, 2, 0, 3);
  const byzx = v128.shuffle<f32>(b, b, 1, 2, 0, 3);
  const c = f32x4.sub(f32x4.mul(a, byzx), f32x4.mul(ayzx, b));
  return v128.shuffle<f32>(c, c, 1, 2, 0, 3);
}

/** f of p cycles: 16 t (1/2 - t) in the first half, its negative in the second; from -1 to 1. */
// @inline
function wave(p: f32): f32 {
  const t: f32 = p - floor<f32>(p);
  return t < 0.5 ? 16 * t * (<f32>0.5 - t) : -16 * (t - <f32>0.5) * (<f32>1 - t);
}

/** Returns u at a triangle's center, m/s; the fourth lane is unused. */
function airAt(center: v128): v128 {
  const wind = <usize>load<u32>(L.HEADER, L.H_WIND);
  let u = v128.load(wind, L.WIND_VELOCITY);
  let mode = wind + L.WIND_MODES;
  for (let n = load<i32>(wind, L.WIND_MODE_COUNT); n > 0; n--, mode += L.WIND_MODE_BYTES) {
    const f = wave(dot(center, v128.load(mode)) + load<f32>(mode, L.WIND_MODE_PHASE));
    u = f32x4.add(u, f32x4.mul(f32x4.splat(f), v128.load(mode, L.WIND_MODE_SWING)));
  }
  return u;
}

/** Computes a third of the force on each of the triangles begin .. end. @param rows address of the first */
export function windForces(rows: usize, begin: i32, end: i32): void {
  const wind = <usize>load<u32>(L.HEADER, L.H_WIND);
  const drag = load<f32>(wind, L.WIND_DRAG);
  const lift = load<f32>(wind, L.WIND_LIFT);
  const toV = <usize>load<u32>(L.HEADER, L.H_V) - <usize>load<u32>(L.HEADER, L.H_X);
  const third = f32x4.splat(<f32>1 / 3);
  const anew = load<i32>(L.HEADER, L.H_SUBSTEP) === 0;
  let row = rows + <usize>begin * L.WIND_TRIANGLE_BYTES;
  for (let t = begin; t < end; t++, row += L.WIND_TRIANGLE_BYTES) {
    const p = <usize>load<u32>(row);
    const q = <usize>load<u32>(row, 4);
    const r = <usize>load<u32>(row, 8);
    const x0 = v128.load(p);
    const x1 = v128.load(q);
    const x2 = v128.load(r);
    if (anew) {
      const center = f32x4.mul(third, f32x4.add(x0, f32x4.add(x1, x2)));
      const u = f32x4.add(airAt(center), v128.load(row, L.WIND_TRIANGLE_FLOW));
      v128.store(row, f32x4.replace_lane(u, 3, load<f32>(row, L.WIND_TRIANGLE_REACH)), L.WIND_TRIANGLE_AIR);
    }
    const v = f32x4.mul(third, f32x4.add(v128.load(p + toV), f32x4.add(v128.load(q + toV), v128.load(r + toV))));
    const w = f32x4.sub(v128.load(row, L.WIND_TRIANGLE_AIR), v);
    // 2 A n
    const N = cross(f32x4.sub(x1, x0), f32x4.sub(x2, x0));
    const s = dot(w, N);
    const speed = sqrt<f32>(dot(w, w));
    const length = sqrt<f32>(dot(N, N));
    if (!(length > 0 && speed > 0) || (s >= 0 && load<i32>(row, L.WIND_TRIANGLE_CLOSED))) {
      v128.store(row, f32x4.splat(0), L.WIND_TRIANGLE_FORCE);
      continue;
    }
    // here s includes the factor 2 A, and n = N/|N|
    const across: f32 = (lift * s) / (2 * length);
    const along: f32 = 0.5 * drag * abs<f32>(s) - (across * s) / speed;
    const F = f32x4.add(f32x4.mul(f32x4.splat(along), w), f32x4.mul(f32x4.splat(across * speed), N));
    const lightest = max<f32>(load<f32>(p, 12), max<f32>(load<f32>(q, 12), load<f32>(r, 12)));
    // change of the lightest corner's velocity by the force in a substep, over |w|
    const change: f32 = (sqrt<f32>(dot(F, F)) * load<f32>(row, L.WIND_TRIANGLE_REACH) * lightest) / speed;
    const share: f32 = change > 0.5 ? <f32>0.5 / change : 1;
    v128.store(row, f32x4.mul(F, f32x4.splat(share * (<f32>1 / 3))), L.WIND_TRIANGLE_FORCE);
  }
}

/** Sets the acceleration of particles begin .. end: gravity and loads plus the air's force over the mass. */
export function windAccelerations(rows: usize, begin: i32, end: i32): void {
  const X = <usize>load<u32>(L.HEADER, L.H_X);
  const toAcc = <usize>load<u32>(L.HEADER, L.H_ACC) - X;
  const toBase = <usize>load<u32>(<usize>load<u32>(L.HEADER, L.H_WIND), L.WIND_BASE) - X;
  let row = rows + <usize>begin * L.WIND_PARTICLE_BYTES;
  for (let n = begin; n < end; n++, row += L.WIND_PARTICLE_BYTES) {
    const at = <usize>load<u32>(row, L.WIND_PARTICLE_ADDRESS);
    let incidence = <usize>load<u32>(row, L.WIND_PARTICLE_FIRST);
    let F = f32x4.splat(0);
    for (let k = load<i32>(row, L.WIND_PARTICLE_COUNT); k > 0; k--, incidence += 4)
      F = f32x4.add(F, v128.load(<usize>load<u32>(incidence), L.WIND_TRIANGLE_FORCE));
    const a = f32x4.add(v128.load(at + toBase), f32x4.mul(f32x4.splat(load<f32>(at, 12)), F));
    v128.store(at + toAcc, f32x4.replace_lane(a, 3, load<f32>(at + toAcc, 12)));
  }
}
