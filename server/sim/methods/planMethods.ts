/**
 * Plans constants and float64 state in the room's memory for bodies with their own method (method.ts). The state is a
 * StateRun like that of a constraint: the hash, reset, roll-back and checkpoints include it.
 */
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
  /** Substeps a tick if it joins them (joins.ts), else 0: it has that many steps, or a multiple. */
  joined: number;
  /** Tunable values of the scene, and the largest number of steps. */
  tunable: { steps?: number; modes?: number };
  mostSteps: number;
  alpha: number;
  beta: number;
  /** Bodies that it steps with, between the kernel's substeps. */
  meets: number[];
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
export function planMethods(bodies: readonly BodyTemplate[], paces: Paces, allocator: Allocator): PlannedMethods {
  const planned = bodies.flatMap((template, body) =>
    template.method ? [planBody(template, template.method, body, bodies, paces, allocator)] : [],
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
  { tickHz, substeps }: Paces,
  allocator: Allocator,
): PlannedBody {
  const count = template.particleCount;
  const mass = template.mass.map((m, i) => (template.pinned[i] ? 0 : m));
  const joined = template.joins ? substeps : 0;
  const steps = spec.steps ?? DEFAULT_STEPS;
  const most = Math.floor(MOST_STEPPED / count);
  const mostSteps = joined ? most - (most % joined) : most;
  if (stepsWith(joined, steps) > mostSteps)
    throw new SceneError(`/bodies/${body}/method/steps`, steps, `at most ${mostSteps} for ${count} particles`);
  const known: MethodBody = {
    count,
    mass,
    h: 1 / (tickHz * stepsWith(joined, steps)),
    alpha: template.damping,
    beta: "stiffnessDamping" in spec ? (spec.stiffnessDamping ?? 0) : 0,
  };
  const kind = METHOD_KINDS[spec.type];
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
      joined,
      tunable: { ...(kind.anyStep && { steps }), ...(kind.modes && { modes: kind.modes(constants) }) },
      mostSteps,
      alpha: known.alpha,
      beta: known.beta,
      meets: kind.meetsBodies
        ? [...bodies.keys()].filter((b) => bodies[b]!.triangles.length > 0 && !passThrough(template, bodies[b]!))
        : [],
      state,
      more: more.length,
      mass: allocator.take(mass.byteLength),
      constants: takeConstants(constants, allocator),
    },
    run: wholeRun(body, state, bytes, allocator),
  };
}

/** The fewest steps a tick that are at least `steps` and, unless it is 0, a multiple of `joined`. */
export const stepsWith = (joined: number, steps: number): number =>
  joined ? joined * Math.ceil(steps / joined) : steps;

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
