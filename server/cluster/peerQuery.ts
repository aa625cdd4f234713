/**
 * Asks the other processes of the cluster the same question in the name of the client, about facts that only the owner
 * of a room knows.
 */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import type { Holder, Listing } from "../store/store.ts";
import { type PeerTls, requestPeer } from "./peer.ts";
import { TICKET_HEADER, type Tickets } from "./ticket.ts";

/** Time limit of an answer, ms: a process that does not answer must not hold back the other answers. */
const PATIENCE_MS = 2000;
/** Limit of an answer, bytes: about 5,000 rooms with ten members each. A longer answer counts as none. */
const MOST_BYTES = 8 * 2 ** 20;

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
 * @returns by process: its answer with status 200, as JSON; null for no answer, another status, or a longer answer
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
      if (answer.statusCode === 200) return await readJson(answer);
      answer.destroy();
    } catch {
      // No answer in time, or none that can be read.
    }
    return null;
  };
  return new Map(
    await Promise.all(peers.map(async (peer): Promise<[string, unknown]> => [peer.process, await ask(peer)])),
  );
}

/** @throws if it is longer than MOST_BYTES, or not JSON */
async function readJson(answer: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  let bytes = 0;
  // Leaving the loop ends the connection.
  for await (const part of answer as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > MOST_BYTES) throw new Error(`the answer has more than ${MOST_BYTES} bytes`);
    parts.push(part);
  }
  return JSON.parse(Buffer.concat(parts).toString()) as unknown;
}

/** Returns the owners of these rooms, except this process. */
export function ownersOf(listings: readonly Listing[], own: string): Holder[] {
  const owners = new Map<string, Holder>();
  for (const { owner } of listings) if (owner && owner.process !== own) owners.set(owner.process, owner);
  return [...owners.values()];
}
