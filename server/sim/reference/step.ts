/**
 * A whole room in float64, stepped like kernel/assembly/step/step.ts: an independent solver for tests, thousands of
 * times slower. It performs the same operations in the same order on the loader's element arrays and color lists.
 *
 *   tick      contacts; per substep: predict, iterations x (every schedule's bodies: sweep.ts; enclosed volumes;
 *             points; contacts), balance, velocity, restore, collide, missed contacts, plastic flow, dashpots' strains
 */
import { collide, type ReferenceCollider } from "./collide.ts";
import { solveEnclosedVolumes, type ReferenceEnclosed } from "../constraints/enclosedVolume.ts";
import { measureMomentumError, keepMomentum, restore, wholeMomentum } from "./momentum.ts";
import { flow } from "./plasticity.ts";
import { keepPast } from "./dashpots.ts";
import { predict, updateVelocity, type Particles } from "./particles.ts";
import { solvePoint, type HeldPoint } from "./points.ts";
import { iterateGroup, startSweep, type ReferenceGroup } from "./sweep.ts";
import { solveContacts, type ReferenceContactPair } from "./contacts.ts";
import { pushAllApart, updatePushed, type Detection } from "./contactResponse.ts";

export interface ReferenceWorld {
  particles: Particles;
  /** Bodies by schedule. */
  groups: ReferenceGroup[];
  enclosed: ReferenceEnclosed[];
  points: HeldPoint[];
  colliders: ReferenceCollider[];
  /** Absent: no contact. */
  contact?: ReferenceContact;
  /** Bodies without supports and contacts: first particle and count. */
  free: readonly ParticleRange[];
  tickSeconds: number;
  substeps: number;
  iterations: number;
}

interface ParticleRange {
  first: number;
  count: number;
}

export interface ReferenceContact {
  /**
   * At [s]: the pairs of substep s in their solving order, with their directions and weights. The kernel decides when a
   * pair is checked, and so where a direction comes from (it skips checks that it can prove needless).
   */
  solved: (readonly ReferenceContactPair[])[];
  /** At the end of each substep: all pairs that may have met in it. */
  verified: (readonly ReferenceContactPair[])[];
  /** Bodies in free flight in each substep: no checked pair contains them. Absent: the room's `free`. */
  free?: (readonly ParticleRange[])[];
  detect: Detection;
}

export function stepTick(world: ReferenceWorld): void {
  const { particles, groups, enclosed, points, colliders, contact } = world;
  const h = world.tickSeconds / world.substeps;
  for (let substep = 0; substep < world.substeps; substep++) {
    for (const { constraints } of groups) {
      for (const { elements } of constraints) {
        if (elements.kind !== "neo-hookean" && elements.kind !== "stable-neo-hookean") continue;
        elements.tangled = elements.folded ?? false;
        elements.folded = false;
      }
    }
    const safe = Float64Array.from(particles.x);
    predict(particles, h);
    const states = groups.map((group) => startSweep(particles, group));
    for (const volume of enclosed) volume.lambda = 0;
    for (const point of points) point.lambda = [0, 0, 0];
    for (let iteration = 0; iteration < world.iterations; iteration++) {
      groups.forEach((group, g) => iterateGroup(particles, group, states[g]!, iteration, h));
      for (const volume of enclosed) solveEnclosedVolumes(particles, volume, h);
      for (const point of points) solvePoint(particles, point, h);
      if (contact) solveContacts(particles, contact.solved[substep]!, h);
    }
    const free = contact?.free?.[substep] ?? world.free;
    const motions = free.map((b) => measureMomentumError(particles, b.first, b.count, h));
    updateVelocity(particles, h);
    free.forEach((b, n) => restore(particles, b.first, b.count, motions[n]!, h));
    collide(particles, colliders, h, contact && { safe });
    if (contact) {
      // all checked pairs of the list, whether a direction would clear them or not
      const touches = contact.verified[substep]!;
      const momenta = free.map((b) => wholeMomentum(particles, b.first, b.count));
      const pushed = pushAllApart(particles, safe, touches, touches, contact.detect);
      updatePushed(
        particles,
        pushed,
        touches.map((touch) => ({ ...touch })),
        h,
      );
      if (pushed.size > 0) free.forEach((b, n) => keepMomentum(particles, b.first, b.count, momenta[n]!));
    }
    for (const { constraints } of groups)
      for (const { elements } of constraints)
        if (elements.kind === "tet-plastic") flow(particles.x, elements, h, world.iterations);
        else keepPast(particles.x, elements);
  }
}
