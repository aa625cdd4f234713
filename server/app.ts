/**
 * Builds the server and never listens: tests use `inject`, `main.ts` listens. Everything that has a life of its own
 * (pools, rooms, metrics) is made here and ended by `app.close()`.
 */
import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import rateLimit from "@fastify/rate-limit";
import type { AddressInfo } from "node:net";
import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
} from "fastify";
import { readFileSync } from "node:fs";
import { CodedError } from "../shared/errors.ts";
import { ownUrl } from "./cluster/address.ts";
import { queryPeers, type PeerQuery, ownersOf } from "./cluster/peerQuery.ts";
import { forwardToOwners, MESSAGE } from "./cluster/forward.ts";
import { clusterSecretsFrom, TICKET_HEADER, Tickets } from "./cluster/ticket.ts";
import type { Config } from "./config.ts";
import { hostCheck, proxyCheck, trustFor } from "./trust.ts";
import { Audit } from "./auth/audit.ts";
import { Auth } from "./auth/auth.ts";
import { addressKey } from "./auth/addresses.ts";
import { Budgets, MISSING_COST } from "./auth/budgets.ts";
import { tokenSecrets } from "./auth/secrets.ts";
import { openDurability } from "./durability.ts";
import { Metrics } from "./metrics/metrics.ts";
import { Objects } from "./objects/objects.ts";
import { ReplayStreams } from "./rooms/replayStreams.ts";
import { RoomRegistry } from "./rooms/registry.ts";
import { SharedRead } from "./rooms/sharedRead.ts";
import { warmUp } from "./rooms/warmUp.ts";
import { Pictures } from "./pictures/pictures.ts";
import { SceneLibrary } from "./rooms/sceneLibrary.ts";
import type { Session } from "./rooms/session.ts";
import { RequestAuth } from "./routes/requestAuth.ts";
import { addressRoutes } from "./routes/address.ts";
import { adminRoutes } from "./routes/admin.ts";
import { adminRoomsRoute } from "./routes/adminRooms.ts";
import { BODY_MS, HEAD_MS, Lines } from "./routes/lines.ts";
import { allowOtherOrigins, ownOrigins } from "./routes/directly.ts";
import { healthRoutes } from "./routes/health.ts";
import { objectRoutes } from "./routes/objects.ts";
import { pictureRoutes } from "./routes/pictures.ts";
import { pageRoutes } from "./routes/pages.ts";
import { parkedRoutes } from "./routes/parked.ts";
import { setAsideRoutes } from "./routes/setAside.ts";
import { replayRoutes } from "./routes/replay.ts";
import { recordingRoutes } from "./routes/recordings.ts";
import { reportRoutes } from "./routes/report.ts";
import { answerRequestIds, requestIds } from "./routes/requestId.ts";
import { roomSceneRoute } from "./routes/roomScene.ts";
import { roomRoutes } from "./routes/rooms.ts";
import { sceneRoutes } from "./routes/scenes.ts";
import { socketRoutes } from "./routes/socket.ts";
import { tokenRoutes } from "./routes/tokens.ts";
import { Voucher } from "./routes/vouched.ts";
import { MemoryObjects } from "./store/memoryObjects.ts";
import type { Listing } from "./store/store.ts";
import { programVersion } from "./workers/identity.ts";
import { WorkerPools } from "./workers/pool.ts";

/**
 * Our pages run only their own scripts and talk only to this server; a page of `/docs` gets swagger-ui's own policy.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'", // The codec is WebAssembly; scripts are still only ours.
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self' blob:", // Textures of objects are read from blobs that the page made itself.
  "worker-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'self'",
].join("; ");

/**
 * swagger-ui styles itself inline. Its own default policy also upgrades to https, which a server on plain http does not
 * answer.
 */
const DOCS_POLICY = CONTENT_SECURITY_POLICY.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'");

const SECURITY_HEADERS = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": "camera=(), microphone=(), geolocation=()",
};

/** Characters of a part of an address: as many as Node takes for all of it. */
const MOST_PARAMETER = 16 * 1024;

/** Of Node's server. */
const SERVER_TIMES = { headersTimeout: HEAD_MS, connectionsCheckingInterval: 1000 };

export interface App {
  fastify: FastifyInstance;
  registry: RoomRegistry;
  objects: Objects;
  /** Resolves when the scenes of `config.prewarm` are built. */
  warm: Promise<void>;
  /** Not ready from now on, all rooms closed with `restarting`, everything ended. */
  close(): Promise<void>;
}

export async function buildApp(config: Config, logger: FastifyServerOptions["logger"] = false): Promise<App> {
  const tls = tlsOf(config);
  const peerTls = { ca: config.clusterCa === "" ? undefined : readFileSync(config.clusterCa, "utf8") };
  const fastify = Fastify({
    logger,
    trustProxy: trustFor(config.trustProxy),
    genReqId: requestIds(config.trustProxy !== false),
    bodyLimit: 64 * 1024,
    // A stuck keep-alive connection must not hold up a shutdown.
    forceCloseConnections: true,
    requestTimeout: BODY_MS,
    ...(tls === null ? { http: SERVER_TIMES } : { https: { ...SERVER_TIMES, ...tls, handshakeTimeout: HEAD_MS } }),
    // What is too long for a name is answered like any other that is none.
    routerOptions: { maxParamLength: MOST_PARAMETER },
    // Before all hooks: a percent escape in the address that is none.
    frameworkErrors: (_error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
      const error = new CodedError("BODY_INVALID", { field: "path", value: request.raw.url?.split("?")[0] });
      // A line that was to become a socket is nobody's then, and would stay open for ever.
      if (request.raw.headers.upgrade !== undefined) reply.raw.once("finish", () => request.raw.socket.destroySoon());
      return reply.code(error.status).headers(SECURITY_HEADERS).send(error.toBody());
    },
    ajv: { customOptions: { removeAdditional: false, coerceTypes: false } },
  } as FastifyServerOptions);
  const log = fastify.log;
  const pools = new WorkerPools({
    workers: config.workers,
    roomThreads: config.roomThreads,
    heavyMs: config.heavyMs,
    stepDeadlineMs: config.stepDeadlineMs,
    buildDeadlineMs: config.buildDeadlineMs,
    buildMemoryMb: config.buildMemoryMb,
    readDeadlineMs: config.objectsDeadlineMs,
    threadMemoryMb: config.threadMemoryMb,
    onError: (error) => log.error({ err: error }, "a worker thread failed outside any task"),
  });
  const metrics: Metrics = new Metrics({
    rooms: () => registry.size,
    sessions: () => countSessions(registry),
    bodiesHeld: () => registry.list().reduce((sum, room) => sum + room.held.size, 0),
    queueDepth: () => pools.queueSize,
    workerThreads: () => pools.threads,
    bufferedBytes: () => sumOverSessions(registry, (session) => session.connection?.bufferedBytes ?? 0),
    timeDilation: () =>
      Math.min(
        1,
        ...registry
          .list()
          .filter((room) => room.members.connected > 0)
          .map((room) => room.dilation),
      ),
  });
  const library = new SceneLibrary({
    scenesDir: config.scenesDir,
    clientDir: config.clientDir,
    pools,
    metrics,
    log,
    stored: { sceneText: (id) => objects.sceneText(id), shapes: (scene) => objects.shapes(scene) },
    inUse: () => registry.list().map(({ scene }) => scene),
  });
  const pictures = new Pictures((error) => log.error({ err: error }, "a worker thread failed outside any task"));
  const authSecrets = tokenSecrets(config.tokenSecrets, config.store === "none" ? null : config.dataDir);
  const auth = new Auth({ mode: config.auth, secrets: authSecrets, adminToken: config.adminToken });
  let notReady: string | null = "building scenes";
  const durability = await openDurability({
    config,
    metrics,
    log,
    version: programVersion(),
    ready: () => notReady === null,
    memoryBytes: () => process.memoryUsage.rss(),
    registry: () => registry,
  });
  const objects: Objects = new Objects({
    store: durability?.persistence.store.objects ?? new MemoryObjects(() => registry.list().map(({ scene }) => scene)),
    limits: {
      count: config.objectsMax,
      bytes: config.objectsTotalMb * 2 ** 20,
      countPerAddress: config.objectsPerAddress,
    },
    keepHours: config.objectsKeepHours,
    read: (task, by) => pools.readObject(task, by),
    metrics: metrics.objects,
    log,
  });
  const audit = new Audit(log, metrics.auth, durability?.persistence.store ?? null);
  const registry: RoomRegistry = new RoomRegistry({
    persistence: durability?.persistence ?? null,
    config,
    audit,
    library,
    pools,
    metrics,
    log,
  });

  const warm = prewarm(config, library, pools);
  warm.then(
    () => (notReady = null),
    (error: unknown) => {
      notReady = "no scene could be built";
      log.error({ err: error }, "no scene could be built");
    },
  );

  await allowOtherOrigins(fastify, {
    isOurs: ownOrigins(config.publicUrls, config.origins),
    embedders: config.embedOrigins,
  });
  const requestAuth = new RequestAuth({ auth, audit, metrics, find: (room) => registry.find(room) });
  requestAuth.watchRoutes(fastify);
  requestAuth.judgeEarly(fastify);
  requestAuth.judge(fastify);
  const budgets = new Budgets(config.addressBudget);
  const lines = new Lines({
    perAddress: config.httpConnectionsPerAddress,
    carries: proxyCheck(config.trustProxy),
    count: (address) => budgets.count(address),
    onRefused: () => metrics.auth.refused("address_limit"),
  });
  lines.watch(fastify.server);
  checkHosts(fastify, config, metrics);
  const pagePolicy = policyFor(config);
  const roomPolicy = framedBy(pagePolicy, config.embedOrigins);
  addErrorHandling(fastify);
  answerRequestIds(fastify);
  fastify.addHook("onSend", async (request, reply) => {
    reply.headers(SECURITY_HEADERS);
    if (!request.url.startsWith("/docs") && !reply.hasHeader("content-security-policy"))
      reply.header("content-security-policy", request.url.startsWith("/r/") ? roomPolicy : pagePolicy);
  });
  fastify.addHook("onResponse", async (request, reply) => {
    // A socket's "answer" is its end.
    if (request.ws) return;
    metrics.requests.answered(request.method, request.routeOptions.url, reply.statusCode, reply.elapsedTime / 1000);
  });
  await fastify.register(swagger, {
    openapi: {
      info: {
        title: "Pliant",
        description:
          "Rooms of soft bodies and cloth. The socket protocol is described in PROTOCOL.md. Pages of other origins may " +
          "use this API if the operator lists them in PLIANT_EMBED_ORIGINS.",
        version: "0.1.0",
      },
      tags: [
        { name: "scenes" },
        { name: "objects" },
        { name: "rooms" },
        { name: "auth" },
        { name: "admin" },
        { name: "operations" },
      ],
      components: {
        securitySchemes: {
          token: {
            type: "http",
            scheme: "bearer",
            bearerFormat: "JWT",
            description: "A join token, or the operator's own.",
          },
        },
      },
    },
  });
  let closed: Promise<void> | null = null;
  healthRoutes(fastify, metrics, {
    reason: () => (closed || registry.closing ? "going down" : (notReady ?? durability?.notReady() ?? null)),
  });
  // Whoever asks at the same time gets the same: a list of all rooms is what can be asked of the store most dearly.
  const listings = durability && new SharedRead(() => durability.cluster.list());
  sceneRoutes(fastify, library, listings && (async () => (await listings.get()).map(({ scene }) => scene)));
  await fastify.register(rateLimit, { global: false });
  const tickets =
    durability &&
    new Tickets(
      config.clusterSecrets.length > 0 ? config.clusterSecrets : clusterSecretsFrom(authSecrets),
      durability.persistence.holder,
    );
  if (durability && tickets) {
    const { advertiseUrl } = config;
    await forwardToOwners(fastify, {
      cluster: durability.cluster,
      tickets,
      tls: peerTls,
      vouching: new Voucher(auth, requestAuth),
      metrics: metrics.cluster,
      onForwarded: (socket) => lines.carries(socket),
      onMissing: (request) => void budgets.spend(addressKey(request.ip), MISSING_COST),
    });
    // Rooms are taken once others can reach them here.
    fastify.addHook("onListen", async () =>
      durability.cluster.start(
        advertiseUrl ||
          ownUrl(
            config.host,
            (fastify.server.address() as AddressInfo).port,
            durability.persistence.store.kind === "postgres",
            tls !== null,
          ),
      ),
    );
  }
  requestAuth.charge(fastify, budgets);
  await fastify.register(swaggerUi, { routePrefix: "/docs", staticCSP: DOCS_POLICY });
  addressRoutes(fastify, { host: config.host, publicUrls: config.publicUrls, tls: tls !== null });
  roomRoutes(fastify, {
    requestAuth,
    audit,
    listings,
    metrics,
    registry,
    roomsPerMinute: config.roomsPerMinute,
  });
  await objectRoutes(fastify, {
    requestAuth,
    audit,
    objects,
    library,
    fileBytes: config.objectsFileMb * 2 ** 20,
    perMinute: config.objectsPerMinute,
  });
  pictureRoutes(fastify, { requestAuth, library, pictures });
  roomSceneRoute(fastify, requestAuth);
  recordingRoutes(fastify, { requestAuth, audit });
  replayRoutes(fastify, { requestAuth, audit, replays: new ReplayStreams(pools.forReplays()) });
  tokenRoutes(fastify, { requestAuth, audit, registry });
  const others = durability &&
    tickets && {
      list: () => durability.cluster.list(),
      ask: (rooms: readonly Listing[], query: PeerQuery) =>
        queryPeers(ownersOf(rooms, durability.persistence.holder.process), tickets, peerTls, query),
    };
  adminRoomsRoute(fastify, { requestAuth, others, registry });
  adminRoutes(fastify, { requestAuth, audit, cluster: durability?.cluster ?? null, registry });
  parkedRoutes(fastify, { requestAuth, audit, registry });
  setAsideRoutes(fastify, { requestAuth, audit, registry });
  const takeTicket = (request: FastifyRequest, sealed: string): unknown =>
    request.ticket === undefined
      ? null
      : (tickets?.take(sealed, { method: MESSAGE, url: String(request.headers[TICKET_HEADER]) })?.said ?? null);
  await socketRoutes(fastify, { config, auth, budgets, registry, metrics, takeTicket });
  reportRoutes(fastify, config.reportDir);
  await pageRoutes(fastify, config.clientDir);
  await fastify.ready();

  const close = async (): Promise<void> => {
    if (durability) await durability.cluster.close(() => registry.close());
    else await registry.close();
    await fastify.close();
    objects.close();
    await durability?.close();
    await pictures.close();
    await pools.close();
    metrics.close();
  };
  return { fastify, registry, objects, warm, close: () => (closed ??= close()) };
}

/** Our pages may ask the other processes, too. */
function policyFor({ publicUrls }: Config): string {
  const others = publicUrls.flatMap((url) => [url, url.replace(/^http/, "ws")]);
  return CONTENT_SECURITY_POLICY.replace("connect-src 'self' blob:", ["connect-src 'self' blob:", ...others].join(" "));
}

/** For pages of rooms; lobby and operators' page stay unframed. */
const framedBy = (policy: string, origins: readonly string[]): string =>
  policy.replace("frame-ancestors 'self'", ["frame-ancestors 'self'", ...origins].join(" "));

/** Certificate and key (PEM) that the server speaks TLS with; null: it does not. @throws where a file cannot be read */
function tlsOf({ tlsCert, tlsKey }: Config): { cert: string; key: string } | null {
  return tlsCert === "" ? null : { cert: readFileSync(tlsCert, "utf8"), key: readFileSync(tlsKey, "utf8") };
}

/**
 * Builds and warms up the scenes that visitors will ask for, one after another, so that the first one who comes need
 * not wait.
 */
async function prewarm(config: Config, library: SceneLibrary, pools: WorkerPools): Promise<void> {
  if (config.prewarm === "none") return;
  const wanted = config.prewarm === "all" ? (await library.list()).map((scene) => scene.id) : config.prewarm;
  const pool = pools.forRoom("shared");
  let failed = 0;
  for (const scene of wanted) {
    try {
      await warmUp(await library.template(scene), pool, config.workers);
    } catch {
      // It is in the log already; a server without one scene still serves the others.
      failed += 1;
    }
  }
  if (failed > 0 && failed === wanted.length) throw new Error("no scene could be built");
}

function sumOverSessions(registry: RoomRegistry, value: (session: Session) => number): number {
  let sum = 0;
  for (const room of registry.list()) for (const session of room.members.sessions.values()) sum += value(session);
  return sum;
}

function countSessions(registry: RoomRegistry): { connected: number; resumable: number } {
  let connected = 0;
  let all = 0;
  for (const room of registry.list()) {
    connected += room.members.connected;
    all += room.members.sessions.size;
  }
  return { connected, resumable: all - connected };
}

/**
 * Requests that were meant for somebody else are answered by nobody; balancers ask for health by whatever name they
 * have.
 */
function checkHosts(fastify: FastifyInstance, config: Config, metrics: Metrics): void {
  const ours = hostCheck(config);
  // After every onRequest: only then are sockets known to be some, and ended with their refusal.
  fastify.addHook("preParsing", async (request) => {
    const { url } = request.routeOptions;
    if (url === "/healthz" || url === "/readyz" || url === "/metrics" || ours(request.host)) return;
    metrics.auth.refused("host");
    throw new CodedError("HOST_REFUSED", { field: "host", value: request.host, limit: "PLIANT_HOSTS" });
  });
}

/**
 * Every error leaves as `{code, message, field?, value?, limit?}`; what we did not foresee is logged and says nothing
 * of itself.
 */
function addErrorHandling(fastify: FastifyInstance): void {
  fastify.setNotFoundHandler((request, reply) => {
    // Who came with a browser and typed it wrong; programs, and files that a page wants, get the error.
    if (asksForPage(request) && fastify.hasReplyDecorator("sendFile"))
      return reply.code(404).header("cache-control", "no-cache").sendFile("index.html");
    const error = new CodedError("NOT_FOUND", { field: "path", value: request.url.split("?")[0] });
    return reply.code(error.status).send(error.toBody());
  });
  // A socket at an address where there is none is refused before it is one.
  fastify.addHook("preValidation", async (request) => {
    if (request.ws && (request.is404 || request.routeOptions.url === "/*"))
      throw new CodedError("NOT_FOUND", { field: "path", value: request.url.split("?")[0] });
  });
  fastify.setErrorHandler((error: FastifyError, request, reply) => {
    const coded = toCodedError(error);
    if (coded.status >= 500 && coded.code === "INTERNAL") request.log.error({ err: error }, "request failed");
    return reply.code(coded.status).send(coded.toBody());
  });
}

function asksForPage({ method, url, headers }: FastifyRequest): boolean {
  return method === "GET" && !url.startsWith("/api/") && (headers.accept ?? "").includes("text/html");
}

function toCodedError(error: FastifyError): CodedError {
  if (error instanceof CodedError) return error;
  const [problem] = error.validation ?? [];
  if (problem) {
    const missing = (problem.params as { missingProperty?: string }).missingProperty;
    const field =
      [problem.instancePath.replaceAll("/", ".").replace(/^\./, ""), missing].filter(Boolean).join(".") ||
      error.validationContext ||
      "body";
    return new CodedError(
      "BODY_INVALID",
      { field, limit: problem.params },
      `${field}: ${problem.message ?? "invalid"}`,
    );
  }
  // Fastify's own refusals: broken JSON, a body that is too large, a content type that nobody parses.
  if (error.statusCode !== undefined && error.statusCode < 500)
    return new CodedError("BODY_INVALID", { field: "body" }, error.message);
  return new CodedError("INTERNAL");
}
