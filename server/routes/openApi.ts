/** General part of the OpenAPI description; register it before the routes. */
import swagger from "@fastify/swagger";
import type { FastifyInstance } from "fastify";

export async function describeApi(fastify: FastifyInstance): Promise<void> {
  await fastify.register(swagger, {
    openapi: {
      info: {
        title: "Pliant",
        description:
          "Rooms of soft bodies and cloth. The socket protocol is described in PROTOCOL.md. Pages of other origins may " +
          "use this API if the operator lists them in PLIANT_EMBED_ORIGINS.",
        version: "0.1.0",
      },
      tags: [
        { name: "scenes" },
        { name: "objects" },
        { name: "rooms" },
        { name: "auth" },
        { name: "admin" },
        { name: "operations" },
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
