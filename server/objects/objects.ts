/**
 * Objects that visitors upload, on the main thread: check limits, let the builder read the file, store it, and create
 * scenes that use it.
 *
 *     bytes -> builder.readObject -> shape, picture, id -> store            acknowledged when stored
 *     id, role, material, size -> scene's text -> `o-` and its hash -> store   then a scene like any other
 */
import { createHash } from "node:crypto";
import type { FastifyBaseLogger } from "fastify";
import { CodedError } from "../../shared/errorCodes.ts";
import type { Scene } from "../../shared/scene/scene.ts";
import { SceneError } from "../../shared/scene/sceneError.ts";
import { visibleText } from "../../shared/members/visibleText.ts";
import type { ObjectMetrics } from "../metrics/objects.ts";
import { mostOf } from "../store/objects/objectShares.ts";
import type { ListedObject, ObjectLimits, ObjectRecord, ObjectStore } from "../store/objects/objectStore.ts";
import type { ObjectAbout, ObjectRefusal, ReadObjectResult, ReadObjectTask } from "../workers/messages.ts";
import { type BaseScene, composeScene, type ObjectChoice } from "./composeScene.ts";

/** Ids of stored scenes; unlikely as a file name. */
export const STORED_SCENE = /^o-[0-9a-f]{32}$/;
/** Longest stored file name, characters. */
const NAME = 120;
/** Size of the cache of preview meshes, bytes: a class that opens one link shares them. */
const CACHED_BYTES = 64 * 2 ** 20;
const SWEEP_MS = 60_000;
/** Limits of stored scenes, relative to the objects' limits: count, and bytes. */
const SCENES_PER_OBJECT = 10;
const SCENES_SHARE = 0.25;

export interface ObjectsOptions {
  store: ObjectStore;
  limits: ObjectLimits;
  /** Retention time of unused objects, h. */
  keepHours: number;
  read: (task: ReadObjectTask, by?: string) => Promise<ReadObjectResult | ObjectRefusal>;
  metrics: ObjectMetrics;
  log: FastifyBaseLogger;
}

export class Objects {
  readonly #options: ObjectsOptions;
  /** Least recently used first. */
  readonly #pictures = new Map<string, Promise<Uint8Array | null>>();
  /**
   * All preview meshes still in memory, cached or not. Slow or repeated downloads share one copy per mesh instead of
   * one per request.
   */
  readonly #held = new Map<string, WeakRef<ArrayBufferLike>>();
  readonly #sweeping: NodeJS.Timeout;

  constructor(options: ObjectsOptions) {
    this.#options = options;
    this.#sweeping = setInterval(() => void this.expire(), SWEEP_MS);
    this.#sweeping.unref();
  }

  close(): void {
    clearInterval(this.#sweeping);
  }

  /**
   * Adds a file. Resolves when it is stored. The record has this upload's name: the name of an earlier upload of the
   * same content belongs to its visitor.
   * @param address of the uploader (auth/addresses.ts); null: an operator
   * @throws CodedError OBJECT_REFUSED: the file, with position, value, limit and advice; OBJECT_LIMIT,
   * ADDRESS_OBJECT_LIMIT; STORE_AWAY if the store fails
   */
  async add(
    bytes: Uint8Array,
    fileName: string,
    address: string | null,
  ): Promise<{ record: ObjectRecord; created: boolean }> {
    const { store, limits, metrics, log } = this.#options;
    const name = cleanName(fileName);
    const read = await this.#read(bytes, name, address ?? undefined);
    const { id, shape, picture, about } = read;
    const record: ObjectRecord = {
      id,
      name,
      about: { ...about },
      bytes: shape.byteLength + picture.byteLength,
      address,
      createdAt: new Date().toISOString(),
    };
    const { outcome, madeWay } = await store.putObject(record, { shape, picture }, limits).catch((error: unknown) => {
      log.error({ err: error, object: id }, "object could not be stored");
      throw new CodedError("STORE_AWAY", { field: "object", value: id });
    });
    metrics.put(outcome);
    if (madeWay.length > 0) {
      metrics.madeWay(madeWay.length);
      log.info(
        { object: id, address, madeWay },
        "deleted objects of the address with the most, to make room for another address's",
      );
    }
    if (outcome === "full") {
      const { count, bytes: most } = mostOf(address, limits);
      const limit = `${count} objects, ${most} bytes`;
      throw new CodedError("OBJECT_LIMIT", { field: "objects", value: record.bytes, limit });
    }
    if (outcome === "share")
      throw new CodedError("ADDRESS_OBJECT_LIMIT", { field: "objects", limit: limits.countPerAddress });
    log.info({ object: id, name, bytes: record.bytes, seconds: read.seconds, outcome }, "object stored");
    return { record: { ...((await store.object(id)) ?? record), name }, created: outcome === "stored" };
  }

  async #read(bytes: Uint8Array, name: string, by?: string): Promise<ReadObjectResult> {
    const { read, metrics, log } = this.#options;
    // The bytes move to another thread, so read their length first.
    const size = bytes.byteLength;
    const result = await read({ bytes, name }, by).catch((error: Error) => {
      // Either a defect of ours, or the file needs too much time or memory. Its content does not belong in the log.
      log.warn({ err: error, bytes: size }, "object could not be read");
      metrics.put("refused");
      throw new CodedError(
        "OBJECT_REFUSED",
        { field: "file", value: `${size} bytes`, limit: error.message, reason: "NOT_READ" },
        `The file could not be read: ${error.message}`,
      );
    });
    if (!("refused" in result)) {
      metrics.readSeconds.observe(result.seconds);
      return result;
    }
    metrics.put("refused");
    const { code, message, where, value, limit, help } = result.refused;
    throw new CodedError("OBJECT_REFUSED", { field: where, value, limit, reason: code, help }, message);
  }

  /** @throws CodedError OBJECT_NOT_FOUND */
  async record(id: string): Promise<ObjectRecord & { about: ObjectAbout }> {
    const record = /^[0-9a-f]{64}$/.test(id) ? await this.#options.store.object(id) : null;
    if (!record) throw new CodedError("OBJECT_NOT_FOUND", { field: "object", value: id });
    return record as unknown as ObjectRecord & { about: ObjectAbout };
  }

  /** Returns a GLB. @throws CodedError OBJECT_NOT_FOUND */
  async picture(id: string): Promise<Uint8Array> {
    const { bytes } = await this.record(id);
    const picture = this.#pictures.get(id) ?? this.#readPicture(id);
    this.#pictures.delete(id);
    // Move it to the end of the cache. Concurrent requests wait for the same read.
    this.#pictures.set(id, picture);
    const found = await picture.catch((error: unknown) => {
      this.#pictures.delete(id);
      throw error;
    });
    if (!found || bytes > CACHED_BYTES) this.#pictures.delete(id);
    if (!found) throw new CodedError("OBJECT_NOT_FOUND", { field: "object", value: id });
    await this.#trim();
    return found;
  }

  async #readPicture(id: string): Promise<Uint8Array | null> {
    const held = this.#held.get(id)?.deref();
    if (held) return new Uint8Array(held);
    const read = await this.#options.store.readPicture(id);
    if (!read) return null;
    for (const [other, buffer] of this.#held) if (!buffer.deref()) this.#held.delete(other);
    // The database driver's buffer may be larger than the mesh.
    const picture = read.byteLength === read.buffer.byteLength ? read : new Uint8Array(read);
    this.#held.set(id, new WeakRef(picture.buffer));
    return new Uint8Array(picture.buffer);
  }

  async #trim(): Promise<void> {
    let kept = 0;
    for (const [id, picture] of [...this.#pictures].reverse()) {
      kept += (await picture.catch(() => null))?.byteLength ?? 0;
      if (kept > CACHED_BYTES) this.#pictures.delete(id);
    }
  }

  /**
   * Reads the shapes of the objects in a scene, for the builder.
   * @throws CodedError OBJECT_NOT_FOUND
   */
  async shapes(scene: Scene): Promise<Map<string, Uint8Array>> {
    const shapes = new Map<string, Uint8Array>();
    for (const id of objectsOf(scene)) {
      const shape = await this.#options.store.readShape(id);
      if (!shape) throw new CodedError("OBJECT_NOT_FOUND", { field: "object", value: id });
      shapes.set(id, shape);
    }
    return shapes;
  }

  /**
   * Creates and stores the chosen scene.
   * @param fileName the caller's name of the object
   * @param base scene to add the object to
   * @returns its id, the same for the same choice
   * @throws CodedError OBJECT_NOT_FOUND, CHOICE_INVALID, OBJECT_LIMIT
   */
  async compose(
    id: string,
    fileName: string,
    choice: ObjectChoice,
    base?: BaseScene,
  ): Promise<{ id: string; title: string }> {
    const { about } = await this.record(id);
    let scene: Scene;
    try {
      scene = composeScene({ id, name: cleanName(fileName), box: about.box }, choice, base);
    } catch (error) {
      if (!(error instanceof SceneError)) throw error;
      const { path, value, limit } = error;
      throw new CodedError("CHOICE_INVALID", { field: path.slice(1), value, limit }, error.message);
    }
    return { id: await this.keepScene(scene), title: scene.title };
  }

  /** Stores a scene. @returns its id, the same for the same scene. @throws CodedError OBJECT_NOT_FOUND, OBJECT_LIMIT */
  async keepScene(scene: Scene): Promise<string> {
    const text = `${JSON.stringify(scene, null, 2)}\n`;
    const stored = { id: storedSceneId(text), text, objects: objectsOf(scene) };
    const { store, limits } = this.#options;
    const most = { count: SCENES_PER_OBJECT * limits.count, bytes: SCENES_SHARE * limits.bytes };
    const outcome = await store.putScene(stored, new Date().toISOString(), most);
    if (outcome === "missing")
      throw new CodedError("OBJECT_NOT_FOUND", { field: "object", value: stored.objects.join(", ") });
    if (outcome === "full")
      throw new CodedError("OBJECT_LIMIT", { field: "scenes", limit: `${most.count} scenes, ${most.bytes} bytes` });
    return stored.id;
  }

  /** Lists all objects, newest first. */
  list(limit: number): Promise<ListedObject[]> {
    return this.#options.store.listObjects(limit);
  }

  /** @throws CodedError OBJECT_NOT_FOUND, OBJECT_IN_USE */
  async remove(id: string): Promise<ObjectRecord> {
    const record = await this.record(id);
    const outcome = await this.#options.store.removeObject(id);
    if (outcome === "missing") throw new CodedError("OBJECT_NOT_FOUND", { field: "object", value: id });
    if (outcome === "used") throw new CodedError("OBJECT_IN_USE", { field: "object", value: id });
    this.#pictures.delete(id);
    return record;
  }

  /** Returns the text of a stored scene; null: not found. */
  sceneText(id: string): Promise<string | null> {
    return this.#options.store.readScene(id);
  }

  /** Deletes objects and scenes that have been unused for `keepHours`. Never rejects. */
  async expire(nowMs = Date.now()): Promise<void> {
    const { store, keepHours, metrics, log } = this.#options;
    const at = new Date(nowMs).toISOString();
    const before = new Date(nowMs - 3600_000 * keepHours).toISOString();
    try {
      const { scenes, objects } = await store.expireObjects(at, before);
      if (scenes + objects > 0) log.info({ scenes, objects }, "deleted unused objects");
      metrics.stored(await store.objectTotals());
    } catch (error) {
      // If the store is unavailable, try again in a minute.
      log.warn({ err: error }, "could not look for unused objects");
    }
  }
}

/** Returns the id of a stored scene with this text. */
export const storedSceneId = (text: string): string =>
  `o-${createHash("sha256").update(text).digest("hex").slice(0, 32)}`;

/** Ids of all objects in a scene. */
export function objectsOf(scene: Scene): string[] {
  const meshes = [
    ...scene.bodies.map(({ mesh }) => mesh),
    ...(scene.colliders ?? []).flatMap((c) => (c.type === "mesh" ? [c.mesh] : [])),
  ];
  return [...new Set(meshes.flatMap((mesh) => (mesh.type === "object" ? [mesh.id] : [])))];
}

/** Cleans a file name: removes folders and invisible characters. Pages show it as text. */
function cleanName(name: string): string {
  const plain = visibleText(name)
    .replace(/^.*[/\\]/s, "")
    .trim();
  const ending = /\.[A-Za-z0-9]{1,5}$/.exec(plain)?.[0] ?? "";
  const stem = [...plain.slice(0, plain.length - ending.length)].slice(0, NAME - ending.length).join("");
  return `${stem === "" ? "object" : stem}${ending}`;
}
