/**
 * What is large goes to a page directly from the process that has the room, past the one that the page came from: other
 * origins' pages may read it (CORS) if they are this cluster's own. Pages that embed rooms may read the whole API if
 * their origins are listed (PLIANT_EMBED_ORIGINS), and no others. Nothing goes along by itself: there are no cookies,
 * and a page that has no token for the room reads what anybody may.
 */
import cors from "@fastify/cors";
import type { FastifyInstance } from "fastify";

/** Routes that pages ask the owner for. */
const DIRECT = /^\/api\/rooms\/[^/]+\/(recording|replay)$/;
/** The script of `<pliant-room>`, in which nothing is anybody's: every page may run it. */
const ELEMENT = "/pliant-room.js";
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

export interface CrossOrigin {
  /** Is a page of this origin one of the cluster's own? */
  isOurs: (origin: string) => boolean;
  /** Origins of pages that others make, which may use the whole HTTP API. */
  embedders: readonly string[];
}

/** Before everything that may refuse: a page is to learn why. */
export async function allowOtherOrigins(app: FastifyInstance, { isOurs, embedders }: CrossOrigin): Promise<void> {
  const options = (methods: string[], allowedHeaders: string[]) => ({
    origin: true,
    methods,
    allowedHeaders,
    exposedHeaders: ["content-disposition", "retry-after"],
    maxAge: REMEMBERED_SECONDS,
    strictPreflight: false,
  });
  const embedded = options(["GET", "POST", "DELETE"], ["authorization", "content-type"]);
  const own = options(["GET"], ["authorization"]);
  await app.register(cors, {
    delegator: (request, answer) => {
      const { origin } = request.headers;
      const path = request.url.split("?")[0]!;
      if (path === ELEMENT) answer(null, { origin: "*", methods: ["GET"] });
      else if (origin !== undefined && embedders.includes(origin) && path.startsWith("/api/")) answer(null, embedded);
      else if (origin !== undefined && DIRECT.test(path) && isOurs(origin)) answer(null, own);
      else answer(null, { origin: false });
    },
  });
}
