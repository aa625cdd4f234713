/**
 * Assembles the parts that outlive a process: the store, this process's part in the cluster, and the journal writer.
 * Without a store none of these parts exist, and rooms live in memory only.
 */
import type { FastifyBaseLogger } from "fastify";
import { Cluster } from "./cluster/cluster.ts";
import type { Config } from "./config.ts";
import { watchCutOff } from "./cluster/cutOff.ts";
import type { ClusterRooms } from "./cluster/rooms.ts";
import type { Metrics } from "./metrics/metrics.ts";
import { JournalWriter } from "./persistence/journalWriter.ts";
import type { RoomRegistry } from "./rooms/registry.ts";
import type { Persistence } from "./persistence/persistence.ts";
import { measured } from "./store/measuredStore.ts";
import { openStore } from "./store/openStore.ts";
import { daysBefore, type Store } from "./store/store.ts";
import { STORE_AWAY_SECONDS, StoreHealth } from "./store/storeHealth.ts";

/**
 * Interval between two writes of the journal, ms. A killed process loses this plus the duration of one write: at most
 * 0.5 s, if a write and the threads' wait for a processor take no more than 0.2 s.
 */
const FLUSH_MS = 300;

/** After deleted store files are written again, readiness reports it to operators and balancers for this time, ms. */
const REWRITTEN_SHOWN_MS = 10_000;

/** Interval between two deletions of expired quarantined rows, ms. */
const EXPIRE_MS = 3_600_000;

export interface Durability {
  cluster: Cluster;
  persistence: Persistence;
  /** Reason why load balancers should send no visitor here; null: the store is healthy. */
  notReady(): string | null;
  /** Called after the cluster is closed, when no room can write any more. */
  close(): Promise<void>;
}

export interface DurabilityOptions {
  config: Config;
  metrics: Metrics;
  log: FastifyBaseLogger;
  /** Version of this program. Processes of one version can read each other's states of the same scene. */
  version: string;
  /** Returns whether visitors may be sent here, apart from the store's own state. */
  ready: () => boolean;
  memoryBytes: () => number;
  /** A function, because the registry is created later: it needs this object. */
  registry: () => RoomRegistry;
}

/** This process's rooms, as the cluster uses them. */
function roomsOf(registry: () => RoomRegistry, journalWriter: () => JournalWriter): ClusterRooms {
  return {
    serves: (room) => registry().has(room) || journalWriter().isRemoving(room),
    isOpen: (room) => registry().find(room) !== undefined,
    members: (room) => registry().find(room)?.members.connected ?? 0,
    names: () =>
      registry()
        .list()
        .map(({ name }) => name),
    loads: () =>
      registry()
        .list()
        .map(({ name, pool, share, openedMs, isSettled }) => ({
          name,
          share: pool === "shared" ? share : 0,
          residentMs: performance.now() - openedMs,
          movable: pool === "shared" && isSettled,
        })),
    reads: (listing) => registry().reads(listing),
    turn: (attempts) => registry().probations.turn(attempts),
    takeOver: (listing, lease, cause) => registry().takeOver(listing, lease, cause),
    handOver: (room) => registry().handOver(room),
    drop: (room) => registry().drop(room),
  };
}

/**
 * Opens the store and counts its reports about lost or changed files.
 * @returns null: no store is configured. `notReady`: the reason if the files are why the server is not ready
 */
async function openReporting(
  config: Config,
  metrics: Metrics,
  log: FastifyBaseLogger,
): Promise<{ store: Store; notReady: () => string | null } | null> {
  let loss: string | null = null;
  let changedMs = -Infinity;
  const store = await openStore(config, log, {
    onLoss: ({ code }) => {
      metrics.store.lost(code);
      loss = `the store has lost acknowledged data (${code}): see the log; ready again after a restart`;
    },
    onFilesChanged: ({ code }) => {
      metrics.store.filesChanged(code);
      changedMs = performance.now();
      if (code === "STORE_FILE_REPLACED") loss = `the store's file was replaced (${code}): see the log, then restart`;
    },
  });
  const changed = "the store's files were deleted or replaced: see the log";
  const isShown = (): boolean => performance.now() - changedMs < REWRITTEN_SHOWN_MS;
  return store && { store, notReady: () => loss ?? (isShown() ? changed : null) };
}

/** @throws StoreRefused, StoreUnavailable */
export async function openDurability({
  config,
  metrics,
  log,
  version,
  ready,
  memoryBytes,
  registry,
}: DurabilityOptions): Promise<Durability | null> {
  const opened = await openReporting(config, metrics, log);
  if (opened === null) return null;
  const cluster = new Cluster({
    store: measured(opened.store, metrics.store),
    maxRooms: config.maxRooms,
    balancing: config.balance,
    own: () => ({
      version,
      state: ready() && notReady() === null ? "ready" : "starting",
      publicUrl: config.publicUrls[0] ?? null,
      threads: config.workers,
      memoryBytes: memoryBytes(),
    }),
    metrics: metrics.cluster,
    log,
    rooms: roomsOf(registry, () => journalWriter),
  });
  const { store, holder } = cluster;
  const journalWriter: JournalWriter = new JournalWriter({ store, metrics, log, flushMs: FLUSH_MS });
  const health = new StoreHealth(store);
  const awaySeconds = (): number => {
    const failing = journalWriter.failingSeconds;
    return Math.max(health.awaySeconds, failing < STORE_AWAY_SECONDS ? 0 : failing);
  };
  metrics.store.awaySeconds = awaySeconds;
  const notReady = (): string | null =>
    opened.notReady() ?? (awaySeconds() > 0 ? "the store accepts no writes: see the log" : null);
  const unwatch = watchCutOff({
    rooms: () => registry().list(),
    ownedUntilMs: (room) => cluster.ownedUntilMs(room),
    awaySeconds,
  });
  const expire = (): void => {
    // If the store is away, this runs again after EXPIRE_MS.
    void store.expireQuarantinedPieces(daysBefore(new Date().toISOString(), config.quarantineDays)).catch(() => {});
  };
  expire();
  const expiring = setInterval(expire, EXPIRE_MS);
  expiring.unref();
  return {
    cluster,
    notReady,
    persistence: {
      store,
      holder,
      journalWriter,
      ownedUntilMs: (room) => cluster.ownedUntilMs(room),
      isOthers: (room) => cluster.isOthers(room),
    },
    close: async () => {
      unwatch();
      clearInterval(expiring);
      health.close();
      await journalWriter.close();
      await store.close();
    },
  };
}
