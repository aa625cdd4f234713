/**
 * Forwards requests and sockets for rooms of other processes to the owner, so that any process accepts any connection.
 * It runs before the routes, so they only see rooms that are open here or do not exist. The owner's answer is returned
 * unchanged. The owner also authorizes the request, by a ticket (ticket.ts) that replaces the client's credentials.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { CodedError } from "../../shared/errorCodes.ts";
import type { ClusterMetrics } from "../metrics/cluster.ts";
import type { Quarantined } from "../store/store.ts";
import type { Cluster, Place } from "./cluster.ts";
import { isPeerUrl } from "../store/processReport.ts";
import type { PeerTls } from "./peer.ts";
import { proxySocket } from "./proxySocket.ts";
import { TICKET_HEADER, type Ticket, type Tickets } from "./ticket.ts";

/** Form of a room's name; equal to `ROOM_NAME` of rooms/registry.ts. */
const NAME = /^[a-z0-9][a-z0-9-]{0,39}$/;
/** Matches routes of one room. */
const OF_A_ROOM = /^\/api\/(admin\/)?rooms\/:room(\/|$)/;
/** Time limits of connecting to an owner and of its answer, ms. A request may build a scene, a GET may not. */
const CONNECT_MS = 2000;
const ANSWER_MS = 120_000;
const READ_MS = 15_000;

declare module "fastify" {
  interface FastifyRequest {
    /** Set if the room of the address is quarantined; the socket route then refuses the socket. */
    quarantined: Quarantined | null;
    /** Ticket of a request that another process has forwarded. */
    ticket?: Ticket;
  }
}

/** Statements about the sender of a request, which replace the client's own credentials. */
interface IdentityForwarding {
  /** Statement about a request whose credentials were checked here. JSON. */
  ofRequest(request: FastifyRequest): unknown;
  /**
   * Statement about a socket's message.
   * @param first is it the socket's first message?
   * @param seal makes a ticket of a statement, for the same process
   * @returns the message to send instead; null: it stays unchanged
   */
  ofMessage(
    request: FastifyRequest,
    message: Buffer,
    first: boolean,
    seal: (said: unknown) => string,
  ): Promise<Uint8Array> | null;
}

/**
 * `method` of a ticket that vouches for one message of a socket. The `url` of such a ticket is the ticket of the
 * socket's upgrade request.
 */
export const MESSAGE = "MESSAGE";

export interface ForwardOptions {
  cluster: Cluster;
  tickets: Tickets;
  tls: PeerTls;
  forwarding: IdentityForwarding;
  metrics: ClusterMetrics;
  /** Called for a connection that comes from another process. */
  onForwarded: (connection: Socket) => void;
  /** Called if the store was queried for a room that does not exist, by a request that does not create it. */
  onMissing: (request: FastifyRequest) => void;
}

/** Register it before the routes, and before all hooks that read `request.ip`. */
export async function forwardToOwners(app: FastifyInstance, options: ForwardOptions): Promise<void> {
  const { tickets, tls, onForwarded } = options;
  const forwarder = new Forwarder(options);
  app.server.prependListener("upgrade", (request: IncomingMessage, _socket: unknown, head: Buffer) =>
    forwarder.heads.set(request, head),
  );
  // Loading it takes a fifth of a start. Servers without a store do not need it.
  await app.register(import("@fastify/reply-from"), {
    disableRequestLogging: true,
    undici: {
      connect: { timeout: CONNECT_MS, ...(tls.ca !== undefined && { ca: tls.ca }) },
      headersTimeout: ANSWER_MS,
      bodyTimeout: ANSWER_MS,
    },
  });
  app.decorateRequest("quarantined", null);
  app.addHook("preClose", async () => forwarder.close());
  app.addHook("onRequest", async (request) => {
    const header = request.headers[TICKET_HEADER];
    if (typeof header !== "string") return;
    const ticket = tickets.take(header, { method: request.method, url: request.raw.url ?? "" });
    if (ticket === null && tickets.isForAnother(header)) throw moving((request.params as { room?: string }).room ?? "");
    if (ticket === null) return;
    onForwarded(request.raw.socket);
    request.ticket = ticket;
    Object.defineProperty(request, "ip", { value: ticket.address });
  });
  app.addHook("preValidation", (request, reply) => forwarder.toOwner(request, reply));
}

class Forwarder {
  /** Bytes that a client sent right after its upgrade request. Node passes them only with the event. */
  readonly heads = new WeakMap<IncomingMessage, Buffer>();
  readonly #options: ForwardOptions;
  /** Forwarded sockets. Node counts them as connections of the server and would wait for their end. */
  readonly #through = new Set<Duplex>();

  constructor(options: ForwardOptions) {
    this.#options = options;
  }

  close(): void {
    for (const socket of this.#through) socket.destroy();
  }

  /** Forwards the request if its room belongs to another process; otherwise does nothing. */
  async toOwner(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { cluster, onMissing } = this.#options;
    const room = roomOf(request);
    if (room === undefined) return void (await this.#placeRoom(request, reply));
    const place = await cluster.locate(room);
    if (place.kind === "quarantined") return refuseQuarantined(request, room, place.quarantined);
    if (place.kind === "nowhere") {
      if (request.method !== "POST") onMissing(request);
      const placed = await this.#placeRoom(request, reply);
      // The request may create the room: the next one must not believe that there is none.
      if (request.method === "POST") cluster.suspect(room);
      if (placed) return;
    }
    if (place.kind === "here" || place.kind === "nowhere" || (place.kind === "moving" && mayEnd(request))) return;
    if (place.kind === "moving" || request.headers[TICKET_HEADER] !== undefined) throw moving(room);
    if (!isPeerUrl(place.url) || !URL.canParse(place.url)) throw moving(room);
    if (request.ws) await this.#socket(request, reply, room, place);
    else await this.#request(request, reply, room, place);
  }

  /**
   * Creates a new room at the least busy process. A room with its own thread stays here.
   * @returns true: another process has created it. If that process cannot be reached, the room is created here
   */
  async #placeRoom(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    const { cluster, metrics } = this.#options;
    const { scene, pool } = (request.body ?? {}) as { scene?: unknown; pool?: unknown };
    if (request.method !== "POST" || request.routeOptions.url !== "/api/rooms") return false;
    if (typeof scene !== "string" || pool === "dedicated" || request.headers[TICKET_HEADER] !== undefined) return false;
    const place = cluster.place();
    if (place === null) return false;
    try {
      await this.#request(request, reply, "", { kind: "there", ...place.holder });
      place.answered(true);
      if (reply.statusCode === 201) metrics.balanced("placed");
      return true;
    } catch {
      place.answered(false);
      return false;
    }
  }

  #ticketFor(request: FastifyRequest, audience: string, said: unknown): string {
    const { method, ip: address } = request;
    return this.#options.tickets.seal({ audience, method, url: sentPath(request.raw), address, said });
  }

  async #request(request: FastifyRequest, reply: FastifyReply, room: string, { url, process }: Owner): Promise<void> {
    const { cluster, metrics, forwarding } = this.#options;
    const [path, query] = splitOnce(sentPath(request.raw), "?");
    const ticket = this.#ticketFor(request, process, forwarding.ofRequest(request));
    await new Promise<void>((resolve, reject) => {
      reply.raw.once("close", resolve);
      reply.from(`${url}${path}`, {
        // Unchanged: the ticket is valid for these bytes only.
        queryString: () => query,
        // Keep the Host header: the owner compares it with the page's origin.
        rewriteRequestHeaders: (_request, headers) => ({
          ...withoutRequestsHop(withoutCredentials(headers)),
          host: request.headers.host ?? "",
          [TICKET_HEADER]: ticket,
        }),
        rewriteHeaders: withoutHopByHop,
        retryDelay: () => null,
        timeout: request.method === "GET" ? READ_MS : ANSWER_MS,
        onResponse: (_request, answered, response) => {
          metrics.forwarded("proxy");
          answered.send((response as unknown as { stream: NodeJS.ReadableStream }).stream);
        },
        onError: () => {
          metrics.forwarded("unreachable");
          cluster.suspect(room);
          reject(moving(room));
        },
      });
    });
  }

  async #socket(request: FastifyRequest, reply: FastifyReply, room: string, owner: Owner): Promise<void> {
    const { cluster, tickets, tls, metrics, forwarding } = this.#options;
    const { url, process: audience } = owner;
    const ticket = this.#ticketFor(request, audience, null);
    const { ip: address } = request;
    const seal = (said: unknown): string => tickets.seal({ audience, method: MESSAGE, url: ticket, address, said });
    const outcome = await proxySocket({
      request: request.raw,
      head: this.heads.get(request.raw) ?? Buffer.alloc(0),
      target: url,
      path: sentPath(request.raw),
      tls,
      headers: { ...withoutCredentials(request.raw.headers), [TICKET_HEADER]: ticket },
      rewrite: (message, first) => forwarding.ofMessage(request, message, first, seal),
    });
    if (outcome === "unreachable") {
      metrics.forwarded("unreachable");
      cluster.suspect(room);
      throw moving(room);
    }
    metrics.forwarded("proxy");
    const { socket } = request.raw;
    this.#through.add(socket);
    socket.once("close", () => this.#through.delete(socket));
    // From here on the socket belongs to the owner: Fastify must not write to it.
    reply.hijack();
    reply.raw.detachSocket(socket);
  }
}

/** Operators' routes and invitations work for a quarantined room; sockets are refused by their own route. */
function refuseQuarantined(request: FastifyRequest, room: string, quarantined: Quarantined): void {
  const { url = "" } = request.routeOptions;
  if (request.ws) request.quarantined = quarantined;
  else if (!url.startsWith("/api/admin/") && url !== "/api/tokens")
    throw new CodedError("ROOM_QUARANTINED", { field: "room", value: room, limit: quarantined.reason });
}

type Owner = Extract<Place, { kind: "there" }>;

/** Removes the headers that only this process may see. */
function withoutCredentials<T>(headers: Record<string, T>): Record<string, T> {
  const { authorization: _token, cookie: _cookie, ...others } = headers;
  return others;
}

/** Removes the client's statements about its connection to this process: undici refuses them. */
function withoutRequestsHop<T>(headers: Record<string, T>): Record<string, T> {
  const { connection: _, "keep-alive": _alive, expect: _answered, upgrade: _upgrade, ...others } = headers;
  return others;
}

/** Removes the owner's statements about its connection to this process: they do not hold for the client's. */
function withoutHopByHop<T>(headers: Record<string, T>): Record<string, T> {
  const { connection: _connection, "keep-alive": _keepAlive, "transfer-encoding": _coding, ...others } = headers;
  return others;
}

/**
 * Path and query that the owner receives, byte for byte: a ticket for other bytes would be invalid, and the owner would
 * take this process for the client. A client may send an absolute address; the router ignores its host, too.
 */
function sentPath({ url = "/" }: IncomingMessage): string {
  const [path, query] = splitOnce(url.replace(/^https?:\/\/.*?\//, "/"), "?");
  return new URL(path, "http://owner").pathname + (query === "" ? "" : `?${query}`);
}

/** @returns the text before and after the first separator; without one, the whole text and "" */
function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + separator.length)];
}

function roomOf(request: FastifyRequest): string | undefined {
  // A CORS preflight concerns the page, not the room.
  if (request.method === "OPTIONS") return undefined;
  const { room } = (request.params ?? {}) as { room?: string };
  // An invalid name belongs to no room, so the store is not queried.
  if (room !== undefined && OF_A_ROOM.test(request.routeOptions.url ?? "")) return NAME.test(room) ? room : undefined;
  // Creating a room under an existing name finds it at its owner. Only the owner issues invitations.
  const wanted =
    request.method === "POST" && ["/api/rooms", "/api/tokens"].includes(request.routeOptions.url ?? "")
      ? (request.body as { room?: unknown } | null)?.room
      : undefined;
  return typeof wanted === "string" && NAME.test(wanted) ? wanted : undefined;
}

/**
 * A room that no process can restore stays "moving" forever. Any process lets operators delete it or download its
 * recording.
 */
const mayEnd = ({ method, routeOptions: { url } }: FastifyRequest): boolean =>
  (method === "DELETE" && url === "/api/admin/rooms/:room") ||
  (method === "GET" && url === "/api/admin/rooms/:room/recording");

const moving = (room: string): CodedError => new CodedError("ROOM_MOVING", { field: "room", value: room });
