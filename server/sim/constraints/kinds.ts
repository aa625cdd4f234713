/**
 * All kinds of constraints that are stored in blocks, in the order in which an iteration solves them. Dashpots come
 * first: after the others they would add energy (kernel/assembly/constraints/dashpots.ts).
 */
import { bend } from "./bend.ts";
import type { Constraint, Sheet, Solid } from "./constraint.ts";
import { bendDashpot, tetDashpot, triangleDashpot } from "./dashpots.ts";
import { distance } from "./distance.ts";
import { hexahedron } from "./hexahedron.ts";
import { neoHookean, stableNeoHookean } from "./hyperelastic.ts";
import { orthotropicTet, plasticTet, tet } from "./tetrahedra.ts";
import { triangle } from "./triangle.ts";
import { volume } from "./volume.ts";

const kinds = {
  "tet-dashpot": tetDashpot,
  "triangle-dashpot": triangleDashpot,
  "bend-dashpot": bendDashpot,
  tet,
  "tet-ortho": orthotropicTet,
  "tet-plastic": plasticTet,
  "neo-hookean": neoHookean,
  "stable-neo-hookean": stableNeoHookean,
  triangle,
  bend,
  distance,
  volume,
  hexahedron,
};
export type ElementKind = keyof typeof kinds;
export type Elements = { [K in ElementKind]: (typeof kinds)[K] extends Constraint<infer E> ? E : never }[ElementKind];

// each entry handles only its own kind; the lookup by kind ensures that
export const CONSTRAINTS = kinds as unknown as Readonly<Record<ElementKind, Constraint<Elements>>>;
export const ELEMENT_KINDS = Object.keys(kinds) as ElementKind[];
const all = Object.values(CONSTRAINTS);

/** Number of constraints in e. */
export const countOf = (e: Elements): number => e.particles.length / CONSTRAINTS[e.kind].corners;

/**
 * Constraints of a soft body's material.
 * @throws SceneError
 */
export const solidElements = (solid: Solid): Elements[] => all.flatMap(({ ofSolid }) => ofSolid?.(solid) ?? []);

/** Constraints of a cloth's material. */
export const sheetElements = (sheet: Sheet): Elements[] => all.flatMap(({ ofSheet }) => ofSheet?.(sheet) ?? []);

/** float64[N] masses in kg, if they differ from those of the tetrahedra. */
export function massesOf(solid: Solid): Float64Array | undefined {
  for (const { masses } of all) {
    const own = masses?.(solid);
    if (own) return own;
  }
  return undefined;
}
