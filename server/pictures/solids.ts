/** Triangle meshes of a scene's colliders: solids of revolution, boxes, meshes. Planes get no mesh here. */
import { float32Of, uint32Of } from "../../shared/bytes.ts";
import { axesOf } from "../../shared/geometry/framing.ts";
import { compileMotion, centerOf, matrixOf, poseAt } from "../../shared/geometry/colliderMotion.ts";
import type { Vec3 } from "../../shared/scene/scene.ts";
import { vertexNormalsInto } from "../../shared/skinning/index.ts";
import type { TopologyCollider } from "../../shared/topology.ts";

export interface Solid {
  /** float32[3n] m, at the scene's initial positions. */
  positions: Float32Array;
  triangles: Uint32Array;
  normals: Float32Array;
}

/** Segments around an axis, and along half a circle. */
const AROUND = 32;
const ARC = 10;

/** @returns null for a plane */
export function solidOf(collider: TopologyCollider): Solid | null {
  switch (collider.type) {
    case "plane":
      return null;
    case "mesh":
      return solid(float32Of(collider.positions), uint32Of(collider.triangles));
    case "box":
      return box(collider.center, collider.halfExtents, collider.rotate ?? [0, 0, 0]);
    case "sphere": {
      const [x, y, z] = collider.center;
      return turned([x, y, z], [x, y + 1, z], cap(collider.radius, 0, 0, Math.PI));
    }
    case "capsule": {
      const { a, b, radius } = collider;
      const half = Math.PI / 2;
      return turned(a, b, [...cap(radius, 0, 0, half), ...cap(radius, distance(a, b), half, Math.PI)]);
    }
    case "cylinder": {
      const { a, b, radius } = collider;
      const length = distance(a, b);
      return turned(a, b, [
        [0, 0],
        [radius, 0],
        [radius, length],
        [0, length],
      ]);
    }
    case "funnel": {
      const { a, b, radiusA, radiusB, thickness } = collider;
      const length = distance(a, b);
      const half = 0.5 * thickness;
      const inside = (radius: number): number => Math.max(0, radius - half);
      return turned(a, b, [
        [inside(radiusA), 0],
        [radiusA + half, 0],
        [radiusB + half, length],
        [inside(radiusB), length],
        [inside(radiusA), 0],
      ]);
    }
  }
}

/**
 * Moves a collider along its path.
 * @param points float32[3n] m, at the scene's initial positions
 * @param seconds since the room's first tick
 * @param off displacement from the path, m
 */
export function moved(collider: TopologyCollider, points: Float32Array, seconds: number, off: Vec3): Float32Array {
  if (!collider.motion) return points;
  const { translate, quaternion } = poseAt(compileMotion(collider.motion), seconds);
  const turn = matrixOf(quaternion);
  const center = centerOf(collider);
  const out = new Float32Array(points.length);
  for (let i = 0; i < out.length; i += 3)
    for (let r = 0; r < 3; r++) {
      let sum = center[r]! + translate[r]! + off[r]!;
      for (let c = 0; c < 3; c++) sum += turn[3 * r + c]! * (points[i + c]! - center[c]!);
      out[i + r] = sum;
    }
  return out;
}

/** Radius and height along an arc about the axis, from the lower pole (0) to the upper one (pi). */
function cap(radius: number, height: number, from: number, to: number): [number, number][] {
  return Array.from({ length: ARC + 1 }, (_, i) => {
    const angle = from + ((to - from) * i) / ARC;
    return [radius * Math.sin(angle), height - radius * Math.cos(angle)];
  });
}

/** @param outline radius, and height above `a` along the axis from `a` to `b`, m */
function turned(a: Vec3, b: Vec3, outline: readonly (readonly [number, number])[]): Solid {
  const axis: Vec3 = [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
  // Any two directions across the axis will do; `axesOf` is undefined for an upright axis.
  const upright = Math.hypot(axis[0], axis[2]) < 1e-9 * Math.abs(axis[1]);
  const length = Math.hypot(...axis);
  const along = axis.map((c) => c / length) as Vec3;
  const { right, up } = upright ? { right: [0, 0, along[1]] as Vec3, up: [1, 0, 0] as Vec3 } : axesOf(axis);
  const positions = new Float32Array(3 * AROUND * outline.length);
  const triangles: number[] = [];
  outline.forEach(([radius, height], ring) => {
    for (let i = 0; i < AROUND; i++) {
      const angle = (2 * Math.PI * i) / AROUND;
      const at = ring * AROUND + i;
      for (let r = 0; r < 3; r++)
        positions[3 * at + r] =
          a[r]! + height * along[r]! + radius * (Math.cos(angle) * right[r]! + Math.sin(angle) * up[r]!);
      if (ring === 0) continue;
      const next = ring * AROUND + ((i + 1) % AROUND);
      triangles.push(at - AROUND, next - AROUND, next, at - AROUND, next, at);
    }
  });
  return solid(positions, Uint32Array.from(triangles));
}

function box(center: Vec3, half: Vec3, rotate: Vec3): Solid {
  const angle = (Math.hypot(...rotate) * Math.PI) / 180;
  const scale = angle === 0 ? 0 : (Math.sin(angle / 2) * Math.PI) / 180 / angle;
  const turn = matrixOf([Math.cos(angle / 2), scale * rotate[0], scale * rotate[1], scale * rotate[2]]);
  const positions = new Float32Array(24);
  for (let corner = 0; corner < 8; corner++)
    for (let r = 0; r < 3; r++) {
      let sum = center[r]!;
      for (let c = 0; c < 3; c++) sum += turn[3 * r + c]! * (corner & (1 << c) ? half[c]! : -half[c]!);
      positions[3 * corner + r] = sum;
    }
  const faces = [
    [0, 2, 3, 1],
    [4, 5, 7, 6],
    [0, 1, 5, 4],
    [2, 6, 7, 3],
    [0, 4, 6, 2],
    [1, 3, 7, 5],
  ] as const;
  return solid(positions, Uint32Array.from(faces.flatMap(([a, b, c, d]) => [a, b, c, a, c, d])));
}

function solid(positions: Float32Array, triangles: Uint32Array): Solid {
  const normals = new Float32Array(positions.length);
  vertexNormalsInto(positions, triangles, normals);
  return { positions, triangles, normals };
}

const distance = (a: Vec3, b: Vec3): number => Math.hypot(b[0] - a[0], b[1] - a[1], b[2] - a[2]);
