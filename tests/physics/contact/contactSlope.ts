/**
 * A block on a slope, supported by a plane, the shape of a box, or surface contacts: the particles, edges and triangles
 * of another body or of a mesh collider. The slope is a level support with gravity turned. The block settles and leans
 * downhill under strong damping, because a sudden pull would swing it beyond its own friction. Then the damping is
 * removed and the motion of the next seconds is measured.
 */
import type { Body, Collider } from "../../../shared/scene/scene.ts";
import { laboratory } from "../laboratory.ts";
import { clothGrid, softBox } from "../../support/bodies.ts";

const G = 9.81;
const SIZE = 4;
const THICK = 0.5;

/** Supports of the block, with the upper face at y = 0. */
export const SUPPORTS: Record<string, (mu: number, staticMu: number) => { bodies: Body[]; colliders: Collider[] }> = {
  "a plane": (friction, staticFriction) => ({
    bodies: [],
    colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0, friction, staticFriction }],
  }),
  "a box collider": (friction, staticFriction) => ({
    bodies: [],
    colliders: [
      {
        type: "box",
        center: [0, -THICK / 2, 0],
        halfExtents: [SIZE / 2, THICK / 2, SIZE / 2],
        friction,
        staticFriction,
      },
    ],
  }),
  "a mesh collider": (friction, staticFriction) => ({
    bodies: [],
    colliders: [
      {
        type: "mesh",
        mesh: { type: "box", size: [SIZE, THICK, SIZE], cells: [9, 1, 9] },
        transform: { translate: [0, -THICK / 2, 0] },
        friction,
        staticFriction,
      },
    ],
  }),
  "a held body": (friction, staticFriction) => ({
    bodies: [
      softBox("support", [SIZE, THICK, SIZE], [9, 1, 9], {
        transform: { translate: [0, -THICK / 2, 0] },
        pins: [{ select: { box: { min: [-9, -9, -9], max: [9, 9, 9] } } }],
        material: { density: 500, youngsModulus: 1e6, poissonsRatio: 0.3, friction },
        contact: { staticFriction },
      }),
    ],
    colliders: [],
  }),
};

export interface Slope {
  /** Tangent of the slope's angle. */
  tangent: number;
  mu: number;
  /** Default: mu. */
  staticMu?: number;
  /** Initial velocity downhill, m/s. */
  speed?: number;
  /** Slide a sheet instead of a block. Its weight is uniform, so all of it starts to slide at once. */
  sheet?: boolean;
  /** Slide a rigid block instead of a soft one. */
  rigid?: boolean;
  substeps?: number;
  iterations?: number;
  /** Of a soft block, Pa. */
  youngsModulus?: number;
}

/** @returns distance after `seconds` and mean acceleration along the slope; ideal: g (sin theta - mu cos theta) */
export async function slide(
  support: string,
  { tangent, mu, staticMu = mu, speed = 0, sheet, rigid, substeps = 20, iterations = 1, youngsModulus = 1e6 }: Slope,
  seconds = 1,
): Promise<{ way: number; acceleration: number; ideal: number; aside: number }> {
  const theta = Math.atan(tangent);
  const { bodies, colliders } = SUPPORTS[support]!(mu, staticMu);
  const lab = await laboratory({
    substeps,
    iterations,
    worldRadius: 1000,
    gravity: [0, -G * Math.cos(theta), 0],
    colliders,
    bodies: [
      sheet
        ? clothGrid("sheet", [0.3, 0.3], [3, 3], {
            transform: { translate: [-0.413, 0.015, 0.021], rotate: [0, 11, 0] },
            material: {
              density: 500,
              thickness: 0.002,
              youngsModulus: 1e6,
              poissonsRatio: 0.3,
              friction: mu,
              damping: 20,
            },
            contact: { staticFriction: staticMu },
          })
        : softBox("block", [0.3, 0.1, 0.3], [3, 1, 3], {
            transform: { translate: [-0.413, 0.065, 0.021], rotate: [0, 11, 0] },
            material: rigid
              ? { density: 500, model: "shape-matching", mode: "rigid", friction: mu, damping: 20 }
              : { density: 500, youngsModulus, poissonsRatio: 0.3, friction: mu, damping: 20 },
            contact: { staticFriction: staticMu },
          }),
      ...bodies,
    ],
  });
  const { first, count } = lab.created.layout.bodies[0]!;
  const mean = (rows: Float64Array, axis = 0): number =>
    rows.filter((_, k) => k % 3 === axis).reduce((a, b) => a + b, 0) / (rows.length / 3);
  lab.run(90);
  for (let i = first; i < first + count; i++) lab.acceleration[4 * i] = G * Math.sin(theta);
  lab.run(60);
  for (let i = first; i < first + count; i++) {
    lab.v[4 * i + 3] = 0;
    lab.v[4 * i]! += speed;
  }
  const x = mean(lab.positions());
  const z = mean(lab.positions(), 2);
  const v = mean(lab.velocities());
  lab.run(60 * seconds);
  return {
    way: mean(lab.positions()) - x,
    aside: mean(lab.positions(), 2) - z,
    acceleration: (mean(lab.velocities()) - v) / seconds,
    ideal: G * (Math.sin(theta) - mu * Math.cos(theta)),
  };
}
