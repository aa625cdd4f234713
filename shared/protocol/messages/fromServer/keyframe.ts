/** `keyframe`: a frame that decodes alone. */
import * as field from "../../fields.ts";
import * as value from "../../serverValues.ts";

export const number = 65;

export const describe = (): field.MessageDescription => ({
  fields: [...field.integer("tick"), ...field.bin("frame")],
  meaning: "a frame that decodes alone (section 5)",
});

/** @param data a keyframe of shared/snapshot */
export const encode = (tick: number, data: Uint8Array): Uint8Array<ArrayBuffer> =>
  value.exactEncoder.encode([number, tick, data]);

export const parse = ([tick, data]: value.Values): { type: "keyframe"; tick: number; data: Uint8Array } => ({
  type: "keyframe",
  tick: value.number(tick, "tick"),
  data: value.bytes(data, "data"),
});
