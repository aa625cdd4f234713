/**
 * Who asks over HTTP (`Authorization: Bearer`), and whether they may: every request is judged by its route's row in
 * rules.ts, before its handler runs.
 *
 *     registered    a route without a row does not come up
 *     early         what needs no room: is there a token, is it one, is it an admin's? Before the store or another
 *                   process is asked for anything,
 *                   so that in `tokens` mode nobody without one learns which rooms there are
 *     judge         in the room that the address names: role, ban, lock, password (auth/admission.ts), as at the socket
 */
import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from "fastify";
import { CodedError } from "../../shared/errors.ts";
import { atLeast, isRole, type Role } from "../../shared/roles.ts";
import { addressKey } from "../auth/addresses.ts";
import { type Denial, denialOf } from "../auth/admission.ts";
import type { Audit } from "../auth/audit.ts";
import { type Auth, BAD_TOKENS_PER_MINUTE, type Vouched } from "../auth/auth.ts";
import type { Budgets } from "../auth/budgets.ts";
import { type Identity, roleIn } from "../auth/identity.ts";
import { TokenError } from "../auth/tokens.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { Room } from "../rooms/room.ts";
import { NOTHING_THERE, type Rule, ruleOf } from "./rules.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Who may ask for the route; set when it is registered. */
    rule?: Rule;
  }
}

export interface RequestAuthOptions {
  auth: Auth;
  audit: Audit;
  metrics: Metrics;
  /** @returns the room that is open here by this name */
  find: (room: string) => Room | undefined;
}

/** What a request is by its rule. */
interface Judged {
  identity: Identity | null;
  /** For the audit log. */
  actor: string;
  /** The one that the address names, where the rule asks for a role in it. */
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

  /** Before any route: gives each its rule. */
  watchRoutes(app: FastifyInstance): void {
    app.addHook("onRoute", (route) => {
      const rules = [route.method].flat().map((method) => ruleOf(method, route.url));
      route.config = { ...route.config, rule: rules[0]! };
    });
  }

  /**
   * Before anything is done for a request, and after it is known who really asks (cluster/forward.ts): what it costs.
   */
  charge(app: FastifyInstance, budgets: Budgets): void {
    // After every onRequest: only then are sockets known to be some, and ended with their refusal.
    app.addHook("preParsing", async (request, reply) => {
      const { cost } = ruleFor(request) ?? NOTHING_THERE;
      if (budgets.spend(addressKey(request.ip), cost)) return;
      this.#metrics.auth.refused("budget");
      void reply.header("retry-after", Math.max(1, Math.ceil(cost / budgets.perSecond)));
      throw new CodedError("TOO_MANY_REQUESTS", { field: "budget", value: cost, limit: `${budgets.perSecond} ms/s` });
    });
  }

  /** Before requests are passed on to other processes. */
  judgeEarly(app: FastifyInstance): void {
    app.addHook("preValidation", async (request) => {
      const identity = await this.#early(request);
      this.#judged.set(request, {
        identity,
        actor: identity?.subject ?? `somebody at ${addressKey(request.ip)}`,
        room: undefined,
      });
    });
  }

  /** Before the handlers of routes that are registered after this. */
  judge(app: FastifyInstance): void {
    app.addHook("preHandler", async (request) => {
      const who = ruleFor(request)?.who;
      if (isRole(who) && who !== "admin") this.#inRoom(request, who);
    });
  }

  /** What the request was judged to be. */
  of(request: FastifyRequest): Judged {
    return this.#judged.get(request)!;
  }

  /** The room that the request may do with what its rule says. */
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
    // Another process has judged the token, and does not pass it on.
    if (request.ticket) return identityIn(request.ticket.said);
    const { authorization } = request.headers;
    if (authorization === undefined) return null;
    const address = addressKey(request.ip);
    if (!this.auth.badTokens.take(address, performance.now()))
      throw new CodedError("TOO_MANY_REQUESTS", {
        field: "authorization",
        limit: `${BAD_TOKENS_PER_MINUTE} tokens a minute that are none`,
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
   * @returns as what the request comes into the room, as if it came by a socket.
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
  const identity = (said as Vouched | null)?.identity;
  if (!identity || !isRole(identity.role)) return null;
  return identity.expiresAtMs !== null && identity.expiresAtMs <= nowMs ? null : identity;
}
