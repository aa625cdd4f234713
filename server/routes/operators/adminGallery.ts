/** Operators' view of the gallery: the saved scenes with their addresses. Also deletes them. */
import type { FastifyInstance } from "fastify";
import type { Audit } from "../../auth/audit.ts";
import type { Gallery } from "../../objects/gallery.ts";
import type { RequestAuth } from "../guards/requestAuth.ts";
import { errorResponses, nameParam } from "../schemas.ts";

/** Number of scenes in one answer; the newest come first. */
const MOST_LISTED = 1000;
const denied = ["TOKEN_NEEDED", "TOKEN_INVALID", "NOT_ALLOWED", "TOO_MANY_REQUESTS"] as const;
const common = { tags: ["admin"], security: [{ token: [] }] };

export interface AdminGalleryOptions {
  requestAuth: RequestAuth;
  audit: Audit;
  gallery: Gallery;
  limits: { savedScenesMax: number };
}

const listedSchema = {
  type: "object",
  required: ["saved", "title", "scene", "origin", "bytes", "address", "createdAt", "changedAt"],
  properties: {
    saved: { type: "string", description: "Its id." },
    title: { type: "string", description: "As its owner wrote it. Do not trust the text." },
    scene: { type: "string", description: "Id of its scene." },
    origin: { type: "string", description: "Id of the scene, or of the saved scene, that it was made from." },
    bytes: { type: "integer", description: "Size of its text." },
    address: {
      type: ["string", "null"],
      description: "Address of the owner who saved it; an IPv6 address as its /64. null: an operator.",
    },
    createdAt: { type: "string", format: "date-time" },
    changedAt: { type: "string", format: "date-time" },
  },
};

const LIST_SCHEMA = {
  ...common,
  summary: "Saved scenes, newest first",
  description: `At most ${MOST_LISTED}.`,
  response: {
    200: {
      type: "object",
      required: ["scenes", "mostScenes"],
      properties: {
        scenes: { type: "array", items: listedSchema },
        mostScenes: { type: "integer", description: "PLIANT_SAVED_SCENES_MAX" },
      },
    },
    ...errorResponses(...denied),
  },
};

const DELETE_SCHEMA = {
  ...common,
  summary: "Delete a saved scene",
  description: "Rooms with this scene continue: end them, too, if their content is the reason.",
  params: nameParam("saved", "Id of the saved scene."),
  response: {
    204: { type: "null", description: "Deleted." },
    ...errorResponses(...denied, "SAVED_NOT_FOUND", "STORE_AWAY"),
  },
};

export function adminGalleryRoutes(
  app: FastifyInstance,
  { requestAuth, audit, gallery, limits }: AdminGalleryOptions,
): void {
  app.get("/api/admin/saved-scenes", { schema: LIST_SCHEMA }, async () => ({
    scenes: (await gallery.list(MOST_LISTED)).map(({ id, ...listed }) => ({ saved: id, ...listed })),
    mostScenes: limits.savedScenesMax,
  }));

  app.delete<{ Params: { saved: string } }>(
    "/api/admin/saved-scenes/:saved",
    { schema: DELETE_SCHEMA },
    async (request, reply) => {
      const { actor } = requestAuth.of(request);
      const { id, title, address } = await gallery.remove(request.params.saved);
      audit.record("scene-delete", actor, null, { saved: id, title, address });
      return reply.code(204).send(null);
    },
  );
}
