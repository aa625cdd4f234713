/**
 * Every error and notice that a client can meet, by code. HTTP errors carry a status; notices travel on the socket and
 * cost nothing. PROTOCOL.md lists the same rows, and `tests/server/documents.test.ts` holds the two to each other.
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
  BANNED: { status: 403, text: "Whoever asks is banned from this room." },
  ORIGIN_REFUSED: { status: 403, text: "Pages of this origin may neither open sockets nor change anything here." },
  HOST_REFUSED: { status: 421, text: "This server does not answer for the host that was asked for." },
  NOT_FOUND: { status: 404, text: "There is nothing at this address." },
  SCENE_NOT_FOUND: { status: 404, text: "There is no scene of this name." },
  ROOM_NOT_FOUND: { status: 404, text: "There is no room of this name." },
  OBJECT_NOT_FOUND: { status: 404, text: "There is no object of this id, or nobody has used it for too long." },
  MEMBER_NOT_FOUND: { status: 404, text: "The room has no member of this number." },
  TOPOLOGY_NOT_FOUND: { status: 404, text: "No scene that is built has this topology hash." },
  OBJECT_IN_USE: { status: 409, text: "Rooms have the object: end them first." },
  NOT_PARKED: { status: 409, text: "The room is not parked." },
  NOT_SET_ASIDE: { status: 404, text: "Nothing of this number is set aside of the room." },
  ROOM_EXISTS: { status: 409, text: "A room of this name exists with another scene." },
  SCENE_INVALID: { status: 422, text: "The scene's file breaks a rule of its schema." },
  OBJECT_REFUSED: {
    status: 422,
    text: "The file cannot be used: field says where, limit what may be there, help what helps.",
  },
  CHOICE_INVALID: { status: 422, text: "Of this object no such scene can be made." },
  ROOM_LOCKED: { status: 423, text: "The room is locked: only owners, and who was in before, have a way to it." },
  UPGRADE_REQUIRED: { status: 426, text: "This address speaks WebSocket only." },
  ADDRESS_LIMIT: { status: 429, text: "Too many connections from this address." },
  OBJECT_TOO_LARGE: { status: 413, text: "The file is larger than this server takes." },
  ADDRESS_OBJECT_LIMIT: { status: 429, text: "This address has as many objects here as it may." },
  ADDRESS_ROOM_LIMIT: { status: 429, text: "This address has as many rooms as it may." },
  REPLAY_LIMIT: {
    status: 429,
    text: "As many replays as may be made at once are being made, for this address or in all.",
  },
  TOO_MANY_REQUESTS: { status: 429, text: "Too many requests of this kind from this address." },
  INTERNAL: { status: 500, text: "The server failed; its log says why." },
  BUILD_FAILED: { status: 500, text: "The scene could not be built." },
  OBJECT_LIMIT: { status: 503, text: "The server holds as many objects as it may." },
  ROOM_LIMIT: { status: 503, text: "The server holds as many rooms as it may." },
  NO_STORE: { status: 409, text: "Rooms of this server live in memory only; there is no store and no other process." },
  STORE_AWAY: {
    status: 503,
    text: "It could not be stored that this was done: a restart may forget it. It is tried again; ask again to know.",
  },
  ROOM_MOVING: {
    status: 503,
    text: "The room is on its way from one server process to another; try again in a moment.",
  },
  ROOM_PARKED: {
    status: 503,
    text: "The room is parked: nothing of it is lost, and an operator has to look at it before it goes on.",
  },
  SHUTTING_DOWN: { status: 503, text: "The server is going down and opens no rooms." },
} as const satisfies Record<string, ErrorRow>;

export type HttpErrorCode = keyof typeof HttpErrors;

/** Codes of the socket's `notice` message: something was refused or happened, the connection goes on. */
export const Notices = {
  STORE_AWAY: { text: "It could not be stored that this was done: a restart may forget it. It is tried again." },
  RATE_LIMITED: { text: "Inputs came faster than the limit and were dropped." },
  OUT_OF_RANGE: { text: "An input named something that does not exist or lay outside its range, and was dropped." },
  GRAB_LIMIT: { text: "This member holds as many points as one may." },
  NOT_ALLOWED: { text: "This member's role does not allow that." },
  TOKEN_INVALID: { text: "The token is not valid here; this member came in without it." },
  RESET_TOO_SOON: { text: "The room was reset a moment ago." },
  PLACE_TAKEN: { text: "Something is where the body was to go." },
  SPAWN_TOO_SOON: { text: "This member put something in a moment ago." },
  INPUT_REJECTED: { text: "The simulation refused an input." },
  BODY_HELD: { text: "A body blew up; it was rolled back and is held." },
  TANGLED: { text: "Surfaces intersect from the start; they are drawn apart, or their bodies are held." },
  UNTANGLED: { text: "Nothing intersects any more; contact holds from here on." },
  CROWDED: { text: "More touches here than the room has memory or time for; these bodies stand still until it fits." },
  UNCROWDED: { text: "All bodies move again." },
  ROOM_RESTORED: { text: "The thread that ran this room was lost; the room goes on from its last whole tick." },
  WENT_BACK: { text: "The room's owner undid its last seconds." },
  ANNOUNCEMENT: { text: "Whoever runs the server has something to say." },
} as const satisfies Record<string, { text: string }>;

export type NoticeCode = keyof typeof Notices;

/** What an error is about, beside its code. */
export interface ErrorDetails {
  field?: string;
  value?: unknown;
  limit?: unknown;
  /** Of a file that is refused: which kind of fault it is, and what its author can do. */
  reason?: string;
  help?: string;
}

/**
 * An error that knows its row of `HttpErrors`; thrown anywhere below the routes, answered by the app's error handler.
 */
export class CodedError extends Error {
  readonly code: HttpErrorCode;
  readonly details: ErrorDetails;

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
