/** JSON schemas of the HTTP API. They validate requests, serialize answers, and appear in `/docs`. */
import { HttpErrors, type HttpErrorCode } from "../../shared/errorCodes.ts";
import { ROOM_NAME } from "../rooms/registry.ts";

const text = (description: string, example?: string) => ({
  type: "string",
  description,
  ...(example === undefined ? {} : { examples: [example] }),
});

export const sceneSchema = {
  type: "object",
  required: ["id", "title", "description", "bodies", "kinds", "lesson"],
  properties: {
    id: text("Name of the scene in addresses.", "bunny"),
    title: text("For people."),
    description: text("For people."),
    try: text("One thing to do, for people; absent if the scene names none."),
    notice: text("One thing to notice, for people; absent if the scene names none."),
    texts: {
      type: "object",
      description: "Title, description, `try` and `notice` by language: `de`, `es`, `ar`.",
      additionalProperties: {
        type: "object",
        properties: Object.fromEntries(
          ["title", "description", "try", "notice"].map((name) => [name, { type: "string" }]),
        ),
      },
    },
    bodies: { type: "integer", description: "Number of soft bodies and cloths." },
    thumbnail: text("Path of a picture; absent when there is none.", "/thumbnails/bunny.webp"),
    darkThumbnail: text("The same for dark pages.", "/thumbnails/bunny.dark.webp"),
    picture: text(
      "Path of a picture drawn by the server, if there is no thumbnail; absent: the scene is not built.",
      "/api/scenes/mine/picture",
    ),
    kinds: { type: "array", items: { type: "string" }, description: "Kinds of its bodies: ball, cloth, points, soft." },
    lesson: { type: "boolean", description: "True if it reproduces a figure of a paper." },
    report: text("Path of its section of the physics report; absent without one.", "/report#fig7"),
  },
};

export const brokenSceneSchema = {
  type: "object",
  required: ["id", "error"],
  properties: { id: text("Name of its file.", "bunny"), error: text("The error in the file.") },
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
    "spawnableBodies",
    "topology",
    "createdAt",
  ],
  properties: {
    room: text("Name of the room in addresses.", "k7m2p"),
    scene: text("Id of its scene.", "bunny"),
    members: { type: "integer", description: "Connected members." },
    pool: { type: "string", enum: ["shared", "dedicated"], description: "Pool of threads that runs its ticks." },
    tick: { type: "integer", description: "Number of its last tick." },
    timeDilation: { type: "number", description: "Simulated time over wall time in the last second; 1 is real time." },
    spawnableBodies: {
      type: "array",
      items: { type: "integer" },
      description: "Spawnable bodies that are not in the scene now.",
    },
    heldBodies: {
      type: "array",
      items: { type: "integer" },
      description: "Bodies that became unstable and are held until a reset.",
    },
    topology: text("Content hash: /api/topologies/<hash>."),
    picture: text(
      "Path of a picture of its current state; absent: the room is not open to all.",
      "/api/rooms/k7m2p/picture",
    ),
    url: text("Public address of the process that has the room; absent: not configured."),
    createdAt: { type: "string", format: "date-time" },
  },
};

/** A room in a list, or of another process: only its owner knows the other fields. */
export const listedRoomSchema = {
  ...roomSchema,
  required: ["room", "scene", "members", "pool", "createdAt"],
  properties: {
    ...roomSchema.properties,
    quarantined: {
      type: "object",
      required: ["reason", "since", "details"],
      description: "The room is quarantined: no process serves it until an operator has inspected it. No data is lost.",
      properties: {
        reason: {
          type: "string",
          description:
            "attempts: the processes that took it over crashed; steps: its steps failed repeatedly; version: another version of program or scene stepped it; differs: its journal does not reproduce the recorded states.",
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
      description: `Wanted name, ${ROOM_NAME}; absent: one is generated. If a room of this name and scene exists, it is returned.`,
    },
    pool: {
      type: "string",
      enum: ["shared", "dedicated"],
      description:
        "A dedicated room gets a thread of its own. Only for admins; PLIANT_DEDICATED_ROOMS limits the number.",
    },
  },
};

const errorSchema = {
  type: "object",
  required: ["code", "message"],
  properties: {
    code: { type: "string", enum: Object.keys(HttpErrors) },
    message: text("For people."),
    field: text("Name of the invalid field."),
    value: { description: "The given value." },
    limit: { description: "The allowed values." },
    reason: text("For a refused file: the kind of error."),
    help: text("For a refused file: how its author can fix it."),
  },
};

const RETRY_AFTER = { "retry-after": { type: "integer", description: "Time after which a retry may succeed, s." } };

/** A successful answer that is not JSON. Its errors are JSON nevertheless. */
export const bytesAnswer = (type: string, description: string) => ({
  description,
  content: { [type]: { schema: { type: "string", contentEncoding: "binary" } } },
});

/** Response schemas of the given error codes, by status. */
export function errorResponses(...codes: HttpErrorCode[]): Record<number, object> {
  const byStatus = new Map<number, HttpErrorCode[]>();
  for (const code of codes)
    byStatus.set(HttpErrors[code].status, [...(byStatus.get(HttpErrors[code].status) ?? []), code]);
  return Object.fromEntries(
    [...byStatus].map(([status, list]) => [
      status,
      { ...errorSchema, description: list.join(", "), ...(status === 429 && { headers: RETRY_AFTER }) },
    ]),
  );
}

export const nameParam = (name: string, description: string) => ({
  type: "object",
  required: [name],
  properties: { [name]: { type: "string", maxLength: 100, description } },
});
