/** The gallery over HTTP: owners save their room's scene; the holder of its token renames and deletes it. */
import type { FastifyInstance, FastifyRequest } from "fastify";
import { CodedError } from "../../../shared/errorCodes.ts";
import { atLeast } from "../../../shared/members/roles.ts";
import { addressKey, Attempts } from "../../auth/addresses.ts";
import type { Audit } from "../../auth/audit.ts";
import { MAX_TOKEN_HOURS } from "../../auth/tokens.ts";
import { type Gallery, TITLE_LENGTH } from "../../objects/gallery.ts";
import type { Pictures } from "../../pictures/pictures.ts";
import { tunedScene } from "../../rooms/scenes/tunedScene.ts";
import type { SavedScene } from "../../store/objects/savedScenes.ts";
import type { RequestAuth } from "../guards/requestAuth.ts";
import { compressText } from "./sceneRoutes.ts";
import { bytesAnswer, errorResponses, nameParam } from "../schemas.ts";

/** Number of scenes in one answer; the newest come first. */
const MOST_LISTED = 1000;
const denied = ["TOKEN_NEEDED", "TOKEN_INVALID", "NOT_ALLOWED", "TOO_MANY_REQUESTS"] as const;
const params = nameParam("saved", "Id of the saved scene.");
const security = [{ token: [] }];

const TITLE_BODY = {
  type: "object",
  required: ["title"],
  additionalProperties: false,
  properties: {
    title: {
      type: "string",
      minLength: 1,
      maxLength: TITLE_LENGTH,
      description: "Shown in the form of members' names: without invisible characters and double spaces.",
    },
  },
};

const savedSchema = {
  type: "object",
  required: ["saved", "title", "scene", "origin", "createdAt", "changedAt", "picture"],
  properties: {
    saved: { type: "string", description: "Its id." },
    title: { type: "string", description: "As its owner wrote it. Do not trust the text." },
    scene: { type: "string", description: "Id of its scene, to open a room with. A new title changes it." },
    origin: {
      type: "string",
      description: "Id of the scene, or of the saved scene, that it was made from. It may be gone.",
    },
    createdAt: { type: "string", format: "date-time" },
    changedAt: { type: "string", format: "date-time" },
    picture: { type: "string", description: "Path of the room's picture when it was saved; 404 if there is none." },
  },
};

const SAVE_SCHEMA = {
  tags: ["gallery"],
  summary: "Save the room's scene in the gallery",
  description:
    "For the room's owner. Saves the scene with all changes by `tune`, under a title, and answers when it is stored. Changes in the room's bodies are not part of a scene.",
  params: nameParam("room", "Name of the room."),
  body: TITLE_BODY,
  security,
  response: {
    201: {
      ...savedSchema,
      required: [...savedSchema.required, "token"],
      properties: {
        ...savedSchema.properties,
        token: { type: "string", description: "Lets its bearer rename and delete this saved scene, for a year." },
      },
    },
    ...errorResponses(
      "BODY_INVALID",
      ...denied,
      "BANNED",
      "ROOM_LOCKED",
      "ROOM_NOT_FOUND",
      "OBJECT_NOT_FOUND",
      "SCENE_TOO_LARGE",
      "ADDRESS_SAVED_LIMIT",
      "SAVED_LIMIT",
      "STORE_AWAY",
    ),
  },
};

export interface GalleryRouteOptions {
  requestAuth: RequestAuth;
  audit: Audit;
  gallery: Gallery;
  pictures: Pictures;
  /** Scenes that one address may save in a minute. */
  perMinute: number;
}

export function galleryRoutes(app: FastifyInstance, options: GalleryRouteOptions): void {
  saveRoute(app, options);
  readRoutes(app, options.gallery);
  changeRoutes(app, options);
}

/** `room` of a saved scene's token: no room has such a name. */
const tokenRoom = (id: string): string => `saved/${id}`;

function saveRoute(
  app: FastifyInstance,
  { requestAuth, audit, gallery, pictures, perMinute }: GalleryRouteOptions,
): void {
  const rates = new Attempts(perMinute, perMinute);
  app.post<{ Params: { room: string }; Body: { title: string } }>(
    "/api/rooms/:room/scene",
    { schema: SAVE_SCHEMA },
    async (request, reply) => {
      const room = requestAuth.room(request);
      const { actor, identity } = requestAuth.of(request);
      const address = addressKey(request.ip);
      const operator = identity?.role === "admin";
      if (!operator && !rates.take(address, performance.now()))
        throw new CodedError("TOO_MANY_REQUESTS", { field: "scenes", limit: `${perMinute} a minute` });
      const { template, facts } = room;
      const saved = await gallery.save({
        scene: tunedScene(template.text, template.layout.tuned, facts.tuning),
        title: request.body.title,
        from: room.scene,
        // A room that cannot be painted can still be saved.
        picture: await pictures.room(room, address).then(
          ({ bytes }) => bytes,
          () => null,
        ),
        address: operator ? null : address,
      });
      audit.record("scene-save", actor, room.name, { saved: saved.id, title: saved.title, bytes: saved.bytes });
      const grant = { room: tokenRoom(saved.id), role: "spectator", seconds: 3600 * MAX_TOKEN_HOURS } as const;
      const { token } = await requestAuth.auth.mint.sign(grant);
      return reply.code(201).send({ ...describe(saved), token });
    },
  );
}

function readRoutes(app: FastifyInstance, gallery: Gallery): void {
  app.get(
    "/api/saved-scenes",
    {
      onSend: compressText,
      schema: {
        tags: ["gallery"],
        summary: "The gallery: saved scenes, newest first",
        description: `At most ${MOST_LISTED}. In \`tokens\` mode it needs a token.`,
        response: {
          200: { type: "object", required: ["scenes"], properties: { scenes: { type: "array", items: savedSchema } } },
          ...errorResponses("TOKEN_NEEDED", "TOKEN_INVALID", "TOO_MANY_REQUESTS"),
        },
      },
    },
    async () => ({ scenes: (await gallery.list(MOST_LISTED)).map(describe) }),
  );

  app.get<{ Params: { saved: string } }>(
    "/api/saved-scenes/:saved/picture",
    {
      schema: {
        tags: ["gallery"],
        summary: "Picture of a saved scene: its room when it was saved",
        description: "240 x 158 pixels, drawn by the server.",
        params,
        response: { 200: bytesAnswer("image/png", "PNG with opacity."), ...errorResponses("SAVED_NOT_FOUND") },
      },
    },
    async (request, reply) => {
      const picture = await gallery.picture(request.params.saved);
      return reply.type("image/png").header("cache-control", "private, max-age=3600").send(Buffer.from(picture));
    },
  );
}

function changeRoutes(app: FastifyInstance, { requestAuth, audit, gallery }: GalleryRouteOptions): void {
  app.patch<{ Params: { saved: string }; Body: { title: string } }>(
    "/api/saved-scenes/:saved",
    {
      schema: {
        tags: ["gallery"],
        summary: "Rename a saved scene",
        description: "With the token from saving it. Rooms with the old title keep it.",
        params,
        body: TITLE_BODY,
        security,
        response: {
          200: savedSchema,
          ...errorResponses("BODY_INVALID", ...denied, "SAVED_NOT_FOUND", "SCENE_TOO_LARGE", "STORE_AWAY"),
        },
      },
    },
    async (request) => {
      const { saved: id } = request.params;
      const actor = holderOf(request, requestAuth, id);
      const renamed = await gallery.rename(id, request.body.title);
      audit.record("scene-rename", actor, null, { saved: id, title: renamed.title });
      return describe(renamed);
    },
  );

  app.delete<{ Params: { saved: string } }>(
    "/api/saved-scenes/:saved",
    {
      schema: {
        tags: ["gallery"],
        summary: "Delete a saved scene",
        description: "With the token from saving it. Rooms with this scene continue.",
        params,
        security,
        response: {
          204: { type: "null", description: "Deleted." },
          ...errorResponses(...denied, "SAVED_NOT_FOUND", "STORE_AWAY"),
        },
      },
    },
    async (request, reply) => {
      const { saved: id } = request.params;
      const actor = holderOf(request, requestAuth, id);
      const { title } = await gallery.remove(id);
      audit.record("scene-delete", actor, null, { saved: id, title });
      return reply.code(204).send(null);
    },
  );
}

/**
 * @returns the actor: the bearer of the saved scene's token, or an owner of all rooms
 * @throws CodedError NOT_ALLOWED
 */
function holderOf(request: FastifyRequest, requestAuth: RequestAuth, id: string): string {
  const { identity, actor } = requestAuth.of(request);
  if (identity?.room === tokenRoom(id) || (identity?.room === "*" && atLeast(identity.role, "owner"))) return actor;
  throw new CodedError("NOT_ALLOWED", { field: "saved", value: id, limit: "the token from saving this scene" });
}

function describe({ id, title, scene, origin, createdAt, changedAt }: SavedScene): Record<string, unknown> {
  return { saved: id, title, scene, origin, createdAt, changedAt, picture: `/api/saved-scenes/${id}/picture` };
}
