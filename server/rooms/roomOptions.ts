/** What a room is made with. */
import type { FastifyBaseLogger } from "fastify";
import type { Config } from "../config.ts";
import type { Audit } from "../auth/audit.ts";
import type { RoomAccess } from "../auth/roomAccess.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { Share } from "../workers/messages.ts";
import type { ParkedReason } from "../metrics/cluster.ts";
import type { RoomPool } from "../workers/pool.ts";
import type { SceneTemplate } from "./sceneLibrary.ts";
import type { Trial } from "./trials.ts";
import type { Room } from "./room.ts";

/** over: for good. elsewhere: it may go on in another process, or in this one after a restart. */
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
  /** The room is over; called once. */
  onDisposed: (room: Room, end: RoomEnd) => void;
  /** Resolves when all that the room has done is in the store. @throws CodedError STORE_AWAY */
  durable: () => Promise<void>;
  /** Keeps the room from being served, with all that the store has of it; null: there is no store. */
  park: ((reason: ParkedReason, details: string) => Promise<void>) | null;
  /** Of a room that was taken from the store: around the ticks in which it has to show that it does no harm. */
  trial?: Trial;
  /** Asked before every tick: until when does this process certainly own the room, ms on performance.now()? */
  ownedUntilMs: () => number;
  /** Where a thread is too small for all (weights.ts). */
  share: () => Share;
  /** ISO 8601, of a room that was before; absent: now. */
  createdAt?: string;
}
