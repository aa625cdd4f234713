/**
 * Combines the parts that outlive the process: the store, this process's role in the cluster, and the journal writer.
 * null if rooms live in memory only.
 */
import type { FastifyBaseLogger } from "fastify";
import { Cluster } from "./cluster/cluster.ts";
import type { Config } from "./config.ts";
import { watchCutOff } from "./cluster/cutOff.ts";
import type { ClusterRooms } from "./cluster/rooms.ts";
import type { Metrics } from "./metrics/metrics.ts";
import { JournalWriter } from "./persistence/journalWriter.ts";
import type { Persistence, RoomRegistry } from "./rooms/registry.ts";
import { measured } from "./store/measured.ts";
import { openStore } from "./store/openStore.ts";
import { daysBefore, type Store } from "./store/store.ts";
import { STORE_AWAY_SECONDS, StoreHealth } from "./store/storeHealth.ts";

/**
 * Interval between journal writes, ms. A killed process loses this interval plus the write itself: up to 0.5 s, as long
 * as the write and the threads' wait for a processor take less than the rest.
 */
const FLUSH_MS = 300;

/**
 * Time for which readiness reports rewritten store files, ms. The rewrite is immediate; the delay lets operators and
 * balancers see it.
 */
const REWRITTEN_SHOWN_MS = 10_000;

/** Interval between deletions of expired quarantined rows, ms. */
const EXPIRE_MS = 3_600_000;

export interface Durability {
  cluster: Cluster;
  persistence: Persistence;
  /** Reason why load balancers should send no visitors here; null: the store works. */
  notReady(): string | null;
  /** Called after the cluster has closed, when no room writes any more. */
  close(): Promise<void>;
}

export interface DurabilityOptions {
  config: Config;
  metrics: Metrics;
  log: FastifyBaseLogger;
  /** Version of this program. Processes of one version can read each other's states of the same scene. */
  version: string;
  /** Whether visitors may be sent here. */
  ready: () => boolean;
  memoryBytes: () => number;
  /** A function, because the registry is created later and needs the result of this one. */
  registry: () => RoomRegistry;
}

/** Room operations that the cluster calls in this process. */
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
    turn: (attempts) => registry().trials.turn(attempts),
    adopt: (listing, lease, cause) => registry().adopt(listing, lease, cause),
    handOver: (room) => registry().handOver(room),
    drop: (room) => registry().drop(room),
  };
}

/**
 * Opens the store, and counts the file problems that it reports.
 * @returns null: no store is configured. `notReady`: the file problem that makes the server not ready
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
      loss = `the store has lost data (${code}): see the log, then restart`;
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
    opened.notReady() ?? (awaySeconds() > 0 ? "the store does not accept writes" : null);
  const unwatch = watchCutOff({
    rooms: () => registry().list(),
    ownedUntilMs: (room) => cluster.ownedUntilMs(room),
    awaySeconds,
  });
  const expire = (): void => {
    // If the store is unavailable, try again in an hour.
    void store.expireSetAside(daysBefore(new Date().toISOString(), config.setAsideDays)).catch(() => {});
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
