/**
 * All errors and notices that a client can receive, by code. HTTP errors have a status. Notices are sent over the
 * socket, and the connection stays open. `node tests/server/protocolFile.ts` writes the rows into PROTOCOL.md.
 */

export interface ErrorRow {
  /** HTTP status. */
  status: number;
  text: string;
}

/** Answers of the HTTP API: `{code, message, field?, value?, limit?}` with the status of the row. */
export const HttpErrors = {
  BODY_INVALID: { status: 400, text: "The request body or a parameter does not have the documented shape." },
  ROOM_NAME_INVALID: {
    status: 400,
    text: "A room name is 1 to 40 of a-z, 0-9 and -, starting with a letter or digit.",
  },
  TOKEN_NEEDED: { status: 401, text: "This needs a token: Authorization: Bearer." },
  TOKEN_INVALID: { status: 401, text: "The token is not valid here." },
  NOT_ALLOWED: { status: 403, text: "The token's role does not allow this." },
  BANNED: { status: 403, text: "The caller is banned from this room." },
  ORIGIN_REFUSED: {
    status: 403,
    text: "Pages of this origin may not use this server: PLIANT_ORIGINS does not list it.",
  },
  HOST_REFUSED: { status: 421, text: "This server does not answer for the requested host name." },
  NOT_FOUND: { status: 404, text: "There is nothing at this address." },
  SCENE_NOT_FOUND: { status: 404, text: "There is no scene of this name." },
  ROOM_NOT_FOUND: { status: 404, text: "There is no room of this name." },
  OBJECT_NOT_FOUND: {
    status: 404,
    text: "There is no object with this id, or it was deleted because it was unused for too long.",
  },
  SAVED_NOT_FOUND: { status: 404, text: "There is no saved scene with this id, or it has no picture." },
  NO_PALETTE: { status: 409, text: "This room has no place for objects to add." },
  MEMBER_NOT_FOUND: { status: 404, text: "The room has no member with this number." },
  TOPOLOGY_NOT_FOUND: { status: 404, text: "No built scene has this topology hash." },
  OBJECT_IN_USE: { status: 409, text: "Rooms or saved scenes use the object: end or delete them first." },
  NOT_QUARANTINED: { status: 409, text: "The room is not quarantined." },
  PIECE_NOT_FOUND: { status: 404, text: "The room has no quarantined row with this number." },
  ROOM_EXISTS: { status: 409, text: "A room of this name has another scene." },
  SCENE_INVALID: { status: 422, text: "The scene's file violates a rule of its schema." },
  OBJECT_REFUSED: {
    status: 422,
    text: "The file cannot be used: field is the position, limit the allowed values, help the advice.",
  },
  CHOICE_INVALID: { status: 422, text: "This object cannot be used with these choices." },
  ROOM_LOCKED: { status: 423, text: "The room is locked: only owners and earlier members may enter." },
  UPGRADE_REQUIRED: { status: 426, text: "This address speaks WebSocket only." },
  ADDRESS_LIMIT: { status: 429, text: "Too many connections from this address." },
  OBJECT_TOO_LARGE: { status: 413, text: "The file is larger than this server accepts." },
  SCENE_TOO_LARGE: { status: 413, text: "The scene's text is larger than a saved scene may be." },
  ADDRESS_SAVED_LIMIT: { status: 429, text: "This address has reached its limit of saved scenes." },
  ADDRESS_OBJECT_LIMIT: { status: 429, text: "This address has reached its limit of objects." },
  ADDRESS_ROOM_LIMIT: { status: 429, text: "This address has reached its limit of rooms." },
  REPLAY_LIMIT: { status: 429, text: "The limit of concurrent replays is reached, for this address or in total." },
  TOO_MANY_REQUESTS: { status: 429, text: "Too many requests of this kind from this address." },
  INTERNAL: { status: 500, text: "The server failed; its log says why." },
  BUILD_FAILED: { status: 500, text: "The scene could not be built." },
  OBJECT_LIMIT: { status: 503, text: "The server has reached its limit of objects." },
  SAVED_LIMIT: { status: 503, text: "The server has reached its limit of saved scenes." },
  ROOM_LIMIT: { status: 503, text: "The server has reached its limit of rooms." },
  NO_STORE: { status: 409, text: "This server keeps rooms in memory only; it has no store and no other process." },
  STORE_AWAY: {
    status: 503,
    text: "The change is done but not stored yet, so a restart may undo it. The server keeps trying; repeat the request to check.",
  },
  ROOM_MOVING: { status: 503, text: "The room is moving to another server process; try again in a moment." },
  ROOM_QUARANTINED: {
    status: 503,
    text: "The room is quarantined: no data is lost, but an operator must inspect it before it continues.",
  },
  SHUTTING_DOWN: { status: 503, text: "The server is shutting down and opens no rooms." },
} as const satisfies Record<string, ErrorRow>;

export type HttpErrorCode = keyof typeof HttpErrors;

/** Codes of the socket's `notice` message: a request was refused or an event happened; the connection stays open. */
export const Notices = {
  STORE_AWAY: { text: "The change is done but not stored yet, so a restart may undo it. The server keeps trying." },
  RATE_LIMITED: { text: "Inputs exceeded the rate limit and were dropped." },
  OUT_OF_RANGE: {
    text: "An input referred to something that does not exist, or had a value out of range, and was dropped.",
  },
  GRAB_LIMIT: { text: "This member has reached the limit of grabs." },
  NOT_ALLOWED: { text: "This member's role does not allow this." },
  TOKEN_INVALID: { text: "The token is not valid here; this member entered without it." },
  RESET_TOO_SOON: { text: "The room was reset a moment ago." },
  PLACE_TAKEN: { text: "There is no free space for the body at this place." },
  SPAWN_TOO_SOON: { text: "This member spawned a body a moment ago; try again shortly." },
  INPUT_REJECTED: { text: "The simulation refused an input." },
  BODY_HELD: { text: "A body became unstable; it was rolled back and is held." },
  TANGLED: { text: "Surfaces intersect from the start; they are pulled apart, or their bodies are held." },
  UNTANGLED: { text: "No surfaces intersect any more; contact works from now on." },
  CROWDED: {
    text: "There are more contacts than the room has memory or time for; these bodies are held until they fit.",
  },
  UNCROWDED: { text: "All bodies move again." },
  ROOM_RESTORED: { text: "The thread that ran this room was lost; the room continues from its last complete tick." },
  WENT_BACK: { text: "A member undid the room's last seconds." },
  NOTHING_TO_UNDO: { text: "This member has done nothing that can be undone now." },
  NOT_SEPARABLE: {
    text: "Other members have acted since, and this act cannot be undone without theirs: only an owner may undo it.",
  },
  ANNOUNCEMENT: { text: "Message from the server's operator." },
} as const satisfies Record<string, { text: string }>;

export type NoticeCode = keyof typeof Notices;

/** Details of an error, besides its code. */
export interface ErrorDetails {
  field?: string;
  value?: unknown;
  limit?: unknown;
  /** For a refused file: the kind of error, and advice for its author. */
  reason?: string;
  help?: string;
}

/** An error with a row of `HttpErrors`; thrown below the routes, answered by the app's error handler. */
export class CodedError extends Error {
  readonly code: HttpErrorCode;
  readonly details: ErrorDetails;
  /** Time after which a retry may succeed, s: the header `retry-after`. */
  retryAfter: number | undefined;

  constructor(code: HttpErrorCode, details: ErrorDetails = {}, message: string = HttpErrors[code].text) {
    super(message);
    this.name = "CodedError";
    this.code = code;
    this.details = details;
  }

  get status(): number {
    return HttpErrors[this.code].status;
  }

  /** The JSON body of the answer. */
  toBody(): { code: string; message: string } & ErrorDetails {
    return { code: this.code, message: this.message, ...this.details };
  }
}
