/** Downloads a room's scene with its current settings. */
import type { FastifyInstance } from "fastify";
import { tunedScene } from "../../rooms/scenes/tunedScene.ts";
import type { RequestAuth } from "../guards/requestAuth.ts";
import { errorResponses, nameParam } from "../schemas.ts";

export function roomSceneRoute(app: FastifyInstance, requestAuth: RequestAuth): void {
  app.get<{ Params: { room: string } }>(
    "/api/rooms/:room/scene",
    {
      schema: {
        tags: ["rooms"],
        summary: "The room's scene, with its owners' changes",
        description:
          "The scene file with the current gravity, damping and friction. It is a complete scene, but refers to mesh files instead of containing them.",
        params: nameParam("room", "Name of the room."),
        security: [{ token: [] }],
        response: {
          200: { type: "object", additionalProperties: true, description: "A scene; see scenes/schema.json." },
          ...errorResponses("TOKEN_NEEDED", "TOKEN_INVALID", "NOT_ALLOWED", "BANNED", "ROOM_LOCKED", "ROOM_NOT_FOUND"),
        },
      },
    },
    async (request, reply) => {
      const { name, template, facts } = requestAuth.room(request);
      const scene = tunedScene(template.text, template.layout.tuned, facts.tuning);
      return reply
        .type("application/json")
        .header("content-disposition", `attachment; filename="${name}.json"`)
        .send(`${JSON.stringify(scene, null, 2)}\n`);
    },
  );
}
