/**
 * Remaining error against time spent, for the default schedule (many substeps of one Gauss-Seidel iteration) and its
 * alternatives, on a soft, a stiff and a fine mesh. A clamped beam is released under 100 m/s^2 (large, so that float32
 * rounding does not matter) and evaluated after four ticks of 1/60 s.
 *
 * The error is the distance of all particles (root of the mean square) from the converged motion, relative to their
 * displacement in it. Converged includes time: implicit Euler's error is proportional to h. From two runs with many
 * short substeps, x(h/2) and x(h), whose iterations have converged, 2 x(h/2) - x(h) is the reference (Richardson), and
 * their difference is reported as the reference's uncertainty. So an alternative is charged for the damping of long
 * steps as well as for unfinished iterations. Time is that of the solve stage in the fastest tick, under ordinary
 * gravity.
 */
import type { Scene, SoftBody, Sweep } from "../../../shared/scene/scene.ts";
import { createWorld } from "../../../server/sim/world/createWorld.ts";
import { openWorld, type SimWorld } from "../../../server/sim/world.ts";
import type { Row } from "../../part.ts";
import { constraintSeconds } from "../../../server/sim/types.ts";

export const name = "convergence";
export const about =
  "error left against milliseconds spent: substeps and iterations, Gauss-Seidel, symmetric, Jacobi and Chebyshev, on a soft, a stiff and a fine beam";
export const runs = 3;

const TICKS = 4;
/** Substeps of the reference; the other run has half as many. */
const REFERENCE = 240;
/** Constraints solved before and during the measurement of time. */
const TIMED_SOLVES = 2e6;

/** A beam of 1 x 0.25 x 0.25 m, clamped at one end. */
const beam = (cells: number, youngsModulus: number): SoftBody => ({
  name: "beam",
  kind: "soft",
  mesh: { type: "box", size: [1, 0.25, 0.25], cells: [4 * cells, cells, cells] },
  material: { density: 1000, youngsModulus, poissonsRatio: 0.3 },
  pins: [{ select: { box: { min: [-1, -1, -1], max: [-0.4999, 1, 1] } } }],
});
const MESHES: Record<string, SoftBody> = {
  "soft, 540 tetrahedra of 3e5 Pa": beam(3, 3e5),
  "stiff, 540 tetrahedra of 1e7 Pa": beam(3, 1e7),
  "fine, 10,240 tetrahedra of 1e6 Pa": beam(8, 1e6),
};

interface Schedule {
  what: string;
  substeps: number;
  iterations: number;
  sweep: Sweep;
}

const GAUSS_SEIDEL: Sweep = { order: "gauss-seidel" };
const schedule =
  (what: string, sweep: Sweep) =>
  ([substeps, iterations]: [number, number]): Schedule => ({
    what: `${what} ${substeps} x ${iterations}`,
    substeps,
    iterations,
    sweep,
  });
const DEFAULT = schedule("Gauss-Seidel", GAUSS_SEIDEL)([20, 1]);
const SCHEDULES: Schedule[] = [
  ...(
    [
      [5, 1],
      [10, 1],
      [20, 1],
      [40, 1],
      [80, 1],
      [10, 2],
      [4, 5],
      [1, 20],
      [1, 80],
    ] as [number, number][]
  ).map(schedule("Gauss-Seidel", GAUSS_SEIDEL)),
  ...(
    [
      [10, 2],
      [1, 20],
    ] as [number, number][]
  ).map(schedule("symmetric", { order: "symmetric" })),
  ...(
    [
      [20, 1],
      [4, 5],
      [1, 20],
    ] as [number, number][]
  ).map(schedule("Jacobi", { order: "jacobi" })),
  ...(
    [
      [4, 5],
      [1, 20],
    ] as [number, number][]
  ).map(schedule("Chebyshev, rho 0.95,", { order: "jacobi", rho: 0.95 })),
];

async function open(
  body: SoftBody,
  gravity: number,
  { substeps, iterations, sweep }: Omit<Schedule, "what">,
): Promise<{ world: SimWorld; positions: () => Float64Array; constraints: number }> {
  const scene: Scene = {
    version: 1,
    title: "convergence",
    tickHz: 60,
    refine: false,
    worldRadius: 1000,
    gravity: [0, -gravity, 0],
    substeps,
    iterations,
    bodies: [{ ...body, sweep }],
  };
  const created = await createWorld(scene, { baseDir: "." });
  const { layout, memory } = created;
  const world = openWorld(memory, layout);
  world.mayRest = false;
  return {
    world,
    constraints: created.bodies[0]!.tets.length / 4,
    positions: () =>
      Float64Array.from(
        new Float32Array(memory.buffer, layout.x, 4 * layout.bodies[0]!.count).filter((_, k) => k % 4 < 3),
      ),
  };
}

async function moved(
  body: SoftBody,
  by: Omit<Schedule, "what">,
): Promise<{ from: Float64Array; to: Float64Array; hash: string }> {
  const { world, positions } = await open(body, 100, by);
  const from = positions();
  for (let tick = 0; tick < TICKS; tick++) world.step([]);
  return { from, to: positions(), hash: world.stateHash() };
}

/** Time of solving in a tick, ms. */
async function cost(body: SoftBody, by: Schedule): Promise<number> {
  const { world, constraints } = await open(body, 9.81, by);
  const ticks = Math.ceil(TIMED_SOLVES / (constraints * by.substeps * by.iterations));
  let least = Infinity;
  for (let tick = 0; tick < 2 * ticks; tick++) {
    const { seconds } = world.step([]);
    if (tick >= ticks) least = Math.min(least, constraintSeconds(seconds));
  }
  return 1000 * least;
}

const distance = (a: Float64Array, b: Float64Array): number =>
  Math.sqrt(a.reduce((sum, v, k) => sum + (v - b[k]!) ** 2, 0));

export async function run(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [mesh, body] of Object.entries(MESHES)) {
    const coarse = await moved(body, { substeps: REFERENCE / 2, iterations: 4, sweep: GAUSS_SEIDEL });
    const fine = await moved(body, { substeps: REFERENCE, iterations: 4, sweep: GAUSS_SEIDEL });
    const exact = fine.to.map((x, k) => 2 * x - coarse.to[k]!);
    const way = distance(exact, fine.from);
    rows.push({
      what: `${mesh}: doubt about the reference`,
      value: (100 * distance(exact, fine.to)) / way,
      unit: "%",
      hash: fine.hash,
    });
    const points: { what: string; solves: number; error: number; ms: number }[] = [];
    for (const by of SCHEDULES) {
      const { to, hash } = await moved(body, by);
      const point = {
        what: by.what,
        solves: by.substeps * by.iterations,
        error: (100 * distance(exact, to)) / way,
        ms: await cost(body, by),
      };
      points.push(point);
      rows.push({
        what: `${mesh}, ${by.what}: error`,
        value: point.error,
        unit: "%",
        hash,
        note: `${point.ms.toPrecision(3)} ms a tick`,
      });
      rows.push({ what: `${mesh}, ${by.what}: time`, value: point.ms, unit: "ms", hash });
    }
    const ours = points.find(({ what }) => what === DEFAULT.what)!;
    const best = points
      .filter(({ what, solves }) => what !== ours.what && solves <= ours.solves)
      .reduce((a, b) => (a.error <= b.error ? a : b));
    rows.push({
      what: `${mesh}: error of the default over the least of all others that solve no more often`,
      value: ours.error / best.error,
      unit: "x",
      target: { atMost: 1 },
      note: `${best.what}: ${best.error.toPrecision(3)} % in ${best.ms.toPrecision(3)} ms`,
    });
  }
  return rows;
}
