/**
 * Copies a row of the front (rows.ts) into a lane of a block: particles, directions, coefficients, and the corners
 * that it owns. Pairs that touch from the start, or that are tangled, are left out.
 */
import * as L from "../../layout/layout";
import { clearStatus, numberOfBlock, NEVER, playsOf } from "./blockStatus";

/** Least distance that contact guarantees, as a part of the pair's thickness. */
export const KEEP: f32 = 0.125;
/**
 * The same for thin surfaces, as a part of the longest sides: eight times the rounding of the check in float32
 * (contactCheck.ts, 2^-21), while edges are no more than twice as long as at rest. Balls have no thickness.
 */
const ROUNDED: f32 = 7.62939453125e-6; // 2^-17
/**
 * Thickness of edge pairs relative to vertex pairs. If two smooth sheets lie on each other, vertices carry all load,
 * and edges act only between them.
 */
export const EDGE_SHARE: f32 = 0.65;
/** Returns whether the pair gets no contact: it is tangled, or touches from the start. */
export function leftOut(row: usize, vertex: bool): bool {
  return (
    (tangled(row, vertex, <usize>load<u32>(L.HEADER, L.H_X), <usize>load<u32>(L.HEADER, L.H_MARKS)) &&
      !(vertex && inFront(row))) ||
    !(load<f32>(row, L.PAIR_GAP) > 0)
  );
}

/**
 * Returns whether the surfaces of a row are tangled, and each of its primitives has a tangled particle. The outer side
 * of such primitives is unknown until they have parted.
 */
function tangled(row: usize, vertex: bool, X: usize, marks: usize): bool {
  const a = mark(row, 0, X, marks);
  const b = mark(row, 4, X, marks);
  const c = mark(row, 8, X, marks);
  const d = mark(row, 12, X, marks);
  return (
    ((vertex ? a & (b | c | d) : (a | b) & (c | d)) & L.MARK_INTERSECTING) !== 0 &&
    marked(load<u32>(row, L.PAIR_SURFACES))
  );
}

/**
 * Returns whether a vertex is on the outer side of a closed surface's triangle. Such a pair stays in contact beside an
 * intersection, so that parted surfaces do not fall back.
 */
function inFront(row: usize): bool {
  const surface =
    <usize>load<u32>(L.HEADER, L.H_SURFACE) + <usize>(load<u32>(row, L.PAIR_SURFACES) & 0xffff) * L.SURFACE_BYTES;
  if (load<i32>(surface, L.SURFACE_SOLID) === L.SOLID_CLOTH) return false;
  const a = <usize>load<u32>(row, 4);
  const b = <usize>load<u32>(row, 8);
  const c = <usize>load<u32>(row, 12);
  const ax: f64 = load<f32>(a);
  const ay: f64 = load<f32>(a, 4);
  const az: f64 = load<f32>(a, 8);
  const ux = <f64>load<f32>(b) - ax;
  const uy = <f64>load<f32>(b, 4) - ay;
  const uz = <f64>load<f32>(b, 8) - az;
  const vx = <f64>load<f32>(c) - ax;
  const vy = <f64>load<f32>(c, 4) - ay;
  const vz = <f64>load<f32>(c, 8) - az;
  const nx: f64 = load<f32>(row, L.PAIR_NORMAL);
  const ny: f64 = load<f32>(row, L.PAIR_NORMAL + 4);
  const nz: f64 = load<f32>(row, L.PAIR_NORMAL + 8);
  const x = uy * vz - uz * vy;
  const y = uz * vx - ux * vz;
  const z = ux * vy - uy * vx;
  const along = x * nx + y * ny + z * nz;
  return along > 0 && along * along > 0.5 * (x * x + y * y + z * z);
}

/**
 * @param both numbers of the surfaces, first << 16 | second
 * @returns whether contact is off between their tangled particles
 */
function marked(both: u32): bool {
  const surface = <usize>load<u32>(L.HEADER, L.H_SURFACE) + <usize>(both >> 16) * L.SURFACE_BYTES;
  return load<u8>(<usize>load<u32>(surface, L.SURFACE_MEETS) + <usize>(both & 0xffff)) === L.MEETS_MARKED;
}

// @inline
function mark(row: usize, k: usize, X: usize, marks: usize): i32 {
  return load<u16>(marks + (((<usize>load<u32>(row + k) - X) >> 4) << 1));
}

/** Resets four lanes: they refer to the dummies and are never near, never bad. */
export function clearBlock(block: usize): void {
  const dummies = load<i32>(L.HEADER, L.H_DUMMIES);
  const zero = f32x4.splat(0);
  const never = f32x4.splat(NEVER);
  v128.store(block, i32x4.splat(dummies));
  v128.store(block, i32x4.splat(dummies + 16), 16);
  v128.store(block, i32x4.splat(dummies + 32), 32);
  v128.store(block, i32x4.splat(dummies + 48), 48);
  clearStatus(numberOfBlock(block));
  for (let row: usize = 64; row < <usize>L.CONTACT_BLOCK_BYTES; row += 16) v128.store(block + row, zero);
  v128.store(block, never, L.CONTACT_BLOCK_KEEP);
  v128.store(block, never, L.CONTACT_BLOCK_THICKNESS);
}

/** Returns the longest side of a surface at rest, m. */
// @inline
export function longest(surface: usize): f32 {
  return max<f32>(
    load<f32>(<usize>load<u32>(surface, L.SURFACE_TRIANGLE_TREE), L.TREE_LONGEST),
    load<f32>(<usize>load<u32>(surface, L.SURFACE_EDGE_TREE), L.TREE_LONGEST),
  );
}

/** Returns the least distance of a pair, m. @param r thickness, m */
// @inline
function leastDistance(A: usize, B: usize, r: f32): f32 {
  return max<f32>(KEEP * r, ROUNDED * (longest(A) + longest(B)));
}

/** Copies a row's particles, directions and coefficients into a lane. */
export function fillLane(lane: usize, row: usize, vertex: bool): void {
  for (let k = 0; k < 4; k++) store<u32>(lane + ((<usize>k) << 4), load<u32>(row + ((<usize>k) << 2)));
  store<f32>(lane, load<f32>(row, L.PAIR_NORMAL), L.CONTACT_BLOCK_NORMAL);
  store<f32>(lane, load<f32>(row, L.PAIR_NORMAL + 4), L.CONTACT_BLOCK_NORMAL + 16);
  store<f32>(lane, load<f32>(row, L.PAIR_NORMAL + 8), L.CONTACT_BLOCK_NORMAL + 32);
  const surfaces = <usize>load<u32>(L.HEADER, L.H_SURFACE);
  const both = load<u32>(row, L.PAIR_SURFACES);
  const A = surfaces + <usize>(both >> 16) * L.SURFACE_BYTES;
  const B = surfaces + <usize>(both & 0xffff) * L.SURFACE_BYTES;
  const r = load<f32>(row, L.PAIR_THICKNESS);
  // a vertex in front of an intersection is pushed, but not held there: the parts behind it must come out
  store<f32>(
    lane,
    tangled(row, vertex, <usize>load<u32>(L.HEADER, L.H_X), <usize>load<u32>(L.HEADER, L.H_MARKS))
      ? NEVER
      : leastDistance(A, B, r),
    L.CONTACT_BLOCK_KEEP,
  );
  store<f32>(lane, othersSolve(A, B, vertex) ? NEVER : vertex ? r : EDGE_SHARE * r, L.CONTACT_BLOCK_THICKNESS);
  store<f32>(lane, load<f32>(row, L.PAIR_GAP), L.CONTACT_BLOCK_GAP);
  store<f32>(lane, load<f32>(A, L.SURFACE_STATIC) * load<f32>(B, L.SURFACE_STATIC), L.CONTACT_BLOCK_STATIC);
  store<f32>(lane, load<f32>(A, L.SURFACE_DYNAMIC) * load<f32>(B, L.SURFACE_DYNAMIC), L.CONTACT_BLOCK_DYNAMIC);
  store<f32>(lane, load<f32>(A, L.SURFACE_RESTITUTION) * load<f32>(B, L.SURFACE_RESTITUTION), L.CONTACT_BLOCK_BOUNCE);
  store<i32>(lane, vertex ? owned(row) : 0, L.CONTACT_BLOCK_OWNS);
  store<f32>(lane, playsOf(load<f32>(A, L.SURFACE_RADIUS), load<f32>(B, L.SURFACE_RADIUS)), L.CONTACT_BLOCK_PLAY);
  for (let row: usize = 0; row < 48; row += 16) store<f32>(lane + row, 0, L.CONTACT_BLOCK_PUSH);
  store<i32>(lane, 0, L.CONTACT_BLOCK_NEAR);
  store<i32>(lane, 0, L.CONTACT_BLOCK_BAD);
}

/**
 * Returns bits of the corners that this pair owns: its triangle owns the corner, and the vertex has the lower address.
 */
function owned(row: usize): i32 {
  const X = <usize>load<u32>(L.HEADER, L.H_X);
  const owners = <usize>load<u32>(L.HEADER, L.H_OWNERS);
  const p = load<u32>(row);
  let bits = 0;
  for (let k: usize = 1; k < 4; k++) {
    const corner = load<u32>(row + (k << 2));
    const other = load<u32>(row + ((k === 3 ? 1 : k + 1) << 2));
    const owner = load<u32>(owners + ((<usize>corner - X) >> 2));
    // of the triangles around a corner, only one has its owner as the next corner
    if (p < corner && owner === other) bits |= 1 << (<i32>(k - 1));
  }
  return bits;
}

/**
 * Returns whether the pair is only verified here. Balls are solved as spheres (balls.ts), and particles by a collider's
 * own shape if it has one (collide.ts).
 */
function othersSolve(A: usize, B: usize, vertex: bool): bool {
  const a = load<i32>(A, L.SURFACE_SOLID);
  const b = load<i32>(B, L.SURFACE_SOLID);
  if (a === L.SOLID_BALL || b === L.SOLID_BALL) return b !== L.SOLID_COLLIDER && a !== L.SOLID_COLLIDER;
  const shape = load<i32>(B, L.SURFACE_SHAPED);
  return (vertex && shape !== 0) || shape === L.SHAPED_SMOOTH || load<i32>(A, L.SURFACE_SHAPED) === L.SHAPED_SMOOTH;
}
