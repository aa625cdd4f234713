/**
 * Asks the other processes of the cluster the same question in the name of the client, about facts that only the owner
 * of a room knows.
 */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { json } from "node:stream/consumers";
import type { Holder, Listing } from "../store/store.ts";
import { type PeerTls, requestPeer } from "./peer.ts";
import { TICKET_HEADER, type Tickets } from "./ticket.ts";

/** Time limit of an answer, ms: a process that does not answer must not hold back the other answers. */
const PATIENCE_MS = 2000;

export interface PeerQuery {
  /** Path including the query. */
  path: string;
  /** Address of the client. */
  address: string;
  /** Statement about the client's identity. */
  said: unknown;
}

/**
 * @param peers each process once
 * @returns each process's answer with status 200, as JSON; null for no answer or another status
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

/** Returns the owners of these rooms, except this process. */
export function ownersOf(listings: readonly Listing[], own: string): Holder[] {
  const owners = new Map<string, Holder>();
  for (const { owner } of listings) if (owner && owner.process !== own) owners.set(owner.process, owner);
  return [...owners.values()];
}
