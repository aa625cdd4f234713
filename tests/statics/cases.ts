/**
 * Bodies whose settled shapes are compared with static equilibrium. All are fixed at one end and bend or hang under
 * their own weight. The number of cells that sound crosses in a substep, sqrt(k/rho) h/cell, measures how hard a body
 * is. With 240 substeps a second: beam 1, block 0.6, soft 4, stiff 8.
 *
 *   beam       5:1, k = 1e7 Pa; 8.65 m long, so that its tip sags by 28 % of that at nu = 0.3;
 *              1,600 tetrahedra
 *   coarse     the same with 10 x 2 x 2 cells, 200 tetrahedra
 *   block      k = 1e5 Pa, 0.6 x 0.6 x 0.6 m, fixed at one side: 8 x 8 x 8 cells, 2,560 tetrahedra
 *   soft       k = 1e5 Pa, 0.2 m long: hangs down by half its length
 *   stiff      k = 1e7 Pa, 1 m long, with 400 N at its end: vibrates ten times as fast as `beam`
 *   cuboid     Gaia's unstructured block, 6 x 1.6 x 2 m, k = 4e6 Pa; 2,136 tetrahedra
 *   armadillo  1.2 m high, k = 1e5 Pa, hung by its ears; 3,717 tetrahedra of very different sizes, up to 60 at one
 *              vertex (on its feet it buckles and collapses below k = 2e6 Pa: no equilibrium)
 */
import { join } from "node:path";
import type { Scene, SoftBody, Vec3 } from "../../shared/scene/scene.ts";
import type { IsotropicMaterial } from "../../shared/scene/sceneMaterials.ts";
import { dataFolder } from "../support/dataFolder.ts";

/** A soft body with an isotropic material, and its loads. */
export interface LoadedBody {
  name: string;
  body: SoftBody & { material: IsotropicMaterial };
  gravity: Vec3;
  /** Folder of the mesh file. */
  baseDir: string;
  /** Files that must exist in the data folder. */
  data: string[];
  /** Use the given substeps and iterations even if the body is too stiff for them. */
  exact?: boolean;
}

export interface CaseOptions {
  poissonsRatio?: number;
  /** Default compliant: these runs measure substeps and iterations. */
  solver?: SoftBody["solver"];
  exact?: boolean;
}

const GRAVITY: Vec3 = [0, -9.81, 0];
const DENSITY = 1000;

function beam(name: string, length: number, youngsModulus: number, cells: Vec3, tipForce = 0, slender = 5): LoadedBody {
  const half = length / 2;
  const near = 1e-6 * length;
  const all = length;
  return {
    name,
    gravity: GRAVITY,
    baseDir: ".",
    data: [],
    body: {
      name,
      kind: "soft",
      mesh: { type: "box", size: [length, length / slender, length / slender], cells },
      material: { density: DENSITY, youngsModulus, poissonsRatio: 0.3 },
      pins: [{ select: { box: { min: [-all, -all, -all], max: [near - half, all, all] } } }],
      ...(tipForce && {
        loads: [
          {
            select: { box: { min: [half - near, -all, -all], max: [all, all, all] } },
            force: [0, -tipForce, 0] as Vec3,
          },
        ],
      }),
    },
  };
}

function fromFile(
  name: string,
  file: string,
  youngsModulus: number,
  body: Pick<SoftBody, "transform" | "pins">,
): LoadedBody {
  return {
    name,
    gravity: GRAVITY,
    baseDir: dataFolder,
    data: [`${file}.node`, `${file}.ele`],
    body: {
      name,
      kind: "soft",
      mesh: { type: "file", path: join(dataFolder, `${file}.node`) },
      material: { density: DENSITY, youngsModulus, poissonsRatio: 0.3 },
      ...body,
    },
  };
}

const CASES: Record<string, () => LoadedBody> = {
  beam: () => beam("beam", 8.65, 1e7, [20, 4, 4]),
  coarse: () => beam("coarse", 8.65, 1e7, [10, 2, 2]),
  block: () => beam("block", 0.6, 1e5, [8, 8, 8], 0, 1),
  soft: () => beam("soft", 0.2, 1e5, [20, 4, 4]),
  stiff: () => beam("stiff", 1, 1e7, [20, 4, 4], 400),
  cuboid: () =>
    fromFile("cuboid", "tets/gaia_ModelsDifferentRes_Cuboid_Cuboid.1", 4e6, {
      pins: [{ select: { box: { min: [-9, -9, -9], max: [-2.999, 9, 9] } } }],
    }),
  armadillo: () =>
    fromFile("armadillo", "tets/armadillo_4k", 1e5, {
      transform: { fitHeight: 1.2 },
      pins: [{ select: { box: { min: [-9, 1.05, -9], max: [9, 9, 9] } } }],
    }),
};
export const CASE_NAMES: readonly string[] = Object.keys(CASES);

/** @throws Error if the name is not one of CASE_NAMES */
export function caseOf(name: string, options: CaseOptions = {}): LoadedBody {
  const made = CASES[name]?.();
  if (!made) throw new Error(`case: ${name}, limit: one of ${CASE_NAMES.join(", ")}`);
  const { material } = made.body;
  const { poissonsRatio = material.poissonsRatio, solver = "compliant", exact } = options;
  Object.assign(made.body, { material: { ...material, poissonsRatio }, solver });
  return { ...made, ...(exact && { exact }) };
}

/** The case as a scene. @param damping 1/s */
export function sceneOf(
  loaded: LoadedBody,
  substepsPerSecond: number,
  iterations: number,
  damping: number,
): Partial<Scene> & Pick<Scene, "bodies"> {
  // the tick rate nearest to a room's 60 Hz that divides the substeps
  let tickHz = Math.min(60, substepsPerSecond);
  while (substepsPerSecond % tickHz !== 0) tickHz--;
  return {
    tickHz,
    substeps: substepsPerSecond / tickHz,
    iterations,
    refine: !loaded.exact,
    gravity: loaded.gravity,
    damping,
    bodies: [loaded.body],
  };
}
