/**
 * Whom to believe about where a request comes from and where it was meant to go: proxies that stand in front
 * (`PLIANT_TRUST_PROXY`), and names of this server (`PLIANT_HOSTS`).
 */
import { hostname } from "node:os";
import { BlockList, isIP, isIPv6 } from "node:net";

/** false: nobody. A number: so many proxies stand in front. A list: proxies have these addresses (CIDR). */
export type TrustProxy = false | number | string[];

/** More proxies than anybody has in a row. */
const MOST_PROXIES = 16;

/** @returns what the text says, or null where it says nothing of that kind */
export function parseTrustProxy(text: string): TrustProxy | null {
  if (text === "false") return false;
  if (/^\d+$/.test(text)) return Number(text) >= 1 && Number(text) <= MOST_PROXIES ? Number(text) : null;
  const addresses = text.split(",").map((address) => address.trim());
  return addresses.every(isSubnet) ? addresses : null;
}

function isSubnet(text: string): boolean {
  const [address, bits, ...rest] = text.split("/") as [string, string | undefined, ...string[]];
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 6 ? 128 : 32));
}

/** @returns as Fastify takes it: a test of an address and of how many stand between it and here */
export function trustFor(trust: TrustProxy): false | string[] | ((address: string, hop: number) => boolean) {
  return typeof trust === "number" ? (_address, hop) => hop < trust : trust;
}

/** @returns is the address that a connection comes from a proxy's, which brings many visitors? */
export function proxyCheck(trust: TrustProxy): (address: string) => boolean {
  if (trust === false) return () => false;
  if (typeof trust === "number") return () => true;
  const list = new BlockList();
  for (const subnet of trust) {
    const [address, bits] = subnet.split("/") as [string, string | undefined];
    const family = isIPv6(address) ? "ipv6" : "ipv4";
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (address) => isIP(address) !== 0 && list.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}

/**
 * Domains that nobody can register, so that no page of a stranger comes from one (RFC 6761, RFC 6762, RFC 8375, ICANN's
 * .internal).
 */
const LOCAL_DOMAIN = /\.(localhost|local|internal|home\.arpa)$/;

export interface HostOptions {
  /** `auto`, `*`, or names. */
  hosts: readonly string[];
  /** Of `PLIANT_ORIGINS`: their hosts are ours. */
  origins: readonly string[];
  /** Of `PLIANT_ADVERTISE_URL`; empty: none. */
  advertiseUrl: string;
  /** Of `PLIANT_PUBLIC_URL`. */
  publicUrls: readonly string[];
  trustProxy: TrustProxy;
}

/**
 * A stranger's page can have its own name lead to this server's address (DNS rebinding), and is then of the same origin
 * to a browser: all that gives it away is the name.
 * `auto` takes addresses, names of one word, local domains, this machine's name and what the configuration names;
 * behind a proxy that is trusted every name, for the proxy decides.
 * @returns may a request with this Host header be answered?
 */
export function hostCheck({
  hosts,
  origins,
  advertiseUrl,
  publicUrls,
  trustProxy,
}: HostOptions): (host: string) => boolean {
  const auto = hosts.includes("auto");
  if (hosts.includes("*") || (auto && trustProxy !== false)) return () => true;
  const named = new Set(hosts.map((host) => host.toLowerCase()));
  for (const url of [...origins, advertiseUrl, ...publicUrls.slice(0, 1)])
    if (URL.canParse(url)) named.add(new URL(url).hostname);
  if (auto) named.add(hostname().toLowerCase());
  return (host) => {
    if (!URL.canParse(`http://${host}`)) return false;
    const name = new URL(`http://${host}`).hostname.replace(/\.$/, "");
    if (named.has(name)) return true;
    return auto && (isIP(name.replace(/^\[|\]$/g, "")) !== 0 || !name.includes(".") || LOCAL_DOMAIN.test(name));
  };
}
