/**
 * Frequency of a clamped solid in motion, compared with its finite element eigenmode. The room's particles start at
 * rest with the velocities of the lowest mode, and every substep samples the modal coordinate.
 */
import type { Scene, SoftBody } from "../../../shared/scene/scene.ts";
import * as L from "../../../server/kernel/assembly/layout/layout.ts";
import { createWorld, type CreatedWorld } from "../../../server/sim/world/createWorld.ts";
import { openWorld, type SimWorld } from "../../../server/sim/world.ts";
import { densityOf } from "../../statics/materials.ts";
import { elasticHessian, solidMesh } from "../../statics/solidMesh.ts";
import { blockMatrix, factorize, multiplyBlocks, solveFactored } from "../../statics/sparse.ts";

export interface ModeMotion {
  /** Hz, of the mesh with lumped masses */
  exact: number;
  /** Hz, measured in the room */
  measured: number;
  /** Damping ratio from the logarithmic decrement of the peaks. */
  damping: number;
  /** Processor time a tick, ms. */
  cost: number;
}

/** 1 x 0.1 x 0.1 m, 1000 kg/m^3, clamped at x = 0. */
export function cantilever(
  youngsModulus: number,
  cells: [number, number, number],
  solver: SoftBody["solver"] & string,
): Scene {
  return {
    version: 1,
    title: "cantilever",
    gravity: [0, 0, 0],
    bodies: [
      {
        name: "beam",
        kind: "soft",
        solver,
        contact: { self: false },
        mesh: { type: "box", size: [1, 0.1, 0.1], cells },
        transform: { translate: [0.5, 0, 0] },
        material: { density: 1000, youngsModulus, poissonsRatio: 0.3 },
        pins: [{ select: { box: { min: [-1, -1, -1], max: [1e-3, 1, 1] } } }],
      },
    ],
  };
}

/** Lowest mode by inverse iteration from a bend in y. @returns float64[3N], largest entry 1, and Hz */
function lowestMode(created: Awaited<ReturnType<typeof createWorld>>, k: number): { mode: Float64Array; hz: number } {
  const body = created.bodies[0]!;
  const fixed = body.pinned;
  const mesh = solidMesh(body.positions, body.tets);
  const A = blockMatrix(body.tets, fixed);
  elasticHessian(mesh, densityOf("stvk", k, 0.3), body.positions, A, false);
  const factor = factorize(A)!;
  const mass = new Float64Array(3 * A.count);
  let x = new Float64Array(3 * A.count);
  A.place.forEach((row, p) => {
    if (row < 0) return;
    mass.fill(body.mass[p]!, 3 * row, 3 * row + 3);
    x[3 * row + 1] = body.positions[3 * p]! ** 2;
  });
  let hz = 0;
  for (let n = 0; n < 12; n++) {
    const y = x.map((value, i) => mass[i]! * value);
    solveFactored(factor, y);
    const Ky = new Float64Array(y.length);
    multiplyBlocks(A, y, Ky);
    const dot = (a: Float64Array): number => a.reduce((sum, value, i) => sum + value * y[i]!, 0);
    hz = Math.sqrt(dot(Ky) / dot(y.map((value, i) => mass[i]! * value))) / (2 * Math.PI);
    const most = y.reduce((m, value) => Math.max(m, Math.abs(value)), 0);
    x = y.map((value) => value / most);
  }
  const mode = new Float64Array(3 * body.particleCount);
  A.place.forEach((row, p) => row >= 0 && mode.set(x.subarray(3 * row, 3 * row + 3), 3 * p));
  return { mode, hz };
}

/** Follows `periods` of the lowest mode with an amplitude of 1 mm. */
export async function modeMotion(scene: Scene, youngsModulus: number, periods = 3): Promise<ModeMotion> {
  const created = await createWorld(scene, { baseDir: "." });
  const { layout, memory } = created;
  const { mode, hz } = lowestMode(created, youngsModulus);
  const world = openWorld(memory, layout);
  world.mayRest = false;
  const f32 = new Float32Array(memory.buffer);
  mode.forEach((value, k) => {
    f32[layout.v / 4 + 4 * Math.floor(k / 3) + (k % 3)] = 1e-3 * 2 * Math.PI * hz * value;
  });
  const samples = follow(created, world, mode);
  const ticks = Math.ceil(((periods + 0.5) / (0.3 * hz)) * layout.tickHz);
  let crossings: number[] = [];
  let done = 0;
  let cost = 0;
  for (; done < ticks && crossings.length < 2 * periods + 1; done++) {
    const before = process.cpuUsage().user;
    world.step([]);
    cost += process.cpuUsage().user - before;
    crossings = zeros(samples);
  }
  const first = crossings[0]!;
  const last = crossings.at(-1)!;
  const peaks = crossings
    .slice(1)
    .map((to, n) =>
      samples.filter(({ t }) => t > crossings[n]! && t < to).reduce((most, { q }) => Math.max(most, Math.abs(q)), 0),
    );
  return {
    exact: hz,
    measured: (crossings.length - 1) / (2 * (last - first)),
    damping: Math.log(peaks[0]! / peaks.at(-1)!) / (peaks.length - 1) / Math.PI,
    cost: cost / 1000 / done,
  };
}

export interface Sample {
  /** s */
  t: number;
  q: number;
}

/**
 * Samples the modal coordinate q = sum m mode . (x - X) of a world's first body, kg m, from its next substep on.
 * @param mode float64[3N]; @returns the samples, which grow by one a substep
 */
export function follow({ layout, memory, bodies }: CreatedWorld, world: SimWorld, mode: Float64Array): Sample[] {
  const f32 = new Float32Array(memory.buffer);
  const i32 = new Int32Array(memory.buffer);
  const { mass, positions } = bodies[0]!;
  const samples: Sample[] = [];
  const h = 1 / (layout.tickHz * layout.substeps);
  world.watchSubsteps(() => {
    const substep = i32[(L.HEADER + L.H_SUBSTEP) / 4]! + 1;
    let q = 0;
    mode.forEach((value, k) => {
      const at = layout.x / 4 + 4 * Math.floor(k / 3) + (k % 3);
      q += mass[Math.floor(k / 3)]! * value * (f32[at]! - positions[k]!);
    });
    samples.push({ t: (world.tickNumber * layout.substeps + substep) * h, q });
  });
  return samples;
}

/** Times of the samples' zero crossings; repeated samples are ignored. */
export function zeros(samples: readonly Sample[]): number[] {
  const moved = samples.filter(({ q }, n) => n === 0 || q !== samples[n - 1]!.q);
  return moved.flatMap(({ t, q }, n) => {
    const last = moved[n - 1];
    return last && last.q * q < 0 ? [last.t + ((t - last.t) * last.q) / (last.q - q)] : [];
  });
}

/** Relative error of a frequency by BDF2 with steps of h (s), for the linear equation v' = -w^2 x, x' = v. */
export function bdf2(hz: number, h = 1 / 240): number {
  // (3 - 4/z + 1/z^2)/2 = i w h: z = (2 + sqrt(1 + 2 i w h))/(3 - 2 i w h), the frequency is its angle over h
  const wh = 2 * Math.PI * hz * h;
  const size = Math.sqrt(Math.hypot(1, 2 * wh));
  const half = Math.atan2(2 * wh, 1) / 2;
  const [re, im] = [2 + size * Math.cos(half), size * Math.sin(half)];
  const angle = Math.atan2(im, re) - Math.atan2(-2 * wh, 3);
  return angle / wh - 1;
}
