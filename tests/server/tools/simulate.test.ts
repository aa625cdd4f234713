/** The headless run from the command line: its recordings, its hash, its errors. Each run is a process of its own. */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import type { MemoryUse } from "../../../server/sim/memory/usage.ts";
import { boxTets, gridCloth } from "../../../server/meshing/generators.ts";
import { shuffle, shuffled, writeGmsh, writeObj, writeTetgen, type PlainMesh } from "../meshFiles.ts";
import { inLong } from "../../support/run/long.ts";
import { testFolder } from "../../support/testFolder.ts";
import { clothGrid, softBox } from "../../support/bodies.ts";

const dir = testFolder("simulate");

interface Run {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs in the temporary folder, so that the repository's place does not matter. */
function simulate(...args: string[]): Promise<Run> {
  const child = spawn(process.execPath, [resolve("server/tools/simulate.ts"), ...args], {
    cwd: dir,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  return new Promise((done, fail) => child.once("error", fail).once("close", (code) => done({ code, stdout, stderr })));
}

const softMaterial = { density: 1000, youngsModulus: 1e5, poissonsRatio: 0.3 };
const clothMaterial = { ...softMaterial, thickness: 0.001 };
const cube = softBox("cube", [1, 1, 1], [3, 3, 3], { material: softMaterial });
const sheet = clothGrid("sheet", [1, 1], [4, 4], { transform: { translate: [0, 2, 0] }, material: clothMaterial });

function writeScene(name: string, parts: object): string {
  writeFileSync(join(dir, `${name}.json`), JSON.stringify({ version: 1, title: name, substeps: 4, ...parts }));
  return `${name}.json`;
}

interface RecordedBody {
  name: string;
  kind: string;
  firstParticle: number;
  particleCount: number;
  elementSize: number;
  elements: number[];
  surface: number[];
  pinned: number[];
  mass: number[];
  sourceVertex: number[];
}

interface Recording {
  manifest: Record<string, unknown> & { frames: number; particles: number; bodies: RecordedBody[] };
  /** [frame][particle] = x y z */
  frames: number[][][];
}

function readRecording(name: string): Recording {
  const manifest = JSON.parse(readFileSync(join(dir, name, "manifest.json"), "utf8")) as Recording["manifest"];
  const bytes = readFileSync(join(dir, name, "positions.f32"));
  expect(bytes.length).toBe(12 * manifest.frames * manifest.particles);
  const at = (n: number): number => bytes.readFloatLE(4 * n);
  return {
    manifest,
    frames: Array.from({ length: manifest.frames }, (_, f) =>
      Array.from({ length: manifest.particles }, (_, p) =>
        [0, 1, 2].map((r) => at(3 * (f * manifest.particles + p) + r)),
      ),
    ),
  };
}

const signedVolume = ([a, b, c, d]: number[][]): number => {
  const [u, v, w] = [a!, b!, c!].map((p) => p.map((x, r) => x - d![r]!)) as [number[], number[], number[]];
  return (
    (u[0]! * (v[1]! * w[2]! - v[2]! * w[1]!) -
      u[1]! * (v[0]! * w[2]! - v[2]! * w[0]!) +
      u[2]! * (v[0]! * w[1]! - v[1]! * w[0]!)) /
    6
  );
};
const sets = (elements: readonly number[][]): string[] =>
  elements.map((e) => [...e].sort((a, b) => a - b).join()).sort();
const rows = (flat: readonly number[], size: number): number[][] =>
  Array.from({ length: flat.length / size }, (_, e) => flat.slice(size * e, size * e + size));

describe("recordings", () => {
  test("manifest and frames of a scene of two bodies", async () => {
    const scene = writeScene("two", {
      tickHz: 50,
      iterations: 2,
      bodies: [
        { ...cube, pins: [{ select: { particles: [5, 0] } }] },
        { ...sheet, pins: [{ select: { particles: [24] } }] },
      ],
    });
    const run = await simulate(scene, "--ticks", "6", "--record", "deep/two", "--json");
    expect([run.code, run.stderr]).toEqual([0, ""]);
    const { manifest, frames } = readRecording("deep/two");
    const result = JSON.parse(run.stdout) as { stateHash: string };
    expect(manifest).toMatchObject({
      format: "pliant-recording-1",
      title: "two",
      tickHz: 50,
      substeps: 4 * 2, // divided into small steps
      iterations: 1,
      every: "tick",
      particles: 64 + 25,
      frames: 7,
      ticks: 6,
      stateHash: result.stateHash,
    });
    const [soft, cloth] = manifest.bodies as [RecordedBody, RecordedBody];
    expect(soft).toMatchObject({
      name: "cube",
      kind: "soft",
      firstParticle: 0,
      particleCount: 64,
      elementSize: 4,
      pinned: [0, 5],
    });
    expect(cloth).toMatchObject({
      name: "sheet",
      kind: "cloth",
      firstParticle: 64,
      particleCount: 25,
      elementSize: 3,
      pinned: [64 + 24],
    });
    expect([soft.elements.length, soft.surface.length, cloth.elements.length, cloth.surface.length]).toEqual([
      4 * 135,
      3 * 108,
      3 * 32,
      3 * 32,
    ]);
    expect(soft.sourceVertex).toEqual(Array.from({ length: 64 }, (_, i) => i));
    expect(soft.mass.reduce((a, b) => a + b, 0)).toBeCloseTo(1000, 8);
    expect(cloth.mass.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 10);
    // Particles, elements and surface are those of the generator.
    const box = boxTets([1, 1, 1], [3, 3, 3]);
    expect(sets(rows(soft.elements, 4))).toEqual(sets(rows([...box.tets], 4)));
    rows(soft.elements, 4).forEach((e) => expect(signedVolume(e.map((p) => frames[0]![p]!))).toBeGreaterThan(0));
    expect(Math.max(...soft.surface)).toBeLessThan(64);
    expect(Math.min(...cloth.elements, ...cloth.surface)).toBeGreaterThanOrEqual(64);
    // Pinned particles stay, others fall.
    for (const p of [0, 5, 88]) expect(frames[6]![p]).toEqual(frames[0]![p]);
    expect(frames[6]![70]![1]).toBeLessThan(frames[0]![70]![1]! - 0.01);
    expect(frames.flat(2).every(Number.isFinite)).toBe(true);
  });

  test("--every substep: one frame each, and the last of every tick equals the tick's frame", async () => {
    const scene = writeScene("steps", { substeps: 5, bodies: [sheet] });
    const [fine, coarse] = await Promise.all([
      simulate(scene, "--ticks", "3", "--record", "fine", "--every", "substep", "--json"),
      simulate(scene, "--ticks", "3", "--record", "coarse", "--json"),
    ]);
    const a = readRecording("fine");
    const b = readRecording("coarse");
    expect([a.manifest.every, a.manifest.frames, b.manifest.every, b.manifest.frames]).toEqual([
      "substep",
      1 + 3 * 5,
      "tick",
      1 + 3,
    ]);
    expect([0, 5, 10, 15].map((f) => a.frames[f])).toEqual(b.frames);
    const hash = (run: Run): unknown => (JSON.parse(run.stdout) as { stateHash: unknown }).stateHash;
    expect(hash(fine)).toBe(hash(coarse));
    // The first substep of free fall: x = g h^2 / 2.
    const h = 1 / 300;
    expect(a.frames[1]![12]![1]! - a.frames[0]![12]![1]!).toBeCloseTo((-9.81 * h * h) / 2, 6);
  });

  test("--ticks 0 records the initial state", async () => {
    expect((await simulate(writeScene("still", { bodies: [sheet] }), "--ticks", "0", "--record", "still")).code).toBe(
      0,
    );
    expect(readRecording("still").frames).toHaveLength(1);
  });
});

/** Frame 0, masses and elements of a recorded mesh file are the file's, in the file's order. */
function expectAsInFile(name: string, mesh: PlainMesh): void {
  const { manifest, frames } = readRecording(name);
  const [body] = manifest.bodies as [RecordedBody];
  expect(frames[0]).toEqual(mesh.vertices.map((v) => v.map(Math.fround)));
  expect(body.sourceVertex).toEqual(mesh.vertices.map((_, i) => i));
  const size = mesh.elements[0]!.length;
  expect(body.elementSize).toBe(size);
  expect(sets(rows(body.elements, size))).toEqual(sets(mesh.elements));
}

describe("mesh files", () => {
  const box = boxTets([1, 2, 1], [3, 4, 3]);
  const solid = shuffled(box.positions, box.tets, 4, 7);
  const grid = gridCloth([1, 2], [5, 6]);
  const cloth = shuffled(grid.positions, grid.triangles, 3, 8);
  mkdirSync(join(dir, "meshes"));
  writeTetgen(join(dir, "meshes"), "from0", solid, 0);
  writeTetgen(join(dir, "meshes"), "from1", solid, 1);
  writeGmsh(
    join(dir, "meshes"),
    "solid",
    solid,
    shuffle(
      Array.from(solid.vertices, (_, i) => 3 * i + 11),
      9,
    ),
  );
  writeGmsh(
    join(dir, "meshes"),
    "cloth",
    cloth,
    shuffle(
      Array.from(cloth.vertices, (_, i) => i + 1),
      10,
    ),
  );
  writeObj(join(dir, "meshes"), "cloth", cloth);

  test.each([
    ["from0.node", "soft", solid],
    ["from1.ele", "soft", solid],
    ["solid.msh", "soft", solid],
    ["cloth.msh", "cloth", cloth],
    ["cloth.obj", "cloth", cloth],
  ] as const)("%s: particles in the file's order, with any numbers", async (file, kind, mesh) => {
    const name = file.replace(".", "-");
    const pinned = { pins: [{ select: { particles: [2, 3] } }] };
    const scene = writeScene(name, {
      bodies: [
        {
          name: "b",
          kind,
          mesh: { type: "file", path: `meshes/${file}` },
          material: kind === "soft" ? softMaterial : clothMaterial,
          ...pinned,
        },
      ],
    });
    const run = await simulate(scene, "--ticks", "1", "--record", `recorded/${name}`);
    expect([run.code, run.stderr]).toEqual([0, ""]);
    expectAsInFile(`recorded/${name}`, mesh);
    expect(readRecording(`recorded/${name}`).manifest.bodies[0]!.pinned).toEqual([2, 3]);
  });

  test("numbering and format of the file do not change the simulation", () => {
    const hash = (name: string): unknown => readRecording(`recorded/${name}`).manifest.stateHash;
    expect(hash("from1-ele")).toBe(hash("from0-node"));
    expect(hash("solid-msh")).toBe(hash("from0-node"));
    expect(hash("cloth-obj")).toBe(hash("cloth-msh"));
  });

  test("a vertex without an element is left out, and the others keep their numbers", async () => {
    const loose = {
      vertices: [[9, 9, 9], ...solid.vertices],
      elements: solid.elements.map((e) => e.map((p) => p + 1)),
    };
    writeTetgen(dir, "loose", loose, 1);
    const body = {
      name: "b",
      kind: "soft",
      mesh: { type: "file", path: "loose.node" },
      material: softMaterial,
      pins: [{ select: { particles: [1] } }],
    };
    expect((await simulate(writeScene("loose", { bodies: [body] }), "--ticks", "0", "--record", "loose")).code).toBe(0);
    const { manifest, frames } = readRecording("loose");
    expect(frames[0]).toEqual(solid.vertices.map((v) => v.map(Math.fround)));
    expect(manifest.bodies[0]!.sourceVertex).toEqual(solid.vertices.map((_, i) => i + 1));
    expect(manifest.bodies[0]!.pinned).toEqual([0]);
  });
});

test("notes about mesh files are printed with their places", async () => {
  const corners = (x: number): string[] =>
    [0, 1, 2, 3, 4, 5, 6, 7].map((c) => `v ${x + (c & 1)} ${(c >> 1) & 1} ${c >> 2}`);
  const faces = (b: number): string[] =>
    [[1, 3, 4, 2], [5, 6, 8, 7], [1, 2, 6, 5], [3, 7, 8, 4], [1, 5, 7, 3], [2, 4, 8, 6]].map((f) => `f ${f.map((v) => v + b).join(" ")}`); // biome-ignore format: one line
  writeFileSync(join(dir, "two.obj"), [...corners(0), ...corners(5), ...faces(0), ...faces(8), ""].join("\n"));
  const scene = writeScene("two", {
    bodies: [
      {
        name: "b",
        kind: "soft",
        mesh: { type: "file", path: "two.obj" },
        material: softMaterial,
        tetrahedralize: { spacing: 0.5 },
      },
    ],
  });
  const { code, stdout, stderr } = await simulate(scene, "--ticks", "0", "--json");
  expect(code).toBe(0);
  expect(stderr).toMatch(
    /^two\.obj: PIECES 2 pieces are not connected and will fall apart; the smallest is at x, y, z = /,
  );
  expect(JSON.parse(stdout)).toMatchObject({ notes: [{ file: "two.obj", code: "PIECES", at: expect.any(Array) }] });
});

describe("output", () => {
  const scene = writeScene("printed", { bodies: [cube, sheet] });

  test("--json: one line with all results; a second thread gives the same hash", async () => {
    const runs = await Promise.all(
      [[], ["--threads", "2"]].map((more) => simulate(scene, "--ticks", "20", "--json", ...more)),
    );
    const results = runs.map(({ code, stdout, stderr }) => {
      expect([code, stderr]).toEqual([0, ""]);
      expect(stdout.trimEnd().split("\n")).toHaveLength(1);
      return JSON.parse(stdout) as Record<string, unknown>;
    });
    expect(results[0]).toMatchObject({
      scene: "printed",
      ticks: 20,
      tickHz: 60,
      substeps: 4,
      iterations: 1,
      particles: 64 + 25,
      tetrahedra: 135,
      triangles: 32,
      events: 0,
    });
    expect(Object.keys(results[0]!.contact as object)).toEqual([
      "lists",
      "checks",
      "impulses",
      "zones",
      "stops",
      "full",
    ]);
    const { reserved, used, limit, full } = results[0]!.memory as MemoryUse;
    expect(used).toBeLessThanOrEqual(reserved);
    expect(reserved).toBeLessThanOrEqual(limit);
    expect(full).toEqual([]);
    expect((results[0]!.contact as { lists: number }).lists).toBeGreaterThan(0);
    expect(new Set(results.map((r) => JSON.stringify(r.contact))).size).toBe(1);
    expect(Object.keys(results[0]!.tickMs as object)).toEqual(["min", "median", "p99", "max"]);
    expect(Object.keys(results[0]!.stageMs as object)).toEqual(
      expect.arrayContaining(["inputs", "integrate", "broadPhase", "contacts", "momentum", "guard", "other"]),
    );
    expect(results.map((r) => r.threads)).toEqual([1, 2]);
    expect(results[0]!.stateHash).toMatch(/^[0-9a-f]{16}$/);
    expect(new Set(results.map((r) => r.stateHash)).size).toBe(1);
  });

  test("without --json: readable lines, the hash last", async () => {
    const { stdout } = await simulate(scene, "--ticks", "2", "--record", "printed");
    const lines = stdout.trimEnd().split("\n");
    expect(lines[0]).toBe("printed: 89 particles, 135 tetrahedra, 32 cloth triangles");
    expect(lines[1]).toMatch(/^2 ticks at 60 Hz, 4 substeps x 1 iterations, 1 thread\(s\); built in /);
    expect(stdout).toMatch(
      /^ms per tick .*^mean by stage .*integrate.*^recorded {6}3 frames$.*^contact {7}lists \d+ {3}checks \d+ {3}impulses \d+ {3}zones \d+ {3}stops 0 {3}full 0$.*^memory {8}[\d.]+ MiB reserved, [\d.]+ KB per particle {3}[\d.]+ MiB used, [\d.]+ KB {3}grows to 512.0 MiB$/ms,
    );
    expect(lines.at(-1)).toMatch(/^state hash {4}[0-9a-f]{16}$/);
  });

  test("only a scene whose ticks exceed their period is reported as slow motion", async () => {
    for (const [name, settings] of [
      ["hurried", { tickHz: 240, substeps: 128, iterations: 50, refine: false }],
      ["leisurely", { tickHz: 5, substeps: 4, iterations: 1, refine: false }],
    ] as const) {
      const { stdout } = await simulate(writeScene(name, { bodies: [cube], ...settings }), "--ticks", "3");
      const median = Number(/ median (\S+)/.exec(stdout)![1]);
      const said = /^slow motion .* runs at (\d+) % of real time$/m.exec(stdout);
      const share = 1000 / settings.tickHz / median;
      expect(said === null ? undefined : Number(said[1])).toBe(share < 1 ? Math.round(100 * share) : undefined);
    }
  });

  test("intersections from the start are reported, and so is their end", async () => {
    const meeting = writeScene("meeting", {
      bodies: [
        { ...cube, name: "first", transform: { translate: [0, 1, 0] } },
        { ...cube, name: "second", transform: { translate: [0.05, 1.07, 0.03] } },
      ],
    });
    const { code, stdout, stderr } = await simulate(meeting, "--ticks", "240", "--json");
    expect([code, (JSON.parse(stdout) as { events: number }).events]).toEqual([0, 2]);
    const [first, second] = stderr
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(first).toMatchObject({
      type: "tangled",
      tick: 1,
      held: [],
      pairs: [{ between: [{ body: 0 }, { body: 1 }] }],
    });
    expect(second).toMatchObject({ type: "untangled" });
  });

  test("a body that blows up is reported, and the run continues", async () => {
    const gone = writeScene("gone", { worldRadius: 3, bodies: [{ ...sheet, velocity: [100, 0, 0] }] });
    const { code, stdout, stderr } = await simulate(gone, "--ticks", "5", "--json");
    expect([code, (JSON.parse(stdout) as { events: number }).events]).toEqual([0, 1]);
    expect(JSON.parse(stderr)).toMatchObject({
      type: "bodyHeld",
      body: 0,
      reason: expect.stringContaining("beyond 3 m") as string,
    });
  });
});

describe("energy ledger", () => {
  const scene = writeScene("booked", { bodies: [cube, sheet], damping: 0.5 });

  test("JSON has every tick, both bodies and a summary; the run is the same", async () => {
    const [booked, plain] = await Promise.all([
      simulate(scene, "--ticks", "5", "--energy", "books.json", "--json"),
      simulate(scene, "--ticks", "5", "--json"),
    ]);
    const result = JSON.parse(booked.stdout) as { stateHash: string; energy: unknown[] };
    const books = JSON.parse(readFileSync(join(dir, "books.json"), "utf8")) as {
      format: string;
      bodies: string[];
      ticks: { tick: number; bodies: Record<string, number>[] }[];
      summary: { flows: Record<string, number>; before: number; after: number }[];
    };
    expect(result.stateHash).toBe((JSON.parse(plain.stdout) as { stateHash: string }).stateHash);
    expect([books.format, books.bodies]).toEqual(["pliant-energy-1", ["cube", "sheet"]]);
    expect(books.ticks.map((t) => [t.tick, t.bodies.length])).toEqual([0, 1, 2, 3, 4, 5].map((t) => [t, 2]));
    expect(books.summary).toEqual(result.energy);
    for (const { flows, before, after } of books.summary)
      expect(before + Object.values(flows).reduce((a, b) => a + b, 0)).toBeCloseTo(after, 6);
    // It falls, damped, for 5 ticks; 20 steps of them lag by a few percent.
    const fallen = (9.81 / 0.5) * (1 - Math.exp(-0.5 * (5 / 60)));
    expect(books.ticks[5]!.bodies[0]!.kinetic! / (0.5 * 1000 * fallen ** 2)).toBeCloseTo(1, 1);
  });

  test("CSV has a line per tick and body, and the summary is printed", async () => {
    const { stdout } = await simulate(scene, "--ticks", "2", "--energy", "books.csv");
    const [head, ...lines] = readFileSync(join(dir, "books.csv"), "utf8").trimEnd().split("\n");
    expect(head).toMatch(/^tick,seconds,body,total,kinetic,.*,angularMomentumZ$/);
    expect(lines.map((line) => line.split(",").slice(0, 3).join(" "))).toEqual([
      "0 0 cube",
      "0 0 sheet",
      `1 ${1 / 60} cube`,
      `1 ${1 / 60} sheet`,
      `2 ${2 / 60} cube`,
      `2 ${2 / 60} sheet`,
    ]);
    expect(new Set(lines.map((line) => line.split(",").length))).toEqual(new Set([head!.split(",").length]));
    expect(stdout).toMatch(/^energy +cube: /m);
  });
});

// 1000 kg/m^3 times 9.81 m/s^2 times 1 m is 0.1924 of 51,000 Pa.
test("a standing cube of stvk with a modulus of 50,000 Pa is crushed by its weight, a harder or neo-hookean one is not", async () => {
  const bodies = (
    [
      ["hard", "stvk", 5.2e4],
      ["crushed", "stvk", 5e4],
      ["neo-hookean", "neo-hookean", 5e4],
    ] as const
  ).map(([name, model, youngsModulus]) => ({ ...cube, name, material: { ...softMaterial, model, youngsModulus } }));
  const { stdout } = await simulate(writeScene("heavy", { bodies }), "--ticks", "0");
  expect(/^too heavy +(.*): model stvk /m.exec(stdout)![1]).toBe("crushed");
});

describe("errors: exit code 2, a message that names field, value and limit, nothing on stdout", () => {
  const good = writeScene("good", { bodies: [cube] });
  writeFileSync(join(dir, "broken.json"), "{");
  writeTetgen(
    dir,
    "nan",
    {
      vertices: [
        [0, 0, 0],
        [1, 0, 0],
        [0, 1, NaN],
        [0, 0, 1],
      ],
      elements: [[0, 1, 2, 3]],
    },
    1,
  );
  writeTetgen(
    dir,
    "far",
    {
      vertices: [
        [0, 0, 0],
        [1, 0, 0],
        [0, 1, 0],
        [0, 0, 1],
      ],
      elements: [[0, 1, 2, 7]],
    },
    1,
  );
  const ofFile = (name: string, path: string): string =>
    writeScene(name, { bodies: [{ ...cube, mesh: { type: "file", path } }] });

  const cases: [string, string[], RegExp][] = [
    ["no scene", ["--ticks", "1"], /^scene: 0 given, limit: exactly one\n[^]*npm run simulate/],
    ["two scenes", [good, good, "--ticks", "1"], /^scene: 2 given, limit: exactly one/],
    ["no ticks", [good], /^--ticks: missing, limit: a whole number from 0 to 100000000/],
    ["empty ticks", [good, "--ticks", ""], /^--ticks: empty, limit: a whole number/],
    ["broken ticks", [good, "--ticks", "1.5"], /^--ticks: 1\.5, limit: a whole number/],
    ["negative ticks", [good, "--ticks=-1"], /^--ticks: -1, limit: a whole number from 0/],
    ["no thread", [good, "--ticks", "1", "--threads", "0"], /^--threads: 0, limit: a whole number from 1 to 16/],
    [
      "too many threads",
      [good, "--ticks", "1", "--threads", "17"],
      /^--threads: 17, limit: a whole number from 1 to 16/,
    ],
    ["a wrong interval", [good, "--ticks", "1", "--every", "frame"], /^--every: frame, limit: tick or substep/],
    [
      "an energy ledger of another kind",
      [good, "--ticks", "1", "--energy", "books.txt"],
      /^--energy: books\.txt, limit: a file that ends in \.json or \.csv/,
    ],
    ["an unknown option", [good, "--ticks", "1", "--fast"], /^Unknown option '--fast'[^]*npm run simulate/],
    ["a missing scene", ["none.json", "--ticks", "1"], /^ENOENT[^\n]*none\.json[^\n]*\n$/],
    ["a folder instead of a scene", [".", "--ticks", "1"], /^EISDIR[^\n]*\n$/],
    [
      "a recording in place of a file",
      [good, "--ticks", "1", "--record", "good.json"],
      /^EEXIST[^\n]*good\.json[^\n]*\n$/,
    ],
    ["a scene that is not JSON", ["broken.json", "--ticks", "1"], /^scene \/: [^\n]* is not allowed, must be JSON\n$/],
    [
      "a scene out of range",
      [
        writeScene("soft", { bodies: [{ ...cube, material: { ...softMaterial, poissonsRatio: 0.5 } }] }),
        "--ticks",
        "1",
      ],
      /^scene \/bodies\/0\/material\/poissonsRatio: 0\.5 is not allowed, must be <= 0\.4999\n$/,
    ],
    ["a missing mesh", [ofFile("absent", "none.node"), "--ticks", "1"], /none\.node[^\n]*\n$/],
    [
      "a mesh with NaN",
      [ofFile("nan", "nan.node"), "--ticks", "1"],
      /^[^\n]*nan\.node:5: vertex 3 z is NaN, [^\n]*\n$/,
    ],
    [
      "a mesh with an extra corner",
      [ofFile("far", "far.node"), "--ticks", "1"],
      /^[^\n]*far\.ele:2: tetrahedron 1 corner 4 is 8, [^\n]*4[^\n]*\n$/,
    ],
  ];
  // Each is a process: in the short form every other one.
  test.each(cases.filter((_, n) => inLong(true, n % 2 === 0)))("%s", async (_, args, message) => {
    const { code, stdout, stderr } = await simulate(...args);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/^ +at /m);
  });

  test("a refused scene leaves no recording", async () => {
    expect((await simulate("soft.json", "--ticks", "1", "--record", "refused")).code).toBe(2);
    expect(existsSync(join(dir, "refused"))).toBe(false);
    expect(statSync(join(dir, "good.json")).isFile()).toBe(true);
  });
});
