/** `positions`: a frame in simple mode. */
import * as field from "../../fields.ts";
import * as value from "../../serverValues.ts";

export const number = 76;

export const describe = (): field.MessageDescription => ({
  fields: [...field.integer("tick"), ...field.bin("frame")],
  meaning: "a frame in simple mode (section 5)",
});

/** @param quantized x y z of every streamed particle, in the grid of its body */
export const encode = (tick: number, quantized: Int32Array): Uint8Array<ArrayBuffer> =>
  value.exactEncoder.encode([number, tick, new Uint8Array(quantized.buffer)]);

export const parse = ([tick, data]: value.Values): { type: "positions"; tick: number; data: Uint8Array } => ({
  type: "positions",
  tick: value.number(tick, "tick"),
  data: value.bytes(data, "data"),
});
