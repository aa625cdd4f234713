/** The requirements of every object store (server/store/objects/objectStore.ts), in a database or in memory. */
import { beforeAll, expect } from "vitest";
import type {
  ObjectLimits,
  ObjectRecord,
  ObjectStore,
  PutResult,
  SceneLimits,
  StoredScene,
} from "../../../server/store/objects/objectStore.ts";
import type { SavedContent, SavedScene } from "../../../server/store/objects/savedScenes.ts";
import { bytes, Conformance } from "./conformanceKit.ts";

const at = (seconds: number): string => new Date(1e12 + 1000 * seconds).toISOString();
let made = 0;
const content = (seed: number): { shape: Uint8Array; picture: Uint8Array } => ({
  shape: bytes(100_000, seed),
  picture: bytes(50_000, seed + 1),
});
const object = (more: Partial<ObjectRecord> = {}): ObjectRecord => ({
  id: String(++made).padStart(64, "0"),
  name: "«tea» <b>pot</b>'; DROP TABLE objects; 😀.glb",
  about: { triangles: 3, notes: [{ code: "HOLES", text: "ü" }] },
  bytes: 150_000,
  address: `10.0.0.${made}`,
  createdAt: at(0),
  ...more,
});
const room: SceneLimits = { count: 1000, bytes: 1e9 };
const ample: ObjectLimits = { count: 1000, bytes: 1e9, countPerAddress: 1000 };

const conformance = new Conformance();
const { test } = conformance;

// The implementation under test.
let stores: () => [ObjectStore, ObjectStore];
let roomOf: (scene: string) => Promise<() => Promise<void>>;

/** Removes objects of earlier tests. */
const empty = (): Promise<unknown> => stores()[0].expireObjects(at(1e6), at(1e6));

test("an object is returned bit for bit, and stored once for any number of puts", async () => {
  await empty();
  const [store, other] = stores();
  const record = object();
  const { shape, picture } = content(made);
  // A view of a larger buffer: the bytes beside it do not belong to the object.
  const within = bytes(200_000, 7);
  within.set(shape, 1000);
  // Memory shared between threads, as from the thread that read the file.
  const shared = new Uint8Array(new SharedArrayBuffer(picture.byteLength));
  shared.set(picture);
  const given = { shape: within.subarray(1000, 101_000), picture: shared };
  expect(await store.putObject(record, given, ample)).toEqual({ outcome: "stored", madeWay: [] });
  expect(await other.putObject({ ...record, name: "another" }, { shape, picture }, ample)).toEqual({
    outcome: "there",
    madeWay: [],
  });
  expect(await other.object(record.id)).toEqual(record);
  expect(Buffer.compare((await other.readShape(record.id))!, shape)).toBe(0);
  expect(Buffer.compare((await other.readPicture(record.id))!, picture)).toBe(0);
  expect(await other.objectTotals()).toEqual({ count: 1, bytes: record.bytes, saved: 0 });
  expect(await other.object("0".repeat(64))).toBeNull();
  expect(await other.readShape("0".repeat(64))).toBeNull();
  expect(await other.readPicture("0".repeat(64))).toBeNull();
});

test("an address has its share, visitors leave a tenth to operators, and operators may use all free places", async () => {
  await empty();
  const [store] = stores();
  const put = async (more: Partial<ObjectRecord>, limits: Partial<ObjectLimits>): Promise<string> => {
    const record = object(more);
    return (await store.putObject(record, content(made), { ...ample, ...limits })).outcome;
  };
  expect(await put({ address: "one" }, { countPerAddress: 1 })).toBe("stored");
  expect(await put({ address: "one" }, { countPerAddress: 1 })).toBe("share");
  expect(await put({ address: "two" }, { countPerAddress: 1 })).toBe("stored");
  expect(await put({ address: null }, { countPerAddress: 1 })).toBe("stored");
  expect(await put({ address: null }, { countPerAddress: 1 })).toBe("stored");
  // No object is old enough to be replaced.
  expect(await put({}, { count: 4 })).toBe("full");
  expect(await put({}, { bytes: 5 * 150_000 - 1 })).toBe("full");
  expect(await put({}, { count: 5, bytes: 1e9 })).toBe("stored");
  // Three of four places are for visitors, the fourth is not.
  expect(await put({}, { count: 4 })).toBe("full");
  expect(await put({ address: null }, { count: 6 })).toBe("stored");
  expect(await store.objectTotals()).toEqual({ count: 6, bytes: 6 * 150_000, saved: 0 });
});

test("without free places the oldest unused object of the address with most is replaced, also for an operator", async () => {
  await empty();
  const [store, other] = stores();
  // Nine of ten places are for visitors.
  const limits = { ...ample, count: 10 };
  const mine = Array.from({ length: 9 }, (_, i) => object({ address: i < 6 ? "heavy" : "light", createdAt: at(i) }));
  for (const record of mine) expect((await store.putObject(record, content(made), limits)).outcome).toBe("stored");
  const put = (record: ObjectRecord): Promise<PutResult> => other.putObject(record, content(made), limits);
  // A room uses the oldest one.
  const scene = (record: ObjectRecord): string => `o-way-${record.id}`;
  for (const record of mine.slice(0, 2))
    await store.putScene({ id: scene(record), text: "{}", objects: [record.id] }, at(0), room);
  const end = await roomOf(scene(mine[0]!));
  try {
    const newcomer = object({ address: "new", createdAt: at(100) });
    expect(await put(newcomer)).toEqual({ outcome: "stored", madeWay: [mine[1]!.id] });
    expect(await store.readScene(scene(mine[1]!))).toBeNull();
    expect(await store.object(mine[1]!.id)).toBeNull();
    // Operators have a place of their own, and then replace an object of the next heaviest address.
    expect(await put(object({ address: null, createdAt: at(100) }))).toEqual({ outcome: "stored", madeWay: [] });
    expect((await put(object({ address: null, createdAt: at(100) }))).madeWay).toEqual([mine[2]!.id]);
    // An address that would have as many as the heaviest is refused.
    expect(await put(object({ address: "heavy", createdAt: at(100) }))).toEqual({ outcome: "full", madeWay: [] });
    expect(await put(object({ address: "light", createdAt: at(100) }))).toEqual({ outcome: "full", madeWay: [] });
    // An object larger than the visitors' space replaces nothing.
    const huge = object({ address: "huge", bytes: 1e9, createdAt: at(100) });
    expect(await put(huge)).toEqual({ outcome: "full", madeWay: [] });
    expect((await store.objectTotals()).count).toBe(10);
  } finally {
    await end();
  }
});

test("operators see who uploaded each object, what uses it, and delete it unless rooms use it", async () => {
  await empty();
  const [store, other] = stores();
  const [old, young] = [object({ address: null }), object({ createdAt: at(5) })];
  for (const record of [old, young]) await store.putObject(record, content(made), ample);
  const scene = { id: `o-list-${made}`, text: "{}", objects: [young.id] };
  await store.putScene(scene, at(6), room);
  const end = await roomOf(scene.id);
  expect(await other.listObjects(10)).toEqual([
    { ...young, usedAt: at(5), scenes: 1, rooms: 1 },
    { ...old, usedAt: at(0), scenes: 0, rooms: 0 },
  ]);
  expect(await other.listObjects(1)).toHaveLength(1);
  expect(await other.removeObject(young.id)).toBe("used");
  expect(await store.readScene(scene.id)).toBe("{}");
  await end();
  expect(await other.removeObject(young.id)).toBe("removed");
  expect(await other.removeObject(young.id)).toBe("missing");
  expect([await store.object(young.id), await store.readScene(scene.id)]).toEqual([null, null]);
  expect(await store.listObjects(10)).toHaveLength(1);
});

test("a scene is stored only while all of its objects exist", async () => {
  await empty();
  const [store, other] = stores();
  const record = object();
  const scene = { id: `o-${made}`, text: `{"title":"«ü» 😀"}`, objects: [record.id] };
  expect(await store.putScene(scene, at(0), room)).toBe("missing");
  expect(await store.readScene(scene.id)).toBeNull();
  await store.putObject(record, content(made), ample);
  expect(await store.putScene({ ...scene, objects: [record.id, "f".repeat(64)] }, at(0), room)).toBe("missing");
  expect(await store.putScene(scene, at(0), room)).toBe("stored");
  expect(await other.putScene(scene, at(1), room)).toBe("stored");
  expect(await other.readScene(scene.id)).toBe(scene.text);
});

test("scenes are limited in number and bytes; an existing scene is found at the limit", async () => {
  await empty();
  const [store, other] = stores();
  const record = object();
  await store.putObject(record, content(made), ample);
  const scene = (id: string): StoredScene => ({ id, text: "«ü»".repeat(10), objects: [record.id] });
  const bytes = Buffer.byteLength(scene("o").text);
  expect(await store.putScene(scene("o-1"), at(0), { count: 2, bytes: 2 * bytes })).toBe("stored");
  expect(await store.putScene(scene("o-2"), at(0), { count: 2, bytes: 2 * bytes - 1 })).toBe("full");
  expect(await store.putScene(scene("o-2"), at(0), { count: 2, bytes: 2 * bytes })).toBe("stored");
  expect(await other.putScene(scene("o-3"), at(0), { count: 2, bytes: 1e9 })).toBe("full");
  expect(await other.readScene("o-3")).toBeNull();
  expect(await other.putScene(scene("o-2"), at(0), { count: 2, bytes: 2 * bytes })).toBe("stored");
});

test("the limits hold exactly, also when many processes put at once", async () => {
  await empty();
  const limits = { ...ample, count: 6, countPerAddress: 2 };
  const put = async (address: string | null, i: number): Promise<string> => {
    const record = object({ address });
    return (await stores()[i % 2]!.putObject(record, content(made), limits)).outcome;
  };
  const own = await Promise.all(Array.from({ length: 8 }, (_, i) => put("one", i)));
  expect(own.sort()).toEqual([...Array(6).fill("share"), ...Array(2).fill("stored")]);
  const all = await Promise.all(Array.from({ length: 8 }, (_, i) => put(null, i)));
  expect(all.sort()).toEqual([...Array(4).fill("full"), ...Array(4).fill("stored")]);
  const record = object();
  const twice = stores().map((store) => store.putObject(record, content(made), { ...limits, count: 7 }));
  expect((await Promise.all(twice)).map(({ outcome }) => outcome).sort()).toEqual(["stored", "there"]);
  const scenes = await Promise.all(
    Array.from({ length: 8 }, (_, i) =>
      stores()[i % 2]!.putScene({ id: `o-at-once-${i}`, text: "{}", objects: [record.id] }, at(0), {
        count: 3,
        bytes: 1e9,
      }),
    ),
  );
  expect(scenes.sort()).toEqual([...Array(5).fill("full"), ...Array(3).fill("stored")]);
});

test("objects and scenes in use are kept, and all others expire", async () => {
  await empty();
  const [store, other] = stores();
  const [used, unused, bare] = [object(), object(), object()];
  for (const record of [used, unused, bare]) await store.putObject(record, content(made), ample);
  const [played, left] = [`o-${used.id.slice(32)}`, `o-${unused.id.slice(32)}`];
  await store.putScene({ id: played, text: "{}", objects: [used.id] }, at(10), room);
  await store.putScene({ id: left, text: "{}", objects: [unused.id] }, at(10), room);
  const end = await roomOf(played);
  // The object without a scene has expired; the scenes have not.
  expect(await other.expireObjects(at(20), at(5))).toEqual({ scenes: 0, objects: 1 });
  expect(await store.object(bare.id)).toBeNull();
  expect(await other.expireObjects(at(100), at(15))).toEqual({ scenes: 1, objects: 0 });
  expect(await store.readScene(left)).toBeNull();
  // Without its scene the object was last used at 20.
  expect(await other.expireObjects(at(110), at(90))).toEqual({ scenes: 0, objects: 1 });
  expect([await store.object(unused.id), await store.object(used.id)]).toEqual([null, used]);
  await end();
  // The room was last seen at 110.
  expect(await store.expireObjects(at(200), at(110))).toEqual({ scenes: 0, objects: 0 });
  expect(await store.expireObjects(at(300), at(201))).toEqual({ scenes: 1, objects: 1 });
  expect(await store.objectTotals()).toEqual({ count: 0, bytes: 0, saved: 0 });
});

test("putting an old object again restarts its time", async () => {
  await empty();
  const [store, other] = stores();
  const record = object();
  await store.putObject(record, content(made), ample);
  expect(await other.putObject({ ...record, createdAt: at(50) }, content(made), ample)).toMatchObject({
    outcome: "there",
  });
  expect(await store.expireObjects(at(60), at(40))).toEqual({ scenes: 0, objects: 0 });
  expect(await store.expireObjects(at(70), at(51))).toEqual({ scenes: 0, objects: 1 });
});

const entry = (more: Partial<SavedScene> = {}): SavedScene => {
  const id = `saved-${++made}`;
  const text = { scene: `o-${id}`, bytes: 2, origin: "drape" };
  return { id, title: "«Tea»'; 😀", ...text, address: null, createdAt: at(made), changedAt: at(made), ...more };
};
const plain: SavedContent = { text: "{}", objects: [], picture: null };
const roomy = { count: 1000, countPerAddress: 1000 };
const emptyGallery = async (): Promise<void> => {
  for (const { id } of await stores()[0].listSaved(1000)) await stores()[0].removeSaved(id);
};

test("a saved scene is returned bit for bit, listed newest first, renamed and deleted once", async () => {
  await emptyGallery();
  const [store, other] = stores();
  const [older, newer] = [entry(), entry({ address: "10.1.0.1", origin: `saved-${made}` })];
  const picture = bytes(3000, 5);
  expect(await store.putSaved(older, { ...plain, text: '{"a":1}', picture }, roomy)).toBe("stored");
  expect(await other.putSaved(newer, plain, roomy)).toBe("stored");
  expect(await other.listSaved(10)).toEqual([newer, older]);
  expect(await other.listSaved(1)).toEqual([newer]);
  expect((await other.objectTotals()).saved).toBe(2);
  expect(await other.saved(older.id)).toEqual(older);
  expect(await other.readScene(older.scene)).toBe('{"a":1}');
  expect(Buffer.compare((await other.readSavedPicture(older.id))!, picture)).toBe(0);
  expect(await other.readSavedPicture(newer.id)).toBeNull();
  const copy = entry({ scene: older.scene });
  await store.putSaved(copy, plain, roomy);
  expect(await other.savedWith(older.scene)).toBe(older.id);
  const renamed = { title: "Other", scene: `o-renamed-${made}`, bytes: 7, changedAt: at(1e5) };
  expect(await other.renameSaved(older.id, { ...renamed, text: '{"b":2}', objects: [] })).toBe(true);
  expect(await store.saved(older.id)).toEqual({ ...older, ...renamed });
  expect(await store.readScene(renamed.scene)).toBe('{"b":2}');
  expect(Buffer.compare((await store.readSavedPicture(older.id))!, picture)).toBe(0);
  // Another entry has the same text.
  expect([await other.removeSaved(copy.id), await store.removeSaved(copy.id)]).toEqual([true, false]);
  const end = await roomOf(renamed.scene);
  expect(await store.removeSaved(older.id)).toBe(true);
  // A room still has the scene.
  expect(await other.readScene(renamed.scene)).toBe('{"b":2}');
  await end();
  expect(await store.removeSaved(newer.id)).toBe(true);
  expect(await other.readScene(newer.scene)).toBeNull();
  expect(await store.renameSaved(newer.id, { ...renamed, text: "{}", objects: [] })).toBe(false);
  expect([await store.saved(older.id), await store.savedWith(older.scene), await store.listSaved(9)]).toEqual([
    null,
    null,
    [],
  ]);
});

test("the gallery has a limit, an address and its networks have shares, and operators have no share", async () => {
  await emptyGallery();
  const [store] = stores();
  const put = (address: string | null, limits = { count: 7, countPerAddress: 1 }): Promise<string> =>
    store.putSaved(entry({ address }), plain, limits);
  expect(await put("one")).toBe("stored");
  expect(await put("one")).toBe("share");
  for (const [n, expected] of [...Array(4).fill("stored"), "share"].entries())
    expect(await put(`2001:db8:1:10${n}::/64`)).toBe(expected);
  expect([await put(null), await put(null), await put(null), await put("two")]).toEqual([
    "stored",
    "stored",
    "full",
    "full",
  ]);
  // Saved scenes do not take the places of scenes with objects.
  await empty();
  expect(await store.putScene({ id: "o-composed", text: "{}", objects: [] }, at(0), { count: 1, bytes: 2 })).toBe(
    "stored",
  );
  await emptyGallery();
});

test("of many concurrent saves exactly as many succeed as there are places", async () => {
  await emptyGallery();
  const puts = Array.from({ length: 8 }, (_, i) =>
    stores()[i % 2]!.putSaved(entry(), plain, { count: 3, countPerAddress: 9 }),
  );
  expect((await Promise.all(puts)).sort()).toEqual([...Array(5).fill("full"), ...Array(3).fill("stored")]);
  await emptyGallery();
});

test("the gallery keeps the objects of its scenes: they neither expire nor make way, nor can they be deleted", async () => {
  await empty();
  await emptyGallery();
  const [store, other] = stores();
  const record = object({ address: "heavy" });
  await store.putObject(record, content(made), ample);
  const kept = entry();
  const withObject = { ...plain, objects: [record.id] };
  expect(await store.putSaved(kept, { ...plain, objects: ["0".repeat(64)] }, roomy)).toBe("missing");
  expect(await store.saved(kept.id)).toBeNull();
  expect(await store.putSaved(kept, withObject, roomy)).toBe("stored");
  expect(await other.removeObject(record.id)).toBe("used");
  expect(await other.expireObjects(at(1e5), at(9e4))).toEqual({ scenes: 0, objects: 0 });
  const late = object({ address: "light", createdAt: at(2e5) });
  expect((await store.putObject(late, content(made), { ...ample, count: 2 })).outcome).toBe("full");
  const renamed = { title: "t", scene: "o-broken", bytes: 2, changedAt: at(3e5), text: "{}" };
  expect(await store.renameSaved(kept.id, { ...renamed, objects: ["0".repeat(64)] })).toBe(false);
  expect(await store.saved(kept.id)).toEqual(kept);
  expect(await store.removeSaved(kept.id)).toBe(true);
  expect(await other.removeObject(record.id)).toBe("removed");
});

/**
 * @param open two that are opened on one database
 * @param makeRoom creates a room of this scene, and returns a function that ends the room
 */
export function objectConformance(open: typeof stores, makeRoom: typeof roomOf): void {
  beforeAll(() => {
    stores = open;
    roomOf = makeRoom;
  });
  conformance.run();
}
