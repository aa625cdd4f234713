/**
 * Headers that every answer has. @fastify/helmet sets what is the same for all; the content security policy goes by
 * page.
 */
import helmet from "@fastify/helmet";
import type { FastifyInstance } from "fastify";

/**
 * Our pages run only their own scripts and talk only to this server; a page of `/docs` gets swagger-ui's own policy.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'", // The codec is WebAssembly; scripts are still only ours.
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self' blob:", // Textures of objects are read from blobs that the page made itself.
  "worker-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'self'",
].join("; ");

/**
 * swagger-ui styles itself inline. Its own default policy also upgrades to https, which a server on plain http does not
 * answer.
 */
export const DOCS_POLICY = CONTENT_SECURITY_POLICY.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'");

/** Helmet knows nothing of what a page may ask the browser for. */
const PERMISSIONS = { "permissions-policy": "camera=(), microphone=(), geolocation=()" };

/** Of answers that are given before any hook runs. */
export const EARLIEST_HEADERS = {
  ...PERMISSIONS,
  "x-content-type-options": "nosniff",
  "referrer-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
};

export interface PageOrigins {
  /** Of this process and the others: our pages may ask those, too. */
  publicUrls: readonly string[];
  /** May show pages of rooms in a frame; lobby and operators' page stay unframed. */
  embedOrigins: readonly string[];
}

export async function securityHeaders(
  fastify: FastifyInstance,
  { publicUrls, embedOrigins }: PageOrigins,
): Promise<void> {
  await fastify.register(helmet, {
    contentSecurityPolicy: false, // By page, below.
    frameguard: false, // `frame-ancestors` says it, and knows lists.
    crossOriginResourcePolicy: false, // Pages of other origins load `element.js` from here.
    strictTransportSecurity: false, // Whoever ends TLS decides; a server on plain http must not.
    // What no browser of today asks for would be a fiftieth of all bytes of a first visit.
    dnsPrefetchControl: false,
    ieNoOpen: false,
    originAgentCluster: false,
    permittedCrossDomainPolicies: false,
    xssFilter: false,
    referrerPolicy: { policy: "same-origin" },
  });
  const others = publicUrls.flatMap((url) => [url, url.replace(/^http/, "ws")]);
  const pages = CONTENT_SECURITY_POLICY.replace(
    "connect-src 'self' blob:",
    ["connect-src 'self' blob:", ...others].join(" "),
  );
  const rooms = pages.replace("frame-ancestors 'self'", ["frame-ancestors 'self'", ...embedOrigins].join(" "));
  fastify.addHook("onSend", async (request, reply) => {
    reply.headers(PERMISSIONS);
    if (!request.url.startsWith("/docs") && !reply.hasHeader("content-security-policy"))
      reply.header("content-security-policy", request.url.startsWith("/r/") ? rooms : pages);
  });
}
