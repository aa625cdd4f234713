/** Decides which proxies (`PLIANT_TRUST_PROXY`) and which Host headers (`PLIANT_HOSTS`) the server trusts. */
import { hostname } from "node:os";
import { BlockList, isIP, isIPv6 } from "node:net";

/** false: no proxy. A number: this many proxies are in front. A list: addresses of proxies (CIDR). */
export type TrustProxy = false | number | string[];

/** Upper limit of the number of proxies in a row. */
const MOST_PROXIES = 16;

/** @returns the parsed value, or null if the text is invalid */
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

/** @returns the value in Fastify's form: for a number, a test of an address and its distance in hops */
export function trustFor(trust: TrustProxy): false | string[] | ((address: string, hop: number) => boolean) {
  return typeof trust === "number" ? (_address, hop) => hop < trust : trust;
}

/** @returns a test whether a connection's address is a proxy's, so that it can carry many visitors */
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
 * Domains that cannot be registered, so that no stranger's page is served from one (RFC 6761, RFC 6762, RFC 8375,
 * ICANN's .internal).
 */
const LOCAL_DOMAIN = /\.(localhost|local|internal|home\.arpa)$/;

export interface HostOptions {
  /** `auto`, `*`, or names. */
  hosts: readonly string[];
  /** From `PLIANT_ORIGINS`: their hosts are accepted too. */
  origins: readonly string[];
  /** From `PLIANT_ADVERTISE_URL`; empty: none. */
  advertiseUrl: string;
  /** From `PLIANT_PUBLIC_URL`. */
  publicUrls: readonly string[];
  trustProxy: TrustProxy;
}

/**
 * Checks the Host header against DNS rebinding: a stranger can point its own name at this server's address. A browser
 * then treats the stranger's page as same-origin, and only the Host header reveals it.
 * `auto` accepts IP addresses, one-word names, local domains, this machine's name and the names in the configuration.
 * Behind a trusted proxy it accepts every name, because the proxy decides.
 * @returns a test whether a request with this Host header may be answered
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
    // A path or a user in it would be read as another name.
    if (/[/\\?#@]/.test(host) || !URL.canParse(`http://${host}`)) return false;
    const name = new URL(`http://${host}`).hostname.replace(/\.$/, "");
    if (named.has(name)) return true;
    return auto && (isIP(name.replace(/^\[|\]$/g, "")) !== 0 || !name.includes(".") || LOCAL_DOMAIN.test(name));
  };
}
