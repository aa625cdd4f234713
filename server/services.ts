/**
 * All services that have a life cycle and do not depend on HTTP: threads, rooms, durability, authorization, metrics.
 * They are created in the order of their dependencies and ended by `close`.
 */
import type { FastifyBaseLogger } from "fastify";
import { Audit } from "./auth/audit.ts";
import { Auth } from "./auth/auth.ts";
import { tokenSecrets } from "./auth/secrets.ts";
import type { Config } from "./config.ts";
import { openDurability, type Durability } from "./durability.ts";
import { Metrics } from "./metrics/metrics.ts";
import { Gallery } from "./objects/gallery.ts";
import { Objects } from "./objects/objects.ts";
import { Pictures } from "./pictures/pictures.ts";
import { RoomRegistry } from "./rooms/registry.ts";
import { SceneLibrary } from "./rooms/scenes/sceneLibrary.ts";
import { watchScenes } from "./rooms/scenes/sceneWatch.ts";
import type { Session } from "./rooms/members/session.ts";
import { Arrivals, prewarm } from "./rooms/prewarm.ts";
import { warmUp } from "./rooms/warmUp.ts";
import { MemoryObjects } from "./store/objects/memoryObjects.ts";
import type { ObjectStore } from "./store/objects/objectStore.ts";
import { programVersion } from "./workers/stateIdentity.ts";
import { WorkerPools } from "./workers/pool.ts";
import type { LossReason } from "./workers/threadLost.ts";

export interface Services {
  config: Config;
  pools: WorkerPools;
  metrics: Metrics;
  library: SceneLibrary;
  pictures: Pictures;
  objects: Objects;
  gallery: Gallery;
  audit: Audit;
  auth: Auth;
  /** Keys that sign join tokens. */
  secrets: ReturnType<typeof tokenSecrets>;
  /** null: rooms live in memory only. */
  durability: Durability | null;
  registry: RoomRegistry;
  /** Reason why load balancers should send no visitor here; null: ready. */
  notReady(): string | null;
  /** Resolves when the scenes that the server needs before it is ready are built (rooms/prewarm.ts). */
  warm: Promise<void>;
  arrivals: Arrivals;
  /** Closes the rooms with `restarting`, then calls `server`, then closes the other services. */
  close(server: () => Promise<void>): Promise<void>;
}

export async function startServices(config: Config, log: FastifyBaseLogger): Promise<Services> {
  const onError = (error: unknown): void => log.error({ err: error }, "a worker thread failed outside any task");
  const pools = makePools(config, onError, (reason) => metrics.threadLost(reason));
  const metrics: Metrics = new Metrics(metricSources(pools, () => registry));
  const inUse = (): string[] => registry.list().map(({ scene }) => scene);
  const library = new SceneLibrary({
    scenesDir: config.scenesDir,
    reportDir: config.reportDir,
    clientDir: config.clientDir,
    pools,
    metrics,
    log,
    stored: { sceneText: (id) => objects.sceneText(id), shapes: (scene) => objects.shapes(scene) },
    inUse,
  });
  const pictures = new Pictures(onError);
  const secrets = tokenSecrets(config.tokenSecrets, config.store === "none" ? null : config.dataDir);
  const auth = new Auth({ mode: config.auth, secrets, adminToken: config.adminToken });
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
  const store = durability?.persistence.store.objects ?? new MemoryObjects(inUse);
  const objects: Objects = makeObjects(config, { store, pools, metrics, log });
  const gallery = makeGallery(config, { store, library, metrics, log });
  const audit = new Audit(log, metrics.auth, durability?.persistence.store ?? null);
  const persistence = durability?.persistence ?? null;
  const registry: RoomRegistry = new RoomRegistry({ persistence, config, audit, library, pools, metrics, log });
  const closing = new AbortController();
  const arrivals = new Arrivals();
  const { ready: warm, ended } = prewarm({
    choice: config.prewarm,
    list: async () => (await library.list()).scenes.map(({ id }) => id),
    build: async (scene) => warmUp(await library.template(scene), pools.forRoom("shared"), config.workers),
    arrivals,
    signal: closing.signal,
  });
  warm.then(() => (notReady = null)).catch(() => {});
  ended.catch((error: unknown) => {
    notReady = "no scene could be built";
    log.error({ err: error }, "no scene could be built");
  });
  const unwatch =
    config.otherVersions === "watch" ? watchScenes({ scenesDir: config.scenesDir, library, registry, log }) : () => {};
  const close = async (server: () => Promise<void>): Promise<void> => {
    closing.abort();
    unwatch();
    if (durability) await durability.cluster.close(() => registry.close());
    else await registry.close();
    await server();
    objects.close();
    await durability?.close();
    await pictures.close();
    await pools.close();
    metrics.close();
  };
  const content = { library, pictures, objects, gallery };
  const all = { config, pools, metrics, ...content, audit, auth, secrets, durability, registry };
  return { ...all, notReady: () => notReady ?? durability?.notReady() ?? null, warm, arrivals, close };
}

const makePools = (
  config: Config,
  onError: (error: unknown) => void,
  onLost: (reason: LossReason) => void,
): WorkerPools =>
  new WorkerPools({
    workers: config.workers,
    roomThreads: config.roomThreads,
    heavyMs: config.heavyMs,
    stepDeadlineMs: config.stepDeadlineMs,
    buildDeadlineMs: config.buildDeadlineMs,
    buildMemoryMb: config.buildMemoryMb,
    roomMemoryMb: config.roomMemoryMb,
    readDeadlineMs: config.objectsDeadlineMs,
    threadMemoryMb: config.threadMemoryMb,
    onError,
    onLost,
  });

interface ObjectsNeed {
  store: ObjectStore;
  pools: WorkerPools;
  metrics: Metrics;
  log: FastifyBaseLogger;
}

function makeObjects(config: Config, { store, pools, metrics, log }: ObjectsNeed): Objects {
  return new Objects({
    store,
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
}

const makeGallery = (
  config: Config,
  { store, library, metrics, log }: Omit<ObjectsNeed, "pools"> & { library: SceneLibrary },
): Gallery =>
  new Gallery({
    store,
    limits: { count: config.savedScenesMax, countPerAddress: config.savedScenesPerAddress },
    metrics: metrics.objects,
    onRemoved: (scene) => library.forgetDeleted(scene),
    log,
  });

/** Values that metrics read at every scrape. @param registry a function, because the registry is created later */
function metricSources(pools: WorkerPools, registry: () => RoomRegistry): ConstructorParameters<typeof Metrics>[0] {
  const rooms = () => registry().list();
  return {
    rooms: () => registry().size,
    sessions: () => countSessions(registry()),
    bodiesHeld: () => rooms().reduce((sum, room) => sum + room.held.size, 0),
    roomMemory: () => {
      const all = rooms().map((room) => room.costs.memory);
      const sum = (of: "reserved" | "used"): number => all.reduce((bytes, memory) => bytes + memory[of], 0);
      return { reserved: sum("reserved"), used: sum("used") };
    },
    queueDepth: () => pools.queueSize,
    workerThreads: () => pools.threads,
    bufferedBytes: () => sumOverSessions(registry(), (session) => session.connection?.bufferedBytes ?? 0),
    timeDilation: () => {
      const peopled = rooms().filter((room) => room.members.connected > 0);
      return Math.min(1, ...peopled.map((room) => room.dilation));
    },
    roomLoads: () =>
      rooms()
        .filter((room) => room.members.connected > 0)
        .map(({ name, scene, share, dilation }) => ({ room: name, scene, load: share, dilation })),
  };
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
