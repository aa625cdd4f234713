/** Measures the deformation of bodies: the largest stretch of an edge, and the share of inverted elements. */
import { edgesOf } from "../../server/sim/constraints/distance.ts";
import type { CreatedWorld } from "../../server/sim/world/createWorld.ts";
import type { SimWorld } from "../../server/sim/world.ts";

export interface Strain {
  /** Largest ratio of an edge's length to its rest length. */
  stretch: number;
  /** Share of tetrahedra whose volume has changed its sign; 0 without tetrahedra. */
  inverted: number;
}

/**
 * @returns a function that measures all bodies in the room; edges are those of tetrahedra, or of a cloth's triangles
 */
export function strainGauge({ bodies, layout, memory }: CreatedWorld, world: SimWorld): () => Strain {
  const x = new Float32Array(memory.buffer, layout.x);
  const gauges = bodies.map(({ positions, triangles, tets }, body) => {
    const edges = tets.length > 0 ? edgesOf(tets, 4) : edgesOf(triangles, 3);
    const rest = (p: number, r: number): number => positions[3 * p + r]!;
    const lengths = Float64Array.from({ length: edges.length / 2 }, (_, e) =>
      lengthOf(edges[2 * e]!, edges[2 * e + 1]!, rest),
    );
    const signs = Int8Array.from({ length: tets.length / 4 }, (_, t) => Math.sign(volumeOf(tets, t, rest)));
    const first = layout.bodies[body]!.first;
    const now = (p: number, r: number): number => x[4 * (first + p) + r]!;
    return { body, edges, lengths, tets, signs, now };
  });
  const elements = gauges.reduce((sum, { signs }) => sum + signs.length, 0);
  return () => {
    const absent = world.absent();
    let stretch = 0;
    let inverted = 0;
    for (const { body, edges, lengths, tets, signs, now } of gauges) {
      if (absent[body]) continue;
      for (let e = 0; e < lengths.length; e++)
        stretch = Math.max(stretch, lengthOf(edges[2 * e]!, edges[2 * e + 1]!, now) / lengths[e]!);
      for (let t = 0; t < signs.length; t++) if (!(volumeOf(tets, t, now) * signs[t]! > 0)) inverted++;
    }
    return { stretch, inverted: elements > 0 ? inverted / elements : 0 };
  };
}

type Coordinate = (particle: number, axis: number) => number;

function lengthOf(a: number, b: number, x: Coordinate): number {
  return Math.sqrt((x(a, 0) - x(b, 0)) ** 2 + (x(a, 1) - x(b, 1)) ** 2 + (x(a, 2) - x(b, 2)) ** 2);
}

/** Six times the volume of a tetrahedron, m^3. */
function volumeOf(tets: Uint32Array, t: number, x: Coordinate): number {
  const [a, b, c, d] = [tets[4 * t]!, tets[4 * t + 1]!, tets[4 * t + 2]!, tets[4 * t + 3]!];
  const [ux, uy, uz] = [x(a, 0) - x(d, 0), x(a, 1) - x(d, 1), x(a, 2) - x(d, 2)];
  const [vx, vy, vz] = [x(b, 0) - x(d, 0), x(b, 1) - x(d, 1), x(b, 2) - x(d, 2)];
  const [wx, wy, wz] = [x(c, 0) - x(d, 0), x(c, 1) - x(d, 1), x(c, 2) - x(d, 2)];
  return ux * (vy * wz - vz * wy) + uy * (vz * wx - vx * wz) + uz * (vx * wy - vy * wx);
}
