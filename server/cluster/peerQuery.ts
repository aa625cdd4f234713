/**
 * Asks the other processes of the cluster the same question in the name of who asked this one: what only the owner of a
 * room knows of it.
 */
import type { Listing } from "../store/store.ts";
import { FORWARDED_HEADER, signForwarded } from "./forwardedIdentity.ts";

/** A process that does not answer within this must not keep the others' answers back, ms. */
const PATIENCE_MS = 2000;

export interface PeerQuery {
  /** Path with its query. */
  path: string;
  authorization: string;
  /** Of the client. */
  address: string;
}

/**
 * @param urls of processes, once each
 * @param secret that signs who asked
 * @returns what each of them answered with 200, as JSON; null for those that did not answer, or not with 200
 */
export async function queryPeers(
  urls: readonly string[],
  secret: string,
  { path, authorization, address }: PeerQuery,
): Promise<Map<string, unknown>> {
  const ask = async (url: string): Promise<unknown> => {
    try {
      const headers = {
        authorization,
        [FORWARDED_HEADER]: signForwarded(secret, { method: "GET", url: path, address }),
      };
      const answer = await fetch(`${url}${path}`, {
        headers,
        signal: AbortSignal.timeout(PATIENCE_MS),
        redirect: "error",
      });
      return answer.ok ? await answer.json() : null;
    } catch {
      return null;
    }
  };
  return new Map(await Promise.all(urls.map(async (url): Promise<[string, unknown]> => [url, await ask(url)])));
}

/** Addresses of the processes that own these rooms, but for one's own. */
export function ownersOf(listings: readonly Listing[], own: string): string[] {
  return [...new Set(listings.flatMap(({ owner }) => (owner && owner.url !== own ? [owner.url] : [])))];
}
