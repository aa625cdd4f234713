/**
 * Requests and sockets for rooms of other processes go to the owner, so that any process takes any connection. It runs
 * before the routes: they only ever see rooms that are here, or nowhere. What the owner answers is answered; who may do
 * what, the owner decides.
 */
import replyFrom from "@fastify/reply-from";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { CodedError } from "../../shared/errors.ts";
import type { ClusterMetrics } from "../metrics/cluster.ts";
import type { Cluster } from "./cluster.ts";
import { FORWARDED_HEADER, readForwarded, signForwarded } from "./forwardedIdentity.ts";
import { proxySocket } from "./proxySocket.ts";

/** As `ROOM_NAME` of rooms/registry.ts. */
const NAME = /^[a-z0-9][a-z0-9-]{0,39}$/;
/** Routes about one room. */
const OF_A_ROOM = /^\/api\/(admin\/)?rooms\/:room(\/|$)/;
/** Until an owner has accepted the connection, and until it has answered, ms. A request may build a scene. */
const CONNECT_MS = 2000;
const ANSWER_MS = 120_000;

export interface ForwardOptions {
  cluster: Cluster;
  /** The first signs, all verify. */
  secrets: readonly string[];
  metrics: ClusterMetrics;
  /** The connection is another process's. */
  onForwarded: (connection: Socket) => void;
  /** The store was asked for a room that is nowhere, by who does not open it. */
  onMissing: (request: FastifyRequest) => void;
}

/** Register before the routes, and after nothing that asks for `request.ip`. */
export async function forwardToOwners(
  app: FastifyInstance,
  { cluster, secrets, metrics, onForwarded, onMissing }: ForwardOptions,
): Promise<void> {
  /** What clients sent right behind their request to upgrade; Node hands it out with the event and never again. */
  const heads = new WeakMap<IncomingMessage, Buffer>();
  app.server.prependListener("upgrade", (request: IncomingMessage, _socket: unknown, head: Buffer) =>
    heads.set(request, head),
  );
  await app.register(replyFrom, {
    disableRequestLogging: true,
    undici: { connect: { timeout: CONNECT_MS }, headersTimeout: ANSWER_MS, bodyTimeout: ANSWER_MS },
  });

  // Node counts a socket that was passed on as a connection of the server and would wait for its end.
  const through = new Set<Duplex>();
  app.addHook("preClose", async () => {
    for (const socket of through) socket.destroy();
  });

  app.addHook("onRequest", async (request) => {
    const header = request.headers[FORWARDED_HEADER];
    if (header === undefined) return;
    const address =
      typeof header === "string"
        ? readForwarded(secrets, header, { method: request.method, url: request.raw.url ?? "" })
        : null;
    if (address === null) return;
    onForwarded(request.raw.socket);
    Object.defineProperty(request, "ip", { value: address });
  });

  app.addHook("preValidation", async (request, reply) => {
    const room = roomOf(request);
    if (room === undefined) return;
    const place = await cluster.locate(room);
    if (place.kind === "nowhere" && request.method !== "POST") onMissing(request);
    if (place.kind === "here" || place.kind === "nowhere" || (place.kind === "moving" && mayEnd(request))) return;
    if (place.kind === "moving" || request.headers[FORWARDED_HEADER] !== undefined) throw moving(room);
    const forwarded = signForwarded(secrets[0], {
      method: request.method,
      url: request.raw.url ?? "",
      address: request.ip,
    });
    if (request.ws) await forwardSocket(request, reply, room, place.url, forwarded);
    else await forwardRequest(request, reply, room, place.url, forwarded);
  });

  async function forwardRequest(
    request: FastifyRequest,
    reply: FastifyReply,
    room: string,
    url: string,
    forwarded: string,
  ): Promise<void> {
    const target = `${url}${request.raw.url}`;
    await new Promise<void>((resolve, reject) => {
      reply.raw.once("close", resolve);
      reply.from(target, {
        // The owner compares a page's origin with the host that it asked for.
        rewriteRequestHeaders: (_request, headers) => ({
          ...headers,
          host: request.headers.host ?? "",
          [FORWARDED_HEADER]: forwarded,
        }),
        retryDelay: () => null,
        onResponse: (_request, answered, response) => {
          metrics.forwarded("proxy");
          answered.send((response as unknown as { stream: NodeJS.ReadableStream }).stream);
        },
        onError: () => {
          metrics.forwarded("unreachable");
          cluster.doubt(room);
          reject(moving(room));
        },
      });
    });
  }

  async function forwardSocket(
    request: FastifyRequest,
    reply: FastifyReply,
    room: string,
    url: string,
    forwarded: string,
  ): Promise<void> {
    const outcome = await proxySocket({
      request: request.raw,
      head: heads.get(request.raw) ?? Buffer.alloc(0),
      target: url,
      headers: { [FORWARDED_HEADER]: forwarded },
    });
    if (outcome === "unreachable") {
      metrics.forwarded("unreachable");
      cluster.doubt(room);
      throw moving(room);
    }
    metrics.forwarded("proxy");
    const { socket } = request.raw;
    through.add(socket);
    socket.once("close", () => through.delete(socket));
    // From here on the socket is the owner's: nothing of Fastify may write to it.
    reply.hijack();
    reply.raw.detachSocket(socket);
  }
}

function roomOf(request: FastifyRequest): string | undefined {
  const { room } = (request.params ?? {}) as { room?: string };
  // What cannot be a name is nobody's room: the store is not asked for it.
  if (room !== undefined && OF_A_ROOM.test(request.routeOptions.url ?? "")) return NAME.test(room) ? room : undefined;
  // Opening a room by a name that another process has finds it there.
  const wanted =
    request.method === "POST" && request.routeOptions.url === "/api/rooms"
      ? (request.body as { room?: unknown } | null)?.room
      : undefined;
  return typeof wanted === "string" && NAME.test(wanted) ? wanted : undefined;
}

/** What nobody can restore stays on the move for ever: operators may end it wherever they ask. */
const mayEnd = ({ method, routeOptions }: FastifyRequest): boolean =>
  method === "DELETE" && routeOptions.url === "/api/admin/rooms/:room";

const moving = (room: string): CodedError => new CodedError("ROOM_MOVING", { field: "room", value: room });
