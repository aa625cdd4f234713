/**
 * Refuses state-changing requests from pages of other sites (CSRF). A form or script there could use a visitor's
 * browser to reach servers in the visitor's network and spend the visitor's quota.
 * Browsers name the page that sends a request (Origin; Fetch Metadata if there is no Origin). Programs send neither.
 */
import type { FastifyInstance, FastifyRequest } from "fastify";
import { CodedError } from "../../shared/errors.ts";
import type { AuthMetrics } from "../metrics/auth.ts";

/** Methods that change nothing. */
const SAFE: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Whether the request's origin is allowed. A client without an Origin header is not a web page, so no page can misuse
 * it.
 */
export function fromAllowedOrigin(request: FastifyRequest, allowed: readonly string[]): boolean {
  const { origin } = request.headers;
  if (origin === undefined || allowed.includes("*") || allowed.includes(origin)) return true;
  return allowed.includes("same") && URL.canParse(origin) && new URL(origin).host === request.host;
}

export interface CrossSiteOptions {
  /** From PLIANT_ORIGINS. */
  origins: readonly string[];
  /** Origins whose pages may use the whole HTTP API. */
  embedders: readonly string[];
  metrics: AuthMetrics;
}

export function refuseCrossSite(app: FastifyInstance, { origins, embedders, metrics }: CrossSiteOptions): void {
  // The server's own pages are always allowed.
  const allowed = ["same", ...origins, ...embedders];
  // Runs after all onRequest hooks: only then are WebSockets and forwarded requests recognized.
  app.addHook("preParsing", async (request) => {
    if (SAFE.has(request.method) || request.ticket !== undefined) return;
    const { origin, "sec-fetch-site": site } = request.headers;
    const isOther = origin === undefined && (site === "cross-site" || site === "same-site");
    if (!isOther && fromAllowedOrigin(request, allowed)) return;
    metrics.refused("origin");
    throw new CodedError("ORIGIN_REFUSED", {
      field: origin === undefined ? "sec-fetch-site" : "origin",
      value: origin ?? String(site),
      limit: allowed.join(", "),
    });
  });
}
