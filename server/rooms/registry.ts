/** All rooms of this process: created, found, listed, ended. A room's name is its key; creating is idempotent. */
import { randomBytes } from "node:crypto";
import type { FastifyBaseLogger } from "fastify";
import { CodedError } from "../../shared/errors.ts";
import { CloseCode } from "../../shared/protocol.ts";
import type { Config } from "../config.ts";
import type { Audit } from "../doors/audit.ts";
import { RoomDoor } from "../doors/roomDoor.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { WorkerPools } from "../workers/pool.ts";
import { Room } from "./room.ts";
import type { SceneLibrary } from "./sceneLibrary.ts";

export const ROOM_NAME = "^[a-z0-9][a-z0-9-]{0,39}$";

export interface RegistryOptions {
  config: Config;
  audit: Audit;
  library: SceneLibrary;
  pools: WorkerPools;
  metrics: Metrics;
  log: FastifyBaseLogger;
}

export interface CreateRoom {
  scene: string;
  /** Absent: a name is made from the scene's. */
  name?: string;
  pool?: "shared" | "dedicated";
  /** `addressKey` of who asks, whose rooms are counted; absent: an operator, whose rooms are not. */
  address?: string;
  /** Who asks, for the audit log. */
  actor?: string;
}

export class RoomRegistry {
  readonly #options: RegistryOptions;
  readonly #rooms = new Map<string, Room>();
  /** Rooms that are being opened, so that two requests for one name make one room. */
  readonly #opening = new Map<string, { scene: string; address: string | undefined; room: Promise<Room> }>();
  #closing = false;

  constructor(options: RegistryOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#rooms.size;
  }

  get closing(): boolean {
    return this.#closing;
  }

  list(): Room[] {
    return [...this.#rooms.values()];
  }

  /** Is it open, or being opened? */
  has(name: string): boolean {
    return this.#rooms.has(name) || this.#opening.has(name);
  }

  find(name: string): Room | undefined {
    return this.#rooms.get(name);
  }

  /** @throws CodedError ROOM_NOT_FOUND */
  get(name: string): Room {
    const room = this.#rooms.get(name);
    if (!room) throw new CodedError("ROOM_NOT_FOUND", { field: "room", value: name });
    return room;
  }

  /**
   * Opens a room, or finds the one that has this name and this scene already.
   * @throws CodedError ROOM_NAME_INVALID, ROOM_EXISTS, ROOM_LIMIT, ADDRESS_ROOM_LIMIT, SCENE_NOT_FOUND, SCENE_INVALID, BUILD_FAILED, SHUTTING_DOWN
   */
  async create({ scene, name = freeName(scene), pool, address, actor = "somebody" }: CreateRoom): Promise<{ room: Room; created: boolean }> {
    if (this.#closing) throw new CodedError("SHUTTING_DOWN");
    if (!new RegExp(ROOM_NAME).test(name)) throw new CodedError("ROOM_NAME_INVALID", { field: "room", value: name, limit: ROOM_NAME });
    const existing = this.#rooms.get(name) ?? this.#opening.get(name);
    if (existing) {
      if (existing.scene !== scene) throw new CodedError("ROOM_EXISTS", { field: "room", value: name, limit: `scene ${existing.scene}` });
      return { room: existing instanceof Room ? existing : await existing.room, created: false };
    }
    const { maxRooms, roomsPerAddress } = this.#options.config;
    if (this.#rooms.size + this.#opening.size >= maxRooms) throw new CodedError("ROOM_LIMIT", { field: "rooms", value: maxRooms, limit: maxRooms });
    if (address !== undefined && this.#madeFrom(address) >= roomsPerAddress) throw new CodedError("ADDRESS_ROOM_LIMIT", { field: "rooms", value: roomsPerAddress, limit: roomsPerAddress });
    const room = this.#open(name, scene, pool ?? this.#options.config.roomPool, new RoomDoor(undefined, address ?? null));
    this.#opening.set(name, { scene, address, room });
    try {
      await room;
      this.#options.audit.record("create", actor, name, { scene, ...(address !== undefined && { address }) });
      return { room: await room, created: true };
    } finally {
      this.#opening.delete(name);
    }
  }

  /** Ends one room. @throws CodedError ROOM_NOT_FOUND */
  async remove(name: string): Promise<void> {
    await this.get(name).dispose(CloseCode.roomGone, "the room was deleted");
  }

  /** Ends all rooms and opens no more: the server goes down. */
  async close(): Promise<void> {
    this.#closing = true;
    await Promise.allSettled(this.list().map((room) => room.dispose(CloseCode.restarting, "the server restarts")));
  }

  #madeFrom(address: string): number {
    const made = this.list().filter((room) => room.door.creator === address).length;
    return made + [...this.#opening.values()].filter((opening) => opening.address === address).length;
  }

  async #open(name: string, scene: string, kind: "shared" | "dedicated", door: RoomDoor): Promise<Room> {
    const { config, audit, library, pools, metrics, log } = this.#options;
    const template = await library.template(scene);
    const pool = pools.forRoom(kind);
    try {
      const onDisposed = (room: Room): void => {
        if (this.#rooms.get(name) === room) this.#rooms.delete(name);
      };
      const room = await Room.open({ name, scene, template, pool, config, door, audit, metrics, log, onDisposed });
      if (this.#closing) {
        await room.dispose(CloseCode.restarting, "the server restarts");
        throw new CodedError("SHUTTING_DOWN");
      }
      this.#rooms.set(name, room);
      metrics.roomsOpened.inc();
      log.info({ room: name, scene, pool: kind }, "room opened");
      return room;
    } catch (error) {
      await pool.release();
      throw error;
    }
  }
}

/** Like `bunny-4f2a91`: says what it is, and is not guessed by the next visitor. */
function freeName(scene: string): string {
  return `${scene.slice(0, 30)}-${randomBytes(3).toString("hex")}`;
}
