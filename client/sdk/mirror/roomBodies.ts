/** Bodies of a room, for drawing and grabbing, decoded from its topology. */
import type { Topology, TopologyBody } from "../../../shared/topology.ts";
import { float32Of, uint32Of } from "../../../shared/bytes.ts";

/** A finer mesh to draw in place of a body's surface (PROTOCOL.md, section 3). */
export interface Detail {
  /** uint32[3*D] */
  readonly triangles: Uint32Array;
  /** uint32[V] */
  readonly attachTriangle: Uint32Array;
  /** float32[3*V]: u, v and distance (m) */
  readonly attachCoords: Float32Array;
}

export interface RoomBody {
  /** Index of the body, as `grab`, `push`, `spawn` and `positions` take it. */
  readonly index: number;
  readonly name: string;
  readonly kind: TopologyBody["kind"];
  readonly look: TopologyBody["look"];
  /** True if members may put it in and take it out. */
  readonly spawnable: boolean;
  /** Number of streamed particles: the surface of a soft body, all particles of a cloth. */
  readonly count: number;
  /** Grid step, m. */
  readonly quantum: number;
  /** Index of its first particle in a frame. */
  readonly first: number;
  /**
   * uint32[3*T]. Empty for a cloud of points: drawn as spheres of `radius`, and a grab names a point in place of a
   * triangle.
   */
  readonly triangles: Uint32Array;
  /** Radius of the points of a cloud, m. */
  readonly radius?: number;
  /** float32[3*count] undeformed positions, m */
  readonly rest: Float32Array;
  readonly detail?: Detail;
}

export function bodiesOf(topology: Topology): RoomBody[] {
  return topology.bodies.map(
    ({ name, kind, look, spawnable, count, quantum, first, triangles, radius, rest, detail }, index) => ({
      index,
      name,
      kind,
      look,
      spawnable: spawnable === true,
      count,
      quantum,
      first,
      triangles: uint32Of(triangles),
      rest: float32Of(rest),
      ...(radius !== undefined && { radius }),
      ...(detail && {
        detail: {
          triangles: uint32Of(detail.triangles),
          attachTriangle: uint32Of(detail.attachTriangle),
          attachCoords: float32Of(detail.attachCoords),
        },
      }),
    }),
  );
}
