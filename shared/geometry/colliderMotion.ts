/**
 * Pose of a moving collider: a pure function of the room's time. The simulation (kernel/assembly/colliders/motion.ts
 * evaluates the same keys), the waking of rooms, and the clients that draw it use the same function:
 *   p(t) = center + translate(t) + R(t) (p - center)
 * Translations and rotation vectors are interpolated linearly between keys. Rotation vectors are converted to unit
 * quaternions here, once, with the host's sine and cosine, every STEP degrees of turn. Between those, normalized linear
 * interpolation is within 1e-5 degrees of a uniform turn and needs only + - * / sqrt.
 */
import type { AnalyticCollider, Collider, Transform, Vec3 } from "../scene/scene.ts";

export type Quaternion = [w: number, x: number, y: number, z: number];

/** Relative to the collider's position in the scene. */
export interface Pose {
  translate: Vec3;
  quaternion: Quaternion;
}

interface PathKey extends Pose {
  /** s */
  time: number;
}

export interface Path {
  keys: PathKey[];
  loop: boolean;
}

/** Degrees between two quaternions. */
const STEP = 5;

/** @param motion of a collider, validated: ascending times from 0 */
export function compileMotion(motion: NonNullable<Collider["motion"]>): Path {
  const keys: PathKey[] = [];
  motion.keys.forEach((to, i) => {
    const from = motion.keys[Math.max(i - 1, 0)]!;
    const r0 = from.rotate ?? [0, 0, 0];
    const r1 = to.rotate ?? [0, 0, 0];
    const t0 = from.translate ?? [0, 0, 0];
    const t1 = to.translate ?? [0, 0, 0];
    const pieces = i === 0 ? 1 : Math.max(1, Math.ceil(length(r1.map((r, k) => r - r0[k]!)) / STEP));
    for (let p = 1; p <= pieces; p++) {
      const s = p / pieces;
      const between = (a: Vec3, b: Vec3): Vec3 => a.map((value, k) => value + s * (b[k]! - value)) as Vec3;
      const quaternion = quaternionOf(between(r0, r1));
      const last = keys[keys.length - 1]?.quaternion;
      // q and -q are the same rotation: the nearer one gives the shorter path
      if (last && quaternion.reduce((sum, q, k) => sum + q * last[k]!, 0) < 0)
        quaternion.forEach((q, k) => (quaternion[k] = -q));
      keys.push({ time: from.time + s * (to.time - from.time), translate: between(t0, t1), quaternion });
    }
  });
  return { keys, loop: motion.loop ?? false };
}

/** Unit quaternion of a rotation vector (axis times angle, degrees). */
function quaternionOf(vector: Vec3): Quaternion {
  const degrees = length(vector);
  const half = (degrees * Math.PI) / 360;
  if (degrees === 0) return [1, 0, 0, 0];
  const s = Math.sin(half) / degrees;
  return [Math.cos(half), s * vector[0], s * vector[1], s * vector[2]];
}

/** @param time s since the room's first tick */
export function poseAt(path: Path, time: number): Pose {
  const { keys } = path;
  const end = keys[keys.length - 1]!.time;
  const t = path.loop ? time - Math.floor(time / end) * end : time;
  let low = 0;
  let high = keys.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (keys[middle]!.time <= t) low = middle;
    else high = middle;
  }
  const a = keys[low]!;
  const b = keys[high]!;
  const s = b.time > a.time ? Math.max(0, Math.min(1, (t - a.time) / (b.time - a.time))) : 0;
  const quaternion = a.quaternion.map((q, k) => q + s * (b.quaternion[k]! - q)) as Quaternion;
  const unit = 1 / length(quaternion);
  return {
    translate: a.translate.map((value, k) => value + s * (b.translate[k]! - value)) as Vec3,
    quaternion: quaternion.map((q) => unit * q) as Quaternion,
  };
}

/** Whether the pose changes between two times. Pauses between equal keys do not count. */
export function stirs(path: Path, from: number, to: number): boolean {
  const { keys, loop } = path;
  const end = keys[keys.length - 1]!.time;
  const rounds = loop ? Math.floor(from / end) * end : 0;
  const differ = (a: Pose, b: Pose): boolean =>
    a.translate.some((v, k) => v !== b.translate[k]) || a.quaternion.some((v, k) => v !== b.quaternion[k]);
  // a loop jumps from its last pose to its first; intervals longer than a round count as a whole round
  if (loop && to - rounds >= end) return keys.some((key) => differ(key, keys[0]!));
  return keys.some(
    (b, i) => i > 0 && keys[i - 1]!.time < to - rounds && b.time > from - rounds && differ(keys[i - 1]!, b),
  );
}

/**
 * Properties of a collider that determine its center of rotation: from a scene, or from a topology with loaded meshes.
 */
export type Placeable = AnalyticCollider | { type: "mesh"; transform?: Transform } | { type: "mesh"; center: Vec3 };

/**
 * The center of rotation of a collider: of a plane the point nearest to the origin, of colliders between two ends their
 * midpoint, of a mesh its own origin.
 */
export function centerOf(c: Placeable): Vec3 {
  switch (c.type) {
    case "plane": {
      const square = c.normal[0] ** 2 + c.normal[1] ** 2 + c.normal[2] ** 2;
      return c.normal.map((n) => (n * c.offset) / square) as Vec3;
    }
    case "sphere":
    case "box":
      return c.center;
    case "capsule":
    case "cylinder":
    case "funnel":
      return c.a.map((a, r) => 0.5 * (a + c.b[r]!)) as Vec3;
    case "mesh":
      return "center" in c ? c.center : (c.transform?.translate ?? [0, 0, 0]);
  }
}

/** Rotation matrix of a unit quaternion, row by row. */
export function matrixOf([w, x, y, z]: Quaternion): number[] {
  return [
    1 - 2 * (y * y + z * z),
    2 * (x * y - w * z),
    2 * (x * z + w * y),
    2 * (x * y + w * z),
    1 - 2 * (x * x + z * z),
    2 * (y * z - w * x),
    2 * (x * z - w * y),
    2 * (y * z + w * x),
    1 - 2 * (x * x + y * y),
  ];
}

function length(a: readonly number[]): number {
  return Math.sqrt(a.reduce((sum, c) => sum + c * c, 0));
}
