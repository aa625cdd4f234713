/** Makes a cloud of points from a lattice; each point has the mass of its share of the volume. */
import type { Lattice, PointsBody } from "../../../shared/scene/scene.ts";
import { SceneError } from "../../../shared/scene/sceneError.ts";
import type { Shape } from "./template.ts";
import { placed, placementOf, scaled } from "./transform.ts";

/** Volume of a point, in cubes of its spacing. */
const SHARES: Record<Lattice["arrangement"], number> = {
  cubic: 1,
  fcc: Math.SQRT1_2,
  // a layer is as thick as its spacing
  hexagonal: Math.sqrt(3) / 2,
};

export function pointsShape(body: PointsBody, path: string): Shape {
  const { mesh } = body;
  if (mesh.type !== "lattice")
    throw new SceneError(`${path}/mesh/type`, mesh.type, "lattice for a body of kind points");
  const points = latticePoints(mesh);
  const placement = placementOf(body.transform, points);
  const own = scaled(points, placement);
  const count = own.length / 3;
  const spacing = mesh.spacing * placement.scale;
  return {
    own,
    placement,
    positions: placed(own, placement),
    triangles: new Uint32Array(0),
    tets: new Uint32Array(0),
    origin: Uint32Array.from({ length: count }, (_, i) => i),
    streamedCount: count,
    mass: new Float64Array(count).fill(body.material.density * SHARES[mesh.arrangement] * spacing ** 3),
    elements: [],
    spacing,
  };
}

/** Offsets within a cell, in halves of its edge. */
const FCC = [
  [0, 0, 0],
  [1, 1, 0],
  [1, 0, 1],
  [0, 1, 1],
] as const;

/** @returns float64[3n] m, row by row in x, then y, then z; centered at the origin */
function latticePoints({ arrangement, cells, spacing }: Omit<Lattice, "type">): Float64Array {
  const [nx, ny, nz] = cells;
  const points: number[] = [];
  for (let k = 0; k < nz; k++)
    for (let j = 0; j < ny; j++)
      for (let i = 0; i < nx; i++) {
        if (arrangement === "cubic") points.push(i, j, k);
        else if (arrangement === "hexagonal") points.push(i + 0.5 * (j % 2), j * SHARES.hexagonal, k);
        else
          for (const [a, b, c] of FCC) points.push(...[2 * i + a, 2 * j + b, 2 * k + c].map((h) => h * Math.SQRT1_2));
      }
  const middle = [0, 1, 2].map((r) => {
    const along = points.filter((_, n) => n % 3 === r);
    return 0.5 * (least(along) + most(along));
  });
  return Float64Array.from(points, (p, n) => spacing * (p - middle[n % 3]!));
}

const least = (values: readonly number[]): number => values.reduce((low, value) => Math.min(low, value), Infinity);
const most = (values: readonly number[]): number => values.reduce((high, value) => Math.max(high, value), -Infinity);
