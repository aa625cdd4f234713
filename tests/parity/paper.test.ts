/**
 * The paper's form of every element, C = E, against its float64 twin: kernel/assembly/paper*.ts. Tolerance: 8 units. A
 * unit is the largest change of the twin's result when its inputs change by one float32 unit in the last place
 * (kit.ts). 256 units for Neo-Hookean elements with clamped singular values, which the kernel takes from F^T F
 * (hyperelastic.test.ts).
 */
import { CONSTRAINTS, type Elements } from "../../server/sim/constraints/kinds.ts";
import { triangleElements } from "../../server/sim/constraints/triangle.ts";
import { expect, test } from "vitest";
import { boxTets, gridCloth } from "../../server/meshing/generators.ts";
import { tetElements } from "../../server/sim/constraints/tetrahedra.ts";
import { bendElements } from "../../server/sim/constraints/bending.ts";
import { hyperElements } from "../../server/sim/constraints/hyperelastic.ts";
import type { HyperElements } from "../../server/sim/constraints/elements.ts";
import { lameCoefficients, neoHookean, stableNeoHookean } from "../../server/sim/scene/materialConstants.ts";
import { hyperelasticVolume } from "../../server/sim/reference/hyperelastic.ts";
import {
  DEFORMATIONS,
  deformed,
  HYPER_KINDS,
  inverseMasses,
  randomHyper,
  randomStencils,
  randomTets,
  randomTriangles,
  type Deform,
} from "./randomElements.ts";
import { inLong } from "../support/run/long.ts";
import { agrees } from "./agreement.ts";
import { distanceAt, makeKit, sizeOf, UNIT } from "./kit.ts";

const TOLERANCE = 8;
const CLAMPED = 256;
const COUNT = inLong(21, 9);
const H = 1 / 200;
const SHEETS = {
  isotropic: { kWeft: 1, kWarp: 1, kShear: 1 / 2.6, nuWeft: 0.3, nuWarp: 0.3 },
  "warp ten times stiffer, soft in shear": { kWeft: 1, kWarp: 10, kShear: 0.02, nuWeft: 0.04, nuWarp: 0.4 },
};

function compare(
  what: string,
  X: Float64Array,
  elements: Elements,
  deform: Deform,
  size: number,
  mass: number,
  tolerance = TOLERANCE,
): void {
  const masses = inverseMasses(X.length / 3, mass, 5);
  agrees(makeKit(elements, deformed(X, deform, size, 11), masses, H, "paper"), tolerance, what, 3);
}

for (const size of [1e-3, 0.1, 10]) {
  for (const k of [1, 1e5, 1e11]) {
    test(`elements of ${size} m and ${k} Pa agree with the twin`, () => {
      for (const [name, deform] of Object.entries(DEFORMATIONS)) {
        for (const nu of inLong([0, 0.3, 0.4999], size === 0.1 && k === 1e5 ? [0, 0.3, 0.4999] : [0.4999])) {
          const { X, elements } = randomTets(COUNT, size, k, nu);
          compare(`tetrahedra ${name}, nu ${nu}`, X, elements, deform, size, 1000 * size ** 3);
          for (const kind of HYPER_KINDS)
            compare(
              `${kind} tetrahedra ${name}, nu ${nu}`,
              X,
              randomHyper(kind, COUNT, size, k, nu).elements,
              deform,
              size,
              1000 * size ** 3,
              /flat|mirrored|place|third/.test(name) ? CLAMPED : TOLERANCE,
            );
        }
        for (const [material, unit] of Object.entries(SHEETS)) {
          const { X, elements } = randomTriangles(COUNT, size, {
            ...unit,
            kWeft: unit.kWeft * k,
            kWarp: unit.kWarp * k,
            kShear: unit.kShear * k,
          });
          compare(`${material} triangles ${name}`, X, elements, deform, size, 10 * size ** 3);
        }
        for (const flat of [true, false]) {
          const { X, elements } = randomStencils(COUNT, size, 1e-9 * k, flat);
          compare(`stencils ${name}, flat ${flat}`, X, elements, deform, size, 10 * size ** 3);
        }
      }
    });
  }
}

test("fixed corners keep every bit", () => {
  for (const pinned of [1, 2, 3]) {
    for (const { X, elements } of [
      randomTets(5, 0.1, 1e5, 0.3),
      randomTriangles(5, 0.1, SHEETS.isotropic),
      randomStencils(5, 0.1, 1, false),
    ] as { X: Float64Array; elements: Elements }[]) {
      const kit = makeKit(
        elements,
        deformed(X, DEFORMATIONS["strained by 20 %"]!, 0.1, 3),
        inverseMasses(X.length / 3, 0.1, 9, pinned),
        H,
        "paper",
      );
      const before = kit.kernelPositions();
      for (let iteration = 0; iteration < 3; iteration++) kit.iterate(iteration === 0);
      const after = kit.kernelPositions();
      for (let i = pinned - 1; i < X.length / 3; i += pinned)
        expect(distanceAt(before, after, i), elements.kind).toBe(0);
    }
  }
});

// No E is too small for a correction, and E = 0 causes no division by zero.
test("the first step halves every strain, however small", () => {
  for (const size of [1e-3, 1, 1e3]) {
    for (const strain of [1e-1, 1e-3, 1e-5]) {
      // one free particle along one edge, so that E is a function of one number and its double root halves the error
      const X = Float64Array.from([1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0].map((v) => size * v));
      const w = Float64Array.of(1, 0, 0, 0);
      const corners = Uint32Array.of(0, 1, 2, 3);
      const material = { youngsModulus: 1e6, poissonsRatio: 0 };
      for (const elements of [
        tetElements(X, corners, lameCoefficients(material)),
        hyperElements("neo-hookean", X, corners, neoHookean(material)),
        hyperElements("stable-neo-hookean", X, corners, stableNeoHookean(material)),
      ]) {
        const kit = makeKit(
          elements,
          X.map((x, k) => (k === 0 ? x * (1 + strain) : x)),
          w,
          H,
          "paper",
        );
        kit.iterate(true);
        // E is quadratic in the strain with a relative remainder of its order: the step is strain/2 (1 + O(strain));
        // float32 resolves 6e-8 of s
        expect(
          Math.abs((kit.kernelPositions()[0]! / size - 1) / strain - 0.5),
          `${elements.kind}, ${size} m, ${strain}`,
        ).toBeLessThan(0.5 * strain + (4 * UNIT) / strain);
      }
    }
  }
});

// Isotropic tetrahedra use their own axes (sim/constraints/tetrahedra.ts), where D_m^-1 is rounded. Each of the nine
// entries of F is a sum of three products, each wrong by the rounding of a factor and of the product: 6 units of |edge|
// |b| < 3 in these boxes. An element's step is half of the strain that it sees, so at most its edge times that.
test("an exact rest state keeps every bit, or rests up to the rounding of its axes", () => {
  const material = { youngsModulus: 1e5, poissonsRatio: 0.3 };
  const grid = (X: Float64Array): Float64Array => X.map((x) => Math.round(x * 64) / 64);
  const box = boxTets([0.5, 0.5, 0.5], [4, 4, 4]);
  const sheet = gridCloth([0.5, 0.5], [8, 8]);
  const cases: [Elements, Float64Array][] = [
    [tetElements(grid(box.positions), box.tets, lameCoefficients(material)), grid(box.positions)],
    [hyperElements("neo-hookean", grid(box.positions), box.tets, neoHookean(material)), grid(box.positions)],
    [
      hyperElements("stable-neo-hookean", grid(box.positions), box.tets, stableNeoHookean(material)),
      grid(box.positions),
    ],
    [triangleElements(grid(sheet.positions), sheet.triangles, SHEETS.isotropic, 0.001), grid(sheet.positions)],
    [bendElements(grid(sheet.positions), sheet.triangles, 1), grid(sheet.positions)],
  ];
  for (const [elements, X] of cases) {
    for (const at of [0, 1024]) {
      const kit = makeKit(
        elements,
        X.map((x) => x + at),
        inverseMasses(X.length / 3, 0.1, 5),
        H,
        "paper",
      );
      const before = kit.kernelPositions();
      for (let iteration = 0; iteration < 5; iteration++) kit.iterate(iteration === 0);
      const after = kit.kernelPositions();
      if (elements.kind === "tet")
        for (let i = 0; i < X.length / 3; i++)
          expect(distanceAt(after, before, i), `at ${at} m`).toBeLessThan(18 * UNIT * Math.SQRT2 * 0.125);
      else expect(after, `${elements.kind} at ${at} m`).toEqual(before);
    }
  }
});

test("Young's modulus cancels", () => {
  const moved = [1, 1e9].map((k) => {
    const { X, elements } = randomTets(COUNT, 0.1, k, 0.3);
    const x = deformed(X, DEFORMATIONS["strained by 20 %"]!, 0.1, 11);
    const kit = makeKit(elements, x, inverseMasses(4 * COUNT, 1, 5), H, "paper");
    kit.iterate(true);
    return kit.kernelPositions();
  });
  for (let i = 0; i < 4 * COUNT; i++) expect(distanceAt(moved[0]!, moved[1]!, i)).toBeLessThan(64 * UNIT * 0.1);
});

test("flat, mirrored and collapsed tetrahedra recover; a flat triangle opens", () => {
  const X = Float64Array.from([1, 1, 1, -1, 1, -1, 1, -1, -1, -1, -1, 1].map((v) => 0.05 * v));
  const corners = Uint32Array.of(0, 2, 1, 3);
  const material = { youngsModulus: 1e6, poissonsRatio: 0.3 };
  for (const elements of [
    tetElements(X, corners, lameCoefficients(material)),
    hyperElements("neo-hookean", X, corners, neoHookean(material)),
    hyperElements("stable-neo-hookean", X, corners, stableNeoHookean(material)),
  ])
    for (const squash of [-1, -0.3, 0, 0.01]) {
      const kit = makeKit(
        elements,
        X.map((x, k) => (k % 3 === 0 ? squash * x : squash === 0 ? 0 : x)),
        inverseMasses(4, 1, 5),
        H,
        "paper",
      );
      for (let n = 0; n < 100; n++) kit.iterate(true);
      const volume = (x: Float64Array): number =>
        hyperelasticVolume(x, elements as HyperElements, 0) / elements.volume[0]!;
      expect(volume(kit.kernelPositions()), `${elements.kind}, x times ${squash}`).toBeCloseTo(1, 2);
      expect(volume(kit.particles.x), `${elements.kind}, x times ${squash}, twin`).toBeCloseTo(1, 2);
    }
  const sheet = randomTriangles(COUNT, 0.1, SHEETS.isotropic);
  for (const [name, place] of Object.entries({
    line: (x: Float64Array, k: number) => [1, 2, -1][k % 3]! * x[3 * Math.floor(k / 3)]!,
    point: () => 0.01,
  })) {
    const kit = makeKit(
      sheet.elements,
      sheet.X.map((_, k, x) => place(x, k)),
      inverseMasses(3 * COUNT, 1, 5),
      H,
      "paper",
    );
    const twin = CONSTRAINTS.triangle.twin;
    const energy = (x: Float64Array, i: number): number => twin.energy!(x, kit.elements as never, i);
    const before = Array.from({ length: COUNT }, (_, i) => energy(kit.kernelPositions(), i));
    // masses up to 11 to 1 and sharp corners make some of them slow
    for (let n = 0; n < 1000; n++) kit.iterate(true);
    const after = kit.kernelPositions();
    before.forEach((E, i) => {
      expect(energy(after, i), `on a ${name}, triangle ${i}`).toBeLessThan(1e-6 * E);
      expect(sizeOf(after, [3 * i, 3 * i + 1, 3 * i + 2])).toBeLessThan(0.5);
    });
  }
});
