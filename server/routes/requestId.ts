/**
 * One id per request: every log line of it says the id (`reqId`), and so does its answer (`x-request-id`), so that what
 * a visitor reports can be found. Behind a trusted proxy the proxy's id is taken, so that one request has one id on its
 * whole way.
 */
import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { FastifyInstance } from "fastify";

const REQUEST_ID_HEADER = "x-request-id";
/** What may go into a log line as it is. */
const ID = /^[\w.:-]{1,64}$/;

/** @param trustProxy as in the configuration: a client's own id is not believed, it could imitate somebody else's */
export const requestIds =
  (trustProxy: boolean) =>
  (request: Pick<IncomingMessage, "headers">): string => {
    const given = request.headers[REQUEST_ID_HEADER];
    return trustProxy && typeof given === "string" && ID.test(given) ? given : randomUUID();
  };

export function answerRequestIds(app: FastifyInstance): void {
  app.addHook("onSend", async (request, reply) => void reply.header(REQUEST_ID_HEADER, request.id));
}
