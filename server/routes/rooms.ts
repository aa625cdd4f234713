/** Rooms over HTTP: list, create, read, delete, and a look into the state for tests and developers. */
import type { FastifyInstance } from "fastify";
import type { Room } from "../rooms/room.ts";
import type { RoomRegistry } from "../rooms/registry.ts";
import { createRoomSchema, errorResponses, nameParam, roomSchema } from "./schemas.ts";

interface RoomParams {
  room: string;
}

const params = nameParam("room", "Name of the room.");

export function roomRoutes(app: FastifyInstance, registry: RoomRegistry): void {
  app.get("/api/rooms", {
    schema: {
      tags: ["rooms"],
      summary: "All rooms that are open",
      response: { 200: { type: "object", required: ["rooms"], properties: { rooms: { type: "array", items: roomSchema } } } },
    },
  }, async () => ({ rooms: registry.list().map(describe) }));

  app.post<{ Body: { scene: string; room?: string; pool?: "shared" | "dedicated" } }>("/api/rooms", {
    schema: {
      tags: ["rooms"],
      summary: "Open a room",
      description: "Idempotent for a named room: 201 when it was opened now, 200 when a room of this name and scene was there. Answers when the scene is built.",
      body: createRoomSchema,
      response: {
        200: { ...roomSchema, description: "It was there already." },
        201: { ...roomSchema, description: "Opened." },
        ...errorResponses("BODY_INVALID", "ROOM_NAME_INVALID", "SCENE_NOT_FOUND", "ROOM_EXISTS", "SCENE_INVALID", "BUILD_FAILED", "ROOM_LIMIT", "SHUTTING_DOWN"),
      },
    },
  }, async (request, reply) => {
    const { scene, room: name, pool } = request.body;
    const { room, created } = await registry.create({ scene, name, pool });
    return reply.code(created ? 201 : 200).header("location", `/api/rooms/${room.name}`).send(describe(room));
  });

  app.get<{ Params: RoomParams }>("/api/rooms/:room", {
    schema: { tags: ["rooms"], summary: "One room", params, response: { 200: roomSchema, ...errorResponses("ROOM_NOT_FOUND") } },
  }, async (request) => describe(registry.get(request.params.room)));

  app.delete<{ Params: RoomParams }>("/api/rooms/:room", {
    schema: {
      tags: ["rooms"],
      summary: "Close a room for everyone (sockets close with 4404)",
      params,
      response: { 204: { type: "null", description: "Closed." }, ...errorResponses("ROOM_NOT_FOUND") },
    },
  }, async (request, reply) => {
    await registry.remove(request.params.room);
    return reply.code(204).send(null);
  });

  app.get<{ Params: RoomParams }>("/api/rooms/:room/positions", {
    schema: {
      tags: ["rooms"],
      summary: "Positions of the streamed particles, for tests and developers",
      description: "Taken between two ticks. `positions` are metres at `tick`; `quantized` are the grid coordinates of the frame that was sent last, at `frameTick`.",
      params,
      response: {
        200: {
          type: "object",
          required: ["tick", "stateHash", "origin", "positions", "waiting", "frameTick", "quantized"],
          properties: {
            tick: { type: "integer" },
            origin: { type: "array", items: { type: "number" }, description: "Where in the world positions are measured from, m" },
            stateHash: { type: "string", description: "FNV-1a 64 of tick, positions and velocities." },
            positions: { type: "array", items: { type: "number" }, description: "float32[3 * particles], m from the origin" },
            waiting: { type: "array", items: { type: "integer" }, description: "Bodies that wait: what positions and quantized say of them means nothing." },
            frameTick: { type: "integer", description: "-1: no frame yet" },
            quantized: { type: "array", nullable: true, items: { type: "integer" }, description: "int32[3 * particles], in units of the body's quantum" },
          },
        },
        ...errorResponses("ROOM_NOT_FOUND"),
      },
    },
  }, async (request) => {
    const { tick, stateHash, origin, positions, waiting, frameTick, quantized } = await registry.get(request.params.room).inspect();
    return { tick, stateHash, origin, positions: [...positions], waiting, frameTick, quantized: quantized && [...quantized] };
  });
}

function describe(room: Room): Record<string, unknown> {
  return {
    room: room.name,
    scene: room.scene,
    members: room.members.connected,
    pool: room.pool,
    tick: room.tick,
    timeDilation: room.dilation,
    heldBodies: [...room.held],
    waitingBodies: [...room.waiting],
    topology: room.topologyHash,
    createdAt: room.createdAt.toISOString(),
  };
}
