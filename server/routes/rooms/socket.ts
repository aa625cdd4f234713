/**
 * The socket endpoint: `GET /api/rooms/:room/socket`. Checks origin and address limits before the upgrade; `Connection`
 * handles the rest.
 */
import websocket, { type WebSocket } from "@fastify/websocket";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { CodedError } from "../../../shared/errorCodes.ts";
import { CloseCode, Limits } from "../../../shared/protocol/protocol.ts";
import { answerUnreadable } from "../guards/failures.ts";
import { fromAllowedOrigin } from "../guards/crossSite.ts";
import type { Config } from "../../config.ts";
import { addressKey } from "../../auth/addresses.ts";
import { NetworkCounts } from "../../auth/share.ts";
import { type Budgets, MESSAGE_COST } from "../../auth/budgets.ts";
import type { Auth, Credentials, Entry } from "../../auth/auth.ts";
import { Refused } from "../../auth/refused.ts";
import type { Metrics } from "../../metrics/metrics.ts";
import { Connection, type Hello, type Membership } from "../../rooms/members/connection.ts";
import { openMessage } from "../guards/forwardedIdentity.ts";
import type { RoomRegistry } from "../../rooms/registry.ts";
import type { Room } from "../../rooms/room.ts";
import { encodeNotice } from "../../../shared/protocol/fromServer.ts";

/** A message of at most 4 KiB needs few fragments. More of them are an attack on the reassembly. */
const MAX_FRAGMENTS = 8;
/** Chunks in which one frame may arrive. */
const MAX_BUFFERED_CHUNKS = 64;
/** Interval of the heartbeat checks, ms. */
const BEAT_MS = 1000;

export interface SocketRouteOptions {
  config: Config;
  auth: Auth;
  budgets: Budgets;
  registry: RoomRegistry;
  metrics: Metrics;
  /** Opens the ticket in a message that another process forwarded; null: not a valid ticket for this socket. */
  takeTicket: (request: FastifyRequest, sealed: string) => unknown;
}

export async function socketRoutes(app: FastifyInstance, options: SocketRouteOptions): Promise<void> {
  const sockets = new Sockets(options);
  await app.register(websocket, {
    options: {
      maxPayload: Limits.maxPayload,
      maxFragments: MAX_FRAGMENTS,
      maxBufferedChunks: MAX_BUFFERED_CHUNKS,
      perMessageDeflate: false,
      // Connection answers and counts pings itself.
      autoPong: false,
    },
    // The room registry has already closed all members' sockets with their code. The remaining sockets have not said
    // hello.
    preClose: (done: () => void) => {
      sockets.close();
      done();
    },
    errorHandler: () => {},
  });
  const beat = setInterval(() => sockets.beat(), BEAT_MS);
  beat.unref();
  app.addHook("onClose", async () => clearInterval(beat));
  // A handshake that ws cannot accept is answered like any other unreadable request.
  app.websocketServer.on("wsClientError", answerUnreadable);
  app.route<{ Params: { room: string } }>({
    method: "GET",
    url: "/api/rooms/:room/socket",
    schema: { hide: true },
    preValidation: async (request) => sockets.admit(request),
    handler: async () => {
      throw new CodedError("UPGRADE_REQUIRED");
    },
    wsHandler: (socket, request) => sockets.connect(socket, request),
  });
}

class Sockets {
  readonly #options: SocketRouteOptions;
  readonly #connections = new Set<Connection>();
  readonly #counts = new NetworkCounts();

  constructor(options: SocketRouteOptions) {
    this.#options = options;
  }

  close(): void {
    for (const connection of this.#connections) connection.close(CloseCode.restarting, "the server restarts");
  }

  beat(): void {
    const nowMs = performance.now();
    for (const connection of this.#connections) connection.beat(nowMs);
  }

  /** @throws CodedError for pages of other origins, and if the address has too many sockets */
  admit(request: FastifyRequest): void {
    const { config, metrics } = this.#options;
    // HTTP/1.0 has no upgrades. Version 8, which ws accepts, too, sends its origin in another header.
    if (request.ws && (request.raw.httpVersion !== "1.1" || request.headers["sec-websocket-version"] !== "13"))
      throw new CodedError("UPGRADE_REQUIRED", { field: "sec-websocket-version", limit: "13, over HTTP/1.1" });
    if (!fromAllowedOrigin(request, config.origins)) {
      metrics.auth.refused("origin");
      const limit = `PLIANT_ORIGINS: ${[...new Set(["same", ...config.origins])].join(", ")}`;
      throw new CodedError("ORIGIN_REFUSED", { field: "origin", value: request.headers.origin, limit });
    }
    const limit = this.#counts.full(addressKey(request.ip), config.connectionsPerAddress);
    if (limit === null) return;
    metrics.auth.refused("address_limit");
    throw new CodedError("ADDRESS_LIMIT", { field: "connections", value: limit, limit });
  }

  connect(socket: WebSocket, request: FastifyRequest): void {
    const { auth, budgets, registry, metrics, takeTicket } = this.#options;
    const { room: name } = request.params as { room: string };
    const ip = addressKey(request.ip);
    this.#counts.add(ip, 1);
    const wasHere = registry.find(name) !== undefined;
    const connection = new Connection(socket, request.raw.socket, {
      log: request.log.child({ room: name }),
      metrics,
      spend: () => budgets.spend(ip, MESSAGE_COST),
      open: (asked) => openMessage(asked, (sealed) => takeTicket(request, sealed)),
      authorize: (self, hello) => {
        const { token, password, resume, forwarded } = hello;
        const credentials: Credentials = { token, password, resume, address: ip, forwarded };
        const room = registry.serving(name);
        if (!room)
          return auth.refuseAbsent(name, credentials, wasHere || registry.find(name) ? moved() : absent(request));
        const findSession = (): Entry | null => room.members.findByToken(resume)?.entry ?? null;
        const entry = auth.enter(name, room.access, credentials, findSession);
        return Promise.resolve(entry).then((allowed) =>
          self.isOpen ? join(registry, name, self, hello, allowed) : null,
        );
      },
      onClosed: (self) => this.#closed(self, ip),
    });
    this.#connections.add(connection);
    // In `tokens` mode hello comes first: clients without a token must not learn which rooms exist.
    if (auth.mode === "tokens" || wasHere) return;
    metrics.auth.refused("no_room");
    const { closeCode, message } = absent(request);
    connection.close(closeCode, message);
  }

  #closed(connection: Connection, ip: string): void {
    this.#connections.delete(connection);
    this.#counts.add(ip, -1);
  }
}

function roomOf(registry: RoomRegistry, name: string): Room {
  const room = registry.serving(name);
  if (!room) throw moved();
  return room;
}

/** The room has just moved or ended. A reconnecting client learns which. */
const moved = (): Refused => new Refused(CloseCode.restarting, "the room has moved or ended", "no_room");

/** Reason why the room is not in this process. */
const absent = ({ quarantined }: FastifyRequest): Refused =>
  quarantined
    ? new Refused(CloseCode.quarantined, `the room is quarantined: ${quarantined.reason}`, "no_room")
    : new Refused(CloseCode.roomGone, "no such room", "no_room");

/** Looks the room up again, because it may have ended during the password check. */
async function join(
  registry: RoomRegistry,
  name: string,
  connection: Connection,
  hello: Hello,
  entry: Entry,
): Promise<Membership | null> {
  const membership = await roomOf(registry, name).join(connection, hello, entry);
  if (!membership) return null;
  connection.endsAtMs = entry.expiresAtMs;
  if (entry.tokenProblem !== undefined)
    connection.send(encodeNotice("TOKEN_INVALID", { field: "token", limit: entry.tokenProblem }), "other");
  return membership;
}
