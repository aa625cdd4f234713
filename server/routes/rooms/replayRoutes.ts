/** A room's last seconds as a replay stream, for the replay page. */
import type { FastifyInstance } from "fastify";
import { CodedError } from "../../../shared/errorCodes.ts";
import { addressKey } from "../../auth/addresses.ts";
import type { Audit } from "../../auth/audit.ts";
import { planReplay } from "../../rooms/replay/replayStream.ts";
import type { ReplayStreams } from "../../rooms/replay/replayStreams.ts";
import type { RequestAuth } from "../guards/requestAuth.ts";
import { errorResponses, nameParam } from "../schemas.ts";

/** Default length, s. */
const SECONDS = 60;
const MOST_SECONDS = 120;

export interface ReplayRouteOptions {
  requestAuth: RequestAuth;
  audit: Audit;
  replays: ReplayStreams;
}

export function replayRoutes(app: FastifyInstance, { requestAuth, audit, replays }: ReplayRouteOptions): void {
  app.get<{ Params: { room: string }; Querystring: { seconds?: string } }>(
    "/api/rooms/:room/replay",
    {
      // Without this, Fastify would answer HEAD by generating the whole stream and dropping it.
      exposeHeadRoute: false,
      schema: {
        tags: ["rooms"],
        summary: "The room's last seconds, as a stream of messages",
        description:
          "The server steps the room's recording again while it sends. A replay ends early if the client reads nothing for half a minute. Each address may have one at a time, and the total is limited.",
        params: nameParam("room", "Name of the room."),
        querystring: {
          type: "object",
          additionalProperties: false,
          properties: {
            seconds: {
              type: "string",
              pattern: "^[0-9]{1,4}$",
              description: `1 to ${MOST_SECONDS}, ${SECONDS} if absent; limited by the room's history.`,
            },
          },
        },
        security: [{ token: [] }],
        response: {
          200: {
            description: "Socket messages, each prefixed with its length; PROTOCOL.md, section 11.",
            content: { "application/octet-stream": { schema: { type: "string", format: "binary" } } },
          },
          ...errorResponses(
            "BODY_INVALID",
            "TOKEN_NEEDED",
            "TOKEN_INVALID",
            "NOT_ALLOWED",
            "BANNED",
            "ROOM_LOCKED",
            "ROOM_NOT_FOUND",
            "REPLAY_LIMIT",
            "TOO_MANY_REQUESTS",
          ),
        },
      },
    },
    async (request, reply) => {
      const room = requestAuth.room(request);
      const { actor } = requestAuth.of(request);
      const seconds = Number(request.query.seconds ?? SECONDS);
      if (!(seconds >= 1 && seconds <= MOST_SECONDS))
        throw new CodedError("BODY_INVALID", { field: "seconds", value: seconds, limit: `1 to ${MOST_SECONDS}` });
      const stream = replays.open(addressKey(request.ip), () => {
        const plan = planReplay(room, seconds);
        audit.record("recording", actor, room.name, { from: plan.from, until: plan.recording.until, replay: true });
        return plan;
      });
      return reply.type("application/octet-stream").header("cache-control", "no-store").send(stream);
    },
  );
}
