/**
 * Errors of the package. `code` is a row of the table below, which client/sdk/README.md repeats, or the code that the
 * server answered over HTTP (PROTOCOL.md, section 2).
 */
import type { HttpErrorCode } from "../../shared/errors.ts";
import { CloseCode } from "../../shared/protocol/protocol.ts";

export const ClientErrors = {
  BAD_ARGUMENT: "An argument is not what the call takes; `field`, `value` and `limit` say which and why.",
  NO_WEBSOCKET: "This runtime has no WebSocket; give one as the option `WebSocket`.",
  UNREACHABLE: "The server does not answer.",
  BAD_ANSWER: "The server's answer is not what the protocol promises.",
  TIMEOUT: "The room was not there in time.",
  ABORTED: "The signal was aborted while joining.",
  OFFLINE: "The line is down; it comes back by itself.",
  LEFT: "The room was left or has ended.",
  NOT_ALLOWED: "This member's role does not allow that.",
  GRAB_LIMIT: "This member holds as many points as one may.",
  BODY_WAITS: "The body waits to be put in: there is nothing to hold.",
  REFUSED: "The server closed the line before it let this member in; `closeCode` says why.",
  ROOM_GONE: "The room has ended, or there is none of this name.",
  ROOM_FULL: "The room has as many members as it may.",
  ROOM_LOCKED: "The room is locked.",
  ROOM_PARKED: "The room is parked until an operator has looked at it.",
  TOKEN_NEEDED: "The room takes nobody without a token, or the token has ended.",
  PASSWORD_NEEDED: "The room has a password, and it was not this one.",
  TOO_MANY_ATTEMPTS: "Too many wrong passwords came from this address.",
  KICKED: "An owner removed this member.",
  VERSION_UNSUPPORTED: "The server speaks another version of the protocol.",
} as const;

export type ClientErrorCode = keyof typeof ClientErrors;
/** A later server may have codes that this version does not know. */
export type PliantErrorCode = ClientErrorCode | HttpErrorCode | (string & {});

export interface PliantErrorDetails {
  /** What was wrong: an argument, or a field of a request. */
  field?: string;
  value?: unknown;
  limit?: unknown;
  /** Of a file that was refused: a code of why. */
  reason?: string;
  /** HTTP status; 0: the server did not answer. */
  status?: number;
  /** WebSocket close code. */
  closeCode?: number;
  cause?: unknown;
}

export class PliantError extends Error {
  readonly code: PliantErrorCode;
  readonly field: string | undefined;
  readonly value: unknown;
  readonly limit: unknown;
  readonly reason: string | undefined;
  readonly status: number | undefined;
  readonly closeCode: number | undefined;

  constructor(code: PliantErrorCode, details: PliantErrorDetails = {}, message?: string) {
    const { field, value, limit, reason, status, closeCode, cause } = details;
    super(message ?? ClientErrors[code as ClientErrorCode] ?? code, cause === undefined ? undefined : { cause });
    this.name = "PliantError";
    this.code = code;
    this.field = field;
    this.value = value;
    this.limit = limit;
    this.reason = reason;
    this.status = status;
    this.closeCode = closeCode;
  }
}

/** @throws PliantError BAD_ARGUMENT, always */
export function badArgument(field: string, value: unknown, limit: string): never {
  throw new PliantError("BAD_ARGUMENT", { field, value, limit }, `${field} is ${shown(value)}, must be ${limit}`);
}

/** A value as a message shows it. */
function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 80));
  return Array.isArray(value) ? `[${value.slice(0, 4).map(String).join(", ")}]` : String(value);
}

const CLOSED: Readonly<Record<number, ClientErrorCode>> = {
  [CloseCode.roomGone]: "ROOM_GONE",
  [CloseCode.roomFull]: "ROOM_FULL",
  [CloseCode.locked]: "ROOM_LOCKED",
  [CloseCode.parked]: "ROOM_PARKED",
  [CloseCode.tokenNeeded]: "TOKEN_NEEDED",
  [CloseCode.passwordNeeded]: "PASSWORD_NEEDED",
  [CloseCode.tooManyAttempts]: "TOO_MANY_ATTEMPTS",
  [CloseCode.kicked]: "KICKED",
  [CloseCode.unsupportedVersion]: "VERSION_UNSUPPORTED",
  [CloseCode.normal]: "LEFT",
};

/** What a close code of the socket means to a member. */
export function closeError(closeCode: number, reason: string): PliantError {
  const code = CLOSED[closeCode] ?? "REFUSED";
  return new PliantError(code, { closeCode }, `${ClientErrors[code]}${reason === "" ? "" : ` (${reason})`}`);
}
