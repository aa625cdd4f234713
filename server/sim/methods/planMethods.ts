/**
 * Plans constants and float64 state in the room's memory for bodies with their own method (method.ts). The state is a
 * StateRun like that of a constraint: the hash, reset, roll-back and checkpoints include it.
 */
import type { Collider } from "../../../shared/scene/scene.ts";
import type { Method as MethodSpec } from "../../../shared/scene/sceneMethodTypes.ts";
import { SceneError } from "../../../shared/scene/sceneError.ts";
import * as L from "../../kernel/assembly/layout/layout.ts";
import type { BodyTemplate } from "../body/template.ts";
import { passThrough } from "../memory/contact/filters.ts";
import type { Allocator } from "../memory/memoryMap.ts";
import { wholeRun, type StateRun } from "../memory/writeBlocks.ts";
import type { Steps } from "../scene/substeps.ts";
import { METHOD_KINDS } from "./kinds.ts";
import type { Constants, MethodBody } from "./method.ts";

/** One body with a method, as plain data for any thread. */
export interface MethodLayout {
  body: number;
  spec: MethodSpec;
  /** Steps per tick in the scene. */
  steps: number;
  /** Whether it joins the substeps (joins.ts). */
  joins: boolean;
  /** Substeps a tick if it has that many steps or a multiple: it joins them, or meets a moving shape. Else 0. */
  paced: number;
  /** Tunable values of the scene, and the largest number of steps. */
  tunable: { steps?: number; modes?: number };
  mostSteps: number;
  alpha: number;
  beta: number;
  /** Surfaces that it steps with, between the kernel's substeps: of bodies, then of mesh colliders. */
  meets: number[];
  /** Bodies of other such methods. */
  others: number[];
  /** Address of float64[6N + more]: positions, velocities, then the method's extra state. */
  state: number;
  more: number;
  /** Address of float64[N] kg. */
  mass: number;
  constants: ConstantLayout[];
}

/** Location of one of the constants. */
export interface ConstantLayout {
  name: string;
  address: number;
  length: number;
  integers: boolean;
}

/** Steps per tick if the scene names none. */
const DEFAULT_STEPS = 4;
/**
 * Largest number of particles times steps of a body in a tick: 0.1 s of explicit steps (0.4 ms for the 1,000 particles
 * of a cube of finite volumes). Implicit steps cost more, by their number of conjugate gradient iterations.
 */
const MOST_STEPPED = 2 ** 18;

export interface PlannedMethods {
  layouts: MethodLayout[];
  states: StateRun[];
  /**
   * Called once the particles are written.
   * @param bodyRows address of the BODY rows
   */
  write: (buffer: ArrayBufferLike, bodyRows: number) => void;
}

type Paces = Pick<Steps, "tickHz" | "substeps">;

/** @throws SceneError if a method does not support the body */
export function planMethods(
  bodies: readonly BodyTemplate[],
  colliders: readonly Collider[],
  paces: Paces,
  allocator: Allocator,
): PlannedMethods {
  const planned = bodies.flatMap((template, body) =>
    template.method ? [planBody(template, template.method, body, bodies, colliders, paces, allocator)] : [],
  );
  return {
    layouts: planned.map(({ layout }) => layout),
    states: planned.map(({ run }) => run),
    write: (buffer, bodyRows) =>
      planned.forEach(({ template, layout, run, constants, mass, more }) => {
        const field = template.joins ? L.BODY_UNFORCED : L.BODY_IMPLICIT;
        new Int32Array(buffer)[(bodyRows + layout.body * L.BODY_BYTES + field) / 4] = 1;
        new Float64Array(buffer, layout.mass, mass.length).set(mass);
        writeConstants(buffer, layout.constants, constants);
        const velocity = Float64Array.from(template.positions, (_, k) =>
          mass[Math.floor(k / 3)]! > 0 ? template.velocity[k % 3]! : 0,
        );
        for (const address of [run.address, run.initial, run.good]) {
          new Float64Array(buffer, address, velocity.length).set(template.positions);
          new Float64Array(buffer, address + velocity.byteLength, velocity.length).set(velocity);
          new Float64Array(buffer, address + 2 * velocity.byteLength, more.length).set(more);
        }
      }),
  };
}

interface PlannedBody {
  template: BodyTemplate;
  layout: MethodLayout;
  run: StateRun;
  constants: Constants;
  mass: Float64Array;
  more: Float64Array;
}

function planBody(
  template: BodyTemplate,
  spec: MethodSpec,
  body: number,
  bodies: readonly BodyTemplate[],
  colliders: readonly Collider[],
  { tickHz, substeps }: Paces,
  allocator: Allocator,
): PlannedBody {
  const count = template.particleCount;
  const mass = template.mass.map((m, i) => (template.pinned[i] ? 0 : m));
  const kind = METHOD_KINDS[spec.type];
  const met = kind.meetsBodies ? partnersOf(template, bodies, colliders) : undefined;
  const paced = template.joins || met?.moving ? substeps : 0;
  const steps = spec.steps ?? DEFAULT_STEPS;
  const most = Math.floor(MOST_STEPPED / count);
  const mostSteps = paced ? most - (most % paced) : most;
  if (stepsWith(paced, steps) > mostSteps)
    throw new SceneError(`/bodies/${body}/method/steps`, steps, `at most ${mostSteps} for ${count} particles`);
  const known: MethodBody = {
    count,
    mass,
    h: 1 / (tickHz * stepsWith(paced, steps)),
    alpha: template.damping,
    beta: "stiffnessDamping" in spec ? (spec.stiffnessDamping ?? 0) : 0,
  };
  const constants = kind.plan(template, spec, known, `/bodies/${body}/method/type`);
  const more = kind.more?.(template, spec) ?? new Float64Array(0);
  const bytes = 48 * count + more.byteLength;
  const state = allocator.take(bytes);
  return {
    template,
    constants,
    mass,
    more,
    layout: {
      body,
      spec,
      steps,
      joins: template.joins === true,
      paced,
      tunable: { ...(kind.anyStep && { steps }), ...(kind.modes && { modes: kind.modes(constants) }) },
      mostSteps,
      alpha: known.alpha,
      beta: known.beta,
      meets: met?.surfaces ?? [],
      others: met?.others ?? [],
      state,
      more: more.length,
      mass: allocator.take(mass.byteLength),
      constants: takeConstants(constants, allocator),
    },
    run: wholeRun(body, state, bytes, allocator),
  };
}

/** Partners of a body whose method meets bodies. `moving`: one is a moving shape. */
function partnersOf(
  template: BodyTemplate,
  bodies: readonly BodyTemplate[],
  colliders: readonly Collider[],
): { surfaces: number[]; others: number[]; moving: boolean } {
  const meets = (other: BodyTemplate | Collider): boolean => other !== template && !passThrough(template, other);
  // core meshes follow the bodies; planes have none
  const surfaces = [...bodies, ...colliders.filter(({ type }) => type !== "plane")];
  const isMet = (other: BodyTemplate | Collider): boolean =>
    "touch" in other ? other.triangles.length > 0 : other.type === "mesh";
  const fluid = ({ method }: BodyTemplate): boolean =>
    method !== undefined && METHOD_KINDS[method.type].meetsBodies === true;
  return {
    surfaces: [...surfaces.keys()].filter((n) => isMet(surfaces[n]!) && meets(surfaces[n]!)),
    others: [...bodies.keys()].filter((b) => fluid(bodies[b]!) && meets(bodies[b]!)),
    moving: colliders.some((c) => c.motion && c.type !== "mesh" && meets(c)),
  };
}

/** The fewest steps a tick that are at least `steps` and, unless it is 0, a multiple of `paced`. */
export const stepsWith = (paced: number, steps: number): number => (paced ? paced * Math.ceil(steps / paced) : steps);

export function takeConstants(constants: Constants, allocator: Allocator): ConstantLayout[] {
  return Object.entries(constants).map(([name, array]) => ({
    name,
    address: allocator.take(array.byteLength),
    length: array.length,
    integers: array instanceof Uint32Array,
  }));
}

export function writeConstants(buffer: ArrayBufferLike, layouts: readonly ConstantLayout[], from: Constants): void {
  for (const { name, address, length, integers } of layouts) viewOf(buffer, address, length, integers).set(from[name]!);
}

export function constantsIn(buffer: ArrayBufferLike, layouts: readonly ConstantLayout[]): Constants {
  return Object.fromEntries(
    layouts.map(({ name, address, length, integers }) => [name, viewOf(buffer, address, length, integers)]),
  );
}

function viewOf(
  buffer: ArrayBufferLike,
  address: number,
  length: number,
  integers: boolean,
): Float64Array | Uint32Array {
  return integers ? new Uint32Array(buffer, address, length) : new Float64Array(buffer, address, length);
}
