/** Rooms that are parked: what the store has of them, and how operators let them go on. */
import { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import type { Audit } from "../auth/audit.ts";
import { recordingStream } from "../persistence/recording.ts";
import { GO_ON_FROM, type GoOnFrom } from "../rooms/parking.ts";
import type { RoomRegistry } from "../rooms/registry.ts";
import { sendRecording } from "./recordings.ts";
import type { RequestAuth } from "./requestAuth.ts";
import { errorResponses, nameParam } from "./schemas.ts";

/** A recording that has not been read by then is given up, ms. */
const RECORDING_MS = 10 * 60_000;
const params = nameParam("room", "Name of the room.");
const denied = ["TOKEN_NEEDED", "TOKEN_INVALID", "NOT_ALLOWED", "TOO_MANY_REQUESTS"] as const;

export interface ParkedRouteOptions {
  requestAuth: RequestAuth;
  audit: Audit;
  registry: RoomRegistry;
}

export function parkedRoutes(app: FastifyInstance, { requestAuth, audit, registry }: ParkedRouteOptions): void {
  const { parking } = registry;
  const common = { tags: ["admin"], security: [{ token: [] }] };

  app.post<{ Params: { room: string }; Body: { from?: GoOnFrom } }>(
    "/api/admin/rooms/:room/unpark",
    {
      schema: {
        ...common,
        summary: "Let a parked room be served again",
        description:
          "By whichever process takes it first. `end`: from where it was; `state`: from its newest stored state, without the inputs since, which are dropped; `start`: from its scene's beginning, and what was is dropped. A room that is parked for the same reason again is parked again.",
        params,
        body: {
          type: "object",
          additionalProperties: false,
          properties: { from: { type: "string", enum: [...GO_ON_FROM], default: "end" } },
        },
        response: {
          204: { type: "null", description: "It may be served." },
          ...errorResponses("BODY_INVALID", ...denied, "ROOM_NOT_FOUND", "NOT_PARKED", "NO_STORE", "ROOM_MOVING"),
        },
      },
    },
    async (request, reply) => {
      const { actor } = requestAuth.of(request);
      const { room } = request.params;
      const { from = "end" } = request.body;
      await parking.unpark(room, from);
      audit.record("unpark", actor, room, { from });
      return reply.code(204).send(null);
    },
  );

  app.get<{ Params: { room: string } }>(
    "/api/admin/rooms/:room/recording",
    {
      // Of a stream Fastify would make and throw away all of it for its head.
      exposeHeadRoute: false,
      schema: {
        ...common,
        summary: "All that is kept of a room, parked ones too, to be stepped again",
        description:
          "As `GET /api/rooms/{room}/recording`. Of a room that is not open it is what the store has. A scene that is gone or broken is named as missing, in the header and in the file; `npm run replay -- file --scene scene.json` steps it with one that you give.",
        params,
        response: {
          200: {
            description: "msgpack behind a checksum; PROTOCOL.md, section 11.",
            headers: {
              "x-pliant-missing": {
                type: "string",
                description:
                  "What could not be put in and why (its scene), percent-encoded; absent: nothing is missing.",
              },
            },
            content: { "application/octet-stream": { schema: { type: "string", format: "binary" } } },
          },
          ...errorResponses(...denied, "ROOM_NOT_FOUND", "NO_STORE"),
        },
      },
    },
    async (request, reply) => {
      const { actor } = requestAuth.of(request);
      const { room } = request.params;
      const recording = registry.find(room)?.record() ?? (await parking.recording(room));
      audit.record("recording", actor, room, { from: recording.from, until: recording.until });
      return sendRecording(
        reply,
        recording,
        Readable.from(recordingStream(recording, AbortSignal.timeout(RECORDING_MS))),
      );
    },
  );
}
