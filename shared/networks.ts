/** Networks that an address lies in, as limits count them. */

/** Longer IPv6 prefixes are handed to one customer; of shorter ones, so many /64 together count as one address. */
const SHARES_OF_56 = 4;
const SHARES_OF_48 = 16;

/** A network that an address lies in, and how many addresses' share all of it has together. */
export interface Network {
  network: string;
  share: number;
}

/**
 * Networks by which an address is counted: itself and, in IPv6, its /56 and /48, with shares that grow more slowly than
 * their sizes. A customer with 65,536 /64 has the share of SHARES_OF_48 addresses.
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
  ];
}
