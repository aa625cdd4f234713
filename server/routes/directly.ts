/**
 * What is large goes to a page directly from the process that has the room, past the one that the page came from: other
 * origins' pages may read it (CORS) if they are this cluster's own, and no others. Nothing goes along by itself: there
 * are no cookies, and a page that has no token for the room reads what anybody may.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

/** Routes that pages ask the owner for. */
const DIRECT = ["/api/rooms/:room/recording", "/api/rooms/:room/replay"];
/** For so long a browser does not ask whether it may ask, s. */
const REMEMBERED_SECONDS = 600;

/**
 * @param publicUrls where visitors reach this process and the others; in `https://*.play.example` the star is one label
 * @param origins of pages that may open sockets; `same` and `*` name none
 * @returns is a page of this origin one of ours?
 */
export function ownOrigins(publicUrls: readonly string[], origins: readonly string[]): (origin: string) => boolean {
  const named = [...publicUrls, ...origins].filter((url) => url !== "same" && url !== "*");
  const exact = new Set(
    named.filter((url) => !url.includes("*") && URL.canParse(url)).map((url) => new URL(url).origin),
  );
  const domains = named
    .filter((url) => url.includes("*"))
    .map((url) => /^(https?:\/\/)\*(\.[^*]+)$/.exec(url))
    .flatMap((parts) => (parts ? [{ scheme: parts[1]!, rest: parts[2]!.toLowerCase() }] : []));
  return (origin) => {
    if (exact.has(origin)) return true;
    return domains.some(({ scheme, rest }) => {
      if (!origin.startsWith(scheme) || !origin.endsWith(rest)) return false;
      return /^[a-z0-9-]+$/.test(origin.slice(scheme.length, -rest.length));
    });
  };
}

/** Before the routes. @param isOurs is a page of this origin one of the cluster's own? */
export function allowOwnPages(app: FastifyInstance, isOurs: (origin: string) => boolean): void {
  const allow = (request: FastifyRequest, reply: FastifyReply): boolean => {
    const { origin } = request.headers;
    void reply.header("vary", "origin");
    if (origin === undefined || !isOurs(origin)) return false;
    void reply
      .header("access-control-allow-origin", origin)
      .header("access-control-expose-headers", "content-disposition, retry-after");
    return true;
  };
  app.addHook("onRequest", async (request, reply) => {
    if (DIRECT.includes(request.routeOptions.url ?? "")) allow(request, reply);
  });
  for (const url of DIRECT)
    app.options(url, { schema: { hide: true } }, async (request, reply) => {
      if (allow(request, reply))
        void reply
          .header("access-control-allow-methods", "GET")
          .header("access-control-allow-headers", "authorization")
          .header("access-control-max-age", String(REMEMBERED_SECONDS));
      return reply.code(204).send(null);
    });
}
