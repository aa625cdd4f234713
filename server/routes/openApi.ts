/** General part of the OpenAPI description; register it before the routes. */
import swagger from "@fastify/swagger";
import type { FastifyInstance } from "fastify";

interface OpenApi {
  paths: Record<string, Record<string, { operationId?: string }>>;
}

/** Name of a call for generated clients: GET /api/rooms/{room}/positions is `getRoomPositions`. */
function operationId(method: string, path: string): string {
  const named = path
    .replace(/^\/api\//, "/")
    .replaceAll(/\/([a-z]+)s\/\{\1\}/g, "/$1")
    .replaceAll(/\{([a-z]+)\}/g, "by-$1");
  return method + named.replaceAll(/[/-]+([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

export async function describeApi(fastify: FastifyInstance): Promise<void> {
  await fastify.register(swagger, {
    transformObject: (document) => {
      const { openapiObject } = document as { openapiObject: OpenApi };
      for (const [path, methods] of Object.entries(openapiObject.paths))
        for (const [method, operation] of Object.entries(methods)) operation.operationId ??= operationId(method, path);
      return openapiObject as never;
    },
    openapi: {
      openapi: "3.1.0",
      servers: [{ url: "/", description: "This server." }],
      // `open` mode needs no token where a route does not say so.
      security: [{}, { token: [] }],
      info: {
        title: "Pliant",
        description:
          "Rooms of soft bodies and cloth. The socket protocol is described in PROTOCOL.md. Pages of other origins may " +
          "use this API if the operator lists them in PLIANT_EMBED_ORIGINS.",
        version: "0.1.0",
        license: { name: "MIT", identifier: "MIT" },
      },
      tags: [
        { name: "scenes", description: "Scenes and their topologies." },
        { name: "objects", description: "Uploaded files, and scenes of them." },
        { name: "gallery", description: "Scenes that owners save from their rooms." },
        { name: "rooms", description: "Rooms, their states and recordings." },
        { name: "auth", description: "Join tokens." },
        { name: "admin", description: "For operators." },
        { name: "operations", description: "Health and metrics, for load balancers and monitoring." },
      ],
      components: {
        securitySchemes: {
          token: {
            type: "http",
            scheme: "bearer",
            bearerFormat: "JWT",
            description: "A join token, or the operator's token.",
          },
        },
      },
    },
  });
}
