/** Each kind of constraint alone, with and without damping, and implicit bodies in motion. */
import type { Body, Vec3 } from "../../shared/scene/scene.ts";
import { block, FLAT, sheet, STEPS } from "../parts/solver/kernel.ts";
import type { Figure } from "./figure.ts";
import { ticksOf } from "./ticks.ts";

const ELASTIC = { ...FLAT, youngsModulus: 1e6, poissonsRatio: 0.3, bendingStiffness: 1e-4 };
/**
 * Sizes that fit into the second-level cache, because other load shares the levels beyond. Sheets have no self-contact,
 * so that at least three quarters of a tick are the solver's.
 */
const BODIES = {
  tetrahedra: { ...block([14, 13, 8]), solver: "compliant" },
  triangles: { ...sheet([60, 60], ELASTIC), solver: "compliant", contact: { self: false } },
  distances: {
    ...sheet([100, 100], { ...FLAT, model: "pbd", distance: { compliance: 1e-6 } }),
    contact: { self: false },
  },
} as Record<"tetrahedra" | "triangles" | "distances", Body>;
const TICKS = 24;
const PER_PIECE = 4;
/** 1/s */
const DAMPING = 1;

/** Steps as in parts/solver/kernel.ts: five substeps in a tick of 5 ms. */
export function constraints(kind: keyof typeof BODIES, damped = false): Figure["measure"] {
  return (how) =>
    ticksOf(
      {
        ...{ version: 1, title: kind, tickHz: 200, refine: false, ...STEPS["5 substeps x 1 iteration"] },
        ...(damped && { damping: DAMPING }),
        bodies: [BODIES[kind]],
      },
      { settle: 2, ticks: TICKS, perPiece: PER_PIECE },
      how,
    );
}

/** A clamped beam that falls from horizontal into its first swing: every step has new strains. */
export const implicitBeam: Figure["measure"] = (how) =>
  ticksOf(
    {
      version: 1,
      title: "beam",
      bodies: [
        {
          name: "beam",
          kind: "soft",
          solver: "implicit",
          mesh: { type: "box", size: [1, 0.25, 0.25], cells: [12, 3, 3] },
          material: { density: 1000, youngsModulus: 3e5, poissonsRatio: 0.3 },
          pins: [{ select: { box: { min: [-1, -1, -1], max: [-0.4999, 1, 1] } } }],
        },
      ],
    },
    { settle: 0, ticks: 30 },
    how,
  );

/** A sheet that hangs from one edge and swings down from horizontal. Self-contact is possible. */
export const implicitSheet: Figure["measure"] = (how) => {
  const level: Vec3 = [0, 1, 0];
  return ticksOf(
    {
      version: 1,
      title: "sheet",
      bodies: [
        {
          name: "sheet",
          kind: "cloth",
          solver: "implicit",
          mesh: { type: "grid", size: [1, 1], cells: [20, 20] },
          transform: { translate: level },
          material: ELASTIC,
          pins: [{ select: { box: { min: [-1, 0, -1], max: [-0.4999, 2, 1] } } }],
        },
      ],
    },
    { settle: 0, ticks: 30 },
    how,
  );
};
