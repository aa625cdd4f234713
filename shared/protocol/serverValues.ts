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

function fail(what: string, expected: string, value: unknown): never {
  throw new Error(`server message: ${what} must be ${expected}, got ${typeof value}`);
}

export const number = (value: unknown, what: string): number =>
  typeof value === "number" ? value : fail(what, "a number", value);

export const bytes = (value: unknown, what: string): Uint8Array =>
  value instanceof Uint8Array ? value : fail(what, "bin", value);

export const list = (value: unknown, what: string): unknown[] =>
  Array.isArray(value) ? value : fail(what, "an array", value);

export const record = (value: unknown, what: string): Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : fail(what, "a map", value);

/** @param at place of x */
export const point = (values: Values, at: number, what: string): Point => [
  number(values[at], `${what} x`),
  number(values[at + 1], `${what} y`),
  number(values[at + 2], `${what} z`),
];

export function pair(value: unknown): [number, number] {
  const [a, b] = list(value, "pair");
  return [number(a, "pair"), number(b, "pair")];
}

/** Only six-digit hex colors may reach the page, whatever the server relays. */
export function safeColor(value: unknown): string {
  return typeof value === "string" && /^#[0-9a-f]{6}$/i.test(value) ? value : "#8a8f98";
}
