/**
 * A ticket is what one process tells another of who asks: from which address, and what their token or password makes of
 * them. Neither the token nor the password goes over the line, and limits and bans per address hold for rooms of other
 * processes, too.
 *
 *     x-pliant-hop: base64url( iv[12] . AES-256-GCM( JSON of the ticket ) . tag[16] )
 *
 * Sealed with a secret that all processes share, so whoever listens reads nothing in it and nobody else makes one. It
 * is for one process (`audience`: an address that somebody else has written into the store opens nothing), for one
 * request, for a minute, and is taken once.
 *
 * Whatever carries the header, well sealed or not, is not passed on again: two processes that take each other for a
 * room's owner (one of them is behind) make no loop. A ticket that cannot be opened makes it an ordinary request of
 * whoever sent it.
 */
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";
import { isIP } from "node:net";

export const TICKET_HEADER = "x-pliant-hop";
/** How far two machines' clocks may be apart, and a request under way, ms. */
const MOST_AGE_MS = 60_000;
/**
 * Tickets that are remembered, so that none is taken twice; beyond that the oldest are forgotten. So many in two
 * minutes are 1,700 requests a second.
 */
const MOST_REMEMBERED = 200_000;
const CIPHER = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;

export interface Ticket {
  /** `Holder.process` of the one that it is for. */
  audience: string;
  method: string;
  /** Path with its query. */
  url: string;
  /** Of the client. */
  address: string;
  /** What the first process knows of the client (routes/vouched.ts), as JSON. */
  said: unknown;
}

const keyOf = (secret: string): Buffer => createHmac("sha256", secret).update("pliant ticket key").digest();

export class Tickets {
  readonly #keys: Buffer[];
  readonly #own: { process: string };
  readonly #mostRemembered: number;
  /** Those that were taken, until when they are worth something; oldest first. */
  readonly #taken = new Map<string, number>();

  /**
   * @param secrets the first seals, all open: they are exchanged one process after another
   * @param own this process
   */
  constructor(secrets: readonly string[], own: { process: string }, mostRemembered = MOST_REMEMBERED) {
    this.#keys = secrets.map(keyOf);
    this.#own = own;
    this.#mostRemembered = mostRemembered;
  }

  /** Tickets that are remembered. */
  get remembered(): number {
    return this.#taken.size;
  }

  /** The header's value. */
  seal(ticket: Ticket, nowMs = Date.now()): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.#keys[0]!, iv);
    const text = JSON.stringify({ ...ticket, atMs: Math.round(nowMs) });
    return Buffer.concat([iv, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]).toString("base64url");
  }

  /**
   * Takes a ticket: it is worth nothing afterwards.
   * @returns null when it is not one of ours, not for us, not of this request, too old, or was taken before
   */
  take(sealed: string, request: { method: string; url: string }, nowMs = Date.now()): Ticket | null {
    const bytes = Buffer.from(sealed, "base64url");
    const opened = this.#open(bytes);
    if (opened === null) return null;
    const { atMs, ...ticket } = opened;
    if (
      ticket.audience !== this.#own.process ||
      ticket.method !== request.method ||
      ticket.url !== request.url ||
      !(Math.abs(nowMs - atMs) <= MOST_AGE_MS) ||
      isIP(ticket.address.split("%")[0]!) === 0
    )
      return null;
    return this.#takeOnce(bytes.toString("latin1", 0, IV_BYTES), atMs + MOST_AGE_MS, nowMs) ? ticket : null;
  }

  #open(bytes: Buffer): (Ticket & { atMs: number }) | null {
    if (bytes.length < IV_BYTES + TAG_BYTES) return null;
    for (const key of this.#keys) {
      try {
        const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
        decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
        const text = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
        return JSON.parse(text.toString()) as Ticket & { atMs: number };
      } catch {
        // Another key's, or nobody's.
      }
    }
    return null;
  }

  #takeOnce(id: string, untilMs: number, nowMs: number): boolean {
    for (const [old, until] of this.#taken) {
      if (until >= nowMs && this.#taken.size < this.#mostRemembered) break;
      this.#taken.delete(old);
    }
    if (this.#taken.has(id)) return false;
    this.#taken.set(id, untilMs);
    return true;
  }
}

/** Secrets of their own from other ones, for those who set only one kind. */
export function clusterSecretsFrom(secrets: readonly string[]): string[] {
  return secrets.map((secret) => createHmac("sha256", secret).update("pliant hop secret").digest("base64url"));
}
