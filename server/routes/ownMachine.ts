/** Whether a request comes from the server's own machine, and from no proxy on it: from whoever runs the server. */
import type { FastifyRequest } from "fastify";
import { isLoopback } from "../../shared/loopback.ts";

export function fromOwnMachine({ hostname, socket, headers }: FastifyRequest): boolean {
  const forwarded = headers.forwarded !== undefined || headers["x-forwarded-for"] !== undefined;
  return !forwarded && isLoopback(hostname) && isLoopback(socket.remoteAddress ?? "");
}
