/**
 * Puts together what outlives the process: the store, the cluster's part in it, and the journal writer that writes what
 * rooms do. null where rooms live in memory only.
 */
import type { FastifyBaseLogger } from "fastify";
import { Cluster } from "./cluster/cluster.ts";
import type { Config } from "./config.ts";
import type { Metrics } from "./metrics/metrics.ts";
import { JournalWriter } from "./persistence/journalWriter.ts";
import type { Persistence, RoomRegistry } from "./rooms/registry.ts";
import { measured } from "./store/measured.ts";
import { openStore } from "./store/openStore.ts";

/**
 * Between two writes of what rooms did, ms. With the write itself it is what a killed process may lose: 0.5 s are
 * allowed.
 */
const FLUSH_MS = 300;

export interface Durability {
  cluster: Cluster;
  persistence: Persistence;
  /** After the cluster: no room is left that would write. */
  close(): Promise<void>;
}

export interface DurabilityOptions {
  config: Config;
  metrics: Metrics;
  log: FastifyBaseLogger;
  /** Made after this, for it needs what comes out of it. */
  registry: () => RoomRegistry;
}

/** @throws StoreRefused, StoreUnavailable */
export async function openDurability({
  config,
  metrics,
  log,
  registry,
}: DurabilityOptions): Promise<Durability | null> {
  const opened = await openStore(config, log);
  if (opened === null) return null;
  const cluster = new Cluster({
    store: measured(opened, metrics.store),
    maxRooms: config.maxRooms,
    metrics: metrics.cluster,
    log,
    rooms: {
      serves: (room) => registry().has(room),
      isOpen: (room) => registry().find(room) !== undefined,
      members: (room) => registry().find(room)?.members.connected ?? 0,
      names: () =>
        registry()
          .list()
          .map(({ name }) => name),
      reads: (listing) => registry().reads(listing),
      adopt: (listing, lease, cause) => registry().adopt(listing, lease, cause),
      handOver: (room) => registry().handOver(room),
      drop: (room) => registry().drop(room),
    },
  });
  const { store, holder } = cluster;
  const journalWriter = new JournalWriter({ store, metrics, log, flushMs: FLUSH_MS });
  return {
    cluster,
    persistence: { store, holder, journalWriter, ownedUntilMs: (room) => cluster.ownedUntilMs(room) },
    close: async () => {
      await journalWriter.close();
      await store.close();
    },
  };
}
