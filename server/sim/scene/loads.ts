/**
 * Substeps for stiff solids under heavy bodies.
 *
 * A compliant solid of one iteration is softer in motion than its material by s = 1 + 0.9 (q - 0.6) where q, the square
 * of the edges that sound crosses in a substep, is above 0.6 (chooseSolvers.ts). Remembered stress makes its rest shape
 * exact, but only within seconds, and until then a load buckles it or tips over: a cube of side L resists tipping with
 * E L^3/12 (bending of a column as high as wide), the lever of a load W that is twice its size with 3/2 L W, so it tips
 * where 18 s W/(E L^2) = 1. Measured for a rigid cube of 100 times the mass on a cube of 10^7 Pa, 4 cells wide: it tips
 * over with 20, 30 and 40 substeps a tick (q = 11, 5, 2.8), and stands with 60.
 */
import type { Body, Scene } from "../../../shared/scene/scene.ts";
import { passThrough } from "../../../shared/scene/sceneImplicit.ts";
import type { BodyTemplate } from "../body/template.ts";
import { norm } from "../reference/vector.ts";
import { boxOf } from "../spawn/inside.ts";
import { SCENE_DEFAULTS } from "./defaults.ts";
import { modulusOf } from "./sound.ts";

/** Largest strain by a load of a body that is too soft: 0.3 of the tipping one. */
const MOST_STRAIN = 0.3 / 18;
/** A load is a body of at least this many times the mass. */
const HEAVY = 10;
/** Value of q up to which a solid is as stiff as its material. */
const RIGHT = 0.6;
/** Most substeps a second, and tetrahedra times these. */
const MOST_RATE = 12000;
const MOST_WORK = 5.5e6;

/** Parts of a body that its steps depend on. */
export type BodyParts = Pick<BodyTemplate, "elements" | "schedule" | "mass" | "positions" | "own">;

/**
 * Number of parts of each substep that the scene's loads ask for; 0: no loads.
 * @param edges edges of each body's mesh that sound crosses in a second, 1/s
 * @param rate substeps a second
 */
export function partsForLoads(
  scene: Scene,
  bodies: readonly BodyParts[],
  edges: readonly number[],
  rate: number,
): number {
  const masses = bodies.map(({ mass }) => mass.reduce((sum, m) => sum + m, 0));
  const g = norm(scene.gravity ?? SCENE_DEFAULTS.gravity);
  const asked = scene.bodies.map((body, b) => {
    if (edges[b] === 0 || body.kind !== "soft" || body.solver === "prefactored") return 0;
    const weigh = (other: Body, o: number): boolean => masses[o]! >= HEAVY * masses[b]! && meets(scene, body, other);
    const load = scene.bodies.reduce((sum, other, o) => sum + (weigh(other, o) ? g * masses[o]! : 0), 0);
    if (load === 0) return 0;
    const { material } = body;
    const modulus = "youngsModuli" in material ? Math.min(...material.youngsModuli) : modulusOf(body);
    const strain = load / (modulus * smallestFace(bodies[b]!));
    const softer = Math.max(1, MOST_STRAIN / strain);
    return edges[b]! / Math.sqrt(RIGHT + (softer - 1) / 0.9);
  });
  const tetrahedra = bodies.reduce((sum, { elements }) => sum + countOf(elements), 0);
  const most = Math.min(MOST_RATE, MOST_WORK / Math.max(1, tetrahedra));
  return Math.min(Math.ceil(Math.max(0, ...asked) / rate), Math.floor(most / rate));
}

const meets = (scene: Scene, body: Body, other: Body): boolean =>
  !passThrough(body, other) ||
  (scene.attachments ?? []).some(
    ({ from, to }) =>
      "body" in to &&
      ((from.body === body.name && to.body === other.name) || (from.body === other.name && to.body === body.name)),
  );

/** Smallest face of the body's box, m². */
function smallestFace({ own, positions }: BodyParts): number {
  const box = boxOf(own ?? positions);
  const [a, b] = [0, 1, 2].map((r) => box[3 + r]! - box[r]!).sort((x, y) => x - y);
  return a! * b!;
}

const countOf = (elements: BodyParts["elements"]): number =>
  elements.reduce((sum, e) => sum + ("volume" in e ? e.volume.length : 0), 0);
