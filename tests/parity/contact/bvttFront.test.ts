/**
 * Guarantee of the bvtt front (kernel/assembly/contact/detect/bvttFront.ts): at the end of every substep every pair
 * nearer than its contact distance has exactly one row. The test finds near pairs by brute force.
 */
import { describe, expect, test } from "vitest";
import { validateScene } from "../../../shared/scene/sceneValidator.ts";
import type { Scene } from "../../../shared/scene/scene.ts";
import * as L from "../../../server/kernel/assembly/layout/layout.ts";
import { createWorld } from "../../../server/sim/world/createWorld.ts";
import { openWorld } from "../../../server/sim/world.ts";
import { edgesDistance, vertexTriangleDistance } from "../../../server/sim/reference/closestPoints.ts";
import type { Vector } from "../../../server/sim/reference/vector.ts";
import { namedPairs, surfaceRows } from "./contactLists.ts";
import { clothGrid, softBox } from "../../support/bodies.ts";

const sheet = { density: 300, thickness: 0.002, youngsModulus: 2e4, poissonsRatio: 0.3, bendingStiffness: 1e-5 };
const SCENES: Record<string, Pick<Scene, "bodies" | "colliders">> = {
  "a sheet falls over an edge and folds": {
    bodies: [
      clothGrid("sheet", [0.4, 0.4], [10, 10], {
        solver: "compliant",
        transform: { translate: [0.02, 0.3, 0], rotate: [15, 20, 0] },
        material: sheet,
      }),
    ],
    colliders: [
      { type: "box", center: [0, 0.15, 0], halfExtents: [0.05, 0.05, 0.05], friction: 0.3 },
      { type: "plane", normal: [0, 1, 0], offset: 0 },
    ],
  },
  "a jelly is thrown into a sheet": {
    bodies: [
      clothGrid("sheet", [0.4, 0.4], [9, 9], {
        transform: { translate: [0, 0.2, 0] },
        material: sheet,
        pins: [
          { select: { box: { min: [-0.21, 0.19, -0.21], max: [-0.19, 0.21, 0.21] } } },
          { select: { box: { min: [0.19, 0.19, -0.21], max: [0.21, 0.21, 0.21] } } },
        ],
      }),
      softBox("jelly", [0.1, 0.1, 0.1], [3, 3, 3], {
        transform: { translate: [0.03, 0.4, 0.02], rotate: [20, 10, 40] },
        velocity: [0, -6, 1],
        material: { density: 200, youngsModulus: 2e4, poissonsRatio: 0.35 },
      }),
    ],
    colliders: [],
  },
};

/** A surface of a room: its primitives by particle numbers. */
interface Surface {
  radius: number;
  vertices: number[][];
  triangles: number[][];
  edges: number[][];
  meets: (other: number) => boolean;
}

function readSurfaces(memory: WebAssembly.Memory): Surface[] {
  const u32 = new Uint32Array(memory.buffer);
  const word = (offset: number): number => u32[(L.HEADER + offset) / 4]!;
  const number = (address: number): number => (address - word(L.H_X)) / 16;
  return surfaceRows(memory).map(({ radius }, n) => {
    const row = (word(L.H_SURFACE) + n * L.SURFACE_BYTES) / 4;
    const first = number(u32[row]!);
    const meets = u32[row + L.SURFACE_MEETS / 4]!;
    const rows = (pointer: number, count: number, corners: number): number[][] =>
      Array.from({ length: u32[row + count / 4]! }, (_, i) =>
        Array.from({ length: corners }, (_, c) => number(u32[u32[row + pointer / 4]! / 4 + corners * i + c]!)),
      );
    return {
      radius,
      vertices: Array.from({ length: u32[row + L.SURFACE_COUNT / 4]! }, (_, i) => [first + i]),
      triangles: rows(L.SURFACE_TRIANGLES, L.SURFACE_TRIANGLE_COUNT, 3),
      edges: rows(L.SURFACE_EDGES, L.SURFACE_EDGE_COUNT, 2),
      meets: (other) => new Uint8Array(memory.buffer)[meets + other] === L.MEETS,
    };
  });
}

type Kind = "vertex" | "edges";

/** Name of a pair, independent of the order of its particles. */
function nameOf(kind: Kind, particles: readonly number[]): string {
  const sorted = (list: readonly number[]): number[] => [...list].sort((a, b) => a - b);
  if (kind === "vertex") return `vertex ${particles[0]} ${sorted(particles.slice(1)).join(" ")}`;
  const ends = [sorted(particles.slice(0, 2)), sorted(particles.slice(2))];
  return `edges ${ends
    .sort((a, b) => a[0]! - b[0]! || a[1]! - b[1]!)
    .flat()
    .join(" ")}`;
}

/**
 * Calls back for every pair nearer than its contact distance, by brute force.
 * @param f32 the room's memory; X index of the first particle's x in it
 */
function forEachNear(
  surfaces: readonly Surface[],
  f32: Float32Array,
  X: number,
  visit: (name: string, distance: number) => void,
): void {
  const at = (p: number): Vector => [f32[X + 4 * p]!, f32[X + 4 * p + 1]!, f32[X + 4 * p + 2]!];
  /** Primitives with their bounding boxes. */
  const boxed = (list: readonly number[][]) =>
    list.map((corners) => {
      const points = corners.map(at);
      const along = (of: typeof Math.min, r: 0 | 1 | 2): number => of(...points.map((p) => p[r]));
      const end = (of: typeof Math.min): Vector => [along(of, 0), along(of, 1), along(of, 2)];
      return { corners, low: end(Math.min), high: end(Math.max) };
    });
  const all = surfaces.map((s) => ({
    vertices: boxed(s.vertices),
    triangles: boxed(s.triangles),
    edges: boxed(s.edges),
  }));
  const compare = (kind: Kind, a: number, b: number): void => {
    const first = kind === "vertex" ? all[a]!.vertices : all[a]!.edges;
    const second = kind === "vertex" ? all[b]!.triangles : all[b]!.edges;
    const r = surfaces[a]!.radius + surfaces[b]!.radius;
    // Sorted by their least x: the first box beyond a primitive's greatest x ends its search.
    const byX = second.map((box, j) => ({ ...box, j })).sort((one, other) => one.low[0] - other.low[0]);
    for (const [i, { corners: p, low, high }] of first.entries())
      for (const { corners: q, low: l, high: h, j } of byX) {
        if (l[0] > high[0] + r) break;
        // written out, and first, because millions of pairs are tested
        if (
          low[0] > h[0] + r ||
          low[1] > h[1] + r ||
          l[1] > high[1] + r ||
          low[2] > h[2] + r ||
          l[2] > high[2] + r ||
          (kind === "edges" && a === b && j <= i) ||
          p.some((c) => q.includes(c)) ||
          [...p, ...q].every((c) => f32[X + 4 * c + 3] === 0)
        )
          continue;
        const points = [...p, ...q].map(at) as [Vector, Vector, Vector, Vector];
        const { distance } = kind === "vertex" ? vertexTriangleDistance(...points) : edgesDistance(...points);
        if (distance < r) visit(nameOf(kind, [...p, ...q]), distance);
      }
  };
  surfaces.forEach((A, a) =>
    surfaces.forEach((_, b) => {
      if (!A.meets(b)) return;
      compare("vertex", a, b);
      if (a <= b) compare("edges", a, b);
    }),
  );
}

describe("at the end of every substep every near pair has exactly one row", () => {
  const [fold] = Object.keys(SCENES) as [string];
  // a field of the front to set at the end of every substep, and its value
  type Forced = [field: number, value: number] | undefined;
  test.each([
    ...Object.keys(SCENES).map((name): [string, string, Forced] => [name, name, undefined]),
    // a negative size of the whole front, so that it always counts as grown too much
    [`${fold}, and the front is compacted in every substep`, fold, [L.FRONT_WHOLE, -(2 ** 20)]],
    ["a jelly is thrown, with rows only for predicted contacts", "a jelly is thrown into a sheet", [L.FRONT_SPARSE, 1]],
  ] satisfies [string, string, Forced][])("%s", async (_, name, forced) => {
    const parts = SCENES[name]!;
    const created = await createWorld(
      validateScene({ version: 1, title: "front", tickHz: 60, substeps: 12, ...parts }),
      { baseDir: "." },
    );
    const { memory, layout } = created;
    const world = openWorld(memory, layout);
    const u32 = new Uint32Array(memory.buffer);
    const f32 = new Float32Array(memory.buffer);
    const word = (offset: number): number => u32[(L.HEADER + offset) / 4]!;
    const surfaces = readSurfaces(memory);
    let near = 0;
    const missed: string[] = [];
    let twice = 0;
    world.watchSubsteps(() => {
      if (forced) u32[(word(L.H_FRONT) + forced[0]) / 4] = forced[1];
      const names = namedPairs(memory).map(({ kind, particles }) => nameOf(kind, particles));
      const listed = new Set(names);
      twice += names.length - listed.size;
      forEachNear(surfaces, f32, word(L.H_X) / 4, (name, distance) => {
        near++;
        if (!listed.has(name)) missed.push(`${name} at ${distance} m`);
      });
    });
    for (let tick = 0; tick < 45; tick++) world.step([]);
    expect(missed).toEqual([]);
    expect(twice).toBe(0);
    // pairs that are still nearer than their contact distance: 8,413 and 388, because most are solved before
    expect(near).toBeGreaterThan(100);
  });
});
