/**
 * The solver alone, on the sizes of Bender et al. 2014, table 1, and of other published benchmarks: one thread, all
 * default features (inversion test, compliance with multipliers), time of the solve stage in the fastest of many ticks.
 * Once with the default of one iteration in each of five substeps, and once with the paper's five iterations in one
 * step, which also read and write accumulated multipliers. A row always ends in the same state (its hash), because the
 * number of ticks is fixed.
 */
import { countOf } from "../../../server/sim/constraints/kinds.ts";
import { join } from "node:path";
import type { Body, Scene } from "../../../shared/scene/scene.ts";
import type { ClothMaterial } from "../../../shared/scene/sceneMaterials.ts";
import { createWorld } from "../../../server/sim/world/createWorld.ts";
import { openWorld } from "../../../server/sim/world.ts";
import { dataFolder, lacksData } from "../../../tests/support/dataFolder.ts";
import type { Row } from "../../part.ts";
import { constraintSeconds } from "../../../server/sim/types.ts";

export const name = "kernel";
export const about =
  "tetrahedra, cloth triangles with bending and distance constraints on the sizes of the paper's table 1: ms for five solves, ns per constraint";
export const runs = 3;

const SOLVES = 5;
/**
 * Constraints solved before the measurement: memory has been touched, and the engine's optimizing compiler has finished
 * (about 0.2 s).
 */
const WARM_UP_SOLVES = 2.5e7;
/** Constraints solved during the measurement; at least MEASURED_TICKS ticks are measured. */
const MEASURED_SOLVES = 2.5e7;
const MEASURED_TICKS = 8;

/** The paper's step of 5 ms, in both variants. */
export const STEPS = {
  "5 substeps x 1 iteration": { substeps: SOLVES, iterations: 1 },
  "1 substep x 5 iterations": { substeps: 1, iterations: SOLVES },
} as const;
type Step = keyof typeof STEPS;
const RUBBER = { density: 1000, youngsModulus: 1e5, poissonsRatio: 0.3 };

/** A block of cubes of 25 mm, five tetrahedra each, which hangs from one of its ends. */
export function block(
  cells: [number, number, number],
  translate: [number, number, number] = [0, 0, 0],
  name = "block",
): Body {
  const size = cells.map((n) => n / 40) as [number, number, number];
  const end = translate[0] - size[0] / 2;
  return {
    name,
    kind: "soft",
    mesh: { type: "box", size, cells },
    transform: { translate },
    material: RUBBER,
    pins: [{ select: { box: { min: [end - 1e-3, -1e3, -1e3], max: [end + 1e-3, 1e3, 1e3] } } }],
  };
}

export function sheet(cells: [number, number], material: ClothMaterial): Body {
  return {
    name: "sheet",
    kind: "cloth",
    mesh: { type: "grid", size: [2, 2], cells },
    material,
    pins: [{ select: { box: { min: [-1, -1, -1], max: [-0.9999, 1, 1] } } }],
  };
}

/** Position of the i-th of a hundred blocks, m: far enough apart that they do not touch. */
const placeOf = (i: number): [number, number, number] => [2 * (i % 10), 1, 2 * Math.floor(i / 10)];
const ARMADILLO = "tets/armadillo_4k.node";

function hundred(): { what: string; bodies: Body[] } {
  if (lacksData(ARMADILLO))
    return {
      what: "100 blocks of 3,720 StVK tetrahedra (armadillo_4k is not there)",
      bodies: Array.from({ length: 100 }, (_, i) => block([31, 6, 4], placeOf(i), `block ${i}`)),
    };
  const armadillo = (i: number): Body => ({
    name: `armadillo ${i}`,
    kind: "soft",
    mesh: { type: "file", path: join(dataFolder, ARMADILLO) },
    transform: { fitHeight: 1, translate: placeOf(i) },
    material: RUBBER,
  });
  return {
    what: "100 x armadillo_4k, 371,700 StVK tetrahedra",
    bodies: Array.from({ length: 100 }, (_, i) => armadillo(i)),
  };
}

interface Case {
  what: string;
  bodies: Body[];
  /** Target for five solves, ms. */
  target?: number;
  note: string;
}

export const FLAT = { density: 300, thickness: 0.001 };
const LARGEST = "371,700 StVK tetrahedra";
const CASES = (): Case[] => [
  {
    what: LARGEST,
    bodies: [block([59, 60, 21])],
    target: 24,
    note: "paper 152 ms on 12 cores; authors' library 95-109 ms, 430-490 as shipped; native 128-bit 19 ms",
  },
  { ...hundred(), note: "authors' library 95 ms at best, 493 as shipped" },
  {
    what: "50,400 StVK tetrahedra",
    bodies: [block([20, 21, 24])],
    target: 3.3,
    note: "Jolt 8.6 ms (volume and edges)",
  },
  {
    what: "7,280 StVK tetrahedra",
    bodies: [block([14, 13, 8])],
    target: 0.45,
    note: "paper 2.33 ms; authors' library 1.8-2.1, of 7,278",
  },
  {
    what: "80,000 StVK triangles + 119,998 bending",
    target: 7,
    note: "paper 6.73 ms on 12 cores; authors' library 35 ms",
    bodies: [sheet([200, 200], { ...FLAT, youngsModulus: 1e6, poissonsRatio: 0.3, bendingStiffness: 1e-4 })],
  },
  {
    what: "239,983 distances of a cloth",
    target: 6,
    note: "of 239,800: Jolt 13.9 ms, Bullet 9.8, plain JavaScript 13.2-21.8",
    bodies: [sheet([283, 282], { ...FLAT, model: "pbd", distance: { compliance: 1e-6 } })],
  },
];

/** Time of the solve stage, s: the shortest, and the shortest of the first three ticks; and the hash at the end. */
async function measure(
  bodies: Body[],
  step: Step,
): Promise<{ seconds: number; first: number; constraints: number; hash: string }> {
  const scene: Scene = { version: 1, title: "benchmark", tickHz: 200, refine: false, ...STEPS[step], bodies };
  const created = await createWorld(scene, { baseDir: "." });
  const world = openWorld(created.memory, created.layout);
  world.mayRest = false;
  const constraints = created.bodies.flatMap((b) => b.elements).reduce((n, e) => n + countOf(e), 0);
  const warmUp = Math.ceil(WARM_UP_SOLVES / (constraints * SOLVES));
  const ticks = Math.max(MEASURED_TICKS, Math.ceil(MEASURED_SOLVES / (constraints * SOLVES)));
  let least = Infinity;
  let first = Infinity;
  for (let tick = 0; tick < warmUp + ticks; tick++) {
    const { seconds } = world.step([]);
    if (tick < 3) first = Math.min(first, constraintSeconds(seconds));
    if (tick >= warmUp) least = Math.min(least, constraintSeconds(seconds));
  }
  return { seconds: least, first, constraints, hash: world.stateHash() };
}

export async function run(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const step of Object.keys(STEPS) as Step[]) {
    let perTetrahedron = 0;
    for (const { what, bodies, target, note } of CASES()) {
      const { seconds, first, constraints, hash } = await measure(bodies, step);
      const each = (1e9 * seconds) / (constraints * SOLVES);
      rows.push({
        what: `${what}, ${step}`,
        value: 1000 * seconds,
        unit: "ms",
        hash,
        warmUp: 1000 * first,
        note,
        ...(target && { target: { atMost: target } }),
      });
      rows.push({ what: `${what}, ${step}, per constraint`, value: each, unit: "ns", hash });
      if (what === LARGEST) perTetrahedron = each;
      else if (bodies.length === 100)
        rows.push({
          what: `${what}, ${step}, a tetrahedron's time over the block's`,
          value: each / perTetrahedron,
          unit: "x",
          hash,
          target: { atMost: 1.1 },
        });
    }
  }
  return rows;
}
