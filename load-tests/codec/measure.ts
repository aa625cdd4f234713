/**
 * Encodes and decodes a trajectory as a room and its clients would, checks every frame, and measures bytes and time, in
 * comparison with general compressors.
 */
import { constants, deflateRawSync, zstdCompressSync } from "node:zlib";
import {
  createSnapshotModel,
  decodeDelta,
  decodeKeyframe,
  encodeDelta,
  encodeKeyframe,
  quantizeInto,
} from "../../shared/snapshot/index.ts";
import type { Trajectory } from "./trajectory.ts";

export interface PhaseFigures {
  phase: string;
  frames: number;
  bytesPerParticle: number;
  worstFrame: number;
  kbps: number;
  encodeMs: number;
  decodeMs: number;
  /**
   * zlib and zstd at level 1, on byte planes of each displacement minus that of the particle before: bytes per
   * particle, and encoding time.
   */
  zlibBytesPerParticle: number;
  zstdBytesPerParticle: number;
  zstdMs: number;
}

export interface Figures {
  name: string;
  particles: number;
  modelMs: number;
  keyframeBytesPerParticle: number;
  keyframeEncodeMs: number;
  /**
   * "all", "moving" (mean displacement of at least half a grid step per coordinate and frame), "settling" (the others)
   * and the trajectory's own phases.
   */
  phases: PhaseFigures[];
}

interface FrameFigures {
  bytes: number;
  encodeMs: number;
  decodeMs: number;
  moving: boolean;
  zlibBytes: number;
  zstdBytes: number;
  zstdMs: number;
}

/**
 * Input of the general compressors: low bytes, then high bytes, of the differences between neighbors in the list, signs
 * folded.
 */
function planes(previous: Int32Array, current: Int32Array): Uint8Array {
  const n = current.length;
  const out = new Uint8Array(2 * n);
  for (let i = 0; i < n; i++) {
    const d = current[i]! - previous[i]! - (i >= 3 ? current[i - 3]! - previous[i - 3]! : 0);
    const folded = (d << 1) ^ (d >> 31);
    out[i] = folded & 255;
    out[n + i] = folded >> 8;
  }
  return out;
}

function general(previous: Int32Array, current: Int32Array): Pick<FrameFigures, "zlibBytes" | "zstdBytes" | "zstdMs"> {
  const began = performance.now();
  const bytes = planes(previous, current);
  const zstdBytes = zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 1 } }).length;
  const zstdMs = performance.now() - began;
  return { zlibBytes: deflateRawSync(bytes, { level: 1 }).length, zstdBytes, zstdMs };
}

/**
 * @param trajectory to encode and decode
 * @param passes the first one warms up the code; times are the minimum of the others per frame, because other load of
 *   the machine only adds time
 * @throws Error if a decoded frame differs from the encoded one
 */
export function measure(trajectory: Trajectory, passes = 4): Figures {
  const began = performance.now();
  const model = createSnapshotModel(trajectory.bodies);
  const modelMs = performance.now() - began;
  const frames = quantized(trajectory);
  const out = new Int32Array(3 * model.total);
  const figures: FrameFigures[] = [];
  for (let pass = 0; pass < passes; pass++) {
    for (let f = 1; f < frames.length; f++) {
      const t0 = performance.now();
      const bytes = encodeDelta(model, frames[f - 1], frames[f]);
      const t1 = performance.now();
      decodeDelta(model, frames[f - 1], bytes, out);
      const t2 = performance.now();
      if (out.some((x, i) => x !== frames[f][i]))
        throw new Error(`${trajectory.name}: frame ${f} decodes to other values`);
      const last = figures[f - 1];
      const fastest = pass > 1 ? last : { encodeMs: Infinity, decodeMs: Infinity };
      figures[f - 1] = {
        bytes: bytes.length,
        encodeMs: Math.min(fastest.encodeMs, t1 - t0),
        decodeMs: Math.min(fastest.decodeMs, t2 - t1),
        moving: last?.moving ?? displacement(frames[f - 1], frames[f]) >= 0.5,
        ...(last === undefined
          ? general(frames[f - 1], frames[f])
          : { zlibBytes: last.zlibBytes, zstdBytes: last.zstdBytes, zstdMs: last.zstdMs }),
      };
    }
  }
  const keyframes = frames.filter((_, f) => f % 15 === 0);
  let keyframeBytes = 0;
  let keyframeEncodeMs = 0;
  for (const frame of keyframes) {
    const t0 = performance.now();
    const bytes = encodeKeyframe(model, frame);
    keyframeEncodeMs += performance.now() - t0;
    keyframeBytes += bytes.length;
    decodeKeyframe(model, bytes, out);
    if (out.some((x, i) => x !== frame[i])) throw new Error(`${trajectory.name}: a keyframe decodes to other values`);
  }
  const phases = [
    { name: "all", pick: figures },
    { name: "moving", pick: figures.filter(({ moving }) => moving) },
    { name: "settling", pick: figures.filter(({ moving }) => !moving) },
    ...trajectory.phases.map(({ name, first, end }) => ({ name, pick: figures.slice(first - 1, end - 1) })),
  ];
  return {
    name: trajectory.name,
    particles: model.total,
    modelMs,
    keyframeBytesPerParticle: keyframeBytes / keyframes.length / model.total,
    keyframeEncodeMs: keyframeEncodeMs / keyframes.length,
    phases: phases
      .filter(({ pick }) => pick.length > 0)
      .map(({ name, pick }) => summarize(name, pick, model.total, trajectory.sendHz)),
  };
}

/** The integers that a room would stream. @throws Error if a position is not finite or too large */
export function quantized(trajectory: Trajectory): Int32Array[] {
  const model = createSnapshotModel(trajectory.bodies);
  const quanta = trajectory.bodies.map(({ quantum }) => quantum);
  return trajectory.frames.map((positions) => {
    const frame = new Int32Array(positions.length);
    const bad = quantizeInto(model, positions, quanta, frame);
    if (bad > 0) throw new Error(`${trajectory.name}: ${bad} coordinates are not finite or too large`);
    return frame;
  });
}

function summarize(phase: string, figures: readonly FrameFigures[], particles: number, sendHz: number): PhaseFigures {
  const mean = (of: (figure: FrameFigures) => number): number =>
    figures.reduce((sum, figure) => sum + of(figure), 0) / figures.length;
  const bytes = mean((figure) => figure.bytes);
  return {
    phase,
    frames: figures.length,
    bytesPerParticle: bytes / particles,
    worstFrame: Math.max(...figures.map((figure) => figure.bytes)) / particles,
    kbps: (bytes * 8 * sendHz) / 1000,
    encodeMs: mean((figure) => figure.encodeMs),
    decodeMs: mean((figure) => figure.decodeMs),
    zlibBytesPerParticle: mean((figure) => figure.zlibBytes) / particles,
    zstdBytesPerParticle: mean((figure) => figure.zstdBytes) / particles,
    zstdMs: mean((figure) => figure.zstdMs),
  };
}

/** Mean |displacement| per coordinate, grid steps. */
function displacement(a: Int32Array, b: Int32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += Math.abs(b[i] - a[i]);
  return sum / a.length;
}
