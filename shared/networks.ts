/** Networks that contain an address, for limits. */

/** Providers assign prefixes shorter than /64 to one customer. Such a network counts as this many addresses. */
const SHARES_OF_56 = 4;
const SHARES_OF_48 = 16;
/** A registry assigns a /32 to a provider, and some clouds assign many /48 of one /32 to one tenant. */
const SHARES_OF_32 = 64;

/** A network that contains an address, and its share: the number of addresses that it counts as. */
export interface Network {
  network: string;
  share: number;
}

/**
 * Networks by which an address is counted: itself and, in IPv6, its /56, /48 and /32, whose shares grow more slowly
 * than their sizes. A customer with 65,536 /64 networks has the share of SHARES_OF_48 addresses, and one with 65,536
 * /48 networks that of SHARES_OF_32.
 * @param address as `addressKey` gives it (server/auth/addresses.ts)
 */
export function networksOf(address: string): Network[] {
  const own = { network: address, share: 1 };
  const groups = /^([0-9a-f]+):([0-9a-f]+):([0-9a-f]+):([0-9a-f]+)::\/64$/.exec(address)?.slice(1);
  if (!groups) return [own];
  const site = groups.slice(0, 3).join(":");
  const half = (Number.parseInt(groups[3]!, 16) & 0xff00).toString(16);
  return [
    own,
    { network: `${site}:${half}::/56`, share: SHARES_OF_56 },
    { network: `${site}::/48`, share: SHARES_OF_48 },
    { network: `${groups[0]}:${groups[1]}::/32`, share: SHARES_OF_32 },
  ];
}
