/** The object store of a server without a database: its objects end with the process, as its rooms do. */
import type {
  Expired,
  ObjectContent,
  ObjectLimits,
  ObjectRecord,
  ListedObject,
  ObjectStore,
  ObjectTotals,
  PutResult,
  RemoveOutcome,
  SceneLimits,
  ScenePut,
  StoredScene,
} from "./objectStore.ts";
import { MOST_CANDIDATES, placeFor, unusedSince } from "./objectShares.ts";
import {
  type Renamed,
  type SavedContent,
  savedLimit,
  type SavedLimits,
  type SavedScene,
  type SavePut,
} from "./savedScenes.ts";

interface Used {
  usedAt: string;
}

/** Copies bytes, because the caller may change them later. Shared buffers are not copied: no thread changes them. */
const kept = (bytes: Uint8Array): Uint8Array => (bytes.buffer instanceof SharedArrayBuffer ? bytes : bytes.slice());

export class MemoryObjects implements ObjectStore {
  readonly #scenesOfRooms: () => Iterable<string>;
  readonly #objects = new Map<string, ObjectRecord & ObjectContent & Used>();
  readonly #scenes = new Map<string, StoredScene & Used>();
  readonly #saved = new Map<string, SavedScene & { picture: Uint8Array | null }>();

  /** @param scenesOfRooms returns the scenes of all rooms */
  constructor(scenesOfRooms: () => Iterable<string>) {
    this.#scenesOfRooms = scenesOfRooms;
  }

  async putObject(record: ObjectRecord, content: ObjectContent, limits: ObjectLimits): Promise<PutResult> {
    const { id, createdAt } = record;
    const known = this.#objects.get(id);
    if (known) {
      known.usedAt = later(known.usedAt, createdAt);
      return { outcome: "there", madeWay: [] };
    }
    const owned = [...this.#objects.values()].map(({ address, bytes }) => ({ address, bytes, count: 1 }));
    // There is no await between count and insertion, so that two concurrent calls do not both take the last place.
    const madeWay = placeFor(record, owned, limits, () => this.#candidates(unusedSince(createdAt)));
    if (typeof madeWay === "string") return { outcome: madeWay, madeWay: [] };
    for (const other of madeWay) this.#forget(other);
    const [shape, picture] = [kept(content.shape), kept(content.picture)];
    this.#objects.set(id, { ...structuredClone(record), shape, picture, usedAt: createdAt });
    return { outcome: "stored", madeWay };
  }

  /** Lists visitors' objects that no room uses and that were not used after `since`, oldest first. */
  #candidates(since: string): { id: string; address: string; bytes: number }[] {
    const used = this.#usedScenes();
    const kept = [...this.#scenes.values()].filter(({ id, usedAt }) => usedAt > since || used.has(id));
    const named = new Set(kept.flatMap(({ objects }) => objects));
    return [...this.#objects.values()]
      .flatMap(({ id, address, bytes, usedAt }) =>
        address !== null && usedAt <= since && !named.has(id) ? [{ id, address, bytes, usedAt }] : [],
      )
      .sort((a, b) => (a.usedAt + a.id < b.usedAt + b.id ? -1 : 1))
      .slice(0, MOST_CANDIDATES);
  }

  /** Scenes of rooms and of the gallery. */
  #usedScenes(): Set<string> {
    return new Set([...this.#scenesOfRooms(), ...[...this.#saved.values()].map(({ scene }) => scene)]);
  }

  #scenesWith(id: string): string[] {
    return [...this.#scenes.values()].filter(({ objects }) => objects.includes(id)).map((scene) => scene.id);
  }

  /** Deletes an object and the scenes that contain it. */
  #forget(id: string): void {
    for (const scene of this.#scenesWith(id)) this.#scenes.delete(scene);
    this.#objects.delete(id);
  }

  async listObjects(limit: number): Promise<ListedObject[]> {
    const rooms = [...this.#scenesOfRooms()];
    return [...this.#objects.values()]
      .sort((a, b) => (a.createdAt > b.createdAt || (a.createdAt === b.createdAt && a.id < b.id) ? -1 : 1))
      .slice(0, limit)
      .map(({ shape: _, picture: __, ...listed }) => {
        const scenes = this.#scenesWith(listed.id);
        const used = rooms.filter((scene) => scenes.includes(scene)).length;
        return { ...structuredClone(listed), scenes: scenes.length, rooms: used };
      });
  }

  async removeObject(id: string): Promise<RemoveOutcome> {
    if (!this.#objects.has(id)) return "missing";
    const used = this.#usedScenes();
    if (this.#scenesWith(id).some((scene) => used.has(scene))) return "used";
    this.#forget(id);
    return "removed";
  }

  async object(id: string): Promise<ObjectRecord | null> {
    const found = this.#objects.get(id);
    if (!found) return null;
    const { shape: _, picture: __, usedAt: ___, ...record } = found;
    return structuredClone(record);
  }

  async readShape(id: string): Promise<Uint8Array | null> {
    return this.#objects.get(id)?.shape ?? null;
  }

  async readPicture(id: string): Promise<Uint8Array | null> {
    return this.#objects.get(id)?.picture ?? null;
  }

  async objectTotals(): Promise<ObjectTotals> {
    const all = [...this.#objects.values()];
    return { count: all.length, bytes: all.reduce((sum, { bytes }) => sum + bytes, 0), saved: this.#saved.size };
  }

  async putScene(scene: StoredScene, at: string, limits: SceneLimits): Promise<ScenePut> {
    if (!scene.objects.every((id) => this.#objects.has(id))) return "missing";
    const saved = new Set([...this.#saved.values()].map((entry) => entry.scene));
    const others = [...this.#scenes.values()].filter(({ id }) => id !== scene.id && !saved.has(id));
    const bytes = [scene, ...others].reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
    if (others.length >= limits.count || bytes > limits.bytes) return "full";
    this.#insertScene(scene, at);
    return "stored";
  }

  #insertScene(scene: StoredScene, at: string): void {
    const known = this.#scenes.get(scene.id);
    this.#scenes.set(scene.id, { ...structuredClone(scene), usedAt: later(known?.usedAt ?? at, at) });
  }

  async readScene(id: string): Promise<string | null> {
    return this.#scenes.get(id)?.text ?? null;
  }

  async expireObjects(at: string, before: string): Promise<Expired> {
    const [scenes, objects] = [this.#scenes.size, this.#objects.size];
    for (const id of this.#usedScenes()) {
      const scene = this.#scenes.get(id);
      if (scene) scene.usedAt = later(scene.usedAt, at);
    }
    for (const [id, { usedAt }] of this.#scenes) if (usedAt < before) this.#scenes.delete(id);
    const named = new Set([...this.#scenes.values()].flatMap((scene) => scene.objects));
    for (const [id, object] of this.#objects) {
      if (named.has(id)) object.usedAt = later(object.usedAt, at);
      else if (object.usedAt < before) this.#objects.delete(id);
    }
    return { scenes: scenes - this.#scenes.size, objects: objects - this.#objects.size };
  }

  async putSaved(saved: SavedScene, { text, objects, picture }: SavedContent, limits: SavedLimits): Promise<SavePut> {
    if (this.#saved.has(saved.id)) return "stored";
    const addresses = [...this.#saved.values()].map((entry) => entry.address);
    const limit = savedLimit(saved.address, addresses, limits);
    if (limit) return limit;
    if (!objects.every((id) => this.#objects.has(id))) return "missing";
    this.#insertScene({ id: saved.scene, text, objects }, saved.createdAt);
    this.#saved.set(saved.id, { ...saved, picture: picture && kept(picture) });
    return "stored";
  }

  async saved(id: string): Promise<SavedScene | null> {
    const found = this.#saved.get(id);
    return found ? withoutPicture(found) : null;
  }

  async savedWith(scene: string): Promise<string | null> {
    const found = [...this.#saved.values()].filter((entry) => entry.scene === scene);
    return found.sort((a, b) => (a.createdAt + a.id < b.createdAt + b.id ? -1 : 1))[0]?.id ?? null;
  }

  async readSavedPicture(id: string): Promise<Uint8Array | null> {
    return this.#saved.get(id)?.picture ?? null;
  }

  async listSaved(limit: number): Promise<SavedScene[]> {
    return [...this.#saved.values()]
      .sort((a, b) => (a.createdAt > b.createdAt || (a.createdAt === b.createdAt && a.id < b.id) ? -1 : 1))
      .slice(0, limit)
      .map(withoutPicture);
  }

  async renameSaved(id: string, { text, objects, ...renamed }: Renamed): Promise<boolean> {
    const found = this.#saved.get(id);
    if (!found || !objects.every((object) => this.#objects.has(object))) return false;
    this.#insertScene({ id: renamed.scene, text, objects }, renamed.changedAt);
    Object.assign(found, renamed);
    return true;
  }

  async removeSaved(id: string): Promise<boolean> {
    const found = this.#saved.get(id);
    if (!found) return false;
    this.#saved.delete(id);
    if (!this.#usedScenes().has(found.scene)) this.#scenes.delete(found.scene);
    return true;
  }
}

function withoutPicture({ picture: _, ...saved }: SavedScene & { picture: unknown }): SavedScene {
  return saved;
}

const later = (a: string, b: string): string => (a > b ? a : b);
