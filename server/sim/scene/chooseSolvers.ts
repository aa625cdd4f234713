/**
 * Chooses a solver for bodies that name none (`solver: "auto"`).
 *
 * One iteration carries stress over one edge of the mesh. Let n = (h/a) sqrt(k/density) / iterations be the edges that
 * sound crosses per iteration, and q = n^2. Over-relaxed sweeps (constraints/overRelaxation.ts) are right in motion up
 * to q = 0.4, but fast vibrations, impacts and stiff parts are not. If q of a body is above MOST:
 *   1. Sheets become prefactored if only sheets are too soft and their delay is small (prefactored/choose.ts).
 *   2. Else all bodies of the scene are integrated implicitly, which is right for any n, if all of them can be
 *      (shared/scene/sceneImplicit.ts) and the cost is at most LIMIT.
 *   3. Else sheets become prefactored if their delay is below the error of the compliant sheet. All others stay
 *      compliant.
 * `simulate` reports what is left, with the reason. The choice depends only on the scene's numbers, never on the
 * machine.
 *
 * Costs are elements times steps; 0.65 us of a 2 core EPYC for a tetrahedron and 0.35 for a triangle, four steps a
 * tick. Solids of 8,000 tetrahedra and sheets of 12,000 triangles without contact take about a tick of 60 Hz. Bodies in
 * contact are solved again until friction is settled, and folds of a grabbed sheet touch everywhere.
 * Measured in ms a tick, with p99 in round brackets and the compliant solver in square brackets; bodies pulled loose by
 * three grabs, on a machine with five times more work than cores:
 *   a sheet of 800 triangles 6 (25) [5 (13)], of 1,800 14 (49) [13 (26)], two of 800 9 (25) [10 (20)]; one of 7,200
 *   without grabs 8 [11]
 *   a sheet of 800 over a floor 19 (52) [7 (20)], over floor and sphere 20 (70) [8 (24)], one of 392 there 7 (28) [3
 *   (11)]; over a mesh 12 (30) [6 (17)], over a soft cube 15 (46) [6 (16)]: so sheets are chosen only if they touch
 *   nothing but sheets and shapes, and solids, because of friction (kernel/assembly/implicit/contacts.ts), shapes only
 *   five sheets on a floor fall asleep after 2 s [never]
 *   cubes and beams cost the same with and without grabs: 5 for a beam of 3,840 tetrahedra, 3 (9) for a cube of 1,080
 *   on a floor
 */
import type { Body, Scene } from "../../../shared/scene/scene.ts";
import { SceneError } from "../../../shared/scene/sceneError.ts";
import { checkImplicit, passThrough } from "../../../shared/scene/sceneImplicit.ts";
import type { BodyTemplate } from "../body/template.ts";
import { CONSTRAINTS } from "../constraints/kinds.ts";
import { choosePrefactored, DELAYS, isAlone, type Prefactored } from "../prefactored/choose.ts";
import { boxOf } from "../spawn/inside.ts";
import { modulusOf, soundPace } from "./sound.ts";
import { metByImplicit } from "./standIns.ts";
import { allImplicit, askedSteps, dependsOnSubsteps, divideSteps, type Steps } from "./substeps.ts";

/** Value of q from which a body is integrated implicitly: 0.4 % of a solid's frequency, 1 % of a sheet's length. */
const MOST = { solid: 0.008, sheet: 0.02 } as const;
/**
 * Limit of q tau/h, h a substep: the part of a viscous material's damping that is missing (constraints/dashpots.ts).
 */
const MOST_VISCOUS = 0.1;
/** Missing part of the stress that is reported. */
const MOST_MISSING = 0.005;
/** Largest cost, in tetrahedra times steps per second. */
const LIMIT = 8000 * 240;
/** Cost of a triangle in tetrahedra, and factors on the cost of an element of a body that may lie on something. */
const TRIANGLE = 0.6;
const LYING = { onShapes: 3, onBodies: 12, onItself: 10, sheetOnShapes: 30 } as const;
/** Smallest mean edge, m: smaller bodies end their solves at 1 nm (kernel/assembly/implicit/newton.ts). */
const SMALLEST = 1e-5;

/** Largest error of a body without a named solver, and the reason why the body is not implicit. */
export interface Inexact {
  body: string;
  /**
   * Missing part of its stress while it moves, or of its material's damping, both of compliant bodies; or of the pace
   * of a prefactored sheet's swings.
   */
  missing: number;
  of: "stiffness" | "damping" | "pace";
  why: string;
}

export interface Solvers {
  /** The scene, with a `solver` where one is chosen. */
  scene: Scene;
  /** Set if implicit would be better but is not possible. */
  inexact?: Inexact;
}

type Elastic = Extract<Body, { kind: "soft" | "cloth" }>;

/** True if the body leaves its solver open. */
const namesNone = (body: Body): body is Elastic =>
  (body.kind === "soft" || body.kind === "cloth") && (body.solver ?? "auto") === "auto" && !body.method;

/**
 * @param bodies of the scene, in its order, as if all without a named solver were compliant
 * @param steps for that case
 */
export function chooseSolvers(scene: Scene, bodies: readonly BodyTemplate[], steps: Steps): Solvers {
  if (scene.refine === false || scene.bodies.some(dependsOnSubsteps)) return { scene };
  const small = divideSteps(steps, scene, bodies);
  const errors = scene.bodies.map((body, b) => (namesNone(body) ? errorOf(body, bodies[b]!, steps, small) : NOTHING));
  const soft = errors.flatMap(({ isSoft }, b) => (isSoft ? [b] : []));
  if (soft.length === 0) return { scene };
  const implicit: Scene = {
    ...scene,
    bodies: scene.bodies.map((body) => (namesNone(body) ? { ...body, solver: "implicit" } : body)),
  };
  // the substeps were chosen for the compliant solver; the implicit one does not use them
  if (allImplicit(implicit)) delete implicit.substeps;
  const why = refusal(implicit, bodies);
  const most = why === undefined ? DELAYS.right : DELAYS.few;
  const late = ({ delays }: Prefactored): boolean => soft.some((b) => delays[b]! > most);
  let chosen = choosePrefactored(scene, bodies, soft, steps, most, scene.substeps === undefined);
  // the implicit solver would not use the scene's substeps
  const alone = allImplicit(implicit) && scene.bodies.every((body, b) => isAlone(scene, body, bodies[b]!));
  if (why === undefined && late(chosen) && alone) chosen = choosePrefactored(scene, bodies, soft, steps, most, true);
  if (why === undefined && late(chosen)) return { scene: implicit };
  const { delays, substeps } = chosen;
  const better = soft.filter((b) => delays[b]! <= Math.max(errors[b]!.missing, DELAYS.right));
  const worst = scene.bodies
    .map(({ name }, b) => ({ body: name, ...(better.includes(b) ? lateness(delays[b]!) : errors[b]!) }))
    .reduce((most, each) => (each.missing > most.missing ? each : most));
  return {
    scene: prefactored(scene, better, substeps),
    ...(why !== undefined && worst.missing > 0 && { inexact: { ...worst, why } }),
  };
}

type Soft = Pick<Inexact, "missing" | "of"> & { isSoft: boolean };

const NOTHING: Soft = { isSoft: false, missing: 0, of: "stiffness" };

/** Error by which a prefactored sheet lags behind. */
const lateness = (delay: number): Pick<Inexact, "missing" | "of"> =>
  delay > DELAYS.right ? { missing: delay, of: "pace" } : NOTHING;

/** The scene with prefactored sheets. @param substeps undefined: the scene's own */
function prefactored(scene: Scene, sheets: readonly number[], substeps: number | undefined): Scene {
  const bodies = scene.bodies.map(
    (body, b): Body => (body.kind === "cloth" && sheets.includes(b) ? { ...body, solver: "prefactored" } : body),
  );
  return { ...scene, ...(substeps !== undefined && { substeps }), bodies };
}

/** Error of a compliant body. @param small the steps that it would have */
function errorOf(body: Elastic, template: BodyTemplate, steps: Steps, small: Steps): Soft {
  const { material } = body;
  const solid = body.kind === "soft";
  const edges = solid ? soundPace(body, template) : 1 / template.meanEdge;
  const pace = edges * Math.sqrt(modulusOf(body) / material.density);
  const n = pace / (steps.tickHz * steps.substeps * steps.iterations);
  const q = n * n;
  const viscous = q * template.retardationTime * steps.tickHz * steps.substeps;
  if (viscous > MOST_VISCOUS && viscous / (1 + viscous) > q / 2)
    return { isSoft: true, missing: viscous / (1 + viscous), of: "damping" };
  const isSoft = q > (solid ? MOST.solid : MOST.sheet);
  const inStep = (pace / (small.tickHz * small.substeps)) ** 2;
  const missing = isSoft ? missingStress(inStep, small.iterations, material.model) : 0;
  return { isSoft, missing: missing > MOST_MISSING ? missing : 0, of: "stiffness" };
}

/**
 * Part of the stress that is missing in motion, as measured for hanging sheets (overRelaxation.ts has the form).
 * @param q edges that sound crosses in a substep, squared
 */
function missingStress(q: number, iterations: number, model: string | undefined): number {
  if (iterations === 1) {
    const longer = model?.includes("neo-hookean") ? q / 2 : 0.9 * Math.max(0, q - 0.6);
    return longer / (1 + longer);
  }
  const b = 0.7 * q;
  return (b / (1 + b)) ** iterations;
}

/**
 * Reason why bodies cannot be implicit.
 * @returns undefined if they can
 */
function refusal(scene: Scene, bodies: readonly BodyTemplate[]): string | undefined {
  try {
    checkImplicit(scene);
  } catch (error) {
    if (!(error instanceof SceneError)) throw error;
    return `${error.path} must be ${error.limit}`;
  }
  const met = metByImplicit(scene);
  if (met) return `${met.body.name} may touch or holds ${met.other.name}`;
  const bouncing = scene.bodies.find((body) => body.kind !== "points" && body.contact?.restitution);
  if (bouncing) return `${bouncing.name} has a restitution`;
  const tiny = bodies.find(({ meanEdge }) => meanEdge < SMALLEST);
  if (tiny) return `${tiny.name} has edges of ${tiny.meanEdge.toPrecision(2)} m, limit: ${SMALLEST}`;
  for (const body of scene.bodies) {
    const met = notKnown(scene, body).find((other) => !passThrough(body, other));
    if (!met) continue;
    const harm =
      body.kind === "cloth" ? "with grabs it would cost too much" : "friction would brake it at their corners";
    return `${body.name} may touch the triangles of ${met.name ?? "a mesh"}: ${harm}`;
  }
  const overlap = overlapping(scene, bodies);
  if (overlap) return `${overlap.join(" and ")} may intersect from the start`;
  const cost = costOf(scene, bodies);
  return cost > LIMIT ? `it would cost ${(cost / LIMIT).toFixed(1)} times the limit` : undefined;
}

type Met = Parameters<typeof passThrough>[1];

/** Bodies and colliders that an implicit body may not touch. Sheets may touch each other. */
const notKnown = ({ bodies, colliders = [] }: Scene, body: Body): Met[] => [
  ...bodies.filter((other) => other !== body && (body.kind !== "cloth" || other.kind !== "cloth")),
  ...colliders.filter(({ type }) => type === "mesh"),
];

/** Kind of support that the body may lie on. */
function lying({ bodies, colliders = [] }: Scene, body: Body, self: boolean): keyof typeof LYING | undefined {
  const meets = (other: Met): boolean => !passThrough(body, other);
  if (body.kind === "cloth" && colliders.some(meets)) return "sheetOnShapes";
  if (bodies.some((other) => other !== body && meets(other))) return "onBodies";
  if (colliders.some(meets)) return "onShapes";
  return self && body.kind === "cloth" ? "onItself" : undefined;
}

function costOf(scene: Scene, bodies: readonly BodyTemplate[]): number {
  const { tickHz, substeps } = askedSteps(scene);
  return bodies.reduce((sum, { elements, touch }, b) => {
    const each = elements.reduce(
      (count, e) => count + ("volume" in e ? e.volume.length * (CONSTRAINTS[e.kind].corners === 3 ? TRIANGLE : 1) : 0),
      0,
    );
    const place = lying(scene, scene.bodies[b]!, touch.self);
    return sum + each * (place ? LYING[place] : 1) * substeps * tickHz;
  }, 0);
}

/** Two bodies that may touch and whose boxes overlap: only compliant bodies are moved apart if they intersect. */
function overlapping(scene: Scene, bodies: readonly BodyTemplate[]): [string, string] | undefined {
  const boxes = bodies.map(({ positions }) => boxOf(positions));
  for (let a = 0; a < boxes.length; a++)
    for (let b = a + 1; b < boxes.length; b++) {
      const common = [0, 1, 2].map(
        (r) => Math.min(boxes[a]![3 + r]!, boxes[b]![3 + r]!) - Math.max(boxes[a]![r]!, boxes[b]![r]!),
      );
      const first = scene.bodies[a]!;
      const second = scene.bodies[b]!;
      if (Math.min(...common) > 0 && !passThrough(first, second)) return [first.name, second.name];
    }
  return undefined;
}
