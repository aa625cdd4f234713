/**
 * Strict text in requests: bodies, paths and queries are UTF-8 without lone surrogates and U+0000 (which PostgreSQL
 * cannot store), and no object of a body has a name twice, or the request is refused.
 */
import { isUtf8 } from "node:buffer";
import type { FastifyInstance } from "fastify";
import { CodedError } from "../../../shared/errorCodes.ts";
import { repeatedKeys } from "../../../shared/repeatedKeys.ts";

const refused = (field: string): CodedError =>
  new CodedError("BODY_INVALID", { field, limit: "UTF-8 without lone surrogates and U+0000" });

const isStrict = (text: string): boolean => text.isWellFormed() && !text.includes("\0");

/** JSON can name lone surrogates and U+0000 by escapes. @throws CodedError */
function refuseEscapes(json: string): void {
  if (!json.includes("\\u")) return;
  JSON.parse(json, (key, value: unknown) => {
    if (!isStrict(key) || (typeof value === "string" && !isStrict(value))) throw refused("body");
    return value;
  });
}

export function refuseInvalidText(fastify: FastifyInstance): void {
  const parse = fastify.getDefaultJsonParser("error", "error");
  fastify.addContentTypeParser<Buffer>("application/json", { parseAs: "buffer" }, (request, body, done) => {
    if (!isUtf8(body)) return done(refused("body"));
    const json = body.toString("utf8");
    try {
      refuseEscapes(json);
    } catch (error) {
      if (error instanceof CodedError) return done(error);
      // Broken JSON gets the parser's own answer.
    }
    return parse(request, json, (error, value) => {
      const [twice] = error ? [] : repeatedKeys(json);
      if (!twice) return done(error, value);
      const field = twice.path.slice(1).replaceAll("/", ".");
      done(new CodedError("BODY_INVALID", { field, limit: "there once: readers disagree about which value counts" }));
    });
  });
  // Runs after all onRequest hooks: only then is a socket known as one, so that its refusal can end it.
  fastify.addHook("preParsing", async (request) => {
    const [path, query = ""] = (request.raw.url ?? "").split(/\?(.*)/s);
    if (path!.includes("%00")) throw refused("path");
    try {
      if (decodeURIComponent(query).includes("\0")) throw refused("query");
    } catch {
      throw refused("query");
    }
  });
}
