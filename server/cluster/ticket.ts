/**
 * Tickets tell the owner of a room who sent a forwarded request: the client's address, and the identity that its token
 * or password proved. Neither token nor password is sent on, and limits and bans for addresses also hold for rooms of
 * other processes.
 *
 *     x-pliant-hop: base64url( iv[12] . AES-256-GCM( JSON of the ticket ) . tag[16] )
 *
 * A ticket is sealed with a secret that all processes share, so an eavesdropper can neither read nor forge one. It is
 * valid for one process (`audience`: an attacker that writes its own address into the store cannot use it), for one
 * request, for one minute, and only once.
 *
 * A request with this header is never forwarded again, even if its ticket is invalid. So two processes that each take
 * the other for a room's owner (one of them is outdated) do not form a loop. A request whose ticket cannot be opened is
 * treated as an ordinary request of its sender. A ticket for another process is refused: the request was meant for the
 * process that had this address before, and its client's credentials are in that ticket only.
 */
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";
import { isIP } from "node:net";

export const TICKET_HEADER = "x-pliant-hop";
/** Limit of the request's transit time plus the error of the known clock difference between two machines, ms. */
const MOST_AGE_MS = 60_000;
/**
 * Number of used tickets that are remembered, so that none is used twice; the oldest are forgotten. This many in two
 * minutes are 1,700 requests a second.
 */
const MOST_REMEMBERED = 200_000;
const CIPHER = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;

export interface Ticket {
  /** `Holder.process` of the receiver. */
  audience: string;
  method: string;
  /** Path including the query. */
  url: string;
  /** Address of the client. */
  address: string;
  /** The first process's statement about the client (routes/guards/forwardedIdentity.ts), as JSON. */
  said: unknown;
}

const keyOf = (secret: string): Buffer => createHmac("sha256", secret).update("pliant ticket key").digest();

interface OwnProcess {
  process: string;
  /** Time by which the clock of another process is ahead, ms; absent: clocks agree. */
  aheadMs?: (process: string) => number;
}

export class Tickets {
  readonly #keys: Buffer[];
  readonly #own: OwnProcess;
  readonly #mostRemembered: number;
  /** Used tickets and when they expire; oldest first. */
  readonly #taken = new Map<string, number>();

  /**
   * @param secrets the first seals, all open, so that secrets can be changed on one process after another
   * @param own this process
   */
  constructor(secrets: readonly string[], own: OwnProcess, mostRemembered = MOST_REMEMBERED) {
    this.#keys = secrets.map(keyOf);
    this.#own = own;
    this.#mostRemembered = mostRemembered;
  }

  /** Number of remembered tickets. */
  get remembered(): number {
    return this.#taken.size;
  }

  /** Returns the header's value. Its time is that of the receiver's clock. */
  seal(ticket: Ticket, nowMs = Date.now() + (this.#own.aheadMs?.(ticket.audience) ?? 0)): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.#keys[0]!, iv);
    const text = JSON.stringify({ ...ticket, atMs: Math.round(nowMs) });
    return Buffer.concat([iv, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]).toString("base64url");
  }

  /**
   * Opens a ticket and marks it as used.
   * @returns null: forged, for another process or request, too old, or already used
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
      typeof atMs !== "number" ||
      !(Math.abs(nowMs - atMs) <= MOST_AGE_MS) ||
      typeof ticket.address !== "string" ||
      isIP(ticket.address.split("%")[0]!) === 0
    )
      return null;
    return this.#takeOnce(bytes.toString("latin1", 0, IV_BYTES), atMs + MOST_AGE_MS, nowMs) ? ticket : null;
  }

  /** Returns whether a process of this cluster has sealed the ticket for another process. */
  isForAnother(sealed: string): boolean {
    const opened = this.#open(Buffer.from(sealed, "base64url"));
    return opened !== null && opened.audience !== this.#own.process;
  }

  #open(bytes: Buffer): (Ticket & { atMs: number }) | null {
    if (bytes.length < IV_BYTES + TAG_BYTES) return null;
    for (const key of this.#keys) {
      try {
        const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
        decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
        const text = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
        return { ...(JSON.parse(text.toString()) as Ticket & { atMs: number }) };
      } catch {
        // Sealed with another key, or forged.
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

/** Derives cluster secrets from token secrets, for configurations without cluster secrets. */
export function clusterSecretsFrom(secrets: readonly string[]): string[] {
  return secrets.map((secret) => createHmac("sha256", secret).update("pliant hop secret").digest("base64url"));
}
