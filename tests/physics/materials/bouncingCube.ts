/**
 * A soft cube that falls on a floor: in a room, and from its first contact on as an explicit reference of the same mesh
 * (explicit.ts).
 */
import type { BodyTemplate } from "../../../server/sim/body/template.ts";
import type { Scene } from "../../../shared/scene/scene.ts";
import { densityOf } from "../../statics/materials.ts";
import { extremeStretches, solidMesh, type SolidMesh } from "../../statics/solidMesh.ts";
import { explicit, lumpedMass } from "./explicit.ts";
import { laboratory } from "../laboratory.ts";

const G = 9.81;
/** m: the fall, and the cube's side */
export const DROP = 1;
export const SIDE = 0.2;
export const RHO = 1000;
export const NU = 0.3;
/** s, step of the reference: particles cross 0.1 mm */
export const STEP = 2e-5;

export interface Bounce {
  /** Highest center of mass after the bounce, above that of the undeformed cube on the floor, relative to the fall. */
  rise: number;
  implicit?: boolean;
}

export interface Reference extends Bounce {
  /** s from the first contact to the last */
  contact: number;
  /** smallest stretch of an element */
  stretch: number;
}

/** Height that the center of mass will reach in free flight. @param x float64[3N] m; v m/s; mass kg */
function riseOf(x: Float64Array, v: Float64Array, mass: Float64Array): number {
  let total = 0;
  let y = 0;
  let up = 0;
  mass.forEach((m, i) => {
    total += m;
    y += m * x[3 * i + 1]!;
    up += m * v[3 * i + 1]!;
  });
  return (y / total - SIDE / 2 + Math.max(0, up / total) ** 2 / (2 * G)) / DROP;
}

/** @param k Young's modulus, Pa; e restitution of cube and floor; cells along a side */
export const sceneOf = (k: number, e: number, cells: number): Partial<Scene> & Pick<Scene, "bodies"> => ({
  gravity: [0, -G, 0],
  bodies: [
    {
      name: "cube",
      kind: "soft",
      mesh: { type: "box", size: [SIDE, SIDE, SIDE], cells: [cells, cells, cells] },
      transform: { translate: [0, DROP + SIDE / 2, 0] },
      material: { density: RHO, youngsModulus: k, poissonsRatio: NU, friction: 0 },
      contact: { restitution: e, self: false },
    },
  ],
  colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0, restitution: e, friction: 0 }],
});

/** @param substeps undefined: default settings; otherwise compliant with exactly these substeps */
export async function bounce(k: number, e: number, cells: number, substeps?: number): Promise<Bounce> {
  const lab = await laboratory({
    refine: substeps === undefined,
    ...(substeps && { substeps }),
    ...sceneOf(k, e, cells),
  });
  const body = lab.created.bodies[0]!;
  // it arrives after 0.45 s, and leaves within 0.1 s
  lab.run(36);
  const rise = riseOf(lab.positions(), lab.velocities(), lumpedMass(meshOf(body), RHO));
  return { rise, implicit: lab.created.layout.bodies[0]!.implicit };
}

const meshOf = ({ positions, tets }: BodyTemplate): SolidMesh => solidMesh(Float64Array.from(positions), tets);

/** Reference from the first contact until 10 ms after the last contact. */
export function reference(body: BodyTemplate, k: number, e: number): Reference {
  const mesh = meshOf(body);
  const mass = lumpedMass(mesh, RHO);
  const x = mesh.rest.map((c, i) => (i % 3 === 1 ? c - DROP : c));
  const v = x.map((_, i) => (i % 3 === 1 ? -Math.sqrt(2 * G * DROP) : 0));
  let last = 0;
  let stretch = 1;
  const floor = { y: 0, restitution: e };
  explicit(
    { mesh, density: densityOf("stvk", k, NU), rho: RHO, h: STEP, gravity: -G, floor },
    { x, v },
    0.2 / STEP,
    (step) => {
      for (let i = 1; i < x.length; i += 3) if (x[i] === 0) last = step;
      if (step % 50 === 0) stretch = Math.min(stretch, extremeStretches(mesh, x).smallest);
      return (step - last) * STEP > 0.01;
    },
  );
  return { rise: riseOf(x, v, mass), contact: last * STEP, stretch };
}
