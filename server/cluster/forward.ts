/**
 * Requests and sockets for rooms of other processes go to the owner, so that any process takes any connection. It runs
 * before the routes: they only ever see rooms that are here, or nowhere. What the owner answers is answered; who may do
 * what, the owner decides, by the ticket that goes along (ticket.ts) instead of the client's own credentials.
 */
import replyFrom from "@fastify/reply-from";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { CodedError } from "../../shared/errors.ts";
import type { ClusterMetrics } from "../metrics/cluster.ts";
import type { Parked } from "../store/store.ts";
import type { Cluster, Place } from "./cluster.ts";
import type { PeerTls } from "./peer.ts";
import { proxySocket } from "./proxySocket.ts";
import { TICKET_HEADER, type Ticket, type Tickets } from "./ticket.ts";

/** As `ROOM_NAME` of rooms/registry.ts. */
const NAME = /^[a-z0-9][a-z0-9-]{0,39}$/;
/** Routes about one room. */
const OF_A_ROOM = /^\/api\/(admin\/)?rooms\/:room(\/|$)/;
/** Until an owner has accepted the connection, and until it has answered, ms. A request may build a scene. */
const CONNECT_MS = 2000;
const ANSWER_MS = 120_000;

declare module "fastify" {
  interface FastifyRequest {
    /** The room that the address names is parked: the socket's route says so. */
    parked: Parked | null;
    /** Another process has passed it on: its ticket. */
    ticket?: Ticket;
  }
}

/** What the others are told of who asks, instead of the client's own credentials. */
interface Vouching {
  /** Of a request whose credentials are judged already. JSON. */
  ofRequest(request: FastifyRequest): unknown;
  /**
   * Of a message of a socket.
   * @param first is it the socket's first one?
   * @param seal makes a ticket of what is said, for the same process
   * @returns the message to send instead; null: it stays as it is
   */
  ofMessage(
    request: FastifyRequest,
    message: Buffer,
    first: boolean,
    seal: (said: unknown) => string,
  ): Promise<Uint8Array> | null;
}

/** `method` of a ticket in a socket's message; its `url` is the upgrade's own ticket. */
export const MESSAGE = "MESSAGE";

export interface ForwardOptions {
  cluster: Cluster;
  tickets: Tickets;
  tls: PeerTls;
  vouching: Vouching;
  metrics: ClusterMetrics;
  /** The connection is another process's. */
  onForwarded: (connection: Socket) => void;
  /** The store was asked for a room that is nowhere, by who does not open it. */
  onMissing: (request: FastifyRequest) => void;
}

/** Register before the routes, and after nothing that asks for `request.ip`. */
export async function forwardToOwners(app: FastifyInstance, options: ForwardOptions): Promise<void> {
  const { tickets, tls, onForwarded } = options;
  const forwarder = new Forwarder(options);
  app.server.prependListener("upgrade", (request: IncomingMessage, _socket: unknown, head: Buffer) =>
    forwarder.heads.set(request, head),
  );
  await app.register(replyFrom, {
    disableRequestLogging: true,
    undici: {
      connect: { timeout: CONNECT_MS, ...(tls.ca !== undefined && { ca: tls.ca }) },
      headersTimeout: ANSWER_MS,
      bodyTimeout: ANSWER_MS,
    },
  });
  app.decorateRequest("parked", null);
  app.addHook("preClose", async () => forwarder.close());
  app.addHook("onRequest", async (request) => {
    const header = request.headers[TICKET_HEADER];
    if (typeof header !== "string") return;
    const ticket = tickets.take(header, { method: request.method, url: request.raw.url ?? "" });
    if (ticket === null) return;
    onForwarded(request.raw.socket);
    request.ticket = ticket;
    Object.defineProperty(request, "ip", { value: ticket.address });
  });
  app.addHook("preValidation", (request, reply) => forwarder.toOwner(request, reply));
}

class Forwarder {
  /** What clients sent right behind their request to upgrade; Node hands it out with the event and never again. */
  readonly heads = new WeakMap<IncomingMessage, Buffer>();
  readonly #options: ForwardOptions;
  /** Node counts a socket that was passed on as a connection of the server and would wait for its end. */
  readonly #through = new Set<Duplex>();

  constructor(options: ForwardOptions) {
    this.#options = options;
  }

  close(): void {
    for (const socket of this.#through) socket.destroy();
  }

  /** What is for a room of another process goes there; of the rest, nothing happens. */
  async toOwner(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { cluster, onMissing } = this.#options;
    const room = roomOf(request);
    if (room === undefined) return void (await this.#placeRoom(request, reply));
    const place = await cluster.locate(room);
    if (place.kind === "parked") return refuseParked(request, room, place.parked);
    if (place.kind === "nowhere" && request.method !== "POST") onMissing(request);
    if (place.kind === "nowhere" && (await this.#placeRoom(request, reply))) return cluster.doubt(room);
    if (place.kind === "here" || place.kind === "nowhere" || (place.kind === "moving" && mayEnd(request))) return;
    if (place.kind === "moving" || request.headers[TICKET_HEADER] !== undefined) throw moving(room);
    if (request.ws) await this.#socket(request, reply, room, place);
    else await this.#request(request, reply, room, place);
  }

  /**
   * A new room is made where there is most room for it. A thread of its own is this process's to give.
   * @returns was it made elsewhere? Where that cannot be reached, it is made here
   */
  async #placeRoom(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    const { cluster, metrics } = this.#options;
    const { scene, pool } = (request.body ?? {}) as { scene?: unknown; pool?: unknown };
    if (request.method !== "POST" || request.routeOptions.url !== "/api/rooms") return false;
    if (typeof scene !== "string" || pool === "dedicated" || request.headers[TICKET_HEADER] !== undefined) return false;
    const place = cluster.place();
    if (place === null) return false;
    try {
      await this.#request(request, reply, "", { kind: "there", ...place });
      if (reply.statusCode === 201) metrics.balanced("placed");
      return true;
    } catch {
      return false;
    }
  }

  #ticketFor(request: FastifyRequest, audience: string, said: unknown): string {
    const { method, ip: address } = request;
    return this.#options.tickets.seal({ audience, method, url: request.raw.url ?? "", address, said });
  }

  async #request(request: FastifyRequest, reply: FastifyReply, room: string, { url, process }: Owner): Promise<void> {
    const { cluster, metrics, vouching } = this.#options;
    const target = `${url}${request.raw.url}`;
    const ticket = this.#ticketFor(request, process, vouching.ofRequest(request));
    await new Promise<void>((resolve, reject) => {
      reply.raw.once("close", resolve);
      reply.from(target, {
        // The owner compares a page's origin with the host that it asked for.
        rewriteRequestHeaders: (_request, headers) => ({
          ...withoutCredentials(headers),
          host: request.headers.host ?? "",
          [TICKET_HEADER]: ticket,
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

  async #socket(request: FastifyRequest, reply: FastifyReply, room: string, owner: Owner): Promise<void> {
    const { cluster, tickets, tls, metrics, vouching } = this.#options;
    const { url, process: audience } = owner;
    const ticket = this.#ticketFor(request, audience, null);
    const { ip: address } = request;
    const seal = (said: unknown): string => tickets.seal({ audience, method: MESSAGE, url: ticket, address, said });
    const outcome = await proxySocket({
      request: request.raw,
      head: this.heads.get(request.raw) ?? Buffer.alloc(0),
      target: url,
      tls,
      headers: { ...withoutCredentials(request.raw.headers), [TICKET_HEADER]: ticket },
      rewrite: (message, first) => vouching.ofMessage(request, message, first, seal),
    });
    if (outcome === "unreachable") {
      metrics.forwarded("unreachable");
      cluster.doubt(room);
      throw moving(room);
    }
    metrics.forwarded("proxy");
    const { socket } = request.raw;
    this.#through.add(socket);
    socket.once("close", () => this.#through.delete(socket));
    // From here on the socket is the owner's: nothing of Fastify may write to it.
    reply.hijack();
    reply.raw.detachSocket(socket);
  }
}

/** Operators' routes and invitations do not need the room to be open; sockets are told by their own route. */
function refuseParked(request: FastifyRequest, room: string, parked: Parked): void {
  const { url = "" } = request.routeOptions;
  if (request.ws) request.parked = parked;
  else if (!url.startsWith("/api/admin/") && url !== "/api/tokens")
    throw new CodedError("ROOM_PARKED", { field: "room", value: room, limit: parked.reason });
}

type Owner = Extract<Place, { kind: "there" }>;

/** What only the process that is asked needs to see. */
function withoutCredentials<T>(headers: Record<string, T>): Record<string, T> {
  const { authorization: _token, cookie: _cookie, ...others } = headers;
  return others;
}

function roomOf(request: FastifyRequest): string | undefined {
  // Whether a page may ask is about the page, not about the room.
  if (request.method === "OPTIONS") return undefined;
  const { room } = (request.params ?? {}) as { room?: string };
  // What cannot be a name is nobody's room: the store is not asked for it.
  if (room !== undefined && OF_A_ROOM.test(request.routeOptions.url ?? "")) return NAME.test(room) ? room : undefined;
  // Opening a room by a name that another process has finds it there; invitations are its owner's to give.
  const wanted =
    request.method === "POST" && ["/api/rooms", "/api/tokens"].includes(request.routeOptions.url ?? "")
      ? (request.body as { room?: unknown } | null)?.room
      : undefined;
  return typeof wanted === "string" && NAME.test(wanted) ? wanted : undefined;
}

/**
 * What nobody can restore stays on the move for ever: operators may end it, or have what is kept, wherever they ask.
 */
const mayEnd = ({ method, routeOptions: { url } }: FastifyRequest): boolean =>
  (method === "DELETE" && url === "/api/admin/rooms/:room") ||
  (method === "GET" && url === "/api/admin/rooms/:room/recording");

const moving = (room: string): CodedError => new CodedError("ROOM_MOVING", { field: "room", value: room });
