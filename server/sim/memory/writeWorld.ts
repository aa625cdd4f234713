/** Writes the initial bytes of a planned world. */
import * as L from "../../kernel/assembly/layout/layout.ts";
import { drawn, resolveAttachment } from "../world/attachments.ts";
import { startPositions } from "../body/start.ts";
import { ownStep, type BodyTemplate } from "../body/template.ts";
import { SCENE_DEFAULTS } from "../scene/defaults.ts";
import { invertedLimit } from "../scene/materialConstants.ts";
import { CALM, driftSize, laterPart } from "../scene/laterPart.ts";
import { soundPace, speedOfSound } from "../scene/sound.ts";
import type { World } from "../world/readWorld.ts";
import type { WorldPlan } from "./planWorld.ts";
import { MOST_PAGES, PAGES_PER_MIB } from "./memoryMap.ts";
import { writePoint } from "./bodies/pointSlots.ts";
import { writeProgram } from "./substepProgram.ts";
import { isRigid } from "./contact/rigidContacts.ts";

interface Views {
  f32: Float32Array;
  i32: Int32Array;
}

export function writeWorld(world: World, plan: WorldPlan, memory: WebAssembly.Memory): void {
  const { bodies, firsts, counts } = world;
  const { buffer } = memory;
  const views = { f32: new Float32Array(buffer), i32: new Int32Array(buffer) };
  const { f32, i32 } = views;
  const { x, xPrev, v, acc, bodyRows, solid } = plan;
  const own = counts.real + counts.fixed;
  writeHeader(views, world, plan);
  const gravity = world.scene.gravity ?? SCENE_DEFAULTS.gravity;
  bodies.forEach((b, i) => writeParticles(f32, b, firsts[i]!, { x, xPrev, v, acc }, gravity));
  // the dummies' unit tetrahedron, fixed (w = 0)
  for (let d = 0; d < 3; d++) f32[x / 4 + 4 * (own + d) + d] = 1;
  plan.planned.write(f32, new Uint32Array(buffer), x, own);
  plan.enclosed.write(buffer, plan.surfaces.rows);
  writeProgram(i32, f32, plan.program, plan.rows, bodyRows);
  plan.obstacles.write(buffer);
  solid.write(buffer, { x, xPrev, acc });
  plan.filters.write(buffer);
  plan.surfaces.write(buffer, x);
  plan.undeformed.write(buffer);
  // core meshes take the edge length of the bodies that meet them
  const edges = bodies.map((b) => b.meanEdge);
  plan.touches.write(
    buffer,
    plan.surfaces.rows,
    [...edges, ...solid.layouts.map(() => Math.min(...edges))],
    plan.sources.map((s) => s.triangles),
    x + 16 * own,
  );
  plan.front?.write(buffer, x);
  plan.lists?.write(buffer);
  plan.contacts.write(buffer, firsts);
  writeBodies(views, world, plan);
  writeAttachments(views, world, plan);
  plan.shapes.write(buffer, x, firsts, bodyRows);
  plan.implicit.write(buffer, { x, acc }, firsts, bodyRows);
  plan.prefactored.write(buffer, { x, dummies: own, bodyRows, points: plan.points }, firsts);
  plan.methods.write(buffer, bodyRows);
  plan.reference?.write(buffer);
  plan.wind.write(buffer, { x, acc }, firsts);
  plan.balls.write(i32, plan.shapes.rowOf);
  for (const copy of [plan.initial, plan.good]) {
    f32.copyWithin(copy / 4, x / 4, x / 4 + 4 * counts.particles);
    f32.copyWithin(copy / 4 + 4 * counts.particles, v / 4, v / 4 + 4 * counts.particles);
  }
}

function writeHeader(
  { f32, i32 }: Views,
  { bodies, colliders, counts, steps, memoryMb }: World,
  plan: WorldPlan,
): void {
  const { tickHz, substeps } = steps;
  const { low, obstacles, shapes, balls } = plan;
  const words: [number, number][] = [
    [L.H_X, plan.x],
    [L.H_XPREV, plan.xPrev],
    [L.H_V, plan.v],
    [L.H_ACC, plan.acc],
    [L.H_SUPPORT, plan.support],
    [L.H_LOW, low.positions],
    [L.H_LOW_SPEED, low.velocities],
    [L.H_LOW_PREV, low.start],
    [L.H_PARTICLES, counts.particles],
    [L.H_PROGRAM, plan.program],
    [L.H_PHASES, plan.phases.length],
    [L.H_SUBSTEPS, substeps],
    [L.H_POINTS, plan.points],
    [L.H_POINT_COUNT, plan.attachments.length + plan.grabCount],
    [L.H_COLLIDERS, obstacles.address],
    [L.H_MOTIONS, obstacles.motions],
    [L.H_MOTION_COUNT, obstacles.motionCount],
    [L.H_COLLIDER_COUNT, colliders.length],
    [L.H_BODY_COUNT, bodies.length],
    [L.H_BODIES, plan.bodyRows],
    [L.H_SHAPES, shapes.rows],
    [L.H_BALLS, balls.rows],
    [L.H_BALL_COUNT, balls.count],
    [L.H_BALL_RUNS, balls.runs],
    [L.H_RESOLUTION, L.RESOLUTION_SEARCH | L.RESOLUTION_ANEW],
    [L.H_MEMORY_LIMIT, Math.max(plan.memoryMap.pages, Math.min(MOST_PAGES, memoryMb * PAGES_PER_MIB))],
  ];
  for (const [offset, value] of words) i32[(L.HEADER + offset) / 4] = value;
  f32[(L.HEADER + L.H_SUBSTEP_SECONDS) / 4] = 1 / (tickHz * substeps);
  f32[(L.HEADER + L.H_TICK_SECONDS) / 4] = 1 / tickHz;
  f32[(L.HEADER + L.H_TICK_HZ) / 4] = tickHz;
}

/** Positions, inverse masses, velocities, external accelerations and per-particle coefficients of one body. */
function writeParticles(
  f32: Float32Array,
  b: BodyTemplate,
  first: number,
  at: { x: number; xPrev: number; v: number; acc: number },
  gravity: readonly number[],
): void {
  const start = startPositions(b);
  for (let i = 0; i < b.particleCount; i++) {
    const p = 4 * (first + i);
    const w = b.pinned[i] || !b.mass[i] ? 0 : 1 / b.mass[i]!;
    for (let r = 0; r < 3; r++) {
      f32[at.x / 4 + p + r] = f32[at.xPrev / 4 + p + r] = start[3 * i + r]!;
      f32[at.v / 4 + p + r] = w ? b.velocity[r]! : 0;
      f32[at.acc / 4 + p + r] = w ? gravity[r]! + b.force[3 * i + r]! * w : 0;
    }
    f32[at.x / 4 + p + 3] = w;
    f32[at.xPrev / 4 + p + 3] = b.contactRadius;
    f32[at.v / 4 + p + 3] = b.joins ? 0 : b.damping; // the method damps it
    f32[at.acc / 4 + p + 3] = Math.sqrt(b.friction);
  }
}

function writeBodies(
  { f32, i32 }: Views,
  { bodies, firsts, scene, steps }: World,
  { x, bodyRows, shapes, filters }: WorldPlan,
): void {
  bodies.forEach((b, i) => {
    const row = bodyRows + i * L.BODY_BYTES;
    const plastic = b.elements.reduce((n, e) => n + (e.kind === "tet-plastic" ? e.volume.length : 0), 0);
    i32.set([x + 16 * firsts[i]!, b.particleCount, 0, invertedLimit(plastic, steps.iterations)], row / 4);
    i32[(row + L.BODY_RIGID) / 4] = isRigid(b) ? shapes.rowOf.get(i)! : 0;
    i32[(row + L.BODY_MEETS) / 4] = filters.tables[i]!;
    i32[(row + L.BODY_ENCLOSED) / 4] = b.enclosed ? 1 : 0;
    const of = scene.bodies[i]!;
    const speed = speedOfSound(of);
    f32[(row + L.BODY_LATER) / 4] = laterPart({ edges: soundPace(of, b), size: driftSize(b) }, speed, steps);
    f32[(row + L.BODY_CALM) / 4] = CALM * speed;
  });
}

function writeAttachments({ f32, i32 }: Views, { scene, bodies, firsts, steps }: World, plan: WorldPlan): void {
  const { attachments, points, x, obstacles } = plan;
  const reach = (scene.interaction?.grabSpeed ?? SCENE_DEFAULTS.grabSpeed) / (steps.tickHz * steps.substeps);
  attachments.forEach((a, i) => {
    const path = `/attachments/${i}`;
    const { point, at, settings } = resolveAttachment(a, path, scene, bodies, firsts, x, obstacles.motionOf);
    writePoint(f32, i32, points + i * L.POINT_BYTES, point, {
      ...settings,
      ...drawn(a, at, reach),
      implicit: !("body" in a.to) && ownStep(bodies.find((b) => b.name === a.from.body)!),
    });
  });
}
