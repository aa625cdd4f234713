/**
 * A request that one process passes on to another carries who really asked, signed, so that limits and bans per address
 * hold for rooms of other processes, too:
 *
 *     x-pliant-hop: <ms since 1970>.<client's address, base64url>.<HMAC-SHA256 of method, path, time and address,
 *     base64url>
 *
 * Whatever carries the header, well signed or not, is not passed on again: two processes that take each other for a
 * room's owner (one of them is behind) make no loop. A signature that is wrong or old makes it an ordinary request of
 * whoever sent it.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { isIP } from "node:net";

export const FORWARDED_HEADER = "x-pliant-hop";
/** How far two machines' clocks may be apart, and a request under way, ms. */
const MOST_AGE_MS = 60_000;

export interface ForwardedIdentity {
  method: string;
  /** Path with its query. */
  url: string;
  /** Of the client. */
  address: string;
}

function signature(secret: string, { method, url, address }: ForwardedIdentity, atMs: string): Buffer {
  return createHmac("sha256", secret).update(["pliant hop", method, url, atMs, address].join("\n")).digest();
}

/** The header's value. */
export function signForwarded(secret: string, forwarded: ForwardedIdentity, nowMs = Date.now()): string {
  const atMs = String(Math.round(nowMs));
  return [
    atMs,
    Buffer.from(forwarded.address).toString("base64url"),
    signature(secret, forwarded, atMs).toString("base64url"),
  ].join(".");
}

/**
 * @param secrets any of them may have signed it: they are exchanged one process after another
 * @returns the client's address, or null when the header is not one of ours, not of this request, or too old
 */
export function readForwarded(
  secrets: readonly string[],
  header: string,
  request: { method: string; url: string },
  nowMs = Date.now(),
): string | null {
  const [atMs, encoded, signed, ...rest] = header.split(".");
  if (
    signed === undefined ||
    rest.length > 0 ||
    !/^\d{1,16}$/.test(atMs) ||
    Math.abs(nowMs - Number(atMs)) > MOST_AGE_MS
  )
    return null;
  const address = Buffer.from(encoded, "base64url").toString();
  const given = Buffer.from(signed, "base64url");
  const fits = secrets.some((secret) => {
    const right = signature(secret, { ...request, address }, atMs);
    return given.length === right.length && timingSafeEqual(given, right);
  });
  if (!fits) return null;
  return isIP(address.split("%")[0]) === 0 ? null : address;
}

/** Secrets of their own from other ones, for those who set only one kind. */
export function forwardingSecretsFrom(secrets: readonly string[]): string[] {
  return secrets.map((secret) => createHmac("sha256", secret).update("pliant hop secret").digest("base64url"));
}
