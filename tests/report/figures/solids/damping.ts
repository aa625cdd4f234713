/** Material damping at default settings against the Kelvin-Voigt law, and the energy ledger's share of viscosity. */
import type { Scene } from "../../../../shared/scene/scene.ts";
import { laboratory } from "../../../physics/laboratory.ts";
import { cantilever, modeMotion } from "../../../physics/bars/barModes.ts";
import { now, sum, watched } from "../../../physics/laws/watched.ts";
import { check, short, type Check, type Figure, type Progress } from "../figure.ts";
import { curves, type Series } from "../drawing/plots.ts";

type Cells = [number, number, number];
const CELLS: Cells = [20, 2, 2];
/** In the small size: a coarse beam, and one period instead of three. */
const COARSE: Cells = [10, 2, 2];
/**
 * Young's modulus, Pa -> retardation times, s. The first beam is compliant at default settings, the others have an
 * implicit step.
 */
const BEAMS: Record<string, readonly number[]> = {
  1e4: [0.003, 0.01, 0.03],
  1e6: [0.003, 0.01, 0.05],
  1e7: [0.001, 0.005, 0.03],
  1e8: [0.0003, 0.001, 0.005],
};
const SMALL: typeof BEAMS = { 1e4: [0.03], 1e7: [0.005] };
const STRIPS: readonly number[] = [0.01, 0.03];
/** Limits: relative to the law's damping ratio, plus the damping of a step without a material (figure frequencies). */
const PART = 0.02;
const STEP = 0.001;
/** Allowed deficit of a compliant beam (server/sim/scene/chooseSolvers.ts). */
const MISSING = 0.1;

/** A scene without solver settings. */
function asSaid(youngsModulus: number, retardationTime: number, cells = CELLS): Scene {
  const scene = cantilever(youngsModulus, cells, "auto");
  const [{ contact: _, ...beam }] = scene.bodies as [Scene["bodies"][0] & { contact?: object }];
  return { ...scene, bodies: [{ ...beam, material: { ...beam.material, retardationTime } } as Scene["bodies"][0]] };
}

/** Logarithmic decrement over 2 pi of a damping ratio. */
const decrement = (ratio: number): number => ratio / Math.sqrt(1 - ratio * ratio);

/**
 * Motion of the tip of a strip of 1 x 0.1 m, 1 kg/m^2 and 1 N m, clamped at one end. @returns Hz and decrement over 2
 * pi
 */
async function stripMotion(retardationTime: number): Promise<{ hz: number; damping: number }> {
  const lab = await laboratory({
    refine: true,
    bodies: [
      {
        name: "strip",
        kind: "cloth",
        contact: { self: false },
        mesh: { type: "grid", size: [1, 0.1], cells: [20, 2] },
        transform: { translate: [0.5, 0, 0] },
        material: {
          ...{ density: 1000, thickness: 1e-3, youngsModulus: 1e7, poissonsRatio: 0.3, bendingStiffness: 1 },
          retardationTime,
        },
        pins: [{ select: { box: { min: [-1, -1, -1], max: [0.051, 1, 1] } } }],
      },
    ],
  });
  lab.put(
    0,
    (x) => x,
    (x) => [0, 0.05 * Math.max(0, x[0] - 0.05) ** 2, 0],
  );
  const crossings: number[] = [];
  const peaks: number[] = [];
  let [before, peak] = [0, 0];
  for (let tick = 1; crossings.length < 10; tick++) {
    lab.run(1);
    const at = tipOf(lab.positions());
    if (before * at < 0) {
      crossings.push(tick - 1 + before / (before - at));
      peaks.push(peak);
      peak = 0;
    }
    peak = Math.max(peak, Math.abs(at));
    before = at;
  }
  // the first swing also contains the higher modes
  const hz = (7 * lab.created.layout.tickHz) / (2 * (crossings[9]! - crossings[2]!));
  return { hz, damping: Math.log(peaks[3]! / peaks[9]!) / 6 / Math.PI };
}

/** Height of the last column's middle particle, m. */
function tipOf(x: Float64Array): number {
  for (let i = 0; i < x.length; i += 3) if (x[i]! > 0.99 && Math.abs(x[i + 2]!) < 0.01) return x[i + 1]!;
  throw new Error("the strip has no particle at its tip");
}

/** Energy that a compliant beam loses in 20 s, J, and the part that the ledger books as viscosity. */
async function bookOf(retardationTime: number): Promise<{ lost: number; viscosity: number }> {
  const { lab, books, run } = await watched({ refine: true, bodies: asSaid(1e4, retardationTime).bodies });
  lab.put(
    0,
    (x) => x,
    (x) => [0, 0.02 * x[0] ** 2, 0],
  );
  run(1);
  const first = now(books).total;
  run(1200);
  return { lost: first - now(books).total, viscosity: -sum(books, "viscosity", 0, 2) };
}

async function booked(): Promise<Check> {
  const [elastic, viscous] = [await bookOf(0), await bookOf(0.03)];
  const name = "beam of 1e4 Pa, 30 ms: energy booked as viscosity over the loss beyond that without viscosity";
  return check(name, viscous.viscosity / (viscous.lost - elastic.lost), { low: 1 - MISSING, high: 1 + MISSING });
}

async function beamsOf(
  beams: readonly [string, readonly number[]][],
  cells: Cells,
  progress: Progress,
): Promise<{ checks: Check[]; points: Series[] }> {
  const checks: Check[] = [];
  const points: Series[] = [];
  for (const [n, [k, times]] of beams.entries()) {
    const measured: [number, number][] = [];
    for (const tau of times) {
      progress(n / (beams.length + 1), `${short(Number(k))} Pa, ${1000 * tau} ms`);
      const motion = await modeMotion(asSaid(Number(k), tau, cells), Number(k), cells === COARSE ? 1 : 3);
      const wanted = decrement(Math.PI * motion.exact * tau);
      measured.push([wanted, motion.damping]);
      const name = `beam of ${short(Number(k))} Pa, ${motion.exact.toFixed(2)} Hz, ${1000 * tau} ms`;
      const least = n === 0 ? 1 - MISSING : 1 - PART;
      const limits = { low: wanted * least, high: wanted * (1 + PART) + STEP };
      checks.push(check(`${name}: decrement over 2 pi, ${wanted.toPrecision(3)} by the law`, motion.damping, limits));
    }
    points.push({ name: `beam of ${short(Number(k))} Pa`, points: measured, style: "points" });
  }
  return { checks, points };
}

async function strips(): Promise<{ checks: Check[]; points: Series[] }> {
  const checks: Check[] = [];
  const points: [number, number][] = [];
  for (const tau of STRIPS) {
    const { hz, damping } = await stripMotion(tau);
    const wanted = decrement(Math.PI * hz * tau);
    points.push([wanted, damping]);
    const name = `strip of 1 N m, ${hz.toFixed(2)} Hz, ${1000 * tau} ms`;
    const limits = { low: wanted * (1 - PART) - STEP, high: wanted * (1 + PART) + STEP };
    checks.push(check(`${name}: decrement over 2 pi, ${wanted.toPrecision(3)} by the law`, damping, limits));
  }
  return { checks, points: [{ name: "strip of 1 N m", points, style: "points" }] };
}

export const figure: Figure = {
  id: "damping",
  title: "A material damps by the law of its retardation time",
  source: "beyond the paper; Kelvin-Voigt law",
  async run(size, progress: Progress = () => {}) {
    const full = size === "full";
    const parts = [await beamsOf(Object.entries(full ? BEAMS : SMALL), full ? CELLS : COARSE, progress)];
    if (full) parts.push(await strips(), { checks: [await booked()], points: [] });
    const checks = parts.flatMap((part) => part.checks);
    const law: Series = {
      name: "law",
      points: [
        [1e-3, 1e-3],
        [0.3, 0.3],
      ],
      style: "line",
    };
    const points = [...parts.flatMap((part) => part.points), law];
    return {
      text: `Beams of 1 x 0.1 x 0.1 m (1000 kg/m^3, nu = 0.3, no gravity, no \`damping\`), clamped at one end, begin with the velocities of their lowest mode and have a \`retardationTime\` tau. The scene has no other settings: 60 ticks a second, the default substeps, \`solver: "auto"\`. By the Kelvin-Voigt law a vibration of f Hz has the damping ratio pi f tau. The peaks of the modal coordinate fall by a logarithmic decrement of 2 pi times that ratio over the root of 1 minus its square. A strip of cloth (1 kg/m^2, bending stiffness 1 N m) bends in the same way; its tip is measured.

Limits: ${100 * PART} % of the law, plus ${STEP} for the damping of the step itself (figure frequencies). The beam of 1e4 Pa is compliant: its dashpots are solved as often as its constraints and damp too little by a share q tau/h. Here q is the square of the number of edges that sound crosses in a substep of h seconds. If the share exceeds ${100 * MISSING} %, \`auto\` chooses the implicit step, which has no such error. The energy ledger books the loss in dashpots of a compliant body as \`viscosity\`. It equals the loss beyond that without dashpots, except that the time step takes less from a motion that they have damped.`,
      checks,
      plots: [
        {
          caption: "Logarithmic decrement over 2 pi against the law.",
          spec: curves({ title: "by the law", log: true }, { title: "measured", log: true }, points, []),
        },
      ],
      pictures: [],
    };
  },
};
