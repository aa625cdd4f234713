/**
 * Builds the server but never listens: tests use `inject`, `main.ts` listens. services.ts creates the parts that have a
 * life cycle, and `app.close()` ends them. This file puts them behind HTTP: first the hooks, in the order in which they
 * check a request, then the routes.
 */
import swaggerUi from "@fastify/swagger-ui";
import Fastify, { type FastifyInstance, type FastifyRequest, type FastifyServerOptions } from "fastify";
import { readFileSync } from "node:fs";
import type { ServerOptions } from "node:https";
import type { AddressInfo } from "node:net";
import { CodedError } from "../shared/errorCodes.ts";
import { addressKey } from "./auth/addresses.ts";
import { Budgets, MISSING_COST } from "./auth/budgets.ts";
import { ownUrl } from "./cluster/address.ts";
import { forwardToOwners, MESSAGE } from "./cluster/forward.ts";
import { ownersOf, queryPeers, type PeerQuery } from "./cluster/peerQuery.ts";
import { clusterSecretsFrom, TICKET_HEADER, Tickets } from "./cluster/ticket.ts";
import type { Config } from "./config.ts";
import type { Objects } from "./objects/objects.ts";
import type { SceneLibrary } from "./rooms/scenes/sceneLibrary.ts";
import type { RoomRegistry } from "./rooms/registry.ts";
import { ReplayStreams } from "./rooms/replay/replayStreams.ts";
import { SharedRead } from "./rooms/coalescedRead.ts";
import { addressRoutes } from "./routes/guards/publicAddress.ts";
import { adminRoutes } from "./routes/operators/adminRoutes.ts";
import { adminGalleryRoutes } from "./routes/operators/adminGallery.ts";
import { adminObjectsRoutes } from "./routes/operators/adminObjects.ts";
import { adminRoomsRoute } from "./routes/operators/adminRooms.ts";
import { refuseCrossSite, warnAboutOrigins } from "./routes/guards/crossSite.ts";
import { allowOtherOrigins, ownOrigins } from "./routes/guards/cors.ts";
import { answerBadAddress, answerFailures, answerUnreadable } from "./routes/guards/failures.ts";
import { DOCS_POLICY, securityHeaders } from "./routes/guards/headers.ts";
import { galleryRoutes } from "./routes/rooms/galleryRoutes.ts";
import { healthRoutes } from "./routes/operators/health.ts";
import { BODY_MS, HEAD_MS, Lines, SMALL_BODY } from "./routes/guards/connectionLimits.ts";
import { objectRoutes } from "./routes/rooms/objectRoutes.ts";
import { OperationsPort } from "./routes/operators/operationsPort.ts";
import { describeApi } from "./routes/openApi.ts";
import { pageRoutes } from "./routes/pages.ts";
import { paletteRoute } from "./routes/rooms/paletteRoutes.ts";
import { quarantinedRoomRoutes } from "./routes/operators/quarantinedRooms.ts";
import { pictureRoutes } from "./routes/rooms/pictureRoutes.ts";
import { recordingRoutes } from "./routes/rooms/recordingRoutes.ts";
import { replayRoutes } from "./routes/rooms/replayRoutes.ts";
import { reportRoutes } from "./routes/report.ts";
import { RequestAuth } from "./routes/guards/requestAuth.ts";
import { answerRequestIds, requestIds } from "./routes/guards/requestId.ts";
import { roomSceneRoute } from "./routes/rooms/roomScene.ts";
import { roomRoutes } from "./routes/rooms/roomRoutes.ts";
import { sceneRoutes } from "./routes/rooms/sceneRoutes.ts";
import { quarantinedPieceRoutes } from "./routes/operators/quarantinedPieces.ts";
import { socketRoutes } from "./routes/rooms/socket.ts";
import { refuseInvalidText } from "./routes/guards/strictText.ts";
import { tokenRoutes } from "./routes/rooms/tokenRoutes.ts";
import { IdentityForwarder } from "./routes/guards/forwardedIdentity.ts";
import { startServices, type Services } from "./services.ts";
import type { Listing } from "./store/store.ts";
import { hostCheck, proxyCheck, trustFor } from "./trust.ts";

/** Longest path parameter, in characters: the same limit that Node sets for the whole address. */
const MOST_PARAMETER = 16 * 1024;

/** Routes that load balancers and Prometheus ask, not visitors. */
const PROBES = new Set(["/healthz", "/readyz", "/metrics"]);

/** Timeouts of Node's HTTP server. */
const SERVER_OPTIONS: ServerOptions = {
  headersTimeout: HEAD_MS,
  connectionsCheckingInterval: 1000,
  // An offer of another protocol (Java's client offers h2c) is ignored, and the request answered.
  shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === "websocket",
};

export interface App {
  fastify: FastifyInstance;
  registry: RoomRegistry;
  objects: Objects;
  library: SceneLibrary;
  /** null: operators' routes are on the visitors' port. */
  operations: OperationsPort | null;
  /** Resolves when the scenes that the server needs before it is ready are built (rooms/prewarm.ts). */
  warm: Promise<void>;
  /** Reports not ready, closes all rooms with `restarting`, and ends all services. */
  close(): Promise<void>;
}

export async function buildApp(config: Config, logger: FastifyServerOptions["logger"] = false): Promise<App> {
  const fastify = makeFastify(config, logger);
  const services = await startServices(config, fastify.log);
  const { registry, objects, warm } = services;
  let closed: Promise<void> | null = null;
  const web = await addHooks(fastify, services);
  await describeApi(fastify);
  healthRoutes(fastify, services.metrics, {
    reason: () => (closed || registry.closing ? "shutting down" : services.notReady()),
  });
  const { library } = services;
  sceneRoutes(fastify, library, web.listings && (async () => (await web.listings!.get()).map(({ scene }) => scene)));
  await joinCluster(fastify, services, web);
  web.requestAuth.charge(fastify, web.budgets);
  await fastify.register(swaggerUi, {
    routePrefix: "/docs",
    staticCSP: DOCS_POLICY,
    // The bar has only the logo of swagger-ui's package.
    theme: { title: "Pliant: HTTP API", css: [{ filename: "pliant.css", content: ".topbar{display:none!important}" }] },
  });
  await addRoutes(fastify, services, web);
  operatorRoutes(fastify, services, web);
  reportRoutes(fastify, config.reportDir);
  await pageRoutes(fastify, config.clientDir, config.embedOrigins);
  await fastify.ready();
  const close = (): Promise<void> => services.close(() => fastify.close());
  return { fastify, registry, objects, library, operations: web.operations, warm, close: () => (closed ??= close()) };
}

const speaksTls = ({ tlsCert }: Config): boolean => tlsCert !== "";

/** Options of Node's server. @throws if a file of the certificate cannot be read */
function serverOptions(config: Config): ServerOptions {
  if (!speaksTls(config)) return SERVER_OPTIONS;
  const tls = { cert: readFileSync(config.tlsCert, "utf8"), key: readFileSync(config.tlsKey, "utf8") };
  return { ...SERVER_OPTIONS, ...tls, handshakeTimeout: HEAD_MS };
}

function makeFastify(config: Config, logger: FastifyServerOptions["logger"]): FastifyInstance {
  return Fastify({
    logger,
    trustProxy: trustFor(config.trustProxy),
    genReqId: requestIds(config.trustProxy !== false),
    bodyLimit: SMALL_BODY,
    // An open keep-alive connection must not delay the shutdown.
    forceCloseConnections: true,
    requestTimeout: BODY_MS,
    [speaksTls(config) ? "https" : "http"]: serverOptions(config),
    // A parameter that is too long gets the same answer as any other invalid name.
    routerOptions: { maxParamLength: MOST_PARAMETER },
    frameworkErrors: answerBadAddress,
    clientErrorHandler: answerUnreadable,
    ajv: { customOptions: { removeAdditional: false, coerceTypes: false, verbose: true } },
  } as FastifyServerOptions);
}

/** Objects that routes share beside the services. */
interface Web {
  requestAuth: RequestAuth;
  budgets: Budgets;
  lines: Lines;
  operations: OperationsPort | null;
  /** Callers at the same time share one answer, because a list of all rooms is the most expensive store query. */
  listings: SharedRead<Listing[]> | null;
  /** Tickets with which processes on one store certify a request's sender; null: this is the only process. */
  tickets: Tickets | null;
  peerTls: { ca: string | undefined };
}

async function addHooks(fastify: FastifyInstance, services: Services): Promise<Web> {
  const { config, auth, audit, metrics, registry, durability, secrets } = services;
  const { publicUrls, embedOrigins } = config;
  await allowOtherOrigins(fastify, { isOurs: ownOrigins(publicUrls, config.origins), embedders: embedOrigins });
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
  const operations = makeOperationsPort(fastify, config);
  if (operations) lines.watch(operations.server);
  checkHosts(fastify, services);
  warnAboutOrigins(config, fastify.log);
  refuseCrossSite(fastify, { origins: config.origins, embedders: embedOrigins, metrics: metrics.auth });
  refuseInvalidText(fastify);
  answerFailures(fastify);
  answerRequestIds(fastify);
  await securityHeaders(fastify, { publicUrls, embedOrigins });
  fastify.addHook("onRequest", async ({ routeOptions: { url = "" } }) => {
    if (!PROBES.has(url)) services.arrivals.note();
  });
  fastify.addHook("onResponse", async (request, reply) => {
    // A WebSocket's response ends only when the socket closes.
    if (request.ws) return;
    metrics.requests.answered(request.method, request.routeOptions.url, reply.statusCode, reply.elapsedTime / 1000);
  });
  const sealing = config.clusterSecrets.length > 0 ? config.clusterSecrets : clusterSecretsFrom(secrets);
  return {
    requestAuth,
    budgets,
    lines,
    operations,
    listings: durability && new SharedRead(() => durability.cluster.list()),
    tickets:
      durability &&
      new Tickets(sealing, {
        process: durability.persistence.holder.process,
        aheadMs: (process) => durability.cluster.aheadMs(process),
      }),
    peerTls: { ca: config.clusterCa === "" ? undefined : readFileSync(config.clusterCa, "utf8") },
  };
}

function makeOperationsPort(fastify: FastifyInstance, config: Config): OperationsPort | null {
  const { operationsPort: port, operationsHost: host } = config;
  if (port === null) return null;
  const server = { ...serverOptions(config), requestTimeout: BODY_MS };
  return new OperationsPort(fastify, { port, host, server });
}

/** Whether a request's target names another host than its header: a proxy may go by the one, we by the other. */
const namesOther = (target = "", host = ""): boolean =>
  !target.startsWith("/") && URL.canParse(target) && new URL(target).host !== host.toLowerCase();

/**
 * Refuses requests for another host name. Health routes answer under any name, because load balancers use their own.
 */
function checkHosts(fastify: FastifyInstance, { config, metrics }: Services): void {
  const ours = hostCheck(config);
  // Runs after all onRequest hooks: only then is a socket known as one, so that its refusal can end it.
  fastify.addHook("preParsing", async (request) => {
    const { url } = request.routeOptions;
    // Node keeps the first of several hosts; a proxy in front may have checked another one.
    const hosts = request.raw.rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === "host");
    if (hosts.length > 1 || namesOther(request.raw.url, request.headers.host))
      throw new CodedError("BODY_INVALID", { field: "host" });
    // Of HTTP/0.9 Node reads a request line, and headers that it does not have.
    if (request.raw.httpVersionMajor < 1) throw new CodedError("BODY_INVALID", { field: "request" });
    if (url === "/healthz" || url === "/readyz" || ours(request.host)) return;
    metrics.auth.refused("host");
    throw new CodedError("HOST_REFUSED", { field: "host", value: request.host, limit: "PLIANT_HOSTS" });
  });
}

/** If rooms are kept in a store, forwards requests for rooms of other processes to their owners. */
async function joinCluster(fastify: FastifyInstance, services: Services, web: Web): Promise<void> {
  const { config, auth, metrics, durability } = services;
  const { requestAuth, budgets, lines, tickets, peerTls } = web;
  if (!durability || !tickets) return;
  await forwardToOwners(fastify, {
    cluster: durability.cluster,
    tickets,
    tls: peerTls,
    forwarding: new IdentityForwarder(auth, requestAuth),
    metrics: metrics.cluster,
    onForwarded: (socket) => lines.carries(socket),
    onMissing: (request) => void budgets.spend(addressKey(request.ip), MISSING_COST),
  });
  const found = (): string => {
    const { port } = fastify.server.address() as AddressInfo;
    return ownUrl(config.host, port, durability.persistence.store.kind === "postgres", speaksTls(config));
  };
  // Take rooms over only after other processes can reach this one.
  fastify.addHook("onListen", async () => durability.cluster.start(config.advertiseUrl || found()));
}

async function addRoutes(fastify: FastifyInstance, services: Services, web: Web): Promise<void> {
  const { config, auth, audit, metrics, registry, objects, library, pictures, pools } = services;
  const { requestAuth, budgets, operations, listings, tickets } = web;
  const { host, publicUrls } = config;
  addressRoutes(fastify, { host, publicUrls, tls: speaksTls(config), operations });
  roomRoutes(fastify, { requestAuth, audit, listings, metrics, registry, roomsPerMinute: config.roomsPerMinute });
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
  const { gallery } = services;
  paletteRoute(fastify, { requestAuth, audit, registry, objects });
  galleryRoutes(fastify, { requestAuth, audit, gallery, pictures, perMinute: config.objectsPerMinute });
  recordingRoutes(fastify, { requestAuth, audit });
  replayRoutes(fastify, { requestAuth, audit, replays: new ReplayStreams(pools.forReplays()) });
  tokenRoutes(fastify, { requestAuth, audit, registry });
  const takeTicket = (request: FastifyRequest, sealed: string): unknown =>
    request.ticket === undefined
      ? null
      : (tickets?.take(sealed, { method: MESSAGE, url: String(request.headers[TICKET_HEADER]) })?.said ?? null);
  await socketRoutes(fastify, { config, auth, budgets, registry, metrics, takeTicket });
}

function operatorRoutes(fastify: FastifyInstance, services: Services, web: Web): void {
  const { audit, registry, durability } = services;
  const { requestAuth, tickets, peerTls } = web;
  const others = durability &&
    tickets && {
      list: () => durability.cluster.list(),
      ask: (rooms: readonly Listing[], query: PeerQuery) =>
        queryPeers(ownersOf(rooms, durability.persistence.holder.process), tickets, peerTls, query),
    };
  adminRoomsRoute(fastify, { requestAuth, others, registry });
  adminRoutes(fastify, { requestAuth, audit, cluster: durability?.cluster ?? null, registry });
  adminObjectsRoutes(fastify, { requestAuth, audit, objects: services.objects, limits: services.config });
  adminGalleryRoutes(fastify, { requestAuth, audit, gallery: services.gallery, limits: services.config });
  const forget = (room: string): void => durability?.cluster.suspect(room);
  quarantinedRoomRoutes(fastify, { requestAuth, audit, registry, forget });
  quarantinedPieceRoutes(fastify, { requestAuth, audit, registry });
}
