/**
 * Chooses sheets for the prefactored solve (`solver: "auto"`). A sheet suits if it is elastic and held (pins or
 * attachments), and if the scene has one iteration and LEAST_RATE substeps a second. A sheet that only lies somewhere
 * bears little. With several iterations contact is the author's concern; with few substeps, a sheet under hands costs
 * more than a compliant one.
 *
 * The solve's own error is delay: P resists motion across a sheet as much as stretch. Within h c of its pins a sheet
 * gains speed too slowly, c = sqrt(k/density). So a swing takes longer by the part h c/4L, L the sheet's length.
 * Measured in falls of a sheet of 1 m, pinned at an edge, 300 kg/m^3, rms distance in mm after 0.5 s from the fall with
 * 160 substeps; 10, 20, 40 substeps; implicit, 4 steps; compliant, 20 x 1:
 *   10^5 Pa   19, 8, 3; 12; 7
 *   10^6 Pa   64, 31, 12; 29; 12
 *   10^7 Pa   241, 103, 43; 40; 10
 */
import { checkPrefactored } from "../../../shared/scene/scenePrefactored.ts";
import type { Body, Scene } from "../../../shared/scene/scene.ts";
import { SceneError } from "../../../shared/scene/sceneError.ts";
import { mayMeetAny } from "../../../shared/scene/sceneImplicit.ts";
import type { BodyTemplate } from "../body/template.ts";
import { boxOf } from "../spawn/inside.ts";
import { modulusOf } from "../scene/sound.ts";
import type { Steps } from "../scene/substeps.ts";
import { ALONE_BOUND, MOST_PARTICLES } from "./model.ts";

/** Smallest number of substeps a second. */
const LEAST_RATE = 480;
/** Most substeps a second of scenes of sheets only that name none. */
const FEW_RATE = 600;
/** Fewest substeps a second of sheets that are alone. */
const ALONE_RATE = 300;

/**
 * Largest delays: `right`, up to which the solve is as exact in motion as the implicit step; `few`, up to which
 * FEW_RATE suffices.
 */
export const DELAYS = { right: 0.015, few: 0.03 } as const;

export interface Prefactored {
  /** Delay of each body's swings, relative; Infinity if it cannot be prefactored. */
  delays: number[];
  /** Substeps a tick; undefined: those of the scene. */
  substeps?: number;
}

/**
 * @param soft numbers of the bodies that are too soft
 * @param most delay up to which scenes of sheets only have few substeps
 * @param open whether the number of substeps may be chosen: the scene names none, or the bodies do not use it
 */
export function choosePrefactored(
  scene: Scene,
  bodies: readonly BodyTemplate[],
  soft: readonly number[],
  { tickHz, substeps, iterations }: Steps,
  most: number,
  open: boolean,
): Prefactored {
  const alone = scene.bodies.every((body, b) => isAlone(scene, body, bodies[b]!));
  const least = alone ? ALONE_RATE : LEAST_RATE;
  const delays = (rate: number): number[] =>
    scene.bodies.map((body, b) =>
      soft.includes(b) && iterations === 1 && rate >= least && isHeld(scene, body) && suits(body, bodies[b]!)
        ? delayOf(body, bodies[b]!, rate) * (alone ? Math.sqrt(ALONE_BOUND) : 1)
        : Infinity,
    );
  const few = Math.ceil(FEW_RATE / tickHz);
  const named = scene.substeps === undefined ? Math.min(substeps, few) : few;
  if (open)
    for (let n = alone ? Math.ceil(ALONE_RATE / tickHz) : named; n <= named; n++) {
      const fewest = delays(tickHz * n);
      if (fewest.every((delay) => delay <= most)) return { delays: fewest, substeps: n };
    }
  return { delays: delays(tickHz * substeps) };
}

/** Whether a body can touch nothing, not even itself, and no bodies are attached to each other. */
export const isAlone = (scene: Scene, body: Body, { touch }: BodyTemplate): boolean =>
  !touch.self && !mayMeetAny(scene, body) && !scene.attachments?.some(({ to }) => "body" in to);

/** True for a body with pins or attachments. */
const isHeld = ({ attachments = [] }: Scene, { name, pins = [] }: Body): boolean =>
  pins.length > 0 || attachments.some(({ from, to }) => from.body === name || ("body" in to && to.body === name));

/** @param rate substeps per second */
function delayOf(body: Body, { own, positions }: BodyTemplate, rate: number): number {
  const box = boxOf(own ?? positions);
  const length = Math.max(...[0, 1, 2].map((r) => box[3 + r]! - box[r]!));
  return Math.sqrt(modulusOf(body) / body.material.density) / (4 * length * rate);
}

function suits(body: Body, { particleCount }: BodyTemplate): boolean {
  if (body.kind !== "cloth" || particleCount > MOST_PARTICLES) return false;
  try {
    checkPrefactored({ bodies: [{ ...body, solver: "prefactored" }] });
  } catch (error) {
    if (error instanceof SceneError) return false;
    throw error;
  }
  return true;
}
