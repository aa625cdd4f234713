/**
 * The program of a virtual process: the server's own modules, assembled as in app.ts, without HTTP and threads. load.ts
 * bundles and loads it with a clock, timers and random numbers; no other file loads it.
 */
import type { FastifyBaseLogger } from "fastify";
import { Audit } from "../../server/auth/audit.ts";
import type { Config } from "../../server/config.ts";
import { openDurability } from "../../server/durability.ts";
import type { Metrics } from "../../server/metrics/metrics.ts";
import { RoomRegistry } from "../../server/rooms/registry.ts";
import { Room } from "../../server/rooms/room.ts";
import type { RoomOptions } from "../../server/rooms/roomOptions.ts";
import type { SceneLibrary } from "../../server/rooms/scenes/sceneLibrary.ts";
import type { RoomPool, WorkerPools } from "../../server/workers/pool.ts";

export { denialOf } from "../../server/auth/admission.ts";
export { fingerprint } from "../../server/auth/secrets.ts";
export { DamagedError } from "../../server/persistence/checksummed.ts";
export { unpack } from "../../server/persistence/history.ts";
export { decodeRecording, encodeRecording } from "../../server/persistence/recording.ts";
export { MIGRATIONS } from "../../server/store/sqlite/sqliteFile.ts";
export { SqliteWork } from "../../server/store/sqlite/sqliteWork.ts";
export { LeaseLost, StoreUnavailable } from "../../server/store/store.ts";
export { FrameState } from "../../server/workers/stepping/frameState.ts";
export { StepDropped } from "../../server/workers/stepping/stepThread.ts";
export { ThreadLost } from "../../server/workers/threadLost.ts";

/** A pool that knows the name of its room: one scene may have several rooms. */
export interface NamedPool extends RoomPool {
  room: string;
}

function named<T extends RoomOptions>(options: T): T {
  (options.pool as NamedPool).room = options.name;
  return options;
}

const { open, restore } = Room;
Room.open = (options) => open.call(Room, named(options));
Room.restore = (options, found) => restore.call(Room, named(options), found);

export interface ServerParts {
  config: Config;
  pools: WorkerPools;
  library: SceneLibrary;
  metrics: Metrics;
  log: FastifyBaseLogger;
  /** Address for other processes. */
  url: string;
  version: string;
}

/** Starts a server as app.ts does: opens the store (load.ts chooses it). From then on it can claim rooms. */
export async function startServer({ config, pools, library, metrics, log, url, version }: ServerParts) {
  const durability = await openDurability({
    config,
    metrics,
    log,
    version,
    ready: () => true,
    memoryBytes: () => 0,
    registry: () => registry,
  });
  if (durability === null) throw new Error("the simulated server has a store");
  const { cluster, persistence } = durability;
  const audit = new Audit(log, metrics.auth, persistence.store);
  const registry: RoomRegistry = new RoomRegistry({ persistence, config, audit, library, pools, metrics, log });
  cluster.start(url);
  return {
    cluster,
    registry,
    persistence,
    /** Ends the parts of the process in the order in which app.ts ends them. */
    close: async (): Promise<void> => {
      await cluster.close(() => registry.close());
      await durability.close();
    },
  };
}
