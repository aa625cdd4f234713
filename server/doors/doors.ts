/**
 * Who comes in, and as what. One object for the server; every way in asks it.
 *
 *     hello {token?, password?, resume?} from an address, at a room's door
 *     |- token: valid -> the role that it gives in this room
 *     |         not   -> `tokens` mode: 4401; `open` mode: as if there were none, and a notice says so
 *     |- owner, admin                  -> in
 *     |- banned (token's subject, session, or the address of a newcomer)    4403
 *     |- resumes a session             -> in, as what it was
 *     |- locked                        4423
 *     |- token, as player or spectator -> in
 *     |- `tokens` mode                 4401
 *     '- a password is set             -> missing or wrong: 4407; too often from this address: 4429
 *                                      -> in, as a player
 */
import { CloseCode } from "../../shared/protocol.ts";
import { atLeast, type Role } from "../../shared/roles.ts";
import { Attempts } from "./addresses.ts";
import { type Identity, roleIn } from "./identity.ts";
import { PasswordQueueFull } from "./password.ts";
import { Refused } from "./refused.ts";
import type { RoomDoor } from "./roomDoor.ts";
import { fingerprint, sameSecret } from "./secrets.ts";
import { TokenError, TokenMint } from "./tokens.ts";

/** `open`: whoever has the address is a player. `tokens`: nobody enters without a token. */
export type DoorMode = "open" | "tokens";

export interface DoorsOptions {
  mode: DoorMode;
  /** The first signs, all verify. */
  secrets: readonly string[];
  /** The operator's own; null: there is none. */
  adminToken: string | null;
}

/** What somebody is who was let in. */
export interface Entry {
  role: Role;
  /** Of the token; null: came without. */
  subject: string | null;
  /** Name to show for whoever brings none. */
  name: string | undefined;
  /** When the token ends, wall time; null: never, or there is none. */
  expiresAtMs: number | null;
  /** `addressKey` of where it came from. */
  address: string;
  /** `open` mode: a token was given that is none here. */
  tokenProblem?: string;
}

/** What somebody brings who wants to come in. */
export interface Knock {
  token?: string;
  password?: string;
  resume?: string;
  address: string;
}

/** Wrong passwords that an address may give at once and then per minute: a class behind one address comes in, and 6 characters hold for years. */
const PASSWORD_BURST = 40;
const PASSWORDS_PER_MINUTE = 10;

/** An owner's token from the answer to creating a room lives this long, s. It is for that one room and ends with it. */
export const OWNER_TOKEN_SECONDS = 30 * 86_400;

export class Doors {
  readonly mode: DoorMode;
  readonly mint: TokenMint;
  readonly #adminToken: string | null;
  readonly #passwords = new Attempts(PASSWORD_BURST, PASSWORDS_PER_MINUTE);

  constructor({ mode, secrets, adminToken }: DoorsOptions) {
    this.mode = mode;
    this.mint = new TokenMint(secrets);
    this.#adminToken = adminToken;
  }

  /** @throws TokenError */
  async identify(token: string): Promise<Identity> {
    if (this.#adminToken !== null && sameSecret(token, this.#adminToken)) {
      return { room: "*", role: "admin", subject: "admin", name: undefined, roomId: undefined, expiresAtMs: null };
    }
    return this.mint.verify(token);
  }

  /** The token that whoever made a room owns it with. */
  async ownerToken(room: string, door: RoomDoor): Promise<string> {
    return (await this.mint.sign({ room, role: "owner", roomId: door.id, seconds: OWNER_TOKEN_SECONDS })).token;
  }

  /**
   * @param session the entry of the session that `knock.resume` names, if there is one
   * @returns at once where nothing has to be computed
   * @throws Refused (or rejects with it)
   */
  enter(room: string, door: RoomDoor, knock: Knock, session: Entry | null): Entry | Promise<Entry> {
    const resumed = session === null || (session.expiresAtMs !== null && session.expiresAtMs <= Date.now()) ? null : session;
    if (knock.token === undefined && (resumed !== null || !door.hasPassword)) return this.#decide(door, knock, null, resumed, false);
    return this.#enterSlowly(room, door, knock, resumed);
  }

  async #enterSlowly(room: string, door: RoomDoor, knock: Knock, resumed: Entry | null): Promise<Entry> {
    const { entry, problem } = knock.token === undefined ? { entry: null } : await this.#entryOf(room, door, knock.token, knock.address);
    // The password is checked last: nobody learns whether it was right who would not be let in anyway.
    let allowed = this.#decide(door, knock, entry, resumed, true);
    if (entry === null && resumed === null && door.hasPassword) {
      await this.#checkPassword(door, knock);
      // The owner may have locked the room or banned somebody meanwhile.
      allowed = this.#decide(door, knock, entry, resumed, true);
    }
    return problem === undefined ? allowed : { ...allowed, tokenProblem: problem };
  }

  async #entryOf(room: string, door: RoomDoor, token: string, address: string): Promise<{ entry: Entry | null; problem?: string }> {
    try {
      const identity = await this.identify(token), role = roleIn(identity, { name: room, id: door.id });
      if (role === null) throw new TokenError("it is for another room");
      const { subject, name, expiresAtMs } = identity;
      return { entry: { role, subject, name, expiresAtMs, address } };
    } catch (error) {
      if (!(error instanceof TokenError)) throw error;
      if (this.mode === "tokens") throw new Refused(CloseCode.tokenNeeded, `token refused: ${error.message}`, "token_invalid");
      return { entry: null, problem: error.message };
    }
  }

  #decide(door: RoomDoor, { resume, address }: Knock, entry: Entry | null, resumed: Entry | null, passwordFollows: boolean): Entry {
    const known = entry ?? resumed;
    if (known && atLeast(known.role, "owner")) return { ...known, address };
    const nowMs = Date.now();
    const ban = door.banOf({
      address: known === null ? address : undefined,
      subject: known?.subject ?? undefined,
      session: resume === undefined ? undefined : fingerprint(resume),
    }, nowMs);
    if (ban) throw new Refused(CloseCode.putOut, `banned from this room for another ${Math.ceil((ban.untilMs - nowMs) / 1000)} s`, "banned");
    if (door.locked && resumed === null) throw new Refused(CloseCode.locked, "the room is locked", "locked");
    if (known) return { ...known, address };
    if (this.mode === "tokens") throw new Refused(CloseCode.tokenNeeded, "a token is needed to enter", "token_missing");
    if (door.hasPassword && !passwordFollows) throw new Refused(CloseCode.passwordNeeded, "a password is needed to enter", "password_missing");
    return { role: "player", subject: null, name: undefined, expiresAtMs: null, address };
  }

  async #checkPassword(door: RoomDoor, { password, address }: Knock): Promise<void> {
    if (password === undefined) throw new Refused(CloseCode.passwordNeeded, "a password is needed to enter", "password_missing");
    if (!this.#passwords.take(address, performance.now())) throw new Refused(CloseCode.tooManyAttempts, `too many passwords from this address: ${PASSWORDS_PER_MINUTE} a minute`, "password_rate");
    const fits = await door.fits(password).catch((error: unknown) => {
      if (error instanceof PasswordQueueFull) throw new Refused(CloseCode.tooManyAttempts, "too many passwords are being checked", "password_rate");
      throw error;
    });
    if (!fits) throw new Refused(CloseCode.passwordNeeded, "the password is wrong", "password_wrong");
    this.#passwords.giveBack(address, performance.now());
  }
}
