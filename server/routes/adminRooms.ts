/**
 * `GET /api/admin/rooms`: every room of every process on the same store. What is here is described here; what another
 * process steps, it is asked for; what none of them tells of (its process has just died, or nobody owns it yet) is
 * described as far as the store knows it.
 */
import { hostname } from "node:os";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { ROLES } from "../../shared/roles.ts";
import type { RoomRegistry } from "../rooms/registry.ts";
import type { Room } from "../rooms/room.ts";
import type { Listing } from "../store/store.ts";
import type { RequestAuth } from "./requestAuth.ts";
import { describeListing, describeRoom } from "./rooms.ts";
import { errorResponses, listedRoomSchema } from "./schemas.ts";

/** This process, as its log lines name it. */
const OWNER = `${hostname()}:${process.pid}`;
const HERE = "/api/admin/rooms?of=this-process";

const personSchema = {
  type: "object",
  required: ["member", "name", "color", "role", "connected", "session", "address", "subject"],
  properties: {
    member: { type: "integer", description: "Number in this room." },
    name: { type: "string" },
    color: { type: "string" },
    role: { type: "string", enum: [...ROLES] },
    connected: { type: "boolean", description: "false: the socket is lost, the session may be resumed." },
    session: { type: "string", description: "As in the server's log." },
    address: { type: "string", description: "Of the network; an IPv6 address as its /64." },
    subject: { type: "string", nullable: true, description: "Of its token; null: came without." },
  },
};

const accessSchema = {
  type: "object",
  required: ["locked", "password", "ownersOnly", "bans"],
  properties: {
    locked: { type: "boolean" },
    password: { type: "boolean", description: "Is one needed?" },
    ownersOnly: { type: "boolean", description: "Reset, spawn and remove are the owners'." },
    bans: { type: "integer" },
  },
};

const stepSchema = {
  type: "object",
  required: ["mean", "p99"],
  properties: { mean: { type: "number", description: "s" }, p99: { type: "number", description: "s" } },
  description: "Of the last ten seconds' ticks, each as long as its worker took.",
};

const adminRoomSchema = {
  ...listedRoomSchema,
  required: [...listedRoomSchema.required, "owner"],
  properties: {
    ...listedRoomSchema.properties,
    owner: {
      type: "string",
      nullable: true,
      description:
        "Process that steps it: host and process id, as in the log; its address where it did not answer; null: nobody does.",
    },
    stepSeconds: stepSchema,
    threadShare: {
      type: "number",
      description:
        "Of one thread's time in the last one or two seconds, without what other threads help; 0: it stands still.",
    },
    memoryBytes: {
      type: "integer",
      description:
        "Reserved for the room's own state, beside what rooms of a scene share. It grows while the room runs.",
    },
    memoryUsedBytes: {
      type: "integer",
      description: "Of it, what has been in use since the room began: without what contact's lists have never needed.",
    },
    memoryLimitBytes: { type: "integer", description: "What it grows to at most (PLIANT_ROOM_MEMORY_MB)." },
    memoryFull: {
      type: "array",
      items: { type: "string" },
      description: "Lists of contact that did not fit and could not grow. Absent: none.",
    },
    overBudget: {
      type: "object",
      required: ["medianSeconds", "budgetSeconds"],
      properties: {
        medianSeconds: { type: "number", description: "Half of a room's first ticks took longer." },
        budgetSeconds: { type: "number", description: "Between two ticks." },
      },
      description: "The scene needs more than its tick on this machine: its rooms run in slow motion. Absent: it fits.",
    },
    checkpointAgeSeconds: {
      type: "number",
      description: "Since the last checkpoint of a room that has moved since then, s; 0: there is nothing to take.",
    },
    access: accessSchema,
    people: { type: "array", items: personSchema },
  },
};

/** The other processes; null in those that have no store. */
interface OtherProcesses {
  list(): Promise<Listing[]>;
  /** What each other process that owns one of these rooms answers; null where it does not. */
  ask(
    listings: readonly Listing[],
    query: { path: string; address: string; said: unknown },
  ): Promise<Map<string, unknown>>;
}

export interface AdminRoomsOptions {
  requestAuth: RequestAuth;
  others: OtherProcesses | null;
  registry: RoomRegistry;
}

type Description = Record<string, unknown> & { room: string };

export function adminRoomsRoute(app: FastifyInstance, { requestAuth, others, registry }: AdminRoomsOptions): void {
  app.get<{ Querystring: { of?: "this-process" } }>(
    "/api/admin/rooms",
    {
      schema: {
        tags: ["admin"],
        security: [{ token: [] }],
        summary: "All rooms, with who is in them",
        description:
          "Of all server processes on the same store. Of a room whose process does not answer there is only what the store knows; while the store does not answer, only the rooms of the process that is asked are listed.",
        querystring: {
          type: "object",
          additionalProperties: false,
          properties: {
            of: {
              type: "string",
              enum: ["this-process"],
              description: "Only those that the process which is asked steps itself.",
            },
          },
        },
        response: {
          200: {
            type: "object",
            required: ["rooms"],
            properties: { rooms: { type: "array", items: adminRoomSchema } },
          },
          ...errorResponses("BODY_INVALID", "TOKEN_NEEDED", "TOKEN_INVALID", "NOT_ALLOWED", "TOO_MANY_REQUESTS"),
        },
      },
    },
    async (request) => {
      const here = registry.list().map(describe);
      return {
        rooms:
          others === null || request.query.of === "this-process"
            ? here
            : [...here, ...(await elsewhere(others, requestAuth, request, new Set(here.map(({ room }) => room))))],
      };
    },
  );
}

async function elsewhere(
  others: OtherProcesses,
  requestAuth: RequestAuth,
  request: FastifyRequest,
  here: ReadonlySet<string>,
): Promise<Description[]> {
  // Without the store an operator sees at least what is here; that the store is away is in the log and in the metrics.
  const listings = (await others.list().catch(() => [])).filter(({ name }) => !here.has(name));
  const answers = await others.ask(listings, {
    path: HERE,
    address: request.ip,
    said: { identity: requestAuth.of(request).identity },
  });
  const told = new Map(
    [...answers.values()].flatMap((answer) =>
      ((answer as { rooms?: Description[] } | null)?.rooms ?? []).map((room): [string, Description] => [
        room.room,
        room,
      ]),
    ),
  );
  return listings.map(
    (listing) =>
      told.get(listing.name) ?? { ...describeListing(listing), room: listing.name, owner: listing.owner?.url ?? null },
  );
}

function describe(room: Room): Description {
  const people = [...room.members.sessions.values()].map(({ member, name, color, connection, id, entry }) => ({
    member,
    name,
    color,
    role: entry.role,
    connected: connection !== null,
    session: id,
    address: entry.address,
    subject: entry.subject,
  }));
  const { stepTimes, memory } = room.costs;
  return {
    ...describeRoom(room),
    room: room.name,
    owner: OWNER,
    stepSeconds: stepTimes.summary(),
    threadShare: room.share,
    memoryBytes: memory.reserved,
    memoryUsedBytes: memory.used,
    memoryLimitBytes: memory.limit,
    ...(memory.full.length > 0 && { memoryFull: memory.full }),
    ...(room.template.budget.exceeded && { overBudget: room.template.budget.exceeded }),
    checkpointAgeSeconds: room.checkpointPolicy.unsavedSeconds,
    access: room.access.state,
    people,
  };
}
