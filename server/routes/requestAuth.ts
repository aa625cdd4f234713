/** Who asks over HTTP (`Authorization: Bearer`), and whether they may. */
import type { FastifyRequest } from "fastify";
import { CodedError } from "../../shared/errors.ts";
import { atLeast, type Role } from "../../shared/roles.ts";
import { addressKey, Attempts } from "../auth/addresses.ts";
import type { Audit } from "../auth/audit.ts";
import type { Auth } from "../auth/auth.ts";
import { type Identity, roleIn } from "../auth/identity.ts";
import { TokenError } from "../auth/tokens.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { Room } from "../rooms/room.ts";

/** Tokens that are none, which an address may show at once and then per minute. */
const BAD_TOKEN_BURST = 60;
const BAD_TOKENS_PER_MINUTE = 30;

export interface RequestAuthOptions {
  auth: Auth;
  audit: Audit;
  metrics: Metrics;
}

export class RequestAuth {
  readonly auth: Auth;
  readonly #audit: Audit;
  readonly #metrics: Metrics;
  readonly #badTokens = new Attempts(BAD_TOKEN_BURST, BAD_TOKENS_PER_MINUTE);

  constructor({ auth, audit, metrics }: RequestAuthOptions) {
    this.auth = auth;
    this.#audit = audit;
    this.#metrics = metrics;
  }

  /** @returns null when the request has no token. @throws CodedError TOKEN_INVALID, TOO_MANY_REQUESTS */
  async identify(request: FastifyRequest): Promise<Identity | null> {
    const { authorization } = request.headers;
    if (authorization === undefined) return null;
    const address = addressKey(request.ip);
    if (!this.#badTokens.take(address, performance.now()))
      throw new CodedError("TOO_MANY_REQUESTS", {
        field: "authorization",
        limit: `${BAD_TOKENS_PER_MINUTE} tokens a minute that are none`,
      });
    try {
      const [scheme, token, ...rest] = authorization.split(" ");
      if (scheme?.toLowerCase() !== "bearer" || !token || rest.length > 0)
        throw new TokenError("the header does not have the form Bearer <token>");
      const identity = await this.auth.identify(token);
      this.#badTokens.giveBack(address, performance.now());
      return identity;
    } catch (error) {
      if (!(error instanceof TokenError)) throw error;
      this.#metrics.auth.refused("token_invalid");
      throw new CodedError("TOKEN_INVALID", { field: "authorization", limit: error.message });
    }
  }

  /**
   * What the request may do in this room. Without a token it is a player's where anybody could come in as one.
   * @returns the role, and who it is for the audit log
   * @throws CodedError TOKEN_NEEDED, TOKEN_INVALID, NOT_ALLOWED, TOO_MANY_REQUESTS
   */
  async inRoom(
    request: FastifyRequest,
    room: Pick<Room, "name" | "access">,
    least: Role,
  ): Promise<{ role: Role; actor: string; identity: Identity | null }> {
    const identity = await this.identify(request);
    const open = this.auth.mode === "open" && room.access.isOpen;
    const role = (identity && roleIn(identity, { name: room.name, id: room.access.id })) ?? (open ? "player" : null);
    if (role !== null && atLeast(role, least))
      return { role, actor: identity?.subject ?? `somebody at ${addressKey(request.ip)}`, identity };
    if (identity === null) {
      this.#metrics.auth.refused("token_missing");
      throw new CodedError("TOKEN_NEEDED", { field: "authorization", limit: `${least} or above` });
    }
    this.#metrics.auth.refused("not_allowed");
    throw new CodedError("NOT_ALLOWED", {
      field: "role",
      value: role ?? "none in this room",
      limit: `${least} or above`,
    });
  }

  /** @returns the admin's subject. @throws CodedError TOKEN_NEEDED, TOKEN_INVALID, NOT_ALLOWED, TOO_MANY_REQUESTS */
  async admin(request: FastifyRequest): Promise<string> {
    const identity = await this.identify(request);
    if (identity?.role === "admin") return identity.subject;
    this.#metrics.auth.refused("admin");
    if (identity === null) throw new CodedError("TOKEN_NEEDED", { field: "authorization", limit: "admin" });
    this.#audit.record("denied", identity.subject, null, { route: request.routeOptions.url, role: identity.role });
    throw new CodedError("NOT_ALLOWED", { field: "role", value: identity.role, limit: "admin" });
  }
}
