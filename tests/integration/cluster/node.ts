/**
 * One process of a cluster with minimal rooms: a number that grows with every tick and is written to the store as the
 * journal is. Leases, takeover, hand-over and forwarding are the real ones. They do not depend on a tick's content, so
 * a test can check every single tick.
 *
 *     node node.ts <sqlite file or postgres URL> <secret> <lease term, s>
 *
 * Writes JSON lines to stdout: `ready` with its address; `tick` with room, epoch, number and the machine's monotonic
 * time; `end` of a room. SIGTERM hands over.
 */
import websocket from "@fastify/websocket";
import Fastify from "fastify";
import { Cluster } from "../../../server/cluster/cluster.ts";
import { forwardToOwners } from "../../../server/cluster/forward.ts";
import type { ClusterRooms } from "../../../server/cluster/rooms.ts";
import { Tickets } from "../../../server/cluster/ticket.ts";
import { PostgresStore } from "../../../server/store/postgres/postgresStore.ts";
import { SqliteStore } from "../../../server/store/sqlite/sqliteStore.ts";
import { type Lease, LeaseLost } from "../../../server/store/store.ts";
import { CodedError } from "../../../shared/errorCodes.ts";
import { emptyMetrics } from "../../support/emptyMetrics.ts";

const [where, secret, term] = process.argv.slice(2);
const TICK_MS = 20;
const leaseSeconds = Number(term);

const say = (line: object): boolean => process.stdout.write(`${JSON.stringify(line)}\n`);
const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;
const log = {
  info: () => {},
  warn: () => {},
  error: (details: object, message: string) =>
    process.stderr.write(
      `${message} ${JSON.stringify(details, (_, value: unknown) => (value instanceof Error ? value.message : value))}\n`,
    ),
};

const store = where.startsWith("postgres")
  ? new PostgresStore({ url: where, leaseSeconds })
  : new SqliteStore({ path: where, leaseSeconds });
await store.open();

interface CountingRoom {
  lease: Lease;
  tick: number;
  timer: NodeJS.Timeout;
  writing: Promise<void>;
}
const open = new Map<string, CountingRoom>();

function end(name: string): CountingRoom | undefined {
  const room = open.get(name);
  if (room) clearInterval(room.timer);
  if (open.delete(name)) say({ what: "end", room: name });
  return room;
}

function step(room: CountingRoom): void {
  if (performance.now() >= cluster.ownedUntilMs(room.lease.room)) return;
  room.tick += 1;
  const { tick, lease } = room;
  say({ what: "tick", room: lease.room, epoch: lease.epoch, tick, ms: monotonicMs() });
  room.writing = room.writing
    .then(() => cluster.store.writeCheckpoint(lease, { tick: 0, identity: String(tick), state: new Uint8Array(8) }))
    .catch((error: unknown) => {
      if (error instanceof LeaseLost) end(lease.room);
    });
}

const rooms: ClusterRooms = {
  serves: (name) => open.has(name),
  isOpen: (name) => open.has(name),
  members: () => 0,
  names: () => [...open.keys()],
  takeOver: async (listing, lease) => {
    const last = await cluster.store.readCheckpoint(listing.name, 0);
    const room: CountingRoom = {
      lease,
      tick: Number(last?.identity ?? 0),
      timer: setInterval(() => step(room), TICK_MS),
      writing: Promise.resolve(),
    };
    open.set(listing.name, room);
  },
  handOver: async (name) => {
    const room = end(name);
    await room?.writing;
    if (room) await cluster.store.release(room.lease);
  },
  drop: async (name) => void end(name),
};

const metrics = emptyMetrics();
const cluster: Cluster = new Cluster({
  store,
  rooms,
  maxRooms: 1000,
  balancing: "off",
  own: () => ({ version: "1", state: "ready", publicUrl: null, threads: 1, memoryBytes: 0 }),
  metrics: metrics.cluster,
  log,
});

const app = Fastify({ forceCloseConnections: true });
app.setErrorHandler((error, _request, reply) =>
  error instanceof CodedError
    ? reply.code(error.status).send(error.toBody())
    : reply.code(500).send({ message: (error as Error).message }),
);
await app.register(websocket);
await forwardToOwners(app, {
  cluster,
  tickets: new Tickets([secret], cluster.holder),
  tls: { ca: undefined },
  // These requests have no credentials.
  forwarding: { ofRequest: () => null, ofMessage: () => null },
  metrics: metrics.cluster,
  onForwarded: () => {},
  onMissing: () => {},
});
app.get("/api/rooms", async () =>
  (await cluster.list()).map(({ name, owner }) => ({ name, owner: owner?.process ?? null })),
);
app.post<{ Body: { room: string } }>("/api/rooms", async (request) => {
  const { room: name } = request.body;
  const answer = await cluster.store.createRoom(
    { name, scene: "count", pool: "shared", createdAt: new Date().toISOString(), settings: {} },
    cluster.holder,
  );
  if (answer.created)
    await rooms.takeOver(
      {
        ...answer.lease,
        name,
        scene: "count",
        pool: "shared",
        createdAt: "",
        settings: {},
        owner: null,
        expired: null,
        members: 0,
        quarantined: null,
        attempts: 0,
      },
      answer.lease,
      "handover",
    );
  return { created: answer.created, process: cluster.holder.process, body: request.body };
});
app.get<{ Params: { room: string } }>("/api/rooms/:room", async (request) => {
  const room = open.get(request.params.room);
  if (!room) throw new CodedError("ROOM_NOT_FOUND");
  return {
    process: cluster.holder.process,
    tick: room.tick,
    address: request.ip,
    host: request.host,
    query: request.query,
  };
});
app.get<{ Params: { room: string } }>(
  "/api/rooms/:room/socket",
  {
    websocket: true,
    preValidation: async (request) => {
      if ((request.query as { refuse?: string }).refuse) throw new CodedError("ORIGIN_REFUSED", { field: "origin" });
    },
  },
  (socket, request) => {
    socket.send(JSON.stringify({ process: cluster.holder.process, address: request.ip, host: request.host }));
    socket.on("message", (data, isBinary) => socket.send(data, { binary: isBinary }));
  },
);
app.post<{ Params: { room: string } }>("/api/admin/rooms/:room/hand-over", async (request) => ({
  handed: await cluster.handOver([request.params.room]),
}));
const url = await app.listen({ port: 0, host: "127.0.0.1" });
cluster.start(url);
say({ what: "ready", url, process: cluster.holder.process });

process.on("SIGTERM", () => {
  void cluster
    .close(async () => void (await cluster.handOver(rooms.names())))
    .then(() => app.close())
    .then(() => store.close())
    .then(() => process.exit(0));
});
