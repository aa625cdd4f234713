/**
 * Serves the physics report (`npm run report`) at /report. Pages link there only if it exists; until then the address
 * explains how to create one.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import { CodedError } from "../../shared/errorCodes.ts";

/** The report is one page without scripts, with embedded style and pictures. */
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const NONE_YET = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Pliant: no physics report yet</title>
<style>body { max-width: 36rem; margin: 12vh auto; padding: 0 1.2rem; font: 1.05rem/1.6 system-ui, sans-serif; } pre { padding: 0.8em 1em; border: 1px solid #8886; border-radius: 0.5em; overflow-x: auto; } a { color: inherit; }</style>
</head>
<body>
<main>
<h1>No physics report yet</h1>
<p>The report measures every figure of the papers behind this physics, and shows the results beside the published values. This server has none yet. Its operator can create one in the project's folder:</p>
<pre><code>npm ci
npm run report</code></pre>
<p>That takes some minutes. The page then appears here, without a restart.</p>
<p><a href="/">To the lobby</a></p>
</main>
</body>
</html>
`;

/** @param reportDir holds index.html and report.json; read at every request, so that a new report needs no restart */
export function reportRoutes(app: FastifyInstance, reportDir: string): void {
  const read = (file: string): Promise<Buffer | undefined> => readFile(join(reportDir, file)).catch(() => undefined);

  app.get("/report", { schema: { hide: true } }, async (_request, reply) => {
    const page = (await read("index.html")) ?? NONE_YET;
    return reply
      .headers({
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": POLICY,
        "cache-control": "no-cache",
      })
      .send(page);
  });

  app.get("/report/report.json", { schema: { hide: true } }, async (_request, reply) => {
    const json = await read("report.json");
    if (!json)
      throw new CodedError(
        "NOT_FOUND",
        { field: "path", value: "/report/report.json" },
        "There is no physics report here yet: npm run report creates it.",
      );
    return reply.headers({ "content-type": "application/json", "cache-control": "no-cache" }).send(json);
  });
}
