/**
 * Rapier's soft bodies with contact, as WebAssembly (npm `@dimforge/rapier3d-compat`): a cloth with self-contact and
 * contact with a scene's colliders, moved by kinematic particles. Stiffness, iterations and all other parameters
 * without a counterpart in the scene have Rapier's defaults.
 */
import RAPIER from "@dimforge/rapier3d-compat";
import type { Collider, Vec3 } from "../../shared/scene/scene.ts";

/** Half extents of the box that represents a plane, m. */
const SLAB: Vec3 = [10, 1, 10];

export interface ClothProblem {
  /** float64[3*V], m */
  positions: Float64Array;
  /** uint32[3*T] */
  triangles: Uint32Array;
  /** Mass of all particles together, kg. */
  mass: number;
  /** m */
  thickness: number;
  friction: number;
  /** 1/s */
  damping: number;
  colliders: readonly Collider[];
  tickHz: number;
}

export interface ClothPeer {
  /** Performs one tick. @param led target positions of kinematic particles at its end, m; all others are free */
  step(led: ReadonlyMap<number, Vec3>): void;
  /** float32[3*V], m */
  positions(): Float32Array;
}

const at = ([x, y, z]: readonly number[]): { x: number; y: number; z: number } => ({ x: x!, y: y!, z: z! });

/** @throws RangeError for a type of collider that the comparison does not support */
function colliderDesc(collider: Collider): RAPIER.ColliderDesc {
  switch (collider.type) {
    case "plane": {
      const [x, y, z] = collider.normal;
      if (x !== 0 || z !== 0 || y <= 0)
        throw new RangeError(`rapier: normal is ${collider.normal.join(" ")}, but must be upright`);
      return RAPIER.ColliderDesc.cuboid(...SLAB).setTranslation(0, collider.offset / y - SLAB[1], 0);
    }
    case "sphere":
      return RAPIER.ColliderDesc.ball(collider.radius).setTranslation(...collider.center);
    case "box":
      return RAPIER.ColliderDesc.cuboid(...collider.halfExtents)
        .setTranslation(...collider.center)
        .setRotation(turn(collider.rotate ?? [0, 0, 0]));
    case "capsule": {
      const { a, b, radius } = collider;
      const axis = [0, 1, 2].map((r) => b[r]! - a[r]!);
      const length = Math.hypot(...axis);
      const middle = [0, 1, 2].map((r) => (a[r]! + b[r]!) / 2) as Vec3;
      return RAPIER.ColliderDesc.capsule(length / 2, radius)
        .setTranslation(...middle)
        .setRotation(fromUp(axis.map((c) => c / length)));
    }
    default:
      throw new RangeError(`rapier: collider is a ${collider.type}, but must be a plane, a sphere, a box or a capsule`);
  }
}

/** Quaternion of a rotation vector in degrees. */
function turn(rotate: Vec3): { x: number; y: number; z: number; w: number } {
  const angle = Math.hypot(...rotate);
  const half = (angle * Math.PI) / 360;
  const scale = angle > 0 ? Math.sin(half) / angle : 0;
  return { x: scale * rotate[0], y: scale * rotate[1], z: scale * rotate[2], w: Math.cos(half) };
}

/** Quaternion that rotates the y axis onto a unit vector other than -y. */
function fromUp([x, y, z]: readonly number[]): { x: number; y: number; z: number; w: number } {
  const w = 1 + y!;
  const length = Math.hypot(z!, x!, w);
  return { x: z! / length, y: 0, z: -x! / length, w: w / length };
}

export async function rapierCloth({
  positions,
  triangles,
  mass,
  thickness,
  friction,
  damping,
  colliders,
  tickHz,
}: ClothProblem): Promise<ClothPeer> {
  await RAPIER.init();
  const world = new RAPIER.World({ x: 0, y: -9.81, z: 0 });
  world.timestep = 1 / tickHz;
  for (const collider of colliders) world.createCollider(colliderDesc(collider).setFriction(collider.friction ?? 0.5));
  const desc = RAPIER.SoftBodyDesc.trimesh(Float32Array.from(positions), triangles);
  const count = positions.length / 3;
  if (desc?.numParticles() !== count)
    throw new Error(`rapier: the cloth has ${desc?.numParticles() ?? "no"} particles, but must have ${count}`);
  desc
    .setShapeMatching(false)
    .setVolumePreservation(false)
    .setSelfContacts(true)
    .setMass(mass)
    .setParticleRadius(thickness / 2)
    .setLinearDamping(damping)
    .setCanSleep(false);
  desc.setSurfaceCollider(new RAPIER.ColliderDesc(new RAPIER.Ball(thickness)).setFriction(friction));
  const cloth = world.createSoftBody(desc);
  const pinned = new Set<number>();
  return {
    step(led) {
      for (const particle of pinned) {
        if (led.has(particle)) continue;
        cloth.setParticlePinned(particle, false);
        pinned.delete(particle);
      }
      for (const [particle, target] of led) {
        if (!pinned.has(particle)) cloth.setParticlePinned(particle, true);
        pinned.add(particle);
        cloth.setParticleKinematicTarget(particle, at(target));
      }
      world.step();
    },
    positions: () => cloth.particlePositions(),
  };
}
