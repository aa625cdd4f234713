/** Plans a room's memory: every part allocates its memory, in a fixed order, and writes it later. */
import { PINS_PER_ROOM } from "../../../shared/members/pin.ts";
import { centerOf } from "../../../shared/geometry/colliderMotion.ts";
import type { Scene } from "../../../shared/scene/scene.ts";
import { mayMeetAny } from "../../../shared/scene/sceneImplicit.ts";
import * as L from "../../kernel/assembly/layout/layout.ts";
import { anchorsOf } from "../world/attachments.ts";
import { isApart, leftOutOf, ownStep, type BodyTemplate } from "../body/template.ts";
import { planEnclosedVolumes } from "../constraints/enclosedVolume.ts";
import { planMethods } from "../methods/planMethods.ts";
import { planReference } from "../methods/references/planReference.ts";
import type { World } from "../world/readWorld.ts";
import { planRestShapes } from "../grabs/restShapes.ts";
import { PINS_BYTES } from "../grabs/pins.ts";
import { looksBytes } from "../spawn/bodyLooks.ts";
import { tuningBytes } from "../tuning/applyTuning.ts";
import { planBalls } from "./bodies/ballRows.ts";
import { planColliders } from "./bodies/colliderRows.ts";
import { planContactArrays } from "./contact/contactArrays.ts";
import { planCoreMeshes } from "./contact/coreMeshRows.ts";
import { metColliders, planFilters, surfaceFilter, touchesSurfaces } from "./contact/filters.ts";
import { planFront } from "./contact/bvttFront.ts";
import { planImplicit } from "./bodies/implicitRows.ts";
import { type ListCounts, planLists } from "./contact/contactLists.ts";
import { planLowWords } from "./lowWords.ts";
import { Allocator } from "./memoryMap.ts";
import { buildProgram, programBytes, sharedRows, type LooseRun, type Phase } from "./substepProgram.ts";
import { isAlone } from "../prefactored/choose.ts";
import { planPrefactored } from "./bodies/prefactoredRows.ts";
import { planRigidContacts } from "./contact/rigidContacts.ts";
import { planShapes } from "./bodies/shapeRows.ts";
import { bodySurface, planSurfaces, SOLID, type SurfaceSource } from "./contact/surfaceRows.ts";
import { planWind } from "./bodies/windRows.ts";
import { planBlocks } from "./writeBlocks.ts";
import { driftSize } from "../scene/laterPart.ts";

/** Largest number of grabs in a room: 16 members with two each; more are refused. */
const HANDS = 32;

/** Number of slots of grabs and pins: one for each body that a grab can hold at once. */
const grabSlots = ({ interaction }: World["scene"]): number =>
  (HANDS + PINS_PER_ROOM) * (interaction?.together?.length ?? 1);

export type WorldPlan = ReturnType<typeof planWorld>;

/** @returns addresses, and parts that write themselves there (writeWorld.ts) */
export function planWorld(world: World) {
  const memoryMap = new Allocator();
  const arrays = planArrays(world, memoryMap);
  const constraints = planConstraints(world, memoryMap);
  const stepping = planStepping(world, constraints, memoryMap);
  const { takeLists, ...contact } = planContact(world, stepping.solid, memoryMap);
  const readout = planReadout(world, stepping.grabCount, memoryMap);
  // these grow, so they come last
  const lists = takeLists?.();
  return { ...arrays, ...constraints, ...stepping, ...contact, ...readout, lists, memoryMap };
}

/** Allocates the particle arrays, four numbers per particle. */
function planArrays({ counts: { particles } }: World, memoryMap: Allocator) {
  const x = memoryMap.take(16 * particles);
  const xPrev = memoryMap.take(16 * particles);
  const v = memoryMap.take(16 * particles);
  const acc = memoryMap.take(16 * particles);
  const support = memoryMap.take(16 * particles);
  return { x, xPrev, v, acc, support };
}

function planConstraints({ bodies, firsts, cores, counts: { particles }, steps }: World, memoryMap: Allocator) {
  const { tickHz, substeps, iterations } = steps;
  const leftOut = leftOutOf(bodies);
  const planned = planBlocks(
    bodies.map(({ elements, particleCount, form, schedule, spawnable }, i) => ({
      elements,
      first: firsts[i]!,
      particleCount,
      form,
      schedule,
      leftOut: leftOut({ spawnable }),
    })),
    memoryMap,
    { seconds: 1 / (tickHz * substeps), iterations },
  );
  const sweepArrays = planned.takeSweepArrays(particles, memoryMap);
  const low = planLowWords(particles, memoryMap);
  const enclosed = planEnclosedVolumes(bodies, memoryMap);
  const shapes = planShapes(bodies, iterations, memoryMap);
  const coreParts = cores.reduce((n, core) => n + (core ? (core.positions.length + core.triangles.length) / 3 : 0), 0);
  const balls = planBalls(bodies, coreParts, cores.length, memoryMap);
  return { planned, sweepArrays, low, enclosed, shapes, balls };
}

function planStepping(world: World, constraints: ReturnType<typeof planConstraints>, memoryMap: Allocator) {
  const { inWorld, scene, bodies, colliders, cores, edge, firsts, counts, origin, steps } = world;
  const attachments = scene.attachments ?? [];
  const grabCount = grabSlots(scene);
  const filters = planFilters(bodies, colliders, memoryMap);
  const touching = touchesSurfaces(bodies, colliders);
  const met = metColliders(bodies, colliders).map((m, i) => ({
    ...m,
    table: filters.tables[i]!,
    surfaces: touching[i]!,
  }));
  const implicit = planImplicit(bodies, steps, met, attachments.length + grabCount, memoryMap);
  const prefactored = planPrefactored(
    bodies,
    1 / (steps.tickHz * steps.substeps),
    (body) => anchorsOf(scene, bodies, body),
    attachments.length + grabCount,
    prefactoredMeet(scene),
    bodies.some((body, b) => body.form === "prefactored" && !isAlone(scene, scene.bodies[b]!, body)),
    memoryMap,
  );
  const methods = planMethods(bodies, colliders, steps, memoryMap);
  const reference = planReference(world, memoryMap);
  const obstacles = planColliders(
    colliders,
    (inWorld.colliders ?? []).map((c) => centerOf(c).map((x, r) => x - origin[r]!)),
    cores,
    edge,
    memoryMap,
  );
  const solid = planCoreMeshes(colliders, cores, obstacles, counts.real, edge, memoryMap);
  const wind = planWind(bodies, steps, counts.particles, memoryMap, implicit.inertias);
  const { planned, sweepArrays, enclosed, shapes, balls } = constraints;
  const leftOut = leftOutOf(bodies);
  const sizes = {
    stepped: runsOf(bodies, firsts, (b) => !ownStep(b)),
    drifts: steps.iterations === 1 && bodies.some((body) => driftSize(body) > 0),
    joined: runsOf(bodies, firsts, (b) => b.joins === true),
    leftOut: bodies.flatMap((body, index) =>
      leftOut(body) ? [{ body: index, first: firsts[index]!, end: firsts[index]! + body.particleCount }] : [],
    ),
    implicit,
    prefactored,
    bodies: bodies.length,
    encloses: enclosed.rows.length > 0,
    shapes: shapes.count,
    shapeRuns: shapes.runs,
    balls: balls.count,
    motions: obstacles.motionCount,
    cores: solid.moving,
    loose: looseRuns(bodies, firsts, filters.tables),
    wind: wind.phases,
  };
  const wholeBodies = (pass: number): Phase[] => [...enclosed.phases(pass), ...shapes.phases(pass)];
  const phases = buildProgram(planned.groups, sweepArrays, wholeBodies, sizes, steps.iterations);
  const rows = [...phases, ...sharedRows()];
  const program = memoryMap.take(programBytes(rows));
  const points = memoryMap.take((attachments.length + grabCount) * L.POINT_BYTES);
  const parts = { filters, implicit, prefactored, methods, reference, obstacles, solid, wind };
  return { ...parts, attachments, grabCount, phases, rows, program, points };
}

/** Returns whether a prefactored body may meet another body. */
const prefactoredMeet = ({ bodies }: Scene): boolean =>
  bodies.some(
    (body) =>
      body.kind !== "ball" && body.kind !== "points" && body.solver === "prefactored" && mayMeetAny({ bodies }, body),
  );

function planContact(world: World, solid: ReturnType<typeof planCoreMeshes>, memoryMap: Allocator) {
  const { bodies, colliders, firsts, counts, steps } = world;
  const sources = [...bodies.map((b, i) => bodySurface(b, firsts[i]!)), ...solid.surfaces];
  const filter = surfaceFilter(
    bodies,
    solid.layouts.map((c) => colliders[c.collider]!),
  );
  const surfaces = planSurfaces(sources, counts.particles, memoryMap, filter);
  const bodyRows = memoryMap.take((bodies.length + 1) * L.BODY_BYTES);
  const contacts = planRigidContacts(bodies, memoryMap);
  const touches = planContactArrays(counts.particles, surfaces.anyMeet, steps.verifyEvery ?? 1, memoryMap);
  const front = surfaces.anyMeet ? planFront(sources, surfaces.edges, counts.particles, memoryMap) : undefined;
  const takeLists = front && planLists(listCounts(sources, front.leaves), front.row, memoryMap);
  return { sources, surfaces, bodyRows, contacts, touches, front, takeLists };
}

function listCounts(sources: readonly SurfaceSource[], leavesOf: readonly number[]): ListCounts {
  const counts = { leaves: 0, coreLeaves: 0, particles: 0, coreParticles: 0 };
  sources.forEach(({ solid, count }, n) => {
    const core = solid === SOLID.collider;
    counts[core ? "coreLeaves" : "leaves"] += leavesOf[n]!;
    counts[core ? "coreParticles" : "particles"] += count;
  });
  return counts;
}

/** Allocates memory that is read and written between ticks. */
function planReadout({ bodies, counts: { particles, streamed } }: World, grabCount: number, memoryMap: Allocator) {
  const initial = memoryMap.take(32 * particles);
  const good = memoryMap.take(32 * particles);
  const grabOwners = memoryMap.take(8 * grabCount);
  const grabOffsets = memoryMap.take(12 * grabCount);
  const grabGoals = memoryMap.take(12 * grabCount);
  const grabEdges = memoryMap.take(L.POINT_MAX_EDGES * L.EDGE_BYTES * grabCount);
  const undeformed = planRestShapes(bodies, memoryMap);
  const anchor = memoryMap.take(12 * streamed);
  const still = memoryMap.take(4 * (5 * bodies.length + 1));
  const scratch = memoryMap.take(L.MAX_THREADS * L.SCRATCH_BYTES);
  const tuning = memoryMap.take(tuningBytes(bodies.length));
  const looks = memoryMap.take(looksBytes(bodies.filter(({ spawnable }) => spawnable).length));
  const pins = memoryMap.take(PINS_BYTES);
  const grabs = { grabOwners, grabOffsets, grabGoals, grabEdges };
  return { initial, good, ...grabs, undeformed, anchor, still, scratch, tuning, looks, pins };
}

/**
 * Runs of particles that meet colliders one by one: all except those of rigid bodies and those apart from the substeps.
 * @param tables addresses of the colliders that a body may touch; 0: all
 */
function looseRuns(bodies: readonly BodyTemplate[], firsts: readonly number[], tables: readonly number[]): LooseRun[] {
  const runs: LooseRun[] = [];
  bodies.forEach((b, i) => {
    const last = runs[runs.length - 1];
    if (b.shape?.mode === "rigid" || isApart(b)) return;
    if (last && last.first + last.count === firsts[i] && last.meets === tables[i]) last.count += b.particleCount;
    else runs.push({ first: firsts[i]!, count: b.particleCount, meets: tables[i]! });
  });
  return runs;
}

/** Runs of particles of the bodies for which `has` is true; adjacent runs are joined. */
function runsOf(
  bodies: readonly BodyTemplate[],
  firsts: readonly number[],
  has: (body: BodyTemplate) => boolean,
): { first: number; count: number }[] {
  const runs: { first: number; count: number }[] = [];
  bodies.forEach((b, i) => {
    const last = runs.at(-1);
    if (!has(b)) return;
    if (last && last.first + last.count === firsts[i]) last.count += b.particleCount;
    else runs.push({ first: firsts[i]!, count: b.particleCount });
  });
  return runs;
}
