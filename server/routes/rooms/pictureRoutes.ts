/** Pictures of rooms and scenes, drawn by the server. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { CodedError } from "../../../shared/errorCodes.ts";
import { addressKey } from "../../auth/addresses.ts";
import type { Picture, Pictures } from "../../pictures/pictures.ts";
import type { SceneLibrary } from "../../rooms/scenes/sceneLibrary.ts";
import type { RequestAuth } from "../guards/requestAuth.ts";
import { bytesAnswer, errorResponses, nameParam } from "../schemas.ts";

/** Access depends on the caller, so shared caches must not keep it. */
const OF_ROOM = "private, max-age=5";
const OF_SCENE = "public, max-age=300";

const answered = {
  200: bytesAnswer("image/png", "PNG with opacity."),
  304: { type: "null", description: "Unchanged: it matches the request's if-none-match." },
};

export interface PictureRouteOptions {
  requestAuth: RequestAuth;
  library: SceneLibrary;
  pictures: Pictures;
}

export function pictureRoutes(app: FastifyInstance, { requestAuth, library, pictures }: PictureRouteOptions): void {
  app.get<{ Params: { room: string } }>(
    "/api/rooms/:room/picture",
    {
      schema: {
        tags: ["rooms"],
        summary: "A small picture of a room, at most some seconds old",
        description: "240 x 158 pixels, drawn by the server, without grabs and cursors.",
        params: nameParam("room", "Name of the room."),
        response: {
          ...answered,
          ...errorResponses(
            "TOKEN_NEEDED",
            "TOKEN_INVALID",
            "NOT_ALLOWED",
            "BANNED",
            "ROOM_LOCKED",
            "TOO_MANY_REQUESTS",
            "ROOM_NOT_FOUND",
          ),
        },
      },
    },
    async (request, reply) =>
      send(request, reply, await pictures.room(requestAuth.room(request), addressKey(request.ip)), OF_ROOM),
  );

  app.get<{ Params: { scene: string } }>(
    "/api/scenes/:scene/picture",
    {
      schema: {
        tags: ["scenes"],
        summary: "A picture of a scene's initial state",
        description: "480 x 315 pixels, drawn by the server, for scenes that this process has built.",
        params: nameParam("scene", "Id of the scene."),
        response: { ...answered, ...errorResponses("SCENE_NOT_FOUND", "SCENE_INVALID", "TOO_MANY_REQUESTS") },
      },
    },
    async (request, reply) => {
      const { scene } = request.params;
      const template = await library.built(scene);
      // Requests for pictures must not make the server build scenes.
      if (!template)
        throw new CodedError("SCENE_NOT_FOUND", { field: "scene", value: scene, limit: "one that is built" });
      return send(request, reply, await pictures.scene(template, addressKey(request.ip)), OF_SCENE);
    },
  );
}

function send(request: FastifyRequest, reply: FastifyReply, { bytes, etag }: Picture, caching: string): FastifyReply {
  reply.header("cache-control", caching).header("etag", etag);
  if (request.headers["if-none-match"] === etag) return reply.code(304).send(null);
  return reply.type("image/png").send(bytes);
}
