/**
 * Which solver a scene's bodies get that name none (`solver: "auto"`).
 *
 * A substep's iterations carry stress over one edge of the mesh each. Where sound crosses n = (h/a) sqrt(k/density) /
 * iterations edges meanwhile, a compliant body gives by q/2 too much while it moves, q = n^2, and a sheet hangs too long by
 * as much (scenes/README.md): its tone is q/4 too deep. From MOST on all bodies of the scene are integrated implicitly,
 * which is right for any n, if they all can be (shared/sceneImplicit.ts), and if that costs no more than LIMIT: it is a
 * matter of the scene's numbers alone, never of the machine. Otherwise they stay compliant, and `simulate` says why.
 *
 * Costs (elements times steps; 0.65 us of a 2 core EPYC for a tetrahedron and 0.35 for a triangle, four steps a tick):
 * solids of 8,000 tetrahedra and sheets of 12,000 triangles that touch nothing take about a tick of 60 Hz. What lies on
 * something is solved again until friction is settled: a sheet of 800 triangles on a sphere takes ten times as much.
 */
import type { Body, Scene } from "../../shared/scene.ts";
import { SceneError } from "../../shared/sceneError.ts";
import { checkImplicit, passThrough } from "../../shared/sceneImplicit.ts";
import type { BodyTemplate } from "./body/template.ts";
import { stepsOf } from "./implicit/model.ts";
import { dependsOnSubsteps, type Steps, soundPace } from "./substeps.ts";

/** Of q, from which on a body is integrated implicitly: 2 % of a solid's frequency, 1 % of a sheet's length. */
const MOST = { solid: 0.08, sheet: 0.02 } as const;
/** Tetrahedra times steps in a second. */
const LIMIT = 8000 * 240;
/** What other elements cost, in tetrahedra; and what those of a body cost that may lie on something. */
const TRIANGLE = 0.6;
const LYING = { solid: 2, sheet: 10 } as const;

/** Why the bodies of a scene that name no solver are compliant although one of them is too stiff for it. */
export interface Compliant {
  body: string;
  /** Of its stress while it moves, so much is missing. */
  missing: number;
  why: string;
}

export interface Solvers {
  /** The scene, with `solver: "implicit"` where that is chosen. */
  scene: Scene;
  /** There where it would be better, and cannot be. */
  compliant?: Compliant;
}

type Elastic = Extract<Body, { kind: "soft" | "cloth" }>;

const isOpen = (body: Body): body is Elastic =>
  (body.kind === "soft" || body.kind === "cloth") && (body.solver ?? "auto") === "auto" && !body.method;

/**
 * @param bodies of the scene, in its order, as if all that is open was compliant
 * @param steps as they are then
 */
export function chooseSolvers(scene: Scene, bodies: readonly BodyTemplate[], steps: Steps): Solvers {
  if (scene.refine === false || scene.bodies.some(dependsOnSubsteps)) return { scene };
  const errors = scene.bodies.map((body, b) => (isOpen(body) ? stressMissing(body, bodies[b]!, steps) : 0));
  const worst = errors.indexOf(Math.max(...errors));
  if (!(errors[worst]! > 0)) return { scene };
  const chosen: Scene = {
    ...scene,
    bodies: scene.bodies.map((body) => (isOpen(body) ? { ...body, solver: "implicit" } : body)),
  };
  const why = refusal(chosen, bodies);
  return why === undefined
    ? { scene: chosen }
    : { scene, compliant: { body: scene.bodies[worst]!.name, missing: errors[worst]! / 2, why } };
}

/** q where it is too large, or 0. */
function stressMissing(body: Elastic, template: BodyTemplate, { tickHz, substeps, iterations }: Steps): number {
  const { material } = body;
  const moduli = material as { youngsModulus?: number; kWeft?: number; kWarp?: number };
  const k = moduli.youngsModulus ?? Math.max(moduli.kWeft ?? 0, moduli.kWarp ?? 0);
  const solid = body.kind === "soft";
  const edges = solid ? soundPace(body, template) : 1 / template.meanEdge;
  const n = (edges * Math.sqrt(k / material.density)) / (tickHz * substeps * iterations);
  return n * n > (solid ? MOST.solid : MOST.sheet) ? n * n : 0;
}

/** Why bodies cannot be implicit. @returns undefined if they can */
function refusal(scene: Scene, bodies: readonly BodyTemplate[]): string | undefined {
  try {
    checkImplicit(scene);
  } catch (error) {
    if (!(error instanceof SceneError)) throw error;
    return `${error.path} has to be ${error.limit}`;
  }
  const bouncing = scene.bodies.find((body) => body.kind !== "points" && body.contact?.restitution);
  if (bouncing) return `${bouncing.name} has a restitution`;
  const overlap = overlapping(scene, bodies);
  if (overlap) return `${overlap.join(" and ")} may intersect from the start`;
  const cost = costOf(scene, bodies);
  return cost > LIMIT ? `it would cost ${(cost / LIMIT).toFixed(1)} times as much as it may` : undefined;
}

function costOf(scene: Scene, bodies: readonly BodyTemplate[]): number {
  const tickHz = scene.tickHz ?? 60;
  const colliders = scene.colliders ?? [];
  const steps = Math.max(stepsOf(tickHz), scene.substeps ?? 0);
  return bodies.reduce((sum, { elements, kind, name }, b) => {
    const body = scene.bodies[b]!;
    const lies =
      colliders.some((collider) => !passThrough(body, collider)) ||
      scene.bodies.some((other) => other.name !== name && !passThrough(body, other));
    const each = elements.reduce(
      (count, e) => count + ("volume" in e ? e.volume.length * (e.kind === "triangle" ? TRIANGLE : 1) : 0),
      0,
    );
    return sum + each * (lies ? LYING[kind === "cloth" ? "sheet" : "solid"] : 1) * steps * tickHz;
  }, 0);
}

/** Two bodies that may touch and whose boxes overlap: what intersects is driven apart where it is compliant only. */
function overlapping(scene: Scene, bodies: readonly BodyTemplate[]): [string, string] | undefined {
  const boxes = bodies.map(({ positions }) => boxOf(positions));
  for (let a = 0; a < boxes.length; a++)
    for (let b = a + 1; b < boxes.length; b++) {
      const common = [0, 1, 2].map(
        (r) => Math.min(boxes[a]!.high[r]!, boxes[b]!.high[r]!) - Math.max(boxes[a]!.low[r]!, boxes[b]!.low[r]!),
      );
      const first = scene.bodies[a]!;
      const second = scene.bodies[b]!;
      if (Math.min(...common) > 0 && !passThrough(first, second)) return [first.name, second.name];
    }
  return undefined;
}

function boxOf(positions: Float64Array): { low: number[]; high: number[] } {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  positions.forEach((value, i) => {
    low[i % 3] = Math.min(low[i % 3]!, value);
    high[i % 3] = Math.max(high[i % 3]!, value);
  });
  return { low, high };
}
