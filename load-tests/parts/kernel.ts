/**
 * The solver alone, on the sizes of Bender et al. 2014, table 1, one thread, everything on that a scene has by default (inversion test,
 * compliance): the solve stage's own clock, divided by constraints x iterations. Once with the default of one iteration in each of five
 * substeps, once with the paper's five iterations of one step, which also read and write accumulated multipliers.
 */
import type { Scene } from "../../shared/scene.ts";
import { createWorld, type CreatedWorld } from "../../server/sim/createWorld.ts";
import { openWorld } from "../../server/sim/world.ts";
import type { Row } from "../part.ts";

export const name = "kernel";
export const about = "370,440 tetrahedra, 20,480 tetrahedra, 80,000 cloth triangles with bending: ns per constraint";
export const runs = 3;

const SOLVES = 5;
/** The first tick touches the memory for the first time. */
const WARM_UP = 2;
const TICKS = 6;

/** The paper's step of 5 ms, either way. */
const STEPS = {
  "5 substeps x 1 iteration": { substeps: SOLVES, iterations: 1 },
  "1 substep x 5 iterations": { substeps: 1, iterations: SOLVES },
} as const;
const STEP = { version: 1, title: "benchmark", tickHz: 200 } as const;

function block(cells: number, step: keyof typeof STEPS): Scene {
  return {
    ...STEP, ...STEPS[step],
    bodies: [{
      name: "block", kind: "soft", mesh: { type: "box", size: [1, 1, 1], cells: [cells, cells, cells] }, material: { density: 1000, youngsModulus: 1e5, poissonsRatio: 0.3 },
      pins: [{ select: { box: { min: [-1, -1, -1], max: [-0.4999, 1, 1] } } }],
    }],
  };
}

function sheet(cells: number, step: keyof typeof STEPS): Scene {
  return {
    ...STEP, ...STEPS[step],
    bodies: [{
      name: "sheet", kind: "cloth", mesh: { type: "grid", size: [2, 2], cells: [cells, cells] },
      material: { density: 300, thickness: 0.001, youngsModulus: 1e6, poissonsRatio: 0.3, bendingStiffness: 1e-4 },
      pins: [{ select: { box: { min: [-1, -1, -1], max: [-0.9999, 1, 1] } } }],
    }],
  };
}

/** Shortest solve stage of a tick, s, and the hash that the run ends with. */
async function measure(scene: Scene): Promise<{ seconds: number; hash: string; created: CreatedWorld }> {
  const created = await createWorld(scene, { baseDir: "." }), world = openWorld(created.memory, created.layout);
  world.mayRest = false;
  let least = Infinity;
  for (let tick = 0; tick < WARM_UP + TICKS; tick++) {
    const { seconds } = world.step([]);
    if (tick >= WARM_UP) least = Math.min(least, seconds.solve);
  }
  return { seconds: least, hash: world.stateHash(), created };
}

export async function run(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const step of Object.keys(STEPS) as (keyof typeof STEPS)[]) {
    for (const [cells, target] of [[42, { atMost: 20 }], [16, undefined]] as const) {
      const { seconds, hash } = await measure(block(cells, step)), tets = 5 * cells ** 3;
      rows.push({ what: `${tets} StVK tetrahedra, ${step}, per constraint`, value: (1e9 * seconds) / (tets * SOLVES), unit: "ns", hash, ...(target && { target }) });
      rows.push({ what: `${tets} StVK tetrahedra, ${step}`, value: 1000 * seconds, unit: "ms", hash });
    }
    const { seconds, hash, created } = await measure(sheet(200, step));
    const bends = created.bodies[0]!.elements.reduce((n, e) => n + (e.kind === "bend" ? e.alpha.length : 0), 0);
    rows.push({ what: `80000 StVK triangles + ${bends} bending, ${step}`, value: 1000 * seconds, unit: "ms", hash });
  }
  return rows;
}
