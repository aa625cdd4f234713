/** Writes a room's scene file with its owners' changes; the result is a valid scene file. */
import type { Body, Scene } from "../../../shared/scene/scene.ts";
import type { SceneWind } from "../../../shared/scene/sceneSettings.ts";
import {
  type BodyTuning,
  sameGravity,
  sameWind,
  type Tuning,
  type Wind,
} from "../../../shared/members/tuningLimits.ts";
import { ownMaterial, wholeMaterial } from "../../../shared/scene/namedMaterials.ts";

/** A material's fields, for any model. */
type Fields = Record<string, unknown> & { plasticity?: object; volume?: object };

function windText({ velocity, density, drag, lift, intensity, scale, seed }: Wind): SceneWind {
  return { velocity, density, drag, lift, ...(intensity > 0 && { turbulence: { intensity, scale, seed } }) };
}

/** Scales all moduli by one factor, so that they keep their proportions. */
function scaleModuli(material: Fields, factor: number): void {
  for (const field of ["youngsModulus", "kWeft", "kWarp", "kShear"])
    if (typeof material[field] === "number") material[field] *= factor;
  for (const field of ["youngsModuli", "shearModuli"])
    if (Array.isArray(material[field])) material[field] = (material[field] as number[]).map((k) => k * factor);
}

/** @param body changed in place */
function tuneBody(body: Body, was: BodyTuning, now: BodyTuning): void {
  const whole = wholeMaterial(body) as Fields;
  const material = ownMaterial(body) as unknown as Fields;
  for (const field of ["damping", "density", "poissonsRatio", "bendingStiffness"] as const)
    if (now[field] !== was[field]) material[field] = now[field];
  if (now.youngsModulus !== was.youngsModulus) {
    if (typeof whole.youngsModulus === "number") material.youngsModulus = now.youngsModulus;
    else scaleModuli(material, now.youngsModulus! / was.youngsModulus!);
  }
  if (now.yield !== was.yield) material.plasticity = { ...whole.plasticity, yield: now.yield };
  if (now.pressure !== was.pressure) material.volume = { ...material.volume, pressure: now.pressure };
  if (now.pins !== was.pins) delete body.pins;
  for (const field of ["modes", "steps"] as const)
    if (now[field] !== was[field]) Object.assign((body as { method?: object }).method!, { [field]: now[field] });
  if (now.friction === was.friction) return;
  material.friction = now.friction;
  const { contact } = body;
  // As in the room: static friction is never below sliding friction.
  if (contact?.staticFriction !== undefined) contact.staticFriction = Math.max(contact.staticFriction, now.friction!);
}

/**
 * Returns the scene with only the changed fields replaced; all else stays as in the file, including the order of
 * fields.
 * @param text the scene file's text. @param was tuning of the scene file. @param now tuning of the room
 */
export function tunedScene(text: string, was: Tuning, now: Tuning): Scene {
  const scene = JSON.parse(text) as Scene;
  if (!sameGravity(now, was)) scene.gravity = now.gravity;
  if (!sameWind(now.wind, was.wind)) scene.wind = windText(now.wind);
  if (now.timeScale !== was.timeScale) scene.timeScale = now.timeScale;
  now.bodies.forEach((body, n) => {
    const before = was.bodies[n]!;
    if (Object.entries(body).some(([field, value]) => value !== before[field as keyof BodyTuning]))
      tuneBody(scene.bodies[body.body]!, before, body);
  });
  return scene;
}
