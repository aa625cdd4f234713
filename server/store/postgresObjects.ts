/** The object store's SQL for PostgreSQL. */
import {
  type Expired,
  type ObjectContent,
  type ObjectLimits,
  type ObjectRecord,
  type ObjectStore,
  objectOf,
  type PutOutcome,
  refusalOf,
  type SceneLimits,
  type ScenePut,
  type StoredScene,
} from "./objectStore.ts";
import { bytesOf, type PostgresClient } from "./postgresClient.ts";

/**
 * One after another, over all processes: what is counted is so until the commit. A row's lock, which every database
 * that speaks PostgreSQL has; nothing else takes it but a program that comes up.
 */
const IN_TURN = "SELECT id FROM pliant_schema WHERE id = 1 FOR UPDATE";

export class PostgresObjects implements ObjectStore {
  readonly #client: PostgresClient;

  constructor(client: PostgresClient) {
    this.#client = client;
  }

  async putObject(record: ObjectRecord, { shape, picture }: ObjectContent, limits: ObjectLimits): Promise<PutOutcome> {
    const { id, name, about, bytes, address, createdAt } = record;
    return this.#client.transaction(async (query) => {
      await query(IN_TURN);
      const found = await query(
        "UPDATE pliant_objects SET used_at = greatest(used_at, $2) WHERE id = $1 RETURNING id",
        [id, createdAt],
      );
      if (found.length > 0) return "there";
      const [row] = await query(
        `SELECT count(*) AS n, coalesce(sum(bytes), 0) AS bytes, count(*) FILTER (WHERE address = $1::text) AS own
         FROM pliant_objects`,
        [address],
      );
      const [count, stored, own] = [Number(row!.n), Number(row!.bytes), Number(row!.own)];
      const refused = refusalOf(record, { count, bytes: stored, own }, limits);
      if (refused) return refused;
      const made = await query(
        `INSERT INTO pliant_objects (id, name, about, bytes, address, created_at, used_at, shape, picture)
         VALUES ($1, $2, $3, $4, $5, $6, $6, $7, $8) ON CONFLICT DO NOTHING RETURNING id`,
        [id, name, JSON.stringify(about), bytes, address, createdAt, bytesOf(shape), bytesOf(picture)],
      );
      return made.length > 0 ? "stored" : "there";
    });
  }

  async object(id: string): Promise<ObjectRecord | null> {
    const [row] = await this.#client.query(
      "SELECT id, name, about, bytes, address, created_at FROM pliant_objects WHERE id = $1",
      [id],
    );
    return row ? objectOf(row) : null;
  }

  async readShape(id: string): Promise<Uint8Array | null> {
    const [row] = await this.#client.query("SELECT shape FROM pliant_objects WHERE id = $1", [id]);
    return row ? (row.shape as Buffer) : null;
  }

  async readPicture(id: string): Promise<Uint8Array | null> {
    const [row] = await this.#client.query("SELECT picture FROM pliant_objects WHERE id = $1", [id]);
    return row ? (row.picture as Buffer) : null;
  }

  async objectTotals(): Promise<{ count: number; bytes: number }> {
    const [row] = await this.#client.query(
      "SELECT count(*) AS n, coalesce(sum(bytes), 0) AS bytes FROM pliant_objects",
    );
    return { count: Number(row!.n), bytes: Number(row!.bytes) };
  }

  async putScene({ id, text, objects }: StoredScene, at: string, limits: SceneLimits): Promise<ScenePut> {
    return this.#client.transaction(async (query) => {
      await query(IN_TURN);
      // Kept as they are until the scene names them: nobody forgets one meanwhile.
      const there = await query("SELECT id FROM pliant_objects WHERE id = ANY($1::text[]) FOR UPDATE", [objects]);
      if (there.length < new Set(objects).size) return "missing";
      const [others] = await query(
        "SELECT count(*) AS n, coalesce(sum(octet_length(text)), 0) AS bytes FROM pliant_scenes WHERE id <> $1",
        [id],
      );
      if (Number(others!.n) >= limits.count || Number(others!.bytes) + Buffer.byteLength(text) > limits.bytes)
        return "full";
      await query(
        `INSERT INTO pliant_scenes (id, text, used_at) VALUES ($1, $2, $3)
         ON CONFLICT (id) DO UPDATE SET used_at = greatest(pliant_scenes.used_at, excluded.used_at)`,
        [id, text, at],
      );
      await query(
        `INSERT INTO pliant_scene_objects (scene, object) SELECT $1, unnest($2::text[]) ON CONFLICT DO NOTHING`,
        [id, objects],
      );
      return "stored";
    });
  }

  async readScene(id: string): Promise<string | null> {
    const [row] = await this.#client.query("SELECT text FROM pliant_scenes WHERE id = $1", [id]);
    return row ? String(row.text) : null;
  }

  async expireObjects(at: string, before: string): Promise<Expired> {
    // Statement by statement: each sees what was committed while the one before it waited for a lock.
    return this.#client.transaction(async (query) => {
      await query(
        `UPDATE pliant_scenes SET used_at = greatest(used_at, $1) WHERE id IN (SELECT scene FROM pliant_rooms)`,
        [at],
      );
      const scenes = await query("DELETE FROM pliant_scenes WHERE used_at < $1 RETURNING id", [before]);
      await query("DELETE FROM pliant_scene_objects WHERE scene = ANY($1::text[])", [scenes.map(({ id }) => id)]);
      await query(
        `UPDATE pliant_objects SET used_at = greatest(used_at, $1)
         WHERE id IN (SELECT object FROM pliant_scene_objects)`,
        [at],
      );
      const objects = await query("DELETE FROM pliant_objects WHERE used_at < $1 RETURNING id", [before]);
      return { scenes: scenes.length, objects: objects.length };
    });
  }
}
