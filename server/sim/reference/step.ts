/**
 * A whole room in float64, step by step as kernel/assembly/crew.ts takes it: an independent solver for tests, thousands of times slower.
 * Given the loader's element arrays and color lists it does the same things in the same order.
 *
 *   tick      contacts; per substep: predict, iterations x (tetrahedra, triangles, bending by color; points; contacts), balance, velocity,
 *             restore, collide
 */
import { PARTICLES_PER_ELEMENT, type Elements } from "../constraints/elements.ts";
import { collide, type ReferenceCollider } from "./collide.ts";
import { findContacts, solveContacts, type ReferenceSurface } from "./contacts.ts";
import { balance, restore } from "./momentum.ts";
import { predict, updateVelocity, type Particles } from "./particles.ts";
import { solvePoint, type HeldPoint } from "./points.ts";
import { solveConstraint, TWINS } from "./twins.ts";

/** Constraints of one kind, their particle numbers those of the room, and the order in which they are solved. */
export interface ReferenceConstraints {
  elements: Elements;
  /** Constraint numbers, color by color. */
  colors: readonly (readonly number[])[];
}

export interface ReferenceWorld {
  particles: Particles;
  /** All tetrahedra before all triangles before all bending stencils. */
  constraints: ReferenceConstraints[];
  points: HeldPoint[];
  colliders: ReferenceCollider[];
  surfaces: ReferenceSurface[];
  /** Bodies that nothing holds or touches: first particle and count. */
  free: { first: number; count: number }[];
  tickSeconds: number;
  substeps: number;
  iterations: number;
}

export function stepTick(world: ReferenceWorld): void {
  const { particles, constraints, points, colliders, free } = world, h = world.tickSeconds / world.substeps;
  const contacts = findContacts(particles, world.surfaces, world.tickSeconds);
  const memories = constraints.map(({ elements: e }) => new Float64Array((e.particles.length / PARTICLES_PER_ELEMENT[e.kind]) * TWINS[e.kind].memory));
  for (let substep = 0; substep < world.substeps; substep++) {
    predict(particles, h);
    for (const memory of memories) memory.fill(0);
    for (const point of points) point.lambda = [0, 0, 0];
    for (let iteration = 0; iteration < world.iterations; iteration++) {
      constraints.forEach(({ elements: e, colors }, n) => {
        for (const color of colors) {
          for (const i of color) solveConstraint(particles, e, i, memories[n]!, h);
        }
      });
      for (const point of points) solvePoint(particles, point, h);
      solveContacts(particles, contacts);
    }
    const motions = free.map((b) => balance(particles, b.first, b.count, h));
    updateVelocity(particles, h);
    free.forEach((b, n) => restore(particles, b.first, b.count, motions[n]!, h));
    collide(particles, colliders, h);
  }
}
