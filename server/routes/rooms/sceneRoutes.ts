/** Scenes and topologies: the list of scenes, and the data that clients need to draw them. */
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { CodedError } from "../../../shared/errorCodes.ts";
import type { SceneLibrary, SceneListing, TopologyDocument } from "../../rooms/scenes/sceneLibrary.ts";
import { fromOwnMachine } from "../guards/ownMachine.ts";
import { bytesAnswer, brokenSceneSchema, errorResponses, nameParam, sceneSchema } from "../schemas.ts";

/** The address contains the content's hash, so an answer never changes. */
const IMMUTABLE = "public, max-age=31536000, immutable";

/** Lists as JSON text for HTTP. A changed listing is a new object, so it gets new text. */
const documents = new WeakMap<SceneListing, { all: ListDocument; own: ListDocument }>();

interface ListDocument {
  body: string;
  etag: string;
}

function documentsOf(listing: SceneListing): { all: ListDocument; own: ListDocument } {
  let made = documents.get(listing);
  if (!made) {
    const { scenes, broken } = listing;
    const documentOf = (content: object): ListDocument => {
      const body = JSON.stringify(content);
      return { body, etag: `"${createHash("sha256").update(body).digest("hex").slice(0, 16)}"` };
    };
    const all = documentOf({ scenes });
    made = { all, own: broken.length > 0 ? documentOf({ scenes, broken }) : all };
    documents.set(listing, made);
  }
  return made;
}

/** @param roomScenes scenes of the rooms of all processes; null: there is only this process */
export function sceneRoutes(
  app: FastifyInstance,
  library: SceneLibrary,
  roomScenes: (() => Promise<string[]>) | null,
): void {
  listRoute(app, library);
  sceneRoute(app, library);
  topologyRoute(app, library, roomScenes);
}

function listRoute(app: FastifyInstance, library: SceneLibrary): void {
  app.get(
    "/api/scenes",
    {
      schema: {
        tags: ["scenes"],
        summary: "All scenes",
        description:
          "The list is at most one second old. `broken`, the scene files that cannot be used, is included only on the server's own machine. With the `etag` of an earlier answer in `if-none-match`, answers 304 if nothing has changed.",
        headers: { type: "object", properties: { "if-none-match": { type: "string" } } },
        response: {
          304: { type: "null", description: "Unchanged." },
          200: {
            type: "object",
            required: ["scenes"],
            properties: {
              scenes: { type: "array", items: sceneSchema },
              broken: { type: "array", items: brokenSceneSchema },
            },
          },
          ...errorResponses("TOO_MANY_REQUESTS"),
        },
      },
    },
    async (request, reply) => {
      const { all, own } = documentsOf(await library.list());
      const { body, etag } = fromOwnMachine(request) ? own : all;
      reply.header("cache-control", "no-cache").header("etag", etag);
      const known = request.headers["if-none-match"]?.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
      if (known?.includes(etag)) return reply.code(304).send(null);
      return reply.type("application/json; charset=utf-8").send(body);
    },
  );
}

function sceneRoute(app: FastifyInstance, library: SceneLibrary): void {
  app.get<{ Params: { scene: string } }>(
    "/api/scenes/:scene",
    {
      onSend: compressText,
      schema: {
        tags: ["scenes"],
        summary: "One scene, with its file's content",
        params: nameParam("scene", "Id of the scene."),
        response: {
          200: {
            ...sceneSchema,
            properties: {
              ...sceneSchema.properties,
              scene: {
                type: "object",
                additionalProperties: true,
                description: "The scene file; see scenes/schema.json.",
              },
            },
          },
          ...errorResponses("SCENE_NOT_FOUND", "SCENE_INVALID"),
        },
      },
    },
    (request) => library.summary(request.params.scene),
  );
}

function topologyRoute(
  app: FastifyInstance,
  library: SceneLibrary,
  roomScenes: (() => Promise<string[]>) | null,
): void {
  app.get<{ Params: { hash: string } }>(
    "/api/topologies/:hash",
    {
      schema: {
        tags: ["scenes"],
        summary: "A topology: msgpack, see PROTOCOL.md",
        params: nameParam("hash", "Content hash, from a room or from `welcome`."),
        response: { 200: bytesAnswer("application/msgpack", "msgpack"), ...errorResponses("TOPOLOGY_NOT_FOUND") },
      },
    },
    async (request, reply) => {
      const { hash } = request.params;
      if (!/^[0-9a-f]{32}$/.test(hash)) throw new CodedError("TOPOLOGY_NOT_FOUND", { field: "hash", value: hash });
      // The client's request may reach a process that has never had the room: build the scene here.
      if (!library.topology(hash) && roomScenes) await library.buildMissing(await roomScenes());
      const document = library.topology(hash);
      if (!document) throw new CodedError("TOPOLOGY_NOT_FOUND", { field: "hash", value: hash });
      const { encoding, bytes } = choose(document, request.headers["accept-encoding"] ?? "");
      if (encoding) reply.header("content-encoding", encoding);
      return reply
        .header("content-type", "application/msgpack")
        .header("cache-control", IMMUTABLE)
        .header("vary", "accept-encoding")
        .send(bytes);
    },
  );
}

const takes = (accepted: string, name: string): boolean =>
  accepted.split(",").some((part) => part.trim().split(";")[0] === name && !/;\s*q=0(\.0*)?\s*$/.test(part));

/** Compresses an answer of some size: scenes have their texts in all languages. */
export async function compressText(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
  if (typeof payload !== "string" || payload.length < 1000) return payload;
  reply.header("vary", "accept-encoding");
  if (!takes(request.headers["accept-encoding"] ?? "", "br")) return payload;
  reply.header("content-encoding", "br");
  return promisify(brotliCompress)(payload, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
}

/** Returns the smallest encoding that is ready and that the client accepts; `q=0` refuses an encoding. */
function choose(document: TopologyDocument, accepted: string): { encoding: string | null; bytes: Buffer } {
  if (document.brotli && takes(accepted, "br")) return { encoding: "br", bytes: document.brotli };
  if (document.gzip && takes(accepted, "gzip")) return { encoding: "gzip", bytes: document.gzip };
  return { encoding: null, bytes: document.raw };
}
