/**
 * Chooses the substeps and iterations of a scene.
 *
 * The effect of a substep's iterations on a body depends on the number n of mesh edges that sound crosses in it:
 *   n = (h/a) sqrt(k/density), with lambda + 2 mu for k in Neo-Hookean bodies
 *   n < 0.6   one iteration keeps the body calm, and remembered stress (kernel/assembly/warmStart/warmStart.ts) makes
 *             its rest shape exact
 *   n = 1     a vertex or two of a strongly bent body may tremble for ever (beams of 7e5 to 1.3e6 Pa: 8 of 15 runs at
 *             n = 0.7 to 1, up to 2 % off; none of 6 at 0.55)
 *   n = 2     whole bodies tremble (18 to 135 % off)
 *   n > 4     elements throw each other about
 * So a scene whose elastic solids are too stiff gets shorter substeps. Each is split into enough parts to bring n down
 * to MOST_EDGES, with fewer iterations in each part. The work grows only where the iterations were not enough. It ends
 * at the work of a default scene, because a room has to keep up with its clock; heavy loads ask for more (loads.ts).
 *
 * Measured (tests/statics/fidelity.ts; 1 m beam, 20 x 4 x 4 cells, 1e7 Pa, 400 N at its end; error of the settled
 * shape, computing time over that of 240 x 5):
 * 60 x 5 unrefined 937 % and never still, 0.2; refined to 1200 x 1 0.008 %, 0.8.
 * 240 x 5 unrefined 1.3 to 4 %, 1; refined to 1200 x 1 0.008 %, 0.8.
 * 8.65 m beam of 1e7 Pa: 60 x 1 unrefined 3 to 80 %; refined to 360 x 1 0.04 %; nu 0.49 400 % and 0.24 %.
 * Tried: a softer material for bodies too stiff even for those substeps, with remembered stress for the true stiffness.
 * It was no calmer (beam of 1e8 and 1e9 Pa, all rates of damping).
 * Scenes that name values defined per substep are not refined: the paper's solver, stiffness k' and softly matched
 * shapes.
 */
import type { Body, Scene } from "../../../shared/scene/scene.ts";
import type { BodyTemplate } from "../body/template.ts";
import { stepsOf } from "../implicit/model.ts";
import { SCENE_DEFAULTS } from "./defaults.ts";
import { type BodyParts, partsForLoads } from "./loads.ts";
import { edgesPerSecond } from "./sound.ts";

/** Largest number of edges that sound may cross in a substep. */
export const MOST_EDGES = 0.6;

export interface Steps {
  tickHz: number;
  /** Per tick. */
  substeps: number;
  /** Per substep. */
  iterations: number;
  /** Substeps from one verification of contact to the next; default 1. */
  verifyEvery?: number;
}

/** Verifications of contact in a second. */
export const verificationRate = ({ tickHz, substeps, verifyEvery = 1 }: Omit<Steps, "iterations">): number =>
  (tickHz * substeps) / verifyEvery;

/**
 * Divides substeps of several iterations into as many of one, where contact is found and verified as before: small
 * steps converge better than iterations, at the same cost (Macklin et al. 2019).
 * @param bodies of the scene, in its order
 */
export function divideSteps(
  steps: Steps,
  scene: Scene,
  bodies: readonly Pick<BodyTemplate, "form" | "schedule" | "shape" | "retardationTime">[],
): Steps {
  const { substeps, iterations } = steps;
  const isPlain = bodies.every(
    ({ form, schedule, shape, retardationTime }, b) =>
      form === "compliant" &&
      schedule.order === "gauss-seidel" &&
      (!shape || scene.bodies[b]!.kind === "ball") &&
      !retardationTime,
  );
  if (iterations === 1 || !isPlain || scene.refine === false || scene.bodies.some(dependsOnSubsteps)) return steps;
  if (scene.bodies.every(({ kind }) => kind === "ball")) return steps;
  return { ...steps, substeps: substeps * iterations, iterations: 1, verifyEvery: iterations };
}

/**
 * Steps that the scene asks for. Without a value, a scene of implicit bodies only has one substep for each of their
 * steps.
 */
export function askedSteps(scene: Scene): Steps {
  const { substeps, iterations } = SCENE_DEFAULTS;
  const tickHz = scene.tickHz ?? SCENE_DEFAULTS.tickHz;
  return {
    tickHz,
    substeps: scene.substeps ?? (allImplicit(scene) ? stepsOf(tickHz) : substeps),
    iterations: scene.iterations ?? iterations,
  };
}

export const allImplicit = ({ bodies }: Scene): boolean =>
  bodies.every((body) => body.kind !== "ball" && body.solver === "implicit");

/**
 * Steps that the room uses.
 * @param bodies of the scene, in its order
 */
export function chooseSteps(scene: Scene, bodies: readonly BodyParts[]): Steps {
  const asked = askedSteps(scene);
  const { tickHz, substeps, iterations } = asked;
  if (scene.refine === false || scene.bodies.some(dependsOnSubsteps)) return asked;
  const rate = tickHz * substeps;
  const edges = scene.bodies.map((body, b) => edgesPerSecond(body, bodies[b]!));
  const { tickHz: usualHz, substeps: usual } = SCENE_DEFAULTS;
  const most = Math.max(iterations, Math.floor((usual * usualHz) / rate));
  const parts = Math.min(Math.ceil(Math.max(0, ...edges) / (rate * MOST_EDGES)), most);
  const loaded = partsForLoads(scene, bodies, edges, rate);
  if (Math.max(parts, loaded) <= 1) return asked;
  return loaded > parts
    ? { tickHz, substeps: substeps * loaded, iterations: 1 }
    : { tickHz, substeps: substeps * parts, iterations: Math.max(1, Math.floor(iterations / parts)) };
}

/** True if the body's stiffness depends on the number of substeps: more of them would make another body. */
export function dependsOnSubsteps(body: Body): boolean {
  if (body.kind === "ball" || body.kind === "points") return false;
  const { material } = body;
  const geometric = "distance" in material || "volume" in material ? [material.distance, material.volume] : [];
  return (
    body.solver === "paper" ||
    geometric.some((g) => g && "stiffness" in g) ||
    (material.model === "shape-matching" && (material.mode === "linear" || material.stiffness !== undefined))
  );
}
