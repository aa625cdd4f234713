/**
 * The twins' gradients against central finite differences of their energies, because parity tests rely on the twins.
 * Tolerance: a central difference of step d errs by about d^2 of the third derivative and by float64 rounding 1e-16/d
 * of the energy; at d = 1e-6 edges both are below 1e-8 of the forces. The second derivative of the continued energy has
 * kinks at 1/sqrt 3, where the difference is of first order in d: 1e-5.
 */
import { bendingEnergy, bendingGradient } from "../../server/sim/reference/bending.ts";
import { distanceValue } from "../../server/sim/constraints/distance.ts";
import { hexahedronValue } from "../../server/sim/constraints/hexahedron.ts";
import { volumeValue } from "../../server/sim/constraints/volume.ts";
import { expect, test } from "vitest";
import { hyperelasticEnergy, hyperelasticGradient } from "../../server/sim/reference/hyperelastic.ts";
import { strainOf, tetrahedronEnergy, tetrahedronGradient } from "../../server/sim/reference/tetrahedron.ts";
import { svd } from "../../server/sim/reference/svd.ts";
import { triangleEnergy, triangleGradient } from "../../server/sim/reference/triangle.ts";
import {
  determinant,
  diagonal,
  multiply,
  scale,
  transpose,
  type Matrix,
  type Vector,
} from "../../server/sim/reference/vector.ts";
import {
  DEFORMATIONS,
  deformed,
  HYPER_KINDS,
  randomDistances,
  randomHexahedra,
  randomHyper,
  randomVolumes,
  randomStencils,
  randomTets,
  randomTriangles,
} from "./randomElements.ts";
import { randomStream } from "./kit.ts";

const STEP = 1e-6;
const COUNT = 12;
const SIZE = 0.5;

function check(
  name: string,
  x: Float64Array,
  corners: number,
  energy: (x: Float64Array, i: number) => number,
  gradient: (x: Float64Array, i: number) => readonly Vector[],
): void {
  for (let i = 0; i < COUNT; i++) {
    const g = gradient(x, i);
    const E = energy(x, i);
    const scale = 1e-6 + E / SIZE + Math.max(...g.flat().map(Math.abs));
    for (let c = 0; c < corners; c++) {
      for (let r = 0; r < 3; r++) {
        const k = 3 * (corners * i + c) + r;
        const up = Float64Array.from(x);
        const down = Float64Array.from(x);
        up[k]! += STEP * SIZE;
        down[k]! -= STEP * SIZE;
        const difference = (energy(up, i) - energy(down, i)) / (2 * STEP * SIZE);
        expect(
          Math.abs(g[c]![r]! - difference),
          `${name}, element ${i}, corner ${c}, axis ${r}: ${g[c]![r]} against ${difference}`,
        ).toBeLessThanOrEqual(1e-5 * scale);
      }
    }
  }
}

for (const [name, deform] of Object.entries(DEFORMATIONS)) {
  if (name === "undeformed" || name.startsWith("a thousand")) continue;
  test(`gradients of tetrahedra, triangles and stencils ${name} are derivatives of their energies`, () => {
    const tets = randomTets(COUNT, SIZE, 1e4, 0.35);
    check(
      "tetrahedron",
      deformed(tets.X, deform, SIZE, 5),
      4,
      (x, i) => tetrahedronEnergy(x, tets.elements, i),
      (x, i) => tetrahedronGradient(x, tets.elements, i),
    );
    for (const kind of HYPER_KINDS) {
      for (const nu of [0, 0.35, 0.49]) {
        const hyper = randomHyper(kind, COUNT, SIZE, 1e4, nu);
        const tangled = { ...hyper.elements, tangled: true };
        check(
          `${kind}, nu ${nu}, tangled`,
          deformed(hyper.X, deform, SIZE, 5),
          4,
          (x, i) => hyperelasticEnergy(x, tangled, i),
          (x, i) => hyperelasticGradient(x, tangled, i),
        );
        check(
          `${kind}, nu ${nu}`,
          deformed(hyper.X, deform, SIZE, 5),
          4,
          (x, i) => hyperelasticEnergy(x, hyper.elements, i),
          (x, i) => hyperelasticGradient(x, hyper.elements, i),
        );
      }
    }
    const sheet = randomTriangles(COUNT, SIZE, { kWeft: 1e4, kWarp: 3e4, kShear: 2e3, nuWeft: 0.1, nuWarp: 0.3 });
    check(
      "triangle",
      deformed(sheet.X, deform, SIZE, 5),
      3,
      (x, i) => triangleEnergy(x, sheet.elements, i),
      (x, i) => triangleGradient(x, sheet.elements, i),
    );
    for (const flat of [true, false]) {
      const bends = randomStencils(COUNT, SIZE, 2, flat);
      check(
        `stencil, flat ${flat}`,
        deformed(bends.X, deform, SIZE, 5),
        4,
        (x, i) => bendingEnergy(x, bends.elements, i),
        (x, i) => bendingGradient(x, bends.elements, i),
      );
    }
  });
}

test("for distances and volumes the gradient of C is that of C^2/2 divided by C", () => {
  const distances = randomDistances(COUNT, SIZE, { compliance: 1 }, false);
  const volumes = randomVolumes(COUNT, SIZE, { compliance: 1 }, false);
  const cubes = randomHexahedra(COUNT, SIZE, 1);
  const both = (
    name: string,
    X: Float64Array,
    corners: number,
    value: (x: Float64Array, i: number) => { C: number; gradient: Vector[] },
  ): void =>
    check(
      name,
      deformed(X, DEFORMATIONS["strained by 20 %"]!, SIZE, 5),
      corners,
      (x, i) => value(x, i).C ** 2 / 2,
      (x, i) => {
        const { C, gradient } = value(x, i);
        return gradient.map((g) => scale(C, g));
      },
    );
  both("distance", distances.X, 2, (x, i) => distanceValue(x, distances.elements, i));
  both("volume", volumes.X, 4, (x, i) => volumeValue(x, volumes.elements, i));
  for (const cut of [0, 1] as const)
    both(`hexahedron, cut ${cut}`, cubes.X, 8, (x, i) => hexahedronValue(x, cubes.elements, i, cut));
});

test("a rest shape has neither energy nor forces", () => {
  const tets = randomTets(COUNT, SIZE, 1e4, 0.35);
  const sheet = randomTriangles(COUNT, SIZE, { kWeft: 1e4, kWarp: 3e4, kShear: 2e3, nuWeft: 0.1, nuWarp: 0.3 });
  for (let i = 0; i < COUNT; i++) {
    expect(tetrahedronEnergy(tets.X, tets.elements, i)).toBeLessThan(1e-20);
    expect(triangleEnergy(sheet.X, sheet.elements, i)).toBeLessThan(1e-20);
    for (const flat of [true, false]) {
      const bends = randomStencils(COUNT, SIZE, 2, flat);
      expect(bendingEnergy(bends.X, bends.elements, i)).toBeLessThan(1e-20);
    }
  }
});

test("energies are invariant under rigid motions, and mirrored tetrahedra are not at rest", () => {
  const tets = randomTets(COUNT, SIZE, 1e4, 0.35);
  const c = Math.cos(0.7);
  const s = Math.sin(0.7);
  const x = deformed(tets.X, DEFORMATIONS["strained by 20 %"]!, SIZE, 5);
  const turned = deformed(x, ([a, b, d]) => [c * a - s * d + 3, b - 2, s * a + c * d + 1], SIZE, 5);
  for (let i = 0; i < COUNT; i++) {
    expect(tetrahedronEnergy(turned, tets.elements, i) / tetrahedronEnergy(x, tets.elements, i)).toBeCloseTo(1, 9);
    expect(
      tetrahedronEnergy(
        tets.X.map((v, k) => (k % 3 ? v : -v)),
        tets.elements,
        i,
      ),
    ).toBeGreaterThan(0.1 * 1e4 * tets.elements.volume[i]!);
  }
});

test("the singular value decomposition reproduces the matrix, with rotations on both sides", () => {
  const random = randomStream(23);
  const kinds: ((m: number[]) => number[])[] = [
    (m) => m,
    (m) => m.map((v, k) => (k < 3 ? 0 : v)),
    (m) => m.map((v, k) => v * (k % 3 === 0 ? 1 : 1e-9)),
    () => [0, 0, 0, 0, 0, 0, 0, 0, 0],
    () => [-1, 0, 0, 0, 1, 0, 0, 0, 1],
    () => [1, 0, 0, 0, 1, 0, 0, 0, 1],
  ];
  for (let n = 0; n < 300; n++) {
    const m = kinds[n % kinds.length]!(Array.from({ length: 9 }, random));
    const F: Matrix = [
      [m[0]!, m[1]!, m[2]!],
      [m[3]!, m[4]!, m[5]!],
      [m[6]!, m[7]!, m[8]!],
    ];
    const { U, sigma, V } = svd(F);
    const back = multiply(U, multiply(diagonal(sigma), transpose(V)));
    for (let a = 0; a < 3; a++)
      for (let b = 0; b < 3; b++) expect(Math.abs(back[a]![b]! - F[a]![b]!)).toBeLessThan(1e-12);
    expect(determinant(U)).toBeCloseTo(1, 12);
    expect(determinant(V)).toBeCloseTo(1, 12);
    expect(sigma[0]).toBeGreaterThanOrEqual(sigma[1]);
    expect(sigma[1]).toBeGreaterThanOrEqual(Math.abs(sigma[2]) - 1e-12);
  }
});

// Figure 2 b of the paper: the stress of a compressed element stops decreasing at 58 % and stays there, so that flat
// and inverted elements recover.
test("the force that opens an element never falls below its maximum under compression", () => {
  const stress = (s: number): number =>
    strainOf([
      [1, 0, 0],
      [0, 1, 0],
      [0, 0, s],
    ]).M1[2][2];
  const turning = stress(1 / Math.sqrt(3));
  for (const s of [0.57, 0.3, 0.01, 0, -0.01, -0.5, -0.99]) expect(stress(s)).toBeCloseTo(turning, 12);
  for (const s of [0.58, 0.7, 0.9]) expect(Math.abs(stress(s))).toBeLessThan(Math.abs(turning));
});
