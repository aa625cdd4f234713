/** A room's past over HTTP: the recording of its last minutes, and going back. */
import type { FastifyInstance } from "fastify";
import type { Audit } from "../auth/audit.ts";
import { encodeRecording } from "../persistence/recording.ts";
import type { RoomRegistry } from "../rooms/registry.ts";
import type { RequestAuth } from "./requestAuth.ts";
import { errorResponses, nameParam } from "./schemas.ts";

/** s; longer than any history. */
const MOST_SECONDS = 3600;

const params = nameParam("room", "Name of the room.");
const denied = ["TOKEN_NEEDED", "TOKEN_INVALID", "NOT_ALLOWED", "TOO_MANY_REQUESTS"] as const;
const seconds = { type: "number", exclusiveMinimum: 0, maximum: MOST_SECONDS };

export interface PastRouteOptions {
  requestAuth: RequestAuth;
  audit: Audit;
  registry: RoomRegistry;
}

export function recordingRoutes(app: FastifyInstance, { requestAuth, audit, registry }: PastRouteOptions): void {
  app.get<{ Params: { room: string }; Querystring: { seconds?: string } }>(
    "/api/rooms/:room/recording",
    {
      schema: {
        tags: ["rooms"],
        summary: "The room's last minutes, to be stepped again",
        description:
          "A state, all inputs since, hashes along the way and the scene, in one file: `npm run replay -- file` steps it again and says whether every hash agrees. Nothing of the members is in it but their numbers.",
        params,
        querystring: {
          type: "object",
          additionalProperties: false,
          properties: {
            seconds: {
              type: "string",
              pattern: "^[0-9]{1,4}$",
              description: "How far back at least, if the room remembers so much; default: all.",
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
      },
    },
    async (request, reply) => {
      const room = registry.get(request.params.room);
      const { actor } = await requestAuth.inRoom(request, room, "player");
      const { seconds: wanted } = request.query;
      const recording = room.record(wanted === undefined ? undefined : Number(wanted));
      audit.record("recording", actor, room.name, { from: recording.from, until: recording.until });
      return reply
        .type("application/octet-stream")
        .header("content-disposition", `attachment; filename="${room.name}-${recording.until}.pliant"`)
        .send(Buffer.from(encodeRecording(recording)));
    },
  );

  app.post<{ Params: { room: string }; Body: { seconds: number } }>(
    "/api/rooms/:room/undo",
    {
      schema: {
        tags: ["rooms"],
        summary: "Undo the room's last seconds, for everyone",
        description:
          "For the room's owner. What happened since then has not been, in recordings and after a restart too. Everybody lets go.",
        params,
        body: {
          type: "object",
          required: ["seconds"],
          additionalProperties: false,
          properties: { seconds: { ...seconds, description: "As far back as the room remembers at most." } },
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
      },
    },
    async (request) => {
      const room = registry.get(request.params.room);
      const { actor } = await requestAuth.inRoom(request, room, "owner");
      const from = room.tick;
      const tick = await room.undo(request.body.seconds, 0);
      audit.record("undo", actor, room.name, { from, tick });
      return { tick };
    },
  );
}
