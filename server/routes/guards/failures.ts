/** Error answers: every error leaves as `{code, message, field?, value?, limit?}`. */
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type {
  FastifyError,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifySchemaValidationError,
} from "fastify";
import { CodedError } from "../../../shared/errorCodes.ts";
import { STORED_SCENE } from "../../objects/objects.ts";
import { SMALL_BODY } from "./connectionLimits.ts";
import { EARLIEST_HEADERS } from "./headers.ts";
import { fromOwnMachine } from "./ownMachine.ts";

/** The store failed before the request changed anything. */
const STORE_AWAY = "The server cannot reach its store; try again in a moment.";

/** `retry-after` of limits that do not know when they end, s. */
const RETRY_SECONDS = 5;

/** Path of an address, without its query. */
export const pathOf = (url: string | undefined): string | undefined => url?.split("?")[0];

/** Answers a malformed percent escape in the address, before all hooks. */
export function answerBadAddress(_error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const error = new CodedError("BODY_INVALID", { field: "path", value: pathOf(request.raw.url) });
  // No handler owns an upgraded connection here, so it would stay open forever.
  if (request.raw.headers.upgrade !== undefined) reply.raw.once("finish", () => request.raw.socket.destroySoon());
  return reply.code(error.status).headers(EARLIEST_HEADERS).send(error.toBody());
}

/** Statuses of requests that Node could not read. */
const UNREADABLE: Record<string, number> = { ERR_HTTP_REQUEST_TIMEOUT: 408, HPE_HEADER_OVERFLOW: 431 };

/** Answers bytes that are no HTTP request, before there is a request. */
export function answerUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || socket.destroyed) return;
  const status = UNREADABLE[error.code ?? ""] ?? 400;
  const coded = new CodedError("BODY_INVALID", { field: "request", limit: "a complete HTTP request" });
  const body = JSON.stringify(coded.toBody());
  const headers = { ...EARLIEST_HEADERS, "content-type": "application/json", "content-length": body.length };
  const lines = Object.entries({ ...headers, connection: "close" }).map(([name, value]) => `${name}: ${value}\r\n`);
  if (socket.writable) socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${body}`);
  socket.destroy(error);
}

/** Unforeseen errors are logged, and their answers reveal no details. */
export function answerFailures(fastify: FastifyInstance): void {
  fastify.setNotFoundHandler((request, reply) => {
    // Show the page to people who mistyped an address in a browser. Programs, and files that a page loads, get the
    // error.
    if (asksForPage(request) && fastify.hasReplyDecorator("sendFile"))
      return reply.code(404).header("cache-control", "no-cache").sendFile("index.html");
    const error = new CodedError("NOT_FOUND", { field: "path", value: pathOf(request.url) });
    return reply.code(error.status).send(error.toBody());
  });
  // Refuse a WebSocket at an unknown address before it is upgraded.
  fastify.addHook("preValidation", async (request) => {
    if (request.ws && (request.is404 || request.routeOptions.url === "/*"))
      throw new CodedError("NOT_FOUND", { field: "path", value: pathOf(request.url) });
  });
  fastify.setErrorHandler((error: FastifyError, request, reply) => {
    const coded = toldTo(request, toCodedError(error, pathOf(request.url)));
    // Its client has gone, so reading its body failed: no defect, and no answer arrives.
    if (request.raw.readableAborted) request.log.info("the client closed the connection during its request");
    else if (coded.status >= 500 && coded.code === "INTERNAL") request.log.error({ err: error }, "request failed");
    if (coded.status === 429 && !reply.hasHeader("retry-after"))
      void reply.header("retry-after", coded.retryAfter ?? RETRY_SECONDS);
    return reply.code(coded.status).send(coded.toBody());
  });
}

/**
 * Details of the operator's scene files (paths, parts of the text) are told on the server's own machine only. A scene
 * that a visitor has made tells the visitor what is wrong.
 */
function toldTo(request: FastifyRequest, error: CodedError): CodedError {
  const { code, details } = error;
  const isFile = code === "SCENE_INVALID" || code === "BUILD_FAILED";
  if (!isFile || STORED_SCENE.test(String(details.value)) || fromOwnMachine(request)) return error;
  return new CodedError(code, { field: "scene", value: details.value });
}

function asksForPage({ method, url, headers }: FastifyRequest): boolean {
  return method === "GET" && !url.startsWith("/api/") && (headers.accept ?? "").includes("text/html");
}

function toCodedError(error: FastifyError, path: string | undefined): CodedError {
  if (error instanceof CodedError) return error;
  if (error.name === "StoreUnavailable") return new CodedError("STORE_AWAY", {}, STORE_AWAY);
  const [problem] = error.validation ?? [];
  if (problem) return violation(problem, error.validationContext);
  // @fastify/static's refusal of a path that leads out of its folder or begins with two slashes.
  if (error.statusCode === 403) return new CodedError("NOT_FOUND", { field: "path", value: path });
  // Fastify's own refusals: broken JSON, a body that is too large, an unsupported content type.
  if (error.statusCode !== undefined && error.statusCode < 500) {
    const field = { 412: "if-match", 415: "content-type" }[error.statusCode] ?? "body";
    const limit = { 413: `${SMALL_BODY} bytes`, 415: "application/json" }[error.statusCode];
    return new CodedError("BODY_INVALID", { field, ...(limit && { limit }) }, error.message);
  }
  return new CodedError("INTERNAL");
}

/** Longest value that an error repeats, characters. */
const LONGEST_VALUE = 100;

/**
 * @param problem of a schema; its `data` is the refused value
 * @param part of the request: body, querystring, ...
 */
function violation(problem: FastifySchemaValidationError & { data?: unknown }, part = "body"): CodedError {
  const { missingProperty, additionalProperty, allowedValues } = problem.params as Partial<Record<string, unknown>>;
  const path = [...problem.instancePath.split("/").slice(1), missingProperty ?? additionalProperty ?? []].flat();
  const field = path.join(".") || part;
  const said = problem.message ?? "invalid";
  const limit = Array.isArray(allowedValues) ? `one of ${allowedValues.join(", ")}` : said;
  const { data } = problem;
  const value = typeof data === "string" ? data.slice(0, LONGEST_VALUE) : data;
  return new CodedError(
    "BODY_INVALID",
    { field, ...(typeof value !== "object" && { value }), limit },
    `${field}: ${said}`,
  );
}
