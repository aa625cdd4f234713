/**
 * Serves the client's files: lobby at `/`, room page at `/r/<room>`, its replay at `/r/<room>/replay`, operators' page
 * at `/admin`, explanation of materials at `/materials`, gallery at `/gallery`, assets, thumbnails. One index.html
 * serves all pages.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import fastifyStatic from "@fastify/static";
import type { FastifyInstance } from "fastify";
import { refuseFrame } from "./guards/framedElsewhere.ts";

/** Assets that Vite names by their content: a file of this name never changes. */
const HASHED_ASSET = /\/assets\/[^/]+-[A-Za-z0-9_-]{8,}\.[a-z0-9]+(\.(br|gz))?$/;
/** Thumbnails keep their names when they are redrawn. Showing an old one for an hour is harmless. */
const PICTURE = /\/thumbnails\/[^/]+$/;

/** @param path of a file, with slashes */
function cacheControl(path: string): string {
  if (HASHED_ASSET.test(path)) return "public, max-age=31536000, immutable";
  return PICTURE.test(path) ? "public, max-age=3600, stale-while-revalidate=86400" : "no-cache";
}

/** @param embedders origins that may frame rooms */
export async function pageRoutes(app: FastifyInstance, clientDir: string, embedders: readonly string[]): Promise<void> {
  if (!existsSync(join(clientDir, "index.html"))) {
    app.log.warn({ clientDir }, "no built client here: only the API is served");
    return;
  }
  await app.register(fastifyStatic, {
    root: clientDir,
    // Files are looked up at every request, so a rebuilt client needs no restart. A missing file gets our coded 404.
    wildcard: true,
    cacheControl: false,
    index: ["index.html"],
    // The build stores a compressed form beside each file that gains from it (vite.config.ts).
    preCompressed: true,
    setHeaders: (response, path) => void response.header("cache-control", cacheControl(path.replaceAll("\\", "/"))),
  });
  for (const page of ["/r/:room", "/r/:room/replay", "/admin", "/materials", "/gallery"])
    app.get(page, { schema: { hide: true } }, (request, reply) =>
      page.startsWith("/r/") && refuseFrame(request, reply, embedders) ? reply : reply.sendFile("index.html"),
    );
}
