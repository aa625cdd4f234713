/**
 * Converts meters to integers and back: the only lossy step of the codec.
 *
 * All later steps are exact, and the encoder predicts from the same integers as the decoder. So the error of a streamed
 * position never exceeds half a quantum (plus the rounding of float32), for any length of the chain.
 */
import { COORDINATE_LIMIT, SnapshotError } from "./format.ts";
import type { SnapshotModel } from "./model.ts";

/**
 * n = floor(x / quantum + 0.5) per coordinate, in binary64. Values beyond +-COORDINATE_LIMIT (and infinities) saturate;
 * NaN becomes 0.
 *
 * @param model
 * @param positions float32[3*total] m, in
 * @param quanta float64[bodies] m per grid step, in
 * @param out int32[3*total] grid units, out
 * @returns number of saturated or NaN coordinates: a nonzero number means that the simulation has failed
 * @throws SnapshotError for a wrong length or a quantum that is not positive
 */
export function quantizeInto(
  model: SnapshotModel,
  positions: Float32Array,
  quanta: ArrayLike<number>,
  out: Int32Array,
): number {
  checkArguments(model, positions, quanta, out);
  let bad = 0;
  for (let body = 0; body < quanta.length; body++) {
    const quantum = quanta[body];
    const end = 3 * model.starts[body + 1];
    for (let i = 3 * model.starts[body]; i < end; i++) {
      const n = Math.floor(positions[i] / quantum + 0.5);
      if (n >= -COORDINATE_LIMIT && n <= COORDINATE_LIMIT) {
        out[i] = n;
      } else {
        out[i] = n > 0 ? COORDINATE_LIMIT : n < 0 ? -COORDINATE_LIMIT : 0;
        bad++;
      }
    }
  }
  return bad;
}

/**
 * x = n * quantum, rounded to float32.
 *
 * @param model
 * @param frame int32[3*total] grid units, in
 * @param quanta float64[bodies] m per grid step, in
 * @param out float32[3*total] m, out
 * @throws SnapshotError for a wrong length or a quantum that is not positive
 */
export function dequantizeInto(
  model: SnapshotModel,
  frame: Int32Array,
  quanta: ArrayLike<number>,
  out: Float32Array,
): void {
  checkArguments(model, out, quanta, frame);
  for (let body = 0; body < quanta.length; body++) {
    const quantum = quanta[body];
    const end = 3 * model.starts[body + 1];
    for (let i = 3 * model.starts[body]; i < end; i++) out[i] = frame[i] * quantum;
  }
}

function checkArguments(
  model: SnapshotModel,
  positions: Float32Array,
  quanta: ArrayLike<number>,
  frame: Int32Array,
): void {
  const bodies = model.starts.length - 1;
  if (quanta.length !== bodies)
    throw new SnapshotError(`quanta has ${quanta.length} entries, the model has ${bodies} bodies`);
  for (let body = 0; body < bodies; body++) {
    if (!(quanta[body] > 0 && quanta[body] < Infinity))
      throw new SnapshotError(`quanta[${body}] is ${quanta[body]}, must be a positive length in m`);
  }
  if (positions.length !== 3 * model.total)
    throw new SnapshotError(`positions has ${positions.length} numbers, must be ${3 * model.total}`);
  if (frame.length !== 3 * model.total)
    throw new SnapshotError(`frame has ${frame.length} integers, must be ${3 * model.total}`);
}
