/** A sheet's shell is closed, faces outward everywhere, and has a rim exactly along the surface's hems. */
import { expect, test } from "vitest";
import { sheetOf } from "../../../../client/view/bodies/sheetShell.ts";
import { gridCloth, icosphere } from "../../../../server/meshing/generators.ts";

/** Volume within the shell around a surface, m^3, and its edges that are not in two triangles of opposite direction. */
function shell(positions: Float64Array, surface: Uint32Array, normalAt: (vertex: number) => number[], half: number) {
  const { triangles, vertices, sides } = sheetOf(surface, positions.length / 3);
  const at = (v: number): number[] => {
    const normal = normalAt(vertices[v]!);
    return [0, 1, 2].map((r) => positions[3 * vertices[v]! + r]! + sides[2 * v + 1]! * half * normal[r]!);
  };
  const open = new Map<string, number>();
  let volume = 0;
  for (let t = 0; t < triangles.length; t += 3) {
    const corners = [...triangles.subarray(t, t + 3)];
    const [a, b, c] = corners.map(at) as [number[], number[], number[]];
    volume +=
      (a[0]! * (b[1]! * c[2]! - b[2]! * c[1]!) +
        a[1]! * (b[2]! * c[0]! - b[0]! * c[2]!) +
        a[2]! * (b[0]! * c[1]! - b[1]! * c[0]!)) /
      6;
    // By position, because the rim has its own vertices.
    const names = corners.map((v) => `${vertices[v]!}:${sides[2 * v + 1]!}`);
    for (let k = 0; k < 3; k++) {
      const [p, q] = [names[k]!, names[(k + 1) % 3]!];
      const [edge, way] = p < q ? [`${p} ${q}`, 1] : [`${q} ${p}`, -1];
      open.set(edge, (open.get(edge) ?? 0) + way);
    }
  }
  return { volume, open: [...open.values()].filter((sum) => sum !== 0).length, sides };
}

test("around an open sheet: area times thickness, closed by a rim", () => {
  const { positions, triangles } = gridCloth([2, 1], [6, 4]);
  const { volume, open, sides } = shell(positions, triangles, () => [0, 1, 0], 0.05);
  expect(open).toBe(0);
  expect(volume).toBeCloseTo(2 * 1 * 0.1, 12);
  // Four vertices for each of the 20 edges of the hem.
  expect(sides.filter((side, i) => i % 2 === 0 && side === 0)).toHaveLength(80);
});

test("around a closed surface: between two spheres, without a rim", () => {
  const { positions, triangles } = icosphere(1, 3);
  const half = 0.01;
  const { volume, open, sides } = shell(positions, triangles, (v) => [...positions.subarray(3 * v, 3 * v + 3)], half);
  expect(open).toBe(0);
  const scale = (1 + half) ** 3 - (1 - half) ** 3;
  expect(volume / scale).toBeGreaterThan(0.98 * ((4 / 3) * Math.PI));
  expect(volume / scale).toBeLessThan((4 / 3) * Math.PI);
  expect(sides.includes(0)).toBe(false);
});
