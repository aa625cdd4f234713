/**
 * The orthotropic and plastic parts of kernel/assembly/constraints/tetrahedron.ts and inversion.ts, and the flow of
 * plasticity.ts, against their float64 twins.
 *
 * Tolerance of the solve: 8 units as in tetrahedron.test.ts. Tolerance of the flow: plastic strains of order one are
 * sums of strains that float32 holds to 2^-24 of |F|^2, each a sum of about ten products: 32 units of 1 + |F|^2.
 */
import { expect, test } from "vitest";
import { orthotropicElements, plasticElements } from "../../server/sim/constraints/tetrahedra.ts";
import type { OrthotropicTetElements, PlasticTetElements } from "../../server/sim/constraints/elements.ts";
import {
  isotropicCompliance,
  orthotropicCompliance,
  type OrthotropicCompliance,
} from "../../server/sim/scene/materialConstants.ts";
import { orthotropicEnergy, orthotropicGradient, strainNorm } from "../../server/sim/reference/orthotropic.ts";
import { flow } from "../../server/sim/reference/plasticity.ts";
import {
  deformationGradient,
  tetrahedronEnergy,
  tetrahedronGradient,
  tetrahedronVolume,
} from "../../server/sim/reference/tetrahedron.ts";
import { svd } from "../../server/sim/reference/svd.ts";
import { cross, norm, type Vector } from "../../server/sim/reference/vector.ts";
import { inLong } from "../support/run/long.ts";
import { DEFORMATIONS, deformed, inverseMasses, randomTets } from "./randomElements.ts";
import { agrees } from "./agreement.ts";
import { makeKit, randomStream, UNIT } from "./kit.ts";
import { recovers } from "./solidChecks.ts";

const TOLERANCE = 8;
const COUNT = inLong(21, 9);
/** Wood, strong along 1 and weak in shear; and rubber. */
const WOOD = (k: number): OrthotropicCompliance =>
  orthotropicCompliance({
    youngsModuli: [k, 0.2 * k, 0.1 * k],
    poissonsRatios: [0.4, 0.3, 0.5],
    shearModuli: [0.08 * k, 0.02 * k, 0.06 * k],
  });
const RUBBER = (k: number): OrthotropicCompliance => isotropicCompliance({ youngsModulus: k, poissonsRatio: 0.4999 });

function elementsOf(
  kind: "elastic" | "plastic",
  compliance: OrthotropicCompliance,
  size: number,
  count = COUNT,
): { X: Float64Array; elements: OrthotropicTetElements | PlasticTetElements } {
  const {
    X,
    elements: { particles },
  } = randomTets(count, size, 1, 0);
  const axes: [number, number, number] = [20, -50, 70];
  const random = randomStream(31);
  if (kind === "elastic") return { X, elements: orthotropicElements(X, particles, compliance, axes) };
  const elements = plasticElements(X, particles, compliance, { yield: 0.02, creep: 30, max: 0.25 }, axes);
  elements.plasticStrain.forEach((_, k) => (elements.plasticStrain[k] = 0.1 * random()));
  return { X, elements };
}

for (const kind of ["elastic", "plastic"] as const) {
  for (const [material, compliance] of [
    ["wood", WOOD],
    ["rubber", RUBBER],
  ] as const) {
    test.each([
      [1e-3, 1],
      [0.1, 1e4],
      [0.1, 1e9],
      [10, 1e6],
    ])(`${kind}, ${material}: elements of %s m and %s Pa agree with the twin, four iterations each`, (size, k) => {
      for (const [name, deform] of Object.entries(DEFORMATIONS)) {
        const { X, elements } = elementsOf(kind, compliance(k), size);
        const masses = inverseMasses(4 * COUNT, 1000 * size ** 3, 5);
        agrees(makeKit(elements, deformed(X, deform, size, 11), masses, 1 / 240), TOLERANCE, name);
      }
    });
  }
}

test.each([
  ["elastic", WOOD],
  ["plastic", RUBBER],
] as const)("the paper's form of %s elements agrees with the twin", (kind, compliance) => {
  for (const [name, deform] of Object.entries(DEFORMATIONS)) {
    const size = 0.1;
    const { X, elements } = elementsOf(kind, compliance(1e5), size);
    // E is only rounding here: half a step in a random direction
    if (kind === "elastic" && (name === "undeformed" || name.startsWith("a thousand"))) continue;
    const kit = makeKit(elements, deformed(X, deform, size, 11), inverseMasses(4 * COUNT, 1, 5), 1 / 240, "paper");
    agrees(kit, TOLERANCE, name, 1);
  }
});

test("with isotropic constants it equals the isotropic element, in any axes", () => {
  const size = 0.1;
  const { X, elements: plain } = randomTets(COUNT, size, 1e5, 0.35);
  const compliance = isotropicCompliance({ youngsModulus: 1e5, poissonsRatio: 0.35 });
  const elements = orthotropicElements(X, plain.particles, compliance, [40, 10, -70]);
  const x = deformed(X, DEFORMATIONS["strained by 20 %"]!, size, 11);
  for (let i = 0; i < COUNT; i++) {
    if (svd(deformationGradient(x, plain, i)).sigma[2] < 0.6) continue;
    const force = Math.max(...tetrahedronGradient(x, plain, i).flat().map(Math.abs));
    expect(Math.abs(orthotropicEnergy(x, elements, i) - tetrahedronEnergy(x, plain, i))).toBeLessThan(
      1e-10 * force * size,
    );
    orthotropicGradient(x, elements, i).forEach((g, c) =>
      g.forEach((v, r) => expect(Math.abs(v - tetrahedronGradient(x, plain, i)[c]![r]!)).toBeLessThan(1e-10 * force)),
    );
  }
});

/** Torque of an element on itself: sum_j x_j x dE/dx_j. */
function torqueOf(x: Float64Array, corners: readonly number[], gradient: readonly Vector[]): number {
  return norm(
    corners
      .map((c, j) => cross([x[3 * c]!, x[3 * c + 1]!, x[3 * c + 2]!], gradient[j]!))
      .reduce((a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]]),
  );
}

// Central differences as in gradients.test.ts. Where the continued energy is not conservative (sigma_i + sigma_j <
// 1/sqrt 3), only the torque is tested.
test.each(Object.entries(DEFORMATIONS))("gradient of the continued energy without torque: %s", (name, deform) => {
  if (name === "undeformed" || name.startsWith("a thousand")) return;
  const size = 0.5;
  const step = 1e-6 * size;
  let compared = 0;
  for (const kind of ["elastic", "plastic"] as const) {
    const { X, elements } = elementsOf(kind, WOOD(1e4), size);
    const x = deformed(X, deform, size, 5);
    for (let i = 0; i < COUNT; i++) {
      const g = orthotropicGradient(x, elements, i);
      const force = Math.max(...g.flat().map(Math.abs));
      const corners = [0, 1, 2, 3].map((c) => elements.particles[4 * i + c]!);
      const reach = Math.max(...corners.map((c) => Math.max(...[0, 1, 2].map((r) => Math.abs(x[3 * c + r]!)))));
      expect(torqueOf(x, corners, g)).toBeLessThan(1e-9 * force * reach);
      const { sigma } = svd(deformationGradient(x, elements, i));
      if (sigma[1] + sigma[2] < 0.6) continue;
      compared++;
      for (const c of corners) {
        for (let r = 0; r < 3; r++) {
          const up = Float64Array.from(x);
          const down = Float64Array.from(x);
          up[3 * c + r]! += step;
          down[3 * c + r]! -= step;
          const difference = (orthotropicEnergy(up, elements, i) - orthotropicEnergy(down, elements, i)) / (2 * step);
          expect(Math.abs(g[corners.indexOf(c)]![r]! - difference), `${kind}, element ${i}`).toBeLessThan(
            1e-5 * (force + 1e-6),
          );
        }
      }
    }
  }
  // a mirror image has -0.9 beside 1: no gradient to compare
  expect(compared > 1).toBe(name !== "mirrored and strained");
});

test.each<[string, (X: Float64Array, corners: Uint32Array) => OrthotropicTetElements | PlasticTetElements]>([
  ["orthotropic", (X, corners) => orthotropicElements(X, corners, WOOD(1e6), [20, -50, 70])],
  ["plastic", (X, corners) => plasticElements(X, corners, WOOD(1e6), { yield: 0.1, creep: 1, max: 0.2 })],
])("%s: a mirrored, a flat and a collapsed element recover, in kernel and twin", (_, make) => {
  recovers(make, (x, elements) => tetrahedronVolume(x, elements, 0) / elements.volume[0]!, 1000);
});

test("plastic flow agrees with the twin below yield, between and at the limit, and for mirrored elements", () => {
  const size = 0.1;
  const h = 1 / 240;
  for (const [name, deform] of Object.entries(DEFORMATIONS)) {
    if (name.startsWith("a thousand")) continue;
    const { X, elements } = elementsOf("plastic", WOOD(1e5), size);
    const e = elements as PlasticTetElements;
    const x = deformed(X, deform, size, 11);
    const kit = makeKit(elements, x, inverseMasses(4 * COUNT, 1, 5), h);
    const twin = kit.elements as PlasticTetElements;
    const before = Float64Array.from(twin.plasticStrain);
    kit.align();
    for (let step = 0; step < 3; step++) {
      kit.endSubstep(h);
      flow(kit.particles.x, twin, Math.fround(h));
    }
    const kernel = kit.state();
    for (let i = 0; i < COUNT; i++) {
      const stretch = tetrahedronVolume(x, e, i) / e.volume[i]!;
      // rounding decides about the clamp
      if (Math.abs(svd(deformationGradient(x, e, i)).sigma[2] - Math.sqrt(1 / 3)) < 1e-5) continue;
      const six = (a: Float64Array): number[] => [...a.subarray(6 * i, 6 * i + 6)];
      const F = deformationGradient(x, e, i).flat();
      const now = six(kernel);
      expect(strainNorm(now.map((s, k) => s - six(twin.plasticStrain)[k]!)), `${name}, element ${i}`).toBeLessThan(
        32 * UNIT * (1 + F.reduce((s, f) => s + f * f, 0)),
      );
      if (stretch < 0) expect(now).toEqual(six(before));
      else if (name === "dilated" || name === "stretched to three times its length")
        expect(strainNorm(now.map((s, k) => s - six(before)[k]!))).toBeGreaterThan(0.001);
    }
  }
});
