/**
 * The broad phase's list of pairs (pairs.ts), packed into blocks of four by color: pairs of a color share no free
 * particle, so lanes of a block and blocks of a color may be solved side by side, and the result does not depend on who
 * solves them. Greedy, in list order: the smallest color that none of a pair's free particles has yet (a bit mask a
 * particle). Pairs beyond CONTACT_COLORS stand alone in blocks, behind the last color, in list order. Pairs that are
 * near and pairs that are not have colors of their own. Fixed particles (colliders, pins) constrain no color: nothing
 * is written to them.
 */
import {
  HEADER,
  H_X,
  H_PARTICLES,
  H_SURFACE,
  H_PAIRS,
  H_PAIR_CAPACITY,
  H_VERTEX_PAIRS,
  H_EDGE_PAIRS,
  H_CONTACT_BLOCKS,
  H_CONTACT_BLOCK_CAPACITY,
  H_CONTACT_BLOCK_COUNT,
  H_VERTEX_CONTACT_BLOCKS,
  H_EDGE_CONTACT_BLOCKS,
  H_CONTACT_COLORS,
  H_COLOR_MASKS,
  H_DUMMIES,
  H_MARKS,
  H_INCIDENT,
  H_TRAJECTORIES,
  H_LIST_LIFE,
  H_OWNERS,
  PAIR_NORMAL,
  PAIR_GAP,
  PAIR_SURFACES,
  PAIR_THICKNESS,
  PAIR_COLOR,
  PAIR_CORNER,
  PAIR_BYTES,
  SURFACE_SOLID,
  SOLID_CLOTH,
  SOLID_BALL,
  SOLID_COLLIDER,
  SURFACE_SHAPED,
  SHAPED_SMOOTH,
  SURFACE_STATIC,
  SURFACE_DYNAMIC,
  SURFACE_RESTITUTION,
  SURFACE_MEETS,
  MEETS_MARKED,
  SURFACE_BYTES,
  CONTACT_BLOCK_NORMAL,
  CONTACT_BLOCK_KEEP,
  CONTACT_BLOCK_THICKNESS,
  CONTACT_BLOCK_GAP,
  CONTACT_BLOCK_STATIC,
  CONTACT_BLOCK_DYNAMIC,
  CONTACT_BLOCK_BOUNCE,
  CONTACT_BLOCK_OWNS,
  CONTACT_BLOCK_NEAR,
  CONTACT_BLOCK_BAD,
  CONTACT_BLOCK_BYTES,
  CONTACT_COLORS,
  COLOR_ENTRIES,
  MARK_INTERSECTING,
} from "../layout/layout";
import { enchain, firstOf, nextOf, pairOf, unchain } from "./changed";
import { clearStatus, numberOfBlock, paceOf } from "./blockStatus";
import { laneOf } from "./contactPair";

/** Part of its thickness that a pair is kept apart whatever happens. */
const KEEP: f32 = 0.125;
/**
 * Edges answer a little later than vertices: where two smooth sheets lie on each other, vertices carry all, and edges
 * only what is between them.
 */
const EDGE_SHARE: f32 = 0.65;
/** Color of a pair that is left out: tangled, or touching from the start. */
const LEFT_OUT = -1;
/**
 * Nearer than this many thicknesses pairs have blocks of their own: those are solved, and full; the rest is passed
 * over.
 */
const NEAR_ONES: f32 = 1.3;

/** Rows of one kind: first row, and the way to the next. */
// @inline
function rowOf(pairs: usize, capacity: i32, vertex: bool, n: i32): usize {
  return pairs + <usize>(vertex ? n : capacity - 1 - n) * PAIR_BYTES;
}

/** H_PAIRS -> H_CONTACT_BLOCKS, all anew. @returns false if the blocks do not fit */
export function packPairs(): bool {
  memory.fill(<usize>load<u32>(HEADER, H_INCIDENT), 0, (<usize>load<i32>(HEADER, H_PARTICLES)) << 2);
  store<i32>(HEADER, 0, H_VERTEX_CONTACT_BLOCKS);
  store<i32>(HEADER, 0, H_EDGE_CONTACT_BLOCKS);
  return pack(0);
}

/** H_PAIRS -> more of H_CONTACT_BLOCKS: vertex-triangle behind those that there are, edge-edge before them. */
export function packMore(): bool {
  return pack(2 * COLOR_ENTRIES);
}

function pack(table: i32): bool {
  const done =
    packKind(true, load<i32>(HEADER, H_VERTEX_PAIRS), table) &&
    packKind(false, load<i32>(HEADER, H_EDGE_PAIRS), table + COLOR_ENTRIES);
  store<i32>(
    HEADER,
    load<i32>(HEADER, H_VERTEX_CONTACT_BLOCKS) + load<i32>(HEADER, H_EDGE_CONTACT_BLOCKS),
    H_CONTACT_BLOCK_COUNT,
  );
  return done;
}

/** Packs `count` rows. @param table place of its first color in H_CONTACT_COLORS */
function packKind(vertex: bool, count: i32, table: i32): bool {
  const X = <usize>load<u32>(HEADER, H_X);
  const masks = <usize>load<u32>(HEADER, H_COLOR_MASKS);
  const pairs = <usize>load<u32>(HEADER, H_PAIRS);
  const capacity = load<i32>(HEADER, H_PAIR_CAPACITY);
  const starts = <usize>load<u32>(HEADER, H_CONTACT_COLORS) + ((<usize>table) << 2);
  const touches = <usize>load<u32>(HEADER, H_CONTACT_BLOCKS);
  const particles = load<i32>(HEADER, H_PARTICLES);
  const bytes = (<usize>particles) << 4;
  memory.fill(starts, 0, COLOR_ENTRIES << 2);
  for (let n = 0; n < count; n++) {
    const row = rowOf(pairs, capacity, vertex, n);
    if (leftOut(row, vertex)) {
      store<i32>(row, LEFT_OUT, PAIR_COLOR);
      continue;
    }
    const far = !nearOne(row, vertex);
    const ofClass = masks + (far ? bytes : 0);
    let low: u64 = 0;
    let high: u64 = 0;
    for (let k: usize = 0; k < 16; k += 4) {
      const at = <usize>load<u32>(row + k);
      const mask = ofClass + (at - X);
      if (load<f32>(at, 12) !== 0) {
        low |= load<u64>(mask);
        high |= load<u64>(mask, 8);
      }
    }
    // ctz is 64 where all are taken
    const color = ~low ? <i32>ctz<u64>(~low) : 64 + <i32>ctz<u64>(~high);
    if (color < CONTACT_COLORS) {
      const word: usize = (color >> 6) << 3;
      const bit = (<u64>1) << (color & 63);
      for (let k: usize = 0; k < 16; k += 4) {
        const at = <usize>load<u32>(row + k);
        const mask = ofClass + (at - X) + word;
        if (load<f32>(at, 12) !== 0) store<u64>(mask, load<u64>(mask) | bit);
      }
    }
    const entry = (far ? CONTACT_COLORS + 1 : 0) + color;
    store<i32>(row, entry, PAIR_COLOR);
    store<i32>(starts + ((<usize>entry) << 2), load<i32>(starts + ((<usize>entry) << 2)) + 1);
  }
  clearMasks(masks, particles, pairs, capacity, vertex, count);
  const blocks = countBlocks(starts);
  const before = load<i32>(HEADER, H_VERTEX_CONTACT_BLOCKS);
  const behind = load<i32>(HEADER, H_EDGE_CONTACT_BLOCKS);
  const all = load<i32>(HEADER, H_CONTACT_BLOCK_CAPACITY);
  if (before + blocks + behind > all) return false;
  const first = vertex ? before : all - behind - blocks;
  if (vertex) store<i32>(HEADER, before + blocks, H_VERTEX_CONTACT_BLOCKS);
  else store<i32>(HEADER, behind + blocks, H_EDGE_CONTACT_BLOCKS);
  for (let entry = 0; entry < COLOR_ENTRIES; entry++) {
    const at = starts + ((<usize>entry) << 2);
    store<i32>(at, load<i32>(at) + first);
  }
  for (let b = first; b < first + blocks; b++) clearBlock(touches + <usize>b * CONTACT_BLOCK_BYTES);
  // how many have been placed of each color
  const places = <usize>load<u32>(HEADER, H_CONTACT_COLORS) + <usize>(4 * COLOR_ENTRIES * 4);
  memory.fill(places, 0, COLOR_ENTRIES << 2);
  for (let n = 0; n < count; n++) {
    const row = rowOf(pairs, capacity, vertex, n);
    const entry = load<i32>(row, PAIR_COLOR);
    if (entry === LEFT_OUT) continue;
    const place = load<i32>(places + ((<usize>entry) << 2));
    const start = load<i32>(starts + ((<usize>entry) << 2));
    store<i32>(places + ((<usize>entry) << 2), place + 1);
    fill(alone(entry) ? (start + place) << 2 : (start << 2) + place, row, vertex);
  }
  return true;
}

/** Masks are 0 between lists: those of a few rows are cleared one by one. */
function clearMasks(masks: usize, particles: i32, pairs: usize, capacity: i32, vertex: bool, count: i32): void {
  const X = <usize>load<u32>(HEADER, H_X);
  const bytes = (<usize>particles) << 4;
  const zero = i64x2(0, 0);
  if (8 * count > particles) {
    memory.fill(masks, 0, 2 * bytes);
    return;
  }
  for (let n = 0; n < count; n++) {
    const row = rowOf(pairs, capacity, vertex, n);
    for (let k: usize = 0; k < 16; k += 4) {
      const mask = masks + (<usize>load<u32>(row + k) - X);
      v128.store(mask, zero);
      v128.store(mask + bytes, zero);
    }
  }
}

/** Is the pair to be solved as it is now (contactCheck.ts)? */
function nearOne(row: usize, vertex: bool): bool {
  if (!(load<f32>(row, PAIR_GAP) < (vertex ? NEAR_ONES : NEAR_ONES * EDGE_SHARE) * load<f32>(row, PAIR_THICKNESS)))
    return false;
  const corner = load<i32>(row, PAIR_CORNER);
  return !corner || (vertex && ((owned(row) >> (corner - 1)) & 1) !== 0);
}

/** Pairs beyond the last color of their class. */
// @inline
function alone(entry: i32): bool {
  return entry === CONTACT_COLORS || entry === COLOR_ENTRIES - 1;
}

/** Pairs of each color -> blocks before it. @returns blocks of all */
function countBlocks(starts: usize): i32 {
  let blocks = 0;
  for (let entry = 0; entry < COLOR_ENTRIES; entry++) {
    const at = starts + ((<usize>entry) << 2);
    const pairs = load<i32>(at);
    store<i32>(at, blocks);
    blocks += alone(entry) ? pairs : (pairs + 3) >> 2;
  }
  return blocks;
}

/** All pairs of a particle are taken out: their lanes rest. */
export function dropPairs(particle: usize): void {
  const dummies = load<i32>(HEADER, H_DUMMIES);
  for (let entry = firstOf(particle); entry; entry = nextOf(entry)) {
    const lane = laneOf(pairOf(entry));
    for (let k = 0; k < 4; k++) store<i32>(lane + ((<usize>k) << 4), dummies + (k << 4));
    store<f32>(lane, -1e30, CONTACT_BLOCK_KEEP);
    store<f32>(lane, -1e30, CONTACT_BLOCK_THICKNESS);
    store<i32>(lane, 0, CONTACT_BLOCK_NEAR);
    store<i32>(lane, 0, CONTACT_BLOCK_BAD);
  }
  unchain(particle);
}

/** Is the pair to be left alone: tangled, or touching from the start? */
export function leftOut(row: usize, vertex: bool): bool {
  return (
    (tangled(row, vertex, <usize>load<u32>(HEADER, H_X), <usize>load<u32>(HEADER, H_MARKS)) &&
      !(vertex && inFront(row))) ||
    !(load<f32>(row, PAIR_GAP) > 0)
  );
}

/**
 * Both primitives have a tangled particle, of surfaces that are tangled: which side is out cannot be said until they
 * have parted.
 */
function tangled(row: usize, vertex: bool, X: usize, marks: usize): bool {
  const a = mark(row, 0, X, marks);
  const b = mark(row, 4, X, marks);
  const c = mark(row, 8, X, marks);
  const d = mark(row, 12, X, marks);
  return (
    ((vertex ? a & (b | c | d) : (a | b) & (c | d)) & MARK_INTERSECTING) !== 0 && marked(load<u32>(row, PAIR_SURFACES))
  );
}

/**
 * A vertex on the outer side of a closed surface's triangle is where it belongs, whatever goes on beside it: what has
 * parted does not fall back.
 */
function inFront(row: usize): bool {
  const surface = <usize>load<u32>(HEADER, H_SURFACE) + <usize>(load<u32>(row, PAIR_SURFACES) & 0xffff) * SURFACE_BYTES;
  if (load<i32>(surface, SURFACE_SOLID) === SOLID_CLOTH) return false;
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
  const nx: f64 = load<f32>(row, PAIR_NORMAL);
  const ny: f64 = load<f32>(row, PAIR_NORMAL + 4);
  const nz: f64 = load<f32>(row, PAIR_NORMAL + 8);
  const x = uy * vz - uz * vy;
  const y = uz * vx - ux * vz;
  const z = ux * vy - uy * vx;
  const along = x * nx + y * ny + z * nz;
  return along > 0 && along * along > 0.5 * (x * x + y * y + z * z);
}

/** @param both numbers of the surfaces, first << 16 | second */
function marked(both: u32): bool {
  const surface = <usize>load<u32>(HEADER, H_SURFACE) + <usize>(both >> 16) * SURFACE_BYTES;
  return load<u8>(<usize>load<u32>(surface, SURFACE_MEETS) + <usize>(both & 0xffff)) === MEETS_MARKED;
}

// @inline
function mark(row: usize, k: usize, X: usize, marks: usize): i32 {
  return load<u8>(marks + ((<usize>load<u32>(row + k) - X) >> 4));
}

/** Four lanes that rest on the dummies and are never near, never bad. */
export function clearBlock(block: usize): void {
  const dummies = load<i32>(HEADER, H_DUMMIES);
  const zero = f32x4.splat(0);
  const never = f32x4.splat(-1e30);
  v128.store(block, i32x4.splat(dummies));
  v128.store(block, i32x4.splat(dummies + 16), 16);
  v128.store(block, i32x4.splat(dummies + 32), 32);
  v128.store(block, i32x4.splat(dummies + 48), 48);
  clearStatus(numberOfBlock(block));
  for (let row: usize = 64; row < <usize>CONTACT_BLOCK_BYTES; row += 16) v128.store(block + row, zero);
  v128.store(block, never, CONTACT_BLOCK_KEEP);
  v128.store(block, never, CONTACT_BLOCK_THICKNESS);
}

/** A row becomes pair number `pair`: four times its block, plus its lane. */
function fill(pair: i32, row: usize, vertex: bool): void {
  fillLane(laneOf(pair), row, vertex);
  for (let k = 0; k < 4; k++) enchain(pair, k, <usize>load<u32>(row + ((<usize>k) << 2)));
  // of the block: the fastest of its pairs
  const fastest = paceOf(pair >> 2);
  const pace = partingOf(row, vertex) / <f32>load<i32>(HEADER, H_LIST_LIFE);
  store<f32>(fastest, max<f32>(load<f32>(fastest), pace));
}

/** A row's particles, directions and coefficients into a lane. */
export function fillLane(lane: usize, row: usize, vertex: bool): void {
  for (let k = 0; k < 4; k++) store<u32>(lane + ((<usize>k) << 4), load<u32>(row + ((<usize>k) << 2)));
  store<f32>(lane, load<f32>(row, PAIR_NORMAL), CONTACT_BLOCK_NORMAL);
  store<f32>(lane, load<f32>(row, PAIR_NORMAL + 4), CONTACT_BLOCK_NORMAL + 16);
  store<f32>(lane, load<f32>(row, PAIR_NORMAL + 8), CONTACT_BLOCK_NORMAL + 32);
  const surfaces = <usize>load<u32>(HEADER, H_SURFACE);
  const both = load<u32>(row, PAIR_SURFACES);
  const A = surfaces + <usize>(both >> 16) * SURFACE_BYTES;
  const B = surfaces + <usize>(both & 0xffff) * SURFACE_BYTES;
  const r = load<f32>(row, PAIR_THICKNESS);
  // what is in front of a intersection is pushed, but not held there: what is behind it has to come out
  store<f32>(
    lane,
    tangled(row, vertex, <usize>load<u32>(HEADER, H_X), <usize>load<u32>(HEADER, H_MARKS)) ? -1e30 : KEEP * r,
    CONTACT_BLOCK_KEEP,
  );
  store<f32>(lane, othersSolve(A, B, vertex) ? -1e30 : vertex ? r : EDGE_SHARE * r, CONTACT_BLOCK_THICKNESS);
  store<f32>(lane, load<f32>(row, PAIR_GAP), CONTACT_BLOCK_GAP);
  store<f32>(lane, load<f32>(A, SURFACE_STATIC) * load<f32>(B, SURFACE_STATIC), CONTACT_BLOCK_STATIC);
  store<f32>(lane, load<f32>(A, SURFACE_DYNAMIC) * load<f32>(B, SURFACE_DYNAMIC), CONTACT_BLOCK_DYNAMIC);
  store<f32>(lane, load<f32>(A, SURFACE_RESTITUTION) * load<f32>(B, SURFACE_RESTITUTION), CONTACT_BLOCK_BOUNCE);
  if (vertex) store<i32>(lane, owned(row), CONTACT_BLOCK_OWNS);
  store<i32>(lane, 0, CONTACT_BLOCK_NEAR);
  store<i32>(lane, 0, CONTACT_BLOCK_BAD);
}

/** Bits of the corners that this pair answers for: its triangle owns them, and the vertex comes before them. */
function owned(row: usize): i32 {
  const X = <usize>load<u32>(HEADER, H_X);
  const owners = <usize>load<u32>(HEADER, H_OWNERS);
  const p = load<u32>(row);
  let bits = 0;
  for (let k: usize = 1; k < 4; k++) {
    const corner = load<u32>(row + (k << 2));
    const other = load<u32>(row + ((k === 3 ? 1 : k + 1) << 2));
    const owner = load<u32>(owners + ((<usize>corner - X) >> 2));
    // of the triangles around a corner only one has this corner behind it
    if (p < corner && owner === other) bits |= 1 << (<i32>(k - 1));
  }
  return bits;
}

/** How far the trajectories of a pair's primitives part or approach at most, m. */
function partingOf(row: usize, vertex: bool): f32 {
  const to = <usize>load<u32>(HEADER, H_TRAJECTORIES) - <usize>load<u32>(HEADER, H_X);
  const a = v128.load(<usize>load<u32>(row) + to);
  const b = v128.load(<usize>load<u32>(row, 4) + to);
  const c = v128.load(<usize>load<u32>(row, 8) + to);
  const d = v128.load(<usize>load<u32>(row, 12) + to);
  const most = vertex
    ? max<f32>(length2(a, b), max<f32>(length2(a, c), length2(a, d)))
    : max<f32>(max<f32>(length2(a, c), length2(a, d)), max<f32>(length2(b, c), length2(b, d)));
  return Mathf.sqrt(most) * (1 + 1e-5);
}

// @inline
function length2(a: v128, b: v128): f32 {
  const d = f32x4.sub(a, b);
  const dd = f32x4.mul(d, d);
  return f32x4.extract_lane(dd, 0) + f32x4.extract_lane(dd, 1) + f32x4.extract_lane(dd, 2);
}

/**
 * A ball answers as a sphere (balls.ts), particles answer to a collider's own shape (collide.ts) if it has one: such
 * pairs are only verified.
 */
function othersSolve(A: usize, B: usize, vertex: bool): bool {
  const a = load<i32>(A, SURFACE_SOLID);
  const b = load<i32>(B, SURFACE_SOLID);
  if (a === SOLID_BALL || b === SOLID_BALL) return b !== SOLID_COLLIDER && a !== SOLID_COLLIDER;
  const shape = load<i32>(B, SURFACE_SHAPED);
  return (vertex && shape !== 0) || shape === SHAPED_SMOOTH || load<i32>(A, SURFACE_SHAPED) === SHAPED_SMOOTH;
}
