/**
 * Who is in a room. A member joins with a hello, may lose its socket and resume with its token, and leaves when it says
 * so or when nobody resumes it in time:
 *
 *     hello --> connected --socket lost--> resumable for `resumeSeconds` --> gone
 *                   ^  |                       |                              ^
 *                   |  `--left, or closed--> resumable for 2 s ---------------'
 *                   `---- hello with token ----'
 */
import { timingSafeEqual } from "node:crypto";
import { freeColor } from "../../shared/memberColors.ts";
import { CloseCode } from "../../shared/protocol/protocol.ts";
import type { Entry } from "../auth/auth.ts";
import { Refused } from "../auth/refused.ts";
import { fullNetwork } from "../auth/share.ts";
import { fingerprint } from "../auth/secrets.ts";
import { cleanColor, cleanName } from "./requestRanges.ts";
import type { Connection, Hello } from "./connection.ts";
import { Session } from "./session.ts";
import { simpleModeOf } from "./simpleMode.ts";

/** A client that left with 1000 may still come back, with a new name perhaps, within this, s. */
const LEAVE_GRACE_SECONDS = 2;
/** Codes after which nobody is expected back: it left, or its socket was closed for what it sent. */
const FINAL_CODES: ReadonlySet<number> = new Set([
  CloseCode.normal,
  CloseCode.tooLarge,
  CloseCode.badMessage,
  CloseCode.flood,
]);

/** Times as many seats as are left, one address may have without a token: of 64 it gets 48. */
const SEAT_SHARE = 3;

export interface MembersOptions {
  maxMembers: number;
  /** Seats that one address may have without a token; as many as `maxMembers`: it is not counted. */
  perAddress: number;
  resumeSeconds: number;
  /** A member came, went, was renamed or changed its connection state. */
  onChanged: () => void;
  /** Its socket is lost or it left: what it holds must be let go. */
  onHandsOff: (session: Session) => void;
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

  /** Addresses of all sessions, of those that are expected back, too. */
  addresses(): string[] {
    return [...this.sessions.values()].map(({ entry }) => entry.address);
  }

  /** Gives the connection the session that its token names. @returns undefined: there is none */
  resume(connection: Connection, hello: Hello, entry: Entry): Session | undefined {
    const resumed = this.findByToken(hello.resume);
    if (!resumed) return undefined;
    resumed.entry = entry;
    resumed.token = hello.resume!;
    this.#resume(resumed, connection, hello);
    return resumed;
  }

  /**
   * A new session, to be stored before `arrive` gives it its connection: who has been welcomed is known after a crash.
   * @throws Refused with `roomFull`
   */
  reserve(hello: Hello, entry: Entry): Session {
    this.#makeSeat(entry);
    const color = cleanColor(hello.color) ?? freeColor([...this.sessions.values()].map((other) => other.color));
    const session = new Session(this.#nextMember, cleanName(hello.name), color, entry);
    this.#nextMember += 1;
    session.simple = simpleModeOf(hello);
    session.hearsContacts = hello.contacts ?? false;
    session.arriving = true;
    this.sessions.set(session.member, session);
    return session;
  }

  /** @param connection null: it has gone meanwhile, and the session with it */
  arrive(session: Session, connection: Connection | null): void {
    session.arriving = false;
    session.connection = connection;
    if (connection === null) this.#remove(session);
  }

  /**
   * A seat that only waits for somebody to come back yields to somebody who is here: one of the same address where that
   * address has as many as it may.
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
    // Where all seats are taken an address without any is not the one that has too many.
    const from = limited && own.length > 0 ? own : all;
    const disconnected = from.find(({ connection, arriving }) => connection === null && !arriving);
    if (disconnected) return this.#remove(disconnected);
    if (taken >= maxMembers) throw new Refused(CloseCode.roomFull, `room full: ${maxMembers} members`, "room_full");
    throw new Refused(CloseCode.roomFull, `room full for this address: ${full?.own} members`, "room_full");
  }

  /** The session's socket is gone. Ignored when another socket has taken the session over, or the session has ended. */
  lost(session: Session, connection: Connection, code: number): void {
    if (session.connection !== connection || !this.sessions.has(session.member)) return;
    session.connection = null;
    this.#options.onHandsOff(session);
    const seconds = FINAL_CODES.has(code)
      ? Math.min(LEAVE_GRACE_SECONDS, this.#options.resumeSeconds)
      : this.#options.resumeSeconds;
    this.#expect(session, seconds);
    this.#options.onChanged();
  }

  /**
   * Ends a session against its member's will: its hands let go, its socket is closed with the code, its token is worth
   * nothing any more.
   */
  kick(session: Session, code: number, reason: string): void {
    this.#options.onHandsOff(session);
    this.#remove(session);
    session.connection?.close(code, reason);
    this.#options.onChanged();
  }

  /** Who is here, for whoever goes on with the room: plain data. */
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

  /** Those of `records`, as if all had just lost their sockets. For a room that nobody has joined yet. */
  restore({ nextMember, sessions }: MemberRecords): void {
    this.#nextMember = nextMember;
    for (const { member, id, name, color, mark, entry } of sessions) {
      const session = new Session(member, name, color, entry, { id, mark });
      this.sessions.set(member, session);
      this.#expect(session, this.#options.resumeSeconds);
    }
    if (sessions.length > 0) this.#options.onChanged();
  }

  /** Closes every socket with the code; all are expected back, and nobody's time runs until `expectAll`. */
  suspend(code: number, reason: string): void {
    for (const session of this.sessions.values()) {
      if (session.expiry) clearTimeout(session.expiry);
      session.expiry = null;
      const { connection } = session;
      if (!connection) continue;
      session.connection = null;
      this.#options.onHandsOff(session);
      connection.close(code, reason);
    }
  }

  /** From now on whoever is not here has `resumeSeconds` to come back. */
  expectAll(): void {
    for (const session of this.sessions.values())
      if (!session.connection && !session.expiry && !session.arriving)
        this.#expect(session, this.#options.resumeSeconds);
  }

  /** Closes every socket with the code and forgets everyone. */
  closeAll(code: number, reason: string): void {
    const sessions = [...this.sessions.values()];
    for (const session of sessions) this.#remove(session);
    for (const session of sessions) session.connection?.close(code, reason);
  }

  /** Is somebody in the room, or expected back, who came with a token of this subject? */
  hasSubject(subject: string | null): boolean {
    if (subject === null) return false;
    for (const { entry } of this.sessions.values()) if (entry.subject === subject) return true;
    return false;
  }

  /** The session whose token this is, compared in constant time. */
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
    // The limit is for one socket; whoever comes back sees the room at once.
    session.lastKeyframeMs = -Infinity;
    session.name = cleanName(hello.name) ?? session.name;
    session.color = cleanColor(hello.color) ?? session.color;
    if (old) {
      this.#options.onHandsOff(session);
      old.close(CloseCode.normal, "resumed on another socket");
    }
  }

  /** It may be resumed for so long. */
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

/** Does it count for this address? Whoever has a token is known by that. */
const isOf = (entry: Entry, address: string): boolean => entry.subject === null && entry.address === address;
