/** Figure 10 of Bender et al. 2014: orthotropic cloth under equal forces on both axes stretches by its two moduli. */
import { laboratory, type Laboratory } from "../../../physics/laboratory.ts";
import { check, short, type Figure, type Progress } from "../figure.ts";
import { COLORS, photographMeshes, bodyMesh } from "../drawing/photograph.ts";
import { curves } from "../drawing/plots.ts";

/** m, Pa, kg/m^3; nu_weft is nu_warp times k_weft/k_warp, as a symmetric tensor requires. */
const SIDE = 0.5;
const THICKNESS = 0.001;
const DENSITY = 300;
const K_WARP = 1e5;
const NU_WARP = 0.06;
/** Nominal stress on every edge, Pa. */
const P = 0.1 * K_WARP;

interface Cloth {
  ratio: number;
  kWeft: number;
  nuWeft: number;
}

const clothOf = (ratio: number): Cloth => ({ ratio, kWeft: ratio * K_WARP, nuWeft: ratio * NU_WARP });

/**
 * Stretches of a homogeneous sheet under nominal stress P on both axes: S = C eps of the tensor of section 4.3 and P =
 * s S, by Newton's method. Plane stress in the material's own axes, so there is no shear.
 */
function predicted({ kWeft, nuWeft }: Cloth): [number, number] {
  const both = 1 - nuWeft * NU_WARP;
  const c00 = kWeft / both;
  const c11 = K_WARP / both;
  const c01 = (kWeft * NU_WARP) / both;
  let s = 1;
  let t = 1;
  for (let step = 0; step < 50; step++) {
    const e = (s * s - 1) / 2;
    const f = (t * t - 1) / 2;
    const S = c00 * e + c01 * f;
    const T = c01 * e + c11 * f;
    const r0 = s * S - P;
    const r1 = t * T - P;
    const a = S + s * c00 * s;
    const b = s * c01 * t;
    const c = t * c01 * s;
    const d = T + t * c11 * t;
    const determinant = a * d - b * c;
    s -= (d * r0 - b * r1) / determinant;
    t -= (a * r1 - c * r0) / determinant;
  }
  return [s, t];
}

/** Particles of a sheet's edges across x and across z, each at its low and at its high end. */
function edges(cells: number): [number[], number[]][] {
  const row = cells + 1;
  const line = (from: number, step: number): number[] => Array.from({ length: row }, (_, n) => from + n * step);
  return [
    [line(0, row), line(cells, row)],
    [line(0, 1), line(cells * row, 1)],
  ];
}

async function measured(
  { kWeft, nuWeft }: Cloth,
  cells: number,
): Promise<{ stretch: [number, number]; lab: Laboratory }> {
  const n: [number, number] = [cells, cells];
  const force = P * SIDE * THICKNESS;
  const sound = Math.sqrt(kWeft / DENSITY);
  const lab = await laboratory({
    tickHz: 60,
    substeps: 20,
    iterations: 30,
    bodies: [
      {
        name: "cloth",
        kind: "cloth",
        mesh: { type: "grid", size: [SIDE, SIDE], cells: n },
        material: {
          density: DENSITY,
          thickness: THICKNESS,
          kWeft,
          kWarp: K_WARP,
          kShear: 3e4,
          nuWeft,
          nuWarp: NU_WARP,
          damping: (Math.PI * Math.sqrt(K_WARP / DENSITY)) / SIDE,
        },
        loads: edges(cells).flatMap(([near, far], axis) => {
          const pull = (sign: number): [number, number, number] => [
            axis === 0 ? sign * force : 0,
            0,
            axis * sign * force,
          ];
          return [
            { select: { particles: near }, force: pull(-1) },
            { select: { particles: far }, force: pull(1) },
          ];
        }),
      },
    ],
  });
  lab.run(Math.ceil(60 * ((30 * SIDE) / Math.sqrt(K_WARP / DENSITY) + 5 / sound)));
  const x = lab.positions();
  const mean = (edge: (i: number) => boolean, c: number): number => {
    let sum = 0;
    let count = 0;
    for (let i = 0; i < (cells + 1) ** 2; i++) {
      if (!edge(i)) continue;
      sum += x[3 * i + c]!;
      count++;
    }
    return sum / count;
  };
  const row = cells + 1;
  const across = mean((i) => i % row === cells, 0) - mean((i) => i % row === 0, 0);
  const along = mean((i) => i >= row * cells, 2) - mean((i) => i < row, 2);
  return { stretch: [across / SIDE, along / SIDE], lab };
}

export const figure: Figure = {
  id: "fig10",
  title: "Orthotropic cloth under equal forces on both axes",
  source: "Bender et al. 2014, figure 10",
  async run(size, progress: Progress = () => {}) {
    const full = size === "full";
    const cells = full ? 20 : 6;
    const ratios = full ? [1, 1.5, 2, 3, 5, 8] : [1, 4];
    const checks = [];
    const points: [number, number][] = [];
    const meshes = [];
    for (const [n, ratio] of ratios.entries()) {
      progress(n / ratios.length, `k_weft/k_warp = ${ratio}`);
      const cloth = clothOf(ratio);
      const { stretch, lab } = await measured(cloth, cells);
      const ideal = predicted(cloth);
      const extension = (stretch[1] - 1) / (stretch[0] - 1);
      const idealExtension = (ideal[1] - 1) / (ideal[0] - 1);
      points.push([ratio, extension]);
      checks.push(
        check(
          `k_weft/k_warp = ${ratio}: extension along the warp over that along the weft, over the tensor's prediction of ${short(idealExtension)}`,
          extension / idealExtension,
          { low: 0.98, high: 1.02, basis: "target" },
        ),
      );
      checks.push(
        check(
          `k_weft/k_warp = ${ratio}: stretch along the warp over the prediction of ${short(ideal[1])}`,
          stretch[1] / ideal[1],
          { low: 0.998, high: 1.002, basis: "a tenth of that" },
        ),
      );
      if (ratio === ratios[0] || ratio === ratios.at(-1) || ratio === 3) {
        meshes.push({
          ...bodyMesh(
            lab.created.bodies[0]!,
            lab.positions().map((v, i) => v + (i % 3 === 0 ? 0.75 * meshes.length : 0)),
            { color: COLORS[meshes.length]!, edges: true },
          ),
        });
      }
    }
    const law = Array.from({ length: 71 }, (_, i): [number, number] => {
      const ratio = 1 + i / 10;
      const [s, t] = predicted(clothOf(ratio));
      return [ratio, (t - 1) / (s - 1)];
    });
    return {
      text: `A sheet of ${SIDE} m x ${SIDE} m (${cells} x ${cells} cells, 1 mm, k_warp = ${K_WARP} Pa, nu_warp = ${NU_WARP}, no gravity) is pulled outward on all four edges by the same force, a nominal stress of ${P} Pa on each, spread evenly. It has no pins. k_weft is k_warp times the ratio, and nu_weft follows from the symmetry of the tensor, k_weft nu_warp = k_warp nu_weft.

The prediction is the homogeneous state of the orthotropic tensor of section 4.3: S = C eps on both axes and P = s S, two equations for two stretches, solved by Newton's method in float64. The measurement is the mean distance of opposite edges. The paper shows only pictures; **the limit is 2 %** of the extensions' ratio.

The plot shows that the ratio of the extensions is not quite k_weft/k_warp. Poisson's ratio couples the axes: the stiffer the weft, the more of its pull counteracts the contraction by the stretched warp. With nu_weft near 1 the weft would hardly move, and the ratio would say little. Green strain also stiffens large stretches.`,
      checks,
      plots: [
        {
          caption: "Extension along the warp over that along the weft.",
          spec: curves({ title: "k_weft / k_warp" }, { title: "ratio of extensions", log: true }, [
            { name: "tensor's prediction", points: law },
            { name: "measured", points, style: "points" },
            {
              name: "k_weft/k_warp",
              points: [
                [1, 1],
                [8, 8],
              ],
              style: "dashed",
            },
          ]),
        },
      ],
      pictures: [
        photographMeshes(meshes, {
          caption: `Weft from left to right; k_weft/k_warp = ${full ? "1, 3, 8" : ratios.join(", ")}. All were squares.`,
          ground: null,
          from: [0, 1, 0.01],
          width: 960,
          height: 340,
        }),
      ],
    };
  },
};
