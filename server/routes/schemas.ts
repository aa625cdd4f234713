/** JSON schemas of the HTTP API; they check requests, shape answers, and are what `/docs` shows. */
import { HttpErrors, type HttpErrorCode } from "../../shared/errors.ts";
import { ROOM_NAME } from "../rooms/registry.ts";

const text = (description: string, example?: string) => ({
  type: "string",
  description,
  ...(example === undefined ? {} : { examples: [example] }),
});

export const sceneSchema = {
  type: "object",
  required: ["id", "title", "description", "bodies"],
  properties: {
    id: text("Name of the scene in addresses.", "bunny"),
    title: text("For people."),
    description: text("For people."),
    bodies: { type: "integer", description: "Soft bodies and cloths in it." },
    thumbnail: text("Path of a picture; absent when there is none.", "/thumbnails/bunny.webp"),
    picture: text(
      "Path of a painted one where there is no thumbnail; absent: the scene is not built.",
      "/api/scenes/mine/picture",
    ),
    report: text("Path of its section of the physics report; absent when the scene names none.", "/report#fig7"),
  },
};

export const brokenSceneSchema = {
  type: "object",
  required: ["id", "error"],
  properties: { id: text("Name of its file.", "bunny"), error: text("What is wrong with it.") },
};

export const roomSchema = {
  type: "object",
  required: [
    "room",
    "scene",
    "members",
    "pool",
    "tick",
    "timeDilation",
    "heldBodies",
    "waitingBodies",
    "topology",
    "createdAt",
  ],
  properties: {
    room: text("Name of the room in addresses.", "bunny-4f2a91"),
    scene: text("Id of its scene.", "bunny"),
    members: { type: "integer", description: "Members that are connected." },
    pool: { type: "string", enum: ["shared", "dedicated"], description: "Where its ticks run." },
    tick: { type: "integer", description: "Number of its last tick." },
    timeDilation: { type: "number", description: "Simulated time over wall time in the last second; 1 is real time." },
    waitingBodies: {
      type: "array",
      items: { type: "integer" },
      description: "Bodies that wait until a member puts them in.",
    },
    heldBodies: {
      type: "array",
      items: { type: "integer" },
      description: "Bodies that blew up and are held until a reset.",
    },
    topology: text("Content hash: /api/topologies/<hash>."),
    picture: text(
      "Path of a picture of it as it is; absent: not everybody may look in.",
      "/api/rooms/bunny-4f2a91/picture",
    ),
    url: text("Where visitors reach the process that has the room; absent: nobody has said so."),
    createdAt: { type: "string", format: "date-time" },
  },
};

/** In a list, or found at another process: only its owner knows the rest of a room. */
export const listedRoomSchema = {
  ...roomSchema,
  required: ["room", "scene", "members", "pool", "createdAt"],
  properties: {
    ...roomSchema.properties,
    parked: {
      type: "object",
      required: ["reason", "since", "details"],
      description: "Nobody serves the room until an operator has looked at it; nothing of it is lost.",
      properties: {
        reason: {
          type: "string",
          description:
            "attempts: whoever took it did not survive it; steps: its steps were lost again and again; version: another program or scene stepped it; differs: its journal does not lead to the states that it was recorded with.",
        },
        since: { type: "string", format: "date-time" },
        details: { type: "string" },
      },
    },
  },
};

export const createRoomSchema = {
  type: "object",
  required: ["scene"],
  additionalProperties: false,
  properties: {
    scene: { type: "string", minLength: 1, maxLength: 40, description: "Id of a scene." },
    room: {
      type: "string",
      description: `Wanted name, ${ROOM_NAME}; absent: one is made. If a room of this name and scene exists, it is answered.`,
    },
    pool: {
      type: "string",
      enum: ["shared", "dedicated"],
      description: "A dedicated room gets a thread of its own: for admins, as many as PLIANT_DEDICATED_ROOMS.",
    },
  },
};

const errorSchema = {
  type: "object",
  required: ["code", "message"],
  properties: {
    code: { type: "string", enum: Object.keys(HttpErrors) },
    message: text("For people."),
    field: text("What is wrong."),
    value: { description: "What was given." },
    limit: { description: "What is allowed." },
    reason: text("Of a file that is refused: which kind of fault it is."),
    help: text("Of a file that is refused: what its author can do."),
  },
};

/** Response schemas of the given error codes, by status. */
export function errorResponses(...codes: HttpErrorCode[]): Record<number, object> {
  const byStatus = new Map<number, HttpErrorCode[]>();
  for (const code of codes)
    byStatus.set(HttpErrors[code].status, [...(byStatus.get(HttpErrors[code].status) ?? []), code]);
  return Object.fromEntries(
    [...byStatus].map(([status, list]) => [status, { ...errorSchema, description: list.join(", ") }]),
  );
}

export const nameParam = (name: string, description: string) => ({
  type: "object",
  required: [name],
  properties: { [name]: { type: "string", maxLength: 100, description } },
});
