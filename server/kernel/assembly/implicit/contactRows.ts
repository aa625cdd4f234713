/**
 * Makes the rows of contact of an implicit step (contacts.ts) from the near pairs of the exact contact. A row has the
 * pair's particles, weights and normal, and the gap and friction that it kept from the step before.
 */
import * as L from "../layout/layout";
import { nearOf } from "../contact/prepare/blockStatus";
import { gather } from "../contact/solve/contactLanes";
import { b0, b1, b2, b3, loadDirections, nx, ny, nz, slide2Of, slides, turnAlong } from "../contact/solve/contactSlide";
import { RISE } from "../colliders/collide";
import { listFull } from "../contact/prepare/listMemory";
import { bodyOf } from "../state/owners";
import { along, pushAt } from "./contacts";
import { indexKept, keptOf, together } from "./keptPairs";

/** Stiffness of a pair at zero depth, relative to IMPLICIT_STIFFNESS of the particles. */
const STIFFNESS: f64 = 1;
/** Largest slip of sticking friction, as a part of the gap ROW_REST, times the coefficient. */
const YIELDS: f64 = 0.05;

/**
 * Adds rows for near pairs of implicit bodies. If a body's share of them is full, its other pairs are left to the exact
 * check, and bodies beside it keep their own. @param h s
 */
export function findContacts(h: f64): void {
  store<i32>(together(), 0, L.TOGETHER_ROW_COUNT);
  const bodies = <usize>load<u32>(together(), L.TOGETHER_LIST);
  for (let n = 0; n < load<i32>(together(), L.TOGETHER_COUNT); n++)
    store<i32>(<usize>load<u32>(bodies + ((<usize>n) << 2)), 0, L.IMPLICIT_ROWS);
  indexKept();
  const edges = load<i32>(L.HEADER, L.H_EDGE_CONTACT_BLOCKS);
  const first = load<i32>(L.HEADER, L.H_CONTACT_BLOCK_CAPACITY) - edges;
  findAmong(0, load<i32>(L.HEADER, L.H_VERTEX_CONTACT_BLOCKS), h);
  findAmong(first, first + edges, h);
}

/** Adds rows for near pairs of the blocks begin .. end. */
function findAmong(begin: i32, end: i32, h: f64): void {
  const blocks = <usize>load<u32>(L.HEADER, L.H_CONTACT_BLOCKS);
  for (let n = begin, near = nearOf(begin); n < end; n++, near += 4) {
    if (!(load<i32>(near) & L.NEAR_LANES)) continue;
    const block = blocks + <usize>n * L.CONTACT_BLOCK_BYTES;
    const passed = direct(block);
    for (let k = 0; k < 4; k++) {
      const lane = block + ((<usize>k) << 2);
      if (
        load<i32>(lane, L.CONTACT_BLOCK_NEAR) &&
        load<f32>(lane, L.CONTACT_BLOCK_THICKNESS) > 0 &&
        !(passed & (1 << k))
      )
        addRow(lane, <usize>load<u32>(L.HEADER, L.H_PAIR_SCRATCH) + ((<usize>k) << 2), h);
    }
  }
}

// offsets of a block's directions and weights in the scratch
const DIRECTION: usize = 0;
const WEIGHTS: usize = 48;

/**
 * Directions and weights of a block's pairs -> scratch. Sliding pairs take those at the predicted positions, as in
 * contactSlide.ts: the old directions would brake them at the edges that they slide over.
 * @returns bits of the pairs that pass each other
 */
function direct(block: usize): i32 {
  const toSafe = <usize>load<u32>(L.HEADER, L.H_SAFE) - <usize>load<u32>(L.HEADER, L.H_X);
  const r = v128.load(block, L.CONTACT_BLOCK_THICKNESS);
  gather(block, 0);
  loadDirections(block);
  const slid = v128.and(v128.load(block, L.CONTACT_BLOCK_NEAR), slides(slide2Of(block, toSafe), r));
  const passed = v128.any_true(slid) ? v128.bitmask<i32>(turnAlong(block, slid, toSafe, r)) : 0;
  const to = <usize>load<u32>(L.HEADER, L.H_PAIR_SCRATCH);
  v128.store(to, nx, DIRECTION);
  v128.store(to, ny, DIRECTION + 16);
  v128.store(to, nz, DIRECTION + 32);
  v128.store(to, b0, WEIGHTS);
  v128.store(to, b1, WEIGHTS + 16);
  v128.store(to, b2, WEIGHTS + 32);
  v128.store(to, b3, WEIGHTS + 48);
  return passed;
}

/** Adds a row for a lane. @param directions the pair's in the scratch */
function addRow(lane: usize, directions: usize, h: f64): void {
  const count = load<i32>(together(), L.TOGETHER_ROW_COUNT);
  const body = firstImplicit(lane);
  if (!body) return;
  const ofBody = load<i32>(body, L.IMPLICIT_ROWS);
  if (ofBody >= load<i32>(body, L.IMPLICIT_MOST_ROWS)) {
    if (ofBody === load<i32>(body, L.IMPLICIT_MOST_ROWS)) noteFull(body);
    return;
  }
  const row = <usize>load<u32>(together(), L.TOGETHER_ROWS) + <usize>count * L.ROW_BYTES;
  memory.fill(row, 0, L.ROW_BYTES);
  const x = <f64>load<f32>(directions, DIRECTION);
  const y = <f64>load<f32>(directions, DIRECTION + 16);
  const z = <f64>load<f32>(directions, DIRECTION + 32);
  const size = sqrt<f64>(x * x + y * y + z * z);
  if (!(size > 0)) return;
  store<f64>(row, x / size, L.ROW_NORMAL);
  store<f64>(row, y / size, L.ROW_NORMAL + 8);
  store<f64>(row, z / size, L.ROW_NORMAL + 16);
  for (let k: usize = 0; k < 4; k++)
    store<f64>(row + (k << 3), <f64>load<f32>(directions + (k << 4), WEIGHTS), L.ROW_WEIGHT);
  const W = addParticles(row, lane, h);
  if (!(W > 0)) return;
  store<f64>(row, -along(row, row + L.ROW_SLIP), L.ROW_APPROACH);
  store<f64>(row, STIFFNESS / W, L.ROW_STIFFNESS);
  store<f64>(row, resting(row, h), L.ROW_RESTING);
  store<f64>(row, <f64>load<f32>(lane, L.CONTACT_BLOCK_STATIC), L.ROW_STATIC);
  store<f64>(row, <f64>load<f32>(lane, L.CONTACT_BLOCK_DYNAMIC), L.ROW_DYNAMIC);
  store<f64>(row, <f64>load<f32>(lane, L.CONTACT_BLOCK_THICKNESS), L.ROW_THICKNESS);
  recall(row, h);
  store<i32>(body, ofBody + 1, L.IMPLICIT_ROWS);
  store<i32>(together(), count + 1, L.TOGETHER_ROW_COUNT);
}

/** Returns the IMPLICIT row of a lane's first free particle of an implicit body; 0: it has none. */
function firstImplicit(lane: usize): usize {
  for (let k: usize = 0; k < 64; k += 16) {
    const particle = <usize>load<u32>(lane + k);
    const body = load<f32>(particle, 12) > 0 ? implicitRow(particle) : 0;
    if (body) return body;
  }
  return 0;
}

/** Records, once a step, that a body's share of the rows is full. */
function noteFull(body: usize): void {
  store<i32>(body, load<i32>(body, L.IMPLICIT_ROWS) + 1, L.IMPLICIT_ROWS);
  store<u32>(L.HEADER, load<u32>(L.HEADER, L.H_COUNT_FULL) + 1, L.H_COUNT_FULL);
  listFull(L.LIST_IMPLICIT);
}

/**
 * Adds the particles of a row, and its weighted sums. @returns sum b^2/A of the implicit bodies' particles, m/N; 0: it
 * has none
 */
function addParticles(row: usize, lane: usize, h: f64): f64 {
  const toSafe = <usize>load<u32>(L.HEADER, L.H_SAFE) - <usize>load<u32>(L.HEADER, L.H_X);
  let W: f64 = 0;
  store<i32>(row, 1, L.ROW_BETWEEN);
  for (let k: usize = 0; k < 4; k++) {
    const particle = <usize>load<u32>(lane + (k << 4));
    const b = load<f64>(row + (k << 3), L.ROW_WEIGHT);
    const w = <f64>load<f32>(particle, 12);
    store<u32>(row + (k << 2), <u32>particle, L.ROW_PARTICLES);
    const body = w > 0 ? implicitRow(particle) : 0;
    if (!body) {
      if (b !== 0) store<i32>(row, 0, L.ROW_BETWEEN);
      for (let r: usize = 0; r < 3; r++) {
        const x = <f64>load<f32>(particle + (r << 2));
        const S = <f64>load<f32>(particle + toSafe + (r << 2));
        add(row + L.ROW_FIXED + (r << 3), b * x);
        add(row + L.ROW_HERE + (r << 3), b * x);
        add(row + L.ROW_START + (r << 3), b * S);
        add(row + L.ROW_SLIP + (r << 3), b * (x - S));
      }
      continue;
    }
    W +=
      (b * b) /
      load<f64>(
        <usize>load<u32>(body, L.IMPLICIT_STIFFNESS) + ((particle - <usize>load<u32>(body, L.IMPLICIT_FIRST)) >> 1),
      );
    if (!load<u32>(row, L.ROW_BODY)) store<u32>(row, <u32>body, L.ROW_BODY);
    store<u32>(row, <u32>body, L.ROW_OTHER);
    const vector = 24 * <usize>load<i32>(body, L.IMPLICIT_COUNT);
    const at = 24 * ((particle - <usize>load<u32>(body, L.IMPLICIT_FIRST)) >> 4);
    const x = <usize>load<u32>(body, L.IMPLICIT_STATE) + at;
    store<u32>(row + (k << 2), <u32>(<usize>load<u32>(body, L.IMPLICIT_WORK) + at), L.ROW_ENTRY);
    store<u32>(row + (k << 2), <u32>vector, L.ROW_STRIDE);
    for (let r: usize = 0; r < 24; r += 8) {
      add(row + L.ROW_HERE + r, b * load<f64>(x + r));
      add(row + L.ROW_START + r, b * load<f64>(x + r));
      add(row + L.ROW_SLIP + r, b * h * load<f64>(x + vector + r));
    }
  }
  return W;
}

// @inline
function add(at: usize, value: f64): void {
  store<f64>(at, load<f64>(at) + value);
}

/** IMPLICIT row of the body that owns a particle; 0: none. */
function implicitRow(particle: usize): usize {
  const body = bodyOf(particle);
  const first = <usize>load<u32>(body, L.BODY_FIRST);
  if (particle < first || particle >= first + ((<usize>load<i32>(body, L.BODY_COUNT)) << 4)) return 0;
  const row = <usize>load<u32>(body, L.BODY_IMPLICIT);
  // bodies moved by a method have 1
  return row > 1 ? row : 0;
}

/** Sets gap and friction of a row: the values kept from the step before, or initial values for a new pair. */
function recall(row: usize, h: f64): void {
  const r = load<f64>(row, L.ROW_THICKNESS);
  const here = along(row, row + L.ROW_HERE);
  const kept = keptOf(row);
  const rest = kept ? <f64>load<f32>(kept, L.KEPT_REST) : 0;
  store<f64>(row, kept ? min<f64>(r, abs<f64>(rest) + <f64>RISE * h * r) : min<f64>(r, here), L.ROW_REST);
  store<f64>(row, kept ? pushAt(row, load<f64>(row, L.ROW_REST) - here) : 0, L.ROW_PUSH);
  const hold = max<f64>(
    load<f64>(row, L.ROW_STIFFNESS),
    load<f64>(row, L.ROW_PUSH) / (YIELDS * load<f64>(row, L.ROW_REST)),
  );
  store<f64>(row, hold, L.ROW_HOLD);
  if (kept) recallFriction(row, kept, hold);
  noteGlide(row);
}

function recallFriction(row: usize, kept: usize, hold: f64): void {
  const rest = load<f32>(kept, L.KEPT_REST);
  store<i32>(row, rest < 0 ? 1 : 0, L.ROW_SLID);
  let lift: f64 = 0;
  for (let k: usize = 0; k < 3; k++)
    lift += <f64>load<f32>(kept + (k << 2), L.KEPT_SHEAR) * load<f64>(row + (k << 3), L.ROW_NORMAL);
  for (let k: usize = 0; k < 3; k++) {
    const force = <f64>load<f32>(kept + (k << 2), L.KEPT_SHEAR) - lift * load<f64>(row + (k << 3), L.ROW_NORMAL);
    store<f64>(row + (k << 3), force / hold, L.ROW_SHEAR);
  }
}

/** Computes the slip that v alone would make, with the elastic part so far. */
function noteGlide(row: usize): void {
  const lift = along(row, row + L.ROW_SLIP);
  let sum: f64 = 0;
  for (let k: usize = 0; k < 24; k += 8) {
    const glide =
      load<f64>(row + k, L.ROW_SHEAR) + (load<f64>(row + k, L.ROW_SLIP) - lift * load<f64>(row + k, L.ROW_NORMAL));
    store<f64>(row + k, glide, L.ROW_GLIDE);
    sum += glide * glide;
  }
  store<f64>(row, sqrt<f64>(sum), L.ROW_REACH);
}

/** Returns the displacement that the largest external acceleration of its particles makes in two steps, m. */
function resting(row: usize, h: f64): f64 {
  const toAcc = <usize>load<u32>(L.HEADER, L.H_ACC) - <usize>load<u32>(L.HEADER, L.H_X);
  let most: f64 = 0;
  for (let k: usize = 0; k < 16; k += 4) {
    const at = <usize>load<u32>(row + k, L.ROW_PARTICLES) + toAcc;
    const x = <f64>load<f32>(at);
    const y = <f64>load<f32>(at, 4);
    const z = <f64>load<f32>(at, 8);
    most = max<f64>(most, x * x + y * y + z * z);
  }
  return 2 * h * h * sqrt<f64>(most);
}
