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
  type PutResult,
  type RemoveOutcome,
  type SceneLimits,
  type ScenePut,
  type StoredScene,
} from "./objectStore.ts";
import { type Candidate, MOST_CANDIDATES, type Owned, placeFor, unusedSince } from "./objectShares.ts";
import { transaction } from "./sqliteFile.ts";

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

  /** Lists visitors' objects that no room uses and that were unused since then, oldest first. */
  #candidates(since: string): Candidate[] {
    return this.#database
      .prepare(
        `SELECT id, address, bytes FROM objects WHERE address IS NOT NULL AND used_at <= ? AND id NOT IN (
           SELECT object FROM scene_objects JOIN scenes ON scenes.id = scene
           WHERE scenes.used_at > ? OR scene IN (SELECT scene FROM rooms)
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
          `SELECT (SELECT count(*) FROM rooms WHERE scene IN (SELECT scene FROM scene_objects WHERE object = ?)) AS rooms
           FROM objects WHERE id = ?`,
        )
        .get(id, id);
      if (!row) return "missing";
      if (Number(row.rooms) > 0) return "used";
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

  objectTotals(): { count: number; bytes: number } {
    const row = this.#database.prepare("SELECT count(*) AS n, coalesce(sum(bytes), 0) AS bytes FROM objects").get();
    return { count: Number(row?.n), bytes: Number(row?.bytes) };
  }

  putScene({ id, text, objects }: StoredScene, at: string, limits: SceneLimits): ScenePut {
    return transaction(this.#database, () => {
      const there = this.#database.prepare("SELECT 1 FROM objects WHERE id = ?");
      if (!objects.every((object) => there.get(object))) return "missing";
      const others = this.#database
        .prepare("SELECT count(*) AS n, coalesce(sum(octet_length(text)), 0) AS bytes FROM scenes WHERE id <> ?")
        .get(id);
      if (Number(others?.n) >= limits.count || Number(others?.bytes) + Buffer.byteLength(text) > limits.bytes)
        return "full";
      this.#database
        .prepare(
          `INSERT INTO scenes (id, text, used_at) VALUES (?, ?, ?)
           ON CONFLICT (id) DO UPDATE SET used_at = max(used_at, excluded.used_at)`,
        )
        .run(id, text, at);
      const names = this.#database.prepare("INSERT OR IGNORE INTO scene_objects (scene, object) VALUES (?, ?)");
      for (const object of objects) names.run(id, object);
      return "stored";
    });
  }

  readScene(id: string): string | null {
    return (this.#database.prepare("SELECT text FROM scenes WHERE id = ?").get(id)?.text ?? null) as string | null;
  }

  expireObjects(at: string, before: string): Expired {
    return transaction(this.#database, () => {
      const run = (sql: string, ...values: string[]): number =>
        Number(this.#database.prepare(sql).run(...values).changes);
      run("UPDATE scenes SET used_at = max(used_at, ?) WHERE id IN (SELECT scene FROM rooms)", at);
      const scenes = run("DELETE FROM scenes WHERE used_at < ?", before);
      run("DELETE FROM scene_objects WHERE scene NOT IN (SELECT id FROM scenes)");
      run("UPDATE objects SET used_at = max(used_at, ?) WHERE id IN (SELECT object FROM scene_objects)", at);
      return { scenes, objects: run("DELETE FROM objects WHERE used_at < ?", before) };
    });
  }
}
