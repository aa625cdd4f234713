/** `delta`: a frame against the frame before it. */
import * as field from "../../fields.ts";
import * as value from "../../serverValues.ts";

export const number = 66;

export const describe = (): field.MessageDescription => ({
  fields: [...field.integer("tick baseTick"), ...field.bin("frame")],
  meaning: "a frame against that of baseTick, the one sent before it (section 5)",
});

/** @param data a delta of shared/snapshot, against the frame of `baseTick` */
export const encode = (tick: number, baseTick: number, data: Uint8Array): Uint8Array<ArrayBuffer> =>
  value.exactEncoder.encode([number, tick, baseTick, data]);

interface Event {
  type: "delta";
  tick: number;
  baseTick: number;
  data: Uint8Array;
}

export const parse = ([tick, baseTick, data]: value.Values): Event => ({
  type: "delta",
  tick: value.number(tick, "tick"),
  baseTick: value.number(baseTick, "baseTick"),
  data: value.bytes(data, "data"),
});
