/**
 * The collision checker: its findings in this process; output, exit codes and errors of its command; and recordings of
 * real scenes.
 */
import { spawn } from "node:child_process";
import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { validateScene } from "../../../../shared/scene/sceneValidator.ts";
import { createWorld } from "../../../../server/sim/world/createWorld.ts";
import { Recorder } from "../../../../server/sim/world/record.ts";
import { openWorld } from "../../../../server/sim/world.ts";
import { FrameReader, openRecording } from "../../../../server/tools/check/recording.ts";
import { Tally } from "../../../../server/tools/check/report.ts";
import { Run } from "../../../../server/tools/check/run.ts";
import type { FrameFindings } from "../../../../server/tools/check/findings.ts";
import { type Made, recordings } from "./recordings.ts";

const { root, makeRecording } = recordings();

interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

function check(...args: string[]): Promise<Ran> {
  const command = [resolve("server/tools/check/main.ts"), ...args];
  const child = spawn(process.execPath, command, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  return new Promise((done, fail) => child.once("error", fail).once("close", (code) => done({ code, stdout, stderr })));
}

type Answer = Tally["summary"] & { findings: FrameFindings[] };

/** Checks a recording in this process. @param list number of findings to keep of each frame */
function answer(dir: string, list = 1): Answer {
  const recording = openRecording(dir);
  const tally = new Tally(recording);
  const findings = new Run(recording, new FrameReader(recording).read(0, recording.frames - 1), 0, list).judge();
  for (const frame of findings) tally.add(frame);
  return { ...tally.summary, findings };
}
const finds = (dir: string): boolean => answer(dir).framesWithFindings > 0;

/** A triangle in the plane y = height, around the origin. */
const flat = (height: number): number[] => [-1, height, -1, 1, height, -1, 0, height, 1];
/** A triangle in the plane x = 0.125, with its lowest corner at height `low`. */
const upright = (low: number): number[] => [0.125, low, 0, 0.125, low + 1, -0.5, 0.125, low + 1, 0.5];
const triangle = { count: 3, surface: [0, 1, 2] };
const two = (frames: number[][], more: Partial<Made> = {}): string =>
  makeRecording({ bodies: [triangle, triangle], frames, ...more });

describe("findings", () => {
  test("a triangle that pierces another: place, depth, time", async () => {
    const { framesWithFindings, counts, firstFrame, worst, findings } = answer(
      two([1, 0.75, 0.25, -0.25, -0.25].map((low) => [...flat(0), ...upright(low)])),
      9,
    );
    expect([framesWithFindings, firstFrame]).toEqual([2, 3]);
    expect(counts).toEqual({ crossing: 2, touching: 0, neighbors: 0, vertex: 1, edge: 0, plane: 0 });
    expect(worst).toEqual({
      frame: 3,
      kind: "vertex",
      between: ["b1", "b0"],
      particles: [3, 0, 1, 2],
      depth: 0.25,
      time: 0.5,
    });
    expect(findings.map(({ frame, list }) => [frame, list.length])).toEqual([
      [3, 2],
      [4, 1],
    ]);
  });

  test("a pass through another triangle between two frames leaves no intersection, only the crossing", async () => {
    const { counts } = answer(
      two([
        [...flat(0), ...flat(1)],
        [...flat(0), ...flat(-1)],
      ]),
    );
    expect(counts).toEqual({ crossing: 0, touching: 0, neighbors: 0, vertex: 6, edge: 9, plane: 0 });
  });

  test("touching counts, in a frame and on the way to it; almost touching does not", async () => {
    const touched = answer(
      two([
        [...flat(0), ...upright(0.5)],
        [...flat(0), ...upright(0)],
      ]),
    );
    expect([touched.counts.touching, touched.counts.vertex, touched.counts.crossing]).toEqual([1, 1, 0]);
    const near = answer(
      two([
        [...flat(0), ...upright(0.5)],
        [...flat(0), ...upright(2 ** -24)],
      ]),
    );
    expect([near.framesWithFindings, near.staticIntersections, near.sweptCrossings]).toEqual([0, 0, 0]);
  });

  test("a sheet that folds over its own corner: neighbors that cut each other", async () => {
    // Two triangles with a common corner; the second turns through the first.
    const first = [0, 0, 0, 2, 0, -1, 2, 0, 1];
    const bodies = [{ count: 5, surface: [0, 1, 2, 0, 3, 4] }];
    const above = [1, 1, 0.25, 1, 2, -0.25];
    const through = [1, -1, 0.25, 1, 1, -0.25];
    const { counts } = answer(
      makeRecording({
        bodies,
        frames: [
          [...first, ...above],
          [...first, ...through],
        ],
      }),
    );
    expect(counts).toMatchObject({ crossing: 0, touching: 0, neighbors: 1, vertex: 1 });
  });

  test("pairs that the scene excludes from contact are not checked: bodies, a body and itself, a collider", async () => {
    const frames = [1, -0.25].map((low) => [...flat(0), ...upright(low)]);
    expect(finds(two(frames))).toBe(true);
    expect(finds(two(frames, { more: { apart: [[1, 0]] } }))).toBe(false);
    const one = [{ count: 6, surface: [0, 1, 2, 3, 4, 5] }];
    expect(finds(makeRecording({ bodies: one, frames }))).toBe(true);
    expect(finds(makeRecording({ bodies: one, frames, more: { apart: [[0, 0]] } }))).toBe(false);
    const statue = { type: "mesh", name: "statue", firstParticle: 3, particleCount: 3, surface: [3, 4, 5] };
    expect(answer(makeRecording({ bodies: [triangle], colliders: [statue], frames })).worst?.between.sort()).toEqual([
      "b0",
      "statue",
    ]);
    expect(finds(makeRecording({ bodies: [triangle], colliders: [statue], frames, more: { apart: [[0, 1]] } }))).toBe(
      false,
    );
    // Two colliders.
    const colliders = [{ ...statue, firstParticle: 0, surface: [0, 1, 2] }, statue];
    expect(finds(makeRecording({ bodies: [], colliders, frames }))).toBe(false);
  });

  test("a collider whose path restarts elsewhere has not travelled there", async () => {
    const frames = [1, -3, -3].map((low) => [...flat(0), ...upright(low)]);
    const gate = { type: "box", firstParticle: 3, particleCount: 3, surface: [3, 4, 5] };
    expect(answer(makeRecording({ bodies: [triangle], colliders: [gate], frames })).sweptCrossings).toBeGreaterThan(0);
    expect(finds(makeRecording({ bodies: [triangle], colliders: [{ ...gate, jumps: [1] }], frames }))).toBe(false);
  });

  test("an absent spawnable body has no place, and its spawn is no motion", async () => {
    const frames = [-0.25, -0.25, -3, -3].map((low) => [...flat(0), ...upright(low)]);
    const bodies = (absent?: number[]): Parameters<typeof makeRecording>[0]["bodies"] => [
      triangle,
      { ...triangle, ...(absent && { more: { absent } }) },
    ];
    expect(finds(makeRecording({ bodies: bodies(), frames }))).toBe(true);
    expect(finds(makeRecording({ bodies: bodies([0, 1]), frames }))).toBe(false);
    // The body is in the scene in the second frame only.
    const { counts } = answer(makeRecording({ bodies: bodies([0, 0, 2, 3]), frames }));
    expect([counts.crossing, counts.vertex, counts.edge]).toEqual([1, 0, 0]);
    const floor = { type: "plane", normal: [0, 1, 0], offset: -1, firstParticle: 6, particleCount: 0, surface: [] };
    expect(finds(makeRecording({ bodies: bodies([0, 3]), colliders: [floor], frames }))).toBe(false);
    expect(answer(makeRecording({ bodies: bodies([0, 1]), colliders: [floor], frames })).counts.plane).toBeGreaterThan(
      0,
    );
  });

  test("particles below a plane, also a moving one; not pinned ones, and not by rounding", async () => {
    const floor = {
      type: "plane",
      name: "floor",
      normal: [0, 2, 0],
      offset: 1,
      firstParticle: 3,
      particleCount: 0,
      surface: [],
    };
    const frames = [[...flat(0.5)], [...flat(0.5 - 2 ** -25)], [...flat(0.25)]];
    const { counts, worst } = answer(makeRecording({ bodies: [triangle], colliders: [floor], frames }));
    expect([counts.plane, worst?.frame, worst?.between, worst?.depth]).toEqual([3, 2, ["b0", "floor"], 0.25]);
    expect(
      finds(makeRecording({ bodies: [{ ...triangle, more: { pinned: [0, 1, 2] } }], colliders: [floor], frames })),
    ).toBe(false);
    const planes = [0.5, 0.5, 0.25].map((height) => [0, 1, 0, height]);
    expect(finds(makeRecording({ bodies: [triangle], colliders: [{ ...floor, planes }], frames }))).toBe(false);
    expect(finds(makeRecording({ bodies: [triangle], colliders: [floor], frames, more: { apart: [[0, 1]] } }))).toBe(
      false,
    );
  });

  test("far from the origin the simulation's own bits decide", async () => {
    // 2^-20 apart at 2^10: in float32 world coordinates they are in one plane.
    const frames = [[...flat(2 ** -20), ...flat(0)]];
    const dir = two(
      frames.map((x) => x.map((c, i) => Math.fround(c + (i % 3 === 1 ? 1024 : 0)))),
      { more: { origin: [0, 1024, 0] } },
    );
    expect(finds(dir)).toBe(true);
    writeFileSync(join(dir, "local.f32"), Float32Array.from(frames.flat()));
    expect(finds(dir)).toBe(false);
  });
});

describe("output", () => {
  const frames = [1, 0.75, -0.25].map((low) => [...flat(0), ...upright(low)]);

  test("a row for each frame with findings, then a summary", async () => {
    const { code, stdout } = await check(two(frames));
    const lines = stdout.trimEnd().split("\n");
    expect([code, lines.length]).toEqual([1, 9]);
    expect(lines[1]).toMatch(/^ +2 +1 +- +- +1 +- +- {2}swept vertex: b1 3 \| b0 0 1 2, 2\.50e-1 m at 0\.750$/);
    expect(lines[2]).toBe("made: 3 frames, 2 surfaces, 6 vertices, 2 triangles");
    expect(stdout).toMatch(/^static intersections {2}1 \(1 crossing, 0 touching, 0 of neighbors\)$/m);
    expect(stdout).toMatch(/^first in frame {8}2, in 1 frames in total$/m);
  });

  test("without findings: two lines say so, exit code 0; a recording of ticks only causes a warning", async () => {
    const { code, stdout } = await check(two(frames.slice(0, 2), { more: { every: "tick" } }));
    expect(code).toBe(0);
    expect(stdout).toMatch(/^swept crossings {7}0 /m);
    expect(stdout).toMatch(/one frame per tick/);
    expect(stdout.trimEnd().endsWith("nothing meets")).toBe(true);
  });

  test("threads do not change the result, and JSON has all findings", async () => {
    const long = two(Array.from({ length: 70 }, (_, f) => [...flat(0), ...upright(Math.cos(f))]));
    const [one, three] = await Promise.all([
      check(long, "--json", "--threads", "1"),
      check(long, "--json", "--threads", "3"),
    ]);
    expect(three.stdout).toBe(one.stdout);
    const { findings } = answer(long);
    expect((JSON.parse(one.stdout) as Answer).findings).toEqual(findings);
    expect(findings.length).toBeGreaterThan(20);
  });

  test("--raw: positions, triangles and a group for every vertex", async () => {
    const statue = { type: "mesh", firstParticle: 6, particleCount: 3, surface: [6, 7, 8] };
    const raw = join(root, "deep/raw");
    const x = [...flat(0), ...flat(1), ...flat(2)];
    const dir = makeRecording({ bodies: [triangle, triangle], colliders: [statue], frames: [x, x] });
    expect((await check(dir, "--raw", raw)).code).toBe(0);
    const words = (name: string): number[] => [
      ...new Uint32Array(new Uint8Array(readFileSync(join(raw, name))).buffer),
    ];
    expect(readFileSync(join(raw, "positions.f32"))).toEqual(readFileSync(join(dir, "positions.f32")));
    expect(words("triangles.u32")).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(words("groups.u32")).toEqual([0, 0, 0, 1, 1, 1, 2, 2, 2]);
  });
});

describe("recordings of scenes", () => {
  const material = { density: 300, youngsModulus: 1e5, poissonsRatio: 0.3, thickness: 0.001 };
  const sheet = (name: string, height: number, more: object = {}): object => ({
    name,
    kind: "cloth",
    mesh: { type: "grid", size: [1, 1], cells: [4, 4] },
    transform: { translate: [0, height, 0], rotate: [0, 30, 0] },
    material,
    ...more,
  });
  async function record(name: string, parts: object, every: "tick" | "substep" = "substep"): Promise<string> {
    const scene = validateScene({ version: 1, title: name, substeps: 4, ...parts });
    const created = await createWorld(scene, { baseDir: root });
    const world = openWorld(created.memory, created.layout);
    const recorder = new Recorder(join(root, name), scene, created, world, every);
    recorder.write();
    if (every === "substep") world.watchSubsteps(() => recorder.write());
    for (let tick = 0; tick < 3; tick++) {
      world.step([]);
      if (every === "tick") recorder.write();
    }
    recorder.close({});
    return join(root, name);
  }

  test("a sheet in free fall has no findings; neither have two intersecting sheets whose contact is excluded", async () => {
    expect(answer(await record("falls", { bodies: [sheet("sheet", 2)] }))).toMatchObject({
      framesWithFindings: 0,
      frames: 13,
      vertices: 25,
      triangles: 32,
    });
    const crossed = [sheet("a", 2), sheet("b", 2, { transform: { translate: [0, 2, 0], rotate: [80, 0, 0] } })];
    expect(answer(await record("crossed", { gravity: [0, 0, 0], bodies: crossed }))).toMatchObject({ firstFrame: 0 });
    const passing = [sheet("a", 2, { contact: { ignore: ["b"] } }), crossed[1]];
    expect(answer(await record("passing", { gravity: [0, 0, 0], bodies: passing }))).toMatchObject({
      framesWithFindings: 0,
    });
  });

  test("colliders are recorded with their triangles, at their place in every frame", async () => {
    const box = {
      type: "box",
      name: "slab",
      center: [0, 2, 0],
      halfExtents: [0.25, 0.125, 0.25],
      motion: { keys: [{ time: 0 }, { time: 3 / 60, translate: [0, 0.5, 0] }] },
    };
    const floor = { type: "plane", normal: [0, 1, 0], offset: 0 };
    const crossed = sheet("sheet", 2);
    const dir = await record("slab", {
      gravity: [0, 0, 0],
      bodies: [{ ...(crossed as object), contact: { ignore: ["slab"] } }],
      colliders: [floor, box],
    });
    const manifest = JSON.parse(readFileSync(join(dir, "manifest.json"), "utf8")) as {
      particles: number;
      bodyParticles: number;
      colliders: {
        name?: string;
        type: string;
        collider: number;
        firstParticle: number;
        particleCount: number;
        surface: number[];
      }[];
      apart: number[][];
    };
    const {
      particles,
      bodyParticles,
      colliders: [plane, slab],
      apart,
    } = manifest;
    expect([
      bodyParticles,
      plane!.type,
      plane!.surface,
      slab!.name,
      slab!.collider,
      slab!.firstParticle,
      particles,
      apart,
    ]).toEqual([25, "plane", [], "slab", 1, 25, 25 + slab!.particleCount, [[0, 2]]]);
    expect(new Set(slab!.surface)).toEqual(new Set(Array.from({ length: slab!.particleCount }, (_, i) => 25 + i)));
    const bytes = readFileSync(join(dir, "positions.f32"));
    const height = (f: number, p: number): number => bytes.readFloatLE(4 * (3 * (f * particles + p) + 1));
    for (let f = 0; f < 13; f++) {
      const heights = Array.from({ length: slab!.particleCount }, (_, i) => height(f, 25 + i));
      // The core may be inside the box, but at most by the radius of a rounded edge.
      expect(Math.max(...heights) + Math.min(...heights)).toBeCloseTo(2 * (2 + (0.5 * f) / 12), 6);
      expect(Math.max(...heights) - Math.min(...heights)).toBeGreaterThan(0.125);
    }
    expect(finds(dir)).toBe(false);
    writeFileSync(join(dir, "manifest.json"), JSON.stringify({ ...manifest, apart: [] }));
    expect(answer(dir).worst?.between.sort()).toEqual(["sheet", "slab"]);
  });

  test("planes are recorded with their pose in every frame: a floor that has sunk below fixed particles", async () => {
    const held = sheet("held", 0.5, { pins: [{ select: { particles: [0] } }] });
    const motion = (y: number): object => ({ keys: [{ time: 0 }, { time: 3 / 60, translate: [0, y, 0] }] });
    const dir = await record("lift", {
      gravity: [0, 0, 0],
      bodies: [held],
      colliders: [{ type: "plane", name: "lift", normal: [0, 3, 0], offset: 0, motion: motion(0.25) }],
    });
    const { colliders } = JSON.parse(readFileSync(join(dir, "manifest.json"), "utf8")) as {
      colliders: { planes: number[][]; jumps: number[] }[];
    };
    expect(colliders[0]!.planes).toHaveLength(13);
    colliders[0]!.planes.forEach((row, f) =>
      [0, 1, 0, (0.25 * f) / 12].forEach((wanted, r) => expect(row[r]).toBeCloseTo(wanted, 14)),
    );
    expect(colliders[0]!.jumps).toEqual([]);
    expect(finds(dir)).toBe(false);
    const ticks = await record(
      "ticks",
      {
        gravity: [0, 0, 0],
        bodies: [held],
        colliders: [{ type: "plane", normal: [0, 1, 0], offset: -9, motion: { ...motion(0.25), loop: true } }],
      },
      "tick",
    );
    const {
      colliders: [again],
    } = JSON.parse(readFileSync(join(ticks, "manifest.json"), "utf8")) as typeof JSON & {
      colliders: { planes: number[][]; jumps: number[] }[];
    };
    expect(again!.planes.map((row) => Number((row[3]! + 9).toFixed(9)))).toEqual([0, 0.083333333, 0.166666667, 0]);
    expect(again!.jumps).toEqual([3]);
  });
});

describe("errors name field, value and limit; the command ends with exit code 2 and nothing on stdout:", () => {
  const good = (): Made => ({ bodies: [triangle], frames: [flat(0), flat(1)] });
  const changed = (
    edit: (manifest: Record<string, unknown> & { bodies: Record<string, unknown>[] }) => void,
  ): string => {
    const dir = makeRecording(good());
    const path = join(dir, "manifest.json");
    const manifest = JSON.parse(readFileSync(path, "utf8")) as Parameters<typeof edit>[0];
    edit(manifest);
    writeFileSync(path, JSON.stringify(manifest));
    return dir;
  };
  const truncated = makeRecording(good());
  truncateSync(join(truncated, "positions.f32"), 70);
  const broken = makeRecording(good());
  writeFileSync(join(broken, "manifest.json"), "{");

  test.concurrent.each<[string, string[], RegExp]>([
    ["no recording", [], /^recorded-dir: 0 given, limit: exactly one\n[^]*npm run check:collisions/],
    ["two recordings", ["a", "b"], /^recorded-dir: 2 given, limit: exactly one/],
    ["no thread", ["a", "--threads", "0"], /^--threads: 0, limit: a whole number from 1 to 64/],
    ["an empty list", ["a", "--list", ""], /^--list: empty, limit: a whole number from 1 to 10000/],
    ["an unknown option", ["a", "--deep"], /^Unknown option '--deep'/],
    ["a missing recording", ["none"], /^ENOENT[^\n]*manifest\.json[^\n]*\n$/],
    ["a manifest that is not JSON", [broken], /^[^\n]*manifest\.json: [^\n]*, limit: JSON\n$/],
    // A thread reads the positions.
    [
      "a position that is not finite",
      [makeRecording({ bodies: [triangle], frames: [flat(0), [...flat(0).slice(0, 7), NaN, 0]] })],
      /positions\.f32: frame 1, particle 2, y: NaN, limit: finite\n$/,
    ],
  ])("%s", async (_, args, message) => {
    const { code, stdout, stderr } = await check(...args);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/^ +at /m);
  });

  test.each<[string, string, RegExp]>([
    [
      "another version",
      changed((m) => (m.format = "pliant-recording-2")),
      /manifest\.json: format: "pliant-recording-2", limit: pliant-recording-1$/,
    ],
    ["no frames", changed((m) => (m.frames = 0)), /manifest\.json: frames: 0, limit: a whole number from 1 to \d+$/],
    ["truncated positions", truncated, /positions\.f32: 70 bytes, limit: 72, 2 frames of 3 particles of 12 bytes$/],
    [
      "a corner that the body does not have",
      changed((m) => (m.bodies[0]!.surface = [0, 1, 3])),
      /manifest\.json: bodies\[0\]\.surface\[2\]: 3, limit: a whole number from 0 to 2$/,
    ],
    [
      "half a triangle",
      changed((m) => (m.bodies[0]!.surface = [0, 1])),
      /bodies\[0\]\.surface: "2 numbers", limit: a multiple of 3$/,
    ],
    [
      "a triangle with two equal corners",
      changed((m) => (m.bodies[0]!.surface = [0, 1, 1])),
      /surface of b0: triangle 0 names particle 1 twice, limit: three different ones$/,
    ],
    [
      "more particles than there are",
      changed((m) => (m.bodies[0]!.particleCount = 4)),
      /bodies\[0\]\.particleCount: 4, limit: a whole number from 0 to 3$/,
    ],
    ["a body without a name", changed((m) => delete m.bodies[0]!.name), /bodies\[0\]\.name: missing, limit: text$/],
    [
      "a pair of bodies that do not exist",
      changed((m) => (m.apart = [[0, 1]])),
      /apart\[0\]\.pair\[1\]: 1, limit: a whole number from 0 to 0$/,
    ],
    [
      "a plane without a pose in each frame",
      changed((m) => (m.colliders = [{ type: "plane", planes: Array(3).fill([0, 1, 0, 0]) }])),
      /planes: 3 rows, limit: 2, one per frame$/,
    ],
  ])("%s is refused", (_, dir, message) => expect(() => answer(dir)).toThrow(message));
});
