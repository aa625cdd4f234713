/**
 * Quarantined rooms: no process serves them until an operator has decided. Their stored data stays unchanged and can be
 * downloaded. The operator chooses whether the room continues at its last tick, from its newest state, or from the
 * start of its scene.
 */
import type { FastifyBaseLogger } from "fastify";
import { CodedError } from "../../../shared/errorCodes.ts";
import type { Metrics } from "../../metrics/metrics.ts";
import type { QuarantineReason } from "../../metrics/cluster.ts";
import { RoomHistory } from "../../persistence/history.ts";
import { type About, recordedObjects, recordingOf, type RoomRecording } from "../../persistence/recording.ts";
import { fill, findRoom } from "../../persistence/restore.ts";
import type { Lease, Quarantined, QuarantinedPiece } from "../../store/store.ts";
import type { Persistence } from "../../persistence/persistence.ts";
import type { SceneLibrary } from "../scenes/sceneLibrary.ts";

/** end: at its last tick. state: from its newest state, without later ticks. start: from the start of its scene. */
export const GO_ON_FROM = ["end", "state", "start"] as const;
export type GoOnFrom = (typeof GO_ON_FROM)[number];

/** Tick rate of a recording whose scene cannot be loaded: the default of scenes. Such a recording is not stepped. */
const USUAL_TICK_HZ = 60;

export interface QuarantineOptions {
  persistence: Persistence | null;
  library: SceneLibrary;
  metrics: Metrics;
  log: FastifyBaseLogger;
}

export class Quarantine {
  readonly #options: QuarantineOptions;

  constructor(options: QuarantineOptions) {
    this.#options = options;
  }

  /** Quarantines a room that has just been claimed. @throws LeaseLost, StoreUnavailable */
  async quarantine(lease: Lease, reason: QuarantineReason, details: string, identity?: string): Promise<void> {
    await this.#options.persistence!.store.quarantine(lease, this.#quarantined(lease.room, reason, details, identity));
  }

  /** Quarantines a room that is open here, after its journal is stored. @throws LeaseLost, StoreUnavailable */
  async quarantineOpen(room: string, reason: QuarantineReason, details: string): Promise<void> {
    await this.#options.persistence!.journalWriter.quarantine(room, this.#quarantined(room, reason, details));
  }

  /**
   * Ends a room's quarantine; any process may then take it over.
   * @param from the point from which the room continues; later data is deleted
   * @throws CodedError NO_STORE, ROOM_NOT_FOUND, NOT_QUARANTINED, ROOM_MOVING; StoreUnavailable
   */
  async endQuarantine(name: string, from: GoOnFrom): Promise<void> {
    const { store, holder } = this.#persistence;
    const listing = await store.room(name);
    if (!listing) throw new CodedError("ROOM_NOT_FOUND", { field: "room", value: name });
    if (!listing.quarantined) throw new CodedError("NOT_QUARANTINED", { field: "room", value: name });
    const lease = await store.claim(name, holder, { quarantined: true });
    if (!lease) throw new CodedError("ROOM_MOVING", { field: "room", value: name });
    try {
      if (from !== "end") await store.truncate(lease, from === "start" ? -1 : await this.#newestState(name));
      await store.endQuarantine(lease);
    } finally {
      await store.release(lease);
    }
    this.#options.log.info({ room: name, from }, "a room's quarantine has ended");
  }

  /**
   * Returns the stored data of a room that is not open, as a recording. If its scene cannot be loaded, the recording
   * says so.
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
   * Lists the quarantined rows of a room (damaged, or behind a gap), oldest first.
   * @throws CodedError NO_STORE, ROOM_NOT_FOUND; StoreUnavailable
   */
  async quarantinedPieces(name: string): Promise<QuarantinedPiece[]> {
    const { store } = this.#persistence;
    if (!(await store.room(name))) throw new CodedError("ROOM_NOT_FOUND", { field: "room", value: name });
    return store.listQuarantinedPieces(name);
  }

  /** Returns one quarantined row as it was stored. @throws CodedError NO_STORE, PIECE_NOT_FOUND; StoreUnavailable */
  async quarantinedPieceBytes(name: string, id: number): Promise<Uint8Array> {
    const bytes = await this.#persistence.store.readQuarantinedPiece(name, id);
    if (!bytes) throw new CodedError("PIECE_NOT_FOUND", { field: "id", value: id });
    return bytes;
  }

  /** @throws CodedError NO_STORE, PIECE_NOT_FOUND; StoreUnavailable */
  async removeQuarantinedPiece(name: string, id: number): Promise<void> {
    if (!(await this.#persistence.store.removeQuarantinedPiece(name, id)))
      throw new CodedError("PIECE_NOT_FOUND", { field: "id", value: id });
  }

  /** Returns a scene's part of a recording, as far as it can be loaded. */
  async #scene(scene: string): Promise<Omit<About, "room" | "scene" | "recordedAt">> {
    const { library } = this.#options;
    try {
      const { text, layout, topologyHash, identity, shapes } = await library.template(scene);
      const objects = recordedObjects(shapes);
      return { sceneText: text, identity, topology: topologyHash, tickHz: layout.tickHz, ...objects };
    } catch (error) {
      if (!(error instanceof CodedError)) throw error;
      // The scene's file may exist although one of its meshes is missing.
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

  /** Tick of the newest undamaged state; -1: there is none. */
  async #newestState(name: string): Promise<number> {
    const { checkpoints } = await findRoom(this.#persistence.store, name, null);
    return checkpoints.at(-1)?.checkpoint.tick ?? -1;
  }

  #quarantined(room: string, reason: QuarantineReason, details: string, identity?: string): Quarantined {
    this.#options.metrics.cluster.quarantined(reason);
    this.#options.log.error(
      { room, reason, details },
      "a room is quarantined: it stays closed until an operator decides, and its stored data is kept",
    );
    return { reason, since: new Date().toISOString(), details, ...(identity !== undefined && { identity }) };
  }
}
