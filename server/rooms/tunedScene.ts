/** A room's scene with what its owners have changed: a file like any other scene. */
import type { BodyTuning, Tuning, Wind } from "../../shared/protocol/protocol.ts";
import type { Body, Scene, SceneWind } from "../../shared/scene.ts";
import { sameGravity, sameWind } from "../../shared/tuning.ts";
import { ownMaterial, wholeMaterial } from "../../shared/namedMaterials.ts";

/** A material's fields, whatever its model. */
type Fields = Record<string, unknown> & { plasticity?: object; volume?: object };

function windText({ velocity, density, drag, lift, intensity, scale, seed }: Wind): SceneWind {
  return { velocity, density, drag, lift, ...(intensity > 0 && { turbulence: { intensity, scale, seed } }) };
}

/** Moduli that keep their proportion to the one that stands for all of them. */
function scaleModuli(material: Fields, factor: number): void {
  for (const field of ["youngsModulus", "kWeft", "kWarp", "kShear"])
    if (typeof material[field] === "number") material[field] *= factor;
  for (const field of ["youngsModuli", "shearModuli"])
    if (Array.isArray(material[field])) material[field] = (material[field] as number[]).map((k) => k * factor);
}

/** @param body inout */
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
  // what the room does, too: at rest nothing holds less than when it slides
  if (contact?.staticFriction !== undefined) contact.staticFriction = Math.max(contact.staticFriction, now.friction!);
}

/**
 * Only what was changed is written; all else stays as the file has it, to the order of its fields.
 * @param text of the scene's file. @param was what may be changed, as that says. @param now the same as the room has it
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
