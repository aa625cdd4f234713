/**
 * The client's files: lobby at `/`, room page at `/r/<room>` and its replay at `/r/<room>/replay`, operators' page at
 * `/admin`, assets, thumbnails. One index.html serves all pages.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import fastifyStatic from "@fastify/static";
import type { FastifyInstance } from "fastify";

/** Assets that Vite names by their content never change under their name. */
const HASHED_ASSET = /\/assets\/[^/]+-[A-Za-z0-9_-]{8,}\.[a-z0-9]+$/;

export async function pageRoutes(app: FastifyInstance, clientDir: string): Promise<void> {
  if (!existsSync(join(clientDir, "index.html"))) {
    app.log.warn({ clientDir }, "no built client here: only the API is served");
    return;
  }
  await app.register(fastifyStatic, {
    root: clientDir,
    // Looked up at every request, so a client that is built anew is served without a restart; what is not there is our
    // coded 404.
    wildcard: true,
    cacheControl: false,
    index: ["index.html"],
    setHeaders: (response, path) => {
      response.header(
        "cache-control",
        HASHED_ASSET.test(path.replaceAll("\\", "/")) ? "public, max-age=31536000, immutable" : "no-cache",
      );
    },
  });
  for (const page of ["/r/:room", "/r/:room/replay", "/admin"])
    app.get(page, { schema: { hide: true } }, (_request, reply) => reply.sendFile("index.html"));
}
