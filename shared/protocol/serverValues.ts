/**
 * Values of server messages: encoders, and checks on clients. A message without its documented form is refused, so that
 * the rest of a client can rely on it. Coordinates are sent as float32: finer than any grid on the wire, at half the
 * bytes.
 */
import { Encoder } from "@msgpack/msgpack";
import type { Point } from "./surfacePoint.ts";

/** Its types are published with pliant-client, whose users have no package for msgpack. */
interface ValueEncoder {
  encode(value: unknown): Uint8Array<ArrayBuffer>;
}

export const encoder: ValueEncoder = /* @__PURE__ */ new Encoder({ forceFloat32: true, ignoreUndefined: true });
/** For values that must return unchanged, e.g. a client's own time stamp, or the value that is refused. */
export const exactEncoder: ValueEncoder = /* @__PURE__ */ new Encoder({ ignoreUndefined: true });

/** Fields of a message, after its number. */
export type Values = readonly unknown[];

/** @param field name; parseServerMessage adds the message */
function fail(field: string, expected: string, value: unknown): never {
  throw new Error(`${field} must be ${expected}, got ${typeof value}`);
}

export const number = (value: unknown, field: string): number =>
  typeof value === "number" ? value : fail(field, "a number", value);

export const bytes = (value: unknown, field: string): Uint8Array =>
  value instanceof Uint8Array ? value : fail(field, "bin", value);

export const list = (value: unknown, field: string): unknown[] =>
  Array.isArray(value) ? value : fail(field, "an array", value);

export const record = (value: unknown, field: string): Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : fail(field, "a map", value);

/** @param at place of x */
export const point = (values: Values, at: number, field: string): Point => [
  number(values[at], `${field} x`),
  number(values[at + 1], `${field} y`),
  number(values[at + 2], `${field} z`),
];

export function pair(value: unknown): [number, number] {
  const [a, b] = list(value, "pair");
  return [number(a, "pair"), number(b, "pair")];
}

/** Only six-digit hex colors may reach the page, whatever the server relays. */
export function safeColor(value: unknown): string {
  return typeof value === "string" && /^#[0-9a-f]{6}$/i.test(value) ? value : "#8a8f98";
}
