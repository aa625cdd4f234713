/** Creates, finds, lists and ends the rooms of this process. A room's name is its key; creating is idempotent. */
import { randomBytes } from "node:crypto";
import type { FastifyBaseLogger } from "fastify";
import { CodedError } from "../../shared/errorCodes.ts";
import { LOBBY_ROOM, LOBBY_SCENE } from "../../shared/members/lobbyRoom.ts";
import { CloseCode } from "../../shared/protocol/protocol.ts";
import type { Config } from "../config.ts";
import type { Audit } from "../auth/audit.ts";
import { RoomAccess } from "../auth/roomAccess.ts";
import { fullNetwork } from "../auth/share.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { WorkerPools } from "../workers/pool.ts";
import { findRoom, type Found } from "../persistence/restore.ts";
import { SaveTurns } from "../persistence/saveTurns.ts";
import type { Persistence } from "../persistence/persistence.ts";
import type { QuarantineReason } from "../metrics/cluster.ts";
import type { RestoreCause } from "../metrics/persistence.ts";
import type { Lease, Listing } from "../store/store.ts";
import { Quarantine } from "./recovery/quarantine.ts";
import { Room } from "./room.ts";
import type { RoomEnd, RoomOptions } from "./roomOptions.ts";
import type { SceneLibrary } from "./scenes/sceneLibrary.ts";
import type { Share } from "../workers/messages.ts";
import type { Rebuilt } from "./ticks/simulation.ts";
import { JournalDiffers, Probations } from "./recovery/probation.ts";
import { Phases } from "./ticks/phase.ts";
import { RoomShares, type WeighedRoom } from "./ticks/weights.ts";

export const ROOM_NAME = "^[a-z0-9][a-z0-9-]{0,39}$";

/** Ratio of the rooms that one address may have to the number that is left. */
const ROOM_SHARE = 1;

/** Another process has the room: the caller must ask there. */
export class RoomElsewhere extends Error {
  readonly listing: Listing;

  constructor(listing: Listing) {
    super(`room ${listing.name} is stepped by ${listing.owner?.process ?? "no process yet"}`);
    this.listing = listing;
  }
}

export interface RegistryOptions {
  /** null: rooms live in memory and end with the process. */
  persistence: Persistence | null;
  config: Config;
  audit: Audit;
  library: SceneLibrary;
  pools: WorkerPools;
  metrics: Metrics;
  log: FastifyBaseLogger;
}

export interface CreateRoom {
  scene: string;
  /** Absent: the name is made from the scene's name. */
  name?: string;
  pool?: "shared" | "dedicated";
  /** `addressKey` of the visitor, against which the room counts; absent: an operator, without a limit. */
  address?: string;
  /** Name of the caller for the audit log. */
  actor?: string;
  /** The request's idempotency key. */
  key?: string;
  /** Generates a free name; tests replace it. */
  makeName?: (scene: string) => string;
}

interface Made {
  room: Room;
  created: boolean;
}

/** Generated names that one request tries. Five letters have millions of them. */
const MOST_NAMES = 100;

export class RoomRegistry {
  readonly #options: RegistryOptions;
  readonly #rooms = new Map<string, Room>();
  /** Rooms that are being opened, so that two requests for one name make one room. */
  readonly #opening = new Map<string, { scene: string; address: string | undefined; room: Promise<Room> }>();
  /** Without a store: the room that each idempotency key created, until it ends. */
  readonly #keys = new Map<string, string>();
  /** Names of rooms that have their own thread. */
  readonly #dedicated = new Set<string>();
  /** Ended rooms, until the store has deleted them. */
  readonly #removing = new Map<string, Promise<void>>();
  readonly quarantine: Quarantine;
  readonly probations: Probations;
  readonly #shares = new RoomShares(() => this.list().map(weighed));
  readonly #phases = new Phases();
  readonly #saveTurns: SaveTurns;
  #closing = false;

  constructor(options: RegistryOptions) {
    this.#options = options;
    this.quarantine = new Quarantine(options);
    this.#saveTurns = new SaveTurns(options.config.workers);
    this.probations = new Probations(options.config.takeoverAttempts);
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

  /** Returns whether the room is open or being opened. */
  has(name: string): boolean {
    return this.#rooms.has(name) || this.#opening.has(name);
  }

  find(name: string): Room | undefined {
    return this.#rooms.get(name);
  }

  /**
   * Returns a room whose lease this process certainly holds. After the lease has expired the local room may be
   * outdated, so it must not decide who may enter.
   */
  serving(name: string): Room | undefined {
    const { persistence } = this.#options;
    return persistence && persistence.ownedUntilMs(name) <= performance.now() ? undefined : this.#rooms.get(name);
  }

  /** @throws CodedError ROOM_NOT_FOUND */
  get(name: string): Room {
    const room = this.#rooms.get(name);
    if (!room) throw new CodedError("ROOM_NOT_FOUND", { field: "room", value: name });
    return room;
  }

  /**
   * Opens a room, or returns the open room of this name and scene.
   * @throws RoomElsewhere; CodedError ROOM_NAME_INVALID, ROOM_EXISTS, ROOM_LIMIT, ADDRESS_ROOM_LIMIT, SCENE_NOT_FOUND,
   *   SCENE_INVALID, BUILD_FAILED, SHUTTING_DOWN
   */
  async create(wanted: CreateRoom): Promise<Made> {
    const { scene, key, makeName = freeName } = wanted;
    const name = (key !== undefined && this.#keys.get(key)) || wanted.name;
    if (name !== undefined) return this.#create({ ...wanted, name });
    for (let attempt = 1; ; attempt++) {
      const made = makeName(scene);
      const isLast = attempt === MOST_NAMES;
      // If a room elsewhere has the generated name, it is not the room of this request's key. Try the next name.
      const found = await this.#create({ ...wanted, name: made }).catch((error: unknown) => {
        const isTaken =
          error instanceof RoomElsewhere
            ? error.listing.name === made
            : // The room of the request's key may have another scene. No other name changes that.
              error instanceof CodedError && error.code === "ROOM_EXISTS" && error.details.value === made;
        if (isTaken && !isLast) return null;
        throw error;
      });
      if (found && (found.created || found.room.name !== made)) return found;
    }
  }

  async #create({ scene, name, pool, address, actor = "somebody", key }: CreateRoom & { name: string }): Promise<Made> {
    if (this.#closing) throw new CodedError("SHUTTING_DOWN");
    if (!new RegExp(ROOM_NAME).test(name))
      throw new CodedError("ROOM_NAME_INVALID", { field: "room", value: name, limit: ROOM_NAME });
    // Otherwise the first visitor would choose the scene that all visitors of the lobby see.
    if (name === LOBBY_ROOM && scene !== LOBBY_SCENE)
      throw new CodedError("ROOM_EXISTS", { field: "room", value: name, limit: `scene ${LOBBY_SCENE}` });
    const existing = this.#rooms.get(name) ?? this.#opening.get(name);
    if (existing) {
      if (existing.scene !== scene)
        throw new CodedError("ROOM_EXISTS", { field: "room", value: name, limit: `scene ${existing.scene}` });
      return { room: existing instanceof Room ? existing : await existing.room, created: false };
    }
    this.#requirePlace(address);
    // Operators limit the number of own threads. Only a request that names "dedicated" is refused; other rooms share.
    if (pool === "dedicated" && !this.#mayDedicate)
      throw new CodedError("ROOM_LIMIT", {
        field: "pool",
        value: pool,
        limit: `${this.#options.config.dedicatedRooms} dedicated rooms`,
      });
    if (key !== undefined && !this.#options.persistence) this.#keys.set(key, name);
    const making = this.#make({
      name,
      scene,
      pool: pool ?? this.#options.config.roomPool,
      access: new RoomAccess(undefined, address ?? null),
      key,
    });
    const { room, created } = await this.#whileOpening(name, scene, address, making).finally(() => this.#forgetKeys());
    if (created)
      this.#options.audit.record("create", actor, room.name, { scene, ...(address !== undefined && { address }) });
    return { room, created };
  }

  /**
   * Takes over a stored room, under a lease that this process has just claimed.
   * @throws CodedError SCENE_NOT_FOUND, SCENE_INVALID, BUILD_FAILED, SHUTTING_DOWN; any error of the store. The caller
   *   must then release the lease.
   * @returns null: the room is now quarantined and its lease released
   */
  async takeOver(listing: Listing, lease: Lease, cause: RestoreCause = "restart"): Promise<Room | null> {
    if (this.#closing) throw new CodedError("SHUTTING_DOWN");
    const { name, scene } = listing;
    const takenOver = this.#takeOver(listing, lease, cause).then((room) => ({ room, created: false }));
    try {
      return (await this.#whileOpening(name, scene, undefined, takenOver)).room;
    } catch (error) {
      if (error instanceof CodedError && error.code === "ROOM_QUARANTINED") return null;
      this.#options.metrics.persistence.failed("restore");
      throw error;
    }
  }

  /**
   * Returns whether this program can read a room that is quarantined because another version stepped it. Never rejects.
   */
  async reads({ scene, quarantined }: Listing): Promise<boolean> {
    const template = await this.#options.library.template(scene).catch(() => null);
    return template !== null && template.identity === quarantined?.identity;
  }

  /**
   * Hands a room to another process: stores its last state, releases its lease and closes its sockets with
   * "restarting".
   * @throws CodedError STORE_AWAY: the journal cannot be written, so the room stays here
   */
  async handOver(name: string): Promise<void> {
    await this.#options.persistence?.journalWriter.durable(name);
    await this.#giveUp(name);
  }

  async #giveUp(name: string): Promise<void> {
    const { persistence, metrics } = this.#options;
    await this.#rooms.get(name)?.handOver(async () => {
      const whole = await persistence?.journalWriter.release(name);
      if (whole === false)
        this.#options.log.error({ room: name }, "a room was handed over, but its last ticks are not stored");
    });
    metrics.cluster.handover("out");
  }

  /**
   * Starts a room's scene again from its changed file. Access stays; members are let go with "restarting" and return.
   * @throws as `create`
   */
  async restart(name: string): Promise<void> {
    const room = this.get(name);
    const { scene } = room;
    if (this.#options.persistence) {
      await this.handOver(name);
      await this.create({ scene, name });
      return;
    }
    await this.#openAgain(room, scene);
  }

  /** Ends a room that is not stored, and opens it with this scene. */
  async #openAgain(room: Room, scene: string): Promise<void> {
    const { name } = room;
    const kind = this.#dedicated.has(name) ? "dedicated" : "shared";
    const access = RoomAccess.fromSettings(room.access.toSettings());
    await room.dispose(CloseCode.restarting, "the room starts again with a changed scene");
    const opening = this.#open(name, scene, kind, access).then((opened) => ({ room: opened, created: false }));
    await this.#whileOpening(name, scene, undefined, opening);
  }

  /**
   * Starts a room again with another scene. Access and members stay; sockets close with "restarting" and return.
   * @throws CodedError ROOM_MOVING: another process has claimed the room meanwhile, with its former scene; as `create`
   */
  async changeScene(name: string, scene: string): Promise<void> {
    const { persistence, library } = this.#options;
    const room = this.get(name);
    // A scene that fails to build leaves the room as it is.
    await library.template(scene, room.access.creator ?? undefined);
    if (!persistence) return this.#openAgain(room, scene);
    const { store, holder } = persistence;
    await this.handOver(name);
    const lease = await store.claim(name, holder);
    if (!lease) throw new CodedError("ROOM_MOVING", { field: "room", value: name });
    try {
      await store.changeScene(lease, scene);
      const listing = await store.room(name);
      if (!listing || !(await this.takeOver(listing, lease)))
        throw new CodedError("ROOM_NOT_FOUND", { field: "room", value: name });
    } catch (error) {
      await store.release(lease).catch(() => {});
      throw error;
    }
  }

  /** Stops a room at once and writes nothing, because another process has its lease. */
  async drop(name: string): Promise<void> {
    this.#options.persistence?.journalWriter.drop(name);
    await this.#rooms.get(name)?.dispose(CloseCode.restarting, "the room moved to another process");
  }

  /**
   * Ends one room, even one that is only in the store and cannot be restored.
   * @throws CodedError ROOM_NOT_FOUND; ROOM_MOVING: another process has just claimed it
   */
  async remove(name: string): Promise<void> {
    await this.#opening.get(name)?.room.catch(() => {});
    const { persistence, log } = this.#options;
    if (this.#rooms.has(name) || !persistence || !(await persistence.store.room(name)))
      return this.#end(this.get(name));
    const lease = await persistence.store.claim(name, persistence.holder, { quarantined: true });
    if (!lease) throw new CodedError("ROOM_MOVING", { field: "room", value: name });
    try {
      await persistence.store.removeRoom(lease);
    } catch (error) {
      await persistence.store.release(lease).catch(() => {}); // An unused lease would lock the room.
      throw error;
    }
    log.info({ room: name }, "a room that no process had open was removed from the store");
  }

  /** Resolves when the store has deleted the room, too. @throws CodedError STORE_AWAY */
  async #end(room: Room): Promise<void> {
    const disposed = room.dispose(CloseCode.roomGone, "the room was deleted");
    await this.#removing.get(room.name);
    await disposed;
  }

  /** Ends all rooms and opens no more, for a shutdown. Stored rooms are handed over. */
  async close(): Promise<void> {
    this.#closing = true;
    const end = (room: Room): Promise<void> =>
      this.#options.persistence ? this.#giveUp(room.name) : room.dispose(CloseCode.restarting, "the server restarts");
    await Promise.allSettled(this.list().map(end));
  }

  /**
   * Checks the limits of rooms. Unless an address may have all rooms, it may have as many as it leaves free, so that
   * two addresses never fill a server.
   * @throws CodedError ROOM_LIMIT, ADDRESS_ROOM_LIMIT
   */
  #requirePlace(address: string | undefined): void {
    const { maxRooms, roomsPerAddress } = this.#options.config;
    const taken = this.#rooms.size + this.#opening.size;
    if (taken >= maxRooms) throw new CodedError("ROOM_LIMIT", { field: "rooms", value: maxRooms, limit: maxRooms });
    if (address === undefined) return;
    const ratio = roomsPerAddress < maxRooms ? ROOM_SHARE : 0;
    const full = fullNetwork(address, this.#makers, { perAddress: roomsPerAddress, taken, all: maxRooms, ratio });
    if (!full) return;
    const limit = full.limit ?? "the number of rooms left for other addresses";
    throw new CodedError("ADDRESS_ROOM_LIMIT", { field: "rooms", value: full.own, limit });
  }

  get #mayDedicate(): boolean {
    return this.#dedicated.size < this.#options.config.dedicatedRooms;
  }

  /** Addresses of the visitors who created rooms. Rooms of operators are not counted. */
  get #makers(): string[] {
    const makers = [
      ...this.list().map((room) => room.access.creator),
      ...[...this.#opening.values()].map(({ address }) => address),
    ];
    return makers.filter((address) => typeof address === "string");
  }

  async #whileOpening(name: string, scene: string, address: string | undefined, making: Promise<Made>): Promise<Made> {
    const room = making.then((made) => made.room);
    room.catch(() => {}); // Callers that await it get the error; there may be none.
    this.#opening.set(name, { scene, address, room });
    try {
      return await making;
    } finally {
      this.#opening.delete(name);
    }
  }

  /** Forgets the keys of rooms that have ended or failed to open. */
  #forgetKeys(): void {
    for (const [key, name] of this.#keys) if (!this.has(name)) this.#keys.delete(key);
  }

  /** Creates a room; or takes over the stored room of this name if it has no owner. */
  async #make({
    name,
    scene,
    pool,
    access,
    key,
  }: {
    name: string;
    scene: string;
    pool: "shared" | "dedicated";
    access: RoomAccess;
    key: string | undefined;
  }): Promise<Made> {
    const { persistence, library } = this.#options;
    if (!persistence) return { room: await this.#open(name, scene, pool, access), created: true };
    // Build the scene first, so that a scene that fails leaves no stored room behind.
    await library.template(scene, access.creator ?? undefined);
    const { store, holder, journalWriter } = persistence;
    const made = await store.createRoom(
      { name, scene, pool, createdAt: new Date().toISOString(), settings: access.toSettings() },
      holder,
      key,
    );
    if (!made.created) return { room: await this.#take(made.room, scene), created: false };
    try {
      const room = await this.#open(name, scene, pool, access, made.lease, async (options) => {
        const opened = await Room.open(options);
        journalWriter.hold(opened, made.lease);
        return opened;
      });
      return { room, created: true };
    } catch (error) {
      // If the room cannot be removed from the store, release it, so that any process can take it over.
      await store.removeRoom(made.lease).catch(() => store.release(made.lease).catch(() => {}));
      throw error;
    }
  }

  async #take(listing: Listing, scene: string): Promise<Room> {
    const { store, holder, isOthers } = this.#options.persistence!;
    const { name } = listing;
    if (listing.scene !== scene)
      throw new CodedError("ROOM_EXISTS", { field: "room", value: name, limit: `scene ${listing.scene}` });
    const here = this.#rooms.get(name);
    if (here) return here;
    if (listing.quarantined) throw roomQuarantined(name, listing.quarantined.reason);
    // A recent owner may be handing the room to another process.
    if (listing.owner !== null || (await isOthers(listing))) throw new RoomElsewhere(listing);
    const over = await this.probations.turn(listing.attempts + 1);
    let lease: Lease | null = null;
    try {
      lease = await store.claim(name, holder);
      if (!lease) throw new RoomElsewhere((await store.room(name)) ?? listing);
      return await this.#takeOver(listing, lease, "restart");
    } catch (error) {
      if (!lease || (error instanceof CodedError && error.code === "ROOM_QUARANTINED")) throw error;
      this.#options.metrics.persistence.failed("restore");
      await store.release(lease).catch(() => {});
      throw error;
    } finally {
      over();
    }
  }

  /**
   * Restores a claimed room. The claim counts as an attempt until the room has settled. An orderly failure with an
   * outside cause (a missing scene file, the store) does not count.
   * @throws CodedError ROOM_QUARANTINED: the room is quarantined and its lease released
   */
  async #takeOver(listing: Listing, lease: Lease, cause: RestoreCause): Promise<Room> {
    const { attempts = 0 } = lease;
    const { store } = this.#options.persistence!;
    if (this.probations.isOver(attempts))
      return this.#quarantine(
        lease,
        "attempts",
        `taken over ${attempts - 1} times without settling: each time its process or thread ended`,
      );
    try {
      // Read the room again: its last owner may have written between the listing and the claim. If the room was removed
      // meanwhile, the first write under this lease is refused.
      const claimed = (await store.room(listing.name)) ?? listing;
      return await this.#restore(claimed, lease, cause);
    } catch (error) {
      if (error instanceof JournalDiffers) return await this.#quarantine(lease, "differs", error.message);
      if (isOrderly(error) && attempts > 0) await store.countAttempts(lease, attempts - 1).catch(() => {});
      throw error;
    }
  }

  async #quarantine(lease: Lease, reason: QuarantineReason, details: string, identity?: string): Promise<never> {
    await this.quarantine.quarantine(lease, reason, details, identity);
    throw roomQuarantined(lease.room, reason);
  }

  async #restore(
    { name, scene, pool, settings, createdAt }: Listing,
    lease: Lease,
    cause: RestoreCause,
  ): Promise<Room> {
    const { library, persistence, metrics, log, config } = this.#options;
    const { store, journalWriter } = persistence!;
    const startMs = performance.now();
    const { identity } = await library.template(scene);
    const found = await findRoom(store, name, identity);
    for (const { what, tick, reason } of found.damaged) {
      metrics.persistence.damaged(what);
      log.error(
        { room: name, what, tick, reason },
        "stored data of a room is damaged; it is quarantined, and the room continues from an earlier state",
      );
    }
    if (found.unreached.length > 0)
      log.warn(
        { room: name, pieces: found.unreached.length },
        "journal segments of a room that follow a gap are quarantined",
      );
    const access = RoomAccess.fromSettings(settings);
    if (found.otherVersion && config.otherVersions === "quarantine")
      await this.#quarantine(
        lease,
        "version",
        `states of ${found.identity}, but this program and scene are ${identity}`,
        found.identity!,
      );
    if (found.otherVersion) {
      log.warn(
        { room: name, scene },
        "another version of the scene or the program wrote the room's state; its scene starts again",
      );
      await store.truncate(lease, -1);
      return this.#open(name, scene, pool, access, lease, async (options) => {
        const opened = await Room.open(options);
        journalWriter.hold(opened, lease);
        return opened;
      });
    }
    const probation = this.probations.of(lease.attempts ?? 0, () => journalWriter.durable(name));
    let rebuilt: Rebuilt | undefined;
    const room = await this.#open(name, scene, pool, access, lease, async (options) => {
      const restored = await Room.restore({ ...options, createdAt, probation }, found);
      rebuilt = restored.rebuilt;
      await this.#held(restored.room, lease, rebuilt.tick, found);
      return restored.room;
    });
    const { tick } = rebuilt!;
    // The restore succeeded. Unless the room already ticks, its probation is suspended: store this at once.
    await journalWriter.flush(name);
    const seconds = (performance.now() - startMs) / 1000;
    metrics.persistence.restored(cause, seconds, rebuilt!.ticks);
    log.info(
      { room: name, cause, tick, ticks: rebuilt!.ticks, stateHash: rebuilt!.stateHash, seconds },
      "room restored",
    );
    return room;
  }

  /**
   * Registers a restored room with the journal writer. This happens before the room is visible: otherwise an undo or a
   * setting could be acknowledged without being stored.
   */
  async #held(
    room: Room,
    lease: Lease,
    tick: number,
    { checkpoints, segments, damaged, unreached }: Found,
  ): Promise<void> {
    const { store, journalWriter } = this.#options.persistence!;
    const { quarantineDays: days, quarantineMb } = this.#options.config;
    const limits = { days, bytes: quarantineMb * 2 ** 20 };
    try {
      // Quarantine rows behind a gap: they must not be read as this room's next ticks.
      await store.quarantinePieces(lease, [...damaged, ...unreached], new Date().toISOString(), limits);
    } catch (error) {
      await room.dispose(CloseCode.restarting, "the store refused the room");
      throw error;
    }
    journalWriter.hold(room, lease, {
      tick,
      checkpoints: checkpoints.map(({ checkpoint }) => checkpoint.tick),
      segments: segments.map(({ until }) => until),
    });
  }

  async #open(
    name: string,
    scene: string,
    kind: "shared" | "dedicated",
    access: RoomAccess,
    lease?: Lease,
    begin: (options: RoomOptions) => Promise<Room> = (options) => Room.open(options),
  ): Promise<Room> {
    const { config, audit, library, pools, metrics, log, persistence } = this.#options;
    const template = await library.template(scene, access.creator ?? undefined);
    const own = kind === "dedicated" && this.#mayDedicate;
    const pool = pools.forRoom(own ? "dedicated" : "shared");
    if (own) this.#dedicated.add(name);
    try {
      const onDisposed = (room: object, end: RoomEnd): void => {
        if (own) this.#dedicated.delete(name);
        if (this.#rooms.get(name) === room) this.#rooms.delete(name);
        this.#forgetKeys();
        if (end !== "over" || !persistence) return;
        const removed = persistence.journalWriter.remove(name);
        this.#removing.set(name, removed);
        // The caller of `remove` gets the error, and it is logged.
        removed.catch(() => {}).finally(() => this.#removing.delete(name));
      };
      const ownedUntilMs = persistence ? () => persistence.ownedUntilMs(name) : () => Infinity;
      const share = (): Share => this.#shares.shareOf(name, performance.now());
      const room = await begin({
        name,
        scene,
        template,
        pool,
        config,
        access,
        audit,
        metrics,
        log,
        onDisposed,
        durable: async () => persistence?.journalWriter.durable(name),
        quarantine: persistence && ((reason, details) => this.quarantine.quarantineOpen(name, reason, details)),
        ownedUntilMs,
        share,
        phases: this.#phases,
        saveTurns: this.#saveTurns,
      });
      if (this.#closing) {
        persistence?.journalWriter.drop(name);
        await room.dispose(CloseCode.restarting, "the server restarts");
        throw new CodedError("SHUTTING_DOWN");
      }
      if (persistence && lease) access.onChanged = () => persistence.journalWriter.settingsChanged(name);
      this.#rooms.set(name, room);
      metrics.roomsOpened.inc();
      log.info({ room: name, scene, pool: pool.kind }, "room opened");
      return room;
    } catch (error) {
      if (own) this.#dedicated.delete(name);
      await pool.release();
      throw error;
    }
  }
}

const roomQuarantined = (room: string, reason: QuarantineReason): CodedError =>
  new CodedError("ROOM_QUARANTINED", { field: "room", value: room, limit: reason });

/** The process survived, and the room did not cause the error. */
const isOrderly = (error: unknown): boolean =>
  error instanceof CodedError || ["StoreUnavailable", "LeaseLost"].includes((error as Error).name);

const weighed = ({ name, members }: Room): WeighedRoom => ({ name, addresses: members.addresses() });

/** 32 letters and digits that people do not confuse when they read or say them. */
const LETTERS = "abcdefghjkmnpqrstuvwxyz023456789";

/** Generates a code of five letters, which people can type and the next visitor cannot guess. */
function freeName(): string {
  const number = randomBytes(3).readUIntBE(0, 3);
  return Array.from({ length: 5 }, (_, k) => LETTERS[(number >> (5 * k)) & 31]).join("");
}
