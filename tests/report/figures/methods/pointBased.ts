/** Point-based bodies: exactness for affine maps, and a beam that sags, against finite elements. */
import {
  affineError,
  BEAM,
  beamOfElements,
  beamOfPoints,
  GRAVITY,
  rigidMotion,
  WIDTH,
} from "../../../physics/methods/pointKit.ts";
import { check, short, type Figure, type Progress } from "../figure.ts";
import { curves } from "../drawing/plots.ts";

/** Limit of the error with the most points. */
const LIMIT = 0.05;

export const figure: Figure = {
  id: "point-based",
  title: "Stress of points without a mesh",
  source: "Mueller et al. 2004, sections 4 and 5; Physically Based Deformable Models, point-based animation",
  async run(size, progress: Progress = () => {}) {
    const full = size === "full";
    const { force, energy } = await rigidMotion();
    const checks = [
      check("rigid motion: largest force, relative to E s²", force, { high: 1e-12, basis: "float64" }),
      check("rigid motion: energy, relative to E s³", energy, { high: 1e-24, basis: "float64, squared" }),
      check("affine map: error of the energy", await affineError(), { high: 1e-11, basis: "float64" }),
    ];
    const [coarse, fine] = full ? [6, 10] : [4, 6];
    progress(0.1, "beam of elements");
    const elements = await beamOfElements(fine);
    const { sag } = await beamOfElements(coarse);
    // extrapolation: elements are of order 2
    const exact = elements.sag + (elements.sag - sag) / ((fine / coarse) ** 2 - 1);
    const beams = [];
    for (const across of full ? [3, 5, 7] : [3]) {
      progress(across / 9, `beam of points, ${across} across`);
      const beam = await beamOfPoints(across);
      beams.push({ across, ...beam, error: Math.abs(beam.sag / exact - 1) });
    }
    for (const [n, { across, error }] of beams.entries())
      checks.push(
        check(`beam of ${across} points across: error of its sag`, error, {
          high: Math.min(LIMIT, beams[n - 1]?.error ?? LIMIT),
          basis: n > 0 ? "less than the coarser one's" : "target",
        }),
      );
    return {
      text: `The stress of a point follows from the motion of its neighbors, by moving least squares with a linear basis. That is exact for affine maps, so a rigid motion causes no strain.

**Affine maps.** 4 x 3 x 3 points, s = 0.1 m apart, turned by 1.1 rad about (1, 2, 2)/3 and shifted, have no force and no energy except for rounding. Stretched and sheared by up to 20 %, they have the energy of the Saint Venant-Kirchhoff law, which the test computes separately.

**Beam.** ${3.5 * WIDTH} x ${WIDTH} x ${WIDTH} m, E = ${BEAM.youngsModulus} Pa, nu = ${BEAM.poissonsRatio}, ${BEAM.density} kg/m³, clamped in a wall, under ${GRAVITY} m/s². Its mean sag is ${short(-1000 * exact)} mm. The reference is the static equilibrium of Saint Venant-Kirchhoff tetrahedra by separate code, ${coarse} and ${fine} cells across, extrapolated to cell size 0 by their order, 2 (${short(100 * Math.abs(elements.sag / exact - 1))} % beyond the finer one). The points swing with damping and implicit steps until their sag changes by less than 1e-4 in a third of a second.

Points lie half a spacing inside of faces. The first layer lies in the wall's face and clamps the beam, so half of that layer's volume lies in the wall. The error falls slowly with the spacing, and is ${beams.map(({ across, error }) => `${short(100 * error)} % with ${across}`).join(", ")} points across. Deformations that the gradient does not see have a penalty of 0.1 E times the square of the spacing.`,
      checks,
      plots: [
        {
          caption: "The beam's middle line.",
          spec: curves({ title: "from the wall, m", zero: true }, { title: "sag, m" }, [
            { name: `elements, ${fine} across`, points: elements.line },
            ...beams.map(({ across, line }) => ({
              name: `${across} points across`,
              points: line,
              style: "points" as const,
            })),
          ]),
        },
        {
          caption: "Error of the mean sag under refinement.",
          spec: curves(
            { title: "points across" },
            { title: "error", zero: true },
            [{ name: "against elements", points: beams.map((b) => [b.across, b.error]), style: "both" }],
            [{ y: LIMIT, label: "target" }],
          ),
        },
      ],
      pictures: [],
    };
  },
};
