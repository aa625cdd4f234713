/** Checks of the parity tests that each solver of tetrahedra has to pass, whatever its material. */
import { expect } from "vitest";
import { boxTets } from "../../server/meshing/generators.ts";
import { DEFORMATIONS, deformed, inverseMasses } from "./randomElements.ts";
import { conditioned, distanceAt, makeKit, randomStream, UNIT } from "./kit.ts";

type Elements = Parameters<typeof makeKit>[0];
/** Random elements of 0.1 m: their corners, and the elements. */
type RandomElements = (count: number, seed?: number) => { X: Float64Array; elements: Elements };

const H = 1 / 240;
/** Iterations of over-relaxed sweeps; undefined: a plain one. */
const SWEEPS = [undefined, 1, 4];

/** Single elements, and elements with fixed corners, agree with the twin within `tolerance` units (kit.ts). */
export function fixedCornersStay(random: RandomElements, tolerance: number): void {
  for (const pinned of [2, 3, 5, Infinity]) {
    for (const count of [1, 2, 3, 4, 5]) {
      const { X, elements } = random(count, count);
      const stream = randomStream(3);
      const masses = inverseMasses(4 * count, 1, 9, pinned);
      const x = deformed(X, DEFORMATIONS["strained by 20 %"]!, 0.1, 3);
      const kit = makeKit(elements, x, masses, H, "compliant", SWEEPS[count % 3]);
      const before = kit.kernelPositions();
      for (let iteration = 0; iteration < 3; iteration++)
        for (const { distance, unit } of conditioned(kit, iteration === 0, H, stream))
          expect(distance / unit).toBeLessThan(tolerance);
      const after = kit.kernelPositions();
      for (let i = pinned - 1; i < 4 * count; i += pinned)
        expect(distanceAt(before, after, i), "a fixed corner moved").toBe(0);
    }
  }
}

/** An element with only fixed corners keeps every bit. */
export function fixedElementsStay(random: RandomElements): void {
  const { X, elements } = random(5);
  const kit = makeKit(elements, deformed(X, DEFORMATIONS["strained by 20 %"]!, 0.1, 3), new Float64Array(20), H);
  const before = kit.kernelPositions();
  for (let iteration = 0; iteration < 3; iteration++) kit.iterate(iteration === 0);
  expect(kit.kernelPositions()).toEqual(before);
}

/**
 * A mirrored, a flat and a collapsed element get their volume back, in kernel and twin.
 * @param make the element of corners X
 * @param volume volume of the first element at x, over its rest volume
 */
export function recovers<E extends Elements>(
  make: (X: Float64Array, corners: Uint32Array) => E,
  volume: (x: Float64Array, elements: E) => number,
  substeps: number,
): void {
  const X = Float64Array.from([1, 1, 1, -1, 1, -1, 1, -1, -1, -1, -1, 1].map((v) => 0.05 * v));
  const elements = make(X, Uint32Array.of(0, 2, 1, 3));
  for (const squash of [-1, -0.3, 0, 0.01]) {
    const x = X.map((value, k) => (k % 3 === 0 ? squash * value : squash === 0 ? 0 : value));
    const kit = makeKit(elements, x, inverseMasses(4, 1, 5), H);
    for (let substep = 0; substep < substeps; substep++) kit.iterate(true);
    expect(volume(kit.kernelPositions(), elements), `x times ${squash}`).toBeCloseTo(1, 2);
    expect(volume(kit.particles.x, elements), `x times ${squash}, twin`).toBeCloseTo(1, 2);
  }
}

/** Iterations over a mesh of many colors agree with the twin. @param make the elements of a mesh */
export function manyColorsAgree(make: (X: Float64Array, tets: Uint32Array) => Elements, tolerance: number): void {
  const { positions, tets } = boxTets([0.3, 0.2, 0.2], [5, 4, 3]);
  const N = positions.length / 3;
  const random = randomStream(17);
  const elements = make(positions, tets);
  const x = positions.map((value) => value + 0.01 * random());
  for (const iterations of SWEEPS) {
    const kit = makeKit(elements, x, inverseMasses(N, 0.05, 5), H, "compliant", iterations);
    expect(kit.colors.length).toBeGreaterThan(8);
    for (let iteration = 0; iteration < (iterations ?? 3); iteration++) {
      kit.align();
      kit.iterate(iteration === 0);
      const kernel = kit.kernelPositions();
      // up to 24 elements move a particle one after another, each with a few units of its position and of its edge
      for (let i = 0; i < N; i++)
        expect(distanceAt(kernel, kit.particles.x, i)).toBeLessThan(24 * tolerance * UNIT * 0.3);
    }
  }
}
