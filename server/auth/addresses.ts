/**
 * Network addresses as limits and bans count them, and a rate limiter per address. An IPv6 provider assigns a whole /64
 * to one customer, so a /64 counts as one address, and a /56, /48 or /32 as several (shared/networks.ts). An IPv4
 * address in IPv6 notation counts as the IPv4 address.
 */
import { isIPv6, SocketAddress } from "node:net";
import { type Network, networksOf } from "../../shared/networks.ts";

/** Some proxies write the client's port into X-Forwarded-For. Each connection would count as another address. */
const WITH_PORT = /^(?:\[([^\]]+)\](?::\d+)?|(\d+\.\d+\.\d+\.\d+):\d+)$/;

/** @param address from the socket or the proxy; text that is not an address counts as itself */
export function addressKey(address: string): string {
  const [, ipv6, ipv4] = WITH_PORT.exec(address) ?? [];
  const [bare] = (ipv6 ?? ipv4 ?? address).split("%") as [string];
  if (!isIPv6(bare)) return bare;
  // Writes IPv4 addresses in IPv6 notation with dots, also those given in hex.
  const normal = new SocketAddress({ address: bare, family: "ipv6" }).address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(normal);
  if (mapped) return mapped[1]!;
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

/** Maximum number of remembered addresses. Beyond it, the addresses that have been quiet longest are forgotten. */
const MOST_ADDRESSES = 10_000;

/**
 * Token buckets by address (or any other key): each holds up to `burst` tokens and regains `perMinute`. The caller
 * passes the time.
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
   * Takes tokens: one attempt, or the given amount. @returns false if too few are left. Call it before the attempt, so
   * that concurrent attempts count, too.
   */
  take(address: string, nowMs: number, amount = 1): boolean {
    const networks = networksOf(address);
    const granted = networks.every((network) => this.#tokens(network, nowMs) >= amount);
    for (const { network, share } of networks) {
      // A refused attempt adds no bucket: otherwise the subnets of one network would push out all other addresses.
      if (granted || this.#left.has(network)) this.#keep({ network, share }, granted ? amount : 0, nowMs);
    }
    return granted;
  }

  /** Returns the token of an attempt that did not fail. */
  giveBack(address: string, nowMs: number): void {
    for (const network of networksOf(address)) if (this.#left.has(network.network)) this.#keep(network, -1, nowMs);
  }

  get size(): number {
    return this.#left.size;
  }

  #tokens({ network, share }: Network, nowMs: number): number {
    const known = this.#left.get(network);
    const most = share * this.#burst;
    return known ? Math.min(most, known.tokens + ((nowMs - known.atMs) * share * this.#perMinute) / 60_000) : most;
  }

  /** Takes the amount from a network's bucket, and marks the bucket as the most recently used one. */
  #keep({ network, share }: Network, amount: number, nowMs: number): void {
    const tokens = Math.min(share * this.#burst, this.#tokens({ network, share }, nowMs) - amount);
    this.#left.delete(network);
    this.#left.set(network, { tokens, atMs: nowMs });
    if (this.#left.size > MOST_ADDRESSES) this.#left.delete(this.#left.keys().next().value!);
  }
}
