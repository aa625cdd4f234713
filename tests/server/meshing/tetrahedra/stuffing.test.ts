/** Isosurface stuffing on any field: angles stay bounded, faces match, no element is inverted. */
import { expect, test } from "vitest";
import { boundarySurface, joinFaces, surfaceTopology } from "../../../../server/meshing/surface/boundary.ts";
import {
  EDGES,
  LATTICE_TETS,
  latticeAround,
  latticeCoordinates,
  latticeVertex,
  nearestLatticeVertex,
} from "../../../../server/meshing/tetrahedra/lattice.ts";
import { tetQuality } from "../../../../server/meshing/tetrahedra/tetrahedronQuality.ts";
import { ALPHA_LONG, ALPHA_SHORT, sampleField, stuff } from "../../../../server/meshing/tetrahedra/stuffing.ts";
import { expectSound, faultOf } from "../meshShapes.ts";

function randomNumbers(seed: number): () => number {
  let s = seed;
  return () => {
    s = (s * 48271) % 2147483647;
    return s / 2147483647;
  };
}

test("lattice tetrahedra fill the cell, are congruent, and know their edges", () => {
  const volumes = LATTICE_TETS.map(({ corners, edges }) => {
    const [a, b, c] = [0, 1, 2].map((i) => corners[i]!.map((value, k) => value - corners[3]![k]!)) as [
      number[],
      number[],
      number[],
    ];
    for (let i = 0; i < 4; i++) {
      for (let j = 0; j < 4; j++) {
        if (i === j) continue;
        const { start, direction } = edges[i]![j]!;
        const end = start === i ? j : i;
        expect(corners[end]!.map((value, k) => value - corners[start]![k]!)).toEqual([...EDGES[direction]!]);
        expect(direction < 3).toBe((i ^ 1) === j);
      }
    }
    return (
      a[0]! * (b[1]! * c[2]! - b[2]! * c[1]!) +
      a[1]! * (b[2]! * c[0]! - b[0]! * c[2]!) +
      a[2]! * (b[0]! * c[1]! - b[1]! * c[0]!)
    );
  });
  // Six times the volume in half spacings: 12 of them are one cell of 8.
  expect(volumes).toEqual(new Array(12).fill(4));
});

test("names of lattice vertices map both ways, and the nearest vertex is found", () => {
  const lattice = latticeAround([0, 0, 0], [1, 2, 1.5], 0.4);
  const c = new Int32Array(3);
  for (let v = 0; v < lattice.vertices; v++) {
    latticeCoordinates(lattice, v, c);
    expect(latticeVertex(lattice, c[0]!, c[1]!, c[2]!)).toBe(v);
  }
  const random = randomNumbers(3);
  for (let i = 0; i < 200; i++) {
    const p = [random(), 2 * random(), 1.5 * random()] as const;
    const distance = (v: number): number => {
      latticeCoordinates(lattice, v, c);
      return Math.hypot(...[0, 1, 2].map((k) => lattice.origin[k]! + 0.2 * c[k]! - p[k]!));
    };
    const all = Array.from({ length: lattice.vertices }, (_, v) => distance(v));
    expect(distance(nearestLatticeVertex(lattice, ...p))).toBeCloseTo(Math.min(...all), 12);
  }
});

/** Fields that no surface has: random signs, cut points near extreme angles. */
function hostileMesh(seed: number, withForced: boolean) {
  const random = randomNumbers(seed);
  const density = 0.4 + 0.1 * (seed % 5);
  const lattice = latticeAround([-1, -1, -1], [1, 1, 1], 0.22);
  const field = sampleField(lattice, () => random() < density);
  for (let key = 0; key < 7 * lattice.vertices; key++) {
    const alpha = key % 7 < 3 ? ALPHA_LONG : ALPHA_SHORT;
    const crowded = [0.001, 0.999 * alpha, alpha, 1 - alpha, 1 - 0.999 * alpha, 0.999];
    field.cuts.set(key, seed % 2 ? random() : crowded[Math.floor(6 * random())]!);
  }
  const forced = new Set<number>();
  if (withForced) for (let v = 0; v < lattice.vertices; v++) if (field.inside[v] && random() < 0.2) forced.add(v);
  return { field, forced };
}

test("for any field dihedral angles stay within 10.7 and 164.7 degrees, and every inner face has its two elements", () => {
  let smallest = 180;
  let largest = 0;
  for (let seed = 1; seed <= 24; seed++) {
    const { field, forced } = hostileMesh(seed, seed % 3 === 0);
    const mesh = stuff(field, forced);
    const quality = tetQuality(mesh);
    expect(quality.tets).toBeGreaterThan(100);
    expect(quality.minVolume).toBeGreaterThan(0);
    const { boundary, faulty } = joinFaces(mesh.tets);
    expect(faulty).toBe(0);
    expect(surfaceTopology(boundary).openEdges).toBe(0);
    smallest = Math.min(smallest, quality.minDihedral);
    largest = Math.max(largest, quality.maxDihedral);
  }
  expect(smallest).toBeGreaterThan(10.7);
  expect(largest).toBeLessThan(164.7);
  // The random fields come close to the extremes.
  expect(smallest).toBeLessThan(14);
  expect(largest).toBeGreaterThan(155);
});

test("only surface vertices are pinched, and forcing inner vertices removes all pinches", () => {
  for (let seed = 1; seed <= 5; seed++) {
    const { field, forced } = hostileMesh(seed, false);
    let mesh = stuff(field, forced);
    let pinched = surfaceTopology(boundarySurface(mesh)).pinched;
    expect(pinched.length).toBeGreaterThan(0);
    while (pinched.length > 0) {
      for (const vertex of pinched) {
        const at = mesh.latticeVertex[vertex]!;
        expect(mesh.sign[at]).toBe(0);
        forced.add(at);
      }
      mesh = stuff(field, forced);
      pinched = surfaceTopology(boundarySurface(mesh)).pinched;
    }
    expectSound(mesh);
  }
});

test("a half space along lattice planes is exact", () => {
  const lattice = latticeAround([0, 0, 0], [2, 2, 2], 0.5);
  const within = (value: number): boolean => value > 0.25 && value < 1.75;
  const mesh = stuff(
    sampleField(lattice, (x, y, z) => within(x) && within(y) && within(z)),
    new Set(),
  );
  const { quality } = expectSound(mesh);
  expect(quality.volume).toBeGreaterThan(0.95 * 1.5 ** 3);
  for (const value of mesh.positions) {
    expect(value).toBeGreaterThan(0.25 - 1e-6);
    expect(value).toBeLessThan(1.75 + 1e-6);
  }
});

test("too fine a lattice is refused with the spacing", () => {
  expect(faultOf(() => latticeAround([0, 0, 0], [1, 1, 1], 1e-3))).toMatchObject({ field: "spacing", value: 1e-3 });
});
