/**
 * Who comes in, and as what. One object for the server; every way in asks it.
 *
 *     hello {token?, password?, resume?} from an address, to a room
 *     |- token: valid -> the role that it gives in this room
 *     |         not   -> `tokens` mode: 4401; `open` mode: as if there were none, and a notice says so
 *     |- owner, admin                  -> in
 *     |- `tokens` mode, no token       4401
 *     |- banned (token's subject, session, or the address of a newcomer)    4403
 *     |- resumes a session             -> in, as what it was
 *     |- locked                        4423
 *     |- token, as player or spectator -> in
 *     '- a password is set             -> missing or wrong: 4407; too often from this address or for this room: 4425
 *                                      -> in, as a player
 */
import { CloseCode } from "../../shared/protocol/protocol.ts";
import type { Role } from "../../shared/roles.ts";
import { type AuthMode, denialOf } from "./admission.ts";
import { Attempts } from "./addresses.ts";
import { type Identity, roleIn } from "./identity.ts";
import { PasswordQueueFull } from "./password.ts";
import { Refused } from "./refused.ts";
import type { RoomAccess } from "./roomAccess.ts";
import { fingerprint, sameSecret } from "./secrets.ts";
import { TokenError, TokenMint } from "./tokens.ts";

export interface AuthOptions {
  mode: AuthMode;
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
export interface Credentials {
  token?: string;
  password?: string;
  resume?: string;
  address: string;
  /** What another process says that the token says, in place of `token`. */
  vouched?: Vouched;
}

/** What a token says, or why it says nothing. */
export interface Vouched {
  identity: Identity | null;
  problem?: string;
}

/**
 * Wrong passwords that an address may give at once and then per minute: a class behind one address comes in, and 6
 * characters hold for years.
 */
const PASSWORD_BURST = 40;
const PASSWORDS_PER_MINUTE = 10;

/**
 * Wrong passwords that all addresses together may give one room, at once and then per minute: who has a thousand
 * addresses (an IPv6 /48 is 65,536 of them) tries six digits for a month. Who was let in from an address before comes
 * in from there all the same.
 */
const ROOM_PASSWORD_BURST = 240;
const ROOM_PASSWORDS_PER_MINUTE = 20;

/** Tokens that are none, which an address may show at once and then per minute. */
const BAD_TOKEN_BURST = 60;
export const BAD_TOKENS_PER_MINUTE = 30;

/** An owner's token from the answer to creating a room lives this long, s. It is for that one room and ends with it. */
const OWNER_TOKEN_SECONDS = 30 * 86_400;

export class Auth {
  readonly mode: AuthMode;
  readonly mint: TokenMint;
  readonly #adminToken: string | null;
  /** Shared by sockets and HTTP. */
  readonly badTokens = new Attempts(BAD_TOKEN_BURST, BAD_TOKENS_PER_MINUTE);
  readonly #passwords = new Attempts(PASSWORD_BURST, PASSWORDS_PER_MINUTE);
  /** By `RoomAccess.id`. */
  readonly #roomPasswords = new Attempts(ROOM_PASSWORD_BURST, ROOM_PASSWORDS_PER_MINUTE);

  constructor({ mode, secrets, adminToken }: AuthOptions) {
    this.mode = mode;
    this.mint = new TokenMint(secrets);
    this.#adminToken = adminToken;
  }

  /**
   * As `identify`, for sockets: an address that has shown too many tokens that are none has to wait even with a good
   * one.
   * @throws TokenError
   */
  async #identifyFrom(token: string, address: string): Promise<Identity> {
    if (!this.badTokens.take(address, performance.now()))
      throw new TokenError(`too many tokens that are none from this address: ${BAD_TOKENS_PER_MINUTE} a minute`);
    const identity = await this.identify(token);
    this.badTokens.giveBack(address, performance.now());
    return identity;
  }

  /** What the token says, for another process that is to believe it. Counted as `enter` counts. */
  async vouch(token: string, address: string): Promise<Vouched> {
    try {
      return { identity: await this.#identifyFrom(token, address) };
    } catch (error) {
      if (!(error instanceof TokenError)) throw error;
      return { identity: null, problem: error.message };
    }
  }

  /** @returns null: no token was brought. @throws TokenError */
  async #identityOf({ token, vouched, address }: Credentials): Promise<Identity | null> {
    if (vouched?.problem !== undefined) throw new TokenError(vouched.problem);
    if (vouched) return vouched.identity;
    return token === undefined ? null : this.#identifyFrom(token, address);
  }

  /** @throws TokenError */
  async identify(token: string): Promise<Identity> {
    if (this.#adminToken !== null && sameSecret(token, this.#adminToken)) {
      return { room: "*", role: "admin", subject: "admin", name: undefined, roomId: undefined, expiresAtMs: null };
    }
    return this.mint.verify(token);
  }

  /** The token that whoever made a room owns it with. */
  async ownerToken(room: string, access: RoomAccess): Promise<string> {
    return (await this.mint.sign({ room, role: "owner", roomId: access.id, seconds: OWNER_TOKEN_SECONDS })).token;
  }

  /**
   * @param session the entry of the session that `credentials.resume` names, if there is one
   * @returns at once where nothing has to be computed
   * @throws Refused (or rejects with it)
   */
  enter(room: string, access: RoomAccess, credentials: Credentials, session: Entry | null): Entry | Promise<Entry> {
    const resumed =
      session === null || (session.expiresAtMs !== null && session.expiresAtMs <= Date.now()) ? null : session;
    if (!bringsToken(credentials) && (resumed !== null || !access.hasPassword))
      return this.#decide(access, credentials, null, resumed, false);
    return this.#enterSlowly(room, access, credentials, resumed);
  }

  /**
   * To a room that is not here: in `tokens` mode only whoever has a token for that name learns so. Always rejects.
   * @param refused what to say then. @throws Refused
   */
  async refuseAbsent(room: string, credentials: Credentials, refused: Refused): Promise<never> {
    if (this.mode === "tokens") {
      try {
        const identity = await this.#identityOf(credentials);
        if (identity === null) throw new Refused(CloseCode.tokenNeeded, "a token is needed to enter", "token_missing");
        if (identity.room !== "*" && identity.room !== room) throw new TokenError("it is for another room");
      } catch (error) {
        if (!(error instanceof TokenError)) throw error;
        throw new Refused(CloseCode.tokenNeeded, `token refused: ${error.message}`, "token_invalid");
      }
    }
    throw refused;
  }

  async #enterSlowly(
    room: string,
    access: RoomAccess,
    credentials: Credentials,
    resumed: Entry | null,
  ): Promise<Entry> {
    const { entry, problem } = await this.#entryOf(room, access, credentials);
    // The password is checked last: nobody learns whether it was right who would not be let in anyway.
    let allowed = this.#decide(access, credentials, entry, resumed, true);
    if (entry === null && resumed === null && access.hasPassword) {
      await this.#checkPassword(access, credentials);
      // The owner may have locked the room or banned somebody meanwhile.
      allowed = this.#decide(access, credentials, entry, resumed, true);
    }
    return problem === undefined ? allowed : { ...allowed, tokenProblem: problem };
  }

  async #entryOf(
    room: string,
    access: RoomAccess,
    credentials: Credentials,
  ): Promise<{ entry: Entry | null; problem?: string }> {
    try {
      const identity = await this.#identityOf(credentials);
      if (identity === null) return { entry: null };
      const role = roleIn(identity, { name: room, id: access.id });
      if (role === null) throw new TokenError("it is for another room");
      const { subject, name, expiresAtMs } = identity;
      return { entry: { role, subject, name, expiresAtMs, address: credentials.address } };
    } catch (error) {
      if (!(error instanceof TokenError)) throw error;
      if (this.mode === "tokens")
        throw new Refused(CloseCode.tokenNeeded, `token refused: ${error.message}`, "token_invalid");
      return { entry: null, problem: error.message };
    }
  }

  #decide(
    access: RoomAccess,
    { resume, address }: Credentials,
    entry: Entry | null,
    resumed: Entry | null,
    passwordFollows: boolean,
  ): Entry {
    const known = entry ?? resumed;
    const session = resume === undefined ? undefined : fingerprint(resume);
    const denial = denialOf(this.mode, access, { known, wasIn: resumed !== null, session, address }, Date.now());
    if (denial === null || (denial.why === "password" && passwordFollows))
      return known
        ? { ...known, address }
        : { role: "player", subject: null, name: undefined, expiresAtMs: null, address };
    switch (denial.why) {
      case "banned":
        throw new Refused(CloseCode.kicked, `banned from this room for another ${denial.seconds} s`, "banned");
      case "locked":
        throw new Refused(CloseCode.locked, "the room is locked", "locked");
      case "token":
        throw new Refused(CloseCode.tokenNeeded, "a token is needed to enter", "token_missing");
      case "password":
        throw new Refused(CloseCode.passwordNeeded, "a password is needed to enter", "password_missing");
    }
  }

  async #checkPassword(access: RoomAccess, { password, address }: Credentials): Promise<void> {
    if (password === undefined)
      throw new Refused(CloseCode.passwordNeeded, "a password is needed to enter", "password_missing");
    if (!this.#passwords.take(address, performance.now()))
      throw new Refused(
        CloseCode.tooManyAttempts,
        `too many passwords from this address: ${PASSWORDS_PER_MINUTE} a minute`,
        "password_rate",
      );
    const counted = !access.knowsAddress(address);
    if (counted && !this.#roomPasswords.take(access.id, performance.now()))
      throw new Refused(
        CloseCode.tooManyAttempts,
        `too many wrong passwords for this room: ${ROOM_PASSWORDS_PER_MINUTE} a minute`,
        "password_rate",
      );
    const fits = await access.fits(password, address).catch((error: unknown) => {
      if (error instanceof PasswordQueueFull)
        throw new Refused(CloseCode.tooManyAttempts, "too many passwords are being checked", "password_rate");
      throw error;
    });
    if (!fits) throw new Refused(CloseCode.passwordNeeded, "the password is wrong", "password_wrong");
    this.#passwords.giveBack(address, performance.now());
    if (counted) this.#roomPasswords.giveBack(access.id, performance.now());
  }
}

const bringsToken = ({ token, vouched }: Credentials): boolean =>
  token !== undefined || (vouched !== undefined && (vouched.identity !== null || vouched.problem !== undefined));
