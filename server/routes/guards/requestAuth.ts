/**
 * Authenticates HTTP requests (`Authorization: Bearer`) and authorizes them: before its handler runs, every request is
 * checked against its route's row in rules.ts.
 *
 *     registered    a route without a row fails at startup
 *     early         checks that need no room: is there a token, is it valid, is it an admin's? They run before any
 *                   query to the store or to another process, so that in `tokens` mode clients without a token
 *                   cannot learn which rooms exist
 *     judge         checks in the room of the address: role, ban, lock, password (auth/admission.ts), as for sockets
 */
import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from "fastify";
import { CodedError } from "../../../shared/errorCodes.ts";
import { atLeast, isRole, type Role } from "../../../shared/members/roles.ts";
import { addressKey } from "../../auth/addresses.ts";
import { type Denial, denialOf } from "../../auth/admission.ts";
import type { Audit } from "../../auth/audit.ts";
import { type Auth, BAD_TOKENS_PER_MINUTE, type ForwardedIdentity } from "../../auth/auth.ts";
import type { Budgets } from "../../auth/budgets.ts";
import { type Identity, isIdentity, roleIn } from "../../auth/identity.ts";
import { TokenError } from "../../auth/tokens.ts";
import type { Metrics } from "../../metrics/metrics.ts";
import type { Room } from "../../rooms/room.ts";
import { NOTHING_THERE, type Rule, ruleOf } from "../rules.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Access rule of the route; set when the route is registered. */
    rule?: Rule;
  }
}

export interface RequestAuthOptions {
  auth: Auth;
  audit: Audit;
  metrics: Metrics;
  /** @returns the room of this name, if it is open in this process */
  find: (room: string) => Room | undefined;
}

/** Result of checking a request against its rule. */
interface Judged {
  identity: Identity | null;
  /** Name in the audit log. */
  actor: string;
  /** The room of the address, if the rule needs a role in it. */
  room: Room | undefined;
}

export class RequestAuth {
  readonly auth: Auth;
  readonly #audit: Audit;
  readonly #metrics: Metrics;
  readonly #find: (room: string) => Room | undefined;
  readonly #judged = new WeakMap<FastifyRequest, Judged>();

  constructor({ auth, audit, metrics, find }: RequestAuthOptions) {
    this.auth = auth;
    this.#audit = audit;
    this.#metrics = metrics;
    this.#find = find;
  }

  /** Gives each route its rule; call before any route is registered. */
  watchRoutes(app: FastifyInstance): void {
    app.addHook("onRoute", (route) => {
      const rules = [route.method].flat().map((method) => ruleOf(method, route.url));
      route.config = { ...route.config, rule: rules[0]! };
    });
  }

  /**
   * Charges the request's cost to its address: before any other work, and after forwarded requests are resolved to the
   * original client (cluster/forward.ts).
   */
  charge(app: FastifyInstance, budgets: Budgets): void {
    // Runs after all onRequest hooks: before them Fastify does not know that a request is a WebSocket, and could not
    // close it on refusal.
    app.addHook("preParsing", async (request, reply) => {
      const { cost } = ruleFor(request) ?? NOTHING_THERE;
      if (budgets.spend(addressKey(request.ip), cost)) return;
      this.#metrics.auth.refused("budget");
      void reply.header("retry-after", Math.max(1, Math.ceil(cost / budgets.perSecond)));
      throw new CodedError("TOO_MANY_REQUESTS", { field: "budget", value: cost, limit: `${budgets.perSecond} ms/s` });
    });
  }

  /** Adds the checks that run before requests are forwarded to other processes. */
  judgeEarly(app: FastifyInstance): void {
    app.addHook("preValidation", async (request) => {
      const identity = await this.#early(request);
      this.#judged.set(request, {
        identity,
        actor: identity?.subject ?? `visitor at ${addressKey(request.ip)}`,
        room: undefined,
      });
    });
  }

  /** Adds the checks that run before the handlers of all later routes. */
  judge(app: FastifyInstance): void {
    app.addHook("preHandler", async (request) => {
      const who = ruleFor(request)?.who;
      if (isRole(who) && who !== "admin") this.#inRoom(request, who);
    });
  }

  /** Returns the result of the request's checks. */
  of(request: FastifyRequest): Judged {
    return this.#judged.get(request)!;
  }

  /** Returns the room that the request is authorized for. */
  room(request: FastifyRequest): Room {
    return this.of(request).room!;
  }

  async #early(request: FastifyRequest): Promise<Identity | null> {
    const who = ruleFor(request)?.who ?? "everyone";
    const open = this.auth.mode === "open";
    if (who === "everyone" || who === "socket" || (who === "listed" && open)) return null;
    const identity = await this.#identify(request);
    if (who === "admin") this.#requireAdmin(request, identity);
    if (identity === null && (who === "bearer" || !open))
      throw this.#tokenNeeded(isRole(who) ? who : who === "listed" ? "spectator" : "owner");
    const { room } = request.params as { room?: string };
    if (
      identity !== null &&
      !open &&
      who !== "admin" &&
      room !== undefined &&
      identity.room !== "*" &&
      identity.room !== room
    )
      throw this.#notAllowed(null, isRole(who) ? who : "spectator");
    return identity;
  }

  /** @returns null when the request has no token. @throws CodedError TOKEN_INVALID, TOO_MANY_REQUESTS */
  async #identify(request: FastifyRequest): Promise<Identity | null> {
    // The forwarding process has checked the token and does not pass it on.
    if (request.ticket) return identityIn(request.ticket.said);
    const { authorization } = request.headers;
    if (authorization === undefined) return null;
    const address = addressKey(request.ip);
    if (!this.auth.badTokens.take(address, performance.now()))
      throw new CodedError("TOO_MANY_REQUESTS", {
        field: "authorization",
        limit: `${BAD_TOKENS_PER_MINUTE} invalid tokens a minute`,
      });
    try {
      const [scheme, token, ...rest] = authorization.split(" ");
      if (scheme?.toLowerCase() !== "bearer" || !token || rest.length > 0)
        throw new TokenError("the header does not have the form Bearer <token>");
      const identity = await this.auth.identify(token);
      this.auth.badTokens.giveBack(address, performance.now());
      return identity;
    } catch (error) {
      if (!(error instanceof TokenError)) throw error;
      this.#metrics.auth.refused("token_invalid");
      throw new CodedError("TOKEN_INVALID", { field: "authorization", limit: error.message });
    }
  }

  #requireAdmin(request: FastifyRequest, identity: Identity | null): void {
    if (identity?.role === "admin") return;
    this.#metrics.auth.refused("admin");
    if (identity === null) throw new CodedError("TOKEN_NEEDED", { field: "authorization", limit: "admin" });
    this.#audit.record("denied", identity.subject, null, { route: request.routeOptions.url, role: identity.role });
    throw new CodedError("NOT_ALLOWED", { field: "role", value: identity.role, limit: "admin" });
  }

  /** @throws CodedError ROOM_NOT_FOUND, BANNED, ROOM_LOCKED, TOKEN_NEEDED, NOT_ALLOWED */
  #inRoom(request: FastifyRequest, least: Role): void {
    const { room: name } = request.params as { room: string };
    const room = this.#find(name);
    if (!room) throw new CodedError("ROOM_NOT_FOUND", { field: "room", value: name });
    const judged = this.of(request);
    const role = this.admit(request, judged.identity, room, least);
    if (!atLeast(role, least))
      throw judged.identity === null ? this.#tokenNeeded(least) : this.#notAllowed(role, least);
    judged.room = room;
  }

  /**
   * @returns the role that the request has in the room, as for a socket
   * @throws CodedError as `#inRoom` does
   */
  admit(
    request: FastifyRequest,
    identity: Identity | null,
    room: Pick<Room, "name" | "access" | "members">,
    least: Role,
  ): Role {
    const role = identity && roleIn(identity, { name: room.name, id: room.access.id });
    const known = role === null ? null : { role, subject: identity!.subject };
    const wasIn = known !== null && room.members.hasSubject(known.subject);
    const denial = denialOf(this.auth.mode, room.access, { known, wasIn, address: addressKey(request.ip) }, Date.now());
    if (denial) throw this.#denied(denial, identity, least);
    return role ?? "player";
  }

  #denied(denial: Denial, identity: Identity | null, least: Role): CodedError {
    switch (denial.why) {
      case "banned":
        this.#metrics.auth.refused("banned");
        return new CodedError("BANNED", { field: "room", limit: `for another ${denial.seconds} s` });
      case "locked":
        this.#metrics.auth.refused("locked");
        return new CodedError("ROOM_LOCKED", { field: "room" });
      case "token":
      case "password":
        return identity === null ? this.#tokenNeeded(least) : this.#notAllowed(null, least);
    }
  }

  #tokenNeeded(least: Role): CodedError {
    this.#metrics.auth.refused("token_missing");
    return new CodedError("TOKEN_NEEDED", { field: "authorization", limit: `${least} or above` });
  }

  #notAllowed(role: Role | null, least: Role): CodedError {
    this.#metrics.auth.refused("not_allowed");
    return new CodedError("NOT_ALLOWED", {
      field: "role",
      value: role ?? "none in this room",
      limit: `${least} or above`,
    });
  }
}

const ruleFor = (request: FastifyRequest): Rule | undefined =>
  (request.routeOptions.config as FastifyContextConfig | undefined)?.rule;

/** The identity that a ticket speaks of; null: none, or it has ended meanwhile. */
export function identityIn(said: unknown, nowMs = Date.now()): Identity | null {
  const identity = (said as ForwardedIdentity | null)?.identity;
  if (!isIdentity(identity)) return null;
  return identity.expiresAtMs !== null && identity.expiresAtMs <= nowMs ? null : identity;
}
