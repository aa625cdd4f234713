/**
 * Access to one room: lock, password, bans, and what its players may do. Plain state with a JSON form, which the room's
 * record keeps (`RoomRecord.settings`), so it survives whatever the room survives. It knows nothing of sockets;
 * `auth.ts` asks it who may come in, `rooms/moderation.ts` changes it for owners.
 */
import { randomBytes } from "node:crypto";
import { hashPassword, isPassword, type PasswordHash } from "./password.ts";

/** Who may not come in, and how it is recognized: by any of the marks it has. */
export interface Ban {
  /** Newcomers from there; members that were let in before, and whoever has a token, are known by themselves. */
  address?: string;
  /** Of a token. */
  subject?: string;
  /** Fingerprint of a session's token. */
  session?: string;
  /** Wall time, ms. */
  untilMs: number;
  /** For the owner to see. */
  name: string;
}

/** What everybody in the room may know of its access settings. */
export interface AccessState {
  locked: boolean;
  /** Is one needed? */
  password: boolean;
  /** Reset, spawn and remove are the owners'. */
  ownersOnly: boolean;
  /** Bans that hold. */
  bans: number;
}

/** Most bans of one room: the one that ends first makes room. */
const MOST_BANS = 256;
/** Addresses with the right password that are remembered. */
const MOST_LET_IN = 1000;
/** Longest ban, s: a month. */
export const MAX_BAN_SECONDS = 31 * 86_400;

export class RoomAccess {
  /** Of this room among all that have had its name: a token may be for this one only. */
  readonly id: string;
  /** Address (`addressKey`) that made the room; null: an operator did. */
  readonly creator: string | null;
  /** Told after every change, which holds at once; resolves when it is kept. Whoever keeps the settings sets it. */
  onChanged: (() => Promise<void>) | null = null;
  #locked = false;
  #ownersOnly = false;
  #password: PasswordHash | null = null;
  #bans: Ban[] = [];
  /** Addresses from which the password was given, as long as this process has the room. */
  readonly #letIn = new Set<string>();

  constructor(id = randomBytes(8).toString("hex"), creator: string | null = null) {
    this.id = id;
    this.creator = creator;
  }

  /**
   * @param settings what `toSettings` gave; other keys in it are left alone. An empty object is open access.
   * @throws Error when it is not what `toSettings` gives
   */
  static fromSettings(settings: Record<string, unknown>): RoomAccess {
    const stored = settings.door;
    if (stored === undefined) return new RoomAccess();
    const { id, creator, locked, ownersOnly, password, bans } = stored as Record<string, unknown>;
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
      !Array.isArray(bans) ||
      !bans.every(isBan) ||
      !(password === null || isHash(password)) ||
      !(creator === null || typeof creator === "string")
    ) {
      throw new Error("settings.door is not what RoomAccess writes: {id, creator, locked, ownersOnly, password, bans}");
    }
    const access = new RoomAccess(id, creator);
    access.#locked = locked;
    access.#ownersOnly = ownersOnly;
    access.#password = password;
    access.#bans = bans;
    return access;
  }

  /** JSON, under one key, to be merged into the room's settings. */
  toSettings(): { door: Record<string, unknown> } {
    const { id, creator } = this;
    return {
      door: {
        id,
        creator,
        locked: this.#locked,
        ownersOnly: this.#ownersOnly,
        password: this.#password,
        bans: this.#bans.map((ban) => ({ ...ban })),
      },
    };
  }

  get state(): AccessState {
    const { locked, ownersOnly } = this;
    return { locked, password: this.hasPassword, ownersOnly, bans: this.bans(Date.now()).length };
  }

  get locked(): boolean {
    return this.#locked;
  }

  get ownersOnly(): boolean {
    return this.#ownersOnly;
  }

  get hasPassword(): boolean {
    return this.#password !== null;
  }

  /** Whoever knows its name may come in. */
  get isOpen(): boolean {
    return !this.#locked && this.#password === null;
  }

  async setLocked(locked: boolean): Promise<void> {
    this.#locked = locked;
    await this.onChanged?.();
  }

  async setOwnersOnly(ownersOnly: boolean): Promise<void> {
    this.#ownersOnly = ownersOnly;
    await this.onChanged?.();
  }

  /**
   * @param password null: none is needed any more. Of `PASSWORD_LENGTH` characters.
   * @param address who sets it
   * @throws PasswordQueueFull
   */
  async setPassword(password: string | null, address = ""): Promise<void> {
    this.#password = password === null ? null : await hashPassword(password, address);
    this.#letIn.clear();
    await this.onChanged?.();
  }

  /** @param address who gives it. @throws PasswordQueueFull */
  async fits(password: string, address: string): Promise<boolean> {
    const expected = this.#password;
    if (expected === null) return true;
    if (!(await isPassword(password, expected, address))) return false;
    // Not if it was changed meanwhile.
    if (this.#password === expected) {
      this.#letIn.add(address);
      if (this.#letIn.size > MOST_LET_IN) this.#letIn.delete(this.#letIn.values().next().value!);
    }
    return true;
  }

  /** Has the password been given from there since it was set? */
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

  async liftBans(): Promise<void> {
    this.#bans = [];
    await this.onChanged?.();
  }

  /** @returns the ban that any of these marks falls under */
  banOf({ address, subject, session }: Pick<Ban, "address" | "subject" | "session">, nowMs: number): Ban | undefined {
    const is = (mark: string | undefined, banned: string | undefined): boolean => mark !== undefined && mark === banned;
    return this.bans(nowMs).find(
      (ban) => is(address, ban.address) || is(subject, ban.subject) || is(session, ban.session),
    );
  }
}
