/** The rules between fields of a scene: the options of a model, and the stability of an orthotropic tensor. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { validateScene } from "../../../shared/scene/sceneValidator.ts";
import { draft, fault, put } from "./draft.ts";

/** Errors that name another field than the changed one: [value, its path, the error's path, its limit]. */
const entailed: [string, unknown, string, string][] = [
  [
    "/bodies/0/material",
    { model: "pbd", density: 1 },
    "/bodies/0/material/distance",
    "given, or volume: a body of model pbd needs at least one of them",
  ],
  [
    "/bodies/0/material",
    {
      model: "neo-hookean",
      density: 1,
      youngsModulus: 1,
      poissonsRatio: 0,
      plasticity: { yield: 0.1, creep: 1, max: 1 },
    },
    "/bodies/0/material/plasticity",
    "absent for model neo-hookean: stvk, orthotropic and shape-matching (mode linear) have it",
  ],
  [
    "/bodies/0/material",
    { model: "stable-neo-hookean", density: 1, youngsModulus: 1 },
    "/bodies/0/material/poissonsRatio",
    "given",
  ],
  ["/wind", { drag: -1 }, "/wind/drag", ">= 0"],
  ["/wind", { velocity: [0, 2000, 0] }, "/wind/velocity/1", "<= 1000"],
  ["/wind", { turbulence: { scale: 1 } }, "/wind/turbulence/intensity", "given"],
  ["/wind", { turbulence: { intensity: 0.5, seed: 1.5 } }, "/wind/turbulence/seed", "a whole number"],
  ["/wind", { gusts: 1 }, "/wind/gusts", "absent: no such field here"],
  // Young's moduli are not missing, but written as one modulus.
  ["/bodies/0/material/model", "orthotropic", "/bodies/0/material/shearModuli", "given"],
  [
    "/bodies/0/material/plasticity",
    { yield: 0.1, creep: 1, max: 0.1 },
    "/bodies/0/material/plasticity/yield",
    "< 0.1, which is max",
  ],
  [
    "/bodies/3/material/plasticity",
    { yield: 2, creep: 1, max: 1 },
    "/bodies/3/material/plasticity/yield",
    "< 1, which is max",
  ],
  [
    "/bodies/4/material/volume",
    { compliance: 0, pressure: 2 },
    "/bodies/4/material/volume/pressure",
    "absent where of is not body",
  ],
  ["/bodies/4/material/volume/of", "tetrahedra", "/bodies/4/material/volume/pressure", "absent where of is not body"],
  ["/bodies/5/mesh", { type: "package", package: "bunny" }, "/bodies/5/mesh/type", "box for model hexahedral"],
  ["/bodies/6/material/mode", "rigid", "/bodies/6/material/linearity", "absent where mode is rigid"],
  [
    "/bodies/6/material",
    { model: "shape-matching", density: 1, mode: "rigid", plasticity: { yield: 0, creep: 0, max: 1 } },
    "/bodies/6/material/plasticity",
    "absent where mode is rigid",
  ],
  [
    "/bodies/6/material",
    { model: "shape-matching", density: 1, mode: "rigid", stiffness: 0.5 },
    "/bodies/6/material/stiffness",
    "1 or absent where mode is rigid",
  ],
  [
    "/bodies/7/sweep",
    { order: "symmetric", relaxation: 1 },
    "/bodies/7/sweep/relaxation",
    "absent where order is not jacobi",
  ],
  ["/bodies/0/sweep", { order: "gauss-seidel", rho: 0.5 }, "/bodies/0/sweep/rho", "absent where order is not jacobi"],
  [
    "/bodies/8/mesh",
    { type: "box", size: [1, 1, 1], cells: [1, 1, 1] },
    "/bodies/8/mesh/type",
    "ball for a body of kind ball",
  ],
  ["/colliders/5/a", [0, 0, 0], "/colliders/5/b", "another point than a: a funnel has a length"],
  [
    "/bodies/6",
    {
      name: "clump",
      kind: "soft",
      mesh: { type: "box", size: [1, 1, 1], cells: [1, 1, 1] },
      material: { model: "shape-matching", density: 1, mode: "rigid" },
      contact: { self: true },
    },
    "/bodies/6/contact/self",
    "false or absent for a rigid body: it cannot touch itself",
  ],
  [
    "/bodies/1/material/friction",
    0.8,
    "/bodies/1/contact/staticFriction",
    ">= 0.8, the dynamic coefficient (friction)",
  ],
  [
    "/colliders/0/name",
    "ground",
    "/bodies/1/contact/ignore/1",
    "the name of a body or a collider: jelly, towel, weave, wood, foam, hex, clump, net, shot, ground",
  ],
  [
    "/bodies/1/spawnable",
    true,
    "/attachments/0/from/body",
    "the name of a body that is in the scene from the start (spawnable is false)",
  ],
  [
    "/bodies/0/spawnable",
    true,
    "/attachments/1/to/body",
    "the name of a body that is in the scene from the start (spawnable is false)",
  ],
  [
    "/bodies/4/start",
    "mirrored",
    "/bodies/4/start",
    "absent where spawnable is true: a spawned body starts undeformed",
  ],
  ["/colliders/0/motion", {}, "/colliders/0/motion/keys", "given"],
  ["/bodies/0/start", "mirrored", "/interaction/together/0", "a body without start: it begins undeformed"],
];

test.each(entailed)("%s = %j: %s must be %s", (pointer, value, path, limit) => {
  const scene = draft();
  put(scene, pointer, value);
  expect(fault(scene)).toMatchObject({ path, limit });
});

test.each(["stvk", "neo-hookean", "stable-neo-hookean", undefined])("solver paper accepts model %s", (model) => {
  const scene = draft();
  scene.bodies[0].material.model = model;
  for (const body of [scene.bodies[0], scene.bodies[1], scene.bodies[3]]) body.solver = "paper";
  if (model === undefined) delete scene.bodies[0].material.model;
  validateScene(scene);
});

describe("an orthotropic solid", () => {
  const wood = (youngsModuli: number[], poissonsRatios: number[]): unknown => {
    const scene = draft();
    Object.assign(scene.bodies[3].material, { youngsModuli, poissonsRatios });
    return scene;
  };

  test("names the ratio that one pair forbids", () => {
    expect(fault(wood([4e6, 1e6, 1e6], [2, 0, 0]))).toMatchObject({
      path: "/bodies/3/material/poissonsRatios/0",
      value: 2,
      limit: "less than 2 in size: |nu_12| < sqrt(k_1/k_2) makes the tensor positive definite",
    });
    expect(fault(wood([1e6, 1e6, 4e6], [0, -0.6, 0]))).toMatchObject({
      path: "/bodies/3/material/poissonsRatios/1",
      value: -0.6,
      limit: "less than 0.5 in size: |nu_23| < sqrt(k_2/k_3) makes the tensor positive definite",
    });
    expect(fault(wood([1e6, 1e6, 4e6], [0, 0, 0.5]))).toMatchObject({
      path: "/bodies/3/material/poissonsRatios/2",
      value: 0.5,
    });
  });

  test("names all three if only their combination is too much", () => {
    const found = fault(wood([1e6, 1e6, 1e6], [0.5, 0.5, 0.5]));
    expect(found.path).toBe("/bodies/3/material/poissonsRatios");
    expect(found.limit).toMatch(
      /^such that 1 - nu12 nu21 - nu23 nu32 - nu13 nu31 - 2 nu21 nu32 nu13 = 0 is at least 0\.00045 /,
    );
  });

  test("with one modulus and one ratio accepts the same values as an isotropic one", () => {
    validateScene(wood([1e6, 1e6, 1e6], [0.4999, 0.4999, 0.4999]));
    expect(fault(wood([1e6, 1e6, 1e6], [0.49995, 0.49995, 0.49995])).path).toBe("/bodies/3/material/poissonsRatios");
  });

  test("is valid if and only if the smallest eigenvalue of its scaled compliance is positive", () => {
    const r = fc.double({ min: -1.1, max: 1.1, noNaN: true });
    const k = fc.double({ min: 1, max: 1e6, noNaN: true });
    let stable = 0;
    let unstable = 0;
    fc.assert(
      fc.property(r, r, r, k, k, k, (r12, r23, r13, k1, k2, k3) => {
        const least = leastEigenvalue([
          [1, -r12, -r13],
          [-r12, 1, -r23],
          [-r13, -r23, 1],
        ]);
        const scene = wood(
          [k1, k2, k3],
          [r12 * Math.sqrt(k1 / k2), r23 * Math.sqrt(k2 / k3), r13 * Math.sqrt(k1 / k3)],
        );
        // det = product of three eigenvalues whose sum is 3: between about least^2 and 2.25 least.
        if (least > 0.1) {
          validateScene(scene);
          stable++;
        } else if (least < 0.0001) {
          expect(fault(scene).path).toMatch(/^\/bodies\/3\/material\/poissonsRatios/);
          unstable++;
        }
      }),
      { numRuns: 300 },
    );
    expect(Math.min(stable, unstable)).toBeGreaterThan(20);
  });
});

/**
 * Smallest eigenvalue of a symmetric matrix by inverse bisection: the largest shift s for which A - s I still has a
 * Cholesky factor.
 */
function leastEigenvalue(A: number[][]): number {
  const positive = (s: number): boolean => {
    const [[a, b, c], [, d, e], [, , f]] = A as [number[], number[], number[]] as any;
    const l11 = a - s;
    if (!(l11 > 0)) return false;
    const l22 = d - s - (b * b) / l11;
    const l32 = e - (b * c) / l11;
    return l22 > 0 && f - s - (c * c) / l11 - (l32 * l32) / l22 > 0;
  };
  let low = -10;
  let high = 10;
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (positive(middle)) low = middle;
    else high = middle;
  }
  return low;
}
