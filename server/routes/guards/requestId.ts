/**
 * Request ids. Every log line of a request contains its id (`reqId`), and so does its answer (`x-request-id`). So
 * visitors' reports can be matched with the log. Behind a trusted proxy the proxy's id is used, so that a request has
 * one id on its whole way.
 */
import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { FastifyInstance } from "fastify";

const REQUEST_ID_HEADER = "x-request-id";
/** Characters that are safe in a log line. */
const ID = /^[\w.:-]{1,64}$/;

/** @param trustProxy as in the configuration; without a trusted proxy a client could imitate another request's id */
export const requestIds =
  (trustProxy: boolean) =>
  (request: Pick<IncomingMessage, "headers">): string => {
    const given = request.headers[REQUEST_ID_HEADER];
    return trustProxy && typeof given === "string" && ID.test(given) ? given : randomUUID();
  };

export function answerRequestIds(app: FastifyInstance): void {
  app.addHook("onSend", async (request, reply) => void reply.header(REQUEST_ID_HEADER, request.id));
}
