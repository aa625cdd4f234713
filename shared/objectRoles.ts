/**
 * What an object that somebody brings along can be, and of which of the named materials (materialPresets.ts).
 *
 * A soft body is made of what a hand can press, and a cloth of what hangs in folds: of 200 GPa nothing bends that
 * somebody can pull, and a solver of 20 substeps would show jelly in its place. Whatever has a weight can be rigid, and
 * whatever has friction an obstacle.
 */
import { MATERIAL_PRESETS, type PresetName } from "./materialPresets.ts";
import type { ClothMaterial, SoftMaterial } from "./scene.ts";

export const OBJECT_ROLES = ["soft", "cloth", "rigid", "collider"] as const;
export type ObjectRole = (typeof OBJECT_ROLES)[number];

export const PRESET_NAMES = Object.keys(MATERIAL_PRESETS) as PresetName[];

/** Stiffest material of a soft body, and of a cloth, Pa. */
const STIFFEST = { soft: 5e6, cloth: 1e8 } as const;

/** Can something of this role be made of it? */
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

/** Coulomb's coefficient of an obstacle. */
export const frictionOf = (name: PresetName): number => weight(name).friction;

/** Of a soft body, for a scene. @returns undefined: it is no soft solid */
export const solidMaterial = (name: PresetName): SoftMaterial | undefined =>
  suits(name, "soft") ? { model: "stvk", ...MATERIAL_PRESETS[name].soft! } : undefined;

export const rigidMaterial = (name: PresetName): SoftMaterial => ({
  model: "shape-matching",
  mode: "rigid",
  ...weight(name),
});

/** Of a cloth, for a scene. @returns undefined: it is no sheet */
export const sheetMaterial = (name: PresetName): ClothMaterial | undefined =>
  suits(name, "cloth") ? { model: "stvk", ...MATERIAL_PRESETS[name].cloth! } : undefined;
