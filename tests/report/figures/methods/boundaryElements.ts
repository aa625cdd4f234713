/** Boundary elements: uniform stress, a cube against finite elements, and a grab that leaves no bit behind. */
import { ball, cubeErrors, cubeOf, handAndGone, LOADS, uniformError } from "../../../physics/methods/boundaryKit.ts";
import { YOUNG, POISSON } from "../../../physics/methods/kit.ts";
import { check, type Figure, type Progress } from "../figure.ts";
import { curves } from "../drawing/plots.ts";

/** Limits of the relative errors. */
const BALL = 0.01;
const CUBE = 0.03;
/**
 * Limit by quadrature. The rule of seven points is exact to degree 5. For kernels of 1/R^2 over triangles at a distance
 * of 1.5 edge lengths, each of the next two degrees leaves (1/1.5)^2 / 7!.
 */
const QUADRATURE = 1e-3;
const FINE = 12;

export const figure: Figure = {
  id: "boundary-elements",
  title: "A solid by its surface alone",
  source: "James and Pai 1999, sections 3 to 5; Physically Based Deformable Models, boundary element method",
  async run(size, progress: Progress = () => {}) {
    const full = size === "full";
    const checks = [];
    for (const n of [2, 4]) {
      const error = uniformError(await cubeOf(n), [0, 300, 0]);
      checks.push(
        check(`cube of ${n}³ cells under uniform tension: error`, error, { high: QUADRATURE, basis: "quadrature" }),
      );
    }
    const balls: [number, number][] = [];
    for (const divisions of [0, 1, 2, 3]) {
      const mesh = ball(divisions);
      balls.push([mesh.triangles.length / 3, uniformError(mesh, [-500, -500, -500])]);
    }
    const [triangles, error] = balls.at(-1)!;
    checks.push(check(`ball of ${triangles} triangles under pressure: error`, error, { high: BALL, basis: "target" }));
    progress(0.2, "cubes");
    const cubes = await cubeErrors(full ? [2, 3, 4, 6] : [4], FINE);
    for (const [n, errors] of cubes.entries())
      checks.push(
        check(`cube ${LOADS[n]}, ${errors.at(-1)![0]} triangles: error against elements`, errors.at(-1)![1], {
          high: CUBE,
          basis: "target",
        }),
      );
    const { moved, changed } = await handAndGone();
    checks.push(
      check("a grab pulls: largest displacement", moved, { unit: "m", low: 0.05 }),
      check("after its release: coordinates that differ from those before the grab", changed, {
        high: 0,
        basis: "target",
      }),
    );
    return {
      text: `A linear solid (E = ${YOUNG} Pa, nu = ${POISSON}) at rest, by Kelvin's solution over its triangles: displacements and tractions are linear on each, and values inside follow from the surface by the same integrals.

**Uniform stress** has a displacement that is linear in space, so that its elements represent it exactly, and only quadrature errs. The cube of 0.5 m is fixed at its bottom and pulled with 300 Pa, the ball of 1 m (a divided octahedron) is fixed at a cap and pressed with 500 Pa from all sides. Fixed particles have their exact displacements, -p (1 - 2 nu)/E x for the ball. The error is the largest on the surface and inside, over the largest displacement.

**The cube** stands fixed on the ground and is pulled up (1600 Pa), pushed aside (800 and 400 Pa) by its top, or carries its own weight on its bottom. The reference is finite elements of ${FINE}³ cells by separate code (linear tetrahedra, direct solver), at all common corners and inner points: the largest difference over the largest displacement. Finite elements are somewhat too stiff themselves, and at the edge of the fixed face stress has no bound. Where curves flatten, they show these errors. ${full ? "Weight acts inside, by Betti's theorem with matrices in the room's memory, which limits them to 4³ cells." : "Finer and coarser cubes are in the full report."}

**A grab** adds a spring at a corner by the capacitance matrix and removes it again. Nothing is factored again, and no trace remains: results are compared bit by bit.

Limits: no inertia, no large rotations, no free bodies.`,
      checks,
      plots: [
        {
          caption: "Error against triangles.",
          spec: curves(
            { title: "triangles", log: true },
            { title: "error", log: true },
            [
              { name: "ball under pressure", points: balls, style: "both" },
              ...cubes.map((points, n) => ({ name: `cube ${LOADS[n]}`, points, style: "both" as const })),
            ],
            [
              { y: CUBE, label: "target, cube" },
              { y: BALL, label: "target, ball" },
            ],
          ),
        },
      ],
      pictures: [],
    };
  },
};
