/** Boundary elements: uniform stress, a cube against finite elements, and a hand that leaves no bit behind. */
import { ball, cubeErrors, cubeOf, handAndGone, LOADS, uniformError } from "../../physics/methods/boundaryKit.ts";
import { YOUNG, POISSON } from "../../physics/methods/kit.ts";
import { check, type Figure, type Progress } from "./figure.ts";
import { curves } from "./plots.ts";

/** The targets. */
const BALL = 0.01;
const CUBE = 0.03;
/**
 * The rule of seven points is exact to degree 5, and kernels of 1/R^2 over triangles 1.5 times as far away as they are
 * long leave (1/1.5)^2 / 7! of it in the next ones, twice over.
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
      check("a hand pulls: what it moves", moved, { unit: "m", low: 0.05 }),
      check("it lets go: coordinates with other bits than before it came", changed, { high: 0, basis: "target" }),
    );
    return {
      text: `A linear solid (E = ${YOUNG} Pa, nu = ${POISSON}) at rest, by Kelvin's solution over its triangles: displacements and tractions are linear on each, and inside follows from the surface by the same integrals.

**Uniform stress** has a displacement that is linear in space, so that its elements carry it exactly: what is wrong is quadrature. The cube of 0.5 m is held at its bottom and pulled with 300 Pa, the ball of 1 m (a divided octahedron) is held at a cap and pressed with 500 Pa from everywhere; held means that displacements there are the exact ones, -p (1 - 2 nu)/E x for the ball. The error is the largest on the surface and inside, over the largest displacement.

**The cube** stands fixed on the ground and is pulled up (1600 Pa), pushed aside (800 and 400 Pa) by its top, or hangs its own weight on its bottom. The reference is finite elements of ${FINE}³ cells by code of their own (linear tetrahedra, direct solver), at all corners and points inside that both have; largest difference over largest displacement. Those are somewhat too stiff themselves, and at the edge of what is fixed stress has no bound: where curves flatten, they measure that. ${full ? "Its weight acts inside, by Betti's theorem on matrices that a room keeps: those have room up to 4³ cells." : "Finer and coarser cubes are in the full report."}

**A hand** adds a spring at a corner by the capacitance matrix and takes it away again: nothing is factored anew, and nothing remembers it. Bits, not digits, are compared.

What it cannot: inertia, large rotations, bodies that nothing holds.`,
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
