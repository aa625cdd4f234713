/**
 * Kinds of bodies for the matrix of pairs, each as a block of 0.2 m and as a slab of 0.8 x 0.1 x 0.4 m. Solver settings
 * are the defaults.
 */
import type { Body, Vec3 } from "../../../shared/scene/scene.ts";

export const KINDS = [
  "compliant cloth",
  "prefactored cloth",
  "implicit solid",
  "compliant solid",
  "pressure shell",
  "rigid box",
  "ball",
  "shape matching",
  "finite elements",
  "smoothed particles",
] as const;
export type Kind = (typeof KINDS)[number];

/** Side of a block, m. */
export const SIZE = 0.2;
/** Length, height and width of a slab, m. */
export const SLAB: Vec3 = [0.8, 0.1, 0.4];
export const FRICTION = 0.5;
/** kg/m³ */
const DENSITY = 500;
/** Mass per area of sheets and shells, kg/m². */
const SHEET_MASS = 0.3;
const SHEET_THICKNESS = 0.001;
const RADIUS = SIZE / 2;

export const isRound = (kind: Kind): boolean => kind === "ball" || kind === "pressure shell";
export const isSheet = (kind: Kind): boolean => kind === "compliant cloth" || kind === "prefactored cloth";
export const heightOf = (kind: Kind): number => (isSheet(kind) ? 0 : SIZE);

/** Mass of a block, kg. */
export function massOf(kind: Kind): number {
  if (isSheet(kind)) return SHEET_MASS * SIZE ** 2;
  if (kind === "pressure shell") return SHEET_MASS * 4 * Math.PI * RADIUS ** 2;
  if (kind === "ball") return (DENSITY * 4 * Math.PI * RADIUS ** 3) / 3;
  return DENSITY * SIZE ** 3;
}

interface Shape {
  size: Vec3;
  cells: Vec3;
}
const BLOCK: Shape = { size: [SIZE, SIZE, SIZE], cells: [3, 3, 3] };
const PLATE: Shape = { size: SLAB, cells: [8, 1, 4] };

function materialOf(kind: Kind, factor: number): object {
  const density = factor * DENSITY;
  const sheet = { density: (factor * SHEET_MASS) / SHEET_THICKNESS, thickness: SHEET_THICKNESS };
  switch (kind) {
    case "compliant cloth":
      return { ...sheet, youngsModulus: 1e6, poissonsRatio: 0.3, bendingStiffness: 1e-3 };
    case "prefactored cloth":
      return { ...sheet, youngsModulus: 1e7, poissonsRatio: 0.3, bendingStiffness: 1e-3 };
    case "pressure shell":
      return { ...sheet, model: "pbd", distance: { compliance: 0 }, volume: { compliance: 0, pressure: 1.3 } };
    case "implicit solid":
    case "compliant solid":
    case "finite elements":
      return { density, youngsModulus: 1e6, poissonsRatio: 0.3 };
    case "rigid box":
      return { density, model: "shape-matching", mode: "rigid" };
    case "shape matching":
      return { density, model: "shape-matching", mode: "linear", linearity: 0.5 };
    case "ball":
    case "smoothed particles":
      return { density };
  }
}

function meshOf(kind: Kind, { size, cells }: Shape): object {
  if (isSheet(kind)) return { type: "grid", size: [size[0], size[2]], cells: [2 * cells[0], 2 * cells[2]] };
  if (kind === "pressure shell") return { type: "ball", radius: RADIUS, subdivisions: 2 };
  if (kind === "ball") return { type: "ball", radius: RADIUS, subdivisions: 2 };
  if (kind === "smoothed particles")
    return { type: "lattice", arrangement: "cubic", spacing: size[0] / 4, cells: [4, 4, 4] };
  return { type: "box", size, cells };
}

const SOLVERS: Partial<Record<Kind, object>> = {
  "compliant cloth": { solver: "compliant" },
  "prefactored cloth": { solver: "prefactored" },
  "implicit solid": { solver: "implicit" },
  "compliant solid": { solver: "compliant" },
  "finite elements": { method: { type: "finite-elements" }, contact: { self: false } },
  "smoothed particles": { method: { type: "smoothed-particles", steps: 20 } },
};

const KIND_NAMES: Partial<Record<Kind, string>> = { ball: "ball", "smoothed particles": "points" };

export interface Placed {
  name: string;
  /** Center, m. */
  center: Vec3;
  rotate?: Vec3;
  /** Factor on the mass. */
  factor?: number;
}

/** Turns balls, so that no vertices of two balls meet. */
const OBLIQUE: Vec3 = [20, 30, 40];

function made(kind: Kind, shape: Shape, { name, center, rotate, factor = 1 }: Placed): Body {
  const turned = isRound(kind) ? OBLIQUE : rotate;
  return {
    name,
    kind: KIND_NAMES[kind] ?? (isSheet(kind) || kind === "pressure shell" ? "cloth" : "soft"),
    mesh: meshOf(kind, shape),
    transform: { translate: center, ...(turned && { rotate: turned }) },
    material: { ...materialOf(kind, factor), friction: FRICTION },
    ...SOLVERS[kind],
  } as unknown as Body;
}

export const block = (kind: Kind, placed: Placed): Body => made(kind, BLOCK, placed);

/** A long plate. A sheet is pinned as a whole: stretched by friction, it would pull the slider back. */
export const slab = (kind: Kind, placed: Placed): Body => ({
  ...made(kind, PLATE, placed),
  ...(isSheet(kind) && PINNED),
});
const PINNED = { pins: [{ select: { box: { min: [-9, -9, -9] as Vec3, max: [9, 9, 9] as Vec3 } } }] };
