/**
 * A whole room in float64, step by step as kernel/assembly/crew.ts takes it: an independent solver for tests, thousands of times slower.
 * Given the loader's element arrays and color lists it does the same things in the same order.
 *
 *   tick      contacts; per substep: predict, iterations x (every schedule's bodies: sweep.ts; enclosed volumes; points; contacts), balance,
 *             velocity, restore, collide, plastic flow
 */
import { collide, type ReferenceCollider } from "./collide.ts";
import { findContacts, solveContacts, type ReferenceSurface } from "./contacts.ts";
import { solveEnclosed, type ReferenceEnclosed } from "./geometric.ts";
import { balance, restore } from "./momentum.ts";
import { flow } from "./plasticity.ts";
import { predict, updateVelocity, type Particles } from "./particles.ts";
import { solvePoint, type HeldPoint } from "./points.ts";
import { iterateGroup, startSweep, type ReferenceGroup } from "./sweep.ts";

export interface ReferenceWorld {
  particles: Particles;
  /** Bodies by schedule. */
  groups: ReferenceGroup[];
  enclosed: ReferenceEnclosed[];
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
  const { particles, groups, enclosed, points, colliders, free } = world, h = world.tickSeconds / world.substeps;
  const contacts = findContacts(particles, world.surfaces, world.tickSeconds);
  for (let substep = 0; substep < world.substeps; substep++) {
    for (const { constraints } of groups) {
      for (const { elements } of constraints) {
        if (elements.kind !== "neo-hookean" && elements.kind !== "stable-neo-hookean") continue;
        elements.tangled = elements.folded ?? false;
        elements.folded = false;
      }
    }
    predict(particles, h);
    const states = groups.map((group) => startSweep(particles, group));
    for (const volume of enclosed) volume.lambda = 0;
    for (const point of points) point.lambda = [0, 0, 0];
    for (let iteration = 0; iteration < world.iterations; iteration++) {
      groups.forEach((group, g) => iterateGroup(particles, group, states[g]!, iteration, h));
      for (const volume of enclosed) solveEnclosed(particles, volume, h);
      for (const point of points) solvePoint(particles, point, h);
      solveContacts(particles, contacts);
    }
    const motions = free.map((b) => balance(particles, b.first, b.count, h));
    updateVelocity(particles, h);
    free.forEach((b, n) => restore(particles, b.first, b.count, motions[n]!, h));
    collide(particles, colliders, h);
    for (const { constraints } of groups) for (const { elements } of constraints) if (elements.kind === "tet-plastic") flow(particles.x, elements, h, world.iterations);
  }
}
