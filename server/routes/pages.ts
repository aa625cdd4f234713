/**
 * The client's files: lobby at `/`, room page at `/r/<room>` and its replay at `/r/<room>/replay`, operators' page at
 * `/admin`, what a material's numbers mean at `/materials`, assets, thumbnails. One index.html serves all pages.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import fastifyStatic from "@fastify/static";
import type { FastifyInstance } from "fastify";

/** Assets that Vite names by their content never change under their name. */
const HASHED_ASSET = /\/assets\/[^/]+-[A-Za-z0-9_-]{8,}\.[a-z0-9]+(\.(br|gz))?$/;
/** Their names stay when they are drawn anew; a lobby that shows the old ones for an hour does no harm. */
const PICTURE = /\/thumbnails\/[^/]+$/;

/** @param path of a file, with slashes */
function cacheControl(path: string): string {
  if (HASHED_ASSET.test(path)) return "public, max-age=31536000, immutable";
  return PICTURE.test(path) ? "public, max-age=3600, stale-while-revalidate=86400" : "no-cache";
}

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
    // the build has put a smaller form beside each file that is worth it (vite.config.ts)
    preCompressed: true,
    setHeaders: (response, path) => void response.header("cache-control", cacheControl(path.replaceAll("\\", "/"))),
  });
  for (const page of ["/r/:room", "/r/:room/replay", "/admin", "/materials"])
    app.get(page, { schema: { hide: true } }, (_request, reply) => reply.sendFile("index.html"));
}
