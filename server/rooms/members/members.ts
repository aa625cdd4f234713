/**
 * The members of a room. A member joins with a hello and may resume with its token after it lost its socket. Its
 * session ends when it leaves, or when it is not resumed in time:
 *
 *     hello --> connected --socket lost--> resumable for `resumeSeconds` --> gone
 *                   ^  |                       |                              ^
 *                   |  `--left, or closed--> resumable for 2 s ---------------'
 *                   `---- hello with token ----'
 */
import { timingSafeEqual } from "node:crypto";
import { freeColor } from "../../../shared/members/memberColors.ts";
import { CloseCode } from "../../../shared/protocol/protocol.ts";
import type { Entry } from "../../auth/auth.ts";
import { Refused } from "../../auth/refused.ts";
import { fullNetwork } from "../../auth/share.ts";
import { fingerprint } from "../../auth/secrets.ts";
import { distinctName } from "./nameSkeleton.ts";
import { cleanColor, cleanName } from "../inputs/requestRanges.ts";
import type { Connection, Hello } from "./connection.ts";
import { Session } from "./session.ts";
import { simpleModeOf } from "../broadcast/simpleMode.ts";

/** After close code 1000 a client may still come back within this time, for example under a new name, s. */
const LEAVE_GRACE_SECONDS = 2;
/** Close codes after which no return is expected: the member left, or its socket was closed for a bad message. */
const FINAL_CODES: ReadonlySet<number> = new Set([
  CloseCode.normal,
  CloseCode.tooLarge,
  CloseCode.badMessage,
  CloseCode.flood,
]);

/** Ratio of the seats that one address may have without a token to the seats left: of 64 it gets 48. */
const SEAT_SHARE = 3;

export interface MembersOptions {
  maxMembers: number;
  /** Seats that one address may have without a token; no limit if it equals `maxMembers`. */
  perAddress: number;
  resumeSeconds: number;
  /** A member joined, left, was renamed or changed its connection state. */
  onChanged: () => void;
  /** A member lost its socket or left: release its grabs. */
  onRelease: (session: Session) => void;
}

export interface MemberRecords {
  nextMember: number;
  sessions: { member: number; id?: string; name: string; color: string; mark: string; entry: Entry }[];
}

export class Members {
  readonly sessions = new Map<number, Session>();
  readonly #options: MembersOptions;
  #nextMember = 1;

  constructor(options: MembersOptions) {
    this.#options = options;
  }

  get connected(): number {
    let count = 0;
    for (const session of this.sessions.values()) if (session.connection) count += 1;
    return count;
  }

  /** Addresses of all sessions, including disconnected ones that may resume. */
  addresses(): string[] {
    return [...this.sessions.values()].map(({ entry }) => entry.address);
  }

  /** Attaches the connection to the session of its resume token. @returns undefined: no such session exists */
  resume(connection: Connection, hello: Hello, entry: Entry): Session | undefined {
    const resumed = this.findByToken(hello.resume);
    if (!resumed) return undefined;
    resumed.entry = entry;
    resumed.token = hello.resume!;
    this.#resume(resumed, connection, hello);
    return resumed;
  }

  /**
   * Creates a session. It is stored before `arrive` attaches its connection, so that a welcomed member survives a
   * crash.
   * @throws Refused with `roomFull`
   */
  reserve(hello: Hello, entry: Entry): Session {
    this.#makeSeat(entry);
    const color = cleanColor(hello.color) ?? freeColor([...this.sessions.values()].map((other) => other.color));
    const session = new Session(this.#nextMember, cleanName(hello.name), color, entry);
    session.name = this.#distinct(session.name, session.member);
    this.#nextMember += 1;
    session.simple = simpleModeOf(hello);
    session.hearsContacts = hello.contacts ?? false;
    session.arriving = true;
    this.sessions.set(session.member, session);
    return session;
  }

  /** @param connection null: it has closed meanwhile, so the session is removed */
  arrive(session: Session, connection: Connection | null): void {
    session.arriving = false;
    session.connection = connection;
    if (connection === null) this.#remove(session);
  }

  /**
   * Makes room for a new member by ending a disconnected session. If the address has reached its own limit, the session
   * must be one of this address.
   * @throws Refused
   */
  #makeSeat(entry: Entry): void {
    const { maxMembers, perAddress } = this.#options;
    const taken = this.sessions.size;
    const all = [...this.sessions.values()];
    const own = all.filter((session) => isOf(session.entry, entry.address));
    const limited = entry.subject === null && perAddress < maxMembers;
    const owners = all.filter(({ entry: { subject } }) => subject === null).map((session) => session.entry.address);
    const counted = { perAddress, taken, all: maxMembers, ratio: SEAT_SHARE };
    const full = limited ? fullNetwork(entry.address, owners, counted) : null;
    if (taken < maxMembers && !full) return;
    // If all seats are taken, an address without a session may take the seat of any disconnected member.
    const from = limited && own.length > 0 ? own : all;
    // The newest one: visitors that come and go take each other's seats, not those of members after a takeover.
    const disconnected = from.findLast(({ connection, arriving }) => connection === null && !arriving);
    if (disconnected) return this.#remove(disconnected);
    if (taken >= maxMembers) throw new Refused(CloseCode.roomFull, `room full: ${maxMembers} members`, "room_full");
    throw new Refused(CloseCode.roomFull, `room full for this address: ${full?.own} members`, "room_full");
  }

  /** Marks a session as disconnected. Ignored if another socket has resumed the session, or the session has ended. */
  lost(session: Session, connection: Connection, code: number): void {
    if (session.connection !== connection || !this.sessions.has(session.member)) return;
    session.connection = null;
    this.#options.onRelease(session);
    const seconds = FINAL_CODES.has(code)
      ? Math.min(LEAVE_GRACE_SECONDS, this.#options.resumeSeconds)
      : this.#options.resumeSeconds;
    this.#expect(session, seconds);
    this.#options.onChanged();
  }

  /**
   * Ends a session against its member's will: releases its grabs, closes its socket with the code and makes its token
   * invalid.
   */
  kick(session: Session, code: number, reason: string): void {
    this.#options.onRelease(session);
    this.#remove(session);
    session.connection?.close(code, reason);
    this.#options.onChanged();
  }

  /** Returns the sessions as plain data, for a process that restores the room. */
  records(): MemberRecords {
    return {
      nextMember: this.#nextMember,
      sessions: [...this.sessions.values()].map(({ member, id, name, color, mark, entry }) => ({
        member,
        id,
        name,
        color,
        mark,
        entry,
      })),
    };
  }

  /** Restores the sessions of `records` as disconnected ones. Only for a room that no member has joined yet. */
  restore({ nextMember, sessions }: MemberRecords): void {
    this.#nextMember = nextMember;
    for (const { member, id, name, color, mark, entry } of sessions) {
      const session = new Session(member, name, color, entry, { id, mark });
      this.sessions.set(member, session);
      this.#expect(session, this.#options.resumeSeconds);
    }
    if (sessions.length > 0) this.#options.onChanged();
  }

  /** Closes every socket with the code. Sessions stay resumable, and no expiry runs until `expectAll`. */
  suspend(code: number, reason: string): void {
    for (const session of this.sessions.values()) {
      if (session.expiry) clearTimeout(session.expiry);
      session.expiry = null;
      const { connection } = session;
      if (!connection) continue;
      session.connection = null;
      this.#options.onRelease(session);
      connection.close(code, reason);
    }
  }

  /** Starts the expiry, `resumeSeconds`, of all disconnected sessions. */
  expectAll(): void {
    for (const session of this.sessions.values())
      if (!session.connection && !session.expiry && !session.arriving)
        this.#expect(session, this.#options.resumeSeconds);
  }

  /** Closes every socket with the code and removes all sessions. */
  closeAll(code: number, reason: string): void {
    const sessions = [...this.sessions.values()];
    for (const session of sessions) this.#remove(session);
    for (const session of sessions) session.connection?.close(code, reason);
  }

  /** Returns whether a session, connected or resumable, belongs to this token subject. */
  hasSubject(subject: string | null): boolean {
    if (subject === null) return false;
    for (const { entry } of this.sessions.values()) if (entry.subject === subject) return true;
    return false;
  }

  /** Finds the session of this token, compared in constant time. */
  findByToken(token: string | undefined): Session | undefined {
    if (token === undefined) return undefined;
    const given = Buffer.from(fingerprint(token));
    for (const session of this.sessions.values()) {
      const own = Buffer.from(session.mark);
      if (own.length === given.length && timingSafeEqual(own, given)) return session;
    }
    return undefined;
  }

  #resume(session: Session, connection: Connection, hello: Hello): void {
    const old = session.connection;
    session.connection = connection;
    if (session.expiry) clearTimeout(session.expiry);
    session.expiry = null;
    session.needsKeyframe = true;
    session.simple = simpleModeOf(hello);
    session.hearsContacts = hello.contacts ?? false;
    // The keyframe limit is for one socket: a member that resumes gets a keyframe at once.
    session.lastKeyframeMs = -Infinity;
    session.name = this.#distinct(cleanName(hello.name) ?? session.name, session.member);
    session.color = cleanColor(hello.color) ?? session.color;
    if (old) {
      this.#options.onRelease(session);
      old.close(CloseCode.normal, "resumed on another socket");
    }
  }

  #distinct(name: string, member: number): string {
    const others = [...this.sessions.values()].filter((session) => session.member !== member);
    return distinctName(name, member, new Set(others.flatMap(({ skeletons }) => skeletons)));
  }

  /** Ends the session unless it is resumed within this time. */
  #expect(session: Session, seconds: number): void {
    session.expiry = setTimeout(() => {
      this.#remove(session);
      this.#options.onChanged();
    }, 1000 * seconds);
    session.expiry.unref();
  }

  #remove(session: Session): void {
    if (session.expiry) clearTimeout(session.expiry);
    this.sessions.delete(session.member);
  }
}

/** Returns whether the session counts for this address. Sessions with a token do not count. */
const isOf = (entry: Entry, address: string): boolean => entry.subject === null && entry.address === address;
