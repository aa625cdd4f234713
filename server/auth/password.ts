/**
 * Passwords of rooms: scrypt (RFC 7914, `node:crypto`). N = 2^15, r = 8, p = 1 takes 32 MB and some 80 ms of a thread
 * of libuv's pool, never of the main thread. At most two at once, so that files and compression are still served, and
 * at most 64 wait: whoever comes then is asked to come later. Addresses take turns in that line, and none has more
 * places of it than it leaves: whoever knows a password and gives it all the time holds up itself.
 */
import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { mayTake } from "./share.ts";
import { Turns } from "../../shared/turns.ts";

const derive = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(scrypt);

const COST = { N: 2 ** 15, r: 8, p: 1 };
const HASH_BYTES = 32;
const AT_ONCE = 2;
const MOST_WAITING = 64;

/**
 * Shortest and longest password, characters. The shortest holds for years against the guesses that one address may make
 * (`attempts.ts`).
 */
export const PASSWORD_LENGTH = { min: 6, max: 128 } as const;

/** As it is kept: nothing in it leads back to the password but guessing. */
export interface PasswordHash {
  salt: string;
  hash: string;
  N: number;
  r: number;
  p: number;
}

/** Too many passwords are being checked already. */
export class PasswordQueueFull extends Error {
  constructor() {
    super(`as many passwords wait to be checked as may, of this address or in all`);
    this.name = "PasswordQueueFull";
  }
}

const turns = new Turns(AT_ONCE);
const mayWait = (own: number, all: number): void => {
  if (!mayTake(own, all, MOST_WAITING, 1)) throw new PasswordQueueFull();
};

/** The same characters, however a keyboard makes them. */
const bytesOf = (password: string): string => password.normalize("NFKC");

const hashWith = (
  password: string,
  salt: Buffer,
  { N, r, p }: Pick<PasswordHash, "N" | "r" | "p">,
  address: string,
): Promise<Buffer> =>
  turns.run(address, () => derive(bytesOf(password), salt, HASH_BYTES, { N, r, p, maxmem: 256 * N * r }), mayWait);

/** @param address who sets it. @throws PasswordQueueFull */
export async function hashPassword(password: string, address: string): Promise<PasswordHash> {
  const salt = randomBytes(16);
  return {
    salt: salt.toString("base64url"),
    hash: (await hashWith(password, salt, COST, address)).toString("base64url"),
    ...COST,
  };
}

/** @param address who gives it. @throws PasswordQueueFull */
export async function isPassword(password: string, known: PasswordHash, address: string): Promise<boolean> {
  if (password.length > PASSWORD_LENGTH.max) return false;
  const expected = Buffer.from(known.hash, "base64url");
  const given = await hashWith(password, Buffer.from(known.salt, "base64url"), known, address);
  return expected.length === given.length && timingSafeEqual(expected, given);
}
