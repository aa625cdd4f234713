/**
 * How many substeps and iterations a scene really gets.
 *
 * What a substep's iterations can do for a body depends on how many edges of its mesh sound crosses in it, n = (h/a)
 * sqrt(k/density); Neo-Hookean bodies with lambda + 2 mu for k. Below 0.6 a
 * single iteration keeps it calm, and remembered stress (kernel/assembly/warmStart/warmStart.ts) makes its rest shape
 * exact; at 1 a vertex or two of a body that is bent far may hop for ever (beams of 7e5 to 1.3e6 Pa: 8 of 15 runs at
 * 0.7 to 1, up to 2 % off; none of 6 at 0.55), at 2 whole bodies do (18 to 135 % off), from 4 on elements throw each
 * other about. So a scene whose elastic solids are too stiff for its substeps gets shorter ones: as many in place of
 * each as bring n down to MOST_EDGES, and as much fewer iterations in each, so that the work grows only where the
 * iterations were not enough. It ends at the work of a default scene, because a room has to keep time.
 *
 * Measured (tests/statics/heatmap.ts --rest; 1 m beam, 20 x 4 x 4 cells, 1e7 Pa, 400 N at its end; error of the settled
 * shape, computing over that of 240 x 5): 60 x 5 as it stands 937 % and never still, 0.2; refined to 1200 x 1 0.008 %,
 * 0.8. 240 x 5 as it stands 1.3 to 4 %, 1; refined to 1200 x 1 0.008 %, 0.8. 8.65 m beam of 1e7 Pa: 60 x 1 as it stands
 * 3 to 80 %; refined to 360 x 1 0.04 %; nu 0.49 400 % and 0.24 %. Tried and lost: solving what is too stiff even for
 * those substeps with a softer material while remembered stress stands for the true one: no calmer than without (beam
 * of 1e8 and 1e9 Pa, all rates of damping). Scenes that name what depends on the length of a substep by definition are
 * left alone: the paper's solver, stiffness k' and softly matched shapes.
 */
import type { Body, Scene } from "../../shared/scene.ts";
import type { BodyTemplate } from "./body/template.ts";
import { stepsOf } from "./implicit/model.ts";
import { SCENE_DEFAULTS } from "./defaults.ts";

/** Edges that sound may cross in a substep. */
export const MOST_EDGES = 0.6;

export interface Steps {
  tickHz: number;
  /** Per tick. */
  substeps: number;
  /** Per substep. */
  iterations: number;
}

/**
 * As the scene says; a scene of implicit bodies only, which does not say it, has as many substeps as those have steps.
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

/** As the room steps. @param bodies of the scene, in its order */
export function chooseSteps(scene: Scene, bodies: readonly Pick<BodyTemplate, "elements" | "schedule">[]): Steps {
  const asked = askedSteps(scene);
  const { tickHz, substeps, iterations } = asked;
  if (scene.refine === false || scene.bodies.some(dependsOnSubsteps)) return asked;
  const h = 1 / (tickHz * substeps);
  const edges = Math.max(0, ...scene.bodies.map((body, b) => edgesPerSecond(body, bodies[b]!) * h));
  const { tickHz: usualHz, substeps: usual } = SCENE_DEFAULTS;
  const most = Math.max(iterations, Math.floor((usual * usualHz) / (tickHz * substeps)));
  const parts = Math.min(Math.ceil(edges / MOST_EDGES), most);
  return parts <= 1
    ? asked
    : { tickHz, substeps: substeps * parts, iterations: Math.max(1, Math.floor(iterations / parts)) };
}

/** Does it mean something else in another step? */
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

/** Edges of the body's mesh that sound crosses in a second, 1/s; 0 for what is not an elastic solid. */
function edgesPerSecond(body: Body, template: Pick<BodyTemplate, "elements" | "schedule">): number {
  if (body.kind === "points") return 0;
  const { material } = body;
  const k =
    "youngsModuli" in material
      ? Math.max(...(material.youngsModuli as readonly number[]))
      : "youngsModulus" in material
        ? (material.youngsModulus as number) * volumetric(material.model, material.poissonsRatio)
        : 0;
  return Math.sqrt(k / material.density) * soundPace(body, template);
}

/** Edges of the body's mesh in a meter, 1/m; 0 for what is not an elastic solid. */
export function soundPace(body: Body, { elements, schedule }: Pick<BodyTemplate, "elements" | "schedule">): number {
  if (body.kind !== "soft" || body.solver === "implicit" || body.method || schedule.order === "jacobi") return 0;
  return elements.reduce(
    (most, e) =>
      "dmInverse" in e && "volume" in e && e.kind !== "triangle" ? Math.max(most, 1 / edgeOf(e.volume)) : most,
    0,
  );
}

/**
 * Neo-Hookean elements resist compression by a bound on their stiffness and not, as strains of Saint Venant-Kirchhoff's
 * do, by the exact block, so that what counts for them is the speed of pressure waves: lambda + 2 mu over k. (Armadillo
 * of tests/statics, nu 0.49: blows up at 300 and 600 x 1 if that is not taken into account, 0.2 % off at 960 x 1.)
 */
export function volumetric(model: string | undefined, nu: number | undefined): number {
  return (model === "neo-hookean" || model === "stable-neo-hookean") && nu !== undefined
    ? (1 - nu) / ((1 + nu) * (1 - 2 * nu))
    : 1;
}

/**
 * Edge of the regular tetrahedron that is as large as the body's elements on average, m: what its cells are like, where
 * a sliver or two do not count (they are a matter of their own particles, which iterations are good at).
 */
function edgeOf(volume: Float64Array): number {
  return Math.cbrt((6 * Math.SQRT2 * volume.reduce((sum, v) => sum + v, 0)) / volume.length);
}
