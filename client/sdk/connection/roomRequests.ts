/** HTTP requests about a room. Every failure is a PliantError whose message may be shown to users. */
import { decode } from "@msgpack/msgpack";
import type { Topology } from "../../../shared/topology.ts";
import { PliantError } from "../errors.ts";

/** @throws PliantError UNREACHABLE, or the server's own code with the HTTP status */
export async function request(address: string, init?: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(address, init);
  } catch (cause) {
    throw new PliantError("UNREACHABLE", { status: 0, cause });
  }
  if (response.ok) return response;
  throw answerError(response.status, await response.json().catch(() => undefined));
}

/**
 * Browsers do not tell pages why a request to another origin failed. A server that can be reached has refused the
 * page's origin.
 * @param base of the server's routes
 */
export async function refusedOrigin(base: string): Promise<PliantError | undefined> {
  const page = globalThis.location?.origin;
  if (page === undefined || page === new URL(base).origin) return undefined;
  try {
    await fetch(`${base}/healthz`, { mode: "no-cors" });
  } catch {
    return undefined;
  }
  return new PliantError(
    "ORIGIN_REFUSED",
    { field: "origin", value: page, limit: "PLIANT_EMBED_ORIGINS", status: 0 },
    `The server does not let pages of ${page} use it: its PLIANT_EMBED_ORIGINS does not list them.`,
  );
}

/** Header that authorizes a request. @param token undefined: none */
export function bearer(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

/** Posts a JSON body. @throws PliantError as `request` */
export function post(address: string, body: object, token: string | undefined, init?: RequestInit): Promise<Response> {
  const headers = { "content-type": "application/json", ...bearer(token) };
  return request(address, { ...init, method: "POST", headers, body: JSON.stringify(body) });
}

export const isMissing = (error: unknown): boolean => error instanceof PliantError && error.status === 404;

/** Converts an answer that is not 2xx into an error. */
export function answerError(status: number, answer: unknown): PliantError {
  const { code, message, field, value, limit, reason } = (answer ?? {}) as Record<string, unknown>;
  return new PliantError(
    typeof code === "string" ? code : "BAD_ANSWER",
    {
      status,
      value,
      limit,
      ...(typeof field === "string" && { field }),
      ...(typeof reason === "string" && { reason }),
    },
    typeof message === "string" ? message : `The server answered ${status}.`,
  );
}

/**
 * Fetches a topology. Runtimes with an HTTP cache keep it permanently.
 * @param base scheme and host of the server; empty: the page's own
 * @throws PliantError as `request`; BAD_ANSWER for a topology version that this client does not know
 */
export async function fetchTopology(base: string, hash: string, init?: RequestInit): Promise<Topology> {
  const response = await request(`${base}/api/topologies/${encodeURIComponent(hash)}`, init);
  const topology = decode(new Uint8Array(await response.arrayBuffer())) as Topology;
  if (topology.version !== 1)
    throw new PliantError("BAD_ANSWER", { field: "topology.version", value: topology.version, limit: 1 });
  return topology;
}
