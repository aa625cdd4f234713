/**
 * Whether a request comes directly from the server's own machine, not through a proxy on it: then the client is the
 * operator.
 */
import type { FastifyRequest } from "fastify";
import { isLoopback } from "../../../shared/loopback.ts";

export function fromOwnMachine({ hostname, socket, headers }: FastifyRequest): boolean {
  const forwarded = headers.forwarded !== undefined || headers["x-forwarded-for"] !== undefined;
  return !forwarded && isLoopback(hostname) && isLoopback(socket.remoteAddress ?? "");
}
