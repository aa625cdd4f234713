/**
 * Appendix A of Bender et al. 2014: in the limit of a small step or a soft material one element and one iteration are
 * explicit FEM, lambda = -h^2.
 */
import { bendingGradient } from "../../../../server/sim/reference/bending.ts";
import type { Vector } from "../../../../server/sim/reference/vector.ts";
import { randomStencils, randomTets, randomTriangles, type Deform } from "../../../parity/randomElements.ts";
import { explicitStepError } from "../../../parity/explicitStep.ts";
import { check, type Figure } from "../figure.ts";
import { sheetForces, solidForces } from "../solids/fem.ts";
import { COLORS, photographMeshes } from "../drawing/photograph.ts";
import { curves, type Series } from "../drawing/plots.ts";
import type { RasterMesh } from "../drawing/raster.ts";

const COUNT = 16;
const H = 1 / 1000;
const MASS = 100;
const SIZE = 0.5;
/**
 * Stretched, compressed and sheared by 10 to 20 %, for elements of all orientations. None comes near 58 % compression,
 * where the solver continues the energy and bare elements do not.
 */
const STRAINED: Deform = (x) => [1.2 * x[0] + 0.15 * x[1], 0.85 * x[1] + 0.1 * x[2], 1.1 * x[2] - 0.1 * x[0]];
/** Random offsets, because an affine map bends nothing. */
const BENT: Deform = (x, r, s) => [x[0] + 0.1 * s * r(), x[1] + 0.1 * s * r(), x[2] + 0.1 * s * r()];
/**
 * The guarantee, within float32: corrections are differences of strains of about 20 %, from numbers near 1 with an
 * error of 2^-24.
 */
const LIMIT = 1e-5;

const tets = (k: number, nu: number): number => {
  const { X, elements } = randomTets(COUNT, SIZE, k, nu, 21);
  const forces = solidForces(X, elements.particles, k, nu);
  return explicitStepError(elements, X, MASS, H, forces, STRAINED);
};
const sheet = (k: number): number => {
  const moduli = { kWeft: 10 * k, kWarp: 40 * k, kShear: 5 * k, nuWeft: 0.1, nuWarp: 0.4 };
  const { X, elements } = randomTriangles(COUNT, SIZE, moduli, 21);
  return explicitStepError(elements, X, MASS, H, sheetForces(X, elements.particles, moduli, 0.01 * SIZE), STRAINED);
};
const stencils = (k: number): number => {
  const { X, elements } = randomStencils(COUNT, SIZE, 1e-3 * k, true, 21);
  const gradient = (x: Float64Array, i: number): Vector[] => bendingGradient(x, elements, i);
  return explicitStepError(elements, X, MASS, H, gradient, BENT);
};

/** The random tetrahedra in rows: at rest behind, strained in front. */
function elementsSeen(): RasterMesh[] {
  const {
    X,
    elements: { particles },
  } = randomTets(COUNT, SIZE, 1, 0.3, 21);
  const faces = [0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3];
  return [false, true].flatMap((strained) =>
    Array.from({ length: COUNT }, (_, e) => {
      const corners = [0, 1, 2, 3].map(
        (c) => [0, 1, 2].map((r) => X[3 * particles[4 * e + c]! + r]!) as [number, number, number],
      );
      const middle = [0, 1, 2].map((r) => corners.reduce((s, x) => s + x[r]! / 4, 0));
      const placed = corners
        .map((x) => x.map((v, r) => v - middle[r]!) as [number, number, number])
        .map((x) => (strained ? STRAINED(x, () => 0, SIZE) : x));
      // separate corners for each face: flat shading
      return {
        positions: faces.flatMap((c) => [
          placed[c]![0] + 1.1 * (e % 8),
          placed[c]![1] - 1.1 * Math.floor(e / 8) - (strained ? 2.6 : 0),
          placed[c]![2],
        ]),
        triangles: faces.map((_, i) => i),
        color: COLORS[strained ? 1 : 0]!,
      };
    }),
  );
}

export const figure: Figure = {
  id: "appA",
  title: "One element, one iteration: explicit finite elements",
  source: "Bender et al. 2014, appendix A",
  async run(size) {
    const stiffness = Array.from(
      { length: size === "full" ? 17 : 5 },
      (_, i) => 10 ** (i * (size === "full" ? 0.5 : 2)),
    );
    const series = (name: string, f: (k: number) => number): Series => ({
      name,
      points: stiffness.map((k) => [k, f(k)]),
      style: "both",
    });
    const nus = [0, 0.3, 0.45];
    return {
      text: `Appendix A of the paper says that its correction is that of classical finite elements with an explicit integrator if the multiplier is -h^2. Our compliant constraint does not set the multiplier; it must tend to -h^2 as k h^2 goes to zero. ${COUNT} random elements of ${SIZE} m, stretched by 20 %, compressed by 15 % and sheared (bending stencils: with corners moved by up to 10 %), with particles of about ${MASS} kg, are solved once by the kernel (float32, SIMD) with h = 1 ms; the correction of every corner is compared with -h^2 w f, with the nodal force f = P D_m^-T V of a separate float64 finite element code (fem.ts; for bending the derivative of the energy).

At k = 1 Pa the difference is float32 rounding. As k grows it rises in proportion to k h^2 w, as it should: there explicit FEM overshoots, and the solver approaches implicit Euler instead. The rising branch is the compliant solver's advantage, not an error.`,
      checks: [
        ...nus.map((nu) =>
          check(`tetrahedra, nu = ${nu}: largest relative difference to explicit FEM at k = 1 Pa`, tets(1, nu), {
            high: LIMIT,
            published: "equal (proof)",
          }),
        ),
        check("orthotropic cloth triangles: the same", sheet(1), { high: LIMIT, published: "equal (proof)" }),
        check("bending stencils: the same", stencils(1), { high: LIMIT, published: "equal (proof)" }),
        check(
          "tetrahedra: growth of the difference from k = 1e5 to 1e6 Pa (first order in k)",
          tets(1e6, 0.3) / tets(1e5, 0.3),
          { low: 8, high: 12 },
        ),
      ],
      plots: [
        {
          caption: "Relative difference between one iteration of the solver and one explicit FEM step.",
          spec: curves(
            { title: "k, Pa (cloth: k_weft = 10 k; bending: B = k/1000 N m)", log: true },
            { title: "relative difference", log: true },
            [
              series("tetrahedra, nu = 0.3", (k) => tets(k, 0.3)),
              series("cloth triangles", sheet),
              series("bending stencils", stencils),
            ],
            [{ y: LIMIT, label: "limit 1e-5" }],
          ),
        },
      ],
      pictures: [
        photographMeshes(elementsSeen(), {
          caption: `The ${COUNT} tetrahedra: at rest (blue) and strained (orange).`,
          ground: null,
          from: [0.1, 0.15, 1],
          width: 720,
          height: 400,
        }),
      ],
    };
  },
};
