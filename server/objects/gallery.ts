/**
 * The gallery: scenes that owners save from their rooms, until they or an operator delete them. An entry's text is a
 * stored scene, so a room opens it like any other scene.
 *
 *     room -> its scene with all changes, a title -> text, `o-` and its hash -> store     acknowledged when stored
 */
import { randomInt } from "node:crypto";
import type { FastifyBaseLogger } from "fastify";
import { CodedError } from "../../shared/errorCodes.ts";
import type { Scene } from "../../shared/scene/scene.ts";
import { validateScene } from "../../shared/scene/sceneValidator.ts";
import { visibleText } from "../../shared/members/visibleText.ts";
import type { ObjectMetrics } from "../metrics/objects.ts";
import type { ObjectStore } from "../store/objects/objectStore.ts";
import type { SavedLimits, SavedScene, SavePut } from "../store/objects/savedScenes.ts";
import { objectsOf, storedSceneId } from "./objects.ts";

/** Longest title, characters; the same limit as in the scene's schema. */
export const TITLE_LENGTH = 80;
/** Largest text of a saved scene, bytes. */
const MOST_BYTES = 128 * 1024;
/** Characters of an id: none that look alike. */
const ID_CHARACTERS = "23456789abcdefghjkmnpqrstuvwxyz";
const ID_LENGTH = 12;
const ID = new RegExp(`^[${ID_CHARACTERS}]{${ID_LENGTH}}$`);

export interface GalleryOptions {
  store: ObjectStore;
  limits: SavedLimits;
  metrics: ObjectMetrics;
  /** Called with the stored scene of a deleted entry. */
  onRemoved: (scene: string) => void;
  log: FastifyBaseLogger;
}

/** A room's scene to save. */
export interface SceneToSave {
  scene: Scene;
  title: string;
  /** Id of the room's scene. */
  from: string;
  /** PNG of the room; null: none could be painted. */
  picture: Uint8Array | null;
  /** Address of the owner (auth/addresses.ts); null: an operator. */
  address: string | null;
}

export class Gallery {
  readonly #options: GalleryOptions;

  constructor(options: GalleryOptions) {
    this.#options = options;
  }

  /** Saves a scene. Resolves when it is stored. @throws CodedError BODY_INVALID, SCENE_TOO_LARGE, SAVED_LIMIT, ... */
  async save({ scene, title, from, picture, address }: SceneToSave): Promise<SavedScene> {
    const { store, limits, metrics, log } = this.#options;
    const named = titled(scene, title);
    const id = Array.from({ length: ID_LENGTH }, () => ID_CHARACTERS[randomInt(ID_CHARACTERS.length)]).join("");
    const origin = await this.#stored(async () => (await store.savedWith(from)) ?? from);
    const at = new Date().toISOString();
    const { text, objects, ...entry } = named;
    const saved: SavedScene = { id, ...entry, origin, address, createdAt: at, changedAt: at };
    const put = (): Promise<SavePut> => store.putSaved(saved, { text, objects, picture }, limits);
    const outcome = await this.#stored(() =>
      put().catch((error: Error) => {
        // A lost answer: the entry may be stored, without a holder of its token. The same id stores it once.
        if (error.name === "StoreUnavailable") return put();
        throw error;
      }),
    );
    metrics.saved(outcome);
    if (outcome === "missing")
      throw new CodedError("OBJECT_NOT_FOUND", { field: "objects", value: objects.join(", ") });
    if (outcome === "full") throw new CodedError("SAVED_LIMIT", { field: "scenes", limit: limits.count });
    if (outcome === "share")
      throw new CodedError("ADDRESS_SAVED_LIMIT", { field: "scenes", limit: limits.countPerAddress });
    log.info({ saved: id, scene: saved.scene, origin, bytes: saved.bytes }, "scene saved");
    return saved;
  }

  list(limit: number): Promise<SavedScene[]> {
    return this.#options.store.listSaved(limit);
  }

  /** @throws CodedError SAVED_NOT_FOUND */
  async find(id: string): Promise<SavedScene> {
    const saved = ID.test(id) ? await this.#options.store.saved(id) : null;
    if (!saved) throw new CodedError("SAVED_NOT_FOUND", { field: "saved", value: id });
    return saved;
  }

  /** Returns a PNG. @throws CodedError SAVED_NOT_FOUND: there is no such entry, or it has no picture */
  async picture(id: string): Promise<Uint8Array> {
    const picture = ID.test(id) ? await this.#options.store.readSavedPicture(id) : null;
    if (!picture) throw new CodedError("SAVED_NOT_FOUND", { field: "saved", value: id });
    return picture;
  }

  /**
   * Gives an entry another title. Rooms with the old title keep it.
   * @throws CodedError SAVED_NOT_FOUND, BODY_INVALID
   */
  async rename(id: string, title: string): Promise<SavedScene> {
    const { store } = this.#options;
    const saved = await this.find(id);
    const text = await store.readScene(saved.scene);
    if (text === null) throw new CodedError("SAVED_NOT_FOUND", { field: "saved", value: id });
    const renamed = { ...titled(JSON.parse(text) as Scene, title), changedAt: new Date().toISOString() };
    if (!(await this.#stored(() => store.renameSaved(id, renamed))))
      throw new CodedError("SAVED_NOT_FOUND", { field: "saved", value: id });
    const { text: _, objects: __, ...changed } = renamed;
    return { ...saved, ...changed };
  }

  /** @throws CodedError SAVED_NOT_FOUND */
  async remove(id: string): Promise<SavedScene> {
    const saved = await this.find(id);
    if (!(await this.#stored(() => this.#options.store.removeSaved(id))))
      throw new CodedError("SAVED_NOT_FOUND", { field: "saved", value: id });
    this.#options.onRemoved(saved.scene);
    return saved;
  }

  /** @throws CodedError STORE_AWAY if the store fails */
  async #stored<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      this.#options.log.error({ err: error }, "the gallery could not be stored");
      throw new CodedError("STORE_AWAY", { field: "saved" });
    }
  }
}

/**
 * Returns the scene under another title in all languages, without the reference to the report, which describes the
 * original.
 * @throws CodedError BODY_INVALID: the title has no visible character; SCENE_TOO_LARGE
 */
function titled(
  { report: _, texts, ...scene }: Scene,
  wanted: string,
): { title: string; scene: string; bytes: number; text: string; objects: string[] } {
  const title = [...visibleText(wanted)].slice(0, TITLE_LENGTH).join("").trim();
  if (title === "")
    throw new CodedError("BODY_INVALID", { field: "title", value: wanted, limit: "at least one visible character" });
  const others = Object.entries(texts ?? {}).map(([language, own]) => [language, { ...own, title }]);
  const named = validateScene({ ...scene, title, ...(texts && { texts: Object.fromEntries(others) }) });
  const text = JSON.stringify(named);
  const bytes = Buffer.byteLength(text);
  if (bytes > MOST_BYTES)
    throw new CodedError("SCENE_TOO_LARGE", { field: "scene", value: `${bytes} bytes`, limit: `${MOST_BYTES} bytes` });
  return { title, scene: storedSceneId(text), bytes, text, objects: objectsOf(named) };
}
