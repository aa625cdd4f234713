/** The object store's SQL for PostgreSQL. */
import {
  type Expired,
  type ObjectContent,
  type ObjectLimits,
  type ObjectRecord,
  type ObjectStore,
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
import {
  type Candidate,
  isShort,
  MOST_CANDIDATES,
  type Owned,
  placeFor,
  unusedSince,
} from "../objects/objectShares.ts";
import { bytesOf, type PostgresClient, type Query } from "./postgresClient.ts";
import {
  type Renamed,
  type SavedContent,
  savedLimit,
  type SavedLimits,
  savedOf,
  type SavedScene,
  type SavePut,
} from "../objects/savedScenes.ts";

/**
 * Serializes these transactions over all processes, so that counts stay valid until the commit. It uses a row lock,
 * which every PostgreSQL-compatible database has. Only a starting server takes the same lock.
 */
const IN_TURN = "SELECT id FROM pliant_schema WHERE id = 1 FOR UPDATE";

/** Stored scenes that rooms or entries of the gallery use. */
const KEPT = "(SELECT scene FROM pliant_rooms UNION SELECT scene FROM pliant_saved_scenes)";
const SAVED = "SELECT id, title, scene, origin, address, bytes, created_at, changed_at FROM pliant_saved_scenes";

export class PostgresObjects implements ObjectStore {
  readonly #client: PostgresClient;

  constructor(client: PostgresClient) {
    this.#client = client;
  }

  async putObject(record: ObjectRecord, { shape, picture }: ObjectContent, limits: ObjectLimits): Promise<PutResult> {
    const { id, name, about, bytes, address, createdAt } = record;
    return this.#client.transaction(async (query) => {
      await query(IN_TURN);
      const found = await query(
        "UPDATE pliant_objects SET used_at = greatest(used_at, $2) WHERE id = $1 RETURNING id",
        [id, createdAt],
      );
      if (found.length > 0) return { outcome: "there", madeWay: [] };
      const rows = await query(
        "SELECT address, count(*) AS n, sum(bytes) AS bytes FROM pliant_objects GROUP BY address",
      );
      const owned = rows.map(
        (row): Owned => ({ address: row.address as string | null, count: Number(row.n), bytes: Number(row.bytes) }),
      );
      const candidates = isShort(record, owned, limits) ? await this.#candidates(query, unusedSince(createdAt)) : [];
      const madeWay = placeFor(record, owned, limits, () => candidates);
      if (typeof madeWay === "string") return { outcome: madeWay, madeWay: [] };
      for (const other of madeWay) await forget(query, other);
      const made = await query(
        `INSERT INTO pliant_objects (id, name, about, bytes, address, created_at, used_at, shape, picture)
         VALUES ($1, $2, $3, $4, $5, $6, $6, $7, $8) ON CONFLICT DO NOTHING RETURNING id`,
        [id, name, JSON.stringify(about), bytes, address, createdAt, bytesOf(shape), bytesOf(picture)],
      );
      return { outcome: made.length > 0 ? "stored" : "there", madeWay };
    });
  }

  /** Lists visitors' objects that no room uses and that were not used after `since`, oldest first. */
  async #candidates(query: Query, since: string): Promise<Candidate[]> {
    const rows = await query(
      `SELECT id, address, bytes FROM pliant_objects WHERE address IS NOT NULL AND used_at <= $1 AND id NOT IN (
         SELECT object FROM pliant_scene_objects JOIN pliant_scenes ON pliant_scenes.id = scene
         WHERE pliant_scenes.used_at > $1 OR scene IN ${KEPT}
       ) ORDER BY used_at, id LIMIT ${MOST_CANDIDATES}`,
      [since],
    );
    return rows.map(({ id, address, bytes }) => ({ id: String(id), address: String(address), bytes: Number(bytes) }));
  }

  async listObjects(limit: number): Promise<ListedObject[]> {
    const rows = await this.#client.query(
      `SELECT id, name, about, bytes, address, created_at, used_at,
         (SELECT count(*) FROM pliant_scene_objects s WHERE s.object = o.id) AS scenes,
         (SELECT count(*) FROM pliant_rooms r JOIN pliant_scene_objects s ON s.scene = r.scene WHERE s.object = o.id) AS rooms
       FROM pliant_objects o ORDER BY created_at DESC, id LIMIT $1`,
      [limit],
    );
    return rows.map(listedObjectOf);
  }

  async removeObject(id: string): Promise<RemoveOutcome> {
    return this.#client.transaction(async (query) => {
      await query(IN_TURN);
      const [row] = await query(
        `SELECT (SELECT count(*) FROM pliant_scene_objects WHERE object = $1 AND scene IN ${KEPT}) AS used
         FROM pliant_objects WHERE id = $1`,
        [id],
      );
      if (!row) return "missing";
      if (Number(row.used) > 0) return "used";
      await forget(query, id);
      return "removed";
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

  async objectTotals(): Promise<ObjectTotals> {
    const [row] = await this.#client.query(
      `SELECT count(*) AS n, coalesce(sum(bytes), 0) AS bytes, (SELECT count(*) FROM pliant_saved_scenes) AS saved
       FROM pliant_objects`,
    );
    return { count: Number(row!.n), bytes: Number(row!.bytes), saved: Number(row!.saved) };
  }

  async putScene({ id, text, objects }: StoredScene, at: string, limits: SceneLimits): Promise<ScenePut> {
    return this.#client.transaction(async (query) => {
      await query(IN_TURN);
      if (!(await lockAll(query, objects))) return "missing";
      const [others] = await query(
        `SELECT count(*) AS n, coalesce(sum(octet_length(text)), 0) AS bytes FROM pliant_scenes
         WHERE id <> $1 AND id NOT IN (SELECT scene FROM pliant_saved_scenes)`,
        [id],
      );
      if (Number(others!.n) >= limits.count || Number(others!.bytes) + Buffer.byteLength(text) > limits.bytes)
        return "full";
      await insertScene(query, { id, text, objects }, at);
      return "stored";
    });
  }

  async readScene(id: string): Promise<string | null> {
    const [row] = await this.#client.query("SELECT text FROM pliant_scenes WHERE id = $1", [id]);
    return row ? String(row.text) : null;
  }

  async expireObjects(at: string, before: string): Promise<Expired> {
    // Separate statements: each sees the data that was committed while the one before it waited for a lock.
    return this.#client.transaction(async (query) => {
      // putScene and putSaved lock objects first and scenes then, the opposite order.
      await query(IN_TURN);
      await query(`UPDATE pliant_scenes SET used_at = greatest(used_at, $1) WHERE id IN ${KEPT}`, [at]);
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

  async putSaved(saved: SavedScene, { text, objects, picture }: SavedContent, limits: SavedLimits): Promise<SavePut> {
    const { id, title, scene, origin, address, bytes, createdAt, changedAt } = saved;
    return this.#client.transaction(async (query) => {
      await query(IN_TURN);
      const held = await query("SELECT id, address FROM pliant_saved_scenes");
      if (held.some((entry) => entry.id === id)) return "stored";
      const addresses = held.map((entry) => entry.address as string | null);
      const limit = savedLimit(address, addresses, limits);
      if (limit) return limit;
      if (!(await lockAll(query, objects))) return "missing";
      await insertScene(query, { id: scene, text, objects }, createdAt);
      await query(
        `INSERT INTO pliant_saved_scenes (id, title, scene, origin, address, bytes, created_at, changed_at, picture)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
        [id, title, scene, origin, address, bytes, createdAt, changedAt, picture && bytesOf(picture)],
      );
      return "stored";
    });
  }

  async saved(id: string): Promise<SavedScene | null> {
    const [row] = await this.#client.query(`${SAVED} WHERE id = $1`, [id]);
    return row ? savedOf(row) : null;
  }

  async savedWith(scene: string): Promise<string | null> {
    const [row] = await this.#client.query(
      "SELECT id FROM pliant_saved_scenes WHERE scene = $1 ORDER BY created_at, id LIMIT 1",
      [scene],
    );
    return row ? String(row.id) : null;
  }

  async readSavedPicture(id: string): Promise<Uint8Array | null> {
    const [row] = await this.#client.query("SELECT picture FROM pliant_saved_scenes WHERE id = $1", [id]);
    return (row?.picture ?? null) as Buffer | null;
  }

  async listSaved(limit: number): Promise<SavedScene[]> {
    const rows = await this.#client.query(`${SAVED} ORDER BY created_at DESC, id LIMIT $1`, [limit]);
    return rows.map(savedOf);
  }

  async renameSaved(id: string, { title, scene, bytes, changedAt, text, objects }: Renamed): Promise<boolean> {
    return this.#client.transaction(async (query) => {
      await query(IN_TURN);
      if (!(await lockAll(query, objects))) return false;
      const changed = await query(
        `UPDATE pliant_saved_scenes SET title = $2, scene = $3, bytes = $4, changed_at = $5 WHERE id = $1 RETURNING id`,
        [id, title, scene, bytes, changedAt],
      );
      if (changed.length === 0) return false;
      await insertScene(query, { id: scene, text, objects }, changedAt);
      return true;
    });
  }

  async removeSaved(id: string): Promise<boolean> {
    return this.#client.transaction(async (query) => {
      await query(IN_TURN);
      const [row] = await query("DELETE FROM pliant_saved_scenes WHERE id = $1 RETURNING scene", [id]);
      if (!row) return false;
      const gone = await query(`DELETE FROM pliant_scenes WHERE id = $1 AND id NOT IN ${KEPT} RETURNING id`, [
        row.scene as string,
      ]);
      await query("DELETE FROM pliant_scene_objects WHERE scene = ANY($1::text[])", [
        gone.map((scene) => scene.id as string),
      ]);
      return true;
    });
  }
}

/** Locks objects until the commit, so that no other process deletes one meanwhile. @returns false: one is missing */
async function lockAll(query: Query, objects: string[]): Promise<boolean> {
  const there = await query("SELECT id FROM pliant_objects WHERE id = ANY($1::text[]) FOR UPDATE", [objects]);
  return there.length === new Set(objects).size;
}

async function insertScene(query: Query, { id, text, objects }: StoredScene, at: string): Promise<void> {
  await query(
    `INSERT INTO pliant_scenes (id, text, used_at) VALUES ($1, $2, $3)
     ON CONFLICT (id) DO UPDATE SET used_at = greatest(pliant_scenes.used_at, excluded.used_at)`,
    [id, text, at],
  );
  await query(`INSERT INTO pliant_scene_objects (scene, object) SELECT $1, unnest($2::text[]) ON CONFLICT DO NOTHING`, [
    id,
    objects,
  ]);
}

/** Deletes an object and the scenes that contain it. */
async function forget(query: Query, id: string): Promise<void> {
  const scenes = await query(
    "DELETE FROM pliant_scenes WHERE id IN (SELECT scene FROM pliant_scene_objects WHERE object = $1) RETURNING id",
    [id],
  );
  await query("DELETE FROM pliant_scene_objects WHERE object = $1 OR scene = ANY($2::text[])", [
    id,
    scenes.map((row) => row.id),
  ]);
  await query("DELETE FROM pliant_objects WHERE id = $1", [id]);
}
