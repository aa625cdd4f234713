/**
 * What visitors bring along, and the scenes that are made of it, kept beside the rooms. Both are named by what they
 * hold, so nothing of them ever changes, and the same brought twice is there once.
 *
 *     object   -> shape (what is simulated), picture (what is drawn)     until no scene names it and its time is over
 *     scene    -> a scene's text, the objects that it names              until no room has it and its time is over
 *
 * A room keeps its scene, and a scene its objects: what they use counts as used now whenever old ones are looked for.
 */

/** What is told of an object without its bytes. */
export interface ObjectRecord {
  /** SHA-256 of its content, 64 hexadecimal digits. */
  id: string;
  /** Of the file that it came from, for people to read. */
  name: string;
  /** What was found in it: JSON, for others to read and write as a whole. */
  about: Record<string, unknown>;
  /** Of shape and picture together. */
  bytes: number;
  /** Whose it is, as limits count addresses; null: an operator's, which no share is counted for. */
  address: string | null;
  /** ISO 8601, by the clock of the process that took it. */
  createdAt: string;
}

export interface ObjectContent {
  /** server/objects/content.ts */
  shape: Uint8Array;
  /** GLB */
  picture: Uint8Array;
}

/** What the store holds at most, and one address of it; some of it is for operators alone (objectShares.ts). */
export interface ObjectLimits {
  count: number;
  bytes: number;
  countPerAddress: number;
}

/**
 * stored: it is there now. there: it was already. full, share: nothing was stored, for all addresses or this one have
 * as much as may be.
 */
type PutOutcome = "stored" | "there" | "full" | "share";

export interface PutResult {
  outcome: PutOutcome;
  /** Ids of objects that were forgotten for it (objectShares.ts). */
  madeWay: string[];
}

/** An object as operators see it. */
export interface ListedObject extends ObjectRecord {
  /** ISO 8601. */
  usedAt: string;
  /** Scenes that name it, and rooms that have one of these. */
  scenes: number;
  rooms: number;
}

/** used: rooms have it, and nothing was removed. */
export type RemoveOutcome = "removed" | "missing" | "used";

/** What the store holds at most of scenes that visitors made; anybody who may open a room makes them. */
export interface SceneLimits {
  count: number;
  /** Of their texts in UTF-8. */
  bytes: number;
}

/**
 * missing: one of its objects is not there (any more). full: there is as much as may be. Either way nothing was stored.
 */
export type ScenePut = "stored" | "missing" | "full";

export interface StoredScene {
  id: string;
  text: string;
  /** Ids of the objects that it names. */
  objects: string[];
}

export interface Expired {
  scenes: number;
  objects: number;
}

/** Every method rejects with StoreUnavailable where the store could not be asked. */
export interface ObjectStore {
  /**
   * Judges the limits, makes way and stores, in one transaction; of several that come at the same moment each may find
   * the place that is left. An object that is there already counts as used now.
   */
  putObject(record: ObjectRecord, content: ObjectContent, limits: ObjectLimits): Promise<PutResult>;
  object(id: string): Promise<ObjectRecord | null>;
  readShape(id: string): Promise<Uint8Array | null>;
  readPicture(id: string): Promise<Uint8Array | null>;
  /** Newest first. */
  listObjects(limit: number): Promise<ListedObject[]>;
  /** Forgets the object and the scenes that name it, unless rooms have one of these. */
  removeObject(id: string): Promise<RemoveOutcome>;
  /** How much there is. */
  objectTotals(): Promise<{ count: number; bytes: number }>;
  /**
   * Stores the scene, or finds it, and counts it as used now.
   * @param at now, ISO 8601
   */
  putScene(scene: StoredScene, at: string, limits: SceneLimits): Promise<ScenePut>;
  readScene(id: string): Promise<string | null>;
  /**
   * Forgets scenes that no room has had, and objects that no scene has named, since then.
   * @param at now. @param before since when. ISO 8601
   */
  expireObjects(at: string, before: string): Promise<Expired>;
}

/** What a row of either store says of an object. */
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
