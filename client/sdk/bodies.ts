/** What a room has to draw and to pull, as its topology says. */
import type { Topology, TopologyBody } from "../../shared/topology.ts";
import { float32Of, uint32Of } from "../../shared/bytes.ts";

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
  /** Its number, for `grab`, `push`, `spawn` and `positions`. */
  readonly index: number;
  readonly name: string;
  readonly kind: TopologyBody["kind"];
  readonly look: TopologyBody["look"];
  /** Members put it in and take it out. */
  readonly spawnable: boolean;
  /** Streamed particles: of a soft body its surface, of a cloth all. */
  readonly count: number;
  /** m per grid step. */
  readonly quantum: number;
  /** First of its particles in a frame. */
  readonly first: number;
  /** uint32[3*T]; empty: a cloud of points, drawn as spheres of `radius`, which hands name in a triangle's place */
  readonly triangles: Uint32Array;
  /** m */
  readonly radius?: number;
  /** float32[3*count] undeformed, m */
  readonly rest: Float32Array;
  readonly detail?: Detail;
}

export function bodiesOf(topology: Topology): RoomBody[] {
  return topology.bodies.map(
    ({ name, kind, look, waits, count, quantum, first, triangles, radius, rest, detail }, index) => ({
      index,
      name,
      kind,
      look,
      spawnable: waits === true,
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
