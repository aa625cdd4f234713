/** Strict text in requests: bodies and queries are UTF-8 without lone surrogates, or the request is refused. */
import { isUtf8 } from "node:buffer";
import type { FastifyInstance } from "fastify";
import { CodedError } from "../../shared/errors.ts";

const refused = (field: string): CodedError =>
  new CodedError("BODY_INVALID", { field, limit: "UTF-8 without lone surrogates" });

/** JSON can name lone surrogates by escapes. @throws CodedError */
function refuseSurrogates(json: string): void {
  if (!json.includes("\\u")) return;
  JSON.parse(json, (key, value: unknown) => {
    if (!key.isWellFormed() || (typeof value === "string" && !value.isWellFormed())) throw refused("body");
    return value;
  });
}

export function refuseInvalidText(fastify: FastifyInstance): void {
  const parse = fastify.getDefaultJsonParser("error", "error");
  fastify.addContentTypeParser<Buffer>("application/json", { parseAs: "buffer" }, (request, body, done) => {
    if (!isUtf8(body)) return done(refused("body"));
    const json = body.toString("utf8");
    try {
      refuseSurrogates(json);
    } catch (error) {
      if (error instanceof CodedError) return done(error);
      // Broken JSON gets the parser's own answer.
    }
    return parse(request, json, done);
  });
  // Runs after all onRequest hooks: only then is a socket known as one, so that its refusal can end it.
  fastify.addHook("preParsing", async (request) => {
    const [, query = ""] = (request.raw.url ?? "").split(/\?(.*)/s);
    try {
      decodeURIComponent(query);
    } catch {
      throw refused("query");
    }
  });
}
