/** The object store's SQL for SQLite; runs in the store's thread beside sqliteWork.ts. */
import type { DatabaseSync } from "node:sqlite";
import {
  type Expired,
  type ObjectContent,
  type ObjectLimits,
  type ObjectRecord,
  objectOf,
  type PutOutcome,
  refusalOf,
  type SceneLimits,
  type ScenePut,
  type StoredScene,
} from "./objectStore.ts";
import { transaction } from "./sqliteFile.ts";

export class SqliteObjects {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  putObject(record: ObjectRecord, { shape, picture }: ObjectContent, limits: ObjectLimits): PutOutcome {
    const { id, name, about, bytes, address, createdAt } = record;
    return transaction(this.#database, () => {
      const found = this.#database
        .prepare("UPDATE objects SET used_at = max(used_at, ?) WHERE id = ?")
        .run(createdAt, id);
      if (found.changes > 0) return "there";
      const own = this.#database.prepare("SELECT count(*) AS n FROM objects WHERE address = ?").get(address)?.n;
      const refused = refusalOf(record, { ...this.objectTotals(), own: Number(own) }, limits);
      if (refused) return refused;
      this.#database
        .prepare(
          `INSERT INTO objects (id, name, about, bytes, address, created_at, used_at, shape, picture)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        )
        .run(id, name, JSON.stringify(about), bytes, address, createdAt, createdAt, shape, picture);
      return "stored";
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
