/**
 * Figure 3 of Bender et al. 2014: energy of the bending stencil against the printed formula and a plate, and its
 * invariance under rigid motions.
 */
import { bendingEnergy } from "../../../../server/sim/reference/bending.ts";
import { gridCloth } from "../../../../server/meshing/generators.ts";
import { bendElements } from "../../../../server/sim/constraints/bending.ts";
import { laboratory } from "../../../physics/laboratory.ts";
import { randomStencils } from "../../../parity/randomElements.ts";
import { check, type Figure } from "../figure.ts";
import { photographMeshes, COLORS } from "../drawing/photograph.ts";
import { curves } from "../drawing/plots.ts";

type V = [number, number, number];
const at = (x: Float64Array, p: number): V => [x[3 * p]!, x[3 * p + 1]!, x[3 * p + 2]!];
const sub = (a: V, b: V): V => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const dot = (a: V, b: V): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a: V, b: V): V => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
/** Cotangent of the angle at `corner` between the directions to a and b. */
const cot = (corner: V, a: V, b: V): number =>
  dot(sub(a, corner), sub(b, corner)) / Math.hypot(...cross(sub(a, corner), sub(b, corner)));

/**
 * E_b = B/2 sum_ij Q_ij x_i . x_j, Q = 3/(A0 + A1) K^T K with K of the cotangents, as printed in section 4.3: from the
 * rest shape X and positions x.
 */
function formula(X: Float64Array, x: Float64Array, [p0, p1, p2, p3]: number[], B: number): number {
  const [X0, X1, X2, X3] = [p0, p1, p2, p3].map((p) => at(X, p!)) as [V, V, V, V];
  // e0 = x0x1 common; e1 = x1x2, e2 = x2x0 of one triangle; e3 = x0x3, e4 = x3x1 of the other
  const c01 = cot(X1, X0, X2);
  const c02 = cot(X0, X1, X2);
  const c03 = cot(X0, X1, X3);
  const c04 = cot(X1, X0, X3);
  const K = [c01 + c04, c02 + c03, -c01 - c02, -c03 - c04];
  const area = (a: V, b: V, c: V): number => Math.hypot(...cross(sub(b, a), sub(c, a))) / 2;
  const Q = 3 / (area(X0, X1, X2) + area(X0, X1, X3));
  const corners = [p0, p1, p2, p3].map((p) => at(x, p!));
  let energy = 0;
  for (let i = 0; i < 4; i++)
    for (let j = 0; j < 4; j++) energy += 0.5 * B * Q * K[i]! * K[j]! * dot(corners[i]!, corners[j]!);
  return energy;
}

/** Energy of a sheet of 1 m^2 bent to a cylinder across x, over B/2 kappa^2. */
function cylinder(cells: number, kappa: number): number {
  const { positions: X, triangles } = gridCloth([1, 1], [cells, cells]);
  const e = bendElements(X, triangles, 1);
  const bent = X.map(
    (v, k) => [Math.sin(kappa * X[k - (k % 3)]!) / kappa, (1 - Math.cos(kappa * X[k - (k % 3)]!)) / kappa, v][k % 3]!,
  );
  let energy = 0;
  for (let i = 0; i < e.alpha.length; i++) energy += bendingEnergy(bent, e, i);
  return energy / (kappa ** 2 / 2);
}

export const figure: Figure = {
  id: "fig3",
  title: "The bending stencil",
  source: "Bender et al. 2014, section 4.3 and figure 3; Bergou et al. 2006",
  async run(size) {
    const B = 0.7;
    const { X, elements } = randomStencils(40, 0.5, B, true, 5);
    let worst = 0;
    for (const bent of [0.1, 0.5, 2]) {
      const x = X.map((v, k) => v + (k % 3 === 2 ? bent * Math.sin(17 * k) * 0.3 : 0));
      for (let i = 0; i < elements.alpha.length; i++) {
        const corners = [...elements.particles.subarray(4 * i, 4 * i + 4)];
        const printed = formula(X, x, corners, B);
        const ours = bendingEnergy(x, elements, i);
        worst = Math.max(worst, Math.abs((3 * ours) / printed - 1));
      }
    }
    const cells = size === "full" ? [4, 8, 16, 32, 64] : [4, 16];
    const energies = cells.map((n): [number, number] => [n, cylinder(n, 0.2)]);
    // at rest a kilometer away and turned: nothing may move
    const lab = await laboratory({
      worldRadius: 10000,
      bodies: [
        {
          name: "s",
          kind: "cloth",
          mesh: { type: "grid", size: [1, 1], cells: [8, 8] },
          transform: { rotate: [20, 40, 60], translate: [1000, 10, -500] },
          material: { density: 300, thickness: 0.001, youngsModulus: 1e5, poissonsRatio: 0.3, bendingStiffness: 1e-3 },
        },
      ],
    });
    const before = lab.positions();
    lab.run(60);
    const drift = Math.max(...lab.positions().map((v, k) => Math.abs(v - before[k]!)));
    const { positions, triangles } = gridCloth([1, 1], [16, 16]);
    const bent = positions.map(
      (v, k) => [Math.sin(2 * positions[k - (k % 3)]!) / 2, (1 - Math.cos(2 * positions[k - (k % 3)]!)) / 2, v][k % 3]!,
    );
    return {
      text: `The energy of the solver's stencils is compared with the printed formula, written here from the paper alone (cotangents of the five edges' angles, Q = 3/(A0 + A1) K^T K, E = 1/2 sum Q_ij x_i x_j), for 40 random stencils in three bent states each.

The paper does not define its stiffness. Ours is the flexural rigidity B of a plate in N m: E = B/2 kappa^2 per area. For a sheet of squares that requires **a third of the printed Q**. The checks cover that factor, and the energy of a sheet bent to a cylinder, which tends to the plate's as the cells get finer (the rim bends only half a cell on either side). \`elastica\` shows how the rigidity of such hinges depends on direction, and which stencils or weights flat sheets get instead.`,
      checks: [
        check("solver's energy over a third of B times the printed formula: largest relative difference ", worst, {
          high: 1e-7,
          basis: "the printed form cancels 8 of 16 digits",
        }),
        check(
          `cylinder of ${cells.at(-1)} x ${cells.at(-1)} cells: energy over B/2 kappa^2 of the area`,
          energies.at(-1)![1],
          { low: 1 - 1.5 / cells.at(-1)!, high: 1.001, basis: "half a cell of rim on either side" },
        ),
        check("a sheet at rest, turned, 1 km from the origin: largest movement in a second", drift, {
          unit: "m",
          high: 6.2e-5,
          basis: "float32: a last place at 1 km",
        }),
      ],
      plots: [
        {
          caption: "Energy of a cylinder over the plate's, by cells along the sheet.",
          spec: curves({ title: "cells", log: true }, { title: "energy / plate's" }, [
            { name: "measured", points: energies, style: "both" },
            {
              name: "1 - 1/cells: without the rim",
              points: cells.map((n): [number, number] => [n, 1 - 1 / n]),
              style: "dashed",
            },
          ]),
        },
      ],
      pictures: [
        photographMeshes([{ positions: bent, triangles, color: COLORS[1]!, edges: true }], {
          caption: "A sheet of 16 x 16 cells bent to a cylinder of radius half a meter.",
          ground: null,
        }),
      ],
    };
  },
};
