/**
 * Preconditioner of an implicit body: z = R L^-T D^-1 L^-1 R^T r with the factor of its matrix at rest
 * (sim/implicit/factor.ts) in float32, and the rotations R of its particles (none for a sheet): the matrix at rest,
 * turned with the body (Mueller et al. 2002, stiffness warping). A column is a particle, one lane for each coordinate;
 * solids have blocks of three columns, sheets groups of columns (prefactored/backSolve.ts). Twin:
 * sim/reference/implicit/precondition.ts.
 */
import * as L from "../layout/layout";
import { roundedAt } from "../math/vectors";
import { cofactor, determinant } from "../math/matrix3";
import { backSolve } from "../prefactored/backSolve";
import { deform, e0, e1, e2, z0, z1, z2 } from "./solids";

/**
 * Most Newton iterations for a polar decomposition, each of which doubles the digits; squared change that ends them.
 */
const POLAR_STEPS: i32 = 12;
const POLAR_DONE: f64 = 1e-12;
/** Least determinant, over that of its size, at which a mean deformation has a meaningful rotation. */
const FLAT: f64 = 1e-3;

/**
 * Computes rotations of a solid's particles: polar parts of the mean deformation of their elements, weighted by volume.
 * @param x a vector
 */
export function turnParticles(row: usize, x: usize): void {
  const R = <usize>load<u32>(row, L.IMPLICIT_ROTATIONS);
  const count = load<i32>(row, L.IMPLICIT_COUNT);
  if (!R) return;
  memory.fill(R, 0, <usize>count * 72);
  let tet = <usize>load<u32>(row, L.IMPLICIT_TETS);
  for (let n = load<i32>(row, L.IMPLICIT_TET_COUNT); n > 0; n--, tet += L.IMPLICIT_TET_BYTES) addDeformation(tet, x, R);
  for (let i = 0; i < count; i++) polarPart(R + <usize>i * 72);
}

/** Adds V F to the sums of the four corners: nine numbers, row by row. */
function addDeformation(tet: usize, x: usize, R: usize): void {
  deform(x, tet);
  const volume = f64x2.splat(load<f64>(tet, L.IMPLICIT_TET_VOLUME));
  const a = f64x2.mul(volume, v128.shuffle<f64>(e0, e1, 0, 2));
  const b = f64x2.mul(volume, v128.shuffle<f64>(e2, e0, 0, 3));
  const c = f64x2.mul(volume, v128.shuffle<f64>(e1, e2, 1, 3));
  const d = f64x2.mul(volume, f64x2.replace_lane(f64x2.splat(z0), 1, z1));
  const e = load<f64>(tet, L.IMPLICIT_TET_VOLUME) * z2;
  for (let corner: usize = 0; corner < 16; corner += 4) {
    // a particle's offset in a vector is 24 bytes, in the rotations 72
    const to = R + 3 * <usize>load<u32>(tet + corner);
    v128.store(to, f64x2.add(v128.load(to), a));
    v128.store(to, f64x2.add(v128.load(to, 16), b), 16);
    v128.store(to, f64x2.add(v128.load(to, 32), c), 32);
    v128.store(to, f64x2.add(v128.load(to, 48), d), 48);
    store<f64>(to, load<f64>(to, 64) + e, 64);
  }
}

/**
 * Polar part in place, by Higham's Newton iteration X = (X + X^-T)/2 from X over its size; the identity if the
 * deformation is too flat.
 */
function polarPart(at: usize): void {
  let squares: f64 = 0;
  for (let k: usize = 0; k < 72; k += 8) squares += load<f64>(at + k) * load<f64>(at + k);
  const scale = 1 / sqrt<f64>(squares / 3);
  for (let k: usize = 0; k < 72; k += 8) store<f64>(at + k, load<f64>(at + k) * scale);
  if (determinant(at) > FLAT) {
    for (let step = 0; step < POLAR_STEPS; step++) if (polarStep(at) < POLAR_DONE) break;
  } else {
    memory.fill(at, 0, 72);
    for (let k: usize = 0; k < 72; k += 32) store<f64>(at + k, 1);
  }
}

/** X = (X + X^-T)/2. @returns squared change */
function polarStep(at: usize): f64 {
  const inverse = 0.5 / determinant(at);
  const a = 0.5 * load<f64>(at) + inverse * cofactor(at, 32, 64, 40, 56);
  const b = 0.5 * load<f64>(at, 8) + inverse * cofactor(at, 40, 48, 24, 64);
  const c = 0.5 * load<f64>(at, 16) + inverse * cofactor(at, 24, 56, 32, 48);
  const d = 0.5 * load<f64>(at, 24) + inverse * cofactor(at, 16, 56, 8, 64);
  const e = 0.5 * load<f64>(at, 32) + inverse * cofactor(at, 0, 64, 16, 48);
  const g = 0.5 * load<f64>(at, 40) + inverse * cofactor(at, 8, 48, 0, 56);
  const h = 0.5 * load<f64>(at, 48) + inverse * cofactor(at, 8, 40, 16, 32);
  const i = 0.5 * load<f64>(at, 56) + inverse * cofactor(at, 16, 24, 0, 40);
  const j = 0.5 * load<f64>(at, 64) + inverse * cofactor(at, 0, 32, 8, 24);
  return (
    exchange(at, a) +
    exchange(at + 8, b) +
    exchange(at + 16, c) +
    exchange(at + 24, d) +
    exchange(at + 32, e) +
    exchange(at + 40, g) +
    exchange(at + 48, h) +
    exchange(at + 56, i) +
    exchange(at + 64, j)
  );
}

/** Stores a value. @returns squared change */
// @inline
function exchange(at: usize, value: f64): f64 {
  const change = value - load<f64>(at);
  store<f64>(at, value);
  return change * change;
}

/** Preconditions r, both vectors; entries of fixed particles in z stay as they are. */
export function precondition(row: usize, r: usize, z: usize): void {
  const R = <usize>load<u32>(row, L.IMPLICIT_ROTATIONS);
  const columns = load<i32>(row, L.IMPLICIT_COLUMNS);
  const order = <usize>load<u32>(row, L.IMPLICIT_ORDER);
  const y = <usize>load<u32>(row, L.IMPLICIT_SOLVED);
  for (let k = 0; k < columns; k++) {
    const p = <usize>load<u32>(order + ((<usize>k) << 2));
    const from = r + p;
    const to = y + ((<usize>k) << 4);
    if (R) {
      const a = load<f64>(from);
      const b = load<f64>(from, 8);
      const c = load<f64>(from, 16);
      const q = R + 3 * p;
      store<f32>(to, <f32>(load<f64>(q) * a + load<f64>(q, 24) * b + load<f64>(q, 48) * c));
      store<f32>(to, <f32>(load<f64>(q, 8) * a + load<f64>(q, 32) * b + load<f64>(q, 56) * c), 4);
      store<f32>(to, <f32>(load<f64>(q, 16) * a + load<f64>(q, 40) * b + load<f64>(q, 64) * c), 8);
    } else {
      v128.store(to, roundedAt(from));
    }
  }
  if (R) solveBlocks(row, columns, y);
  else backSolve(row + L.IMPLICIT_FACTOR, y);
  for (let k = 0; k < columns; k++) {
    const p = <usize>load<u32>(order + ((<usize>k) << 2));
    const to = z + p;
    const from = y + ((<usize>k) << 4);
    if (R) {
      const a = <f64>load<f32>(from);
      const b = <f64>load<f32>(from, 4);
      const c = <f64>load<f32>(from, 8);
      const q = R + 3 * p;
      store<f64>(to, load<f64>(q) * a + load<f64>(q, 8) * b + load<f64>(q, 16) * c);
      store<f64>(to, load<f64>(q, 24) * a + load<f64>(q, 32) * b + load<f64>(q, 40) * c, 8);
      store<f64>(to, load<f64>(q, 48) * a + load<f64>(q, 56) * b + load<f64>(q, 64) * c, 16);
    } else {
      v128.store(to, f64x2.promote_low_f32x4(v128.load(from)));
      store<f64>(to, <f64>load<f32>(from, 8), 16);
    }
  }
}

function solveBlocks(row: usize, columns: i32, y: usize): void {
  const start = <usize>load<u32>(row, L.IMPLICIT_START);
  const rows = <usize>load<u32>(row, L.IMPLICIT_ENTRY_ROWS);
  const entries = <usize>load<u32>(row, L.IMPLICIT_ENTRIES);
  const diagonal = <usize>load<u32>(row, L.IMPLICIT_DIAGONAL);
  for (let k = 0; k < columns; k++) {
    const here = y + ((<usize>k) << 4);
    const a = v128.load32_splat(here);
    const b = v128.load32_splat(here, 4);
    const c = v128.load32_splat(here, 8);
    const end = load<i32>(start + ((<usize>k) << 2), 4);
    for (let p = load<i32>(start + ((<usize>k) << 2)); p < end; p++) {
      const at = y + <usize>load<u32>(rows + ((<usize>p) << 2));
      const block = entries + <usize>p * 36;
      v128.store(
        at,
        f32x4.sub(
          f32x4.sub(f32x4.sub(v128.load(at), f32x4.mul(v128.load(block), a)), f32x4.mul(v128.load(block, 12), b)),
          f32x4.mul(v128.load(block, 24), c),
        ),
      );
    }
  }
  for (let k = columns - 1; k >= 0; k--) {
    const here = y + ((<usize>k) << 4);
    const inverse = diagonal + <usize>k * 36;
    const end = load<i32>(start + ((<usize>k) << 2), 4);
    const solved = f32x4.add(
      f32x4.add(
        f32x4.mul(v128.load(inverse), v128.load32_splat(here)),
        f32x4.mul(v128.load(inverse, 12), v128.load32_splat(here, 4)),
      ),
      f32x4.mul(v128.load(inverse, 24), v128.load32_splat(here, 8)),
    );
    // L^T's part: sums by lanes of the rows' three numbers, which are added at the end
    let a = f32x4.splat(0);
    let b = a;
    let c = a;
    for (let p = load<i32>(start + ((<usize>k) << 2)); p < end; p++) {
      const there = v128.load(y + <usize>load<u32>(rows + ((<usize>p) << 2)));
      const block = entries + <usize>p * 36;
      a = f32x4.add(a, f32x4.mul(v128.load(block), there));
      b = f32x4.add(b, f32x4.mul(v128.load(block, 12), there));
      c = f32x4.add(c, f32x4.mul(v128.load(block, 24), there));
    }
    store<f32>(here, f32x4.extract_lane(solved, 0) - sumOf(a));
    store<f32>(here, f32x4.extract_lane(solved, 1) - sumOf(b), 4);
    store<f32>(here, f32x4.extract_lane(solved, 2) - sumOf(c), 8);
  }
}

/** Returns the sum of the first three lanes. */
// @inline
function sumOf(a: v128): f32 {
  return f32x4.extract_lane(a, 0) + f32x4.extract_lane(a, 1) + f32x4.extract_lane(a, 2);
}
