/** Reads a room's replay stream over HTTP, message by message as it arrives (PROTOCOL.md, section 11). */
import { decode } from "@msgpack/msgpack";
import type { ReplayHead } from "../../shared/protocol/protocol.ts";
import { PliantError } from "../sdk/errors.ts";
import { authorized, requestOwner } from "./api.ts";
import { parseServerMessage, type ServerEvent } from "../../shared/protocol/fromServer.ts";

export interface ReplayListener {
  /** The server is busy with another replay; the request is repeated automatically. */
  onBusy: () => void;
  onHead: (head: ReplayHead) => void;
  onEvent: (event: ServerEvent) => void;
}

/** Wait between two tries while the server is busy, ms. */
const RETRY_MS = 1500;
const LENGTH_BYTES = 4;

/**
 * Resolves when the replay is complete.
 * @throws PliantError if the server refuses it; Error if the stream ends early
 */
export async function fetchReplay(
  room: string,
  seconds: number,
  { onBusy, onHead, onEvent }: ReplayListener,
  signal: AbortSignal,
): Promise<void> {
  let response: Response | undefined;
  while (!response) {
    try {
      response = await requestOwner(room, `/replay?seconds=${seconds}`, { headers: authorized(room), signal });
    } catch (error) {
      if (!(error instanceof PliantError && error.status === 429) || signal.aborted) throw error;
      onBusy();
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
  let headed = false;
  await eachMessage(response, (message) => {
    if (!headed) {
      headed = true;
      return onHead(decode(message) as ReplayHead);
    }
    const event = parseServerMessage(message.buffer);
    if (event) onEvent(event);
  });
}

/** Splits the body into messages by their length prefixes; each message gets its own buffer. */
async function eachMessage(response: Response, use: (message: Uint8Array<ArrayBuffer>) => void): Promise<void> {
  const reader = response.body!.getReader();
  let kept = new Uint8Array(0);
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const bytes = new Uint8Array(kept.byteLength + value.byteLength);
    bytes.set(kept);
    bytes.set(value, kept.byteLength);
    const view = new DataView(bytes.buffer);
    let at = 0;
    while (at + LENGTH_BYTES <= bytes.byteLength) {
      const end = at + LENGTH_BYTES + view.getUint32(at);
      if (end > bytes.byteLength) break;
      use(bytes.slice(at + LENGTH_BYTES, end));
      at = end;
    }
    kept = bytes.subarray(at);
  }
  if (kept.byteLength > 0)
    throw new Error(`the replay stream ended inside a message, after ${kept.byteLength} of its bytes`);
}
