/**
 * The contact response: resolves violations that the check of a substep found (contactCheck.ts), in three stages
 * (Bridson, Fedkiw & Anderson 2002, sections 7.3 to 7.5):
 *   impulses push pairs apart by their masses, inelastic except for restitution, with friction (impulses.ts). Then
 *   their neighbors are examined. ROUNDS times.
 *   zones      particles of pairs that are still not clear move as one rigid piece: rigidImpactZones.ts
 *   stop       pairs that remain, or exceed the work limit, stay where the substep began, and so do their neighbors
 *              that are then not clear. If these use up the work, too, their groups of bodies stay (heldGroups.ts)
 * Pairs not listed are further apart than this substep's motion (bvttFront.ts). After the last stage every listed pair
 * is clear: S is free of intersections, and stopped particles are at S.
 *
 * An impulse along n, from the closest points at S, gives n . sum b x = min(r, gap at S): it undoes the approach of the
 * substep, no more. If the pair meets along another direction, n and b are those shortly before the time of impact. If
 * it does not meet but ends too near, n and b are those of x. Velocities change by the response's displacements over h.
 *
 * Nearly all time goes into neighbors: some hundred pairs a particle and round. Each is examined at most once a round,
 * first by its last separating direction. A pair is skipped while its spare distance exceeds the paths of its
 * particles.
 */
import * as L from "../../layout/layout";
import { dotXyz } from "../../math/lanes";
import { badOf, isFar, putNearBits, quietOf } from "../prepare/blockStatus";
import { AHEAD, NEAR, checkContacts, farSpare } from "./contactCheck";
import {
  CLEAR,
  closest,
  examine,
  laneOf,
  lookAt,
  slack,
  particle0,
  particle1,
  particle2,
  particle3,
  nx,
  ny,
  nz,
  b0,
  b1,
  b2,
  b3,
  gap,
  weighted,
} from "./contactPair";
import {
  addRound,
  change,
  changedCount,
  changedFrom,
  changedParticle,
  endChanges,
  endRound,
  firstOf,
  nextOf,
  pairOf,
  pathsOf,
  roundCount,
  roundParticle,
} from "./movedParticles";
import { mark, marksOf, numberOf, unmark } from "../../state/marks";
import { PRESSED } from "../solve/piles";
import { bodyOf, rigidRow, surfaceAt, surfaceOf } from "../../state/owners";
import { countWork, workAfter, workBeyond, workDone } from "../../state/work";
import { spendWork } from "../../scheduler/clock";
import { beginKeeping, endKeeping, noteChange } from "../../integrate/momentumCorrection";
import { forgetPacked } from "../prepare/rows";
import { countGroups, isOfGroup, takeGroup } from "./heldGroups";
import { leaveColliders } from "../../colliders/leaveColliders";
import { mayBeWithin } from "../../colliders/colliderLanes";
import {
  addRow,
  beginImpulses,
  endImpulses,
  farthestMoved,
  markColliderStopped,
  solveRows,
  takeBack,
} from "./impulses";
import { beginZones, endZones, joinZone, moveZones, sameZone } from "./rigidImpactZones";

/** Counted work of a visited pair, and of an examined one. */
const UNITS_OF_VISIT = 1;
export const UNITS_OF_EXAMINE = 9;
/** Estimated mean work of a pair next to a moved one in a round: all are visited, some are examined. */
const UNITS_OF_NEIGHBOR = 5;
/** Counted work of a block whose pairs are updated alone, and of a pair measured again in float64. */
const UNITS_OF_UPDATE = 12;
const UNITS_OF_FRESHEN = 16;

/** Share of a tick's work limit after which a response only stops pairs that are not clear. */
const SHARE: f32 = 0.25;
/** Share of the limit that stops may use beyond that, in a substep. After it, whole groups of bodies stay at S. */
const SHARE_OF_STOPS: f32 = 1.0 / 16;

/** Rounds of impulses before pairs become a rigid zone; Bridson et al. take "a few". */
const ROUNDS = 8;
const ZONE_ROUNDS = 8;

let queueSize = 0;
let nextSize = 0;
let swapped = false;

// @inline
function queueAt(next: bool, n: i32): usize {
  return (
    <usize>load<u32>(L.HEADER, L.H_QUEUE) +
    ((<usize>((next === swapped ? 0 : load<i32>(L.HEADER, L.H_CONTACT_BLOCK_CAPACITY) << 2) + n)) << 2)
  );
}

// a pair's byte: QUEUED, PUSHED (it has an impulse row), and the number of the round that examined it last
const QUEUED: u8 = 128;
const PUSHED: u8 = 64;
const LOOKS: u8 = 63;
let looks: u8 = 0;
/** Counted work at which responses only stop pairs that are not clear. */
let most = 0;
/** Counted work at which stops go on to whole groups of bodies. */
let mostOfStops = 0;
/** Whether the last stage runs, in which most particles are at S. */
let stops = false;
/** Counted work when the last round began, -1: there was none. */
let begun = -1;
/** Whether a round did not fit into the work. Then nothing but stops follows in this substep. */
let refused = false;
/** Number of the next round of impulses. */
let coming = 0;

// @inline
function flagOf(pair: i32): usize {
  return <usize>load<u32>(L.HEADER, L.H_QUEUED) + <usize>pair;
}

/** Address of a pair's spare distance: it is clear until `pathsOf` exceeds that, m. */
// @inline
function spareOf(pair: i32): usize {
  return <usize>load<u32>(L.HEADER, L.H_SPARE) + ((<usize>pair) << 2);
}

function forgetLooks(): void {
  const edges = load<i32>(L.HEADER, L.H_EDGE_CONTACT_BLOCKS);
  memory.fill(flagOf(0), 0, (<usize>load<i32>(L.HEADER, L.H_VERTEX_CONTACT_BLOCKS)) << 2);
  memory.fill(flagOf((load<i32>(L.HEADER, L.H_CONTACT_BLOCK_CAPACITY) - edges) << 2), 0, (<usize>edges) << 2);
  looks = 0;
}

function enqueue(pair: i32): void {
  const flag = flagOf(pair);
  const is = load<u8>(flag);
  if (is & QUEUED) return;
  store<u8>(flag, is | QUEUED);
  store<i32>(queueAt(true, nextSize), pair);
  nextSize++;
}

/** Makes the next queue the current one. */
function turnQueue(): void {
  swapped = !swapped;
  queueSize = nextSize;
  nextSize = 0;
  for (let n = 0; n < queueSize; n++) {
    const flag = flagOf(load<i32>(queueAt(false, n)));
    store<u8>(flag, load<u8>(flag) & PUSHED);
  }
  if (looks === LOOKS) forgetLooks();
}

// @inline
function tally(counter: usize, by: i32): void {
  store<u32>(L.HEADER + counter, load<u32>(L.HEADER + counter) + by);
}

/**
 * Estimates the work of a visit to all neighbors of the queue's particles. The estimate ends where it exceeds `enough`.
 */
function estimateVisit(enough: i32): i32 {
  let neighbors = 0;
  let pairs = 0;
  for (; pairs < queueSize && neighbors * UNITS_OF_NEIGHBOR <= enough; pairs++) {
    const lane = laneOf(load<i32>(queueAt(false, pairs)));
    for (let k: usize = 0; k < 64; k += 16) {
      const particle = <usize>load<u32>(lane + k);
      const number = numberOf(particle);
      if (marksOf(number) & L.MARK_COUNTED) continue;
      mark(number, L.MARK_COUNTED);
      for (let entry = firstOf(particle); entry; entry = nextOf(entry)) neighbors++;
    }
    spendWork(8);
  }
  for (let n = 0; n < pairs; n++) {
    const lane = laneOf(load<i32>(queueAt(false, n)));
    for (let k: usize = 0; k < 64; k += 16) unmark(numberOf(<usize>load<u32>(lane + k)), L.MARK_COUNTED);
  }
  countWork(neighbors >> 1);
  return neighbors * UNITS_OF_NEIGHBOR;
}

/**
 * Returns whether another round fits into the response's work. Like the last round, it visits all neighbors of moved
 * particles, and so does the last stage after it.
 */
function mayGoOn(): bool {
  const now = workDone();
  if (refused || most === i32.MAX_VALUE) return !refused;
  refused = now + 2 * (begun < 0 ? estimateVisit((most - now) >> 1) : now - begun) >= most;
  begun = now;
  return !refused;
}

/** Grants the responses of this substep their share of the tick's work. */
export function allowResponse(): void {
  most = workAfter(SHARE);
  mostOfStops = workBeyond(most, SHARE_OF_STOPS);
  refused = false;
}

/**
 * Clears every pair that is marked CONTACT_BLOCK_BAD.
 * @returns number of particles moved so far in this substep. The caller then advances the front again; `updateChanged`
 * updates velocities
 */
export function resolveViolations(): i32 {
  forgetLooks();
  coming = 0;
  beginImpulses();
  collectBad();
  if (!queueSize) return 0;
  tally(L.H_COUNT_CHECKS, queueSize);
  begun = -1;
  while (coming < ROUNDS && queueSize && mayGoOn()) {
    pushApart();
    askNeighbors();
    turnQueue();
  }
  endImpulses();
  coming = ROUNDS;
  if (queueSize && !refused) {
    beginZones();
    for (let round = 0; round < ZONE_ROUNDS && queueSize && mayGoOn(); round++) {
      for (let n = 0; n < queueSize; n++) {
        examine(load<i32>(queueAt(false, n)));
        joinZone(particle0, particle1, particle2, particle3);
      }
      moveZones();
      askNeighbors();
      turnQueue();
    }
    endZones();
  }
  stopQueued();
  return changedCount;
}

/** Returns whether the next round of stops does not fit into the work. */
function stopsGroups(): bool {
  if (mostOfStops === i32.MAX_VALUE) return false;
  const left = mostOfStops - workDone();
  return left <= 0 || estimateVisit(left) > left;
}

/** The last stage: stops queued pairs and their neighbors until all are clear. */
function stopQueued(): void {
  stops = true;
  while (queueSize) {
    const groups = stopsGroups();
    if (groups) countGroups();
    for (let n = 0; n < queueSize; n++) {
      if (examine(load<i32>(queueAt(false, n))) === CLEAR) continue;
      stopCorner(particle0, groups);
      stopCorner(particle1, groups);
      stopCorner(particle2, groups);
      stopCorner(particle3, groups);
    }
    // pairs of a stopped group are clear, except with colliders that move
    if (groups && !load<i32>(L.HEADER, L.H_MOTION_COUNT)) endRound();
    else askNeighbors();
    turnQueue();
  }
  stops = false;
}

/** Queues CONTACT_BLOCK_BAD lanes, in list order. Those that float64 finds clear get fresh directions instead. */
function collectBad(): void {
  const capacity = load<i32>(L.HEADER, L.H_CONTACT_BLOCK_CAPACITY);
  nextSize = 0;
  collectFrom(0, load<i32>(L.HEADER, L.H_VERTEX_CONTACT_BLOCKS));
  collectFrom(capacity - load<i32>(L.HEADER, L.H_EDGE_CONTACT_BLOCKS), capacity);
  turnQueue();
}

/** Queues bad lanes of blocks begin .. end. */
function collectFrom(begin: i32, end: i32): void {
  const touches = <usize>load<u32>(L.HEADER, L.H_CONTACT_BLOCKS);
  for (let n = begin, bad = badOf(begin); n < end; n++, bad += 4) {
    if (!load<i32>(bad)) continue;
    const block = touches + <usize>n * L.CONTACT_BLOCK_BYTES;
    for (let lane = 0; lane < 4; lane++) {
      if (!load<i32>(block + ((<usize>lane) << 2), L.CONTACT_BLOCK_BAD)) continue;
      const pair = (n << 2) + lane;
      countWork(UNITS_OF_EXAMINE);
      const answer = examine(pair);
      if (answer === CLEAR) freshen(pair);
      else pushNext(pair, answer);
    }
  }
}

/**
 * Queues the last examined pair for the next round. A round of impulses adds a row. Nothing moves before that round.
 */
function pushNext(pair: i32, answer: i32): void {
  enqueue(pair);
  if (coming >= ROUNDS) return;
  const flag = flagOf(pair);
  const is = load<u8>(flag);
  if (!addRow(pair, answer, coming, (is & PUSHED) !== 0)) return;
  store<u8>(flag, is | PUSHED);
  tally(L.H_COUNT_IMPULSES, 1);
}

/** Solves impulses for the whole queue. */
function pushApart(): void {
  solveRows(coming);
  leave();
  coming = takeBack(farthestMoved()) ? ROUNDS : coming + 1;
  // askNeighbors does not visit pairs whose particles have not moved: queue them again
  for (let n = 0; n < queueSize; n++) {
    const pair = load<i32>(queueAt(false, n));
    const lane = laneOf(pair);
    if (
      moved(load<u32>(lane)) ||
      moved(load<u32>(lane, 16)) ||
      moved(load<u32>(lane, 32)) ||
      moved(load<u32>(lane, 48))
    )
      continue;
    const answer = examine(pair);
    if (answer !== CLEAR) pushNext(pair, answer);
  }
}

// @inline
function moved(particle: u32): bool {
  return (marksOf(numberOf(<usize>particle)) & L.MARK_ROUND) !== 0;
}

/** Queues pairs of this round's particles that are not clear, and ends the round. */
function askNeighbors(): void {
  looks++;
  let visited = 0;
  let examined = 0;
  for (let n = 0; n < roundCount; n++) {
    spendWork(8);
    for (let entry = firstOf(roundParticle(n)); entry; entry = nextOf(entry)) {
      const pair = pairOf(entry);
      visited++;
      const flag = flagOf(pair);
      const is = load<u8>(flag);
      if (is & QUEUED || (is & LOOKS) === looks) continue;
      // its particles cannot have used up its spare distance since it was examined or checked
      const spare = spareOf(pair);
      const lane = laneOf(pair);
      const paths = pathsOf(lane);
      if (is & LOOKS ? load<f32>(spare) > paths : isFar(pair) && farSpare(lane) > paths) continue;
      store<u8>(flag, (is & PUSHED) | looks);
      if (!(load<f32>(lane, L.CONTACT_BLOCK_KEEP) >= 0)) {
        store<f32>(spare, Infinity);
        continue;
      }
      if (stops && isStopped(lane)) continue;
      examined++;
      const answer = examine(pair);
      store<f32>(spare, answer === CLEAR ? slack + paths : -1);
      if (answer !== CLEAR && !sameZone(particle0, particle1, particle2, particle3)) pushNext(pair, answer);
    }
  }
  countWork(UNITS_OF_VISIT * visited + UNITS_OF_EXAMINE * examined);
  endRound();
}

/** Returns whether all particles of a pair are at S, where it is clear. */
function isStopped(lane: usize): bool {
  for (let k: usize = 0; k < 64; k += 16) if (!isAtSafe(<usize>load<u32>(lane + k))) return false;
  return true;
}

/**
 * Stops a particle of a pair or, if `groups`, all bodies of its group, whose pairs are then clear. A rigid body stops
 * as a whole: a ball with single stopped particles crossed itself.
 */
function stopCorner(particle: usize, groups: bool): void {
  const group = groups ? takeGroup(particle) : -1;
  if (group < 0) {
    if (rigidRow(particle) && !isAtSafe(particle)) stopSurface(surfaceOf(particle));
    else stop(particle);
    return;
  }
  for (let n = load<i32>(L.HEADER, L.H_SURFACE_COUNT) - 1; n >= 0; n--)
    if (isOfGroup(n, group)) stopSurface(surfaceAt(n));
}

/** Returns whether a particle is at S. */
function isAtSafe(particle: usize): bool {
  const safe = particle + <usize>load<u32>(L.HEADER, L.H_SAFE) - <usize>load<u32>(L.HEADER, L.H_X);
  return (v128.bitmask<i32>(f32x4.eq(v128.load(particle), v128.load(safe))) & 7) === 7;
}

/** Moves a particle back to S. */
function stop(particle: usize): void {
  const safe = particle + <usize>load<u32>(L.HEADER, L.H_SAFE) - <usize>load<u32>(L.HEADER, L.H_X);
  if (isAtSafe(particle)) return;
  change(particle);
  const from = v128.load(particle);
  store<f32>(particle, load<f32>(safe));
  store<f32>(particle, load<f32>(safe, 4), 4);
  store<f32>(particle, load<f32>(safe, 8), 8);
  addRound(particle, from);
  tally(L.H_COUNT_STOPS, 1);
}

/** Moves every particle of every surface back to S. The last resort, if the lists cannot hold the pairs. */
export function stopAll(): void {
  const surfaces = load<i32>(L.HEADER, L.H_SURFACE_COUNT);
  for (let n = 0; n < surfaces; n++) stopSurface(surfaceAt(n));
  store<i32>(L.HEADER, 0, L.H_LIST_VALID);
}

/** Moves every particle of a surface back to S. */
function stopSurface(surface: usize): void {
  let at = <usize>load<u32>(surface, L.SURFACE_FIRST);
  for (let i = load<i32>(surface, L.SURFACE_COUNT); i > 0; i--, at += 16) stop(at);
}

/** Moves particles out of colliders that this round has pushed them into. */
function leave(): void {
  if (!load<i32>(L.HEADER, L.H_COLLIDER_COUNT)) return;
  const last = roundCount - 1;
  for (let n = 0; n <= last; n += 4) {
    const may = mayBeWithin(
      roundParticle(n),
      roundParticle(min<i32>(n + 1, last)),
      roundParticle(min<i32>(n + 2, last)),
      roundParticle(min<i32>(n + 3, last)),
    );
    for (let k = n; k <= last && k < n + 4; k++) {
      const particle = roundParticle(k);
      if (!((may >> (k - n)) & 1) || load<f32>(particle, 12) === 0) continue;
      if (leaveColliders(particle)) markColliderStopped(particle);
    }
  }
}

/**
 * Returns the motion of a particle by the response that makes a velocity. Where it takes back a displacement without a
 * velocity (xPrev - S: older depth in a ball, say), it makes none either. Otherwise corners of a fold between a ball
 * and the floor gained 3 m/s in every substep, and shook the ball. Rooms with intersections keep these kicks: they help
 * bodies apart. So do implicit bodies, whose xPrev is the end of their step.
 * @param from address of its position before the response
 */
function motionOf(particle: usize, from: usize): v128 {
  const X = <usize>load<u32>(L.HEADER, L.H_X);
  const prev = v128.load(particle + <usize>load<u32>(L.HEADER, L.H_XPREV) - X);
  const still = f32x4.sub(prev, v128.load(particle + <usize>load<u32>(L.HEADER, L.H_START) - X));
  const moved = f32x4.sub(v128.load(particle), v128.load(from));
  const far = dotXyz(still, still);
  if (!(far > 0) || load<i32>(L.HEADER, L.H_RESOLUTION) || load<i32>(bodyOf(particle), L.BODY_IMPLICIT)) return moved;
  const undone = min<f32>(1, max<f32>(0, -dotXyz(moved, still) / far));
  return f32x4.add(moved, f32x4.mul(f32x4.splat(undone), still));
}

/**
 * Updates velocities of moved particles, and directions, weights and gaps of their pairs. Ends the substep's changes.
 * @param h s
 */
export function updateChanged(h: f32): void {
  const toV = <usize>load<u32>(L.HEADER, L.H_V) - <usize>load<u32>(L.HEADER, L.H_X);
  if (load<i32>(L.HEADER, L.H_LIST_VALID)) forgetLooks();
  beginKeeping();
  for (let n = 0; n < changedCount; n++) {
    const particle = changedParticle(n);
    const from = changedFrom(n);
    const v = particle + toV;
    if (load<f32>(particle, 12) === 0) continue;
    const scale: f32 = 1 / (h * (1 + h * load<f32>(v, 12)));
    const vx: f64 = load<f32>(v);
    const vy: f64 = load<f32>(v, 4);
    const vz: f64 = load<f32>(v, 8);
    const way = f32x4.mul(f32x4.splat(scale), motionOf(particle, from));
    v128.store(v, f32x4.add(v128.load(v), f32x4.replace_lane(way, 3, 0)));
    noteChange(particle, from, vx, vy, vz);
    if (!load<i32>(L.HEADER, L.H_LIST_VALID)) continue;
    for (let entry = firstOf(particle); entry; entry = nextOf(entry)) freshenBlock(pairOf(entry) >> 2);
  }
  endKeeping();
  endChanges();
}

/**
 * Updates directions, weights and gaps at x of a block's pairs, once: as the check does, and in float64 for pairs that
 * it cannot clear.
 */
function freshenBlock(n: i32): void {
  const block = <usize>load<u32>(L.HEADER, L.H_CONTACT_BLOCKS) + <usize>n * L.CONTACT_BLOCK_BYTES;
  const flag = <usize>load<u32>(L.HEADER, L.H_QUEUED) + ((<usize>n) << 2);
  if (load<u32>(flag)) return;
  store<u32>(flag, 1);
  store<i32>(quietOf(n), 0);
  spendWork(2);
  countWork(UNITS_OF_UPDATE);
  if (!checkContacts(block, 1, n < load<i32>(L.HEADER, L.H_VERTEX_CONTACT_BLOCKS))) return;
  for (let lane = 0; lane < 4; lane++)
    if (load<i32>(block + ((<usize>lane) << 2), L.CONTACT_BLOCK_BAD)) freshen((n << 2) + lane);
}

/** Updates direction, weights and gap at x for the next substep, which solves the pair if it is near. */
function freshen(pair: i32): void {
  const lane = laneOf(pair);
  countWork(UNITS_OF_FRESHEN);
  lookAt(pair);
  closest(12);
  if (!(gap > 0)) return;
  store<f32>(lane, <f32>nx, L.CONTACT_BLOCK_NORMAL);
  store<f32>(lane, <f32>ny, L.CONTACT_BLOCK_NORMAL + 16);
  store<f32>(lane, <f32>nz, L.CONTACT_BLOCK_NORMAL + 32);
  store<f32>(lane, <f32>b0, L.CONTACT_BLOCK_WEIGHT);
  store<f32>(lane, <f32>b1, L.CONTACT_BLOCK_WEIGHT + 16);
  store<f32>(lane, <f32>b2, L.CONTACT_BLOCK_WEIGHT + 32);
  store<f32>(lane, <f32>b3, L.CONTACT_BLOCK_WEIGHT + 48);
  store<f32>(lane, <f32>gap, L.CONTACT_BLOCK_GAP);
  // as in contactCheck.ts, but without the choice of one pair at a corner
  const r: f64 = load<f32>(lane, L.CONTACT_BLOCK_THICKNESS);
  const before = weighted(0, nx, ny, nz);
  const near = gap < NEAR * r + AHEAD * max<f64>(0, before - gap);
  store<i32>(lane, near ? -1 : 0, L.CONTACT_BLOCK_NEAR);
  store<i32>(lane, 0, L.CONTACT_BLOCK_BAD);
  store<i32>(quietOf(pair >> 2), 0);
  forgetPacked();
  const beside = pair >> 2 < load<i32>(L.HEADER, L.H_VERTEX_CONTACT_BLOCKS) && (b1 === 0 || b2 === 0 || b3 === 0);
  const key = 1 | (gap < PRESSED * r ? 1 << L.NEAR_PRESSED : 0) | (beside ? 1 << L.NEAR_BESIDE : 0);
  putNearBits(pair, near ? key : 0);
  if (!near) for (let row: usize = 0; row < 48; row += 16) store<f32>(lane + row, 0, L.CONTACT_BLOCK_PUSH);
}
