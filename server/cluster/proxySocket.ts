/**
 * Forwards a socket to the process that owns its room. The upgrade is requested there with the client's own headers.
 * Once it is accepted, bytes pass in both directions: the owner's unchanged, the client's except messages with a secret
 * (clientStream.ts). Frames of rooms are not parsed, so they cost only two copies. Back-pressure passes, too: a slow
 * client slows the owner's socket, and the owner skips frames for it as usual.
 */
import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import type { Duplex } from "node:stream";
import { ClientStream, type Rewrite } from "./clientStream.ts";
import { type PeerTls, requestPeer } from "./peer.ts";

/** Time limit of the owner's answer, ms. */
const ANSWER_MS = 3000;
/** After one end has closed its side, the other may send for this long, ms. */
const CLOSE_GRACE_MS = 2000;

export interface ProxiedSocket {
  /** The client's request to upgrade. */
  request: IncomingMessage;
  /** Bytes that the client sent after the request. */
  head: Buffer;
  /** The owner, http://host:port. */
  target: string;
  /** Path and query of the forwarded request. */
  path: string;
  tls: PeerTls;
  /** Headers of the forwarded request. */
  headers: OutgoingHttpHeaders;
  /** Replaces messages of the client. */
  rewrite: Rewrite;
}

/**
 * @returns `through`: both ends are connected. `refused`: the owner's refusal was passed on. `unreachable`: no
 *   answer came, and the client's socket is unchanged
 */
export function proxySocket({
  request,
  head,
  target,
  path,
  tls,
  headers,
  rewrite,
}: ProxiedSocket): Promise<"through" | "refused" | "unreachable"> {
  const client = request.socket;
  return new Promise((resolve) => {
    const asked = requestPeer(new URL(target), tls, { method: "GET", path, agent: false, headers, timeout: ANSWER_MS });
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
      // Pass the owner's status and reason on, and close the connection, as after any refused upgrade.
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

/** Connects two streams: if one ends or fails, the other ends, too. @param head bytes that the client has sent */
function join(client: Line, head: Buffer, owner: Line, rewrite: Rewrite): void {
  const stream = new ClientStream(rewrite);
  if (head.length > 0) stream.write(head);
  for (const [from, to] of [
    [client, owner],
    [owner, client],
  ] as const) {
    from.setNoDelay?.(true); // A tick's frame must not wait for the next one.
    from.on("error", () => to.destroy());
    from.on("close", () => to.destroy());
    // A process that never closes its side would keep both connections.
    from.once("end", () => setTimeout(() => from.destroy(), CLOSE_GRACE_MS).unref());
  }
  stream.on("error", () => owner.destroy());
  client.pipe(stream).pipe(owner);
  owner.pipe(client);
}
