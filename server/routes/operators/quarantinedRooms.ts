/** Quarantined rooms: operators download their stored data and put them back into service. */
import { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import type { Audit } from "../../auth/audit.ts";
import { recordingStream } from "../../persistence/recording.ts";
import { GO_ON_FROM, type GoOnFrom } from "../../rooms/recovery/quarantine.ts";
import type { RoomRegistry } from "../../rooms/registry.ts";
import { sendRecording } from "../rooms/recordingRoutes.ts";
import type { RequestAuth } from "../guards/requestAuth.ts";
import { errorResponses, nameParam } from "../schemas.ts";

/** Time limit for reading a recording, ms. */
const RECORDING_MS = 10 * 60_000;
const params = nameParam("room", "Name of the room.");
const denied = ["TOKEN_NEEDED", "TOKEN_INVALID", "NOT_ALLOWED", "TOO_MANY_REQUESTS"] as const;

export interface QuarantineRouteOptions {
  requestAuth: RequestAuth;
  audit: Audit;
  registry: RoomRegistry;
  /** Forgets the remembered location of a room. */
  forget: (room: string) => void;
}

export function quarantinedRoomRoutes(app: FastifyInstance, options: QuarantineRouteOptions): void {
  const { requestAuth, audit, registry, forget } = options;
  const { quarantine } = registry;
  const common = { tags: ["admin"], security: [{ token: [] }] };

  app.post<{ Params: { room: string }; Body: { from?: GoOnFrom } }>(
    "/api/admin/rooms/:room/end-quarantine",
    {
      schema: {
        ...common,
        summary: "Put a quarantined room back into service",
        description:
          "The first process that takes the room serves it. `end`: continue from the last tick. `state`: continue from the newest stored state and drop the inputs since. `start`: restart the scene and drop the stored state. If the same problem occurs, the room is quarantined again.",
        params,
        body: {
          type: "object",
          additionalProperties: false,
          properties: { from: { type: "string", enum: [...GO_ON_FROM], default: "end" } },
        },
        response: {
          204: { type: "null", description: "The room may be served." },
          ...errorResponses("BODY_INVALID", ...denied, "ROOM_NOT_FOUND", "NOT_QUARANTINED", "NO_STORE", "ROOM_MOVING"),
        },
      },
    },
    async (request, reply) => {
      const { actor } = requestAuth.of(request);
      const { room } = request.params;
      const { from = "end" } = request.body;
      await quarantine.endQuarantine(room, from);
      // A visitor who comes at once must not be refused because this process remembers an older state of the store.
      forget(room);
      audit.record("end-quarantine", actor, room, { from });
      return reply.code(204).send(null);
    },
  );

  app.get<{ Params: { room: string } }>(
    "/api/admin/rooms/:room/recording",
    {
      // Without this, Fastify would answer HEAD by generating the whole stream and dropping it.
      exposeHeadRoute: false,
      schema: {
        ...common,
        summary: "Recording of all stored data of a room, quarantined or not",
        description:
          "Like `GET /api/rooms/{room}/recording`. For a room that is not open, the data comes from the store. If its scene is gone or broken, header and file name it as missing; `npm run replay -- file --scene scene.json` then uses a scene that you give.",
        params,
        response: {
          200: {
            description: "msgpack behind a checksum; PROTOCOL.md, section 11.",
            headers: {
              "x-pliant-missing": {
                type: "string",
                description: "Missing parts (the scene) and the reason, percent-encoded; absent: nothing is missing.",
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
      const recording = registry.find(room)?.record() ?? (await quarantine.recording(room));
      audit.record("recording", actor, room, { from: recording.from, until: recording.until });
      return sendRecording(
        reply,
        recording,
        Readable.from(recordingStream(recording, AbortSignal.timeout(RECORDING_MS))),
      );
    },
  );
}
