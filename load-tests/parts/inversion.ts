/**
 * What flat and inverted elements cost (kernel/assembly/inversion.ts) against the regular solve, per element and model: one pass over all colors
 * of a block whose particles are put where the name says, by the kernel's own functions. Both passes of a pair run within milliseconds of each other, so
 * that what else the machine does cancels in the ratio.
 */
import * as L from "../../server/kernel/assembly/layout.ts";
import type { Scene, SoftMaterial } from "../../shared/scene.ts";
import { createWorld } from "../../server/sim/createWorld.ts";
import { openWorld } from "../../server/sim/world.ts";
import type { Row } from "../part.ts";

export const name = "inversion";
export const about = "20,480 tetrahedra, all flat, mirrored or at random: ns per element, and how many times the regular solve's";
export const runs = 3;

const CELLS = 16;
const PASSES = 20;

const ISOTROPIC = { density: 1000, youngsModulus: 1e5, poissonsRatio: 0.3 };
const ORTHOTROPIC = { model: "orthotropic" as const, density: 1000, youngsModuli: [1e5, 2e5, 3e5] as [number, number, number], poissonsRatios: [0.3, 0.2, 0.1] as [number, number, number], shearModuli: [4e4, 5e4, 6e4] as [number, number, number] };
const PLASTICITY = { yield: 0.01, creep: 5, max: 0.3 };
const MODELS: Record<string, SoftMaterial> = { StVK: ISOTROPIC, orthotropic: ORTHOTROPIC, plastic: { ...ISOTROPIC, plasticity: PLASTICITY } };

type Place = (x: number, y: number, z: number, random: () => number) => [number, number, number];
const SHAPES: Record<string, Place> = {
  regular: (x, y, z) => [x + 0.2 * y, y + 0.1 * z, z],
  flat: (x, _, z) => [x, 0, z],
  mirrored: (x, y, z) => [-1.1 * x + 0.1 * y, y, z + 0.2 * x],
  "at random": (_x, _y, _z, random) => [random(), random(), random()],
};

/** Seconds of the fastest pass over all tetrahedra in each shape. */
async function measure(material: SoftMaterial): Promise<{ fastest: Record<string, number>; elements: number }> {
  const scene: Scene = { version: 1, title: "inversion", bodies: [{ name: "block", kind: "soft", mesh: { type: "box", size: [1, 1, 1], cells: [CELLS, CELLS, CELLS] }, material }] };
  const { memory, layout, bodies } = await createWorld(scene, { baseDir: "." }), { kernel } = openWorld(memory, layout);
  const f32 = new Float32Array(memory.buffer), i32 = new Int32Array(memory.buffer), x = layout.x / 4, rest = f32.slice(x, x + 4 * layout.particleCount), inverseH2 = 1e4;
  const pass = L.PASS_FIRST + L.PASS_LAST, phases = i32[(L.HEADER + L.H_PHASES) / 4]!, program = i32[(L.HEADER + L.H_PROGRAM) / 4]!;
  const solve = (): void => {
    for (let p = 0; p < phases; p++) {
      const at = (program + p * L.PHASE_BYTES) / 4, data = i32[at + L.PHASE_DATA / 4]!, count = i32[at + L.PHASE_COUNT / 4]!;
      switch (i32[at + L.PHASE_KIND / 4]) {
        case L.KIND_TET: kernel.solveTetrahedra(data, count, pass, inverseH2, layout.scratch, 0); break;
        case L.KIND_TET_ORTHO: kernel.solveOrthotropic(data, count, pass, inverseH2, layout.scratch, 0); break;
        case L.KIND_TET_PLASTIC: kernel.solvePlastic(data, count, pass, inverseH2, layout.scratch, 0); break;
      }
    }
  };
  const fastest: Record<string, number> = {};
  for (let n = 0; n < PASSES; n++) {
    for (const [shape, place] of Object.entries(SHAPES)) {
      let seed = 1;
      const random = (): number => {
        seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
        return seed / 2 ** 31 - 1;
      };
      for (let i = 0; i < rest.length; i += 4) f32.set(place(rest[i]!, rest[i + 1]!, rest[i + 2]!, random), x + i);
      const start = performance.now();
      solve();
      fastest[shape] = Math.min(fastest[shape] ?? Infinity, (performance.now() - start) / 1000);
    }
  }
  return { fastest, elements: bodies[0]!.tets.length / 4 };
}

export async function run(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [model, material] of Object.entries(MODELS)) {
    const { fastest, elements } = await measure(material), regular = fastest.regular!;
    rows.push({ what: `${model}, regular, per element`, value: (1e9 * regular) / elements, unit: "ns" });
    for (const shape of Object.keys(SHAPES).slice(1)) {
      rows.push({ what: `${model}, ${shape}, per element`, value: (1e9 * fastest[shape]!) / elements, unit: "ns" });
      rows.push({ what: `${model}, ${shape}, times the regular solve`, value: fastest[shape]! / regular, unit: "x", target: { atMost: 4 } });
    }
  }
  return rows;
}
