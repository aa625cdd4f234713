/** Page code that times the decoder in the browser. chromium.ts bundles it and calls `window.timeDecoding`. */
import { createSnapshotModel, decodeDelta, decodeKeyframe, dequantizeInto } from "../../shared/snapshot/index.ts";
import { kernelOf } from "../../shared/snapshot/kernel.ts";

export interface DecodingTask {
  count: number;
  quantum: number;
  triangles: number[];
  /** Base64: a keyframe, then the deltas of the following frames. */
  frames: string[];
  passes: number;
}

export interface DecodingTimes {
  /** Decoding time of every delta, minimum over all passes, ms. */
  decodeMs: number[];
  /** Decoding time including the conversion to meters, ms. */
  withMetresMs: number[];
  /** True if the compiled coder ran. */
  compiled: boolean;
  last: number[];
}

declare global {
  interface Window {
    timeDecoding?: (task: DecodingTask) => DecodingTimes;
  }
}

if (!crossOriginIsolated) throw new Error("the page is not isolated: its clock would be too coarse");

window.timeDecoding = ({ count, quantum, triangles, frames, passes }) => {
  const model = createSnapshotModel([{ count, triangles: Uint32Array.from(triangles) }]);
  const [keyframe, ...deltas] = frames.map((frame) => Uint8Array.from(atob(frame), (c) => c.charCodeAt(0)));
  const chain = new Int32Array(3 * count);
  const metres = new Float32Array(3 * count);
  const decodeMs = deltas.map(() => Infinity);
  const withMetresMs = deltas.map(() => Infinity);
  for (let pass = 0; pass < passes; pass++) {
    decodeKeyframe(model, keyframe!, chain);
    const next = new Int32Array(chain.length);
    deltas.forEach((delta, f) => {
      const began = performance.now();
      decodeDelta(model, chain, delta, next);
      const decoded = performance.now();
      dequantizeInto(model, next, [quantum], metres);
      const converted = performance.now();
      decodeMs[f] = Math.min(decodeMs[f]!, decoded - began);
      withMetresMs[f] = Math.min(withMetresMs[f]!, converted - began);
      chain.set(next);
    });
  }
  return { decodeMs, withMetresMs, compiled: kernelOf(model) !== undefined, last: [...chain] };
};
