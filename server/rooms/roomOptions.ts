/** Options of a room. */
import { CloseCode } from "../../shared/protocol/protocol.ts";
import type { FastifyBaseLogger } from "fastify";
import type { Config } from "../config.ts";
import type { Audit } from "../auth/audit.ts";
import type { RoomAccess } from "../auth/roomAccess.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { Share } from "../workers/messages.ts";
import type { QuarantineReason } from "../metrics/cluster.ts";
import type { RoomPool } from "../workers/pool.ts";
import type { SaveTurns } from "../persistence/saveTurns.ts";
import type { Phases } from "./ticks/phase.ts";
import type { SceneTemplate } from "./scenes/sceneLibrary.ts";
import type { Probation } from "./recovery/probation.ts";

/** over: ended for good. elsewhere: another process, or this one after a restart, may continue the room. */
export type RoomEnd = "over" | "elsewhere";

export interface RoomOptions {
  name: string;
  scene: string;
  template: SceneTemplate;
  pool: RoomPool;
  config: Config;
  access: RoomAccess;
  audit: Audit;
  metrics: Metrics;
  log: FastifyBaseLogger;
  /** Called once, when the room has ended. */
  onDisposed: (room: object, end: RoomEnd) => void;
  /** Resolves when the room's journal is stored up to now. @throws CodedError STORE_AWAY */
  durable: () => Promise<void>;
  /** Quarantines the room and keeps its stored data; null: there is no store. */
  quarantine: ((reason: QuarantineReason, details: string) => Promise<void>) | null;
  /** Probation of a restored room: begins before its first ticks and ends when it has settled. */
  probation?: Probation;
  /** Returns the time until which the lease certainly holds, ms on performance.now(); called before every tick. */
  ownedUntilMs: () => number;
  /** Returns the room's share of an overloaded thread (weights.ts). */
  share: () => Share;
  /** Of all rooms of the process. */
  phases: Phases;
  saveTurns: SaveTurns;
  /** ISO 8601, for a restored room; absent: now. */
  createdAt?: string;
}

/** Whether a room that closes with this code remains in the store. */
export const continuesElsewhere = (code: number): boolean =>
  code === CloseCode.restarting || code === CloseCode.quarantined;
