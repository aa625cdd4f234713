/** The physics report (`npm run report`) at /report, as soon as there is one. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import { CodedError } from "../../shared/errors.ts";

/** It is one page without scripts that brings its style and pictures along. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/** @param reportDir holds index.html and report.json; read at every request, so that a new report needs no restart */
export function reportRoutes(app: FastifyInstance, reportDir: string): void {
  const send = (path: string, file: string, type: string): void => {
    app.get(path, { schema: { hide: true } }, async (_request, reply) => {
      const content = await readFile(join(reportDir, file)).catch(() => undefined);
      if (!content) throw new CodedError("NOT_FOUND", { field: "path", value: path }, "There is no physics report here yet: npm run report makes it.");
      return reply.headers({ "content-type": type, "content-security-policy": POLICY, "cache-control": "no-cache" }).send(content);
    });
  };
  send("/report", "index.html", "text/html; charset=utf-8");
  send("/report/report.json", "report.json", "application/json");
}
