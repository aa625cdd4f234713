/** Permissions of members by role, and moderation by owners: kick and ban members, lock the room, set a password. */
import type { FastifyBaseLogger } from "fastify";
import { CodedError, type NoticeCode } from "../../../shared/errorCodes.ts";
import { CloseCode, PASSWORD_LENGTH } from "../../../shared/protocol/protocol.ts";
import { above, atLeast, type Role } from "../../../shared/members/roles.ts";
import type { Audit } from "../../auth/audit.ts";
import { hashPassword, PasswordQueueFull } from "../../auth/password.ts";
import { type AccessChange, MAX_BAN_SECONDS, type RoomAccess } from "../../auth/roomAccess.ts";
import type { Metrics } from "../../metrics/metrics.ts";
import { type ClientRequest, REQUEST_DESCRIPTIONS } from "../../../shared/protocol/fromClient.ts";
import type { Members } from "./members.ts";
import { encodeDone, encodeNotice } from "../../../shared/protocol/fromServer.ts";
import type { Session } from "./session.ts";
import { TokenBucket } from "./tokenBucket.ts";

/**
 * Rate and burst of access changes and kicks in a room: each is stored, audited and announced to all members. Without
 * the limit, owners who changed it continually kept other rooms from the store and the audit log.
 */
const CHANGES_PER_SECOND = 5;
const CHANGES_AT_ONCE = 60;

/** A member, and the number of its request if it wants an answer. */
interface Requester {
  session: Session;
  request?: number | undefined;
}

type AccessRequest = Extract<ClientRequest, { type: "access" }>;

export interface ModerationOptions {
  room: string;
  access: RoomAccess;
  members: Members;
  audit: Audit;
  metrics: Metrics;
  log: FastifyBaseLogger;
  /** The room's access has changed: tell all members. */
  onAccess: () => void;
  /** Lines of chat must go: those of a kicked member, or all because the chat is closed. */
  onSilenced: (member?: number) => void;
}

export class Moderation {
  readonly #options: ModerationOptions;
  /**
   * The change that waits for the hash of its password, then the later ones. A room takes at most one place in the
   * queue of all rooms.
   */
  #pending: { from: Requester; change: AccessChange }[] = [];
  /** Number of changes that are in effect but not stored yet. */
  #unstored = 0;
  readonly #changes = new TokenBucket(CHANGES_PER_SECOND, CHANGES_AT_ONCE, performance.now());

  constructor(options: ModerationOptions) {
    this.#options = options;
  }

  /** Checks the member's role; sends a notice if the request is refused. */
  allows(session: Session, request: ClientRequest): boolean {
    const { type } = request;
    // Removing all pins ends the acts of all members.
    const asked = type === "unpin" && request.pin === null ? "kick" : type;
    const text = type === "dress" ? request.text : undefined;
    if (this.permits(session, asked, text)) return true;
    const least = this.#leastRole(asked, text);
    this.#options.metrics.reject("not_allowed");
    this.#notice(session, "NOT_ALLOWED", {
      field: type,
      value: session.entry.role,
      limit: `${least} or above`,
      request: "request" in request ? request.request : undefined,
    });
    return false;
  }

  /** Returns whether this member may send such requests now. @param text written beside a body: a line that stays */
  permits(session: Session, type: ClientRequest["type"], text?: string | null): boolean {
    const least = this.#leastRole(type, text);
    return least === undefined || atLeast(session.entry.role, least);
  }

  #leastRole(type: ClientRequest["type"], text?: string | null): Role | undefined {
    const { access } = this.#options;
    const { leastRole, ownersOnly } = REQUEST_DESCRIPTIONS[type];
    const owners = (access.ownersOnly && ownersOnly) || ((type === "say" || text) && !access.chat);
    return owners ? "owner" : leastRole;
  }

  /** Handles an owner's request, after `allows`. */
  handle(session: Session, request: Extract<ClientRequest, { type: "kick" | "access" }>): void {
    if (!this.#changes.take(performance.now())) {
      this.#options.metrics.reject("rate");
      const limit = `${CHANGES_PER_SECOND} changes of access and kicks per second in a room`;
      return this.#notice(session, "RATE_LIMITED", { field: request.type, limit, request: request.request });
    }
    if (request.type === "access") return this.#change({ session, request: request.request }, request);
    const { member, banSeconds, request: number } = request;
    const target = this.#options.members.sessions.get(member);
    const from = { session, request: number };
    if (!target) return this.#refuse(from, "member", member, "a member of this room");
    if (banSeconds !== undefined && !(banSeconds > 0 && banSeconds <= MAX_BAN_SECONDS))
      return this.#refuse(from, "ban", banSeconds, `more than 0, up to ${MAX_BAN_SECONDS} s`);
    if (!above(session.entry.role, target.entry.role)) {
      return this.#notice(session, "NOT_ALLOWED", {
        field: "kick",
        value: target.entry.role,
        limit: `below ${session.entry.role}`,
        request: number,
      });
    }
    void this.#acknowledge(from, this.kick(target, banSeconds, actorOf(session)));
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
    this.#options.onSilenced(member);
    members.kick(
      target,
      CloseCode.kicked,
      banSeconds === undefined ? "kicked by an owner" : `banned from this room for ${Math.ceil(banSeconds)} s`,
    );
    if (!banned) return;
    this.#unstored += 1;
    await banned.finally(() => (this.#unstored -= 1));
  }

  /**
   * Changes the access. A request with a password waits for its hash, and later requests wait behind it: the room never
   * opens before its password holds. Only restrictions take effect at once.
   */
  #change(from: Requester, { locked, ownersOnly, chat, password, liftBans }: AccessRequest): void {
    const { access } = this.#options;
    const change: AccessChange = { locked, ownersOnly, chat, liftBans: liftBans ? access.bans(Date.now()) : [] };
    if (typeof password === "string") return this.#changeWith(from, change, password);
    if (password === null) change.password = null;
    if (this.#pending.length === 0) return this.#apply(from, change);
    const restriction: AccessChange = {};
    for (const field of ["locked", "ownersOnly"] as const) {
      if (!change[field]) continue;
      restriction[field] = true;
      for (const { change: earlier } of this.#pending) delete earlier[field];
    }
    if (Object.keys(restriction).length > 0) this.#apply({ session: from.session }, restriction);
    this.#pending.push({ from, change });
  }

  #changeWith(from: Requester, change: AccessChange, password: string): void {
    const { room, log } = this.#options;
    const { session } = from;
    const { min, max } = PASSWORD_LENGTH;
    const { length } = [...password];
    if (length < min || length > max) return this.#refuse(from, "password", length, `${min} to ${max} characters`);
    if (this.#pending.length > 0)
      return this.#notice(session, "RATE_LIMITED", {
        field: "password",
        limit: "one at a time",
        request: from.request,
      });
    this.#pending = [{ from, change }];
    hashPassword(password, session.entry.address).then(
      (hash) => {
        change.password = hash;
        for (const one of this.#pending.splice(0)) this.#apply(one.from, one.change);
      },
      (error: unknown) => {
        const full = error instanceof PasswordQueueFull;
        if (!full) log.error({ room, err: error }, "a room's access could not be changed");
        const limit = full ? error.message : "the password could not be hashed";
        for (const { from: sender } of this.#pending.splice(0)) {
          const details = { field: "password", limit: `${limit}: nothing was changed`, request: sender.request };
          this.#notice(sender.session, "RATE_LIMITED", details);
        }
      },
    );
  }

  #apply(from: Requester, change: AccessChange): void {
    const { room, access, audit } = this.#options;
    const { locked, ownersOnly, chat, password, liftBans = [] } = change;
    const actor = actorOf(from.session);
    const stored = access.change(change);
    if (locked !== undefined) audit.record(locked ? "lock" : "unlock", actor, room);
    if (chat === false) this.#options.onSilenced();
    const settings = { ...(ownersOnly !== undefined && { ownersOnly }), ...(chat !== undefined && { chat }) };
    if (Object.keys(settings).length > 0) audit.record("settings", actor, room, settings);
    if (liftBans.length > 0) audit.record("unban", actor, room);
    if (password !== undefined) audit.record("password", actor, room, { set: password !== null });
    void this.#acknowledge(from, stored);
  }

  /**
   * Announces a change that is already in effect once it is stored, so that members may rely on it. Never rejects.
   */
  async #acknowledge({ session, request }: Requester, stored: Promise<void>): Promise<void> {
    const { room, log } = this.#options;
    this.#unstored += 1;
    let done = false;
    try {
      await stored;
      done = true;
    } catch (error) {
      if (error instanceof CodedError) this.#notice(session, "STORE_AWAY", { request });
      else log.error({ room, err: error }, "a room's access could not be changed");
    }
    this.#unstored -= 1;
    this.tellAccess();
    if (done && request !== undefined) session.connection?.send(encodeDone(request), "other");
  }

  #refuse({ session, request }: Requester, field: string, value: number, limit: string): void {
    this.#options.metrics.reject("range");
    this.#notice(session, "OUT_OF_RANGE", { field, value, limit, request });
  }

  #notice(session: Session, code: NoticeCode, details: Record<string, unknown>): void {
    session.connection?.send(encodeNotice(code, details), "other");
  }
}

/**
 * The acting member in the audit log: its token's subject. A name alone would let a member sign as an operator or as
 * the holder of a token.
 */
export function actorOf({ member, name, entry }: Session): string {
  return entry.subject ?? `member ${member} (${name})`;
}
