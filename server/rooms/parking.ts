/**
 * Rooms that nobody serves until an operator has looked at them. What the store has of them stays as it is: it can be
 * downloaded, and the room goes on from where it was, from its newest state, or from its scene's beginning, as the
 * operator says.
 */
import type { FastifyBaseLogger } from "fastify";
import { CodedError } from "../../shared/errors.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { ParkedReason } from "../metrics/cluster.ts";
import { RoomHistory } from "../persistence/history.ts";
import { type About, recordedObjects, recordingOf, type RoomRecording } from "../persistence/recording.ts";
import { fill, findRoom } from "../persistence/restore.ts";
import type { Lease, Parked, SetAside } from "../store/store.ts";
import type { Persistence } from "./registry.ts";
import type { SceneLibrary } from "./sceneLibrary.ts";

/** end: where it was. state: its newest state, without what came after it. start: its scene's beginning. */
export const GO_ON_FROM = ["end", "state", "start"] as const;
export type GoOnFrom = (typeof GO_ON_FROM)[number];

/** Said of a room whose scene cannot be had: what scenes have that do not say. Nobody steps it before there is one. */
const USUAL_TICK_HZ = 60;

export interface ParkingOptions {
  persistence: Persistence | null;
  library: SceneLibrary;
  metrics: Metrics;
  log: FastifyBaseLogger;
}

export class Parking {
  readonly #options: ParkingOptions;

  constructor(options: ParkingOptions) {
    this.#options = options;
  }

  /** A room that has just been claimed. @throws LeaseLost, StoreUnavailable */
  async park(lease: Lease, reason: ParkedReason, details: string, identity?: string): Promise<void> {
    await this.#options.persistence!.store.park(lease, this.#parked(lease.room, reason, details, identity));
  }

  /** A room that is open here: what it has done is stored first. @throws LeaseLost, StoreUnavailable */
  async parkOpen(room: string, reason: ParkedReason, details: string): Promise<void> {
    await this.#options.persistence!.journalWriter.park(room, this.#parked(room, reason, details));
  }

  /**
   * Lets a parked room be served again; whoever is first takes it.
   * @param from what of it is to be kept
   * @throws CodedError NO_STORE, ROOM_NOT_FOUND, NOT_PARKED, ROOM_MOVING; StoreUnavailable
   */
  async unpark(name: string, from: GoOnFrom): Promise<void> {
    const { store, holder } = this.#persistence;
    const listing = await store.room(name);
    if (!listing) throw new CodedError("ROOM_NOT_FOUND", { field: "room", value: name });
    if (!listing.parked) throw new CodedError("NOT_PARKED", { field: "room", value: name });
    const lease = await store.claim(name, holder, { parked: true });
    if (!lease) throw new CodedError("ROOM_MOVING", { field: "room", value: name });
    try {
      if (from !== "end") await store.truncate(lease, from === "start" ? -1 : await this.#newestState(name));
      await store.unpark(lease);
    } finally {
      await store.release(lease);
    }
    this.#options.log.info({ room: name, from }, "a parked room may be served again");
  }

  /**
   * What the store has of a room that is not open; also if its scene cannot be had, which the recording says then.
   * @throws CodedError NO_STORE, ROOM_NOT_FOUND; StoreUnavailable
   */
  async recording(name: string): Promise<RoomRecording> {
    const { store } = this.#persistence;
    const listing = await store.room(name);
    if (!listing) throw new CodedError("ROOM_NOT_FOUND", { field: "room", value: name });
    const { scene } = listing;
    const { identity, ...about } = await this.#scene(scene);
    const found = await findRoom(store, name, null);
    const history = new RoomHistory(about.tickHz, Infinity);
    fill(history, found);
    const recordedAt = new Date().toISOString();
    return recordingOf(history, { room: name, scene, ...about, identity: found.identity ?? identity, recordedAt });
  }

  /**
   * What was set aside of a room because nothing could be made of it, oldest first.
   * @throws CodedError NO_STORE, ROOM_NOT_FOUND; StoreUnavailable
   */
  async setAside(name: string): Promise<SetAside[]> {
    const { store } = this.#persistence;
    if (!(await store.room(name))) throw new CodedError("ROOM_NOT_FOUND", { field: "room", value: name });
    return store.readSetAside(name);
  }

  /** One of them, as it was stored. @throws CodedError NO_STORE, NOT_SET_ASIDE; StoreUnavailable */
  async setAsideBytes(name: string, id: number): Promise<Uint8Array> {
    const bytes = await this.#persistence.store.readSetAsideBytes(name, id);
    if (!bytes) throw new CodedError("NOT_SET_ASIDE", { field: "id", value: id });
    return bytes;
  }

  /** @throws CodedError NO_STORE, NOT_SET_ASIDE; StoreUnavailable */
  async forgetSetAside(name: string, id: number): Promise<void> {
    if (!(await this.#persistence.store.removeSetAside(name, id)))
      throw new CodedError("NOT_SET_ASIDE", { field: "id", value: id });
  }

  /** What of a scene goes into a recording, as far as it is there. */
  async #scene(scene: string): Promise<Omit<About, "room" | "scene" | "recordedAt">> {
    const { library } = this.#options;
    try {
      const { text, layout, topologyHash, identity, shapes } = await library.template(scene);
      const objects = recordedObjects(shapes);
      return { sceneText: text, identity, topology: topologyHash, tickHz: layout.tickHz, ...objects };
    } catch (error) {
      if (!(error instanceof CodedError)) throw error;
      // Its file may be there, and a mesh of it be missing.
      const sceneText = await library.read(scene).then(
        ({ text }) => text,
        () => "",
      );
      return { sceneText, identity: "", topology: "", tickHz: USUAL_TICK_HZ, missing: [`scene: ${error.message}`] };
    }
  }

  get #persistence(): Persistence {
    const { persistence } = this.#options;
    if (!persistence) throw new CodedError("NO_STORE", { field: "PLIANT_STORE", value: "none" });
    return persistence;
  }

  /** Tick of the newest state that is whole; -1: there is none. */
  async #newestState(name: string): Promise<number> {
    const { checkpoints } = await findRoom(this.#persistence.store, name, null);
    return checkpoints.at(-1)?.checkpoint.tick ?? -1;
  }

  #parked(room: string, reason: ParkedReason, details: string, identity?: string): Parked {
    this.#options.metrics.cluster.parked(reason);
    this.#options.log.error(
      { room, reason, details },
      "a room is parked: nobody serves it until an operator has looked at it, and nothing of it is lost",
    );
    return { reason, since: new Date().toISOString(), details, ...(identity !== undefined && { identity }) };
  }
}
