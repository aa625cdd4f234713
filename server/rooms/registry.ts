/** All rooms of this process: created, found, listed, ended. A room's name is its key; creating is idempotent. */
import { randomBytes } from "node:crypto";
import type { FastifyBaseLogger } from "fastify";
import { CodedError } from "../../shared/errors.ts";
import { CloseCode } from "../../shared/protocol/protocol.ts";
import type { Config } from "../config.ts";
import type { Audit } from "../auth/audit.ts";
import { RoomAccess } from "../auth/roomAccess.ts";
import { fullNetwork } from "../auth/share.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { WorkerPools } from "../workers/pool.ts";
import { findRoom, type Found } from "../persistence/restore.ts";
import type { JournalWriter } from "../persistence/journalWriter.ts";
import type { ParkedReason } from "../metrics/cluster.ts";
import type { RestoreCause } from "../metrics/persistence.ts";
import type { Holder, Lease, Listing, Store } from "../store/store.ts";
import { Parking } from "./parking.ts";
import { Room } from "./room.ts";
import type { RoomEnd, RoomOptions } from "./roomOptions.ts";
import type { SceneLibrary } from "./sceneLibrary.ts";
import type { Share } from "../workers/messages.ts";
import type { Rebuilt } from "./simulation.ts";
import { JournalDiffers, Trials } from "./trials.ts";
import { RoomShares, type WeighedRoom } from "./weights.ts";

export const ROOM_NAME = "^[a-z0-9][a-z0-9-]{0,39}$";

/** Times as many rooms as are left, one address may have. */
const ROOM_SHARE = 1;

/** Where rooms are kept, and by what right this process steps them. */
export interface Persistence {
  store: Store;
  holder: Holder;
  journalWriter: JournalWriter;
  /** Until when is the room's lease certain to hold, ms on performance.now()? */
  ownedUntilMs: (room: string) => number;
  /** Is the room, which nobody owns, another process's to take? */
  isOthers: (room: Listing) => Promise<boolean>;
}

/** The room is another process's: whoever asked is to ask there. */
export class RoomElsewhere extends Error {
  readonly listing: Listing;

  constructor(listing: Listing) {
    super(`room ${listing.name} is stepped by ${listing.owner?.process ?? "nobody yet"}`);
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
  /** Absent: a name is made from the scene's. */
  name?: string;
  pool?: "shared" | "dedicated";
  /** `addressKey` of who asks, whose rooms are counted; absent: an operator, whose rooms are not. */
  address?: string;
  /** Who asks, for the audit log. */
  actor?: string;
  /** The request's idempotency key. */
  key?: string;
  /** For tests: names that are made up. */
  makeName?: (scene: string) => string;
}

interface Made {
  room: Room;
  created: boolean;
}

export class RoomRegistry {
  readonly #options: RegistryOptions;
  readonly #rooms = new Map<string, Room>();
  /** Rooms that are being opened, so that two requests for one name make one room. */
  readonly #opening = new Map<string, { scene: string; address: string | undefined; room: Promise<Room> }>();
  /** Names of rooms with a thread of their own. */
  readonly #dedicated = new Set<string>();
  /** Rooms that are over, until the store has forgotten them. */
  readonly #removing = new Map<string, Promise<void>>();
  readonly parking: Parking;
  readonly trials: Trials;
  readonly #shares = new RoomShares(() => this.list().map(weighed));
  #closing = false;

  constructor(options: RegistryOptions) {
    this.#options = options;
    this.parking = new Parking(options);
    this.trials = new Trials(options.config.adoptionAttempts);
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

  /**
   * A room that this process is known to own. What it remembers of one whose lease is over may be outdated: nobody is
   * let in or kept out by that.
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
   * Opens a room, or finds the one that has this name and this scene already.
   * @throws RoomElsewhere; CodedError ROOM_NAME_INVALID, ROOM_EXISTS, ROOM_LIMIT, ADDRESS_ROOM_LIMIT, SCENE_NOT_FOUND,
   *   SCENE_INVALID, BUILD_FAILED, SHUTTING_DOWN
   */
  async create(wanted: CreateRoom): Promise<Made> {
    const { scene, name, makeName = freeName } = wanted;
    if (name !== undefined) return this.#create({ ...wanted, name });
    for (;;) {
      const made = makeName(scene);
      // A name that somebody else has is not what the key of this request has made, and nobody's to be given.
      const found = await this.#create({ ...wanted, name: made }).catch((error: unknown) => {
        if (error instanceof RoomElsewhere && error.listing.name === made) return null;
        throw error;
      });
      if (found && (found.created || found.room.name !== made)) return found;
    }
  }

  async #create({ scene, name, pool, address, actor = "somebody", key }: CreateRoom & { name: string }): Promise<Made> {
    if (this.#closing) throw new CodedError("SHUTTING_DOWN");
    if (!new RegExp(ROOM_NAME).test(name))
      throw new CodedError("ROOM_NAME_INVALID", { field: "room", value: name, limit: ROOM_NAME });
    const existing = this.#rooms.get(name) ?? this.#opening.get(name);
    if (existing) {
      if (existing.scene !== scene)
        throw new CodedError("ROOM_EXISTS", { field: "room", value: name, limit: `scene ${existing.scene}` });
      return { room: existing instanceof Room ? existing : await existing.room, created: false };
    }
    this.#requirePlace(address);
    // A thread of its own is the operator's to give; where there are no more, a room that did not ask for one by name
    // shares.
    if (pool === "dedicated" && !this.#mayDedicate)
      throw new CodedError("ROOM_LIMIT", {
        field: "pool",
        value: pool,
        limit: `${this.#options.config.dedicatedRooms} dedicated rooms`,
      });
    const making = this.#make({
      name,
      scene,
      pool: pool ?? this.#options.config.roomPool,
      access: new RoomAccess(undefined, address ?? null),
      key,
    });
    const { room, created } = await this.#whileOpening(name, scene, address, making);
    if (created)
      this.#options.audit.record("create", actor, room.name, { scene, ...(address !== undefined && { address }) });
    return { room, created };
  }

  /**
   * Serves a room that is in the store, under a lease that this process has just got.
   * @throws CodedError SCENE_NOT_FOUND, SCENE_INVALID, BUILD_FAILED, SHUTTING_DOWN; whatever the store says. The lease
   *   is the caller's to release then.
   * @returns null: nobody should serve it, and it is parked now; the lease is over
   */
  async adopt(listing: Listing, lease: Lease, cause: RestoreCause = "restart"): Promise<Room | null> {
    if (this.#closing) throw new CodedError("SHUTTING_DOWN");
    const { name, scene } = listing;
    const adopted = this.#adopt(listing, lease, cause).then((room) => ({ room, created: false }));
    try {
      return (await this.#whileOpening(name, scene, undefined, adopted)).room;
    } catch (error) {
      if (error instanceof CodedError && error.code === "ROOM_PARKED") return null;
      this.#options.metrics.persistence.failed("restore");
      throw error;
    }
  }

  /** Was the room, which is parked for it, stepped by this program with this scene? Never rejects. */
  async reads({ scene, parked }: Listing): Promise<boolean> {
    const template = await this.#options.library.template(scene).catch(() => null);
    return template !== null && template.identity === parked?.identity;
  }

  /**
   * Gives a room up for others: its last state into the store, its lease released, its sockets closed with
   * "restarting".
   * @throws CodedError STORE_AWAY: the store does not take what the room did; it goes on here
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
        this.#options.log.error({ room: name }, "a room was given up, but the store has not got all of it");
    });
    metrics.cluster.handover("out");
  }

  /** The room's lease is somebody else's: stops it at once and writes nothing. */
  async drop(name: string): Promise<void> {
    this.#options.persistence?.journalWriter.drop(name);
    await this.#rooms.get(name)?.dispose(CloseCode.restarting, "the room is elsewhere now");
  }

  /**
   * Ends one room; also one that is only in the store, because nobody can restore it.
   * @throws CodedError ROOM_NOT_FOUND; ROOM_MOVING: another process has just taken it
   */
  async remove(name: string): Promise<void> {
    await this.#opening.get(name)?.room.catch(() => {});
    const { persistence, log } = this.#options;
    if (this.#rooms.has(name) || !persistence || !(await persistence.store.room(name)))
      return this.#end(this.get(name));
    const lease = await persistence.store.claim(name, persistence.holder, { parked: true });
    if (!lease) throw new CodedError("ROOM_MOVING", { field: "room", value: name });
    try {
      await persistence.store.removeRoom(lease);
    } catch (error) {
      await persistence.store.release(lease).catch(() => {}); // A lease without a room would keep everybody from it.
      throw error;
    }
    log.info({ room: name }, "a room that nobody had open was removed from the store");
  }

  /** Resolves when the store has forgotten it, too. @throws CodedError STORE_AWAY */
  async #end(room: Room): Promise<void> {
    const disposed = room.dispose(CloseCode.roomGone, "the room was deleted");
    await this.#removing.get(room.name);
    await disposed;
  }

  /** Ends all rooms and opens no more: the server goes down. What is kept is handed over. */
  async close(): Promise<void> {
    this.#closing = true;
    const end = (room: Room): Promise<void> =>
      this.#options.persistence ? this.#giveUp(room.name) : room.dispose(CloseCode.restarting, "the server restarts");
    await Promise.allSettled(this.list().map(end));
  }

  /**
   * An address that may not have them all may have as many rooms as it leaves: two addresses never fill a server.
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
    const limit = full.limit ?? "as many as are left for others";
    throw new CodedError("ADDRESS_ROOM_LIMIT", { field: "rooms", value: full.own, limit });
  }

  get #mayDedicate(): boolean {
    return this.#dedicated.size < this.#options.config.dedicatedRooms;
  }

  /** Addresses that made the rooms; operators made the others. */
  get #makers(): string[] {
    const makers = [
      ...this.list().map((room) => room.access.creator),
      ...[...this.#opening.values()].map(({ address }) => address),
    ];
    return makers.filter((address) => typeof address === "string");
  }

  async #whileOpening(name: string, scene: string, address: string | undefined, making: Promise<Made>): Promise<Made> {
    const room = making.then((made) => made.room);
    room.catch(() => {}); // Whoever waits for it hears of it; perhaps nobody does.
    this.#opening.set(name, { scene, address, room });
    try {
      return await making;
    } finally {
      this.#opening.delete(name);
    }
  }

  /** A new room; or the one that the store knows by this name, if nobody has it. */
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
    // A scene that cannot be built leaves no room behind.
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
      // One that stays in the store all the same is anybody's.
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
    if (listing.parked) throw roomParked(name, listing.parked.reason);
    // Whoever owned it a moment ago may have given it to somebody meanwhile.
    if (listing.owner !== null || (await isOthers(listing))) throw new RoomElsewhere(listing);
    const over = await this.trials.turn(listing.attempts + 1);
    let lease: Lease | null = null;
    try {
      lease = await store.claim(name, holder);
      if (!lease) throw new RoomElsewhere((await store.room(name)) ?? listing);
      return await this.#adopt(listing, lease, "restart");
    } catch (error) {
      if (!lease || (error instanceof CodedError && error.code === "ROOM_PARKED")) throw error;
      this.#options.metrics.persistence.failed("restore");
      await store.release(lease).catch(() => {});
      throw error;
    } finally {
      over();
    }
  }

  /**
   * The claim counts as an attempt until the room has settled. What failed in an orderly way for want of something else
   * (its scene's file, the store) is none.
   * @throws CodedError ROOM_PARKED: nobody should serve it; its lease is over
   */
  async #adopt(listing: Listing, lease: Lease, cause: RestoreCause): Promise<Room> {
    const { attempts = 0 } = lease;
    const { store } = this.#options.persistence!;
    if (this.trials.isOver(attempts))
      return this.#park(
        lease,
        "attempts",
        `taken over ${attempts - 1} times, it has not settled once: processes or threads have ended over it`,
      );
    try {
      // It was listed before it was claimed, and its last owner may have written in between. Of a room that is gone by
      // now, the first write under this lease is refused.
      const claimed = (await store.room(listing.name)) ?? listing;
      return await this.#restore(claimed, lease, cause);
    } catch (error) {
      if (error instanceof JournalDiffers) return await this.#park(lease, "differs", error.message);
      if (isOrderly(error) && attempts > 0) await store.countAttempts(lease, attempts - 1).catch(() => {});
      throw error;
    }
  }

  async #park(lease: Lease, reason: ParkedReason, details: string, identity?: string): Promise<never> {
    await this.parking.park(lease, reason, details, identity);
    throw roomParked(lease.room, reason);
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
        "what the store has of a room is damaged; it is set aside, and the room goes on from what was before",
      );
    }
    if (found.unreached.length > 0)
      log.warn(
        { room: name, pieces: found.unreached.length },
        "pieces of a room's journal that nothing leads to any more are set aside",
      );
    const access = RoomAccess.fromSettings(settings);
    if (found.foreign && config.otherVersions === "park")
      await this.#park(
        lease,
        "version",
        `states of ${found.identity}, but this program and scene are ${identity}`,
        found.identity!,
      );
    if (found.foreign) {
      log.warn(
        { room: name, scene },
        "the room was stepped by another version of the scene or the program; its scene starts again",
      );
      await store.truncate(lease, -1);
      return this.#open(name, scene, pool, access, lease, async (options) => {
        const opened = await Room.open(options);
        journalWriter.hold(opened, lease);
        return opened;
      });
    }
    const trial = this.trials.of(lease.attempts ?? 0, () => journalWriter.durable(name));
    let rebuilt: Rebuilt | undefined;
    const room = await this.#open(name, scene, pool, access, lease, async (options) => {
      const restored = await Room.restore({ ...options, createdAt, trial }, found);
      rebuilt = restored.rebuilt;
      await this.#held(restored.room, lease, rebuilt.tick, found);
      return restored.room;
    });
    const { tick } = rebuilt!;
    // It has come so far unharmed: unless it ticks already, it is on trial no more for now, and the store knows at
    // once.
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
   * What the room does from now on is written. Before anybody sees it: an undo or a setting of a room that nobody
   * writes for would be acknowledged and lost.
   */
  async #held(
    room: Room,
    lease: Lease,
    tick: number,
    { checkpoints, segments, damaged, unreached }: Found,
  ): Promise<void> {
    const { store, journalWriter } = this.#options.persistence!;
    const { setAsideDays: days, setAsideMb } = this.#options.config;
    const limits = { days, bytes: setAsideMb * 2 ** 20 };
    try {
      // What the store has of it ends where it was rebuilt: what lies behind a gap must not be taken for what comes
      // next.
      await store.setAside(lease, [...damaged, ...unreached], new Date().toISOString(), limits);
    } catch (error) {
      await room.dispose(CloseCode.restarting, "the store did not take it");
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
      const onDisposed = (room: Room, end: RoomEnd): void => {
        if (own) this.#dedicated.delete(name);
        if (this.#rooms.get(name) === room) this.#rooms.delete(name);
        if (end !== "over" || !persistence) return;
        const removed = persistence.journalWriter.remove(name);
        this.#removing.set(name, removed);
        // Whoever has asked for its end hears of it; it is in the log.
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
        park: persistence && ((reason, details) => this.parking.parkOpen(name, reason, details)),
        ownedUntilMs,
        share,
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

const roomParked = (room: string, reason: ParkedReason): CodedError =>
  new CodedError("ROOM_PARKED", { field: "room", value: room, limit: reason });

/** The process lives, and the room is not to blame. */
const isOrderly = (error: unknown): boolean =>
  error instanceof CodedError || ["StoreUnavailable", "LeaseLost"].includes((error as Error).name);

const weighed = ({ name, members }: Room): WeighedRoom => ({ name, addresses: members.addresses() });

/** Like `bunny-4f2a91`: says what it is, and is not guessed by the next visitor. */
function freeName(scene: string): string {
  return `${scene.slice(0, 30)}-${randomBytes(3).toString("hex")}`;
}
