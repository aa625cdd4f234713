/** Rounded edges of drawn solids: closed, inside of the sharp shape, turned normals, the same after a rotation. */
import { describe, expect, test } from "vitest";
import { RoundedEdges } from "../../../../client/view/bodies/roundedEdges.ts";
import { smoothingGroups, surfaceNormalsInto } from "../../../../client/view/bodies/surfaceNormals.ts";

/** The surface of a box of cubic cells with the side 1 that stands in the first octant. */
function box(cells: readonly [number, number, number]): { rest: Float32Array; triangles: Uint32Array } {
  const places = new Map<string, number>();
  const rest: number[] = [];
  const triangles: number[] = [];
  const particle = (at: readonly number[]): number => {
    const known = places.get(at.join());
    if (known !== undefined) return known;
    rest.push(...at);
    return places.set(at.join(), rest.length / 3 - 1).get(at.join())!;
  };
  for (let axis = 0; axis < 3; axis++)
    for (const side of [0, cells[axis]!])
      for (let i = 0; i < cells[(axis + 1) % 3]!; i++)
        for (let j = 0; j < cells[(axis + 2) % 3]!; j++) {
          const [a, b, c, d] = [
            [0, 0],
            [1, 0],
            [1, 1],
            [0, 1],
          ].map(([u, v]) => {
            const at = [0, 0, 0];
            at[axis] = side;
            at[(axis + 1) % 3] = i + u!;
            at[(axis + 2) % 3] = j + v!;
            return particle(at);
          }) as [number, number, number, number];
          triangles.push(...(side > 0 ? [a, b, c, a, c, d] : [a, c, b, a, d, c]));
        }
  return { rest: Float32Array.from(rest), triangles: Uint32Array.from(triangles) };
}

/** A box with a step: the two halves of its top have different heights, so one edge is hollow. */
function stair(): { rest: Float32Array; triangles: Uint32Array } {
  const outline = [
    [0, 0],
    [2, 0],
    [2, 1],
    [1, 1],
    [1, 2],
    [0, 2],
  ] as const;
  const rest = [0, 1].flatMap((z) => outline.flatMap(([x, y]) => [x, y, z]));
  const caps = [
    [0, 1, 2],
    [0, 2, 3],
    [0, 3, 5],
    [3, 4, 5],
  ];
  const sides = outline.flatMap((_, i) => {
    const next = (i + 1) % 6;
    return [
      [i, next, next + 6],
      [i, next + 6, i + 6],
    ];
  });
  const triangles = [...caps.map(([a, b, c]) => [a!, c!, b!]), ...caps.map((cap) => cap.map((i) => i + 6)), ...sides];
  return { rest: Float32Array.from(rest), triangles: Uint32Array.from(triangles.flat()) };
}

const SHAPES = { cube: box([3, 3, 3]), "single cell": box([1, 1, 1]), beam: box([4, 1, 2]), stair: stair() };

function rounded({ rest, triangles }: { rest: Float32Array; triangles: Uint32Array }, displayed = rest) {
  const groups = smoothingGroups(rest, triangles, 0.64);
  const edges = RoundedEdges.of(rest, triangles, groups)!;
  const points = new Float32Array(3 * edges.pointCount);
  edges.spreadInto(points, displayed, 3);
  const normals = new Float32Array(3 * edges.normalCount);
  surfaceNormalsInto(normals, displayed, triangles, groups.slots);
  edges.meansInto(normals);
  const at = (vertex: number): number[] => [
    ...points.subarray(3 * edges.pairs[2 * vertex]!, 3 * edges.pairs[2 * vertex]! + 3),
  ];
  const normal = (vertex: number): number[] => {
    const first = 3 * edges.pairs[2 * vertex + 1]!;
    return [...normals.subarray(first, first + 3)];
  };
  return { edges, at, normal };
}

const minus = (a: number[], b: number[]): number[] => a.map((part, k) => part - b[k]!);
const dot = (a: number[], b: number[]): number => a.reduce((sum, part, k) => sum + part * b[k]!, 0);
const cross = ([a, b, c]: number[], [x, y, z]: number[]): number[] => [
  b! * z! - c! * y!,
  c! * x! - a! * z!,
  a! * y! - b! * x!,
];

describe("RoundedEdges", () => {
  test.each(Object.entries(SHAPES))(
    "the mesh of a %s is closed, and encloses less than the sharp shape",
    (_, shape) => {
      const { edges, at } = rounded(shape);
      const place = (vertex: number): string =>
        at(vertex)
          .map((part) => part.toFixed(5))
          .join();
      const open = new Map<string, number>();
      let volume = 0;
      let sharp = 0;
      for (let t = 0; t < edges.triangles.length; t += 3) {
        const corners = [...edges.triangles.subarray(t, t + 3)];
        corners.forEach((from, k) => {
          const [a, b] = [place(from), place(corners[(k + 1) % 3]!)];
          open.set(`${a} ${b}`, (open.get(`${a} ${b}`) ?? 0) + 1);
          open.set(`${b} ${a}`, (open.get(`${b} ${a}`) ?? 0) - 1);
        });
        const [a, b, c] = corners.map(at) as [number[], number[], number[]];
        volume += dot(a, cross(b, c)) / 6;
      }
      for (let t = 0; t < shape.triangles.length; t += 3) {
        const [a, b, c] = [0, 1, 2].map((k) => [
          ...shape.rest.subarray(3 * shape.triangles[t + k]!, 3 * shape.triangles[t + k]! + 3),
        ]) as [number[], number[], number[]];
        sharp += dot(a, cross(b, c)) / 6;
      }
      expect([...open.values()].filter((count) => count !== 0)).toEqual([]);
      expect(volume).toBeLessThan(0.999 * sharp);
      expect(volume).toBeGreaterThan(0.94 * sharp);
    },
  );

  test.each(Object.entries(SHAPES))("triangles of a %s face the way their normals do", (_, shape) => {
    const { edges, at, normal } = rounded(shape);
    for (let t = 0; t < edges.triangles.length; t += 3) {
      const corners = [...edges.triangles.subarray(t, t + 3)];
      const [a, b, c] = corners.map(at) as [number[], number[], number[]];
      const face = cross(minus(b, a), minus(c, a));
      for (const corner of corners) expect(dot(face, normal(corner))).toBeGreaterThan(0.4 * Math.hypot(...face));
    }
  });

  test("vertices on a cube's edges lie on its fillets", () => {
    const { edges, at, normal } = rounded(SHAPES.cube);
    const radius = 0.09 * 3;
    const first = edges.triangles.reduce((a, b) => Math.max(a, b)) + 1 - (edges.normalCount - edges.pairs.length / 2);
    expect(first).toBe(edges.normalCount);
    for (let vertex = 0; vertex < edges.normalCount; vertex++) {
      // Distance from the axis or point around which the edge is round.
      const away = at(vertex).map((part) => Math.max(0, Math.abs(part - 1.5) - (1.5 - radius)));
      if (away.filter((part) => part > 1e-6).length < 2) continue;
      expect(Math.hypot(...away) / radius).toBeGreaterThan(0.98);
      expect(Math.hypot(...away) / radius).toBeLessThan(1.1);
      const outward = at(vertex).map((part, k) => Math.sign(part - 1.5) * away[k]!);
      expect(dot(outward, normal(vertex)) / Math.hypot(...outward)).toBeGreaterThan(0.98);
    }
  });

  test("a turned cube is drawn as the turned drawing of the cube", () => {
    const { rest, triangles } = SHAPES.cube;
    const turned = Float32Array.from(
      rest,
      (_, i) => [rest[i - (i % 3) + 1]!, -rest[i - (i % 3)]!, rest[i - (i % 3) + 2]!][i % 3]!,
    );
    const [plain, moved] = [rounded({ rest, triangles }), rounded({ rest, triangles }, turned)];
    for (let vertex = 0; vertex < plain.edges.normalCount; vertex++)
      for (const of of ["at", "normal"] as const) {
        const [x, y, z] = plain[of](vertex);
        moved[of](vertex).forEach((part, k) => expect(part).toBeCloseTo([y!, -x!, z!][k]!, 5));
      }
  });

  test("a smooth surface has none", () => {
    const { rest, triangles } = SHAPES.cube;
    expect(RoundedEdges.of(rest, triangles, smoothingGroups(rest, triangles, -1))).toBeUndefined();
  });
});
