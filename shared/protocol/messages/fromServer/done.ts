/** `done`: a request has taken effect. */
import * as field from "../../fields.ts";
import * as value from "../../serverValues.ts";

export const number = 79;

export const describe = (): field.MessageDescription => ({
  fields: field.integer("request"),
  meaning:
    "the request of this number has taken effect (changes of access: and is stored). Messages about its effect come before",
});

export const encode = (request: number): Uint8Array => value.encoder.encode([number, request]);

export const parse = ([request]: value.Values): { type: "done"; request: number } => ({
  type: "done",
  request: value.number(request, "request"),
});
