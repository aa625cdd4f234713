/**
 * Filter before exact arithmetic, for pairs of primitives: vertex and triangle, two edges, two triangles. A direction d
 * separates a pair in a frame if all corners of the first are above all corners of the second along d. If one d
 * separates it in every frame of a run, the two do not meet in the run: corners move in straight lines, so a separation
 * at both ends of an interval holds in between. d is guessed (closest.ts). If no guess works, the run is halved, and
 * the remaining pairs go to exact arithmetic. "Apart" is certain; "open" decides nothing.
 *
 * Rounding, with u = 2^-53: positions are float32, so each component of their difference has a relative error of u, and
 * d . difference an error of 4 u sum |d_r difference_r|. Interpolating between two frames and comparing two such values
 * add less than the same amount again. SLACK covers twice the total. The smallest product of float32 differences and
 * such a d is far above float64's smallest number, so no underflow goes unnoticed.
 */
import { corners, direction, middles, nearest, normal } from "./closest.ts";

const SLACK = 2 ** -49;
/**
 * Number of times that the interval between two frames is halved before exact arithmetic. On the drape, with many
 * contacts, 0 took 20 % longer; 2 and 7 took the same time within 5 %.
 */
const HALVINGS = 4;

/** Positions of a run of frames: float32[frames][particles][3], and stride 3 x particles. */
export interface Frames {
  x: Float32Array;
  stride: number;
}

/** Particle indices of the two primitives: a of the first, then b of the second. */
export interface Pieces {
  ids: Uint32Array;
  a: number;
  b: number;
}

export const pieces = (a: number, b: number): Pieces => ({ ids: new Uint32Array(a + b), a, b });

/** Writes the corners at frame + t, t from 0 to 1. */
function place({ x, stride }: Frames, { ids, a, b }: Pieces, frame: number, t: number): void {
  const base = frame * stride;
  for (let i = 0; i < a + b; i++) {
    const from = base + 3 * ids[i]!;
    for (let r = 0; r < 3; r++)
      corners[3 * i + r] = t === 0 ? x[from + r]! : x[from + r]! + t * (x[from + stride + r]! - x[from + r]!);
  }
}

/** Whether `direction` separates the primitives in one frame. */
function partsFrame({ x, stride }: Frames, { ids, a, b }: Pieces, frame: number): boolean {
  const dx = direction[0]!;
  const dy = direction[1]!;
  const dz = direction[2]!;
  const base = frame * stride;
  const origin = base + 3 * ids[a]!;
  const ox = x[origin]!;
  const oy = x[origin + 1]!;
  const oz = x[origin + 2]!;
  let low = Infinity;
  let high = 0;
  let size = 0;
  for (let i = 0; i < a + b; i++) {
    if (i === a) continue;
    const at = base + 3 * ids[i]!;
    const px = dx * (x[at]! - ox);
    const py = dy * (x[at + 1]! - oy);
    const pz = dz * (x[at + 2]! - oz);
    const value = px + py + pz;
    const magnitude = Math.abs(px) + Math.abs(py) + Math.abs(pz);
    if (magnitude > size) size = magnitude;
    if (i < a) {
      if (value < low) low = value;
    } else if (value > high) high = value;
  }
  // written so that NaN never separates
  return low - high > SLACK * size;
}

function partsRun(frames: Frames, pair: Pieces, from: number, to: number): boolean {
  for (let f = from; f <= to; f++) if (!partsFrame(frames, pair, f)) return false;
  return true;
}

/** Whether `direction` separates the primitives from `frame + t0` to `frame + t1`, 0 <= t0 < t1 <= 1. */
function partsBetween({ x, stride }: Frames, { ids, a, b }: Pieces, frame: number, t0: number, t1: number): boolean {
  const dx = direction[0]!;
  const dy = direction[1]!;
  const dz = direction[2]!;
  const base = frame * stride;
  const origin = base + 3 * ids[a]!;
  let low0 = Infinity;
  let low1 = Infinity;
  let high0 = 0;
  let high1 = 0;
  let size = 0;
  for (let i = 0; i < a + b; i++) {
    if (i === a) continue;
    const p = base + 3 * ids[i]!;
    const q = p + stride;
    const o = origin + stride;
    const px = dx * (x[p]! - x[origin]!);
    const py = dy * (x[p + 1]! - x[origin + 1]!);
    const pz = dz * (x[p + 2]! - x[origin + 2]!);
    const qx = dx * (x[q]! - x[o]!);
    const qy = dy * (x[q + 1]! - x[o + 1]!);
    const qz = dz * (x[q + 2]! - x[o + 2]!);
    const first = px + py + pz;
    const last = qx + qy + qz;
    const value0 = first + t0 * (last - first);
    const value1 = first + t1 * (last - first);
    const magnitude = Math.abs(px) + Math.abs(py) + Math.abs(pz) + Math.abs(qx) + Math.abs(qy) + Math.abs(qz);
    if (magnitude > size) size = magnitude;
    if (i < a) {
      if (value0 < low0) low0 = value0;
      if (value1 < low1) low1 = value1;
    } else {
      if (value0 > high0) high0 = value0;
      if (value1 > high1) high1 = value1;
    }
  }
  return low0 - high0 > SLACK * size && low1 - high1 > SLACK * size;
}

/** Tries the guesses for the current corners, cheapest first. */
function guess(a: number, b: number, parts: () => boolean): boolean {
  if (b === 3 && a > 1) {
    middles(a, b);
    if (parts()) return true;
  }
  nearest(a, b);
  if (parts()) return true;
  // for nearly touching primitives, the nearest points are too close to give a direction
  normal(a, b, 3 * a);
  if (parts()) return true;
  if (a < 3) return false;
  normal(a, b, 0);
  return parts();
}

/**
 * Calls `open(f)` for every interval f -> f + 1 between the frames `from` and `to` in which the primitives are not
 * proved apart.
 */
export function openIntervals(
  frames: Frames,
  pair: Pieces,
  from: number,
  to: number,
  open: (frame: number) => void,
): void {
  if (to - from === 1) {
    if (!apartBetween(frames, pair, from, 0, 1, HALVINGS)) open(from);
    return;
  }
  const middle = (from + to) >> 1;
  place(frames, pair, middle, 0);
  if (guess(pair.a, pair.b, () => partsRun(frames, pair, from, to))) return;
  openIntervals(frames, pair, from, middle, open);
  openIntervals(frames, pair, middle, to, open);
}

function apartBetween(frames: Frames, pair: Pieces, frame: number, t0: number, t1: number, halvings: number): boolean {
  const middle = 0.5 * (t0 + t1);
  place(frames, pair, frame, middle);
  if (guess(pair.a, pair.b, () => partsBetween(frames, pair, frame, t0, t1))) return true;
  return (
    halvings > 0 &&
    apartBetween(frames, pair, frame, t0, middle, halvings - 1) &&
    apartBetween(frames, pair, frame, middle, t1, halvings - 1)
  );
}

/**
 * Calls `open(f)` for every frame from `from` to `to`, both included, in which the primitives are not proved apart.
 * Ignores the motion between frames.
 */
export function openFrames(
  frames: Frames,
  pair: Pieces,
  from: number,
  to: number,
  open: (frame: number) => void,
): void {
  const middle = (from + to) >> 1;
  place(frames, pair, middle, 0);
  if (guess(pair.a, pair.b, () => partsRun(frames, pair, from, to))) return;
  if (from === to) return open(from);
  openFrames(frames, pair, from, middle, open);
  openFrames(frames, pair, middle + 1, to, open);
}
