/**
 * Roles of an uploaded object, and the named materials for each (materialPresets.ts).
 *
 * A soft body needs a material that a grab can press, and a cloth one that hangs in folds. At 200 GPa, no grab can bend
 * the body, and a solver of 20 substeps would show jelly instead. Every material with a density can be rigid, and every
 * material with friction a collider.
 */
import { MATERIAL_PRESETS, type PresetName } from "./materialPresets.ts";
import type { ClothMaterial, SoftMaterial } from "./sceneMaterials.ts";

export const OBJECT_ROLES = ["soft", "cloth", "rigid", "collider"] as const;
export type ObjectRole = (typeof OBJECT_ROLES)[number];

export const PRESET_NAMES = Object.keys(MATERIAL_PRESETS) as PresetName[];

/** Stiffest material of a soft body, and of a cloth, Pa. */
const STIFFEST = { soft: 5e6, cloth: 1e8 } as const;

/** Whether the material suits the role. */
export function suits(name: PresetName, role: ObjectRole): boolean {
  if (role !== "soft" && role !== "cloth") return true;
  const material = MATERIAL_PRESETS[name][role];
  return material !== undefined && (material.youngsModulus ?? Infinity) <= STIFFEST[role];
}

const weight = (name: PresetName): { density: number; friction: number } => {
  const { soft, cloth } = MATERIAL_PRESETS[name];
  const { density, friction = 0.5 } = (soft ?? cloth)!;
  return { density, friction };
};

/** Coulomb coefficient of a collider. */
export const frictionOf = (name: PresetName): number => weight(name).friction;

/** Material of a soft body, for a scene. @returns undefined if it is not a soft solid */
export const solidMaterial = (name: PresetName): SoftMaterial | undefined =>
  suits(name, "soft") ? { model: "stvk", ...MATERIAL_PRESETS[name].soft! } : undefined;

export const rigidMaterial = (name: PresetName): SoftMaterial => ({
  model: "shape-matching",
  mode: "rigid",
  ...weight(name),
});

/** Material of a cloth, for a scene. @returns undefined if it is not a sheet */
export const sheetMaterial = (name: PresetName): ClothMaterial | undefined =>
  suits(name, "cloth") ? { model: "stvk", ...MATERIAL_PRESETS[name].cloth! } : undefined;
