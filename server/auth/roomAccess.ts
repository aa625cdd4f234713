/**
 * Access settings of one room: lock, password, bans and players' rights. Plain state with a JSON form in the room's
 * record (`RoomRecord.settings`), so it lives as long as the stored room. It does not depend on sockets: `auth.ts`
 * reads it, and `rooms/members/moderation.ts` changes it for owners.
 */
import { randomBytes } from "node:crypto";
import { isPassword, type PasswordHash } from "./password.ts";

/** A ban, recognized by any of its marks. */
export interface Ban {
  /**
   * Address. It bans newcomers without a token; earlier members and token bearers are recognized by subject or session.
   */
  address?: string;
  /** Subject of a token. */
  subject?: string;
  /** Fingerprint of a session's token. */
  session?: string;
  /** End of the ban, wall time in ms. */
  untilMs: number;
  /** Name to show to the owner. */
  name: string;
}

/** Public part of the access settings, for all members. */
export interface AccessState {
  locked: boolean;
  /** Whether a password is needed. */
  password: boolean;
  /** Whether only owners may reset, spawn and remove. */
  ownersOnly: boolean;
  /** Whether players may write in the chat. */
  chat: boolean;
  /** Number of active bans. */
  bans: number;
}

/** Changes of the settings. Absent fields stay. */
export interface AccessChange {
  locked?: boolean;
  ownersOnly?: boolean;
  chat?: boolean;
  /** Null removes the password. */
  password?: PasswordHash | null;
  /** Bans to lift, from `bans`. */
  liftBans?: readonly Ban[];
}

/** Maximum number of bans per room: beyond it, the one that ends first is dropped. */
const MOST_BANS = 256;
/** Maximum number of remembered addresses with the right password. */
const MOST_LET_IN = 1000;
/** Longest ban, s: a month. */
export const MAX_BAN_SECONDS = 31 * 86_400;

export class RoomAccess {
  /** Incarnation of this room among all rooms that have had its name: a token may be bound to it. */
  readonly id: string;
  /** Address (`addressKey`) that created the room; null: an operator. */
  readonly creator: string | null;
  /**
   * Called after every change, which takes effect at once; resolves when it is stored. Set by the owner of the
   * settings.
   */
  onChanged: (() => Promise<void>) | null = null;
  #locked = false;
  #ownersOnly = false;
  #chat = true;
  #password: PasswordHash | null = null;
  #bans: Ban[] = [];
  /** Addresses that gave the right password to this process. */
  readonly #letIn = new Set<string>();

  constructor(id = randomBytes(8).toString("hex"), creator: string | null = null) {
    this.id = id;
    this.creator = creator;
  }

  /**
   * @param settings the result of `toSettings`; other keys are ignored. An empty object means open access.
   * @throws Error if the settings do not have the form that `toSettings` returns
   */
  static fromSettings(settings: Record<string, unknown>): RoomAccess {
    const stored = settings.door;
    if (stored === undefined) return new RoomAccess();
    const { id, creator, locked, ownersOnly, chat = true, password, bans } = stored as Record<string, unknown>;
    const isBan = (ban: unknown): ban is Ban =>
      typeof ban === "object" &&
      ban !== null &&
      typeof (ban as Ban).untilMs === "number" &&
      typeof (ban as Ban).name === "string";
    const isHash = (hash: unknown): hash is PasswordHash =>
      typeof hash === "object" &&
      hash !== null &&
      typeof (hash as PasswordHash).hash === "string" &&
      typeof (hash as PasswordHash).salt === "string";
    if (
      typeof id !== "string" ||
      typeof locked !== "boolean" ||
      typeof ownersOnly !== "boolean" ||
      typeof chat !== "boolean" ||
      !Array.isArray(bans) ||
      !bans.every(isBan) ||
      !(password === null || isHash(password)) ||
      !(creator === null || typeof creator === "string")
    ) {
      throw new Error("settings.door does not have the form {id, creator, locked, ownersOnly, chat?, password, bans}");
    }
    const access = new RoomAccess(id, creator);
    access.#locked = locked;
    access.#ownersOnly = ownersOnly;
    access.#chat = chat;
    access.#password = password;
    access.#bans = bans;
    return access;
  }

  /** Returns a JSON object with one key, to be merged into the room's settings. */
  toSettings(): { door: Record<string, unknown> } {
    const { id, creator } = this;
    return {
      door: {
        id,
        creator,
        locked: this.#locked,
        ownersOnly: this.#ownersOnly,
        chat: this.#chat,
        password: this.#password,
        bans: this.#bans.map((ban) => ({ ...ban })),
      },
    };
  }

  get state(): AccessState {
    const { locked, ownersOnly, chat } = this;
    return { locked, password: this.hasPassword, ownersOnly, chat, bans: this.bans(Date.now()).length };
  }

  get locked(): boolean {
    return this.#locked;
  }

  get ownersOnly(): boolean {
    return this.#ownersOnly;
  }

  get chat(): boolean {
    return this.#chat;
  }

  get hasPassword(): boolean {
    return this.#password !== null;
  }

  /** Whether everyone who knows the room's name may enter. */
  get isOpen(): boolean {
    return !this.#locked && this.#password === null;
  }

  /** Makes all changes in one step, so that no visitor meets a part of them. */
  async change({ locked, ownersOnly, chat, password, liftBans = [] }: AccessChange): Promise<void> {
    this.#locked = locked ?? this.#locked;
    this.#ownersOnly = ownersOnly ?? this.#ownersOnly;
    this.#chat = chat ?? this.#chat;
    this.#bans = this.#bans.filter((ban) => !liftBans.includes(ban));
    if (password !== undefined) {
      this.#password = password;
      this.#letIn.clear();
    }
    await this.onChanged?.();
  }

  /** Checks a password. @param address of the client that gives it. @throws PasswordQueueFull */
  async fits(password: string, address: string): Promise<boolean> {
    const expected = this.#password;
    if (expected === null) return true;
    if (!(await isPassword(password, expected, address))) return false;
    // The owner may have changed the password meanwhile: the old one does not admit then.
    if (this.#password !== expected) return this.#password === null;
    this.#letIn.add(address);
    if (this.#letIn.size > MOST_LET_IN) this.#letIn.delete(this.#letIn.values().next().value!);
    return true;
  }

  /** Whether this address has given the current password. */
  knowsAddress(address: string): boolean {
    return this.#letIn.has(address);
  }

  bans(nowMs: number): readonly Ban[] {
    return this.#bans.filter(({ untilMs }) => untilMs > nowMs);
  }

  async ban(ban: Ban, nowMs: number): Promise<void> {
    this.#bans = [...this.bans(nowMs), ban].sort((a, b) => b.untilMs - a.untilMs).slice(0, MOST_BANS);
    await this.onChanged?.();
  }

  /** @returns an active ban that matches any of these marks */
  banOf({ address, subject, session }: Pick<Ban, "address" | "subject" | "session">, nowMs: number): Ban | undefined {
    const is = (mark: string | undefined, banned: string | undefined): boolean => mark !== undefined && mark === banned;
    return this.bans(nowMs).find(
      (ban) => is(address, ban.address) || is(subject, ban.subject) || is(session, ban.session),
    );
  }
}
