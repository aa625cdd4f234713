/** Shared by the tests of methods: bodies with a method, their templates, and steps without a room. */
import type { Body, PointsBody, SoftBody } from "../../../shared/scene/scene.ts";
import type { Method } from "../../../shared/scene/sceneMethodTypes.ts";
import { createWorld } from "../../../server/sim/world/createWorld.ts";
import type { BodyTemplate } from "../../../server/sim/body/template.ts";
import type { ForceModel } from "../../../server/sim/methods/elements/forceModel.ts";
import { METHOD_KINDS } from "../../../server/sim/methods/kinds.ts";
import type { MethodBody, Outside } from "../../../server/sim/methods/method.ts";
import { RigidGrabs } from "../../../server/sim/reference/implicit/heldPoints.ts";

export const YOUNG = 2e4;
export const POISSON = 0.3;

/** A cube of 0.5 m on the ground, with its lowest particles fixed. */
export function cube(method: Method, more: Partial<SoftBody> = {}): SoftBody {
  const springs = method.type === "mass-spring";
  return {
    name: "cube",
    kind: "soft",
    mesh: { type: "box", size: [0.5, 0.5, 0.5], cells: [2, 2, 2] },
    transform: { translate: [0, 0.25, 0] },
    material: springs
      ? { model: "pbd", density: 1000, damping: 1, distance: { compliance: 1 / 3000 } }
      : { density: 1000, damping: 1, youngsModulus: YOUNG, poissonsRatio: POISSON },
    pins: [{ select: { box: { min: [-1, -1, -1], max: [1, 0.001, 1] } } }],
    contact: { self: false },
    method,
    ...more,
  };
}

export async function templateOf(body: Body): Promise<BodyTemplate> {
  const { bodies } = await createWorld({ version: 1, title: "template", bodies: [body] }, { baseDir: "." });
  return bodies[0]!;
}

/** A free block of points on the ground. */
export function block(method: Method, more: Partial<PointsBody> = {}): PointsBody {
  return {
    name: "block",
    kind: "points",
    mesh: { type: "lattice", arrangement: "fcc", cells: [2, 2, 2], spacing: 0.1 },
    transform: { translate: [0, 0.17, 0] },
    material: { density: 1000, ...(method.type === "point-based" && { youngsModulus: YOUNG, poissonsRatio: POISSON }) },
    method,
    ...more,
  };
}

/** Extra state of methods that store only positions and velocities. */
export const NOTHING = new Float64Array(0);

/** Method body as a room creates it. @param h s */
export function known({ particleCount, mass, pinned }: BodyTemplate, h: number, alpha = 0, beta = 0): MethodBody {
  return { count: particleCount, mass: mass.map((m, i) => (pinned[i] ? 0 : m)), h, alpha, beta };
}

/** External input without grabs. @param force float64[3N] N */
export function outside(body: MethodBody, force: Float64Array = new Float64Array(3 * body.count)): Outside {
  return { force, points: new RigidGrabs({ mass: body.mass, coefficient: 1 }), walls: [] };
}

/** A body with a method at rest, without a room. @param h s @param fixed fix all of its particles @param beta s */
export async function opened(body: Body, h = 1 / 240, { fixed = false, beta = 0 } = {}) {
  const template = await templateOf(body);
  const of = known(template, h, 0, beta);
  if (fixed) of.mass.fill(0);
  const spec = template.method!;
  const kind = METHOD_KINDS[spec.type];
  const constants = kind.plan(template, spec, of, "");
  const method = kind.open(constants, spec, of);
  const more = kind.more?.(template, spec) ?? NOTHING;
  const state = { x: template.positions.slice(), v: new Float64Array(3 * of.count), more };
  const nobody = outside(of);
  return { template, of, constants, method, state, nobody, step: () => method.step(state, nobody) };
}
export type Opened = Awaited<ReturnType<typeof opened>>;

/** Pseudo-random numbers in [-1, 1), the same in every run. */
export function randoms(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 1073741824 - 1;
  };
}

export const largest = (values: Iterable<number>): number => {
  let most = 0;
  for (const value of values) most = Math.max(most, Math.abs(value));
  return most;
};

/** Forces at the positions x, float64[3N] N. */
export function forcesOf(model: ForceModel, x: Float64Array): Float64Array {
  const f = new Float64Array(x.length);
  model.at(x);
  model.addForce(f);
  return f;
}

export function moved(X: Float64Array, by: (p: number[]) => number[]): Float64Array {
  const x = new Float64Array(X.length);
  for (let i = 0; i < X.length; i += 3) x.set(by([X[i]!, X[i + 1]!, X[i + 2]!]), i);
  return x;
}
