/**
 * Quarantined rows of rooms: damaged journal segments, checkpoints and member rows, and the rows that follow them.
 * Operators list, download and delete them. They expire after a while (PLIANT_QUARANTINE_DAYS, PLIANT_QUARANTINE_MB).
 */
import type { FastifyInstance } from "fastify";
import type { QuarantineRouteOptions } from "./quarantinedRooms.ts";
import { errorResponses, nameParam } from "../schemas.ts";

const ofRoom = nameParam("room", "Name of the room.");
const ofPiece = {
  ...ofRoom,
  required: ["room", "id"],
  properties: {
    ...ofRoom.properties,
    id: { type: "string", pattern: "^[1-9][0-9]{0,14}$", description: "Id of the row." },
  },
};
const denied = ["TOKEN_NEEDED", "TOKEN_INVALID", "NOT_ALLOWED", "TOO_MANY_REQUESTS"] as const;

const pieceSchema = {
  type: "object",
  required: ["id", "what", "tick", "after", "reason", "at", "bytes"],
  properties: {
    id: { type: "integer" },
    what: { type: "string", enum: ["checkpoint", "journal", "members"] },
    tick: { type: "integer", description: "Tick of a checkpoint; last tick of a journal segment; 0 for members." },
    after: { type: ["integer", "null"], description: "For a journal segment: the last tick before it." },
    reason: { type: "string", description: "Reason why it could not be used." },
    at: { type: "string", description: "Time of quarantine, ISO 8601." },
    bytes: { type: "integer" },
  },
};

export function quarantinedPieceRoutes(
  app: FastifyInstance,
  { requestAuth, audit, registry }: Omit<QuarantineRouteOptions, "forget">,
): void {
  const { quarantine } = registry;
  const common = { tags: ["admin"], security: [{ token: [] }] };

  app.get<{ Params: { room: string } }>(
    "/api/admin/rooms/:room/quarantined-pieces",
    {
      schema: {
        ...common,
        summary: "Quarantined rows of a room",
        description:
          "Stored rows that were damaged, or followed a damaged row, when the room was taken over. Oldest first.",
        params: ofRoom,
        response: {
          200: { type: "object", required: ["pieces"], properties: { pieces: { type: "array", items: pieceSchema } } },
          ...errorResponses(...denied, "ROOM_NOT_FOUND", "NO_STORE"),
        },
      },
    },
    async (request) => ({ pieces: await quarantine.quarantinedPieces(request.params.room) }),
  );

  app.get<{ Params: { room: string; id: string } }>(
    "/api/admin/rooms/:room/quarantined-pieces/:id",
    {
      schema: {
        ...common,
        summary: "A quarantined row, as stored",
        params: ofPiece,
        response: {
          200: {
            description: "msgpack behind a checksum (server/persistence/format.ts), if it is intact.",
            content: { "application/octet-stream": { schema: { type: "string", format: "binary" } } },
          },
          ...errorResponses(...denied, "PIECE_NOT_FOUND", "NO_STORE"),
        },
      },
    },
    async (request, reply) => {
      const { room } = request.params;
      const id = Number(request.params.id);
      const bytes = await quarantine.quarantinedPieceBytes(room, id);
      audit.record("recording", requestAuth.of(request).actor, room, { piece: id });
      return reply
        .type("application/octet-stream")
        .header("content-disposition", `attachment; filename="${room}-quarantined-pieces-${id}.bin"`)
        .send(Buffer.from(bytes));
    },
  );

  app.delete<{ Params: { room: string; id: string } }>(
    "/api/admin/rooms/:room/quarantined-pieces/:id",
    {
      schema: {
        ...common,
        summary: "Delete a quarantined row",
        params: ofPiece,
        response: {
          204: { type: "null", description: "Deleted." },
          ...errorResponses(...denied, "PIECE_NOT_FOUND", "NO_STORE"),
        },
      },
    },
    async (request, reply) => {
      const { room } = request.params;
      const id = Number(request.params.id);
      await quarantine.removeQuarantinedPiece(room, id);
      audit.record("dispose", requestAuth.of(request).actor, room, { piece: id });
      return reply.code(204).send(null);
    },
  );
}
