/** Rooms over HTTP: list, create, read, delete, and read positions for tests and developers. */
import type { FastifyInstance, FastifyRequest } from "fastify";
import { CodedError } from "../../../shared/errorCodes.ts";
import { BODY_NOTES, FILE_NOTES, SURFACE_NOTES } from "../../../shared/scene/objectCodes.ts";
import { LOBBY_ROOM } from "../../../shared/members/lobbyRoom.ts";
import { addressKey, Attempts } from "../../auth/addresses.ts";
import type { Audit } from "../../auth/audit.ts";
import { type Identity, mayCreate, roleIn } from "../../auth/identity.ts";
import type { Metrics } from "../../metrics/metrics.ts";
import type { Room } from "../../rooms/room.ts";
import { SharedRead } from "../../rooms/coalescedRead.ts";
import { RoomElsewhere, type RoomRegistry } from "../../rooms/registry.ts";
import { RoomAccess } from "../../auth/roomAccess.ts";
import type { Listing, Quarantined } from "../../store/store.ts";
import type { RequestAuth } from "../guards/requestAuth.ts";
import { createRoomSchema, errorResponses, listedRoomSchema, nameParam, roomSchema } from "../schemas.ts";

interface RoomParams {
  room: string;
}

const params = nameParam("room", "Name of the room.");

export interface RoomRouteOptions {
  requestAuth: RequestAuth;
  audit: Audit;
  /** Reads the rooms of all processes; null: there is only this process. */
  listings: SharedRead<Listing[]> | null;
  metrics: Metrics;
  registry: RoomRegistry;
  /** Rooms that one address may create per minute. */
  roomsPerMinute: number;
}

const denied = ["TOKEN_NEEDED", "TOKEN_INVALID", "NOT_ALLOWED", "BANNED", "ROOM_LOCKED", "TOO_MANY_REQUESTS"] as const;

const listRoomsSchema = {
  tags: ["rooms"],
  summary: "All rooms that are open",
  description:
    "Covers all server processes on the same store. In `tokens` mode, only rooms that the request's token is for. Only rooms of the answering process have `tick` and other live values.",
  response: {
    200: { type: "object", required: ["rooms"], properties: { rooms: { type: "array", items: listedRoomSchema } } },
    ...errorResponses("TOKEN_NEEDED", "TOKEN_INVALID", "TOO_MANY_REQUESTS"),
  },
};

/** Notes of a room about its scene. */
const notesSchema = {
  type: "array",
  description:
    "Findings and repairs in the surfaces of the scene's objects and mesh files, and changes to bodies; absent: none.",
  items: {
    type: "object",
    required: ["code", "text"],
    properties: {
      object: { type: "string", description: "Its id. One of this, `file` and `body` is given." },
      file: { type: "string", description: "Path of the mesh file, as in the scene." },
      body: { type: "string", description: "Name of the body." },
      code: { enum: [...FILE_NOTES, ...SURFACE_NOTES, ...BODY_NOTES] },
      text: { type: "string", description: "A sentence for people." },
      at: {
        type: "array",
        items: { type: "number" },
        description: "Position x, y, z, relative to the size, from the middle of the base.",
      },
    },
  },
};

const openRoomSchema = {
  tags: ["rooms"],
  summary: "Open a room",
  description:
    "Idempotent for a named room: 201 if it was opened now, 200 if a room of this name and scene existed. Answers when the scene is built. The caller that opens a room gets a token that makes its bearer the owner (not of the lobby's room, `welcome`). In `tokens` mode, opening a room needs an owner's token for that name or for every room.",
  headers: {
    type: "object",
    properties: {
      "idempotency-key": {
        type: "string",
        minLength: 8,
        maxLength: 200,
        description:
          "A key that the client generates and that is hard to guess (a UUID). Repeating the key finds the room that it created, also if the name was generated or the first answer was lost.",
      },
    },
  },
  body: createRoomSchema,
  response: {
    200: {
      ...listedRoomSchema,
      properties: {
        ...listedRoomSchema.properties,
        notes: notesSchema,
        token: {
          type: "string",
          description: "As with 201. Only if the request repeats the key of an earlier request without a name.",
        },
      },
      description: "It existed already.",
    },
    201: {
      ...roomSchema,
      properties: {
        ...roomSchema.properties,
        notes: notesSchema,
        token: {
          type: "string",
          description:
            "Makes its bearer the owner of this room, for 30 days. Absent for the lobby's room, which nobody owns.",
        },
      },
      description: "Opened.",
    },
    ...errorResponses(
      "BODY_INVALID",
      "ROOM_NAME_INVALID",
      ...denied,
      "SCENE_NOT_FOUND",
      "ROOM_EXISTS",
      "SCENE_INVALID",
      "ADDRESS_ROOM_LIMIT",
      "BUILD_FAILED",
      "ROOM_LIMIT",
      "ROOM_QUARANTINED",
      "SHUTTING_DOWN",
    ),
  },
};

export function roomRoutes(app: FastifyInstance, options: RoomRouteOptions): void {
  listRooms(app, options);
  openRoom(app, options);
  oneRoom(app, options);
  positionsOfRoom(app, options);
}

function listRooms(app: FastifyInstance, { requestAuth, listings, registry }: RoomRouteOptions): void {
  app.get("/api/rooms", { schema: listRoomsSchema }, async (request) => {
    if (requestAuth.auth.mode === "open") return { rooms: (await allRooms()).map(({ description }) => description) };
    const identity = requestAuth.of(request).identity!;
    return {
      rooms: (await allRooms())
        .filter(({ name, roomId }) => roleIn(identity, { name, id: roomId }) !== null)
        .map(({ description }) => description),
    };
  });

  /** Lists this process's rooms in their current state and the other processes' rooms as stored, oldest first. */
  async function allRooms(): Promise<{ name: string; roomId: string; description: Record<string, unknown> }[]> {
    // Await the store first. Otherwise a room that moves meanwhile could appear twice, or not at all.
    const stored = (await listings?.get()) ?? [];
    const here = registry.list().map((room) => ({
      name: room.name,
      roomId: room.access.id,
      createdAt: room.createdAt.toISOString(),
      description: describeRoom(room),
    }));
    const there = stored
      .filter(({ name }) => registry.find(name) === undefined)
      .map((listing) => ({
        name: listing.name,
        roomId: RoomAccess.fromSettings(listing.settings).id,
        createdAt: listing.createdAt,
        description: describeListing(listing),
      }));
    return [...here, ...there].sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
  }
}

function openRoom(app: FastifyInstance, { requestAuth, metrics, registry, roomsPerMinute }: RoomRouteOptions): void {
  const creations = new Attempts(roomsPerMinute, roomsPerMinute);

  app.post<{
    Headers: { "idempotency-key"?: string };
    Body: { scene: string; room?: string; pool?: "shared" | "dedicated" };
  }>("/api/rooms", { schema: openRoomSchema }, async (request, reply) => {
    const { scene, room: name, pool } = request.body;
    const key = request.headers["idempotency-key"];
    const known = name !== undefined && registry.has(name);
    if (requestAuth.auth.mode === "tokens" && name !== undefined) requireRoom(requestAuth.of(request).identity, name);
    if (pool === "dedicated" && requestAuth.of(request).identity?.role !== "admin")
      throw new CodedError("NOT_ALLOWED", { field: "pool", value: pool, limit: "admin" });
    // Only creating a room counts. A class that follows one link creates one room.
    const maker = known ? undefined : admitMaker(request, name);
    const made = await registry
      .create({ scene, name, pool, ...maker, ...(key !== undefined && { key }) })
      .catch((error: unknown) => {
        if (error instanceof RoomElsewhere) return error.listing;
        throw error;
      });
    const there = "room" in made ? null : made;
    const access = "room" in made ? made.room.access : RoomAccess.fromSettings(made.settings);
    const room = "room" in made ? made.room : { name: made.name, access };
    const created = "room" in made && made.created;
    if (name !== undefined && room.name !== name)
      throw new CodedError(
        "ROOM_EXISTS",
        { field: "idempotency-key", limit: `room ${room.name}` },
        "Another room was opened with this idempotency key.",
      );
    const owned = room.name !== LOBBY_ROOM;
    // Generated names are new, so without a given name an existing room can only come from an earlier request with this
    // key.
    const repeated = !created && key !== undefined && name === undefined;
    if (!created && !repeated && requestAuth.auth.mode === "tokens")
      requireRole(requestAuth.of(request).identity, room);
    reply.code(created ? 201 : 200).header("location", `/api/rooms/${room.name}`);
    const description = there ? describeListing(there) : openedRoom(registry.get(room.name));
    return reply.send(
      (created && owned) || repeated
        ? { ...description, token: await requestAuth.auth.ownerToken(room.name, access) }
        : description,
    );
  });

  /** Checks that the caller may create a room, and returns its owner. Operators' rooms do not count towards limits. */
  function admitMaker(request: FastifyRequest, name: string | undefined): { address?: string; actor: string } {
    const { identity } = requestAuth.of(request);
    const address = addressKey(request.ip);
    if (requestAuth.auth.mode === "tokens" && !(identity && mayCreate(identity, name))) {
      metrics.auth.refused("not_allowed");
      throw new CodedError("NOT_ALLOWED", {
        field: "room",
        value: name ?? "a generated name",
        limit: `${identity!.role} of ${identity!.room}`,
      });
    }
    if (identity?.role === "admin") return { actor: identity.subject };
    if (!creations.take(address, performance.now())) {
      metrics.auth.refused("creation_rate");
      const refusal = new CodedError("TOO_MANY_REQUESTS", {
        field: "rooms",
        value: roomsPerMinute,
        limit: `${roomsPerMinute} a minute`,
      });
      refusal.retryAfter = Math.ceil(60 / roomsPerMinute);
      throw refusal;
    }
    return { address, actor: identity?.subject ?? `visitor at ${address}` };
  }
}

function oneRoom(app: FastifyInstance, { requestAuth, audit, registry }: RoomRouteOptions): void {
  app.get<{ Params: RoomParams }>(
    "/api/rooms/:room",
    {
      schema: {
        tags: ["rooms"],
        summary: "One room",
        params,
        response: { 200: roomSchema, ...errorResponses(...denied, "ROOM_NOT_FOUND") },
      },
    },
    async (request) => {
      const room = registry.get(request.params.room);
      if (requestAuth.auth.mode === "tokens") requireRole(requestAuth.of(request).identity, room);
      return describeRoom(room);
    },
  );

  app.delete<{ Params: RoomParams }>(
    "/api/rooms/:room",
    {
      schema: {
        tags: ["rooms"],
        summary: "Close a room for all members (sockets close with 4404)",
        params,
        description: "For the room's owner, with the token from opening the room.",
        security: [{ token: [] }],
        response: { 204: { type: "null", description: "Closed." }, ...errorResponses(...denied, "ROOM_NOT_FOUND") },
      },
    },
    async (request, reply) => {
      const room = requestAuth.room(request);
      const { actor } = requestAuth.of(request);
      await registry.remove(room.name);
      audit.record("dispose", actor, room.name);
      return reply.code(204).send(null);
    },
  );
}

function positionsOfRoom(app: FastifyInstance, { requestAuth }: RoomRouteOptions): void {
  app.get<{ Params: RoomParams }>(
    "/api/rooms/:room/positions",
    {
      schema: {
        tags: ["rooms"],
        summary: "Positions of the streamed particles, for tests and developers",
        description:
          "Read between two ticks after the request arrives; concurrent requests share one answer. `positions` are metres at `tick`; `quantized` are the grid coordinates of the last sent frame, at `frameTick`.",
        params,
        response: {
          200: {
            type: "object",
            required: ["tick", "stateHash", "origin", "positions", "spawnableBodies", "frameTick", "quantized"],
            properties: {
              tick: { type: "integer" },
              origin: {
                type: "array",
                items: { type: "number" },
                description: "Origin of the positions in the world, m",
              },
              stateHash: { type: "string", description: "FNV-1a 64 of tick, positions and velocities." },
              positions: {
                type: "array",
                items: { type: "number" },
                description: "float32[3 * particles], m from the origin",
              },
              spawnableBodies: {
                type: "array",
                items: { type: "integer" },
                description:
                  "Spawnable bodies that are not in the scene now. Ignore their positions and quantized values.",
              },
              frameTick: { type: "integer", description: "-1: no frame yet" },
              quantized: {
                type: ["array", "null"],
                items: { type: "integer" },
                description: "int32[3 * particles], in units of the body's quantum",
              },
            },
          },
          ...errorResponses(...denied, "ROOM_NOT_FOUND"),
        },
      },
    },
    async (request, reply) => reply.type("application/json").send(await positionsOf(requestAuth.room(request)).get()),
  );
}

const positions = new WeakMap<Room, SharedRead<Buffer>>();

/** Returns the room's state as JSON; concurrent readers share one result. */
function positionsOf(room: Room): SharedRead<Buffer> {
  const known = positions.get(room);
  if (known) return known;
  const read = new SharedRead(async () => {
    const { tick, stateHash, origin, positions: metres, absent, frameTick, quantized } = await room.inspect();
    return Buffer.from(
      JSON.stringify({
        tick,
        stateHash,
        origin,
        positions: [...metres],
        spawnableBodies: absent,
        frameTick,
        quantized: quantized && [...quantized],
      }),
    );
  });
  positions.set(room, read);
  return read;
}

/** In `tokens` mode, callers without a token for the room must not learn whether it exists. */
function requireRoom(identity: Identity | null, name: string): void {
  if (identity && (identity.room === "*" || identity.room === name)) return;
  throw new CodedError("NOT_ALLOWED", { field: "room", value: name, limit: `${identity?.role} of ${identity?.room}` });
}

/** In `tokens` mode, checks that the token is for this room, and not for an earlier room of the same name. */
function requireRole(identity: Identity | null, room: Pick<Room, "name" | "access">): void {
  if (identity && roleIn(identity, { name: room.name, id: room.access.id }) !== null) return;
  throw new CodedError("NOT_ALLOWED", { field: "role", value: "none in this room", limit: "spectator or above" });
}

/** Describes a room of another process. */
export function describeListing(listing: Listing): Record<string, unknown> {
  const { name, scene, members, pool, createdAt, quarantined, settings } = listing;
  const more = quarantined
    ? { quarantined: shownQuarantined(quarantined) }
    : pictureOf({ name, access: RoomAccess.fromSettings(settings) });
  return { room: name, scene, members, pool, createdAt, ...more };
}

/** Public path of the picture; none if the room is not open to all. */
function pictureOf({ name, access }: Pick<Room, "name" | "access">): { picture?: string } {
  return access.isOpen ? { picture: `/api/rooms/${name}/picture` } : {};
}

/** Public part of the quarantine record. */
const shownQuarantined = ({ reason, since, details }: Quarantined): Record<string, unknown> => ({
  reason,
  since,
  details,
});

/** Answer to the client that opens the room. It includes the notes on its uploaded objects. */
const openedRoom = (room: Room): Record<string, unknown> => ({
  ...describeRoom(room),
  ...(room.template.found.length > 0 && { notes: room.template.found }),
});

export function describeRoom(room: Room): Record<string, unknown> {
  return {
    room: room.name,
    scene: room.scene,
    members: room.members.connected,
    pool: room.pool,
    tick: room.tick,
    timeDilation: room.dilation,
    heldBodies: [...room.held],
    spawnableBodies: [...room.facts.absent],
    topology: room.template.topologyHash,
    createdAt: room.createdAt.toISOString(),
    ...(room.publicUrl !== undefined && { url: room.publicUrl }),
    ...pictureOf(room),
  };
}
