/**
 * Requests that change something are refused when a page of another site sends them (CSRF): a form or a script there
 * reaches, through a visitor's browser, servers that only the visitor reaches, and spends the visitor's quota.
 * Browsers say which page sends a request (Origin; Fetch Metadata where they say no origin). Programs say neither.
 */
import type { FastifyInstance, FastifyRequest } from "fastify";
import { CodedError } from "../../shared/errors.ts";
import type { AuthMetrics } from "../metrics/auth.ts";

/** Methods that change nothing. */
const SAFE: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/** A client without an Origin header is no web page and cannot be misled by one. */
export function fromAllowedOrigin(request: FastifyRequest, allowed: readonly string[]): boolean {
  const { origin } = request.headers;
  if (origin === undefined || allowed.includes("*") || allowed.includes(origin)) return true;
  return allowed.includes("same") && URL.canParse(origin) && new URL(origin).host === request.host;
}

export interface CrossSiteOptions {
  /** PLIANT_ORIGINS */
  origins: readonly string[];
  /** Origins whose pages may use the whole HTTP API. */
  embedders: readonly string[];
  metrics: AuthMetrics;
}

export function refuseCrossSite(app: FastifyInstance, { origins, embedders, metrics }: CrossSiteOptions): void {
  // The server's own pages always may.
  const allowed = ["same", ...origins, ...embedders];
  // After every onRequest: only then are sockets known to be some, and requests that other processes have judged.
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
