/**
 * Asks the other processes of the cluster the same question in the name of who asked this one: what only the owner of a
 * room knows of it.
 */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { json } from "node:stream/consumers";
import type { Holder, Listing } from "../store/store.ts";
import { type PeerTls, requestPeer } from "./peer.ts";
import { TICKET_HEADER, type Tickets } from "./ticket.ts";

/** A process that does not answer within this must not keep the others' answers back, ms. */
const PATIENCE_MS = 2000;

export interface PeerQuery {
  /** Path with its query. */
  path: string;
  /** Of the client. */
  address: string;
  /** What this process knows of who asks. */
  said: unknown;
}

/**
 * @param peers processes, once each
 * @returns what each of them answered with 200, as JSON; null for those that did not answer, or not with 200
 */
export async function queryPeers(
  peers: readonly Holder[],
  tickets: Tickets,
  tls: PeerTls,
  { path, address, said }: PeerQuery,
): Promise<Map<string, unknown>> {
  const ask = async ({ url, process: audience }: Holder): Promise<unknown> => {
    try {
      const asked = requestPeer(new URL(`${url}${path}`), tls, {
        headers: { [TICKET_HEADER]: tickets.seal({ audience, method: "GET", url: path, address, said }) },
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      asked.end();
      const [answer] = (await once(asked, "response")) as [IncomingMessage];
      const body: unknown = await json(answer);
      return answer.statusCode === 200 ? body : null;
    } catch {
      return null;
    }
  };
  return new Map(await Promise.all(peers.map(async (peer): Promise<[string, unknown]> => [peer.url, await ask(peer)])));
}

/** The processes that own these rooms, but for oneself. */
export function ownersOf(listings: readonly Listing[], own: string): Holder[] {
  const owners = new Map<string, Holder>();
  for (const { owner } of listings) if (owner && owner.process !== own) owners.set(owner.process, owner);
  return [...owners.values()];
}
