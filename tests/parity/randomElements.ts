/** Random disjoint elements of one kind, and deformations of them. */
import { distanceElements, type DistanceElements } from "../../server/sim/constraints/distance.ts";
import { FALLING, RISING, type HexahedronElements } from "../../server/sim/constraints/hexahedron.ts";
import { triangleElements } from "../../server/sim/constraints/triangle.ts";
import { volumeElements, type VolumeElements } from "../../server/sim/constraints/volume.ts";
import { bendElements } from "../../server/sim/constraints/bending.ts";
import type { GeometricStiffness } from "../../shared/scene/sceneMaterials.ts";
import { hyperElements } from "../../server/sim/constraints/hyperelastic.ts";
import { sixVolumes } from "../../server/sim/constraints/polyhedron.ts";
import { tetElements } from "../../server/sim/constraints/tetrahedra.ts";
import type {
  BendElements,
  HyperElements,
  TetElements,
  TriangleElements,
} from "../../server/sim/constraints/elements.ts";
import {
  lameCoefficients,
  neoHookean,
  stableNeoHookean,
  type SheetModuli,
} from "../../server/sim/scene/materialConstants.ts";
import { randomStream } from "./kit.ts";

type Point = [number, number, number];

/** Moves a corner; `size` is the element's edge in m. */
export type Deform = (x: Point, random: () => number, size: number) => Point;

/** Deformations that elements may have when they reach the kernel. */
export const DEFORMATIONS: Record<string, Deform> = {
  undeformed: (x) => x,
  "strained by 1e-4": (x, r, s) => [x[0] + 1e-4 * s * r(), x[1] + 1e-4 * s * r(), x[2] + 1e-4 * s * r()],
  "strained by 20 %": (x, r, s) => [x[0] + 0.2 * s * r(), x[1] + 0.2 * s * r(), x[2] + 0.2 * s * r()],
  "all over the place": (x, r, s) => [x[0] + 2 * s * r(), x[1] + 2 * s * r(), x[2] + 2 * s * r()],
  dilated: (x) => [1.1 * x[0], 1.1 * x[1], 1.1 * x[2]],
  "stretched to three times its length": (x) => [3 * x[0], 0.6 * x[1], 0.7 * x[2]],
  "compressed to a third": (x) => [0.3 * x[0], 0.34 * x[1], 0.37 * x[2]],
  flat: (x) => [x[0], x[1], 0.5 * x[0] - 0.25 * x[1]],
  "mirrored and strained": (x) => [-1.1 * x[0], 0.9 * x[1], x[2]],
  "a thousand sizes from the origin": (x, _, s) => [1.05 * x[0] + 1000 * s, 0.97 * x[1] - 700 * s, x[2] + 300 * s],
};

/**
 * Rest positions X of n disjoint elements of k corners in a cube of half edge `size`; `accept` rejects slivers, for
 * example by the six-fold volume.
 */
function scattered(
  n: number,
  k: number,
  size: number,
  seed: number,
  accept: (X: Float64Array) => boolean,
): Float64Array {
  const random = randomStream(seed);
  const all = new Float64Array(3 * k * n);
  for (let i = 0; i < n; i++) {
    const X = all.subarray(3 * k * i, 3 * k * (i + 1));
    do X.forEach((_, j) => (X[j] = size * random()));
    while (!accept(X));
  }
  return all;
}

const triple = (X: Float64Array, a: number, b: number, c: number, o: number): number => {
  const u = [0, 1, 2].map((r) => X[3 * a + r]! - X[3 * o + r]!);
  const v = [0, 1, 2].map((r) => X[3 * b + r]! - X[3 * o + r]!);
  const t = [0, 1, 2].map((r) => X[3 * c + r]! - X[3 * o + r]!);
  return (
    u[0]! * (v[1]! * t[2]! - v[2]! * t[1]!) -
    u[1]! * (v[0]! * t[2]! - v[2]! * t[0]!) +
    u[2]! * (v[0]! * t[1]! - v[1]! * t[0]!)
  );
};

const ramp = (n: number): Uint32Array => Uint32Array.from({ length: n }, (_, i) => i);

export function randomTets(
  n: number,
  size: number,
  k: number,
  nu: number,
  seed = 7,
): { X: Float64Array; elements: TetElements } {
  const X = scattered(n, 4, size, seed, (x) => triple(x, 0, 1, 2, 3) > 0.05 * size ** 3);
  return { X, elements: tetElements(X, ramp(4 * n), lameCoefficients({ youngsModulus: k, poissonsRatio: nu })) };
}

/** Random tetrahedra in a hyperelastic material. */
export function randomHyper(
  kind: HyperElements["kind"],
  n: number,
  size: number,
  k: number,
  nu: number,
  seed = 7,
): { X: Float64Array; elements: HyperElements } {
  const { X, elements } = randomTets(n, size, k, nu, seed);
  const material = { youngsModulus: k, poissonsRatio: nu };
  return {
    X,
    elements: hyperElements(
      kind,
      X,
      elements.particles,
      kind === "neo-hookean" ? neoHookean(material) : stableNeoHookean(material),
    ),
  };
}

export const HYPER_KINDS = ["neo-hookean", "stable-neo-hookean"] as const;

export function randomTriangles(
  n: number,
  size: number,
  moduli: SheetModuli,
  seed = 7,
): { X: Float64Array; elements: TriangleElements } {
  const X = scattered(n, 3, size, seed, (x) => {
    const u = [0, 1, 2].map((r) => x[r]! - x[6 + r]!);
    const v = [0, 1, 2].map((r) => x[3 + r]! - x[6 + r]!);
    const c = [u[1]! * v[2]! - u[2]! * v[1]!, u[2]! * v[0]! - u[0]! * v[2]!, u[0]! * v[1]! - u[1]! * v[0]!];
    return Math.sqrt(c[0]! ** 2 + c[1]! ** 2 + c[2]! ** 2) > 0.2 * size ** 2;
  });
  return { X, elements: triangleElements(X, ramp(3 * n), moduli, 0.01 * size) };
}

/** Pairs of triangles with a common edge x0 x1: curved at rest, or flat in z = 0. */
export function randomStencils(
  n: number,
  size: number,
  rigidity: number,
  flat: boolean,
  seed = 7,
): { X: Float64Array; elements: BendElements } {
  const area = (x: Float64Array, c: number): number =>
    (x[3]! - x[0]!) * (x[3 * c + 1]! - x[1]!) - (x[4]! - x[1]!) * (x[3 * c]! - x[0]!);
  const X = scattered(n, 4, size, seed, (x) => {
    if (flat) for (let c = 0; c < 4; c++) x[3 * c + 2] = 0;
    return area(x, 2) > 0.2 * size ** 2 && area(x, 3) < -0.2 * size ** 2;
  });
  return { X, elements: stencilsOn(X, rigidity) };
}

/** Stencils of four particles each at given positions. */
export function stencilsOn(X: Float64Array, rigidity: number): BendElements {
  const n = X.length / 12;
  const triangles = new Uint32Array(6 * n);
  for (let i = 0; i < n; i++) triangles.set([4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 1, 4 * i, 4 * i + 3], 6 * i);
  return bendElements(X, triangles, rigidity);
}

/** Applies the same kind of deformation to every element, in its own coordinates. */
export function deformed(X: Float64Array, deform: Deform, size: number, seed: number): Float64Array {
  const random = randomStream(seed);
  const x = new Float64Array(X.length);
  for (let i = 0; i < X.length; i += 3) x.set(deform([X[i]!, X[i + 1]!, X[i + 2]!], random, size), i);
  return x;
}

/** Inverse masses of particles of about `mass` kg, up to a factor of 11 apart; every `pinned`-th is fixed. */
export function inverseMasses(count: number, mass: number, seed: number, pinned = Infinity): Float64Array {
  const random = randomStream(seed);
  return Float64Array.from({ length: count }, (_, i) =>
    i % pinned === pinned - 1 ? 0 : 1 / (mass * (1.2 + random())),
  );
}

/**
 * Coordinates for which the sums and products of a determinant are exact in float32: multiples of 2^-7 of `size`'s
 * power of two.
 */
const onGrid = (X: Float64Array, size: number): Float64Array => {
  const step = 2 ** (Math.floor(Math.log2(size)) - 6);
  return X.map((x) => Math.round(x / step) * step);
};

const PACE = { substeps: 1, iterations: 4 };

export function randomDistances(
  n: number,
  size: number,
  asked: GeometricStiffness,
  unilateral: boolean,
  seed = 7,
): { X: Float64Array; elements: DistanceElements } {
  const X = onGrid(
    scattered(n, 2, size, seed, (x) => [0, 1, 2].reduce((s, r) => s + (x[r]! - x[3 + r]!) ** 2, 0) > 0.1 * size ** 2),
    size,
  );
  return { X, elements: distanceElements(X, ramp(2 * n), { ...asked, unilateral }, PACE) };
}

export function randomVolumes(
  n: number,
  size: number,
  asked: GeometricStiffness,
  unilateral: boolean,
  seed = 7,
): { X: Float64Array; elements: VolumeElements } {
  const X = onGrid(
    scattered(n, 4, size, seed, (x) => triple(x, 0, 1, 2, 3) > 0.05 * size ** 3),
    size,
  );
  return { X, elements: volumeElements(X, ramp(4 * n), { ...asked, unilateral }, PACE) };
}

/** Cubes of edge `size` with corners moved by a tenth of it, and a volume compliance each. */
export function randomHexahedra(
  n: number,
  size: number,
  alpha: number,
  seed = 7,
): { X: Float64Array; elements: HexahedronElements } {
  const random = randomStream(seed);
  const X = onGrid(
    Float64Array.from(
      { length: 24 * n },
      (_, k) => size * ((((Math.floor(k / 3) % 8) >> (k % 3)) & 1) - 0.5 + 0.1 * random()),
    ),
    size,
  );
  const rest = Float64Array.from({ length: 2 * n }, (_, k) =>
    sixVolumes(X.subarray(24 * (k >> 1)), k % 2 === 0 ? RISING : FALLING, 0),
  );
  return { X, elements: { kind: "hexahedron", particles: ramp(8 * n), rest, alpha: new Float64Array(n).fill(alpha) } };
}
