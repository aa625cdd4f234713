/** Operators' view of uploaded objects: who uploaded them and which scenes use them. Also deletes objects. */
import type { FastifyInstance } from "fastify";
import type { Audit } from "../../auth/audit.ts";
import type { Objects } from "../../objects/objects.ts";
import type { RequestAuth } from "../guards/requestAuth.ts";
import { errorResponses, nameParam } from "../schemas.ts";

/** Number of objects in one answer; the newest come first. */
const MOST_LISTED = 1000;
const denied = ["TOKEN_NEEDED", "TOKEN_INVALID", "NOT_ALLOWED", "TOO_MANY_REQUESTS"] as const;
const common = { tags: ["admin"], security: [{ token: [] }] };

export interface AdminObjectsOptions {
  requestAuth: RequestAuth;
  audit: Audit;
  objects: Objects;
  limits: { objectsMax: number; objectsTotalMb: number };
}

const listedSchema = {
  type: "object",
  required: ["object", "name", "bytes", "address", "createdAt", "usedAt", "scenes", "rooms"],
  properties: {
    object: { type: "string", description: "Its id." },
    name: {
      type: "string",
      description: "Name of the file in its first upload, as the visitor sent it. Do not trust the text.",
    },
    bytes: { type: "integer" },
    address: {
      type: ["string", "null"],
      description: "Address of the first uploader; an IPv6 address as its /64. null: an operator.",
    },
    createdAt: { type: "string", format: "date-time" },
    usedAt: { type: "string", format: "date-time", description: "Time of the last use." },
    scenes: { type: "integer", description: "Number of scenes that use it." },
    rooms: { type: "integer", description: "Number of rooms with one of these scenes, in all processes." },
  },
};

const LIST_SCHEMA = {
  ...common,
  summary: "Uploaded objects, newest first",
  description: `At most ${MOST_LISTED}. Visitors may use nine tenths of both limits; the rest is reserved for operators.`,
  response: {
    200: {
      type: "object",
      required: ["objects", "mostObjects", "mostBytes"],
      properties: {
        objects: { type: "array", items: listedSchema },
        mostObjects: { type: "integer", description: "PLIANT_OBJECTS_MAX" },
        mostBytes: { type: "number", description: "PLIANT_OBJECTS_TOTAL_MB" },
      },
    },
    ...errorResponses(...denied),
  },
};

const DELETE_SCHEMA = {
  ...common,
  summary: "Delete an object and the scenes that use it",
  description: "Refused while a room has one of these scenes: end the room first.",
  params: nameParam("object", "Id of the object."),
  response: {
    204: { type: "null", description: "Deleted." },
    ...errorResponses(...denied, "OBJECT_NOT_FOUND", "OBJECT_IN_USE"),
  },
};

export function adminObjectsRoutes(
  app: FastifyInstance,
  { requestAuth, audit, objects, limits }: AdminObjectsOptions,
): void {
  app.get("/api/admin/objects", { schema: LIST_SCHEMA }, async () => ({
    objects: (await objects.list(MOST_LISTED)).map(({ id, about: _about, ...listed }) => ({ object: id, ...listed })),
    mostObjects: limits.objectsMax,
    mostBytes: limits.objectsTotalMb * 2 ** 20,
  }));

  app.delete<{ Params: { object: string } }>(
    "/api/admin/objects/:object",
    { schema: DELETE_SCHEMA },
    async (request, reply) => {
      const { actor } = requestAuth.of(request);
      const { id, name, bytes, address } = await objects.remove(request.params.object);
      audit.record("object-delete", actor, null, { object: id, name, bytes, address });
      return reply.code(204).send(null);
    },
  );
}
