/** Clamped beams at default settings against the eigenmodes of their meshes, for any stiffness. */
import type { Scene } from "../../../../shared/scene/scene.ts";
import { laboratory } from "../../../physics/laboratory.ts";
import { cantilever, modeMotion, type ModeMotion } from "../../../physics/bars/barModes.ts";
import { bookCheck } from "../books.ts";
import { check, short, type Check, type Figure, type Progress } from "../figure.ts";
import { curves, type Series } from "../drawing/plots.ts";

type Cells = [number, number, number];

/** Largest relative error of the frequency, up to a frequency in Hz: the target. */
const LIMITS: [number, number][] = [
  [3, 0.005],
  [10, 0.025],
  [20, 0.08],
];
const MOST_DAMPING = 0.001;
const MESHES: [Cells, number[]][] = [
  [
    [20, 2, 2],
    [1e4, 1e5, 1e6, 1e7, 1e8, 1e9],
  ],
  [
    [13, 3, 2],
    [1e5, 1e6, 1e7, 1e8],
  ],
  [
    [40, 4, 4],
    [1e5, 1e6, 1e7, 1e8, 1e9],
  ],
];
const SMALL: [Cells, number[]][] = [
  [
    [20, 2, 2],
    [1e6, 1e7, 1e8, 1e9],
  ],
];
/** Ticks a second that count as converged. */
const MANY = 480;

/** The beam in a scene without solver settings. */
function beam(youngsModulus: number, cells: Cells, tickHz = 60): Scene {
  const scene = cantilever(youngsModulus, cells, "auto");
  return { ...scene, tickHz, bodies: scene.bodies.map(({ contact: _, ...body }) => body as (typeof scene.bodies)[0]) };
}

/** Energy check of a swing by some centimeters for 5 s. */
async function booked(youngsModulus: number): Promise<Check> {
  const lab = await laboratory({ refine: true, ...beam(youngsModulus, [20, 2, 2]) });
  lab.put(
    0,
    (x) => x,
    (x) => [0, 0.1 * x[0] ** 2, 0],
  );
  return bookCheck(`20 x 2 x 2 cells, k = ${short(youngsModulus)} Pa, 5 s`, lab, 300);
}

const errorOf = ({ measured, exact }: ModeMotion): number => measured / exact - 1;

export const figure: Figure = {
  id: "frequencies",
  title: "A beam swings at the frequency of its material",
  source: "beyond the paper; linear elements' eigenmodes of the same mesh",
  async run(size, progress: Progress = () => {}) {
    const full = size === "full";
    const checks: Check[] = [];
    const errors: Series[] = [];
    const meshes = full ? MESHES : SMALL;
    const converged: [number, number][] = [];
    for (const [m, [cells, stiffnesses]] of meshes.entries()) {
      const points: [number, number][] = [];
      for (const [n, k] of stiffnesses.entries()) {
        progress((m + n / stiffnesses.length) / meshes.length, `${cells.join(" x ")} cells, ${short(k)} Pa`);
        const motion = await modeMotion(beam(k, cells), k);
        const name = `${cells.join(" x ")} cells, k = ${short(k)} Pa, ${motion.exact.toFixed(2)} Hz`;
        const limit = LIMITS.find(([hz]) => motion.exact <= hz)![1];
        points.push([motion.exact, Math.max(1e-6, Math.abs(errorOf(motion)))]);
        checks.push(
          check(`${name}: frequency over the mesh's`, 1 + errorOf(motion), { low: 1 - limit, high: 1 + limit }),
        );
        if (motion.exact <= LIMITS[0]![0])
          checks.push(check(`${name}: damping ratio`, Math.abs(motion.damping), { high: MOST_DAMPING }));
        if (full && m === 0 && k >= 1e6)
          converged.push([motion.exact, Math.max(1e-6, Math.abs(errorOf(await modeMotion(beam(k, cells, MANY), k))))]);
      }
      errors.push({ name: `${cells.join(" x ")} cells, default`, points, style: "both" });
    }
    if (full) for (const k of [1e4, 1e5, 1e7]) checks.push(await booked(k));
    if (full) errors.push({ name: `20 x 2 x 2 cells, ${MANY} ticks a second`, points: converged, style: "points" });
    return {
      text: `Beams of 1 x 0.1 x 0.1 m (1000 kg/m^3, nu = 0.3, undamped, no gravity) are clamped at one end and get the velocities of their lowest mode, with an amplitude of 1 mm. The scene has no other settings: 60 ticks a second, the default substeps, and \`solver: "auto"\`. That integrates beams which are stiff for their mesh implicitly, and all others with compliant constraints. Every substep samples the modal coordinate; its zeros give the frequency, its peaks the damping ratio. The reference is the lowest eigenvalue of the same linear elements and masses, by inverse iteration in float64, so the error is only that of motion, not of the mesh.

Limits: 0.5 % up to 3 Hz, 2.5 % up to 10 and 8 % up to 20; a damping ratio of at most 0.001 up to 3 Hz. A compliant body swings too slowly by up to q/2, where q is the square of the number of edges that sound crosses in an iteration; from q = 0.008 on a body is implicit if possible. BDF2 with four steps a tick is too slow by (w h)^2/3: 0.8 % at 6 Hz, 7 % at 20. At 60 pictures a second 20 Hz are not visible; use more ticks for such frequencies.`,
      checks,
      plots: [
        {
          caption: "Relative error of the lowest frequency against that of the mesh, for every stiffness.",
          spec: curves(
            { title: "frequency of the mesh, Hz", log: true },
            { title: "relative error", log: true },
            errors,
            LIMITS.map(([hz, limit]) => ({ y: limit, label: `${100 * limit} % up to ${hz} Hz` })),
          ),
        },
      ],
      pictures: [],
    };
  },
};
