/** Bodies and ways to wreck them (recovery.test.ts, figure 6). */
import type { Body } from "../../../shared/scene/scene.ts";
import type { OrthotropicMaterial, SoftMaterial } from "../../../shared/scene/sceneMaterials.ts";
import { randomStream } from "../../parity/kit.ts";
import { laboratory, volumeOf, type Laboratory } from "../laboratory.ts";
import { softBox } from "../../support/bodies.ts";

export const box = (youngsModulus: number, poissonsRatio: number): Body =>
  softBox("box", [0.3, 0.3, 0.3], [4, 4, 4], { material: { density: 500, youngsModulus, poissonsRatio, damping: 1 } });
export const bunny: Body = {
  name: "bunny",
  kind: "soft",
  mesh: { type: "package", package: "bunny" },
  transform: { fitHeight: 0.4 },
  tetrahedralize: { spacing: 0.032 },
  material: { density: 300, youngsModulus: 25000, poissonsRatio: 0.4, damping: 1 },
};

/**
 * The same box of other materials: orthotropic in its own axes, nearly incompressible by nine constants, and plastic,
 * up to a creep that takes all of a strain in one substep.
 */
const boxOf = (material: SoftMaterial): Body => ({ ...box(1, 0), material }) as Body;
const common = { density: 500, damping: 1 };
const soft = { ...common, youngsModulus: 3e4, poissonsRatio: 0.35 };
const wood = (k: number): OrthotropicMaterial => ({
  ...common,
  model: "orthotropic",
  youngsModuli: [k, 0.3 * k, 0.2 * k],
  poissonsRatios: [0.4, 0.3, 0.5],
  shearModuli: [0.15 * k, 0.08 * k, 0.12 * k],
  axes: [20, -40, 60],
});
export const ELASTIC: Record<string, Body> = {
  "soft wood": boxOf(wood(1e5)),
  "firm wood": boxOf(wood(3e6)),
  "orthotropic, nearly incompressible": boxOf({
    ...common,
    model: "orthotropic",
    youngsModuli: [3e4, 3e4, 3e4],
    poissonsRatios: [0.45, 0.45, 0.45],
    shearModuli: [1e4, 1e4, 1e4],
  }),
};
/** Neo-Hookean and stable Neo-Hookean, soft and firm, with and without lateral contraction. */
export const HYPERELASTIC: Record<string, Body> = Object.fromEntries(
  (["neo-hookean", "stable-neo-hookean"] as const).flatMap((model) =>
    [
      [3e4, 0.35],
      [1e6, 0.35],
      [3e4, 0.45],
      [3e4, 0],
    ].map(([youngsModulus, poissonsRatio]) => [
      `${model}, k ${youngsModulus}, nu ${poissonsRatio}`,
      boxOf({ ...common, model, youngsModulus: youngsModulus!, poissonsRatio: poissonsRatio! }),
    ]),
  ),
);
export const PLASTIC: Record<string, Body> = {
  "slow creep": boxOf({ ...soft, plasticity: { yield: 0.1, creep: 2, max: 0.2 } }),
  "fast creep": boxOf({ ...soft, plasticity: { yield: 0.02, creep: 50, max: 0.3 } }),
  "no limit": boxOf({ ...soft, plasticity: { yield: 0.02, creep: 1e4, max: 100 } }),
  "plastic wood": boxOf({ ...wood(1e5), plasticity: { yield: 0.05, creep: 20, max: 0.3 } }),
};

export type Place = (x: readonly [number, number, number]) => [number, number, number];
export const WRECKS: Record<string, () => Place> = {
  "every y zero": () => (x) => [x[0], 0, x[2]],
  mirrored: () => (x) => [-x[0], x[1], x[2]],
  "in a point": () => () => [0.1, 0.2, 0.3],
  "at random": () => {
    const random = randomStream(12);
    return () => [0.15 * random(), 0.15 * random(), 0.15 * random()];
  },
};

/** A recovering body: number of inverted elements and relative volume over time. */
export interface Recovery {
  lab: Laboratory;
  /** states before the first step and after each of `parts` equal parts of `seconds` */
  states: { seconds: number; inverted: number; volume: number }[];
}

/**
 * Wrecks a body and lets go.
 * @param watch called before the first step and after each part
 * @throws Error if the room held the body, or if the wreck inverts nothing
 */
export async function recover(
  body: Body,
  wreck: Place,
  seconds: number,
  parts: number,
  steps: { substeps: number; iterations: number },
  watch: (lab: Laboratory, part: number) => void = () => {},
): Promise<Recovery> {
  const lab = await laboratory({ bodies: [body], ...steps });
  const { tets } = lab.created.bodies[0]!;
  const whole = volumeOf(lab.positions(), tets).volume;
  const states: Recovery["states"] = [];
  const look = (part: number): void => {
    const now = volumeOf(lab.positions(), tets);
    states.push({
      seconds: (part * seconds) / parts,
      inverted: now.inverted / (tets.length / 4),
      volume: now.volume / whole,
    });
    watch(lab, part);
  };
  lab.put(0, wreck);
  look(0);
  if (states[0]!.inverted === 0 && states[0]!.volume > 0.5)
    throw new Error("the wreck has no effect: no element inverted, more than half of the volume left");
  for (let part = 1; part <= parts; part++) {
    // a wrecked body passes through itself on its way back
    const events = lab
      .run(Math.round((60 * seconds) / parts))
      .filter(({ type }) => type !== "tangled" && type !== "untangled");
    if (events.length > 0) throw new Error(`the body was held: ${JSON.stringify(events)}`);
    look(part);
  }
  return { lab, states };
}
