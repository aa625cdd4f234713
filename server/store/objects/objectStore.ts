/**
 * The store of visitors' objects and of the scenes made of them. Ids are hashes of the content. So stored content never
 * changes, and the same upload is stored once.
 *
 *     object   -> shape (simulated), picture (drawn)                     until no scene contains it and it has expired
 *     scene    -> a scene's text, the ids of its objects                 until no room uses it and it has expired
 *     saved    -> an entry of the gallery: title, scene, picture          until it is deleted (savedScenes.ts)
 *
 * A room and an entry keep their scene, and a scene keeps its objects: every expiry run first marks them as used now.
 */
import type { Renamed, SavedContent, SavedLimits, SavedScene, SavePut } from "./savedScenes.ts";

/** Description of an object, without its bytes. */
export interface ObjectRecord {
  /** SHA-256 of its content, 64 hexadecimal digits. */
  id: string;
  /** File name, for display. */
  name: string;
  /** Findings of the import: JSON that the store reads and writes as a whole. */
  about: Record<string, unknown>;
  /** Size of shape and picture together. */
  bytes: number;
  /** Uploader's address, as limits count it; null: an operator, without a share. */
  address: string | null;
  /** ISO 8601, by the clock of the process that stored it. */
  createdAt: string;
}

export interface ObjectContent {
  /** encoded shape (meshing/objectShape.ts) */
  shape: Uint8Array;
  /** GLB */
  picture: Uint8Array;
}

/** Limits of the store and of one address; a part is reserved for operators (objectShares.ts). */
export interface ObjectLimits {
  count: number;
  bytes: number;
  countPerAddress: number;
}

/**
 * stored: it is new. there: it was stored before. full, share: nothing was stored, because the store or the address has
 * reached its limit.
 */
type PutOutcome = "stored" | "there" | "full" | "share";

export interface PutResult {
  outcome: PutOutcome;
  /** Ids of objects that were evicted for it (objectShares.ts). */
  madeWay: string[];
}

/** An object in the operators' list. */
export interface ListedObject extends ObjectRecord {
  /** ISO 8601. */
  usedAt: string;
  /** Number of scenes that contain it, and of rooms that use such a scene. */
  scenes: number;
  rooms: number;
}

/** used: a room or an entry of the gallery uses it, so nothing was removed. */
export type RemoveOutcome = "removed" | "missing" | "used";

/** Limits of visitors' scenes. Every visitor who may open a room can create scenes. */
export interface SceneLimits {
  count: number;
  /** Size of their texts in UTF-8. */
  bytes: number;
}

/** missing: one of its objects does not exist (any more). full: the limit is reached. Both store nothing. */
export type ScenePut = "stored" | "missing" | "full";

export interface StoredScene {
  id: string;
  text: string;
  /** Ids of the objects in it. */
  objects: string[];
}

export interface Expired {
  scenes: number;
  objects: number;
}

export interface ObjectTotals {
  count: number;
  bytes: number;
  saved: number;
}

/** Every method rejects with StoreUnavailable if the store cannot be reached. */
export interface ObjectStore {
  /**
   * Checks the limits, evicts objects and stores the object, in one transaction. Concurrent calls may each find the
   * last free place. An object that is already stored counts as used now.
   */
  putObject(record: ObjectRecord, content: ObjectContent, limits: ObjectLimits): Promise<PutResult>;
  object(id: string): Promise<ObjectRecord | null>;
  readShape(id: string): Promise<Uint8Array | null>;
  readPicture(id: string): Promise<Uint8Array | null>;
  /** Lists objects, newest first. */
  listObjects(limit: number): Promise<ListedObject[]>;
  /** Deletes the object and the scenes that contain it, unless a room or the gallery uses one of them. */
  removeObject(id: string): Promise<RemoveOutcome>;
  /** Number and size of all objects, and the number of saved scenes. */
  objectTotals(): Promise<ObjectTotals>;
  /**
   * Stores the scene if it is new, and marks it as used now.
   * @param at now, ISO 8601
   */
  putScene(scene: StoredScene, at: string, limits: SceneLimits): Promise<ScenePut>;
  readScene(id: string): Promise<string | null>;
  /**
   * Deletes scenes that no room has used, and objects that no scene has contained, since `before`.
   * @param at now, ISO 8601. @param before limit of the last use, ISO 8601
   */
  expireObjects(at: string, before: string): Promise<Expired>;
  /** Checks the limits and stores the entry with its text, in one transaction. */
  putSaved(saved: SavedScene, content: SavedContent, limits: SavedLimits): Promise<SavePut>;
  saved(id: string): Promise<SavedScene | null>;
  /** Returns the id of the oldest entry with this stored scene. */
  savedWith(scene: string): Promise<string | null>;
  readSavedPicture(id: string): Promise<Uint8Array | null>;
  /** Lists entries, newest first. */
  listSaved(limit: number): Promise<SavedScene[]>;
  /** @returns false: there is no such entry, or one of its objects does not exist; nothing was stored */
  renameSaved(id: string, renamed: Renamed): Promise<boolean>;
  /** Deletes the entry, and its text unless a room or another entry uses it. @returns false: there is no such entry */
  removeSaved(id: string): Promise<boolean>;
}

/** Converts an object's row of either store. */
export const objectOf = (row: Record<string, unknown>): ObjectRecord => ({
  id: String(row.id),
  name: String(row.name),
  about: JSON.parse(String(row.about)) as Record<string, unknown>,
  bytes: Number(row.bytes),
  address: row.address as string | null,
  createdAt: String(row.created_at),
});

export const listedObjectOf = (row: Record<string, unknown>): ListedObject => ({
  ...objectOf(row),
  usedAt: String(row.used_at),
  scenes: Number(row.scenes),
  rooms: Number(row.rooms),
});
