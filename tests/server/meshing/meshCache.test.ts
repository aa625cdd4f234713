/** The mesh cache: the same bytes again, damage repaired, several writers at once. */
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { icosphere } from "../../../server/meshing/generators.ts";
import { meshCache, meshCacheKey } from "../../../server/meshing/meshCache.ts";
import { tetrahedralize } from "../../../server/meshing/tetrahedra/tetrahedralize.ts";

const surface = icosphere(1, 2);
const options = { spacing: 0.5 };
let parent: string;
let folder: string;

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), "pliant-meshes-"));
  folder = join(parent, "made", "on", "demand");
});
afterEach(() => rm(parent, { recursive: true }));

test("the second time is from disk and equal", async () => {
  const made = await meshCache(surface, options, folder);
  const read = await meshCache(surface, options, folder);
  expect([made.cached, read.cached]).toEqual([false, true]);
  expect({ ...read, cached: false }).toEqual(made);
  expect(read.mesh).toEqual(tetrahedralize(surface, options).mesh);
  expect(await readdir(folder)).toEqual([`${meshCacheKey(surface, options)}.bin`]);
});

test("every input is in the key, and the callback is not", () => {
  const moved = { ...surface, positions: surface.positions.with(4, 0.25) };
  const turned = { ...surface, triangles: surface.triangles.toReversed() };
  const keys = [
    meshCacheKey(surface, options),
    meshCacheKey(moved, options),
    meshCacheKey(turned, options),
    meshCacheKey(surface, { spacing: 0.25 }),
    meshCacheKey(surface, { ...options, minPiece: 0.5 }),
  ];
  expect(new Set(keys).size).toBe(keys.length);
  expect(meshCacheKey(surface, { ...options, onProgress: () => undefined })).toBe(keys[0]);
});

test("a damaged file is created again", async () => {
  const made = await meshCache(surface, options, folder);
  const path = join(folder, `${meshCacheKey(surface, options)}.bin`);
  const whole = await readFile(path);
  const damages = [
    Buffer.alloc(0),
    whole.subarray(0, 40),
    whole.subarray(0, -1),
    Buffer.concat([whole, Buffer.alloc(1)]),
    Buffer.from("not a mesh"),
  ];
  for (const place of [0, 5, 9, 13, 17, 30, Math.floor(whole.length / 2), whole.length - 1]) {
    const flipped = Buffer.from(whole);
    flipped[place]! ^= 0x40;
    damages.push(flipped);
  }
  for (const damage of damages) {
    await writeFile(path, damage);
    expect(await meshCache(surface, options, folder)).toEqual(made);
    expect(await readFile(path)).toEqual(whole);
  }
});

test("several writers at once leave one whole file", async () => {
  const all = await Promise.all(Array.from({ length: 6 }, () => meshCache(surface, options, folder)));
  for (const each of all) expect(each.mesh).toEqual(all[0]!.mesh);
  expect(await readdir(folder)).toHaveLength(1);
  expect((await meshCache(surface, options, folder)).cached).toBe(true);
});

test("the result is returned even if the folder cannot be created", async () => {
  const file = join(parent, "file");
  await writeFile(file, "");
  const { cached, mesh } = await meshCache(surface, options, join(file, "below"));
  expect(cached).toBe(false);
  expect(mesh).toEqual(tetrahedralize(surface, options).mesh);
});
