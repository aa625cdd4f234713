/** Uploaded objects over HTTP: upload a file, read the findings and the preview mesh, and create a scene from it. */
import type { Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { CodedError } from "../../../shared/errorCodes.ts";
import { OBJECT_ROLES, PRESET_NAMES } from "../../../shared/scene/objectRoles.ts";
import { atLeast } from "../../../shared/members/roles.ts";
import { addressKey, Attempts } from "../../auth/addresses.ts";
import type { Audit } from "../../auth/audit.ts";
import type { BaseScene, ObjectChoice } from "../../objects/composeScene.ts";
import { boundsOf } from "../../objects/bounds.ts";
import type { Objects } from "../../objects/objects.ts";
import { type UploadPlace, UploadPlaces } from "../../objects/uploadPlaces.ts";
import type { SceneLibrary } from "../../rooms/scenes/sceneLibrary.ts";
import type { ObjectRecord } from "../../store/objects/objectStore.ts";
import type { RequestAuth } from "../guards/requestAuth.ts";
import { bytesAnswer, errorResponses, nameParam } from "../schemas.ts";

/** The address contains the content's hash, so an answer never changes. */
const IMMUTABLE = "public, max-age=31536000, immutable";
/** If a browser opens the mesh as a page, this policy gives it no script, no origin and nothing to load. */
const SANDBOXED = "default-src 'none'; sandbox";
/** First buffer for a file of unknown length, bytes. It grows as data arrives. */
const FIRST_BYTES = 64 * 1024;
/** Scenes allowed per uploaded object: each size makes another scene, and users try several sizes. */
const SCENES_PER_UPLOAD = 3;

export interface ObjectRouteOptions {
  requestAuth: RequestAuth;
  audit: Audit;
  objects: Objects;
  library: SceneLibrary;
  /** Largest file, bytes; 0 disables uploads. */
  fileBytes: number;
  perMinute: number;
}

const objectSchema = {
  type: "object",
  required: ["object", "bytes", "createdAt", "picture", "triangles", "box", "notes"],
  additionalProperties: true,
  properties: {
    object: { type: "string", description: "SHA-256 of the stored data." },
    name: {
      type: "string",
      description: "Name of the file, as the caller sent it: only in the answer to an upload. Do not trust the text.",
    },
    bytes: { type: "integer" },
    createdAt: { type: "string" },
    picture: { type: "string", description: "Path of the GLB file for drawing." },
    triangles: { type: "integer", description: "Triangles of the simulated surface." },
    drawnTriangles: { type: "integer" },
    materials: { type: "integer" },
    textures: { type: "integer" },
    box: { type: "array", items: { type: "number" }, description: "Sides of the box around it, in the file's unit." },
    notes: {
      type: "array",
      description: "Parts of the file that were ignored or repaired.",
      items: {
        type: "object",
        required: ["code", "text"],
        properties: { code: { type: "string" }, text: { type: "string" } },
      },
    },
  },
} as const;

const denied = ["TOKEN_NEEDED", "TOKEN_INVALID", "NOT_ALLOWED", "TOO_MANY_REQUESTS"] as const;

export async function objectRoutes(app: FastifyInstance, options: ObjectRouteOptions): Promise<void> {
  const { objects } = options;
  // In a scope of its own, so that only this route accepts a body of any content type.
  await app.register(async (scope) => {
    // The handler reads the body after the caller has been authorized.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, payload, done) => done(null, payload));
    uploadRoute(scope, options);
  });
  sceneRoute(app, options);
  progressRoute(app, options);

  app.get<{ Params: { object: string } }>(
    "/api/objects/:object",
    {
      schema: {
        tags: ["objects"],
        summary: "Findings in an object's file",
        params: nameParam("object", "Id of the object."),
        response: { 200: objectSchema, ...errorResponses("OBJECT_NOT_FOUND") },
      },
    },
    async (request) => {
      // A file's name belongs to the visitor who sent it.
      const { name: _name, ...told } = describe(await objects.record(request.params.object));
      return told;
    },
  );

  app.get<{ Params: { object: string } }>(
    "/api/objects/:object/picture",
    {
      schema: {
        tags: ["objects"],
        summary: "An object's visible mesh: a self-contained GLB of one mesh",
        params: nameParam("object", "Id of the object."),
        response: { 200: bytesAnswer("model/gltf-binary", "GLB"), ...errorResponses("OBJECT_NOT_FOUND") },
      },
    },
    async (request, reply) => {
      const picture = await objects.picture(request.params.object);
      return reply
        .type("model/gltf-binary")
        .header("cache-control", IMMUTABLE)
        .header("content-security-policy", SANDBOXED)
        .header("content-disposition", 'attachment; filename="object.glb"')
        .send(Buffer.from(picture.buffer, picture.byteOffset, picture.byteLength));
    },
  );
}

function uploadRoute(
  app: FastifyInstance,
  { requestAuth, audit, objects, fileBytes, perMinute }: ObjectRouteOptions,
): void {
  const rates = new Attempts(perMinute, perMinute);
  const places = new UploadPlaces();
  app.post<{ Querystring: { name: string }; Body: Readable }>(
    "/api/objects",
    {
      schema: {
        tags: ["objects"],
        summary: "Upload a file: GLB, glTF, OBJ, STL or PLY",
        description:
          "The body is the file's bytes; the content type is ignored. Answers when the object is stored: 201, or 200 if it was stored already. " +
          "The server reads nothing outside the file. It deletes objects that no room uses after PLIANT_OBJECTS_KEEP_HOURS. " +
          "In `tokens` mode it needs an owner's token.",
        body: { content: { "application/octet-stream": { schema: {} } } },
        querystring: {
          type: "object",
          required: ["name"],
          additionalProperties: false,
          properties: {
            name: {
              type: "string",
              minLength: 1,
              maxLength: 1000,
              description: "Name of the file, with its extension.",
            },
          },
        },
        security: [{ token: [] }],
        response: {
          200: { ...objectSchema, description: "It was stored already." },
          201: { ...objectSchema, description: "Stored." },
          ...errorResponses(
            "BODY_INVALID",
            ...denied,
            "OBJECT_TOO_LARGE",
            "OBJECT_REFUSED",
            "ADDRESS_OBJECT_LIMIT",
            "OBJECT_LIMIT",
            "STORE_AWAY",
          ),
        },
      },
    },
    async (request, reply) => {
      const { actor, identity } = requestAuth.of(request);
      if (requestAuth.auth.mode === "tokens" && !(identity && atLeast(identity.role, "owner")))
        throw new CodedError("NOT_ALLOWED", {
          field: "role",
          value: identity?.role ?? "none",
          limit: "owner or above",
        });
      const address = addressKey(request.ip);
      const operator = identity?.role === "admin";
      if (!operator && !rates.take(address, performance.now()))
        throw new CodedError("TOO_MANY_REQUESTS", { field: "objects", limit: `${perMinute} a minute` });
      const place = places.take(address, operator);
      try {
        const bytes = await take(request, fileBytes, place).catch((error: unknown) => {
          // The rest of the body will not be read, so close the connection.
          void reply.header("connection", "close");
          throw error;
        });
        const { record, created } = await objects.add(bytes, request.query.name, operator ? null : address);
        if (created) audit.record("object", actor, null, { object: record.id, name: record.name, bytes: record.bytes });
        return reply
          .code(created ? 201 : 200)
          .header("location", `/api/objects/${record.id}`)
          .send(describe(record));
      } finally {
        place.leave();
      }
    },
  );
}

/**
 * Reads the whole body of the request.
 * @throws CodedError OBJECT_TOO_LARGE as soon as it is known, BODY_INVALID, or the reason why the place was lost
 */
async function take(request: FastifyRequest, most: number, place: UploadPlace): Promise<Uint8Array> {
  const tooLarge = (bytes: number): CodedError =>
    new CodedError("OBJECT_TOO_LARGE", { field: "body", value: bytes, limit: `${most} bytes` });
  const said = Number(request.headers["content-length"] ?? 0);
  if (said > most || most === 0) throw tooLarge(said);
  // A buffer of its own, because it moves to another thread. It has the announced length, or grows if no length was
  // announced.
  let bytes = new Uint8Array(said || FIRST_BYTES);
  let size = 0;
  const body = request.body as Readable | undefined;
  // Do not destroy the stream on an early end: the sender must still get the answer.
  const reading = body?.iterator({ destroyOnReturn: false });
  for (;;) {
    const { value } = ((await Promise.race([reading?.next(), place.lost])) as { value?: Buffer } | undefined) ?? {};
    if (!value) break;
    if (size + value.byteLength > most) throw tooLarge(size + value.byteLength);
    if (size + value.byteLength > bytes.byteLength)
      bytes = longer(bytes, Math.min(most, 2 * (size + value.byteLength)));
    bytes.set(value, size);
    size += value.byteLength;
    place.came(size);
  }
  place.whole();
  if (size === 0) throw new CodedError("BODY_INVALID", { field: "body", value: "0 bytes", limit: "a file" });
  return size === bytes.byteLength ? bytes : bytes.slice(0, size);
}

function longer(bytes: Uint8Array<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> {
  const more = new Uint8Array(length);
  more.set(bytes);
  return more;
}

const sceneOfObjectSchema = {
  tags: ["objects"],
  summary: "Create a scene with an object: a new one, or an existing scene plus the object",
  description:
    "The same choice gives the same scene. Open a room with it as with any other scene. It is deleted some time after the last room that uses it.",
  body: {
    type: "object",
    required: ["object", "role", "material", "size"],
    additionalProperties: false,
    properties: {
      object: { type: "string", pattern: "^[0-9a-f]{64}$" },
      role: { enum: [...OBJECT_ROLES] },
      material: { enum: [...PRESET_NAMES] },
      size: { type: "number", minimum: 0.02, maximum: 20, description: "Longest side, m." },
      name: {
        type: "string",
        maxLength: 1000,
        default: "object",
        description: "The caller's name of the object: the title of the scene, or of the added body.",
      },
      scene: {
        type: "string",
        description: "Id of the scene to add the object to; absent: a new scene with only the object.",
      },
    },
  },
  security: [{ token: [] }],
  response: {
    201: {
      type: "object",
      required: ["scene", "title"],
      properties: { scene: { type: "string" }, title: { type: "string" } },
    },
    ...errorResponses(
      "BODY_INVALID",
      ...denied,
      "OBJECT_NOT_FOUND",
      "SCENE_NOT_FOUND",
      "SCENE_INVALID",
      "CHOICE_INVALID",
      "OBJECT_LIMIT",
      "BUILD_FAILED",
    ),
  },
};

function sceneRoute(app: FastifyInstance, { requestAuth, objects, library, perMinute }: ObjectRouteOptions): void {
  const most = SCENES_PER_UPLOAD * perMinute;
  const rates = new Attempts(most, most);
  app.post<{ Body: ObjectChoice & { object: string; name: string; scene?: string } }>(
    "/api/scenes",
    { schema: sceneOfObjectSchema },
    async (request, reply) => {
      const { object, name, scene: base, ...choice } = request.body;
      const { identity } = requestAuth.of(request);
      if (requestAuth.auth.mode === "tokens" && !(identity && atLeast(identity.role, "owner")))
        throw new CodedError("NOT_ALLOWED", {
          field: "role",
          value: identity?.role ?? "none",
          limit: "owner or above",
        });
      if (identity?.role !== "admin" && !rates.take(addressKey(request.ip), performance.now()))
        throw new CodedError("TOO_MANY_REQUESTS", { field: "scenes", limit: `${most} a minute` });
      const into = base === undefined ? undefined : await readBase(base, addressKey(request.ip));
      const { id, title } = await objects.compose(object, name, choice, into);
      return reply.code(201).send({ scene: id, title });
    },
  );

  async function readBase(id: string, by: string): Promise<BaseScene> {
    const { scene } = await library.read(id);
    const { topology } = await library.template(id, by);
    return { scene, ...boundsOf(new Uint8Array(topology)) };
  }
}

function progressRoute(app: FastifyInstance, { library }: ObjectRouteOptions): void {
  app.get<{ Params: { scene: string } }>(
    "/api/scenes/:scene/progress",
    {
      schema: {
        tags: ["scenes"],
        summary: "This process's progress in building a scene",
        description: "For clients that wait for a room. Polling it a few times per second is cheaper than a stream.",
        params: nameParam("scene", "Id of the scene."),
        response: {
          200: {
            type: "object",
            required: ["building"],
            properties: {
              building: { type: "boolean", description: "false: this process is not building the scene now." },
              stage: { type: "string" },
              done: { type: "number", description: "Completed share of the stage, 0 to 1." },
            },
          },
          ...errorResponses("TOO_MANY_REQUESTS"),
        },
      },
    },
    async (request) => {
      const progress = library.progress(request.params.scene);
      return progress ? { building: true, ...progress } : { building: false };
    },
  );
}

function describe({ id, name, bytes, createdAt, about }: ObjectRecord): Record<string, unknown> {
  return { object: id, name, bytes, createdAt, picture: `/api/objects/${id}/picture`, ...about };
}
