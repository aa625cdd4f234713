/** Makes the layout of a planned world: the addresses and meanings that readers of its memory need. */
import type { Collider } from "../../../shared/scene/scene.ts";
import * as L from "../../kernel/assembly/layout/layout.ts";
import { anchorsOf, carriersOf, hangingOf } from "./attachments.ts";
import { type BodyTemplate, ownStep } from "../body/template.ts";
import { ELEMENT_KINDS, type ElementKind } from "../constraints/kinds.ts";
import { SCENE_DEFAULTS } from "../scene/defaults.ts";
import type { BodyLayout, SimLayout } from "./worldLayout.ts";
import type { WorldPlan } from "../memory/planWorld.ts";
import type { ColorRange } from "../memory/writeBlocks.ts";
import type { World } from "./readWorld.ts";
import { verificationRate } from "../scene/substeps.ts";
import { checkMotion, MOST_SIZES, mostSpeed, tuningLimits } from "../tuning/motionLimits.ts";
import { packRuns } from "../tuning/retune.ts";
import { tunableOf, type TunableBody } from "../tuning/tunable.ts";
import { loadsOf, tunedAs } from "../tuning/applyTuning.ts";
import { windOf } from "../tuning/windRow.ts";

export function describeWorld(world: World, plan: WorldPlan): SimLayout {
  const { inWorld, scene, bodies, counts, origin, massUnit, steps } = world;
  const { planned, attachments, points, grabCount, memoryMap } = plan;
  const gravity = scene.gravity ?? SCENE_DEFAULTS.gravity;
  const tunable = tunableBodies(world, plan);
  const tuned = tunedAs({ gravity, wind: windOf(inWorld.wind), timeScale: scene.timeScale ?? 1 }, tunable);
  const layouts = bodyLayouts(world, plan);
  const rate = verificationRate(steps);
  checkMotion(layouts, { tuned, grabSpeed: scene.interaction?.grabSpeed, bodies: world.far.map(freeLoads) }, rate);
  const { x, xPrev, v, initial, good, bodyRows, anchor, still, scratch, tuning, looks, pins } = plan;
  const { grabOwners, grabOffsets, grabGoals, grabEdges, solid, obstacles } = plan;
  return {
    ...steps,
    particleCount: counts.real,
    bodyRows,
    memories: planned.ranges
      .filter((r) => r.memory)
      .map((r) => ({ address: r.memory, bytes: r.blocks * L.WARM_START_BYTES })),
    streamedParticles: counts.streamed,
    bodyCount: bodies.length,
    bodies: layouts,
    cores: solid.layouts,
    movers: obstacles.movers,
    x,
    xPrev,
    v,
    initial,
    good,
    states: statesOf(plan),
    methods: plan.methods.layouts,
    blown: plan.wind.triangles,
    ...(plan.reference && { reference: plan.reference.layout }),
    points,
    attachmentCount: attachments.length,
    grabFirst: points + attachments.length * L.POINT_BYTES,
    grabCount,
    grabOwners,
    grabOffsets,
    grabGoals,
    grabEdges,
    anchor,
    still,
    scratch,
    lists: memoryMap.lists,
    end: memoryMap.end,
    origin,
    massUnit,
    worldRadius: scene.worldRadius ?? SCENE_DEFAULTS.worldRadius,
    quantum: scene.quantum ?? SCENE_DEFAULTS.quantum,
    gravity,
    ...{ tuning, looks, pins },
    tuned,
    limits: tuningLimits(layouts, tunable, tuned, steps),
    tunable,
    materialRuns: packRuns(planned.materials),
    enclosed: plan.enclosed.rows,
    intersections: scene.intersections ?? SCENE_DEFAULTS.intersections,
    interaction: interactionOf(scene, MOST_SIZES * rate * Math.min(...layouts.map(({ size }) => size))),
    blocks: byKind(planned.ranges, (r) => r.blocks),
    colors: byKind(planned.ranges, () => 1),
  };
}

function statesOf({ planned, shapes, implicit, prefactored, methods, reference }: WorldPlan): SimLayout["states"] {
  const others = [shapes, implicit, prefactored, methods].flatMap(({ states }) => states);
  return [...planned.states, ...others, ...(reference ? [reference.run] : [])];
}

function tunableBodies({ inWorld, far, scene, bodies }: World, { methods }: WorldPlan): TunableBody[] {
  return inWorld.bodies.map((body, b) =>
    tunableOf(
      body,
      far[b]!,
      () => anchorsOf(scene, bodies, b),
      methods.layouts.find((own) => own.body === b),
    ),
  );
}

function bodyLayouts(world: World, { surfaces, undeformed }: WorldPlan): BodyLayout[] {
  const { scene, bodies, firsts, colliders, steps, massUnit } = world;
  const carriers = carriersOf(scene);
  const hanging = hangingOf(scene);
  let streamedFirst = 0;
  return bodies.map((b, i) => {
    const size = diagonal(b.positions);
    const layout: BodyLayout = {
      name: b.name,
      kind: b.kind,
      first: firsts[i]!,
      count: b.particleCount,
      damping: b.damping,
      staticFriction: scene.bodies[i]!.contact?.staticFriction,
      loads: loadsOf(b),
      streamedFirst,
      streamedCount: b.streamedCount,
      surface: surfaces.rows + i * L.SURFACE_BYTES,
      meanEdge: b.meanEdge,
      rest: undeformed.shapes[i],
      size,
      facing: facingOf(b) * massUnit,
      // an unstable method must be held, not slowed down
      mostSpeed: scene.bodies[i]!.method
        ? Infinity
        : mostSpeed(size, 1 / verificationRate(steps), scene.bodies[i]!.velocity),
      startsDegenerate: b.start !== undefined,
      spawnable: b.spawnable,
      implicit: ownStep(b),
      hangs: hanging[i]!,
      carrier: carrierAt(colliders, carriers[i]),
    };
    streamedFirst += b.streamedCount;
    return layout;
  });
}

/**
 * Mass over the area that a body shows to the air: all of a sheet, a quarter of a closed surface (the average of a
 * convex one, A. Cauchy 1832); 0: no area.
 */
function facingOf({ kind, positions: x, triangles, mass }: BodyTemplate): number {
  let area = 0;
  for (let t = 0; t < triangles.length; t += 3) {
    const at = (k: number, r: number): number => x[3 * triangles[t + k]! + r]! - x[3 * triangles[t]! + r]!;
    const normal = [0, 1, 2].map((r) => {
      const [s, u] = [(r + 1) % 3, (r + 2) % 3];
      return at(1, s) * at(2, u) - at(1, u) * at(2, s);
    });
    area += 0.5 * Math.hypot(...normal);
  }
  const shown = kind === "cloth" ? area : area / 4;
  return shown > 0 ? mass.reduce((sum, m) => sum + m, 0) / shown : 0;
}

/** Mass of a body's free particles, kg, and the length of the sum of all forces on them, N. */
function freeLoads({ mass, pinned, force }: BodyTemplate): { mass: number; force: number } {
  const sum = [0, 0, 0];
  let free = 0;
  mass.forEach((m, i) => {
    if (pinned[i]) return;
    free += m;
    for (let r = 0; r < 3; r++) sum[r]! += force[3 * i + r]!;
  });
  return { mass: free, force: Math.hypot(...sum) };
}

/** @param fastest upper bound of the default grabSpeed, m/s */
function interactionOf({ interaction = {}, bodies }: World["scene"], fastest: number): SimLayout["interaction"] {
  return {
    grabCompliance: interaction.grabCompliance ?? SCENE_DEFAULTS.grabCompliance,
    grabMaxForce: interaction.grabMaxForce ?? SCENE_DEFAULTS.grabMaxForce,
    grabRadius: interaction.grabRadius ?? 0,
    grabSpeed: interaction.grabSpeed ?? Math.min(fastest, SCENE_DEFAULTS.grabSpeed),
    grabMaxStretch: interaction.grabMaxStretch ?? SCENE_DEFAULTS.grabMaxStretch,
    maxImpulse: interaction.maxImpulse ?? SCENE_DEFAULTS.maxImpulse,
    together: (interaction.together ?? []).map((name) => bodies.findIndex((body) => body.name === name)),
  };
}

const byKind = (ranges: readonly ColorRange[], of: (r: ColorRange) => number): Record<ElementKind, number> =>
  Object.fromEntries(
    ELEMENT_KINDS.map((kind) => [kind, ranges.filter((r) => r.kind === kind).reduce((n, r) => n + of(r), 0)]),
  ) as Record<ElementKind, number>;

/** Index of a collider among the moving ones. */
function carrierAt(colliders: readonly Collider[], carrier: number | undefined): number | undefined {
  return carrier === undefined ? undefined : colliders.slice(0, carrier).filter((c) => c.motion).length;
}

function diagonal(positions: Float64Array): number {
  let sum = 0;
  for (let r = 0; r < 3; r++) {
    let low = Infinity;
    let high = -Infinity;
    for (let i = r; i < positions.length; i += 3) {
      low = Math.min(low, positions[i]!);
      high = Math.max(high, positions[i]!);
    }
    sum += (high - low) ** 2;
  }
  return Math.sqrt(sum);
}
