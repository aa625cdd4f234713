/**
 * Expands named materials in a scene: `"material": "rubber"`, or `{ "preset": "rubber", "damping": 2 }`, whose own
 * fields override the preset's. Code behind the validator sees only the expanded fields.
 */
import { MATERIAL_PRESETS, type PresetName, presetsOf } from "./materialPresets.ts";
import type { Body } from "./scene.ts";
import type { SceneFault } from "./sceneError.ts";
import { hinted, nearest } from "../didYouMean.ts";

type Named = { preset: string } & Record<string, unknown>;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function named(material: unknown): Named | undefined {
  if (typeof material === "string") return { preset: material };
  return isRecord(material) && typeof material.preset === "string" ? (material as Named) : undefined;
}

/**
 * @param scene anything, usually parsed JSON
 * @returns the scene with its named materials expanded, or the same object if it has none; and unknown presets, which
 *   are expanded as the nearest or first known one, so that the rest can be checked
 */
export function withMaterials(scene: unknown): { scene: unknown; faults: SceneFault[] } {
  const faults: SceneFault[] = [];
  if (!isRecord(scene) || !Array.isArray(scene.bodies)) return { scene, faults };
  let any = false;
  const bodies = scene.bodies.map((body: unknown, b) => {
    if (!isRecord(body) || !(body.kind === "soft" || body.kind === "cloth")) return body;
    const called = named(body.material);
    if (!called) return body;
    any = true;
    const { preset, ...own } = called;
    const known = presetsOf(body.kind);
    const isKnown = known.includes(preset as PresetName);
    const meant = isKnown ? preset : nearest(preset, known, 1 / 2);
    if (!isKnown)
      faults.push({
        path: `/bodies/${b}/material${typeof body.material === "string" ? "" : "/preset"}`,
        value: preset,
        limit: hinted(`an object, or a material of a ${body.kind} body: ${known.join(", ")}`, meant),
      });
    return { ...body, material: { ...MATERIAL_PRESETS[(meant ?? known[0]) as PresetName][body.kind], ...own } };
  });
  return { scene: any ? { ...scene, bodies } : scene, faults };
}

/** All fields of a body's material, including its preset's. @param body of a scene file */
export function wholeMaterial({ kind, material }: Body): Record<string, unknown> {
  const { preset, ...own } = named(material) ?? { ...material, preset: "" };
  const { soft, cloth } = MATERIAL_PRESETS[preset as PresetName] ?? {};
  return { ...(kind === "cloth" ? cloth : soft), ...own };
}

/**
 * Returns a body's material as an object that can be changed; a name is replaced by an object. @param body of a scene
 * file, inout
 */
export function ownMaterial(body: Body): Body["material"] {
  const called = named(body.material);
  if (called && typeof (body.material as unknown) === "string") (body as { material: unknown }).material = called;
  return body.material;
}
