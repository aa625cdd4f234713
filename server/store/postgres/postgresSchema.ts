/**
 * Tables of the PostgreSQL store and their migrations. Plain SQL: text, bigint, bytea, timestamptz. It needs no
 * extension, no stored function and no advisory lock, so it also runs on PostgreSQL-compatible distributed databases.
 */

/**
 * Migrations from one version to the next; `pliant_schema` counts how many a database has applied. Append only.
 * `pliant_counter` gives epochs. It never goes back, even if a room is removed and another one of its name is created.
 * A sequence would not do: it hands out numbers before locks are taken, so a later claim could get the lower number.
 */
export const MIGRATIONS: readonly (readonly string[])[] = [
  [
    "CREATE TABLE IF NOT EXISTS pliant_counter (id INT PRIMARY KEY, epoch BIGINT NOT NULL)",
    "INSERT INTO pliant_counter (id, epoch) VALUES (1, 0) ON CONFLICT DO NOTHING",
    `CREATE TABLE IF NOT EXISTS pliant_rooms (
       name TEXT PRIMARY KEY, scene TEXT NOT NULL, pool TEXT NOT NULL, created_at TEXT NOT NULL, settings TEXT NOT NULL, request_key TEXT UNIQUE,
       epoch BIGINT NOT NULL, process TEXT, url TEXT, lease_until TIMESTAMPTZ, members BIGINT NOT NULL DEFAULT 0
     )`,
    `CREATE TABLE IF NOT EXISTS pliant_checkpoints (
       room TEXT NOT NULL, tick BIGINT NOT NULL, identity TEXT NOT NULL, state BYTEA NOT NULL, PRIMARY KEY (room, tick)
     )`,
    `CREATE TABLE IF NOT EXISTS pliant_journal (
       room TEXT NOT NULL, until_tick BIGINT NOT NULL, after_tick BIGINT NOT NULL, bytes BYTEA NOT NULL, PRIMARY KEY (room, until_tick)
     )`,
    `CREATE TABLE IF NOT EXISTS pliant_audit (
       id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at TEXT NOT NULL, actor TEXT NOT NULL, action TEXT NOT NULL, room TEXT, details TEXT NOT NULL
     )`,
    "CREATE INDEX IF NOT EXISTS pliant_audit_by_room ON pliant_audit (room, id)",
  ],
  [
    "ALTER TABLE pliant_rooms ADD COLUMN IF NOT EXISTS parked TEXT",
    "ALTER TABLE pliant_rooms ADD COLUMN IF NOT EXISTS attempts BIGINT NOT NULL DEFAULT 0",
    "ALTER TABLE pliant_rooms ADD COLUMN IF NOT EXISTS writes BIGINT NOT NULL DEFAULT 0",
    "CREATE TABLE IF NOT EXISTS pliant_members (room TEXT PRIMARY KEY, records BYTEA NOT NULL)",
  ],
  [
    `CREATE TABLE IF NOT EXISTS pliant_set_aside (
       id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, room TEXT NOT NULL, what TEXT NOT NULL, tick BIGINT NOT NULL, after_tick BIGINT,
       reason TEXT NOT NULL, at TEXT NOT NULL, bytes BYTEA NOT NULL
     )`,
    "CREATE INDEX IF NOT EXISTS pliant_set_aside_by_room ON pliant_set_aside (room, id)",
  ],
  [
    "CREATE TABLE IF NOT EXISTS pliant_processes (process TEXT PRIMARY KEY, report TEXT NOT NULL, lease_until TIMESTAMPTZ NOT NULL)",
  ],
  [
    `CREATE TABLE IF NOT EXISTS pliant_objects (
       id TEXT PRIMARY KEY, name TEXT NOT NULL, about TEXT NOT NULL, bytes BIGINT NOT NULL, address TEXT, created_at TEXT NOT NULL, used_at TEXT NOT NULL,
       shape BYTEA NOT NULL, picture BYTEA NOT NULL
     )`,
    "CREATE TABLE IF NOT EXISTS pliant_scenes (id TEXT PRIMARY KEY, text TEXT NOT NULL, used_at TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS pliant_scene_objects (scene TEXT NOT NULL, object TEXT NOT NULL, PRIMARY KEY (scene, object))",
  ],
  [
    `CREATE TABLE IF NOT EXISTS pliant_saved_scenes (
       id TEXT PRIMARY KEY, title TEXT NOT NULL, scene TEXT NOT NULL, origin TEXT NOT NULL, address TEXT, bytes BIGINT NOT NULL,
       created_at TEXT NOT NULL, changed_at TEXT NOT NULL, picture BYTEA
     )`,
    "CREATE INDEX IF NOT EXISTS pliant_saved_scenes_by_scene ON pliant_saved_scenes (scene)",
  ],
];

/** Created first, by the first process that opens the database. */
export const VERSION_TABLE = [
  "CREATE TABLE IF NOT EXISTS pliant_schema (id INT PRIMARY KEY, version INT NOT NULL)",
  "INSERT INTO pliant_schema (id, version) VALUES (1, 0) ON CONFLICT DO NOTHING",
] as const;

/**
 * Error codes if two processes create the same table at once. IF NOT EXISTS looks first and creates then, so the second
 * process meets the first one's row in the catalog. A retry finds the table.
 */
export const CREATED_MEANWHILE: ReadonlySet<string> = new Set(["23505", "42P07", "42710"]);
