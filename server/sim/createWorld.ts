/**
 * Scene -> a room's whole state in one shared WebAssembly.Memory. Serves rooms, tests, benchmarks and the headless run
 * alike.
 *
 *   scene -> body templates (mesh, masses, constraints) -> colors -> memory map -> memory, layout, topology
 */
import type { Collider, Scene } from "../../shared/scene.ts";
import { SceneError } from "../../shared/sceneError.ts";
import type { Topology } from "../../shared/topology.ts";
import { MeshError } from "../meshing/mesh.ts";
import * as L from "../kernel/assembly/layout/layout.ts";
import { carriersOf, hangingOf, resolveAttachment } from "./attachments.ts";
import { ELEMENT_KINDS, type ElementKind } from "./constraints/elements.ts";
import { chooseOrigin, moveBody, moveScene } from "./origin.ts";
import { loadCores } from "./colliders/coreMesh.ts";
import { layingEdge } from "./colliders/smooth.ts";
import { loadBody } from "./body/loadBody.ts";
import type { MeshSources } from "./body/meshes.ts";
import { startPositions } from "./body/start.ts";
import type { BodyTemplate } from "./body/template.ts";
import { SCENE_DEFAULTS } from "./defaults.ts";
import { invertedLimit } from "./materials.ts";
import type { BodyLayout, SimLayout } from "./layout.ts";
import { centerOf } from "../../shared/motion.ts";
import { chooseMassUnit, inMassUnit } from "./massUnit.ts";
import { planBalls } from "./memory/balls.ts";
import { planColliders } from "./memory/colliders.ts";
import { planCoreMeshes } from "./memory/coreMeshes.ts";
import { metColliders, planFilters, surfaceFilter, touchesSurfaces } from "./memory/filters.ts";
import { planLowWords } from "./memory/lowWords.ts";
import { planImplicit } from "./memory/implicit.ts";
import { planWind } from "./memory/wind.ts";
import { planMethods } from "./methods/planMethods.ts";
import { planEnclosedVolumes } from "./memory/enclosedVolumes.ts";
import { Allocator } from "./memory/map.ts";
import { writePoint } from "./memory/points.ts";
import { planFront } from "./memory/front.ts";
import { planContactBlocks } from "./memory/contactBlocks.ts";
import { buildProgram, programBytes, sharedRows, writeProgram, type LooseRun } from "./memory/program.ts";
import { planRestShapes } from "./restShapes.ts";
import { isRigid, planRigidContacts } from "./memory/rigidContacts.ts";
import { planShapes } from "./memory/shapes.ts";
import { bodySurface, planSurfaces } from "./memory/surfaces.ts";
import { planBlocks, type ColorRange } from "./memory/writeBlocks.ts";
import { keepsRounding } from "./precision.ts";
import { chooseSteps } from "./substeps.ts";
import { buildTopology } from "./topology.ts";
import { packRuns } from "./retune.ts";
import { tunableOf } from "./tunable.ts";
import { loadsOf, RoomTuning, tunedAs, tuningBytes } from "./tuning.ts";
import { windOf } from "./wind.ts";
import { parkAll, sceneMeets } from "./inactive.ts";
import type { BuiltWorld } from "./types.ts";

/** Grab handles of a room: 16 members with two hands; more are refused with a notice. */
const GRAB_SLOTS = 32;

export interface CreateOptions extends MeshSources {
  onProgress?: (done: number, stage: string) => void;
}

export interface CreatedWorld extends BuiltWorld {
  layout: SimLayout;
  /** As the scene says, in kg, whatever the unit of mass in memory. */
  bodies: BodyTemplate[];
}

/**
 * @param inWorld already validated (shared/sceneValidator.ts)
 * @throws SceneError, MeshError
 * Same scene and meshes, same bytes, on any machine.
 */
export async function createWorld(inWorld: Scene, options: CreateOptions): Promise<CreatedWorld> {
  const far = await loadBodies(inWorld, options);
  const origin = chooseOrigin(far);
  const massUnit = chooseMassUnit(far);
  // from here on everything is seen from the room's own origin, and weighed in its own unit
  const here = far.map((body) => moveBody(body, origin));
  const scene = moveScene(inMassUnit(inWorld, massUnit), origin);
  const bodies =
    massUnit === 1
      ? here
      : (await loadBodies(inMassUnit(inWorld, massUnit), options)).map((body) => moveBody(body, origin));
  const worldRadius = scene.worldRadius ?? SCENE_DEFAULTS.worldRadius;
  const edge = layingEdge(bodies);
  const cores = await loadCores(scene.colliders ?? [], options, edge);

  // ---- map
  const real = bodies.reduce((n, b) => n + b.particleCount, 0);
  const streamed = bodies.reduce((n, b) => n + b.streamedCount, 0);
  const fixed = cores.reduce((n, core) => n + (core ? core.positions.length / 3 : 0), 0);
  const particles = (real + fixed + L.DUMMIES + 3) & ~3;
  const memoryMap = new Allocator();
  const x = memoryMap.take(16 * particles);
  const xPrev = memoryMap.take(16 * particles);
  const v = memoryMap.take(16 * particles);
  const acc = memoryMap.take(16 * particles);
  const support = memoryMap.take(16 * particles);
  const firsts: number[] = [];
  let next = 0;
  for (const body of bodies) {
    firsts.push(next);
    next += body.particleCount;
  }
  const planned = planBlocks(
    bodies.map((b, i) => ({
      elements: b.elements,
      first: firsts[i]!,
      particleCount: b.particleCount,
      form: b.form,
      schedule: b.schedule,
      waits: b.waits,
    })),
    memoryMap,
  );
  const sweepArrays = planned.takeSweepArrays(particles, memoryMap);
  const { tickHz, substeps, iterations } = chooseSteps(inWorld, far);
  const low = planLowWords(keepsRounding(bodies, tickHz * substeps) ? bodies : [], particles, memoryMap);
  const enclosed = planEnclosedVolumes(bodies, memoryMap);
  const shapes = planShapes(bodies, iterations, memoryMap);
  const balls = planBalls(
    bodies,
    cores.reduce((n, core) => n + (core ? core.positions.length / 3 + core.triangles.length / 3 : 0), 0),
    memoryMap,
  );
  const attachments = scene.attachments ?? [];
  const colliders = scene.colliders ?? [];
  const filters = planFilters(bodies, colliders, memoryMap);
  const touching = touchesSurfaces(bodies, colliders);
  const met = metColliders(bodies, colliders).map((m, i) => ({
    ...m,
    table: filters.tables[i]!,
    surfaces: touching[i]!,
  }));
  const implicit = planImplicit(bodies, { tickHz, substeps }, met, attachments.length + GRAB_SLOTS, memoryMap);
  const methods = planMethods(bodies, tickHz, memoryMap);
  const obstacles = planColliders(
    colliders,
    (inWorld.colliders ?? []).map((c) => centerOf(c).map((x, r) => x - origin[r]!)),
    cores,
    edge,
    memoryMap,
  );
  const solid = planCoreMeshes(colliders, cores, obstacles, real, edge, memoryMap);
  const wind = planWind(bodies, { tickHz, substeps }, particles, memoryMap);
  const phases = buildProgram(
    planned.groups,
    sweepArrays,
    enclosed,
    {
      stepped: runsOf(bodies, firsts, (b) => !ownStep(b)),
      implicit,
      bodies: bodies.length,
      shapes: shapes.count,
      shapeRuns: shapes.runs,
      balls: balls.count,
      motions: obstacles.motionCount,
      cores: solid.moving,
      loose: looseRuns(bodies, firsts, filters.tables),
      wind: wind.phases,
    },
    iterations,
  );
  const rows = [...phases, ...sharedRows()];
  const program = memoryMap.take(programBytes(rows));
  const points = memoryMap.take((attachments.length + GRAB_SLOTS) * L.POINT_BYTES);
  const sources = [...bodies.map((b, i) => bodySurface(b, firsts[i]!)), ...solid.surfaces];
  const surfaces = planSurfaces(
    sources,
    particles,
    memoryMap,
    surfaceFilter(
      bodies,
      solid.layouts.map((c) => colliders[c.collider]!),
    ),
  );
  const bodyRows = memoryMap.take((bodies.length + 1) * L.BODY_BYTES);
  const contacts = planRigidContacts(bodies, memoryMap);
  const touches = planContactBlocks(particles, surfaces, memoryMap);
  const front = surfaces.anyMeet ? planFront(sources, surfaces.edges, touches.blocks, particles, memoryMap) : undefined;
  const initial = memoryMap.take(32 * particles);
  const good = memoryMap.take(32 * particles);
  const grabOwners = memoryMap.take(8 * GRAB_SLOTS);
  const grabOffsets = memoryMap.take(12 * GRAB_SLOTS);
  const grabGoals = memoryMap.take(12 * GRAB_SLOTS);
  const grabEdges = memoryMap.take(L.POINT_MAX_EDGES * L.EDGE_BYTES * GRAB_SLOTS);
  const undeformed = planRestShapes(bodies, memoryMap);
  const anchor = memoryMap.take(12 * streamed);
  const still = memoryMap.take(4 * (4 * bodies.length + 1));
  const scratch = memoryMap.take(L.MAX_THREADS * L.SCRATCH_BYTES);
  const tuning = memoryMap.take(tuningBytes(bodies.length));

  // ---- memory
  const memory = new WebAssembly.Memory({ initial: memoryMap.pages, maximum: memoryMap.pages, shared: true });
  const f32 = new Float32Array(memory.buffer);
  const i32 = new Int32Array(memory.buffer);
  const u32 = new Uint32Array(memory.buffer);
  const header = (offset: number, value: number): void => void (i32[(L.HEADER + offset) / 4] = value);
  header(L.H_X, x);
  header(L.H_XPREV, xPrev);
  header(L.H_V, v);
  header(L.H_ACC, acc);
  header(L.H_SUPPORT, support);
  header(L.H_LOW, low.places);
  header(L.H_LOW_SPEED, low.speeds);
  header(L.H_ROUNDING, low.rounding);
  header(L.H_PARTICLES, particles);
  header(L.H_PROGRAM, program);
  header(L.H_PHASES, phases.length);
  header(L.H_SUBSTEPS, substeps);
  f32[(L.HEADER + L.H_SUBSTEP_SECONDS) / 4] = 1 / (tickHz * substeps);
  f32[(L.HEADER + L.H_TICK_SECONDS) / 4] = 1 / tickHz;
  f32[(L.HEADER + L.H_TICK_HZ) / 4] = tickHz;
  header(L.H_POINTS, points);
  header(L.H_POINT_COUNT, attachments.length + GRAB_SLOTS);
  header(L.H_COLLIDERS, obstacles.address);
  header(L.H_MOTIONS, obstacles.motions);
  header(L.H_MOTION_COUNT, obstacles.motionCount);
  header(L.H_COLLIDER_COUNT, colliders.length);
  header(L.H_BODY_COUNT, bodies.length);
  header(L.H_BODIES, bodyRows);
  header(L.H_SHAPES, shapes.rows);
  header(L.H_BALLS, balls.rows);
  header(L.H_BALL_COUNT, balls.count);
  header(L.H_RESOLUTION, L.RESOLUTION_SEARCH | L.RESOLUTION_ANEW);

  const gravity = scene.gravity ?? SCENE_DEFAULTS.gravity;
  bodies.forEach((b, i) => writeParticles(f32, b, firsts[i]!, { x, xPrev, v, acc }, gravity));
  // the dummies' unit tetrahedron, fixed (w = 0)
  for (let d = 0; d < 3; d++) f32[x / 4 + 4 * (real + fixed + d) + d] = 1;
  planned.write(f32, u32, x, real + fixed);
  enclosed.write(memory.buffer, surfaces.rows);
  writeProgram(i32, f32, program, rows, bodyRows);
  obstacles.write(memory.buffer);
  solid.write(memory.buffer, { x, xPrev, acc });
  filters.write(memory.buffer);
  surfaces.write(memory.buffer, x);
  undeformed.write(memory.buffer);
  // colliders have no edge of their own to go by: what meets them does
  const edges = bodies.map((b) => b.meanEdge);
  touches.write(
    memory.buffer,
    surfaces.rows,
    [...edges, ...solid.layouts.map(() => Math.min(...edges))],
    sources.map((s) => s.triangles),
    x + 16 * (real + fixed),
  );
  front?.write(memory.buffer, x);
  contacts.write(memory.buffer, firsts);
  bodies.forEach((b, i) => {
    i32.set(
      [
        x + 16 * firsts[i]!,
        b.particleCount,
        0,
        invertedLimit(
          b.elements.reduce((n, e) => n + (e.kind === "tet-plastic" ? e.volume.length : 0), 0),
          iterations,
        ),
      ],
      (bodyRows + i * L.BODY_BYTES) / 4,
    );
  });
  bodies.forEach(
    (b, i) => (i32[(bodyRows + i * L.BODY_BYTES + L.BODY_RIGID) / 4] = isRigid(b) ? shapes.rowOf.get(i)! : 0),
  );
  filters.tables.forEach((table, i) => (i32[(bodyRows + i * L.BODY_BYTES + L.BODY_MEETS) / 4] = table));
  attachments.forEach((a, i) => {
    const { point, settings } = resolveAttachment(a, `/attachments/${i}`, scene, bodies, firsts, x, obstacles.motionOf);
    writePoint(f32, i32, points + i * L.POINT_BYTES, point, {
      ...settings,
      implicit: ownStep(bodies.find((b) => b.name === a.from.body)!),
    });
  });
  shapes.write(memory.buffer, x, firsts, bodyRows);
  implicit.write(memory.buffer, { x, acc }, firsts, bodyRows);
  methods.write(memory.buffer, bodyRows);
  wind.write(memory.buffer, { x, acc }, firsts);
  balls.write(i32, shapes.rowOf);
  for (const copy of [initial, good]) {
    f32.copyWithin(copy / 4, x / 4, x / 4 + 4 * particles);
    f32.copyWithin(copy / 4 + 4 * particles, v / 4, v / 4 + 4 * particles);
  }

  const carriers = carriersOf(scene);
  const hanging = hangingOf(scene);
  const bodyLayouts: BodyLayout[] = [];
  const sizes = bodies.map((b) => diagonal(b.positions));
  bodies.reduce((streamedFirst, b, i) => {
    bodyLayouts.push({
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
      size: sizes[i]!,
      startsDegenerate: b.start !== undefined,
      waits: b.waits,
      implicit: ownStep(b),
      hangs: hanging[i]!,
      carrier: carrierAt(colliders, carriers[i]),
    });
    return streamedFirst + b.streamedCount;
  }, 0);
  const byKind = (of: (r: ColorRange) => number): Record<ElementKind, number> =>
    Object.fromEntries(
      ELEMENT_KINDS.map((kind) => [kind, planned.ranges.filter((r) => r.kind === kind).reduce((n, r) => n + of(r), 0)]),
    ) as Record<ElementKind, number>;
  const interaction = scene.interaction ?? {};
  const tunable = inWorld.bodies.map((body, b) => tunableOf(body, far[b]!));
  const layout: SimLayout = {
    tickHz,
    substeps,
    iterations,
    particleCount: real,
    bodyRows,
    memories: planned.ranges
      .filter((r) => r.memory)
      .map((r) => ({ address: r.memory, bytes: r.blocks * L.WARM_START_BYTES })),
    streamedParticles: streamed,
    bodyCount: bodies.length,
    bodies: bodyLayouts,
    cores: solid.layouts,
    movers: obstacles.movers,
    x,
    xPrev,
    v,
    initial,
    good,
    states: [...planned.states, ...shapes.states, ...implicit.states, ...methods.states, ...low.states],
    methods: methods.layouts,
    points,
    attachmentCount: attachments.length,
    grabFirst: points + attachments.length * L.POINT_BYTES,
    grabCount: GRAB_SLOTS,
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
    worldRadius,
    quantum: scene.quantum ?? SCENE_DEFAULTS.quantum,
    gravity,
    tuning,
    tuned: tunedAs({ gravity, wind: windOf(inWorld.wind), timeScale: scene.timeScale ?? 1 }, tunable),
    tunable,
    materialRuns: packRuns(planned.materials),
    enclosed: enclosed.rowOf,
    intersections: scene.intersections ?? SCENE_DEFAULTS.intersections,
    interaction: {
      grabCompliance: interaction.grabCompliance ?? SCENE_DEFAULTS.grabCompliance,
      grabMaxForce: interaction.grabMaxForce ?? SCENE_DEFAULTS.grabMaxForce,
      grabRadius: interaction.grabRadius ?? 0,
      handSpeed: interaction.handSpeed ?? SCENE_DEFAULTS.handSpeed,
      grabMaxStretch: interaction.grabMaxStretch ?? SCENE_DEFAULTS.grabMaxStretch,
      maxImpulse: interaction.maxImpulse ?? SCENE_DEFAULTS.maxImpulse,
    },
    blocks: byKind((r) => r.blocks),
    colors: byKind(() => 1),
  };
  new RoomTuning({ f32, i32 }, layout).begin();
  if (bodies.some((b) => b.waits)) {
    layout.sceneMeets = sceneMeets(memory, layout);
    parkAll({ f32, i32 }, layout);
  }
  let topology: Topology | undefined;
  return {
    memory,
    layout,
    bodies: here,
    get topology() {
      return (topology ??= buildTopology(scene, here, cores, layout));
    },
  };
}

/** In world coordinates. */
async function loadBodies(scene: Scene, options: CreateOptions): Promise<BodyTemplate[]> {
  const bodies: BodyTemplate[] = [];
  for (let i = 0; i < scene.bodies.length; i++) {
    const onProgress = options.onProgress;
    const body = loadBody(scene, i, {
      ...options,
      onProgress:
        onProgress &&
        ((done, stage) => onProgress((i + done) / scene.bodies.length, `${scene.bodies[i]!.name}: ${stage}`)),
    });
    bodies.push(
      await body.catch((error: unknown) => {
        // a mesh reader knows its file and line, not whose mesh it is
        if (error instanceof MeshError) error.message = `scene /bodies/${i}/mesh: ${error.message}`;
        throw error;
      }),
    );
  }

  const worldRadius = scene.worldRadius ?? SCENE_DEFAULTS.worldRadius;
  bodies.forEach((body, i) => {
    const far = farthest(body.positions);
    if (far > worldRadius)
      throw new SceneError(
        `/bodies/${i}`,
        `${body.name}, ${far} m from the origin`,
        `placed within the scene's worldRadius of ${worldRadius} m`,
      );
  });
  return bodies;
}

/** Place of a collider among those that move. */
function carrierAt(colliders: readonly Collider[], carrier: number | undefined): number | undefined {
  return carrier === undefined ? undefined : colliders.slice(0, carrier).filter((c) => c.motion).length;
}

/** Whether the kernel's substeps leave its particles alone. */
function ownStep({ form }: BodyTemplate): boolean {
  return form === "implicit" || form === "method";
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
    f32[at.v / 4 + p + 3] = b.damping;
    f32[at.acc / 4 + p + 3] = Math.sqrt(b.friction);
  }
}

/**
 * Runs of particles that meet colliders one by one: all but those of rigid bodies and of those with a step of their
 * own.
 * @param tables of the colliders that a body may touch, 0: all
 */
function looseRuns(bodies: readonly BodyTemplate[], firsts: readonly number[], tables: readonly number[]): LooseRun[] {
  const runs: LooseRun[] = [];
  bodies.forEach((b, i) => {
    const last = runs[runs.length - 1];
    if (b.shape?.mode === "rigid" || ownStep(b)) return;
    if (last && last.first + last.count === firsts[i] && last.meets === tables[i]) last.count += b.particleCount;
    else runs.push({ first: firsts[i]!, count: b.particleCount, meets: tables[i]! });
  });
  return runs;
}

/** Runs of particles of the bodies that `has` says yes to, neighbors together. */
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

/** Distance of the particle farthest from the origin, m. */
function farthest(positions: Float64Array): number {
  let most = 0;
  for (let i = 0; i < positions.length; i += 3)
    most = Math.max(most, positions[i]! ** 2 + positions[i + 1]! ** 2 + positions[i + 2]! ** 2);
  return Math.sqrt(most);
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
