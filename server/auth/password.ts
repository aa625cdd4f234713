/**
 * Hashes the passwords of rooms with scrypt (RFC 7914, `node:crypto`). N = 2^15, r = 8, p = 1 takes 32 MB and about 80
 * ms on a libuv pool thread, never on the main thread. At most two run at once, so that files and compression are still
 * served, and at most 64 wait; later requests are refused. The queue serves addresses in turn, and an address may hold
 * no more places than remain free. A client that floods the server with passwords delays only itself.
 */
import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { mayTake } from "./share.ts";
import { PASSWORD_LENGTH } from "../../shared/protocol/protocol.ts";
import { Turns } from "../../shared/turns.ts";

const derive = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(scrypt);

const COST = { N: 2 ** 15, r: 8, p: 1 };
const HASH_BYTES = 32;
const AT_ONCE = 2;
const MOST_WAITING = 64;

/** Stored form of a password; recovering the password needs guessing. */
export interface PasswordHash {
  salt: string;
  hash: string;
  N: number;
  r: number;
  p: number;
}

/** The queue of password checks is full. */
export class PasswordQueueFull extends Error {
  constructor() {
    super(`the queue of password checks is full, for this address or in total`);
    this.name = "PasswordQueueFull";
  }
}

const turns = new Turns(AT_ONCE);
const mayWait = (own: number, all: number): void => {
  if (!mayTake(own, all, MOST_WAITING, 1)) throw new PasswordQueueFull();
};

/** Normalizes the characters, because keyboards compose them differently. */
const bytesOf = (password: string): string => password.normalize("NFKC");

const hashWith = (
  password: string,
  salt: Buffer,
  { N, r, p }: Pick<PasswordHash, "N" | "r" | "p">,
  address: string,
): Promise<Buffer> =>
  turns.run(address, () => derive(bytesOf(password), salt, HASH_BYTES, { N, r, p, maxmem: 256 * N * r }), mayWait);

/** @param address of the client that sets it. @throws PasswordQueueFull */
export async function hashPassword(password: string, address: string): Promise<PasswordHash> {
  const salt = randomBytes(16);
  return {
    salt: salt.toString("base64url"),
    hash: (await hashWith(password, salt, COST, address)).toString("base64url"),
    ...COST,
  };
}

/** @param address of the client that gives it. @throws PasswordQueueFull */
export async function isPassword(password: string, known: PasswordHash, address: string): Promise<boolean> {
  if (password.length > PASSWORD_LENGTH.max) return false;
  const expected = Buffer.from(known.hash, "base64url");
  const given = await hashWith(password, Buffer.from(known.salt, "base64url"), known, address);
  return expected.length === given.length && timingSafeEqual(expected, given);
}
