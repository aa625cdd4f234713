/** `POST /api/tokens`: owners issue tokens for their rooms, admins for all rooms. */
import type { FastifyInstance } from "fastify";
import { CodedError } from "../../../shared/errorCodes.ts";
import { above, atLeast, ROLES, type Role } from "../../../shared/members/roles.ts";
import { visibleText } from "../../../shared/members/visibleText.ts";
import type { Audit } from "../../auth/audit.ts";
import { type Identity, roleIn } from "../../auth/identity.ts";
import { MAX_SUBJECT_LENGTH, MAX_TOKEN_HOURS, SUBJECT_PATTERN } from "../../auth/tokens.ts";
import { skeletonsOf } from "../../rooms/members/nameSkeleton.ts";
import type { RoomRegistry } from "../../rooms/registry.ts";
import type { RequestAuth } from "../guards/requestAuth.ts";
import { errorResponses } from "../schemas.ts";

interface TokenRequest {
  room: string;
  role: Role;
  hours?: number;
  name?: string;
  subject?: string;
}

/** Default lifetime of a token, hours. */
const DEFAULT_HOURS = 24;
const MS_PER_HOUR = 3_600_000;

const ISSUE_SCHEMA = {
  tags: ["auth"],
  summary: "Issue a join token",
  description:
    "For an admin (any room) or a room's owner (that room). The new token cannot have a higher role than the request's token and cannot outlive it.",
  security: [{ token: [] }],
  body: {
    type: "object",
    required: ["room", "role"],
    additionalProperties: false,
    properties: {
      room: {
        type: "string",
        pattern: "^(\\*|[a-z0-9][a-z0-9-]{0,39})$",
        description: "Name of a room, or * for every room.",
      },
      role: { type: "string", enum: [...ROLES] },
      hours: {
        type: "number",
        exclusiveMinimum: 0,
        maximum: MAX_TOKEN_HOURS,
        description: `Life of the token; default ${DEFAULT_HOURS}.`,
      },
      name: { type: "string", minLength: 1, maxLength: 24, description: "Shown for a member that chooses no name." },
      subject: {
        type: "string",
        minLength: 1,
        maxLength: MAX_SUBJECT_LENGTH,
        pattern: SUBJECT_PATTERN,
        description: "Identifies the bearer in bans and in the audit log; generated if absent.",
      },
    },
  },
  response: {
    201: {
      type: "object",
      required: ["token", "room", "role", "subject", "expiresAt", "path"],
      properties: {
        token: { type: "string", description: "For hello, or Authorization: Bearer." },
        room: { type: "string" },
        role: { type: "string", enum: [...ROLES] },
        subject: { type: "string" },
        expiresAt: { type: "string", format: "date-time" },
        path: {
          type: "string",
          description: "Link to the room's page that contains the token; / for a token for every room.",
        },
      },
    },
    ...errorResponses("BODY_INVALID", "TOKEN_NEEDED", "TOKEN_INVALID", "NOT_ALLOWED", "TOO_MANY_REQUESTS"),
  },
};

export interface TokenRouteOptions {
  requestAuth: RequestAuth;
  audit: Audit;
  registry: RoomRegistry;
}

export function tokenRoutes(app: FastifyInstance, { requestAuth, audit, registry }: TokenRouteOptions): void {
  app.post<{ Body: TokenRequest }>("/api/tokens", { schema: ISSUE_SCHEMA }, async (request, reply) => {
    const identity = requestAuth.of(request).identity!;
    const { room, role, hours = DEFAULT_HOURS, name, subject } = request.body;
    const roomId = checkGrant(identity, room, role, registry);
    if (subject !== undefined && identity.role !== "admin" && isReserved(subject))
      throw new CodedError("NOT_ALLOWED", {
        field: "subject",
        value: subject,
        limit: "visible characters in NFKC, no word of the audit log",
      });
    const endsMs = Math.min(Date.now() + MS_PER_HOUR * hours, identity.expiresAtMs ?? Infinity);
    const issued = await requestAuth.auth.mint.sign({
      room,
      role,
      roomId,
      seconds: (endsMs - Date.now()) / 1000,
      ...(name !== undefined && { name }),
      ...(subject !== undefined && { subject }),
    });
    const expiresAt = issued.expiresAt.toISOString();
    audit.record("token", identity.subject, room === "*" ? null : room, {
      role,
      subject: issued.subject,
      expiresAt,
      ...(name !== undefined && { name }),
    });
    return reply.code(201).send({
      token: issued.token,
      room,
      role,
      subject: issued.subject,
      expiresAt,
      path: `${room === "*" ? "/" : `/r/${room}`}#token=${issued.token}`,
    });
  });
}

/**
 * The subject of `PLIANT_ADMIN_TOKEN`, and how the audit log names actors without a token. A visitor who opens a room
 * may issue tokens for it, and must not act in it under these, nor under texts that only look like them.
 */
const RESERVED = ["admin", "system"].flatMap(skeletonsOf);
const RESERVED_BEGINNINGS = ["visitor at", "member"].flatMap(skeletonsOf);

function isReserved(subject: string): boolean {
  if (visibleText(subject) !== subject) return true;
  return skeletonsOf(subject).some(
    (skeleton) =>
      RESERVED.includes(skeleton) || RESERVED_BEGINNINGS.some((beginning) => skeleton.startsWith(beginning)),
  );
}

/** @returns the incarnation of the room that the new token is bound to, if any. @throws CodedError NOT_ALLOWED */
function checkGrant(identity: Identity, room: string, role: Role, registry: RoomRegistry): string | undefined {
  const open = registry.find(room);
  // If the room is not open, only a token for any room of that name can issue others.
  const own = open
    ? roleIn(identity, { name: room, id: open.access.id })
    : identity.room === "*" || (identity.room === room && identity.roomId === undefined)
      ? identity.role
      : null;
  if (own === null) throw new CodedError("NOT_ALLOWED", { field: "room", value: room, limit: identity.room });
  if (!atLeast(own, "owner"))
    throw new CodedError("NOT_ALLOWED", { field: "role", value: own, limit: "owner or above" });
  if (above(role, own)) throw new CodedError("NOT_ALLOWED", { field: "role", value: role, limit: `up to ${own}` });
  if (role === "admin" && room !== "*")
    throw new CodedError("NOT_ALLOWED", { field: "room", value: room, limit: "*: an admin's token is for every room" });
  return identity.roomId;
}
