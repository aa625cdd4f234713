/** A loaded room for the float64 step: the same float32 numbers, the same elements, the same color lists. */
import { CONSTRAINTS, ELEMENT_KINDS, type Elements } from "../../server/sim/constraints/kinds.ts";
import type { Scene } from "../../shared/scene.ts";
import * as L from "../../server/kernel/assembly/layout/layout.ts";
import { colorConstraints } from "../../server/sim/constraints/color.ts";
import type { CreatedWorld } from "../../server/sim/createWorld.ts";
import type { ReferenceCollider } from "../../server/sim/reference/collide.ts";
import { makeParticles, type Particles } from "../../server/sim/reference/particles.ts";
import type { ReferenceWorld } from "../../server/sim/reference/step.ts";
import type { ReferenceGroup } from "../../server/sim/reference/sweep.ts";
import { roundElements } from "./kit.ts";

/** Copies the kernel's particles into the twin's. */
export function copyParticles(created: CreatedWorld, p: Particles): void {
  const { layout, memory } = created;
  const f32 = new Float32Array(memory.buffer);
  const i32 = new Int32Array(memory.buffer);
  const acc = i32[(L.HEADER + L.H_ACC) / 4]!;
  for (let i = 0; i < p.count; i++) {
    const row = (array: number): Float32Array => f32.subarray(array / 4 + 4 * i, array / 4 + 4 * i + 4);
    const [x, xPrev, v, a] = [row(layout.x), row(layout.xPrev), row(layout.v), row(acc)] as const;
    p.x.set(x.subarray(0, 3), 3 * i);
    p.xPrev.set(xPrev.subarray(0, 3), 3 * i);
    p.v.set(v.subarray(0, 3), 3 * i);
    p.acceleration.set(a.subarray(0, 3), 3 * i);
    p.w[i] = x[3]!;
    p.radius[i] = xPrev[3]!;
    p.damping[i] = v[3]!;
    p.rootFriction[i] = a[3]!;
  }
}

/** @param free bodies whose momentum is kept; attachments and grabs are not copied */
export function referenceRoom(
  scene: Scene,
  created: CreatedWorld,
  colliders: ReferenceCollider[],
  free: number[],
): ReferenceWorld {
  const { layout, bodies } = created;
  const particles = makeParticles(layout.particleCount);
  copyParticles(created, particles);
  const groups = new Map<string, ReferenceGroup>();
  bodies.forEach((body, b) => {
    const key = JSON.stringify(body.schedule);
    const group = groups.get(key) ?? { schedule: body.schedule, constraints: [], particles: [] };
    groups.set(key, group);
    group.particles.push(...Array.from({ length: body.particleCount }, (_, i) => layout.bodies[b]!.first + i));
  });
  for (const kind of ELEMENT_KINDS) {
    bodies.forEach((body, b) =>
      body.elements
        .filter((e) => e.kind === kind)
        .forEach((e) => {
          // bodies share no particle, so body after body is also the kernel's order
          const elements: Elements = {
            ...roundElements(e),
            particles: e.particles.map((p) => p + layout.bodies[b]!.first),
          };
          groups.get(JSON.stringify(body.schedule))!.constraints.push({
            elements,
            form: body.form,
            colors: colorConstraints(e.particles, CONSTRAINTS[kind].corners, body.particleCount),
          });
        }),
    );
  }
  return {
    particles,
    groups: [...groups.values()],
    points: [],
    colliders,
    enclosed: bodies.flatMap((body, b) =>
      body.enclosed
        ? [
            {
              ...body.enclosed,
              alpha: Math.fround(body.enclosed.alpha),
              stiffness: Math.fround(body.enclosed.stiffness),
              first: layout.bodies[b]!.first,
              count: body.streamedCount,
              triangles: body.triangles.map((p) => p + layout.bodies[b]!.first),
              lambda: 0,
            },
          ]
        : [],
    ),
    free: free.map((b) => ({ first: layout.bodies[b]!.first, count: layout.bodies[b]!.count })),
    tickSeconds: 1 / (scene.tickHz ?? 60),
    substeps: layout.substeps,
    iterations: layout.iterations,
  };
}
