/**
 * Passes a socket on to the process that owns its room: the upgrade is asked for there with the client's own headers,
 * and once it is granted bytes go through both ways: the owner's untouched, the client's but for what holds a secret
 * (clientStream.ts). Frames of rooms are not looked into, so they cost two copies and no parsing; back-pressure goes
 * through as it comes (a slow client slows the owner's socket, which skips frames for it as always).
 */
import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import type { Duplex } from "node:stream";
import { ClientStream, type Rewrite } from "./clientStream.ts";
import { type PeerTls, requestPeer } from "./peer.ts";

/** Until the owner answers, ms. */
const ANSWER_MS = 3000;

export interface ProxiedSocket {
  /** The client's request to upgrade. */
  request: IncomingMessage;
  /** What the client sent after it. */
  head: Buffer;
  /** The owner, http://host:port. */
  target: string;
  tls: PeerTls;
  /** Headers to ask with. */
  headers: OutgoingHttpHeaders;
  /** Of the client's messages. */
  rewrite: Rewrite;
}

/**
 * @returns what became of it: `through` once both ends are connected, `refused` when the owner's own refusal was passed
 *   on, `unreachable` when there was no answer,
 *   and then the client's socket is as it was
 */
export function proxySocket({
  request,
  head,
  target,
  tls,
  headers,
  rewrite,
}: ProxiedSocket): Promise<"through" | "refused" | "unreachable"> {
  const client = request.socket;
  return new Promise((resolve) => {
    const url = new URL(`${target}${request.url}`);
    const asked = requestPeer(url, tls, { method: "GET", agent: false, headers, timeout: ANSWER_MS });
    asked.on("timeout", () => asked.destroy(new Error("no answer")));
    asked.on("error", () => resolve("unreachable"));
    asked.on("upgrade", (answer: IncomingMessage, owner: Duplex, ownerHead: Buffer) => {
      asked.setTimeout(0);
      client.write(headOf(answer));
      if (ownerHead.length > 0) client.write(ownerHead);
      join(client, head, owner, rewrite);
      resolve("through");
    });
    asked.on("response", (answer: IncomingMessage) => {
      // A refusal: status and reason as the owner gave them. The connection ends with it, as after any refused upgrade.
      answer.headers.connection = "close";
      client.write(headOf(answer));
      answer.pipe(client);
      resolve("refused");
    });
    asked.end();
  });
}

function headOf(answer: IncomingMessage): string {
  const hopByHop = answer.statusCode === 101 ? [] : ["connection", "keep-alive", "transfer-encoding"];
  const lines = Object.entries(answer.headers)
    .filter(([name]) => !hopByHop.includes(name))
    .flatMap(([name, value]) => (Array.isArray(value) ? value : [value]).map((one) => `${name}: ${one}`));
  if (answer.statusCode !== 101) lines.push("connection: close");
  return [`HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}`, ...lines, "", ""].join("\r\n");
}

type Line = Duplex & { setNoDelay?: (on: boolean) => void };

/** Two streams become one line: what ends or breaks one ends the other. @param head what the client sent already */
function join(client: Line, head: Buffer, owner: Line, rewrite: Rewrite): void {
  const stream = new ClientStream(rewrite);
  if (head.length > 0) stream.write(head);
  for (const [from, to] of [
    [client, owner],
    [owner, client],
  ] as const) {
    from.setNoDelay?.(true); // A frame a tick must not wait for the next one.
    from.on("error", () => to.destroy());
    from.on("close", () => to.destroy());
  }
  stream.on("error", () => owner.destroy());
  client.pipe(stream).pipe(owner);
  owner.pipe(client);
}
