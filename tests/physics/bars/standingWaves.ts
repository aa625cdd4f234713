/**
 * Standing waves of free bodies, along a bar and across a strip under tension: n half waves in a length L have the
 * frequency n c/2L with the wave's speed c. In material coordinates
 *   along a bar            c^2 = E/rho        (nu = 0: its cross-section does not move)
 *   across a strip         c^2 = S/rho,  S = E (s^2 - 1)/2 its second Piola-Kirchhoff stress at stretch s; in space
 *                          c s = sqrt(T/mu), T the force at its ends, mu its mass per stretched length
 * A chain of N equal elements with lumped masses, half of one at each end, is slower by sin(p)/p, p = n pi/2N.
 */
import type { Body, Scene } from "../../../shared/scene/scene.ts";
import { densityOf } from "../../statics/materials.ts";
import { solidMesh } from "../../statics/solidMesh.ts";
import { explicit } from "../materials/explicit.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";
import { follow, zeros, type Sample } from "./barModes.ts";
import { clothGrid, softBox } from "../../support/bodies.ts";

export interface Wave {
  /** Pa */
  youngsModulus: number;
  /** half waves */
  n: number;
  /** m/s, of the wave in material coordinates */
  c: number;
  /** Hz by theory: n c/2L */
  theory: number;
  /** Hz, measured */
  measured: number;
  /** s, and the modal coordinate relative to its amplitude by theory; up to 2.3 periods */
  trace: Sample[];
  /** step of the solver, s */
  h: number;
  implicit: boolean;
}

type Settings = Pick<Partial<Scene>, "substeps" | "iterations">;

export const BAR = { length: 4, width: 0.1, cells: 40, density: 1000 } as const;
export const STRIP = { length: 2, width: 0.1, cells: 40, thickness: 1e-3, density: 200, stretch: 1.2 } as const;
/** Number of periods to follow. */
const PERIODS = 2.3;
/**
 * Particle velocity relative to the wave's speed, so also strain and slope: small enough for both to be linear to 1e-5.
 */
const AMPLITUDE = 2e-3;

/** Relative slowing of a chain of N elements. */
export const chain = (n: number, N: number): number =>
  Math.sin((n * Math.PI) / (2 * N)) / ((n * Math.PI) / (2 * N)) - 1;

const frequency = (times: readonly number[]): number => (times.length - 1) / (2 * (times.at(-1)! - times[0]!));

/** float64[3N] cos(n pi (X + L/2)/L) along one axis. */
function halfWaves(rest: Float64Array, n: number, length: number, axis: number): Float64Array {
  return rest.map((_, k) => (k % 3 === axis ? Math.cos((n * Math.PI * (rest[k - axis]! + length / 2)) / length) : 0));
}

export function bar(youngsModulus: number): Body {
  return softBox("bar", [BAR.length, BAR.width, BAR.width], [BAR.cells, 1, 1], {
    material: { density: BAR.density, youngsModulus, poissonsRatio: 0 },
  });
}

function strip(youngsModulus: number, damping: number): Body {
  const { length, width, cells, thickness, density, stretch: s } = STRIP;
  const force = ((youngsModulus * s * (s * s - 1)) / 2) * width * thickness;
  const end = length / 2 - 1e-3;
  return clothGrid("strip", [length, width], [cells, 2], {
    contact: { self: false },
    material: { density, thickness, youngsModulus, poissonsRatio: 0, damping },
    loads: [
      { select: { box: { min: [end, -1, -1], max: [9, 1, 1] } }, force: [force, 0, 0] },
      { select: { box: { min: [-9, -1, -1], max: [-end, 1, 1] } }, force: [-force, 0, 0] },
    ],
  });
}

/** Gives a room's particles the velocities of a wave and follows it. */
function swing(
  lab: Laboratory,
  wave: { youngsModulus: number; n: number; c: number },
  mode: Float64Array,
  L: number,
): Wave {
  const { layout, bodies } = lab.created;
  const theory = (wave.n * wave.c) / (2 * L);
  const speed = AMPLITUDE * wave.c;
  lab.put(
    0,
    (x) => x,
    (_, i) => [speed * mode[3 * i]!, speed * mode[3 * i + 1]!, speed * mode[3 * i + 2]!],
  );
  const samples = follow(lab.created, lab.world, mode);
  const begin = lab.world.tickNumber / layout.tickHz;
  lab.run(Math.ceil((PERIODS / theory) * layout.tickHz));
  const mass = bodies[0]!.mass;
  const amplitude =
    mode.reduce((sum, m, k) => sum + mass[Math.floor(k / 3)]! * m * m, 0) * (speed / (2 * Math.PI * theory));
  const trace = [{ t: 0, q: 0 }, ...samples.map(({ t, q }) => ({ t: t - begin, q: q / amplitude }))];
  const h = 1 / (layout.tickHz * layout.substeps);
  return { ...wave, theory, measured: frequency(zeros(trace)), trace, h, implicit: layout.bodies[0]!.implicit };
}

/** Wave along a free bar. @param settings undefined: the defaults */
export async function barWave(youngsModulus: number, n: number, settings?: Settings): Promise<Wave> {
  const lab = await laboratory({ refine: settings === undefined, ...settings, bodies: [bar(youngsModulus)] });
  const mode = halfWaves(Float64Array.from(lab.created.bodies[0]!.positions), n, BAR.length, 0);
  return swing(lab, { youngsModulus, n, c: Math.sqrt(youngsModulus / BAR.density) }, mode, BAR.length);
}

/**
 * Frequency of that wave in the same mesh, Hz, by velocity Verlet in float64; its step h errs by (w h)^2/24, 4e-5 at n
 * = 4.
 */
export async function barMesh(n: number): Promise<number> {
  const youngsModulus = BAR.density; // c = 1 m/s: frequencies are proportional to c
  const { positions, tets } = (await laboratory({ bodies: [bar(youngsModulus)] })).created.bodies[0]!;
  const rest = Float64Array.from(positions);
  const mode = halfWaves(rest, n, BAR.length, 0);
  const x = rest.slice();
  const h = (0.1 * BAR.length) / BAR.cells;
  const samples: Sample[] = [];
  explicit(
    { mesh: solidMesh(rest, tets), density: densityOf("stvk", youngsModulus, 0), rho: BAR.density, h },
    { x, v: mode.map((m) => AMPLITUDE * m) },
    Math.ceil((PERIODS * 2 * BAR.length) / n / h),
    (step) => void samples.push({ t: step * h, q: mode.reduce((sum, m, k) => sum + m * (x[k]! - rest[k]!), 0) }),
  );
  return frequency(zeros([{ t: 0, q: 0 }, ...samples]));
}

/**
 * Wave across a free strip. Loads at its ends have stretched it before, with damping; the wave itself is not damped.
 */
export async function stripWave(youngsModulus: number, n: number, settings?: Settings): Promise<Wave> {
  const S = (youngsModulus * (STRIP.stretch ** 2 - 1)) / 2;
  const lab = await laboratory({ refine: settings === undefined, ...settings, bodies: [strip(youngsModulus, 10)] });
  lab.run(120);
  lab.run(1, [{ type: "tune", member: 1, body: 0, damping: 0 }]);
  const mode = halfWaves(Float64Array.from(lab.created.bodies[0]!.positions), n, STRIP.length, 1);
  return swing(lab, { youngsModulus, n, c: Math.sqrt(S / STRIP.density) }, mode, STRIP.length);
}
