/** Permissions of members by role, and moderation by owners: kick and ban members, lock the room, set a password. */
import type { FastifyBaseLogger } from "fastify";
import { CodedError, type NoticeCode } from "../../shared/errors.ts";
import { CloseCode } from "../../shared/protocol/protocol.ts";
import { above, atLeast, type Role } from "../../shared/roles.ts";
import type { Audit } from "../auth/audit.ts";
import { PASSWORD_LENGTH, PasswordQueueFull } from "../auth/password.ts";
import { MAX_BAN_SECONDS, type RoomAccess } from "../auth/roomAccess.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { ClientRequest } from "../../shared/protocol/fromClient.ts";
import type { Members } from "./members.ts";
import { encodeNotice } from "../../shared/protocol/fromServer.ts";
import type { Session } from "./session.ts";
import { TokenBucket } from "./tokenBucket.ts";

/** Least role for each message. Messages that are not listed are allowed for all roles. */
const LEAST_ROLE: Partial<Record<ClientRequest["type"], Role>> = {
  grab: "player",
  impulse: "player",
  reset: "player",
  spawn: "player",
  remove: "player",
  message: "player",
  kick: "owner",
  access: "owner",
  tune: "owner",
};
/** Messages that need an owner if the room's `ownersOnly` is set. */
const OWNERS_ONLY: ReadonlySet<ClientRequest["type"]> = new Set(["reset", "spawn", "remove"]);

/**
 * Rate and burst of access changes and kicks in a room: each is stored, audited and announced to all members. Without
 * the limit, owners who changed it continually kept other rooms from the store and the audit log.
 */
const CHANGES_PER_SECOND = 5;
const CHANGES_AT_ONCE = 60;

export interface ModerationOptions {
  room: string;
  access: RoomAccess;
  members: Members;
  audit: Audit;
  metrics: Metrics;
  log: FastifyBaseLogger;
  /** The room's access has changed: tell all members. */
  onAccess: () => void;
}

export class Moderation {
  readonly #options: ModerationOptions;
  /** A password is being hashed. A room takes at most one place in the queue of all rooms. */
  #settingPassword = false;
  /** Number of changes that are in effect but not stored yet. */
  #unstored = 0;
  readonly #changes = new TokenBucket(CHANGES_PER_SECOND, CHANGES_AT_ONCE, performance.now());

  constructor(options: ModerationOptions) {
    this.#options = options;
  }

  /** Checks the member's role; sends a notice if the request is refused. */
  allows(session: Session, { type }: ClientRequest): boolean {
    const { access, metrics } = this.#options;
    const least = access.ownersOnly && OWNERS_ONLY.has(type) ? "owner" : LEAST_ROLE[type];
    if (least === undefined || atLeast(session.entry.role, least)) return true;
    metrics.reject("not_allowed");
    this.#notice(session, "NOT_ALLOWED", { field: type, value: session.entry.role, limit: `${least} or above` });
    return false;
  }

  /** Handles an owner's request, after `allows`. */
  handle(session: Session, request: Extract<ClientRequest, { type: "kick" | "access" }>): void {
    if (!this.#changes.take(performance.now())) {
      this.#options.metrics.reject("rate");
      const limit = `${CHANGES_PER_SECOND} changes of access and kicks per second in a room`;
      return this.#notice(session, "RATE_LIMITED", { field: request.type, limit });
    }
    if (request.type === "access") return this.#change(session, request);
    const { member, banSeconds } = request;
    const target = this.#options.members.sessions.get(member);
    if (!target) return this.#refuse(session, "member", member, "a member of this room");
    if (banSeconds !== undefined && !(banSeconds > 0 && banSeconds <= MAX_BAN_SECONDS))
      return this.#refuse(session, "ban", banSeconds, `more than 0, up to ${MAX_BAN_SECONDS} s`);
    if (!above(session.entry.role, target.entry.role)) {
      return this.#notice(session, "NOT_ALLOWED", {
        field: "kick",
        value: target.entry.role,
        limit: `below ${session.entry.role}`,
      });
    }
    void this.#acknowledge(session, [this.kick(target, banSeconds, actorOf(session))]);
  }

  /**
   * Tells all members the room's access. While changes are being stored it does nothing: the pending change announces
   * the access when it is done, so that no change is announced before it is stored.
   */
  tellAccess(): void {
    if (this.#unstored === 0) this.#options.onAccess();
  }

  /**
   * Kicks a member and, if a time is given, bans it. Both take effect at once.
   * @returns resolves when the ban is stored. @throws CodedError STORE_AWAY (rejects)
   */
  async kick(target: Session, banSeconds: number | undefined, actor: string): Promise<void> {
    const { room, access, members, audit } = this.#options;
    const { member, name, id } = target;
    const { address, subject } = target.entry;
    let banned: Promise<void> | undefined;
    if (banSeconds !== undefined) {
      const nowMs = Date.now();
      banned = access.ban(
        {
          address,
          ...(subject !== null && { subject }),
          session: target.mark,
          untilMs: nowMs + 1000 * banSeconds,
          name,
        },
        nowMs,
      );
    }
    audit.record(banSeconds === undefined ? "kick" : "ban", actor, room, {
      member,
      name,
      session: id,
      address,
      ...(subject !== null && { subject }),
      ...(banSeconds !== undefined && { seconds: banSeconds }),
    });
    members.kick(
      target,
      CloseCode.kicked,
      banSeconds === undefined ? "kicked by an owner" : `banned from this room for ${Math.ceil(banSeconds)} s`,
    );
    if (!banned) return;
    this.#unstored += 1;
    await banned.finally(() => (this.#unstored -= 1));
  }

  #change(
    session: Session,
    { locked, ownersOnly, password, liftBans }: Extract<ClientRequest, { type: "access" }>,
  ): void {
    const { room, access, audit } = this.#options;
    const actor = actorOf(session);
    if (
      typeof password === "string" &&
      (password.length < PASSWORD_LENGTH.min || password.length > PASSWORD_LENGTH.max)
    ) {
      return this.#refuse(
        session,
        "password",
        password.length,
        `${PASSWORD_LENGTH.min} to ${PASSWORD_LENGTH.max} characters`,
      );
    }
    const changes: Promise<unknown>[] = [];
    if (locked !== undefined) {
      changes.push(access.setLocked(locked));
      audit.record(locked ? "lock" : "unlock", actor, room);
    }
    if (ownersOnly !== undefined) {
      changes.push(access.setOwnersOnly(ownersOnly));
      audit.record("settings", actor, room, { ownersOnly });
    }
    if (liftBans) {
      changes.push(access.liftBans());
      audit.record("unban", actor, room);
    }
    if (password !== undefined && this.#settingPassword) {
      this.#notice(session, "RATE_LIMITED", { field: "password", limit: "one at a time" });
    } else if (password !== undefined) {
      this.#settingPassword = true;
      const set = access.setPassword(password, session.entry.address).finally(() => {
        this.#settingPassword = false;
      });
      changes.push(set.then(() => audit.record("password", actor, room, { set: password !== null })));
    }
    void this.#acknowledge(session, changes);
  }

  /**
   * Announces changes that are already in effect once they are stored, so that members may rely on them. Never rejects.
   */
  async #acknowledge(session: Session, changes: Promise<unknown>[]): Promise<void> {
    const { room, log } = this.#options;
    this.#unstored += 1;
    const outcomes = await Promise.allSettled(changes);
    this.#unstored -= 1;
    for (const outcome of outcomes) {
      if (outcome.status === "fulfilled") continue;
      const error: unknown = outcome.reason;
      if (error instanceof PasswordQueueFull)
        this.#notice(session, "RATE_LIMITED", { field: "password", limit: error.message });
      else if (error instanceof CodedError) this.#notice(session, "STORE_AWAY", {});
      else log.error({ room, err: error }, "a room's access could not be changed");
    }
    this.tellAccess();
  }

  #refuse(session: Session, field: string, value: number, limit: string): void {
    this.#options.metrics.reject("range");
    this.#notice(session, "OUT_OF_RANGE", { field, value, limit });
  }

  #notice(session: Session, code: NoticeCode, details: Record<string, unknown>): void {
    session.connection?.send(encodeNotice(code, details), "other");
  }
}

/** Name of the acting member for the audit log. */
function actorOf({ name, entry }: Session): string {
  return entry.subject ?? name;
}
