/**
 * Times one pass over all tetrahedra of a block with the kernel's own functions, with the particles in a given shape:
 * regular, or flat, mirrored or random, so that every element takes the path with singular values
 * (kernel/assembly/constraints/inversion.ts, hyperelasticInversion.ts). Used by the benchmark's part `inversion` and by
 * the report's figure of that name.
 */
import * as L from "../server/kernel/assembly/layout/layout.ts";
import type { Scene } from "../shared/scene/scene.ts";
import type { SoftMaterial } from "../shared/scene/sceneMaterials.ts";
import { createWorld } from "../server/sim/world/createWorld.ts";
import type { Kernel } from "../server/sim/world/kernelModule.ts";
import { openWorld } from "../server/sim/world.ts";
import { quantile } from "./part.ts";

const ISOTROPIC = { density: 1000, youngsModulus: 1e5, poissonsRatio: 0.3 };
const PLASTICITY = { yield: 0.01, creep: 5, max: 0.3 };
export const MODELS: Record<string, SoftMaterial> = {
  StVK: ISOTROPIC,
  orthotropic: {
    model: "orthotropic",
    density: 1000,
    youngsModuli: [1e5, 2e5, 3e5],
    poissonsRatios: [0.3, 0.2, 0.1],
    shearModuli: [4e4, 5e4, 6e4],
  },
  plastic: { ...ISOTROPIC, plasticity: PLASTICITY },
  "Neo-Hookean": { ...ISOTROPIC, model: "neo-hookean" },
  "stable Neo-Hookean": { ...ISOTROPIC, model: "stable-neo-hookean" },
};

type Place = (x: number, y: number, z: number, random: () => number) => [number, number, number];
export const SHAPES: Record<string, Place> = {
  regular: (x, y, z) => [x + 0.2 * y, y + 0.1 * z, z],
  flat: (x, _, z) => [x, 0, z],
  mirrored: (x, y, z) => [-1.1 * x + 0.1 * y, y, z + 0.2 * x],
  "at random": (_x, _y, _z, random) => [random(), random(), random()],
};

export interface Cost {
  /** Seconds of the fastest pass in each shape. */
  fastest: Record<string, number>;
  /**
   * With another kernel: its fastest pass over the regular shape, and the ratio of this kernel's times to its times,
   * the median over all rounds.
   */
  other?: { fastest: number; ratio: number };
  elements: number;
}

/** Puts the block into its shape and solves it once. @returns seconds of the solve alone */
type Pass = () => number;

async function passOf(
  material: SoftMaterial,
  cells: number,
  place: Place,
  module?: WebAssembly.Module,
): Promise<{ pass: Pass; elements: number }> {
  const scene: Scene = {
    version: 1,
    title: "inversion",
    bodies: [
      { name: "block", kind: "soft", mesh: { type: "box", size: [1, 1, 1], cells: [cells, cells, cells] }, material },
    ],
  };
  const { memory, layout, bodies } = await createWorld(scene, { baseDir: "." });
  const f32 = new Float32Array(memory.buffer);
  const i32 = new Int32Array(memory.buffer);
  const kernel = module
    ? (new WebAssembly.Instance(module, {
        env: { memory },
        host: { now: () => 0, substepDone: () => {}, phaseDone: () => {}, preempt: () => 0 },
      }).exports as unknown as Kernel)
    : openWorld(memory, layout).kernel;
  const x = layout.x / 4;
  const rest = f32.slice(x, x + 4 * layout.particleCount);
  const flags = L.PASS_FIRST + L.PASS_LAST;
  const phases = i32[(L.HEADER + L.H_PHASES) / 4]!;
  const program = i32[(L.HEADER + L.H_PROGRAM) / 4]!;
  const solve = (): void => {
    for (let p = 0; p < phases; p++) {
      const at = (program + p * L.PHASE_BYTES) / 4;
      const own = i32[at + L.PHASE_OWN / 4]!;
      const count = i32[at + L.PHASE_COUNT / 4]!;
      const kind = i32[at + L.PHASE_KIND / 4]!;
      if (i32[at + L.PHASE_PASS / 4])
        kernel.solveBlocks(kind, i32[at + L.PHASE_DATA / 4]!, own, 0, count, flags, 0.01, layout.scratch, 0);
    }
  };
  return {
    elements: bodies[0]!.tets.length / 4,
    pass: () => {
      let seed = 1;
      const random = (): number => {
        seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
        return seed / 2 ** 31 - 1;
      };
      for (let i = 0; i < rest.length; i += 4) f32.set(place(rest[i]!, rest[i + 1]!, rest[i + 2]!, random), x + i);
      const start = performance.now();
      solve();
      return (performance.now() - start) / 1000;
    },
  };
}

/**
 * Alternates passes over all shapes, so that other load of the machine affects all shapes equally. Each shape has a
 * world of its own, because a body remembers that it is tangled.
 * @param cells the block has cells^3 cubes of five tetrahedra
 * @param passes in each shape; the fastest counts
 * @param other another kernel, which also solves the regular shape
 */
export async function inversionCost(
  material: SoftMaterial,
  cells: number,
  passes: number,
  other?: WebAssembly.Module,
): Promise<Cost> {
  const worlds: [string, Pass][] = [];
  const fastest: Record<string, number> = {};
  let elements = 0;
  for (const [shape, place] of Object.entries(SHAPES)) {
    const made = await passOf(material, cells, place);
    worlds.push([shape, made.pass]);
    elements = made.elements;
  }
  if (other) worlds.splice(1, 0, ["other", (await passOf(material, cells, SHAPES.regular!, other)).pass]);
  const ratios: number[] = [];
  for (let n = 0; n < passes; n++) {
    const now: Record<string, number> = {};
    // Twice: the first pass brings the world back into the caches.
    for (const [shape, pass] of worlds)
      fastest[shape] = Math.min(fastest[shape] ?? Infinity, (now[shape] = Math.min(pass(), pass())));
    if (other) ratios.push(now.regular! / now.other!);
  }
  const { other: otherFastest, ...shapes } = fastest;
  return {
    fastest: shapes,
    elements,
    ...(otherFastest !== undefined && { other: { fastest: otherFastest, ratio: quantile(ratios, 0.5) } }),
  };
}
