/**
 * Topology: all data for drawing a scene except the motion. Clients fetch it once per scene version over HTTP (msgpack,
 * content-addressed). Typed arrays are msgpack `bin`, little-endian.
 */
import type { AnalyticCollider, ColliderCommon, Look, Vec3 } from "./scene/scene.ts";

export interface TopologyBody {
  name: string;
  kind: "soft" | "cloth" | "ball" | "points";
  look: Look;
  /** Spawnable: members spawn and remove it; absent: it is always in the scene. */
  spawnable?: true;
  /**
   * First streamed particle of this body in a snapshot, and their number. A soft body streams its surface particles, a
   * cloth all particles.
   */
  first: number;
  count: number;
  /** Quantization step, m. */
  quantum: number;
  /**
   * uint32[3*T]: simulation surface, indices into this body's streamed particles (0 .. count-1). Grabs name these
   * triangles. Empty for a cloud of points: grabs then name a point instead of a triangle.
   */
  triangles: Uint8Array;
  /** For a cloud of points: radius of the drawn spheres, m. */
  radius?: number;
  /** For a cloud of points that is a fluid: `liquid` has a surface; `gas` is seen by the smoke in it. */
  fluid?: { type: "liquid" } | { type: "gas"; source?: SmokeSource };
  /** float32[3*count]: undeformed positions as placed, m. */
  rest: Uint8Array;
  /**
   * The mesh to draw, skinned onto `triangles` (shared/skinning/evaluate.ts); absent: draw the triangles themselves.
   */
  detail?: {
    /** uint32[3*D] */
    triangles: Uint8Array;
    /** uint32[V]: simulation triangle of each detail vertex. */
    attachTriangle: Uint8Array;
    /** float32[3*V]: barycentric u, v (of corners b and c) and the distance along the interpolated normal, m. */
    attachCoords: Uint8Array;
    /** Appearance of an object from its file; absent: only the mesh. */
    picture?: TopologyPicture & {
      /** uint32[P]: detail vertex of each vertex of the picture, in the order of the picture's primitives. */
      vertices: Uint8Array;
    };
  };
}

/** Ball in which a gas takes up smoke, m. */
export interface SmokeSource {
  center: Vec3;
  radius: number;
}

/** A GLB of one mesh, available at /api/objects/<object>/picture. */
export interface TopologyPicture {
  /** Id of the object. */
  object: string;
  /** number[16], column by column: from the picture's coordinates to the undeformed body, m. */
  matrix: number[];
}

/** A collider as in the scene, relative to the room's origin; a mesh has its triangles in place of the file. */
export type TopologyCollider =
  | AnalyticCollider
  | (ColliderCommon & {
      type: "mesh";
      /** Center of rotation, m. */
      center: Vec3;
      /** float32[3*V]: initial positions of its vertices, m. */
      positions: Uint8Array;
      /** uint32[3*T] */
      triangles: Uint8Array;
      /** Drawn in place of the triangles. */
      picture?: TopologyPicture;
    });

export interface Topology {
  version: 1;
  title: string;
  description: string;
  /** Streamed particles of all bodies together. */
  particles: number;
  tickHz: number;
  /** The room's origin in the world, m. All positions in a topology, a frame and a grab are relative to it. */
  origin: Vec3;
  /**
   * `fit`: the scene has no camera, so clients fit this one to the shown bodies and to `space`, the box that they begin
   * in and fall or swing to, m.
   */
  camera: { position: Vec3; target: Vec3; fit?: true; space?: { min: Vec3; max: Vec3 } };
  /** Clients begin with false colors of the strain. */
  showStrain?: true;
  colliders: TopologyCollider[];
  bodies: TopologyBody[];
  interaction: {
    grabCompliance: number;
    grabMaxForce: number;
    grabSpeed: number;
    grabMaxStretch: number;
    maxImpulse: number;
    /** Indices of the bodies that one pointer may grab at once; absent: one body at a time. */
    together?: number[];
  };
}
