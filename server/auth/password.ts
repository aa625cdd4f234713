/**
 * Passwords of rooms: scrypt (RFC 7914, `node:crypto`). N = 2^15, r = 8, p = 1 takes 32 MB and some 80 ms of a thread
 * of libuv's pool, never of the main thread. At most two at once, so that files and compression are still served, and
 * at most 64 wait: whoever comes then is asked to come later.
 */
import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";

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
    super(`more than ${MOST_WAITING} passwords wait to be checked`);
    this.name = "PasswordQueueFull";
  }
}

let running = 0;
const queue: (() => void)[] = [];

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running < AT_ONCE) running += 1;
  else {
    if (queue.length >= MOST_WAITING) throw new PasswordQueueFull();
    // Whoever is done hands its place over: `running` stays.
    await new Promise<void>((resolve) => queue.push(resolve));
  }
  try {
    return await work();
  } finally {
    const next = queue.shift();
    if (next) next();
    else running -= 1;
  }
}

/** The same characters, however a keyboard makes them. */
const bytesOf = (password: string): string => password.normalize("NFKC");

const hashWith = (password: string, salt: Buffer, { N, r, p }: Pick<PasswordHash, "N" | "r" | "p">): Promise<Buffer> =>
  inTurn(() => derive(bytesOf(password), salt, HASH_BYTES, { N, r, p, maxmem: 256 * N * r }));

/** @throws PasswordQueueFull */
export async function hashPassword(password: string): Promise<PasswordHash> {
  const salt = randomBytes(16);
  return {
    salt: salt.toString("base64url"),
    hash: (await hashWith(password, salt, COST)).toString("base64url"),
    ...COST,
  };
}

/** @throws PasswordQueueFull */
export async function isPassword(password: string, known: PasswordHash): Promise<boolean> {
  if (password.length > PASSWORD_LENGTH.max) return false;
  const expected = Buffer.from(known.hash, "base64url");
  const given = await hashWith(password, Buffer.from(known.salt, "base64url"), known);
  return expected.length === given.length && timingSafeEqual(expected, given);
}
