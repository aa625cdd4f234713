/**
 * Plans the live references that bodies are compared with (referenceBodies.ts): one body on two finer meshes, with
 * constants and state in the room's memory. The state is a StateRun that belongs to no body: hash, resets and
 * checkpoints include it.
 */
import type { Body, Scene, SoftBody } from "../../../../shared/scene/scene.ts";
import type { Reference } from "../../../../shared/scene/sceneSettings.ts";
import type { Method as MethodSpec } from "../../../../shared/scene/sceneMethodTypes.ts";
import { SceneError } from "../../../../shared/scene/sceneError.ts";
import type { BodyTemplate } from "../../body/template.ts";
import { tetElements } from "../../constraints/tetrahedra.ts";
import type { Allocator } from "../../memory/memoryMap.ts";
import { wholeRun, type StateRun } from "../../memory/writeBlocks.ts";
import { finiteVolumes } from "../elements/finiteVolumes.ts";
import type { Constants } from "../method.ts";
import { Tetrahedra } from "../elements/linearTetrahedra.ts";
import { takeConstants, writeConstants, type ConstantLayout } from "../planMethods.ts";

type FiniteVolumes = Extract<MethodSpec, { type: "finite-volumes" }>;

/**
 * Number of references besides the one at rest; bodies with different grabs need different references. Two grabs on a
 * body each, and one grab on all bodies of two meshes, need four.
 */
export const APART = 4;
const DEFAULT_STEPS = 6;

export interface ReferenceLayout {
  /** Compared bodies, and their offsets from the reference, m. */
  bodies: number[];
  offsets: [number, number, number][];
  spec: FiniteVolumes;
  steps: number;
  alpha: number;
  /** Largest side of the reference, m. */
  edge: number;
  /** The finer mesh, then the coarser one. */
  meshes: { count: number; constants: ConstantLayout[] }[];
  /** Address of float64[length]: state of referenceBodies.ts between ticks. */
  state: number;
  length: number;
}

/**
 * Words before the states: for each body, its reference and the remaining ticks; then the gravity at which reference 0
 * rests.
 */
export const headOf = (bodies: number): number => 2 * bodies + 4;

export interface PlannedReference {
  layout: ReferenceLayout;
  run: StateRun;
  write(buffer: ArrayBufferLike): void;
}

/** @param part 1: the finer mesh, 2: the coarser one */
export function referenceBody({ bodies }: Scene, { of, cells, steps }: Reference, part: number): SoftBody {
  // shared/scene/sceneReference.ts ensures it
  const body = bodies.find(({ name }) => name === of) as SoftBody & { mesh: { type: "box" } };
  const { name, transform, pins, loads, material } = body;
  return {
    name,
    kind: "soft",
    mesh: { ...body.mesh, cells: cells.map((n) => n / part) as [number, number, number] },
    ...(transform && { transform }),
    ...(pins && { pins }),
    ...(loads && { loads }),
    material,
    contact: { self: false },
    method: { type: "finite-volumes", integrator: "symplectic", steps: steps ?? DEFAULT_STEPS },
  };
}

/** Plans the reference; undefined if the scene compares no bodies. */
export function planReference(
  {
    scene,
    reference: templates,
    bodies: all,
    steps: { tickHz },
  }: { scene: Scene; reference: BodyTemplate[] | undefined; bodies: BodyTemplate[]; steps: { tickHz: number } },
  allocator: Allocator,
): PlannedReference | undefined {
  const { reference } = scene;
  if (!reference || !templates) return undefined;
  const place = (name: string): number => scene.bodies.findIndex((body) => body.name === name);
  const bodies = reference.bodies.map(place);
  const at = ({ transform }: Body): readonly number[] => transform?.translate ?? [0, 0, 0];
  const of = scene.bodies[place(reference.of)]!;
  const offsets = bodies.map(
    (b) => [0, 1, 2].map((r) => at(scene.bodies[b]!)[r]! - at(of)[r]!) as [number, number, number],
  );
  const spec = templates[0]!.method as FiniteVolumes;
  const constants = templates.map((template) => {
    const { particleCount: count, damping: alpha } = template;
    const mass = template.mass.map((m, i) => (template.pinned[i] ? 0 : m));
    const h = 1 / (tickHz * spec.steps!);
    const planned = finiteVolumes.plan(template, spec, { count, mass, h, alpha, beta: 0 }, "/reference/of");
    requireSteps(spec.steps!, leastSteps(planned, mass, template.positions, tickHz));
    const embedded = bodies.map((b, n) => embed(all[b]!.positions, offsets[n]!, template));
    return {
      ...planned,
      mass,
      force: template.force,
      ...Object.fromEntries(embedded.map(({ corners }, n) => [`corners${n}`, corners])),
      ...Object.fromEntries(embedded.map(({ shares }, n) => [`shares${n}`, shares])),
    } satisfies Constants;
  });
  const perSlot = templates.reduce((sum, { particleCount }) => sum + 6 * particleCount, 0);
  const length = headOf(bodies.length) + (1 + APART) * perSlot;
  const state = allocator.take(8 * length);
  const run = wholeRun(-1, state, 8 * length, allocator);
  const meshes = templates.map(({ particleCount: count }, m) => ({
    count,
    constants: takeConstants(constants[m]!, allocator),
  }));
  const { size } = (of as SoftBody & { mesh: { type: "box" } }).mesh;
  return {
    run,
    layout: {
      ...{ bodies, offsets, spec, steps: spec.steps!, alpha: templates[0]!.damping, edge: Math.max(...size) },
      ...{ meshes, state, length },
    },
    write(buffer) {
      meshes.forEach((mesh, m) => writeConstants(buffer, mesh.constants, constants[m]!));
      for (const address of [run.address, run.initial, run.good]) {
        const words = new Float64Array(buffer, address, length);
        let from = headOf(bodies.length);
        for (const template of templates) {
          words.set(template.positions, from);
          from += 6 * template.particleCount;
        }
      }
    },
  };
}

/** Iterations of the power method: the highest frequency is then at most a few percent too low. */
const TURNS = 40;
/** Largest h omega. Symplectic Euler is stable below 2; rotation and the power method's error use up the rest. */
const MOST_STEP = 1.7;

/** Smallest number of steps per tick for the vibration of the finest element. */
function leastSteps(constants: Constants, mass: Float64Array, x: Float64Array, tickHz: number): number {
  const model = new Tetrahedra(constants, true);
  model.at(x);
  // a start vector unlike any eigenvector of a mesh
  let p = Float64Array.from(x, (_, k) => (mass[(k / 3) | 0]! > 0 ? ((k * 7919) % 101) - 50 : 0));
  let square = 0;
  for (let n = 0; n < TURNS; n++) {
    const size = Math.sqrt(p.reduce((sum, c) => sum + c * c, 0));
    const unit = p.map((c) => c / size);
    p = new Float64Array(x.length);
    model.addProduct(unit, p, 1, 0);
    p = p.map((f, k) => (mass[(k / 3) | 0]! > 0 ? f / mass[(k / 3) | 0]! : 0));
    square = Math.sqrt(p.reduce((sum, c) => sum + c * c, 0));
  }
  return Math.ceil(Math.sqrt(square) / (MOST_STEP * tickHz));
}

function requireSteps(steps: number, least: number): void {
  if (steps < least)
    throw new SceneError(
      "/reference/steps",
      steps,
      `at least ${least} for the vibrations of its mesh, or use fewer cells`,
    );
}

/** Finds points in a mesh: the corners of an element and their shares, all positive inside of the element. */
function embed(
  points: Float64Array,
  offset: readonly number[],
  { positions, tets, elements }: BodyTemplate,
): { corners: Uint32Array; shares: Float64Array } {
  const count = points.length / 3;
  const corners = new Uint32Array(4 * count);
  const shares = new Float64Array(4 * count);
  const best = new Float64Array(count).fill(-Infinity);
  const { dmInverse } = tetElements(positions, tets, elements.find((e) => e.kind === "tet")!);
  for (let e = 0; e < tets.length / 4; e++) {
    const last = 3 * tets[4 * e + 3]!;
    for (let i = 0; i < count; i++) {
      const x = points[3 * i]! - offset[0]! - positions[last]!;
      const y = points[3 * i + 1]! - offset[1]! - positions[last + 1]!;
      const z = points[3 * i + 2]! - offset[2]! - positions[last + 2]!;
      const share = (k: number): number => dmInverse[k]! * x + dmInverse[k + 1]! * y + dmInverse[k + 2]! * z;
      const [u, v, w] = [share(9 * e), share(9 * e + 3), share(9 * e + 6)];
      const least = Math.min(u, v, w, 1 - u - v - w);
      if (!(least > best[i]!)) continue;
      best[i] = least;
      corners.set(tets.subarray(4 * e, 4 * e + 4), 4 * i);
      shares.set([u, v, w, 1 - u - v - w], 4 * i);
    }
  }
  return { corners, shares };
}
