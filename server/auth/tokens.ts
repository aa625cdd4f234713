/**
 * Signed join tokens: JSON Web Tokens (RFC 7519) with HMAC SHA-256, signed and verified by `jose`. A token states which
 * room its bearer may enter and in which role. The server stores no tokens, so it cannot revoke one. To end access
 * early: short lifetimes, bans by subject, or a new secret.
 *
 *     claims   iss, aud "pliant" · room (a name, or *) · role · sub · name? · roomId? · iat · exp
 *     header   alg HS256 · kid: id of the key
 *
 * Several keys may be in use: the first signs, all verify. To rotate the secret, put the new one first, and remove the
 * old one when its tokens have expired.
 */
import { createHash, randomUUID } from "node:crypto";
import { errors, jwtVerify, SignJWT } from "jose";
import { isRole, type Role } from "../../shared/members/roles.ts";
import type { Identity } from "./identity.ts";

const ISSUER = "pliant";
const ALGORITHM = "HS256";
/** Shortest key, bytes: RFC 7518 section 3.2 requires at least the size of the hash. */
export const MIN_SECRET_BYTES = 32;
/** Longest accepted token, characters; ours have about 300. */
const MAX_TOKEN_LENGTH = 2048;
/** Longest lifetime of a token, hours: a year. */
export const MAX_TOKEN_HOURS = 8784;
/** Longest subject, characters. */
export const MAX_SUBJECT_LENGTH = 64;
/** Tolerated clock difference between the issuing machine and this one, s. */
const CLOCK_TOLERANCE_S = 5;

/** Allowed characters of a subject, which logs and the store show. */
export const SUBJECT_PATTERN = "^[^\\p{Cc}\\p{Cs}]+$";
const SUBJECT = new RegExp(SUBJECT_PATTERN, "u");
export const isSubject = (value: unknown): value is string => typeof value === "string" && SUBJECT.test(value);

/** Content of a new token. */
export interface Grant {
  /** Name of a room, or `*` for all rooms. */
  room: string;
  role: Role;
  /** Identifies the bearer in the audit log and in bans; generated if absent. */
  subject?: string;
  /** Name to show if the member chooses none. */
  name?: string;
  /** Binds the token to the current room of this name. */
  roomId?: string;
  /** Lifetime, s. */
  seconds: number;
}

/** The token is not ours, has expired, or has invalid claims. The message contains nothing of the token. */
export class TokenError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = "TokenError";
  }
}

interface Key {
  id: string;
  bytes: Uint8Array;
}

export class TokenMint {
  readonly #keys: readonly Key[];

  /** @param secrets at least one, each of MIN_SECRET_BYTES or more; the first signs */
  constructor(secrets: readonly string[]) {
    if (secrets.length === 0) throw new Error("a token mint needs a secret");
    this.#keys = secrets.map((secret) => {
      const bytes = Buffer.from(secret, "utf8");
      if (bytes.length < MIN_SECRET_BYTES)
        throw new Error(`a token secret has ${bytes.length} bytes, but must have at least ${MIN_SECRET_BYTES}`);
      return { id: createHash("sha256").update("pliant key id\0").update(bytes).digest("hex").slice(0, 16), bytes };
    });
  }

  async sign({
    room,
    role,
    subject = randomUUID(),
    name,
    roomId,
    seconds,
  }: Grant): Promise<{ token: string; subject: string; expiresAt: Date }> {
    const key = this.#keys[0]!;
    const issuedAt = Math.floor(Date.now() / 1000);
    const expires = issuedAt + Math.round(seconds);
    const token = await new SignJWT({
      room,
      role,
      ...(name !== undefined && { name }),
      ...(roomId !== undefined && { roomId }),
    })
      .setProtectedHeader({ alg: ALGORITHM, kid: key.id })
      .setIssuer(ISSUER)
      .setAudience(ISSUER)
      .setSubject(subject)
      .setIssuedAt(issuedAt)
      .setExpirationTime(expires)
      .sign(key.bytes);
    return { token, subject, expiresAt: new Date(1000 * expires) };
  }

  /** @throws TokenError */
  async verify(token: string): Promise<Identity> {
    if (token.length > MAX_TOKEN_LENGTH) throw new TokenError(`longer than ${MAX_TOKEN_LENGTH} characters`);
    const { payload } = await jwtVerify(token, ({ kid }) => this.#key(kid), {
      algorithms: [ALGORITHM],
      issuer: ISSUER,
      audience: ISSUER,
      clockTolerance: CLOCK_TOLERANCE_S,
      requiredClaims: ["sub", "exp", "room", "role"],
    }).catch((error: unknown) => {
      throw new TokenError(reasonOf(error));
    });
    const { room, role, name, roomId, sub, exp } = payload;
    const isText = (value: unknown): value is string | undefined => value === undefined || typeof value === "string";
    if (typeof room !== "string" || !isRole(role) || !isText(name) || !isText(roomId) || !isSubject(sub))
      throw new TokenError("its claims do not have the documented form");
    if (role === "admin" && room !== "*") throw new TokenError("an admin's token is for every room: *");
    return { room, role, subject: sub, name, roomId, expiresAtMs: 1000 * exp! };
  }

  #key(id: string | undefined): Uint8Array {
    const key = this.#keys.find((one) => one.id === id);
    if (!key) throw new TokenError("signed with a key that this server does not have");
    return key.bytes;
  }
}

/** Returns a reason without the token's content; jose's own messages can repeat claims. */
function reasonOf(error: unknown): string {
  if (error instanceof TokenError) return error.message;
  if (error instanceof errors.JWTExpired) return "it has expired";
  if (error instanceof errors.JWSSignatureVerificationFailed) return "its signature is wrong";
  if (error instanceof errors.JWTClaimValidationFailed) return `its claim ${error.claim} is missing or wrong`;
  if (error instanceof errors.JOSEAlgNotAllowed) return `its algorithm is not ${ALGORITHM}`;
  return "it is not a signed token";
}
