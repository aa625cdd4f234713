/**
 * Errors of the package. `code` is a key of `ClientErrors`, which client/sdk/README.md repeats, or a code of the
 * server's HTTP answer (PROTOCOL.md, section 2).
 */
import type { HttpErrorCode } from "../../shared/errorCodes.ts";
import { CloseCode } from "../../shared/protocol/protocol.ts";

export const ClientErrors = {
  BAD_ARGUMENT: "An argument is invalid: see `field`, `value` and `limit`.",
  NO_WEBSOCKET: "This runtime has no WebSocket: pass the option `WebSocket`.",
  UNREACHABLE: "The server does not answer.",
  BAD_ANSWER: "The server's answer does not follow the protocol.",
  TIMEOUT: "No frame arrived in time.",
  NO_ANSWER: "The server does not answer in time.",
  ABORTED: "The signal was aborted before the first frame.",
  OFFLINE: "The connection is lost for now.",
  LEFT: "The room was left or has ended.",
  NOT_ALLOWED: "This member's role does not allow that.",
  GRAB_LIMIT: "This member has its maximum number of grabs.",
  BODY_ABSENT: "The body is not in the room. Spawn it first.",
  REFUSED: "The server refused the connection: see `closeCode`.",
  ROOM_GONE: "The room ended or does not exist.",
  ROOM_FULL: "The room has its maximum number of members.",
  ROOM_LOCKED: "The room is locked.",
  ROOM_QUARANTINED: "The room waits for an operator to decide.",
  TOKEN_NEEDED: "The room requires a valid token.",
  PASSWORD_NEEDED: "The room requires its password.",
  TOO_MANY_ATTEMPTS: "Too many wrong passwords came from this address.",
  KICKED: "An owner removed this member.",
  VERSION_UNSUPPORTED: "The server has another protocol version.",
} as const;

export type ClientErrorCode = keyof typeof ClientErrors;
/** Any other string: a later server may have codes that this version does not know. */
export type PliantErrorCode = ClientErrorCode | HttpErrorCode | (string & {});

export interface PliantErrorDetails {
  /** The invalid argument or field of a request. */
  field?: string;
  value?: unknown;
  limit?: unknown;
  /** Code of the reason why a file was refused. */
  reason?: string;
  /** HTTP status; 0: the server did not answer. */
  status?: number;
  /** WebSocket close code. */
  closeCode?: number;
  cause?: unknown;
}

export class PliantError extends Error {
  declare readonly code: PliantErrorCode;
  declare readonly field: string | undefined;
  declare readonly value: unknown;
  declare readonly limit: unknown;
  declare readonly reason: string | undefined;
  declare readonly status: number | undefined;
  declare readonly closeCode: number | undefined;

  constructor(code: PliantErrorCode, details: PliantErrorDetails = {}, message?: string) {
    const { field, value, limit, reason, status, closeCode, cause } = details;
    super(message ?? ClientErrors[code as ClientErrorCode] ?? code, cause === undefined ? undefined : { cause });
    Object.assign(this, { name: "PliantError", code, field, value, limit, reason, status, closeCode });
  }
}

/** The limit of a field that does not exist. */
export const UNKNOWN = "left out: unknown";

/** @throws PliantError BAD_ARGUMENT, always */
export function badArgument(field: string, value: unknown, limit: string): never {
  throw new PliantError("BAD_ARGUMENT", { field, value, limit }, `${field} is ${shown(value)}, must be ${limit}`);
}

/** Formats a value for a message. */
function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 80));
  return Array.isArray(value) ? `[${value.slice(0, 4).map(String).join(", ")}]` : String(value);
}

const CLOSED: Readonly<Record<number, ClientErrorCode>> = {
  [CloseCode.roomGone]: "ROOM_GONE",
  [CloseCode.roomFull]: "ROOM_FULL",
  [CloseCode.locked]: "ROOM_LOCKED",
  [CloseCode.quarantined]: "ROOM_QUARANTINED",
  [CloseCode.tokenNeeded]: "TOKEN_NEEDED",
  [CloseCode.passwordNeeded]: "PASSWORD_NEEDED",
  [CloseCode.tooManyAttempts]: "TOO_MANY_ATTEMPTS",
  [CloseCode.kicked]: "KICKED",
  [CloseCode.unsupportedVersion]: "VERSION_UNSUPPORTED",
  [CloseCode.normal]: "LEFT",
};

/** Converts a WebSocket close code into an error. */
export function closeError(closeCode: number, reason: string): PliantError {
  const code = CLOSED[closeCode] ?? "REFUSED";
  return new PliantError(code, { closeCode }, `${ClientErrors[code]}${reason === "" ? "" : ` (${reason})`}`);
}
