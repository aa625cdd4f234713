/**
 * The broad phase's list of pairs (pairs.ts), packed into blocks of four by color: pairs of a color share no free particle, so lanes of a block
 * and blocks of a color may be solved side by side, and the result does not depend on who solves them. Greedy, in list order: the smallest color
 * that none of a pair's free particles has yet (a bit mask a particle). Pairs beyond TOUCH_COLORS stand alone in blocks, behind the last color, in
 * list order. Fixed particles (colliders, pins) constrain no color: nothing is written to them.
 */
import {
  HEADER, H_X, H_PARTICLES, H_SURFACE, H_PAIRS, H_PAIR_CAPACITY, H_VERTEX_PAIRS, H_EDGE_PAIRS, H_TOUCHES, H_TOUCH_CAPACITY, H_TOUCH_COUNT, H_VERTEX_TOUCHES, H_TOUCH_COLORS, H_COLOR_MASKS, H_DUMMIES, H_MARKS, H_INCIDENT_VALID, H_COURSES, H_LIST_LIFE, H_OWNERS,
  PAIR_NORMAL, PAIR_GAP, PAIR_SURFACES, PAIR_THICKNESS, PAIR_COLOR, PAIR_BYTES, SURFACE_SOLID, SOLID_CLOTH, SOLID_BALL, SOLID_COLLIDER, SURFACE_SHAPED, SURFACE_STATIC, SURFACE_DYNAMIC, SURFACE_RESTITUTION, SURFACE_MEETS, MEETS_MARKED, SURFACE_BYTES,
  TOUCH_NORMAL, TOUCH_KEEP, TOUCH_THICKNESS, TOUCH_GAP, TOUCH_STATIC, TOUCH_DYNAMIC, TOUCH_BOUNCE, TOUCH_OWNS, TOUCH_PACE, TOUCH_BYTES, TOUCH_COLORS, MARK_TANGLED,
} from "./layout";

/** Part of its thickness that a pair is kept apart whatever happens. */
const KEEP: f32 = 0.125;
/** Edges answer a little later than vertices: where two smooth sheets lie on each other, vertices carry all, and edges only what is between them. */
const EDGE_SHARE: f32 = 0.85;
/** Color of a pair that is left out: tangled, or touching from the start. */
const LEFT_OUT = -1;

/** Rows of one kind: first row, and the way to the next. */
@inline function rowOf(pairs: usize, capacity: i32, vertex: bool, n: i32): usize {
  return pairs + <usize>(vertex ? n : capacity - 1 - n) * PAIR_BYTES;
}

/** H_PAIRS -> H_TOUCHES. @returns false if the blocks do not fit */
export function packPairs(): bool {
  store<i32>(HEADER, 0, H_INCIDENT_VALID);
  let blocks = packKind(true, load<i32>(HEADER, H_VERTEX_PAIRS), 0, 0);
  if (blocks < 0) return false;
  store<i32>(HEADER, blocks, H_VERTEX_TOUCHES);
  blocks = packKind(false, load<i32>(HEADER, H_EDGE_PAIRS), blocks, TOUCH_COLORS + 1);
  if (blocks < 0) return false;
  store<i32>(HEADER, blocks, H_TOUCH_COUNT);
  store<i32>(<usize>load<u32>(HEADER, H_TOUCH_COLORS) + <usize>(2 * (TOUCH_COLORS + 1)) * 4, blocks);
  return true;
}

/** Packs `count` rows into blocks from number `first` on. @param table place of its first color in H_TOUCH_COLORS. @returns the number behind its last block, or -1 */
function packKind(vertex: bool, count: i32, first: i32, table: i32): i32 {
  const X = <usize>load<u32>(HEADER, H_X), masks = <usize>load<u32>(HEADER, H_COLOR_MASKS), marks = <usize>load<u32>(HEADER, H_MARKS), pairs = <usize>load<u32>(HEADER, H_PAIRS), capacity = load<i32>(HEADER, H_PAIR_CAPACITY);
  const starts = <usize>load<u32>(HEADER, H_TOUCH_COLORS) + (<usize>table << 2), touches = <usize>load<u32>(HEADER, H_TOUCHES);
  memory.fill(masks, 0, <usize>load<i32>(HEADER, H_PARTICLES) << 4);
  memory.fill(starts, 0, (TOUCH_COLORS + 1) << 2);
  for (let n = 0; n < count; n++) {
    const row = rowOf(pairs, capacity, vertex, n);
    if ((tangled(row, vertex, X, marks) && !(vertex && inFront(row))) || !(load<f32>(row, PAIR_GAP) > 0)) { store<i32>(row, LEFT_OUT, PAIR_COLOR); continue; }
    let low: u64 = 0, high: u64 = 0;
    for (let k: usize = 0; k < 16; k += 4) {
      const at = <usize>load<u32>(row + k), mask = masks + (at - X);
      if (load<f32>(at, 12) != 0) { low |= load<u64>(mask); high |= load<u64>(mask, 8); }
    }
    // ctz is 64 where all are taken
    const color = ~low ? <i32>ctz<u64>(~low) : 64 + <i32>ctz<u64>(~high);
    if (color < TOUCH_COLORS) {
      const word: usize = color >> 6 << 3, bit = <u64>1 << (color & 63);
      for (let k: usize = 0; k < 16; k += 4) {
        const at = <usize>load<u32>(row + k), mask = masks + (at - X) + word;
        if (load<f32>(at, 12) != 0) store<u64>(mask, load<u64>(mask) | bit);
      }
    }
    store<i32>(row, color, PAIR_COLOR);
    store<i32>(starts + (<usize>color << 2), load<i32>(starts + (<usize>color << 2)) + 1);
  }
  // counts -> first blocks; `places` counts the lanes filled of each color
  let block = first;
  for (let c = 0; c <= TOUCH_COLORS; c++) {
    const n = load<i32>(starts + (<usize>c << 2));
    store<i32>(starts + (<usize>c << 2), block);
    block += c < TOUCH_COLORS ? (n + 3) >> 2 : n;
  }
  if (block > load<i32>(HEADER, H_TOUCH_CAPACITY)) return -1;
  for (let b = first; b < block; b++) clearBlock(touches + <usize>b * TOUCH_BYTES);
  // the masks are done with: their first words count what has been placed of each color
  const places = masks;
  memory.fill(places, 0, (TOUCH_COLORS + 1) << 2);
  for (let n = 0; n < count; n++) {
    const row = rowOf(pairs, capacity, vertex, n), color = load<i32>(row, PAIR_COLOR);
    if (color == LEFT_OUT) continue;
    const place = load<i32>(places + (<usize>color << 2)), start = load<i32>(starts + (<usize>color << 2));
    store<i32>(places + (<usize>color << 2), place + 1);
    if (color < TOUCH_COLORS) fill(touches + <usize>(start + (place >> 2)) * TOUCH_BYTES + (<usize>(place & 3) << 2), row, vertex);
    else fill(touches + <usize>(start + place) * TOUCH_BYTES, row, vertex);
  }
  return block;
}

/** Both primitives have a tangled particle, of surfaces that are tangled: which side is out cannot be said until they have parted. */
function tangled(row: usize, vertex: bool, X: usize, marks: usize): bool {
  const a = mark(row, 0, X, marks), b = mark(row, 4, X, marks), c = mark(row, 8, X, marks), d = mark(row, 12, X, marks);
  return ((vertex ? a & (b | c | d) : (a | b) & (c | d)) & MARK_TANGLED) != 0 && marked(load<u32>(row, PAIR_SURFACES));
}

/** A vertex on the outer side of a closed surface's triangle is where it belongs, whatever goes on beside it: what has parted does not fall back. */
function inFront(row: usize): bool {
  const surface = <usize>load<u32>(HEADER, H_SURFACE) + <usize>(load<u32>(row, PAIR_SURFACES) & 0xffff) * SURFACE_BYTES;
  if (load<i32>(surface, SURFACE_SOLID) == SOLID_CLOTH) return false;
  const a = <usize>load<u32>(row, 4), b = <usize>load<u32>(row, 8), c = <usize>load<u32>(row, 12), ax: f64 = load<f32>(a), ay: f64 = load<f32>(a, 4), az: f64 = load<f32>(a, 8);
  const ux = <f64>load<f32>(b) - ax, uy = <f64>load<f32>(b, 4) - ay, uz = <f64>load<f32>(b, 8) - az, vx = <f64>load<f32>(c) - ax, vy = <f64>load<f32>(c, 4) - ay, vz = <f64>load<f32>(c, 8) - az;
  const nx: f64 = load<f32>(row, PAIR_NORMAL), ny: f64 = load<f32>(row, PAIR_NORMAL + 4), nz: f64 = load<f32>(row, PAIR_NORMAL + 8);
  const x = uy * vz - uz * vy, y = uz * vx - ux * vz, z = ux * vy - uy * vx, along = x * nx + y * ny + z * nz;
  return along > 0 && along * along > 0.5 * (x * x + y * y + z * z);
}

/** @param both numbers of the surfaces, first << 16 | second */
function marked(both: u32): bool {
  const surface = <usize>load<u32>(HEADER, H_SURFACE) + <usize>(both >> 16) * SURFACE_BYTES;
  return load<u8>(<usize>load<u32>(surface, SURFACE_MEETS) + <usize>(both & 0xffff)) == MEETS_MARKED;
}

@inline function mark(row: usize, k: usize, X: usize, marks: usize): i32 { return load<u8>(marks + ((<usize>load<u32>(row + k) - X) >> 4)); }

/** Four lanes that rest on the dummies and are never near, never bad. */
function clearBlock(block: usize): void {
  const dummies = load<i32>(HEADER, H_DUMMIES), zero = f32x4.splat(0), never = f32x4.splat(-1e30);
  v128.store(block, i32x4.splat(dummies)); v128.store(block, i32x4.splat(dummies + 16), 16); v128.store(block, i32x4.splat(dummies + 32), 32); v128.store(block, i32x4.splat(dummies + 48), 48);
  for (let row: usize = 64; row < <usize>TOUCH_BYTES; row += 16) v128.store(block + row, zero);
  v128.store(block, never, TOUCH_KEEP); v128.store(block, never, TOUCH_THICKNESS);
}

/** @param lane address of the block plus four times the lane */
function fill(lane: usize, row: usize, vertex: bool): void {
  for (let k: usize = 0; k < 16; k += 4) store<u32>(lane + (k << 2), load<u32>(row + k));
  store<f32>(lane, load<f32>(row, PAIR_NORMAL), TOUCH_NORMAL); store<f32>(lane, load<f32>(row, PAIR_NORMAL + 4), TOUCH_NORMAL + 16); store<f32>(lane, load<f32>(row, PAIR_NORMAL + 8), TOUCH_NORMAL + 32);
  const surfaces = <usize>load<u32>(HEADER, H_SURFACE), both = load<u32>(row, PAIR_SURFACES), A = surfaces + <usize>(both >> 16) * SURFACE_BYTES, B = surfaces + <usize>(both & 0xffff) * SURFACE_BYTES;
  const r = load<f32>(row, PAIR_THICKNESS);
  // what is in front of a tangle is pushed, but not held there: what is behind it has to come out
  store<f32>(lane, tangled(row, vertex, <usize>load<u32>(HEADER, H_X), <usize>load<u32>(HEADER, H_MARKS)) ? -1e30 : KEEP * r, TOUCH_KEEP);
  store<f32>(lane, othersSolve(A, B, vertex) ? -1e30 : vertex ? r : EDGE_SHARE * r, TOUCH_THICKNESS);
  store<f32>(lane, load<f32>(row, PAIR_GAP), TOUCH_GAP);
  store<f32>(lane, load<f32>(A, SURFACE_STATIC) * load<f32>(B, SURFACE_STATIC), TOUCH_STATIC);
  store<f32>(lane, load<f32>(A, SURFACE_DYNAMIC) * load<f32>(B, SURFACE_DYNAMIC), TOUCH_DYNAMIC);
  store<f32>(lane, load<f32>(A, SURFACE_RESTITUTION) * load<f32>(B, SURFACE_RESTITUTION), TOUCH_BOUNCE);
  if (vertex) store<i32>(lane, owned(row), TOUCH_OWNS);
  // of the block: the fastest of its pairs
  const block = lane & ~15, pace = partingOf(row, vertex) / <f32>load<i32>(HEADER, H_LIST_LIFE);
  store<f32>(block, max<f32>(load<f32>(block, TOUCH_PACE), pace), TOUCH_PACE);
}

/** Bits of the corners that this pair answers for: its triangle owns them, and the vertex comes before them. */
function owned(row: usize): i32 {
  const X = <usize>load<u32>(HEADER, H_X), owners = <usize>load<u32>(HEADER, H_OWNERS), p = load<u32>(row);
  let bits = 0;
  for (let k: usize = 1; k < 4; k++) {
    const corner = load<u32>(row + (k << 2)), other = load<u32>(row + ((k == 3 ? 1 : k + 1) << 2)), owner = load<u32>(owners + ((<usize>corner - X) >> 2));
    // of the triangles around a corner only one has this corner behind it
    if (p < corner && owner == other) bits |= 1 << <i32>(k - 1);
  }
  return bits;
}

/** How far the courses of a pair's primitives part or approach at most, m. */
function partingOf(row: usize, vertex: bool): f32 {
  const to = <usize>load<u32>(HEADER, H_COURSES) - <usize>load<u32>(HEADER, H_X);
  const a = v128.load(<usize>load<u32>(row) + to), b = v128.load(<usize>load<u32>(row, 4) + to), c = v128.load(<usize>load<u32>(row, 8) + to), d = v128.load(<usize>load<u32>(row, 12) + to);
  const most = vertex ? max<f32>(length2(a, b), max<f32>(length2(a, c), length2(a, d))) : max<f32>(max<f32>(length2(a, c), length2(a, d)), max<f32>(length2(b, c), length2(b, d)));
  return Mathf.sqrt(most) * (1 + 1e-5);
}

@inline function length2(a: v128, b: v128): f32 {
  const d = f32x4.sub(a, b), dd = f32x4.mul(d, d);
  return f32x4.extract_lane(dd, 0) + f32x4.extract_lane(dd, 1) + f32x4.extract_lane(dd, 2);
}

/** A ball answers as a sphere (balls.ts), particles answer to a collider's own shape (collide.ts) if it has one: such pairs are only verified. */
function othersSolve(A: usize, B: usize, vertex: bool): bool {
  const a = load<i32>(A, SURFACE_SOLID), b = load<i32>(B, SURFACE_SOLID);
  if (a == SOLID_BALL || b == SOLID_BALL) return b != SOLID_COLLIDER && a != SOLID_COLLIDER;
  return vertex && load<i32>(B, SURFACE_SHAPED) != 0;
}
