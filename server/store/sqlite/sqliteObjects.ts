/** The object store's SQL for SQLite; runs in the store's thread beside sqliteWork.ts. */
import type { DatabaseSync } from "node:sqlite";
import {
  type Expired,
  type ObjectContent,
  type ObjectLimits,
  type ObjectRecord,
  type ListedObject,
  listedObjectOf,
  objectOf,
  type ObjectTotals,
  type PutResult,
  type RemoveOutcome,
  type SceneLimits,
  type ScenePut,
  type StoredScene,
} from "../objects/objectStore.ts";
import { type Candidate, MOST_CANDIDATES, type Owned, placeFor, unusedSince } from "../objects/objectShares.ts";
import {
  type Renamed,
  type SavedContent,
  savedLimit,
  type SavedLimits,
  savedOf,
  type SavedScene,
  type SavePut,
} from "../objects/savedScenes.ts";
import { transaction } from "./sqliteFile.ts";

/** Stored scenes that rooms or entries of the gallery use. */
const KEPT = "(SELECT scene FROM rooms UNION SELECT scene FROM saved_scenes)";
const SAVED = "SELECT id, title, scene, origin, address, bytes, created_at, changed_at FROM saved_scenes";

export class SqliteObjects {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  putObject(record: ObjectRecord, { shape, picture }: ObjectContent, limits: ObjectLimits): PutResult {
    const { id, name, about, bytes, address, createdAt } = record;
    return transaction(this.#database, () => {
      const found = this.#database
        .prepare("UPDATE objects SET used_at = max(used_at, ?) WHERE id = ?")
        .run(createdAt, id);
      if (found.changes > 0) return { outcome: "there", madeWay: [] };
      const owned = this.#database
        .prepare("SELECT address, count(*) AS count, sum(bytes) AS bytes FROM objects GROUP BY address")
        .all() as unknown as Owned[];
      const madeWay = placeFor(record, owned, limits, () => this.#candidates(unusedSince(createdAt)));
      if (typeof madeWay === "string") return { outcome: madeWay, madeWay: [] };
      for (const other of madeWay) this.#forget(other);
      this.#database
        .prepare(
          `INSERT INTO objects (id, name, about, bytes, address, created_at, used_at, shape, picture)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        )
        .run(id, name, JSON.stringify(about), bytes, address, createdAt, createdAt, shape, picture);
      return { outcome: "stored", madeWay };
    });
  }

  /** Lists visitors' objects that no room uses and that were not used after `since`, oldest first. */
  #candidates(since: string): Candidate[] {
    return this.#database
      .prepare(
        `SELECT id, address, bytes FROM objects WHERE address IS NOT NULL AND used_at <= ? AND id NOT IN (
           SELECT object FROM scene_objects JOIN scenes ON scenes.id = scene
           WHERE scenes.used_at > ? OR scene IN ${KEPT}
         ) ORDER BY used_at, id LIMIT ${MOST_CANDIDATES}`,
      )
      .all(since, since) as unknown as Candidate[];
  }

  /** Deletes an object and the scenes that contain it. */
  #forget(id: string): void {
    const run = (sql: string): unknown => this.#database.prepare(sql).run(id);
    run("DELETE FROM scenes WHERE id IN (SELECT scene FROM scene_objects WHERE object = ?)");
    run("DELETE FROM scene_objects WHERE scene IN (SELECT scene FROM scene_objects WHERE object = ?)");
    run("DELETE FROM objects WHERE id = ?");
  }

  listObjects(limit: number): ListedObject[] {
    return this.#database
      .prepare(
        `SELECT id, name, about, bytes, address, created_at, used_at,
           (SELECT count(*) FROM scene_objects WHERE object = id) AS scenes,
           (SELECT count(*) FROM rooms WHERE scene IN (SELECT s.scene FROM scene_objects s WHERE s.object = id)) AS rooms
         FROM objects ORDER BY created_at DESC, id LIMIT ?`,
      )
      .all(limit)
      .map(listedObjectOf);
  }

  removeObject(id: string): RemoveOutcome {
    return transaction(this.#database, () => {
      const row = this.#database
        .prepare(
          `SELECT (SELECT count(*) FROM scene_objects WHERE object = ? AND scene IN ${KEPT}) AS used
           FROM objects WHERE id = ?`,
        )
        .get(id, id);
      if (!row) return "missing";
      if (Number(row.used) > 0) return "used";
      this.#forget(id);
      return "removed";
    });
  }

  object(id: string): ObjectRecord | null {
    const row = this.#database
      .prepare("SELECT id, name, about, bytes, address, created_at FROM objects WHERE id = ?")
      .get(id);
    return row ? objectOf(row) : null;
  }

  readShape(id: string): Uint8Array | null {
    return (this.#database.prepare("SELECT shape FROM objects WHERE id = ?").get(id)?.shape ??
      null) as Uint8Array | null;
  }

  readPicture(id: string): Uint8Array | null {
    const row = this.#database.prepare("SELECT picture FROM objects WHERE id = ?").get(id);
    return (row?.picture ?? null) as Uint8Array | null;
  }

  objectTotals(): ObjectTotals {
    const row = this.#database
      .prepare(
        `SELECT count(*) AS n, coalesce(sum(bytes), 0) AS bytes, (SELECT count(*) FROM saved_scenes) AS saved
         FROM objects`,
      )
      .get();
    return { count: Number(row?.n), bytes: Number(row?.bytes), saved: Number(row?.saved) };
  }

  putScene({ id, text, objects }: StoredScene, at: string, limits: SceneLimits): ScenePut {
    return transaction(this.#database, () => {
      if (!this.#hasAll(objects)) return "missing";
      const others = this.#database
        .prepare(
          `SELECT count(*) AS n, coalesce(sum(octet_length(text)), 0) AS bytes FROM scenes
           WHERE id <> ? AND id NOT IN (SELECT scene FROM saved_scenes)`,
        )
        .get(id);
      if (Number(others?.n) >= limits.count || Number(others?.bytes) + Buffer.byteLength(text) > limits.bytes)
        return "full";
      this.#insertScene({ id, text, objects }, at);
      return "stored";
    });
  }

  #hasAll(objects: readonly string[]): boolean {
    const there = this.#database.prepare("SELECT 1 FROM objects WHERE id = ?");
    return objects.every((object) => there.get(object));
  }

  #insertScene({ id, text, objects }: StoredScene, at: string): void {
    this.#database
      .prepare(
        `INSERT INTO scenes (id, text, used_at) VALUES (?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET used_at = max(used_at, excluded.used_at)`,
      )
      .run(id, text, at);
    const names = this.#database.prepare("INSERT OR IGNORE INTO scene_objects (scene, object) VALUES (?, ?)");
    for (const object of objects) names.run(id, object);
  }

  readScene(id: string): string | null {
    return (this.#database.prepare("SELECT text FROM scenes WHERE id = ?").get(id)?.text ?? null) as string | null;
  }

  expireObjects(at: string, before: string): Expired {
    return transaction(this.#database, () => {
      const run = (sql: string, ...values: string[]): number =>
        Number(this.#database.prepare(sql).run(...values).changes);
      run(`UPDATE scenes SET used_at = max(used_at, ?) WHERE id IN ${KEPT}`, at);
      const scenes = run("DELETE FROM scenes WHERE used_at < ?", before);
      run("DELETE FROM scene_objects WHERE scene NOT IN (SELECT id FROM scenes)");
      run("UPDATE objects SET used_at = max(used_at, ?) WHERE id IN (SELECT object FROM scene_objects)", at);
      return { scenes, objects: run("DELETE FROM objects WHERE used_at < ?", before) };
    });
  }

  putSaved(saved: SavedScene, { text, objects, picture }: SavedContent, limits: SavedLimits): SavePut {
    const { id, title, scene, origin, address, bytes, createdAt, changedAt } = saved;
    return transaction(this.#database, () => {
      const held = this.#database.prepare("SELECT id, address FROM saved_scenes").all() as unknown as Pick<
        SavedScene,
        "id" | "address"
      >[];
      if (held.some((entry) => entry.id === id)) return "stored";
      const addresses = held.map((entry) => entry.address);
      const limit = savedLimit(address, addresses, limits);
      if (limit) return limit;
      if (!this.#hasAll(objects)) return "missing";
      this.#insertScene({ id: scene, text, objects }, createdAt);
      this.#database
        .prepare(
          `INSERT INTO saved_scenes (id, title, scene, origin, address, bytes, created_at, changed_at, picture)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        )
        .run(id, title, scene, origin, address, bytes, createdAt, changedAt, picture);
      return "stored";
    });
  }

  saved(id: string): SavedScene | null {
    const row = this.#database.prepare(`${SAVED} WHERE id = ?`).get(id);
    return row ? savedOf(row) : null;
  }

  savedWith(scene: string): string | null {
    const row = this.#database
      .prepare("SELECT id FROM saved_scenes WHERE scene = ? ORDER BY created_at, id LIMIT 1")
      .get(scene);
    return (row?.id ?? null) as string | null;
  }

  readSavedPicture(id: string): Uint8Array | null {
    const row = this.#database.prepare("SELECT picture FROM saved_scenes WHERE id = ?").get(id);
    return (row?.picture ?? null) as Uint8Array | null;
  }

  listSaved(limit: number): SavedScene[] {
    return this.#database.prepare(`${SAVED} ORDER BY created_at DESC, id LIMIT ?`).all(limit).map(savedOf);
  }

  renameSaved(id: string, { title, scene, bytes, changedAt, text, objects }: Renamed): boolean {
    return transaction(this.#database, () => {
      if (!this.#hasAll(objects)) return false;
      const { changes } = this.#database
        .prepare("UPDATE saved_scenes SET title = ?, scene = ?, bytes = ?, changed_at = ? WHERE id = ?")
        .run(title, scene, bytes, changedAt, id);
      if (Number(changes) === 0) return false;
      this.#insertScene({ id: scene, text, objects }, changedAt);
      return true;
    });
  }

  removeSaved(id: string): boolean {
    return transaction(this.#database, () => {
      const row = this.#database.prepare("DELETE FROM saved_scenes WHERE id = ? RETURNING scene").get(id);
      if (!row) return false;
      const scene = String(row.scene);
      this.#database.prepare(`DELETE FROM scenes WHERE id = ? AND id NOT IN ${KEPT}`).run(scene);
      this.#database
        .prepare("DELETE FROM scene_objects WHERE scene = ?1 AND NOT EXISTS (SELECT 1 FROM scenes WHERE id = ?1)")
        .run(scene);
      return true;
    });
  }
}
