/**
 * CORS rules. Pages load large answers directly from the process that has the room, even if they came from another
 * process, so the cluster's own origins may read them. Pages that embed rooms may read the whole API if
 * PLIANT_EMBED_ORIGINS lists them; no other pages may. There are no cookies, so browsers send no credentials: a page
 * without a token reads only public data.
 */
import cors from "@fastify/cors";
import type { FastifyInstance } from "fastify";
import { lists } from "./crossSite.ts";

/** Routes that pages request from the owning process. */
const DIRECT = /^\/api\/rooms\/[^/]+\/(recording|replay)$/;
/** The script of `<pliant-room>`. It contains no private data, so every page may run it. */
const ELEMENT = "/pliant-room.js";
/** Time for which browsers cache the answer to a preflight request, s. */
const REMEMBERED_SECONDS = 600;

/**
 * @param publicUrls public addresses of this process and the others; in `https://*.play.example` the star is one label
 * @param origins of pages that may open sockets; `same` and `*` name none
 * @returns a test whether an origin belongs to this cluster
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

export interface CrossOrigin {
  /** Whether an origin is one of the cluster's own. */
  isOurs: (origin: string) => boolean;
  /** Origins of third-party pages that may use the whole HTTP API. */
  embedders: readonly string[];
}

/** Register before all hooks that may refuse a request, so that pages can read the reason. */
export async function allowOtherOrigins(app: FastifyInstance, { isOurs, embedders }: CrossOrigin): Promise<void> {
  const options = (methods: string[], allowedHeaders: string[]) => ({
    origin: true,
    methods,
    allowedHeaders,
    exposedHeaders: ["content-disposition", "retry-after"],
    maxAge: REMEMBERED_SECONDS,
    strictPreflight: false,
  });
  const embedded = options(["GET", "POST", "PATCH", "DELETE"], ["authorization", "content-type", "idempotency-key"]);
  const own = options(["GET"], ["authorization"]);
  await app.register(cors, {
    delegator: (request, answer) => {
      const { origin } = request.headers;
      const path = request.url.split("?")[0]!;
      if (path === ELEMENT) answer(null, { origin: "*", methods: ["GET"] });
      else if (origin !== undefined && lists(embedders, origin) && path.startsWith("/api/")) answer(null, embedded);
      else if (origin !== undefined && DIRECT.test(path) && isOurs(origin)) answer(null, own);
      else answer(null, { origin: false });
    },
  });
}
