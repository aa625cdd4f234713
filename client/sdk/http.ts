/** HTTP requests about a room. Every failure is a PliantError whose message may be shown to users. */
import { decode } from "@msgpack/msgpack";
import type { Topology } from "../../shared/topology.ts";
import { PliantError } from "./errors.ts";

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
