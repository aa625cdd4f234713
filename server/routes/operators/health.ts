/** Liveness, readiness and metrics. */
import type { FastifyInstance } from "fastify";
import type { Metrics } from "../../metrics/metrics.ts";

export interface Readiness {
  /** Reason why the server should get no new visitors; null: ready. */
  reason: () => string | null;
}

const statusSchema = { type: "object", required: ["status"], properties: { status: { type: "string" } } };

export function healthRoutes(app: FastifyInstance, metrics: Metrics, readiness: Readiness): void {
  app.get(
    "/healthz",
    {
      logLevel: "warn",
      schema: { tags: ["operations"], summary: "The process is alive", response: { 200: statusSchema } },
    },
    async () => ({ status: "ok" }),
  );

  app.get(
    "/readyz",
    {
      logLevel: "warn",
      schema: {
        tags: ["operations"],
        summary: "The server is ready for rooms: its scenes are built and it is not shutting down",
        response: { 200: statusSchema, 503: statusSchema },
      },
    },
    async (_request, reply) => {
      const reason = readiness.reason();
      return reply.code(reason === null ? 200 : 503).send({ status: reason ?? "ready" });
    },
  );

  app.get(
    "/metrics",
    {
      logLevel: "warn",
      schema: {
        tags: ["operations"],
        summary: "Prometheus metrics",
        produces: ["text/plain"],
        response: { 200: { type: "string" } },
      },
    },
    async (_request, reply) => {
      const text = await metrics.registry.metrics();
      return reply.header("content-type", metrics.registry.contentType).send(text);
    },
  );
}
