/**
 * Material damping of compliant bodies (Kelvin and Voigt): each elastic constraint has a dashpot, which resists the
 * rate of the same strain, S = C tau deps/dt with the same moduli and the material's retardation time tau. By implicit
 * Euler over a substep that began with the strain eps_0
 *   h^2 S = C (eps - eps_0) tau h
 * it is one more compliant constraint, around eps_0 and with h/tau of the elastic compliance. This file stores the
 * strain at the end of a substep, when all particles have moved; the next substep begins with it. The elastic
 * constraint's own code solves it (tetrahedron.ts, triangle.ts, bending.ts). Neither Green's strain nor K x in the
 * stencil's frame changes in a rigid motion, so dashpots take no energy from one.
 *
 * All dashpots come before the elastic constraints. In that order each only takes from the relative motion of its
 * particles, whatever the number of iterations. A part q tau/h of the damping is then missing, q as in
 * sim/scene/chooseSolvers.ts.
 * Tried, on a beam of 1e6 Pa with a tau of 10 ms: dashpots after the elastic constraints (swings itself up by 37 % of
 * critical damping); one constraint for both, around tau/(h + tau) eps_0 with h/(h + tau) of the compliance (the
 * elastic stress lacks as much as the viscous one: 0.53 of the frequency). Rates from displacements in the substep need
 * no memory, but lose the low words (math/lanes.ts).
 */
import * as L from "../layout/layout";
import { between, dot3, madd, mul, sub, toLow, xs, ys, zs } from "../math/lanes";
import { nx, ny, nz, turnFrame, ux, uy, uz, vx, vy, vz } from "./stencilFrame";

// the last edge of four constraints
let ex: v128 = f32x4.splat(0);
let ey: v128 = f32x4.splat(0);
let ez: v128 = f32x4.splat(0);

/** Four particles minus four others, at the addresses stored at `from` and `to`. */
function edge(from: usize, to: usize): void {
  const low = toLow;
  const a = between(<usize>load<u32>(from, 0), <usize>load<u32>(to, 0), low);
  const b = between(<usize>load<u32>(from, 4), <usize>load<u32>(to, 4), low);
  const c = between(<usize>load<u32>(from, 8), <usize>load<u32>(to, 8), low);
  const d = between(<usize>load<u32>(from, 12), <usize>load<u32>(to, 12), low);
  ex = xs(a, b, c, d);
  ey = ys(a, b, c, d);
  ez = zs(a, b, c, d);
}

/** Stores the strains of tetrahedra, nothing else. @param block address of the first of `count` blocks */
export function keepTetrahedra(block: usize, count: i32): void {
  const half = f32x4.splat(0.5);
  const one = f32x4.splat(1);
  for (let n = 0; n < count; n++, block += L.TET_PLASTIC_BYTES) {
    edge(block + 48, block);
    const ax = ex;
    const ay = ey;
    const az = ez;
    edge(block + 48, block + 16);
    const bx = ex;
    const by = ey;
    const bz = ez;
    edge(block + 48, block + 32);
    const m00 = v128.load(block, L.TET_DM);
    const m01 = v128.load(block, L.TET_DM + 16);
    const m02 = v128.load(block, L.TET_DM + 32);
    const m10 = v128.load(block, L.TET_DM + 48);
    const m11 = v128.load(block, L.TET_DM + 64);
    const m12 = v128.load(block, L.TET_DM + 80);
    const m20 = v128.load(block, L.TET_DM + 96);
    const m21 = v128.load(block, L.TET_DM + 112);
    const m22 = v128.load(block, L.TET_DM + 128);
    const f00 = dot3(ax, m00, bx, m10, ex, m20);
    const f01 = dot3(ax, m01, bx, m11, ex, m21);
    const f02 = dot3(ax, m02, bx, m12, ex, m22);
    const f10 = dot3(ay, m00, by, m10, ey, m20);
    const f11 = dot3(ay, m01, by, m11, ey, m21);
    const f12 = dot3(ay, m02, by, m12, ey, m22);
    const f20 = dot3(az, m00, bz, m10, ez, m20);
    const f21 = dot3(az, m01, bz, m11, ez, m21);
    const f22 = dot3(az, m02, bz, m12, ez, m22);
    v128.store(block, mul(half, sub(dot3(f00, f00, f10, f10, f20, f20), one)), L.TET_PLASTIC_STRAIN);
    v128.store(block, mul(half, sub(dot3(f01, f01, f11, f11, f21, f21), one)), L.TET_PLASTIC_STRAIN + 16);
    v128.store(block, mul(half, sub(dot3(f02, f02, f12, f12, f22, f22), one)), L.TET_PLASTIC_STRAIN + 32);
    v128.store(block, dot3(f01, f02, f11, f12, f21, f22), L.TET_PLASTIC_STRAIN + 48);
    v128.store(block, dot3(f00, f02, f10, f12, f20, f22), L.TET_PLASTIC_STRAIN + 64);
    v128.store(block, dot3(f00, f01, f10, f11, f20, f21), L.TET_PLASTIC_STRAIN + 80);
  }
}

/** Stores the strains of triangles. */
export function keepTriangles(block: usize, count: i32): void {
  const half = f32x4.splat(0.5);
  const one = f32x4.splat(1);
  for (let n = 0; n < count; n++, block += L.TRI_DASHPOT_BYTES) {
    edge(block + 32, block);
    const ax = ex;
    const ay = ey;
    const az = ez;
    edge(block + 32, block + 16);
    const m00 = v128.load(block, L.TRI_DM);
    const m01 = v128.load(block, L.TRI_DM + 16);
    const m10 = v128.load(block, L.TRI_DM + 32);
    const m11 = v128.load(block, L.TRI_DM + 48);
    const fx0 = madd(ax, m00, mul(ex, m10));
    const fy0 = madd(ay, m00, mul(ey, m10));
    const fz0 = madd(az, m00, mul(ez, m10));
    const fx1 = madd(ax, m01, mul(ex, m11));
    const fy1 = madd(ay, m01, mul(ey, m11));
    const fz1 = madd(az, m01, mul(ez, m11));
    v128.store(block, mul(half, sub(dot3(fx0, fx0, fy0, fy0, fz0, fz0), one)), L.TRI_PAST);
    v128.store(block, mul(half, sub(dot3(fx1, fx1, fy1, fy1, fz1, fz1), one)), L.TRI_PAST + 16);
    v128.store(block, dot3(fx0, fx1, fy0, fy1, fz0, fz1), L.TRI_PAST + 32);
  }
}

/** Stores K x of bending stencils, along the unit vectors that turn with them. */
export function keepBends(block: usize, count: i32): void {
  for (let n = 0; n < count; n++, block += L.BEND_DASHPOT_BYTES) {
    edge(block + 32, block + 48);
    const bx = ex;
    const by = ey;
    const bz = ez;
    edge(block, block + 32);
    const px = ex;
    const py = ey;
    const pz = ez;
    edge(block, block + 48);
    const qx = ex;
    const qy = ey;
    const qz = ez;
    edge(block, block + 16);
    const k1 = v128.load(block, L.BEND_K + 16);
    const k2 = v128.load(block, L.BEND_K + 32);
    const k3 = v128.load(block, L.BEND_K + 48);
    const cx = dot3(k1, ex, k2, px, k3, qx);
    const cy = dot3(k1, ey, k2, py, k3, qy);
    const cz = dot3(k1, ez, k2, pz, k3, qz);
    turnFrame(ex, ey, ez, bx, by, bz);
    v128.store(block, dot3(ux, cx, uy, cy, uz, cz), L.BEND_PAST);
    v128.store(block, dot3(vx, cx, vy, cy, vz, cz), L.BEND_PAST + 16);
    v128.store(block, dot3(nx, cx, ny, cy, nz, cz), L.BEND_PAST + 32);
  }
}
