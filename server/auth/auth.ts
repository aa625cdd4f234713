/**
 * Decides who enters a room, and in which role. The server has one instance; sockets and HTTP both use it.
 *
 *     hello {token?, password?, resume?} from an address, to a room
 *     |- token: valid -> the role that it gives in this room
 *     |         not   -> `tokens` mode: 4401; `open` mode: ignored, and a notice says so
 *     |- owner, admin                  -> admitted
 *     |- `tokens` mode, no token       4401
 *     |- banned (token's subject, session, or the address of a newcomer)    4403
 *     |- resumes a session             -> admitted in its earlier role
 *     |- locked                        4423
 *     |- token, as player or spectator -> admitted
 *     '- a password is set             -> missing or wrong: 4407; too often from this address or for this room: 4425
 *                                      -> admitted as a player
 */
import { CloseCode } from "../../shared/protocol/protocol.ts";
import type { Role } from "../../shared/members/roles.ts";
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
  /** The operator's own token; null: none. */
  adminToken: string | null;
}

/** An admitted member. */
export interface Entry {
  role: Role;
  /** Subject of the token; null: no token. */
  subject: string | null;
  /** Name to show if the member chooses none. */
  name: string | undefined;
  /** Expiry of the token, wall time in ms; null: never, or no token. */
  expiresAtMs: number | null;
  /** Address of the visitor, as `addressKey` gives it. */
  address: string;
  /** `open` mode: why the given token is invalid. */
  tokenProblem?: string;
}

/** Credentials of a client that wants to enter. */
export interface Credentials {
  token?: string;
  password?: string;
  resume?: string;
  address: string;
  /** Verified token claims from the forwarding process, in place of `token`. */
  forwarded?: ForwardedIdentity;
}

/** Looked up again after every wait: the owner may have kicked the member meanwhile. */
type FindSession = () => Entry | null;

/** Verified claims of a token, or the reason why it is invalid. */
export interface ForwardedIdentity {
  identity: Identity | null;
  problem?: string;
}

/**
 * Limit of wrong passwords per address: burst, then per minute. A class behind one address can enter, and guessing a
 * password of 6 characters takes years.
 */
const PASSWORD_BURST = 40;
const PASSWORDS_PER_MINUTE = 10;

/**
 * Limit of wrong passwords per room from all addresses: burst, then per minute. An attacker with a thousand addresses
 * (an IPv6 /48 has 65,536 of them) needs a month for six digits. Addresses that gave the right password before are
 * exempt.
 */
const ROOM_PASSWORD_BURST = 240;
const ROOM_PASSWORDS_PER_MINUTE = 20;

/** Limit of invalid tokens per address: burst, then per minute. */
const BAD_TOKEN_BURST = 60;
export const BAD_TOKENS_PER_MINUTE = 30;

/** Lifetime of the owner's token that creating a room returns, s. It is for that one room and ends with it. */
const OWNER_TOKEN_SECONDS = 30 * 86_400;

export class Auth {
  readonly mode: AuthMode;
  readonly mint: TokenMint;
  readonly #adminToken: string | null;
  /** Shared by sockets and HTTP. */
  readonly badTokens = new Attempts(BAD_TOKEN_BURST, BAD_TOKENS_PER_MINUTE);
  readonly #passwords = new Attempts(PASSWORD_BURST, PASSWORDS_PER_MINUTE);
  /** Failed passwords of each room, by `RoomAccess.id`. */
  readonly #roomPasswords = new Attempts(ROOM_PASSWORD_BURST, ROOM_PASSWORDS_PER_MINUTE);

  constructor({ mode, secrets, adminToken }: AuthOptions) {
    this.mode = mode;
    this.mint = new TokenMint(secrets);
    this.#adminToken = adminToken;
  }

  /**
   * Like `identify`, but rate-limited: after too many invalid tokens an address must wait, even with a valid one.
   * @throws TokenError
   */
  async #identifyFrom(token: string, address: string): Promise<Identity> {
    if (!this.badTokens.take(address, performance.now()))
      throw new TokenError(`too many invalid tokens from this address: ${BAD_TOKENS_PER_MINUTE} a minute`);
    const identity = await this.identify(token);
    this.badTokens.giveBack(address, performance.now());
    return identity;
  }

  /** Verifies a token for another process, which trusts the result. Counts attempts like `enter`. */
  async unsealIdentity(token: string, address: string): Promise<ForwardedIdentity> {
    try {
      return { identity: await this.#identifyFrom(token, address) };
    } catch (error) {
      if (!(error instanceof TokenError)) throw error;
      return { identity: null, problem: error.message };
    }
  }

  /** @returns null: no token was given. @throws TokenError */
  async #identityOf({ token, forwarded, address }: Credentials): Promise<Identity | null> {
    if (forwarded?.problem !== undefined) throw new TokenError(forwarded.problem);
    if (forwarded) return forwarded.identity;
    return token === undefined ? null : this.#identifyFrom(token, address);
  }

  /** @throws TokenError */
  async identify(token: string): Promise<Identity> {
    if (this.#adminToken !== null && sameSecret(token, this.#adminToken)) {
      return { room: "*", role: "admin", subject: "admin", name: undefined, roomId: undefined, expiresAtMs: null };
    }
    return this.mint.verify(token);
  }

  /** Issues the owner's token to the creator of a room. */
  async ownerToken(room: string, access: RoomAccess): Promise<string> {
    return (await this.mint.sign({ room, role: "owner", roomId: access.id, seconds: OWNER_TOKEN_SECONDS })).token;
  }

  /**
   * @param findSession finds the entry of the session that `credentials.resume` names
   * @returns synchronously if nothing has to be computed
   * @throws Refused (or rejects with it)
   */
  enter(room: string, access: RoomAccess, credentials: Credentials, findSession: FindSession): Entry | Promise<Entry> {
    const find = (): Entry | null => {
      const session = findSession();
      return session && (session.expiresAtMs === null || session.expiresAtMs > Date.now()) ? session : null;
    };
    if (!bringsToken(credentials) && (!access.hasPassword || find() !== null))
      return this.#decide(access, credentials, null, find(), false);
    return this.#enterSlowly(room, access, credentials, find);
  }

  /**
   * Refuses entry to a room that is not here. In `tokens` mode, only clients with a token for that name learn that it
   * is absent. Always rejects.
   * @param refused the refusal for these clients. @throws Refused
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
    find: () => Entry | null,
  ): Promise<Entry> {
    const { entry, problem } = await this.#entryOf(room, access, credentials);
    // Check the password last: clients that would be refused anyway must not learn whether it was right.
    let allowed = this.#decide(access, credentials, entry, find(), true);
    if (entry === null && find() === null && access.hasPassword) {
      await this.#checkPassword(access, credentials);
      // The owner may have locked the room or banned the client meanwhile.
      allowed = this.#decide(access, credentials, entry, find(), true);
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

const bringsToken = ({ token, forwarded }: Credentials): boolean =>
  token !== undefined || (forwarded !== undefined && (forwarded.identity !== null || forwarded.problem !== undefined));
