/**
 * What a client fetches once per scene version over HTTP (msgpack, content-addressed): everything it needs to draw but
 * the motion. Typed arrays travel as msgpack `bin`, little-endian.
 */
import type { AnalyticCollider, ColliderCommon, Look, Vec3 } from "./scene.ts";

export interface TopologyBody {
  name: string;
  kind: "soft" | "cloth" | "ball" | "points";
  look: Look;
  /** Members put it in and take it out; absent: it is always there. */
  waits?: true;
  /**
   * First streamed particle of this body in a snapshot, and how many. Streamed: a soft body's surface particles, all of
   * a cloth.
   */
  first: number;
  count: number;
  /** Quantisation step, m. */
  quantum: number;
  /**
   * uint32[3*T]: simulation surface, indices into this body's streamed particles (0 .. count-1). Grabs name these
   * triangles. Empty: a cloud of points, and grabs name a point in a triangle's place.
   */
  triangles: Uint8Array;
  /** Of a cloud of points: radius of the spheres that it is drawn as, m. */
  radius?: number;
  /** float32[3*count]: undeformed positions as placed, m. */
  rest: Uint8Array;
  /**
   * The mesh to draw, skinned onto `triangles` as shared/skinning/evaluate.ts says; absent: draw the triangles
   * themselves.
   */
  detail?: {
    /** uint32[3*D] */
    triangles: Uint8Array;
    /** uint32[V]: which simulation triangle each detail vertex hangs on. */
    attachTriangle: Uint8Array;
    /** float32[3*V]: barycentric u, v (of corners b and c) and the distance along the interpolated normal, m. */
    attachCoords: Uint8Array;
    /** What an object's file looks like; absent: the mesh alone. */
    picture?: TopologyPicture & {
      /**
       * uint32[P]: the detail vertex at which each vertex of the picture is, in the order of the picture's primitives.
       */
      vertices: Uint8Array;
    };
  };
}

/** A GLB of one mesh, to be had at /api/objects/<object>/picture. */
export interface TopologyPicture {
  /** Id of the object. */
  object: string;
  /** number[16], column by column: from the picture's coordinates to where it is undeformed, m. */
  matrix: number[];
}

/**
 * As in the scene, measured from the room's origin; a mesh with its triangles in place of the file that they came from.
 */
export type TopologyCollider =
  | AnalyticCollider
  | (ColliderCommon & {
      type: "mesh";
      /** What it turns about, m. */
      center: Vec3;
      /** float32[3*V]: where the scene puts its vertices, m. */
      positions: Uint8Array;
      /** uint32[3*T] */
      triangles: Uint8Array;
      /** To be drawn in place of the triangles. */
      picture?: TopologyPicture;
    });

export interface Topology {
  version: 1;
  title: string;
  description: string;
  /** Streamed particles of all bodies together. */
  particles: number;
  tickHz: number;
  /**
   * Where in the world the room's own origin is, m. Every position of a topology, a frame and a hand is measured from
   * there.
   */
  origin: Vec3;
  /** `fit`: the scene names no camera, so a client fits this one to the bodies that it shows. */
  camera: { position: Vec3; target: Vec3; fit?: true };
  colliders: TopologyCollider[];
  bodies: TopologyBody[];
  interaction: {
    grabCompliance: number;
    grabMaxForce: number;
    handSpeed: number;
    grabMaxStretch: number;
    maxImpulse: number;
    /** Numbers of the bodies that one hand may pull at once; absent: it pulls one. */
    together?: number[];
  };
}
