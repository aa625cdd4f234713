/**
 * The thesis's fit of the hexahedral element, compared with the published numbers.
 *
 * Tolerances: a printed coefficient is rounded to 5e-5, so a polynomial up to nu = 1/2 is known to 5e-5 (1 + 1/2 + 1/4
 * + 1/8) < 1e-4. The mean squares of table 4.1 are printed to four or five digits and depend on where the thesis's
 * descent stopped: 1 %.
 */
import {
  cubeSprings,
  publishedCoefficients,
  publishedNorm,
  publishedTimeStep,
} from "../../server/sim/constraints/hexahedron.ts";
import { describe, expect, test } from "vitest";
import {
  evaluate,
  fitCoefficients,
  fitPolynomial,
  NAMES,
  PUBLISHED,
  referenceMatrix,
  refit,
  relativeError,
  samples,
} from "./hexahedralFit.ts";
import {
  cubeCorners,
  finiteElement,
  elasticity,
  frobenius,
  latticeModuli,
  springMatrix,
} from "./hexahedralStiffness.ts";

describe("the finite element", () => {
  const K = finiteElement(elasticity(1.5, 0.7, 0.7), 0.3);
  const X = cubeCorners(0.3);

  test("rigid motions cost no energy, and the matrix is symmetric", () => {
    const motions = [
      ...[0, 1, 2].map((r) => X.map((_, k) => (k % 3 === r ? 1 : 0))),
      X.map((_, k) => [-X[k + 1]!, X[k - 1]!, 0][k % 3]!),
    ];
    for (const u of motions)
      for (let i = 0; i < 24; i++)
        expect(Math.abs(u.reduce((sum, v, j) => sum + K[24 * i + j]! * v, 0))).toBeLessThan(1e-14);
    for (let i = 0; i < 24; i++) for (let j = 0; j < i; j++) expect(K[24 * i + j]! - K[24 * j + i]!).toBeCloseTo(0, 14);
  });

  test("a uniform strain stores the energy of the material", () => {
    const { k, nu, G } = latticeModuli(K, 0.3);
    expect(k).toBeCloseTo((0.7 * (3 * 1.5 + 2 * 0.7)) / (1.5 + 0.7), 12);
    expect(nu).toBeCloseTo(1.5 / (2 * (1.5 + 0.7)), 12);
    expect(G).toBeCloseTo(0.7, 12);
  });

  test("the solver's norm agrees with the norm by quadrature", () => {
    for (const nu of [0, 0.2, 0.4, 0.49]) {
      expect(publishedNorm(1, nu, 2) / frobenius(referenceMatrix(nu, "thesis"))).toBeCloseTo(1, 12);
      expect(publishedNorm(7, nu, 0.1)).toBeCloseTo((7 * 0.1 * publishedNorm(1, nu, 2)) / 2, 12);
    }
    expect(publishedTimeStep(0.3, 7, 0.2, 0.1)).toBeCloseTo(Math.sqrt(0.3 / publishedNorm(7, 0.2, 0.1)), 15);
  });
});

test("a fit recovers a polynomial from its values", () => {
  const p = [2, -3, 0.5, 7];
  const x = Array.from({ length: 20 }, (_, i) => 0.29 + 0.01 * i);
  fitPolynomial(
    x,
    x.map((v) => evaluate(p, v)),
    3,
  ).forEach((c, d) => expect(c).toBeCloseTo(p[d]!, 8));
});

test.each(PUBLISHED)("$name, low range $low: the refitted polynomial agrees with the published one", (p) => {
  const again = refit(p);
  for (const nu of samples(p.low))
    expect(Math.abs(evaluate(again.coefficients, nu) - evaluate(p.coefficients, nu)), `nu ${nu}`).toBeLessThan(1e-4);
  expect(Math.abs(again.meanSquare / p.meanSquare - 1)).toBeLessThan(0.01);
});

test("the solver's polynomials are the published ones, clamped at zero", () => {
  for (const low of [true, false]) {
    for (const nu of samples(low).slice(low ? 0 : 1)) {
      publishedCoefficients(nu).forEach((k, j) =>
        expect(k).toBeCloseTo(
          Math.max(0, evaluate(PUBLISHED.find((p) => p.name === NAMES[j] && p.low === low)!.coefficients, nu)),
          12,
        ),
      );
    }
  }
});

test("the error is about 20 % from nu = 0.35 on, and that of the polynomials equals that of the best fit", () => {
  for (const nu of [...samples(true), ...samples(false)]) {
    const K = referenceMatrix(nu, "thesis");
    const { error } = fitCoefficients(K);
    const published = relativeError(publishedCoefficients(nu), K);
    expect(error).toBeLessThanOrEqual(published + 1e-12); // the fit is the minimum
    expect(published - error, `nu ${nu}`).toBeLessThan(0.002);
    if (nu >= 0.37 && nu <= 0.46) expect(Math.abs(error - 0.2), `nu ${nu}: ${error}`).toBeLessThan(0.025);
  }
});

test("the solver's compliances reproduce the thesis's matrix", () => {
  for (const nu of [0, 0.2, 0.35, 0.45]) {
    const K = referenceMatrix(nu, "thesis");
    const norm = frobenius(K);
    const springs = springMatrix(cubeSprings({ youngsModulus: 1, poissonsRatio: nu, fit: "published" }, 2), 2);
    expect(frobenius(springs.map((v, i) => v - K[i]!)) / norm).toBeCloseTo(
      relativeError(publishedCoefficients(nu), K),
      12,
    );
  }
});

describe("fit: moduli", () => {
  test("k, nu and the shear modulus are exact from nu = 1/4 on; below, k is exact and nu is 1/4", () => {
    for (const nu of [0, 0.1, 0.25, 0.3, 0.4, 0.45, 0.49, 0.4999]) {
      for (const side of [0.01, 3]) {
        const shown = latticeModuli(
          springMatrix(cubeSprings({ youngsModulus: 5e4, poissonsRatio: nu }, side), side),
          side,
        );
        const met = Math.max(nu, 0.25);
        expect(shown.k / 5e4).toBeCloseTo(1, 9);
        expect(shown.nu).toBeCloseTo(met, 9);
        expect((shown.G * 2 * (1 + met)) / 5e4).toBeCloseTo(1, 9);
      }
    }
  });

  test("no spring pushes, and no other share of faces and inner diagonals is nearer to K_FEM", () => {
    for (const nu of [0.25, 0.3, 0.4, 0.45]) {
      const right = referenceMatrix(nu, "right");
      const springs = cubeSprings({ youngsModulus: 1, poissonsRatio: nu }, 2);
      const mu = 1 / (2 * (1 + nu));
      const f = springs.face;
      const error = (face: number): number =>
        frobenius(
          springMatrix({ ...springs, edge: (2 * mu - face) / 2, face, inner: (3 * (mu - face)) / 2 }, 2).map(
            (v, i) => v - right[i]!,
          ),
        );
      expect([springs.edge, springs.face, springs.inner].every((k) => k >= 0)).toBe(true);
      expect(error(f)).toBeLessThan(error(0.98 * f));
      if (springs.inner > 0) expect(error(f)).toBeLessThan(error(1.02 * f));
    }
  });
});
