/** Reads the fields of a client message on the server. A message without its documented form is malformed. */
import { depthOf } from "../members/applicationData.ts";
import type { Point, SurfacePoint } from "./surfacePoint.ts";
import { Limits } from "./protocol.ts";

/** A number that the client chooses: the server answers with `done`, or with a notice whose details contain it. */
export interface Answered {
  request?: number;
}

/** Largest number that a client may choose for a request. */
const MAX_REQUEST = 2 ** 31 - 1;
/** Largest id that a client may choose for a grab. */
const MAX_GRAB_ID = 65535;

/**
 * The message does not have the documented form; `message` is sent as the close reason (at most 123 bytes of UTF-8).
 */
export class MalformedMessage extends Error {
  constructor(reason: string) {
    super(reason.slice(0, 120));
    this.name = "MalformedMessage";
  }
}

export type Options = Record<string, unknown>;

/** Is it a map, and not bin, an extension or a timestamp? */
export const isMap = (value: unknown): value is Options =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;

/** Reads fields in order. Additional fields are ignored, because later versions may add some. */
export class FieldReader {
  readonly #name: string;
  readonly #message: readonly unknown[];
  #at = 1;

  /** @param message with its number */
  constructor(name: string, message: readonly unknown[]) {
    this.#name = name;
    this.#message = message;
  }

  /** @returns the next field, which stays the next one */
  peek(): unknown {
    return this.#message[this.#at];
  }

  /** Passes over nil. */
  skip(): null {
    this.#at++;
    return null;
  }

  finite(field: string): number {
    const value = this.#message[this.#at++];
    if (typeof value !== "number" || !Number.isFinite(value)) throw this.malformed(`${field} is not a finite number`);
    return value;
  }

  integer(field: string, min = 0, max = 2 ** 31): number {
    const value = this.finite(field);
    if (!Number.isInteger(value) || value < min || value > max)
      throw this.malformed(`${field} is ${value}, not an integer from ${min} to ${max}`);
    return value;
  }

  grab(): number {
    return this.integer("grab", 0, MAX_GRAB_ID);
  }

  string(field: string): string {
    const value = this.#message[this.#at++];
    if (typeof value !== "string") throw this.malformed(`${field} is not a string`);
    return value;
  }

  /** JSON values or bin, of any depth. */
  data(): unknown {
    const value = this.#message[this.#at++];
    try {
      depthOf(value, Limits.maxPayload);
    } catch (error) {
      throw this.malformed(`data ${(error as Error).message}`);
    }
    return value;
  }

  point(): Point {
    return [this.finite("x"), this.finite("y"), this.finite("z")];
  }

  surfacePoint(): SurfacePoint {
    return { body: this.integer("body"), triangle: this.integer("triangle"), u: this.finite("u"), v: this.finite("v") };
  }

  /** A map that may be absent. */
  options(): Options {
    const value = this.#message[this.#at++];
    if (value === undefined || value === null) return {};
    if (!isMap(value)) throw this.malformed("options is not a map");
    return value;
  }

  /** The request's number among the options. */
  answered({ request }: Options): Answered {
    if (request === undefined || request === null) return {};
    if (!Number.isInteger(request) || (request as number) < 0 || (request as number) > MAX_REQUEST)
      throw this.malformed(`request is not an integer from 0 to ${MAX_REQUEST}`);
    return { request: request as number };
  }

  malformed(reason: string): MalformedMessage {
    return new MalformedMessage(`${this.#name}: ${reason}`);
  }
}

/** Formats a value for a close reason. */
export function shown(value: unknown): string {
  const text = typeof value === "string" ? JSON.stringify(value.toWellFormed()) : String(value);
  return text.replace(/[^\x20-\x7e]/g, "?").slice(0, 20);
}
