/**
 * Every kind of constraint that is stored in blocks, in the order in which an iteration solves them. Dashpots come
 * first: behind the others they would give energy (kernel/assembly/constraints/dashpots.ts).
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

// each handles its own kind only; the lookup by kind is what makes that so
export const CONSTRAINTS = kinds as unknown as Readonly<Record<ElementKind, Constraint<Elements>>>;
export const ELEMENT_KINDS = Object.keys(kinds) as ElementKind[];
const all = Object.values(CONSTRAINTS);

/** Constraints of e. */
export const countOf = (e: Elements): number => e.particles.length / CONSTRAINTS[e.kind].corners;

/** The constraints that a soft body's material asks for. @throws SceneError */
export const solidElements = (solid: Solid): Elements[] => all.flatMap(({ ofSolid }) => ofSolid?.(solid) ?? []);

/** The constraints that a cloth's material asks for. */
export const sheetElements = (sheet: Sheet): Elements[] => all.flatMap(({ ofSheet }) => ofSheet?.(sheet) ?? []);

/** float64[N] kg, where they are not those of its tetrahedra. */
export function massesOf(solid: Solid): Float64Array | undefined {
  for (const { masses } of all) {
    const own = masses?.(solid);
    if (own) return own;
  }
  return undefined;
}
