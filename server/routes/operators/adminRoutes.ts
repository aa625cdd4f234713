/**
 * Operators' actions (kick, announce, dispose, hand over) and the audit log. adminRooms.ts lists the rooms. All routes
 * need an admin's token.
 */
import type { FastifyInstance } from "fastify";
import { CodedError } from "../../../shared/errorCodes.ts";
import { CloseCode } from "../../../shared/protocol/protocol.ts";
import type { Audit } from "../../auth/audit.ts";
import { MAX_BAN_SECONDS } from "../../auth/roomAccess.ts";
import type { RoomRegistry } from "../../rooms/registry.ts";
import type { ListedProcess } from "../../store/store.ts";
import type { RequestAuth } from "../guards/requestAuth.ts";
import { errorResponses, nameParam } from "../schemas.ts";

const MOST_ENTRIES = 1000;
/** Length limit, characters: two lines on a phone. */
const MAX_ANNOUNCEMENT = 200;
const params = nameParam("room", "Name of the room.");
const denied = ["TOKEN_NEEDED", "TOKEN_INVALID", "NOT_ALLOWED", "TOO_MANY_REQUESTS"] as const;

const entrySchema = {
  type: "object",
  required: ["at", "actor", "action", "room", "details"],
  properties: {
    at: { type: "string", format: "date-time" },
    actor: { type: "string", description: "A token's subject, a member's name, or system." },
    action: {
      type: "string",
      description:
        "create, dispose, kick, ban, unban, lock, unlock, password, settings, token, undo, recording, object, object-delete, rebalance, end-quarantine, announce, denied.",
    },
    room: { type: ["string", "null"] },
    details: { type: "object", additionalProperties: true },
  },
};

const processSchema = {
  type: "object",
  required: ["process", "url", "publicUrl", "version", "state", "load", "rooms", "maxRooms", "members", "memoryBytes"],
  properties: {
    process: { type: "string", description: "Its name, unique over machines and restarts." },
    url: { type: "string", description: "Where other processes reach it." },
    publicUrl: { type: ["string", "null"], description: "Where visitors reach it." },
    version: {
      type: "string",
      description:
        "Version of the program. Rooms move between processes of the same version without being quarantined.",
    },
    state: {
      type: "string",
      enum: ["starting", "ready", "draining"],
      description: "starting: not ready; draining: it hands its rooms over and exits.",
    },
    load: { type: "number", description: "Share of the stepping threads' time that its shared rooms take, 0 to 1." },
    rooms: { type: "integer" },
    maxRooms: { type: "integer" },
    members: { type: "integer", description: "Connected members." },
    memoryBytes: { type: "integer", description: "Resident memory." },
  },
};

export interface AdminRouteOptions {
  requestAuth: RequestAuth;
  audit: Audit;
  /** Other processes on the same store; null: there is no store. */
  cluster: {
    handOver(rooms: readonly string[]): Promise<string[]>;
    readonly processes: readonly ListedProcess[];
  } | null;
  registry: RoomRegistry;
}

const common = { tags: ["admin"], security: [{ token: [] }] };

const handedSchema = {
  type: "object",
  required: ["handedOver"],
  properties: {
    handedOver: {
      type: "array",
      items: { type: "string" },
      description: "Rooms that this process has released, with their last state.",
    },
  },
};

const END_SCHEMA = {
  ...common,
  summary: "End a room for all members (sockets close with 4404). Also works for a stored room that cannot be restored",
  params,
  response: {
    204: { type: "null", description: "Ended." },
    ...errorResponses(...denied, "ROOM_NOT_FOUND", "ROOM_MOVING"),
  },
};

const KICK_SCHEMA = {
  ...common,
  summary: `Kick a member (its socket closes with ${CloseCode.kicked}), and keep it out for a while`,
  params,
  body: {
    type: "object",
    required: ["member"],
    additionalProperties: false,
    properties: {
      member: { type: "integer", minimum: 1 },
      banSeconds: {
        type: "number",
        exclusiveMinimum: 0,
        maximum: MAX_BAN_SECONDS,
        description: "If absent, the member may come back at once.",
      },
    },
  },
  response: {
    204: { type: "null", description: "Kicked." },
    ...errorResponses("BODY_INVALID", ...denied, "ROOM_NOT_FOUND", "MEMBER_NOT_FOUND"),
  },
};

const ANNOUNCE_SCHEMA = {
  ...common,
  summary: "Send a message to all members of a room (the notice ANNOUNCEMENT)",
  params,
  body: {
    type: "object",
    required: ["text"],
    additionalProperties: false,
    properties: { text: { type: "string", minLength: 1, maxLength: MAX_ANNOUNCEMENT, pattern: "\\S" } },
  },
  response: {
    204: { type: "null", description: "Sent." },
    ...errorResponses("BODY_INVALID", ...denied, "ROOM_NOT_FOUND"),
  },
};

const HAND_OVER_SCHEMA = {
  ...common,
  summary: "Give a room to another process",
  description:
    "The owning process writes the last state and releases the room. Another process on the same store takes it at once, and the members reconnect automatically. If there is no other process, the room comes back after 5 s.",
  params,
  response: { 200: handedSchema, ...errorResponses(...denied, "ROOM_NOT_FOUND", "NO_STORE", "ROOM_MOVING") },
};

const REBALANCE_SCHEMA = {
  ...common,
  summary: "Give rooms of this process to others",
  description:
    "Rooms with the fewest members go first. Use it for a process that has more than its share, e.g. after processes were added. Other processes take the rooms at once; processes with few rooms come first.",
  body: {
    type: "object",
    required: ["rooms"],
    additionalProperties: false,
    properties: { rooms: { type: "integer", minimum: 1, maximum: 10000, description: "Number of rooms." } },
  },
  response: { 200: handedSchema, ...errorResponses("BODY_INVALID", ...denied, "NO_STORE") },
};

const PROCESSES_SCHEMA = {
  ...common,
  summary: "The server processes on the same store, with their load",
  description:
    "Each process reports three times per lease term. Processes that have ended or stopped reporting are left out. Empty if there is no store.",
  response: {
    200: {
      type: "object",
      required: ["processes"],
      properties: { processes: { type: "array", items: processSchema } },
    },
    ...errorResponses(...denied),
  },
};

const AUDIT_SCHEMA = {
  ...common,
  summary: "The audit log, newest first",
  querystring: {
    type: "object",
    additionalProperties: false,
    properties: {
      room: { type: "string", maxLength: 100 },
      limit: { type: "string", pattern: "^[1-9][0-9]{0,3}$", description: `1 to ${MOST_ENTRIES}; default 100.` },
    },
  },
  response: {
    200: { type: "object", required: ["entries"], properties: { entries: { type: "array", items: entrySchema } } },
    ...errorResponses("BODY_INVALID", ...denied),
  },
};

export function adminRoutes(app: FastifyInstance, options: AdminRouteOptions): void {
  roomRoutes(app, options);
  processRoutes(app, options);
}

function roomRoutes(app: FastifyInstance, { requestAuth, audit, registry }: AdminRouteOptions): void {
  app.delete<{ Params: { room: string } }>("/api/admin/rooms/:room", { schema: END_SCHEMA }, async (request, reply) => {
    const { actor } = requestAuth.of(request);
    const name = request.params.room;
    await registry.remove(name);
    audit.record("dispose", actor, name);
    return reply.code(204).send(null);
  });

  app.post<{ Params: { room: string }; Body: { member: number; banSeconds?: number } }>(
    "/api/admin/rooms/:room/kick",
    { schema: KICK_SCHEMA },
    async (request, reply) => {
      const { actor } = requestAuth.of(request);
      const room = registry.get(request.params.room);
      const { member, banSeconds } = request.body;
      const target = room.members.sessions.get(member);
      if (!target) throw new CodedError("MEMBER_NOT_FOUND", { field: "member", value: member });
      await room.moderation.kick(target, banSeconds, actor).finally(() => room.moderation.tellAccess());
      return reply.code(204).send(null);
    },
  );

  app.post<{ Params: { room: string }; Body: { text: string } }>(
    "/api/admin/rooms/:room/announce",
    { schema: ANNOUNCE_SCHEMA },
    async (request, reply) => {
      const { actor } = requestAuth.of(request);
      const room = registry.get(request.params.room);
      room.announce(request.body.text);
      audit.record("announce", actor, room.name, { text: request.body.text });
      return reply.code(204).send(null);
    },
  );
}

/** Gives rooms of this process to others. @throws CodedError if there is no store */
async function handOver({ cluster, audit }: AdminRouteOptions, rooms: string[], actor: string): Promise<string[]> {
  if (cluster === null) throw new CodedError("NO_STORE", { field: "PLIANT_STORE", value: "none" });
  const handed = await cluster.handOver(rooms);
  for (const room of handed) audit.record("rebalance", actor, room);
  return handed;
}

function processRoutes(app: FastifyInstance, options: AdminRouteOptions): void {
  const { requestAuth, audit, cluster, registry } = options;
  app.post<{ Params: { room: string } }>(
    "/api/admin/rooms/:room/hand-over",
    { schema: HAND_OVER_SCHEMA },
    async (request) => {
      const { actor } = requestAuth.of(request);
      const { name } = registry.get(request.params.room);
      return { handedOver: await handOver(options, [name], actor) };
    },
  );

  app.post<{ Body: { rooms: number } }>("/api/admin/rebalance", { schema: REBALANCE_SCHEMA }, async (request) => {
    const { actor } = requestAuth.of(request);
    const lightest = registry
      .list()
      .sort((a, b) => a.members.connected - b.members.connected)
      .slice(0, request.body.rooms);
    return {
      handedOver: await handOver(
        options,
        lightest.map(({ name }) => name),
        actor,
      ),
    };
  });

  app.get("/api/admin/processes", { schema: PROCESSES_SCHEMA }, async () => ({
    processes: (cluster?.processes ?? [])
      .filter(({ secondsLeft, state }) => secondsLeft > 0 && state !== "gone")
      .map(({ given: _given, secondsLeft: _left, ...told }) => told),
  }));

  app.get<{ Querystring: { room?: string; limit?: string } }>(
    "/api/admin/audit",
    { schema: AUDIT_SCHEMA },
    async (request) => {
      const { room, limit = "100" } = request.query;
      return {
        entries: await audit.read({
          limit: Math.min(Number(limit), MOST_ENTRIES),
          ...(room !== undefined && { room }),
        }),
      };
    },
  );
}
