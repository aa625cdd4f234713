/**
 * Removes secrets from the log. Tokens and passwords travel in the Authorization header, in hello and in the URL
 * fragment, and none of these is logged. This also removes secrets from wrong places: a token in a query, a cookie.
 */
import type { FastifyRequest } from "fastify";

const CENSORED = "[redacted]";
/** Query parameters whose names suggest a secret. */
const SECRET_PARAMETERS = /([?&](?:[^=&#]*(?:token|password|secret|authorization|key)[^=&#]*)=)[^&#]*/gi;

export const redactUrl = (url: string): string => url.replace(SECRET_PARAMETERS, `$1${CENSORED}`);

/** Options of the server's logger (pino). */
export function logOptions(level: string): object {
  return {
    level,
    redact: {
      paths: [
        "req.headers.authorization",
        "req.headers.cookie",
        "token",
        "password",
        "*.token",
        "*.password",
        "*.authorization",
      ],
      censor: CENSORED,
    },
    serializers: {
      req: ({ method, url, host, ip, socket }: FastifyRequest) => ({
        method,
        url: redactUrl(url),
        host,
        remoteAddress: ip,
        remotePort: socket?.remotePort,
      }),
    },
  };
}
