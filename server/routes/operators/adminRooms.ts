/**
 * `GET /api/admin/rooms`: every room of every process on the same store. This process describes its own rooms and asks
 * the other processes for theirs. A room that no process reports (its process has just died, or it has no owner yet) is
 * described from the store.
 */
import { hostname } from "node:os";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { ROLES } from "../../../shared/members/roles.ts";
import type { RoomRegistry } from "../../rooms/registry.ts";
import type { Room } from "../../rooms/room.ts";
import type { Listing } from "../../store/store.ts";
import type { RequestAuth } from "../guards/requestAuth.ts";
import { describeListing, describeRoom } from "../rooms/roomRoutes.ts";
import { errorResponses, listedRoomSchema } from "../schemas.ts";

/** Name of this process, as in its log lines. */
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
    session: { type: "string", description: "Session id, as in the server's log." },
    address: { type: "string", description: "Network address; an IPv6 address as its /64." },
    subject: { type: ["string", "null"], description: "Subject of the member's token; null: no token." },
  },
};

const accessSchema = {
  type: "object",
  required: ["locked", "password", "ownersOnly", "chat", "bans"],
  properties: {
    locked: { type: "boolean" },
    password: { type: "boolean", description: "Whether the room has a password." },
    ownersOnly: { type: "boolean", description: "Whether only owners may reset, spawn and remove." },
    chat: { type: "boolean", description: "Whether players may write in the chat." },
    bans: { type: "integer" },
  },
};

const stepSchema = {
  type: "object",
  required: ["mean", "p99"],
  properties: { mean: { type: "number", description: "s" }, p99: { type: "number", description: "s" } },
  description: "Worker time per tick over the last ten seconds.",
};

const adminRoomSchema = {
  ...listedRoomSchema,
  required: [...listedRoomSchema.required, "owner"],
  properties: {
    ...listedRoomSchema.properties,
    owner: {
      type: ["string", "null"],
      description:
        "Process that steps the room: host and process id, as in the log. Its address if it did not answer. null: no process.",
    },
    stepSeconds: stepSchema,
    threadShare: {
      type: "number",
      description:
        "Share of one thread's time in the last one or two seconds, without the help of other threads; 0: the room is at rest.",
    },
    memoryBytes: {
      type: "integer",
      description:
        "Memory reserved for the room's own state, without the data that rooms of a scene share. It grows while the room runs.",
    },
    memoryUsedBytes: {
      type: "integer",
      description:
        "Part of memoryBytes that has been in use since the room started. Excludes contact-list memory that was never needed.",
    },
    memoryLimitBytes: { type: "integer", description: "Upper limit of memoryBytes (PLIANT_ROOM_MEMORY_MB)." },
    memoryFull: {
      type: "array",
      items: { type: "string" },
      description: "Contact lists that overflowed and could not grow. Absent: none.",
    },
    overBudget: {
      type: "object",
      required: ["medianSeconds", "budgetSeconds"],
      properties: {
        medianSeconds: { type: "number", description: "Median time of a room's first ticks." },
        budgetSeconds: { type: "number", description: "Time between two ticks." },
      },
      description:
        "Present if the scene's ticks take longer than their interval on this machine, so its rooms run in slow motion.",
    },
    checkpointAgeSeconds: {
      type: "number",
      description: "Time since the last checkpoint, s; 0: nothing has changed since then.",
    },
    access: accessSchema,
    people: { type: "array", items: personSchema },
  },
};

/** The other processes; null without a store. */
interface OtherProcesses {
  list(): Promise<Listing[]>;
  /** Asks each other process that owns one of these rooms. Maps process to answer; null if it does not answer. */
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
        summary: "All rooms, with their members",
        description:
          "Covers all server processes on the same store. If a room's process does not answer, its entry comes from the store. If the store does not answer, only this process's rooms are listed.",
        querystring: {
          type: "object",
          additionalProperties: false,
          properties: {
            of: {
              type: "string",
              enum: ["this-process"],
              description: "Limits the list to rooms that the answering process steps.",
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
  // If the store is away, list at least this process's rooms. The log and the metrics report the store's absence.
  const listings = (await others.list().catch(() => [])).filter(({ name }) => !here.has(name));
  const answers = await others.ask(listings, {
    path: HERE,
    address: request.ip,
    said: { identity: requestAuth.of(request).identity },
  });
  const isDescription = request.compileValidationSchema(adminRoomSchema);
  const told = new Map([...answers].map(([process, answer]) => [process, roomsIn(answer)]));
  return listings.map((listing) => {
    const { name: room, owner } = listing;
    const description = owner && told.get(owner.process)?.get(room);
    // A description in another form would fail the whole list.
    if (description && isDescription(description)) return description;
    return { ...describeListing(listing), room, owner: owner?.url ?? null };
  });
}

/** Returns the rooms that another process describes, by name. It may describe only rooms whose lease it has. */
function roomsIn(answer: unknown): Map<unknown, Description> {
  const { rooms } = { ...(answer as { rooms?: unknown } | null) };
  const list = Array.isArray(rooms) ? (rooms as (Description | null)[]) : [];
  return new Map(list.flatMap((one): [unknown, Description][] => (one ? [[one.room, one]] : [])));
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
