/** `pong`: the answer to `ping`. */
import * as field from "../../fields.ts";
import * as value from "../../serverValues.ts";

export const number = 69;

export const describe = (): field.MessageDescription => ({
  fields: [...field.number("clientTimeMs"), ...field.integer("serverTick")],
  meaning: "answers `ping`",
});

export const encode = (clientTimeMs: number, tick: number): Uint8Array =>
  value.exactEncoder.encode([number, clientTimeMs, tick]);

interface Event {
  type: "pong";
  clientTimeMs: number;
  serverTick: number;
}

export const parse = ([clientTimeMs, serverTick]: value.Values): Event => ({
  type: "pong",
  clientTimeMs: value.number(clientTimeMs, "clientTimeMs"),
  serverTick: value.number(serverTick, "serverTick"),
});
