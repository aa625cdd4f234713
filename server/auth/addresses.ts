/**
 * Addresses of the network, as limits and bans count them, and how often one of them may try something. An IPv6 network
 * hands a whole /64 to one customer, so those count as one address; an IPv4 address that is written as IPv6 is the IPv4
 * address.
 */
import { isIPv6, SocketAddress } from "node:net";

/** @param address as the socket or the proxy gives it; what is no address counts as itself */
export function addressKey(address: string): string {
  const [bare] = address.split("%") as [string];
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare);
  if (mapped) return mapped[1]!;
  if (!isIPv6(bare)) return bare;
  const normal = new SocketAddress({ address: bare, family: "ipv6" }).address;
  const [head, tail] = normal.split("::") as [string, string | undefined];
  const groups = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const whole =
    tail === undefined
      ? groups
      : [...groups, ...new Array<string>(Math.max(0, 8 - groups.length - after.length)).fill("0"), ...after];
  return `${whole
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":")}::/64`;
}

/** Addresses that are remembered at most; beyond that the ones that have been quiet longest are forgotten. */
const MOST_ADDRESSES = 10_000;

/**
 * How often each address may fail at something: `burst` at once, then `perMinute`. Told the time, never asks for it.
 */
export class Attempts {
  readonly #burst: number;
  readonly #perMinute: number;
  /** Least recently used first. */
  readonly #left = new Map<string, { tokens: number; atMs: number }>();

  constructor(burst: number, perMinute: number) {
    this.#burst = burst;
    this.#perMinute = perMinute;
  }

  /**
   * Takes one attempt; false when there is none left. Taken before the attempt, so that many at once are no way around
   * it.
   */
  take(address: string, nowMs: number): boolean {
    const left = this.#refill(address, nowMs);
    if (left.tokens < 1) return false;
    left.tokens -= 1;
    return true;
  }

  /** It was no failure after all. */
  giveBack(address: string, nowMs: number): void {
    const left = this.#refill(address, nowMs);
    left.tokens = Math.min(this.#burst, left.tokens + 1);
  }

  get size(): number {
    return this.#left.size;
  }

  #refill(address: string, nowMs: number): { tokens: number; atMs: number } {
    const known = this.#left.get(address);
    const tokens = known
      ? Math.min(this.#burst, known.tokens + ((nowMs - known.atMs) * this.#perMinute) / 60_000)
      : this.#burst;
    const left = { tokens, atMs: nowMs };
    this.#left.delete(address);
    this.#left.set(address, left);
    if (this.#left.size > MOST_ADDRESSES) this.#left.delete(this.#left.keys().next().value!);
    return left;
  }
}
