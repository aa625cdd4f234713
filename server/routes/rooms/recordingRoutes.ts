/** A room's history over HTTP: the recording of its last minutes, and undo. */
import type { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply } from "fastify";
import { addressKey } from "../../auth/addresses.ts";
import type { Audit } from "../../auth/audit.ts";
import { recordingStream, type RoomRecording } from "../../persistence/recording.ts";
import { Slots } from "../../rooms/replay/slots.ts";
import type { RequestAuth } from "../guards/requestAuth.ts";
import { errorResponses, nameParam } from "../schemas.ts";

/** Upper limit, s; longer than any history. */
const MOST_SECONDS = 3600;

/** Concurrent recording downloads: total, and per address. */
const RECORDINGS_AT_ONCE = 8;
const RECORDINGS_PER_ADDRESS = 4;

const params = nameParam("room", "Name of the room.");
const denied = ["TOKEN_NEEDED", "TOKEN_INVALID", "NOT_ALLOWED", "BANNED", "ROOM_LOCKED", "TOO_MANY_REQUESTS"] as const;
const seconds = { type: "number", exclusiveMinimum: 0, maximum: MOST_SECONDS };

export interface PastRouteOptions {
  requestAuth: RequestAuth;
  audit: Audit;
}

const RECORDING_SCHEMA = {
  tags: ["rooms"],
  summary: "Recording of the room's last minutes",
  description:
    "One file with a state, all later inputs, state hashes and the scene. `npm run replay -- file` steps it again and reports whether every hash matches. Of the members it contains only their numbers.",
  params,
  querystring: {
    type: "object",
    additionalProperties: false,
    properties: {
      seconds: {
        type: "string",
        pattern: "^[0-9]{1,4}$",
        description: "Minimum length, limited by the room's history; default: all.",
      },
    },
  },
  security: [{ token: [] }],
  response: {
    200: {
      description: "msgpack behind a checksum; PROTOCOL.md, section 11.",
      content: { "application/octet-stream": { schema: { type: "string", format: "binary" } } },
    },
    ...errorResponses("BODY_INVALID", ...denied, "ROOM_NOT_FOUND"),
  },
};

const UNDO_SCHEMA = {
  tags: ["rooms"],
  summary: "Undo the room's last seconds, for everyone",
  description:
    "For the room's owner. Later events are removed, also from recordings and after a restart. All grabs end.",
  params,
  body: {
    type: "object",
    required: ["seconds"],
    additionalProperties: false,
    properties: { seconds: { ...seconds, description: "Limited by the room's history." } },
  },
  security: [{ token: [] }],
  response: {
    200: {
      type: "object",
      required: ["tick"],
      properties: { tick: { type: "integer", description: "The tick that the room went back to." } },
    },
    ...errorResponses("BODY_INVALID", ...denied, "ROOM_NOT_FOUND"),
  },
};

/** @param stream the recording's bytes */
export function sendRecording(
  reply: FastifyReply,
  { room, until, missing }: RoomRecording,
  stream: Readable,
): FastifyReply {
  // Headers cannot hold non-ASCII text.
  if (missing) reply.header("x-pliant-missing", encodeURI(missing.join("; ")));
  return reply
    .type("application/octet-stream")
    .header("content-disposition", `attachment; filename="${room}-${until}.pliant"`)
    .send(stream);
}

export function recordingRoutes(app: FastifyInstance, { requestAuth, audit }: PastRouteOptions): void {
  const sent = new Slots({
    field: "recordings",
    code: "TOO_MANY_REQUESTS",
    atOnce: RECORDINGS_AT_ONCE,
    perAddress: RECORDINGS_PER_ADDRESS,
  });
  app.get<{ Params: { room: string }; Querystring: { seconds?: string } }>(
    "/api/rooms/:room/recording",
    {
      // Without this, Fastify would answer HEAD by generating the whole stream and dropping it.
      exposeHeadRoute: false,
      schema: RECORDING_SCHEMA,
    },
    async (request, reply) => {
      const room = requestAuth.room(request);
      const { actor } = requestAuth.of(request);
      const { seconds: wanted } = request.query;
      const recording = room.record(wanted === undefined ? undefined : Number(wanted));
      const stream = sent.open(addressKey(request.ip), (signal) => recordingStream(recording, signal));
      audit.record("recording", actor, room.name, { from: recording.from, until: recording.until });
      return sendRecording(reply, recording, stream);
    },
  );

  app.post<{ Params: { room: string }; Body: { seconds: number } }>(
    "/api/rooms/:room/undo",
    { schema: UNDO_SCHEMA },
    async (request) => {
      const room = requestAuth.room(request);
      const from = room.tick;
      const tick = await room.undo(request.body.seconds);
      audit.record("undo", requestAuth.of(request).actor, room.name, { from, tick });
      return { tick };
    },
  );
}
