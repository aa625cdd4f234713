/** Headers of every answer. @fastify/helmet sets the common ones; the content security policy depends on the page. */
import helmet from "@fastify/helmet";
import type { FastifyInstance } from "fastify";

/** Our pages run only their own scripts and connect only to this server. Pages of `/docs` get swagger-ui's policy. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'", // Allows the codec's WebAssembly; scripts are still limited to our own.
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self' blob:", // Objects' textures are read from blobs that the page creates.
  "worker-src 'self'",
  "frame-src 'self'", // The lobby shows a room.
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

/**
 * swagger-ui uses inline styles. Its own default policy also upgrades to https, which a plain-http server does not
 * answer.
 */
export const DOCS_POLICY = CONTENT_SECURITY_POLICY.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'");

/** Helmet has no option for this header. */
const PERMISSIONS = { "permissions-policy": "camera=(), microphone=(), geolocation=()" };

/** Headers of answers that are sent before any hook runs. */
export const EARLIEST_HEADERS = {
  ...PERMISSIONS,
  "x-content-type-options": "nosniff",
  "referrer-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
};

/** `localhost` of `embedOrigins` in the words of a content security policy, which knows no IPv6 addresses. */
const LOCAL_PAGES = ["localhost", "127.0.0.1"].flatMap((host) => [`http://${host}:*`, `https://${host}:*`]);

export interface PageOrigins {
  /** Public addresses of this process and the others: our pages may connect to all of them. */
  publicUrls: readonly string[];
  /** Origins that may show room pages in a frame. Lobby and operators' page cannot be framed. */
  embedOrigins: readonly string[];
}

export async function securityHeaders(
  fastify: FastifyInstance,
  { publicUrls, embedOrigins }: PageOrigins,
): Promise<void> {
  await fastify.register(helmet, {
    contentSecurityPolicy: false, // Set per page, below.
    frameguard: false, // `frame-ancestors` replaces it and supports lists.
    crossOriginResourcePolicy: false, // Pages of other origins load `pliant-room.js` from here.
    strictTransportSecurity: false, // The TLS terminator decides; a plain-http server must not send it.
    // No current browser needs these headers, and they would be 2 % of all bytes of a first visit.
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
  const framing = embedOrigins.flatMap((origin) => (origin === "localhost" ? LOCAL_PAGES : [origin]));
  const rooms = pages.replace("frame-ancestors 'none'", ["frame-ancestors 'self'", ...framing].join(" "));
  fastify.addHook("onSend", async (request, reply) => {
    // Without it a shared cache may keep an answer by its own rules: tokens, positions, or a 404 of a file that the
    // next version has.
    if (!reply.hasHeader("cache-control")) reply.header("cache-control", "no-store");
    // Only documents have permissions.
    if (`${reply.getHeader("content-type")}`.startsWith("text/html")) reply.headers(PERMISSIONS);
    if (!request.url.startsWith("/docs") && !reply.hasHeader("content-security-policy"))
      reply.header("content-security-policy", request.url.startsWith("/r/") ? rooms : pages);
  });
}
