/**
 * Refuses state-changing requests from pages of other sites (CSRF). A form or script there could use a visitor's
 * browser to reach servers in the visitor's network and spend the visitor's quota.
 * Browsers name the page that sends a request (Origin; Fetch Metadata if there is no Origin). Programs send neither.
 */
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from "fastify";
import { CodedError } from "../../../shared/errorCodes.ts";
import type { Config } from "../../config.ts";
import type { AuthMetrics } from "../../metrics/auth.ts";

/** Methods that change nothing. */
const SAFE: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/** Pages of this computer, on any port. */
const LOCAL_PAGE = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

/** Whether the list names the origin. The word `localhost` names the pages of this computer (PLIANT_LOCAL_PAGES). */
export function lists(allowed: readonly string[], origin: string): boolean {
  return allowed.includes(origin) || (allowed.includes("localhost") && LOCAL_PAGE.test(origin));
}

/**
 * Whether the request's origin is allowed. The server's own pages always are. A client without an Origin header is not
 * a web page, so no page can misuse it.
 */
export function fromAllowedOrigin(request: FastifyRequest, allowed: readonly string[]): boolean {
  const { origin } = request.headers;
  if (origin === undefined || allowed.includes("*") || lists(allowed, origin)) return true;
  return URL.canParse(origin) && new URL(origin).host === request.host;
}

/** Tells the operator about settings that are easily mistaken. */
export function warnAboutOrigins({ origins, localPages }: Config, log: FastifyBaseLogger): void {
  if (!origins.includes("same"))
    log.warn({ origins }, "PLIANT_ORIGINS does not list `same`; the server's own pages are allowed all the same");
  if (localPages)
    log.warn("PLIANT_LOCAL_PAGES is on: all pages of this computer may use the API; for development only");
}

export interface CrossSiteOptions {
  /** From PLIANT_ORIGINS. */
  origins: readonly string[];
  /** Origins whose pages may use the whole HTTP API. */
  embedders: readonly string[];
  metrics: AuthMetrics;
}

export function refuseCrossSite(app: FastifyInstance, { origins, embedders, metrics }: CrossSiteOptions): void {
  const allowed = [...origins, ...embedders];
  // Runs after all onRequest hooks: only then are WebSockets and forwarded requests recognized.
  app.addHook("preParsing", async (request) => {
    if (SAFE.has(request.method) || request.ticket !== undefined) return;
    const { origin, "sec-fetch-site": site } = request.headers;
    const isListed = origin !== undefined && (allowed.includes("*") || lists(allowed, origin));
    // Also of the same host: its page at http:// is another site than its page at https://.
    const isOther = (site === "cross-site" || site === "same-site") && !isListed;
    if (!isOther && fromAllowedOrigin(request, allowed)) return;
    metrics.refused("origin");
    throw new CodedError("ORIGIN_REFUSED", {
      field: origin === undefined ? "sec-fetch-site" : "origin",
      value: origin ?? String(site),
      limit: `PLIANT_ORIGINS, PLIANT_EMBED_ORIGINS: ${[...new Set(["same", ...allowed])].join(", ")}`,
    });
  });
}
