/** Options of a body with its own method, and those that it cannot have. */
import { expect, test } from "vitest";
import { validateScene } from "../../../shared/scene/sceneValidator.ts";

const cube = {
  name: "cube",
  kind: "soft",
  mesh: { type: "box", size: [1, 1, 1], cells: [2, 2, 2] },
  material: { density: 200, youngsModulus: 1e4, poissonsRatio: 0.3 },
  contact: { self: false },
  method: { type: "finite-elements" },
};
const net = {
  ...cube,
  kind: "cloth",
  mesh: { type: "grid", size: [1, 1], cells: [2, 2] },
  material: { model: "pbd", density: 200, thickness: 1e-3, distance: { compliance: 1e-3 } },
  method: { type: "mass-spring" },
};
const other = { ...cube, name: "other", method: undefined, contact: {} };
const mesh = { type: "mesh", name: "statue", mesh: { type: "box", size: [1, 1, 1], cells: [1, 1, 1] } };
const mover = {
  type: "sphere",
  name: "mover",
  center: [0, 0, 0],
  radius: 1,
  motion: { keys: [{ time: 0 }, { time: 1, translate: [1, 0, 0] }] },
};
const scene = (body: object, more: object = {}): unknown =>
  JSON.parse(JSON.stringify({ version: 1, title: "t", bodies: [body], ...more }));
const material = (more: object): object => ({ ...cube, material: { ...cube.material, ...more } });

test.each([
  ["/bodies/0/method/type", { ...cube, method: { type: "magic" } }],
  ["/bodies/0/method/type", { ...cube, method: {} }],
  ["/bodies/0/method/steps", { ...cube, method: { type: "modal", steps: 0 } }],
  ["/bodies/0/method/steps", { ...cube, method: { type: "modal", steps: 257 } }],
  ["/bodies/0/method/stiffnessDamping", { ...cube, method: { type: "modal", stiffnessDamping: -1 } }],
  ["/bodies/0/method/modes", { ...cube, method: { type: "modal", modes: 0 } }],
  ["/bodies/0/method/integrator", { ...cube, method: { type: "modal", integrator: "implicit" } }],
  ["/bodies/0/method/integrator", { ...net, method: { type: "mass-spring", integrator: "verlet" } }],
  ["/bodies/0/method/warped", { ...net, method: { type: "mass-spring", warped: true } }],
  ["/bodies/0/method/warped", { ...cube, method: { type: "finite-volumes", warped: 1 } }],
  ["/bodies/0/solver", { ...cube, solver: "implicit" }],
  ["/bodies/0/sweep", { ...cube, sweep: { order: "jacobi" } }],
  ["/bodies/0/start", { ...cube, start: "flattened" }],
  ["/bodies/0/spawnable", { ...cube, spawnable: true }],
  ["/bodies/0/material/model", material({ model: "neo-hookean" })],
  ["/bodies/0/material/retardationTime", material({ retardationTime: 0.01 })],
  ["/bodies/0/material/plasticity", material({ plasticity: { yield: 0.1, creep: 1, max: 0.5 } })],
  ["/bodies/0/material/distance/compliance", { ...cube, method: { type: "mass-spring" } }],
  ["/bodies/0/material/distance/compliance", { ...net, material: { ...net.material, distance: { compliance: 0 } } }],
  ["/bodies/0/material/distance/compliance", { ...net, material: { ...net.material, distance: { stiffness: 1 } } }],
  [
    "/bodies/0/material/distance/unilateral",
    { ...net, material: { ...net.material, distance: { compliance: 1, unilateral: true } } },
  ],
  ["/bodies/0/method/type", { ...net, method: { type: "finite-elements" } }],
  ["/bodies/0/mesh/type", { ...cube, method: { type: "finite-differences" } }],
  ["/bodies/0/material/model", { ...net, method: { type: "finite-differences" } }],
  ["/bodies/0/method/warped", { ...net, method: { type: "finite-differences", warped: true } }],
  ["/bodies/0/method", { ...cube, kind: "ball", mesh: { type: "ball", radius: 1 }, material: { density: 1 } }],
])("a method is refused at %s: %j", (path, body) => {
  const { contact, ...rest } = body as typeof cube;
  const whole = rest.kind === "ball" ? rest : { ...rest, contact };
  expect(() => validateScene(scene(whole))).toThrow(expect.objectContaining({ path }));
});

const water = {
  name: "water",
  kind: "points",
  mesh: { type: "lattice", arrangement: "cubic", cells: [2, 2, 2], spacing: 0.1 },
  material: { density: 1000 },
  method: { type: "smoothed-particles" },
};
const gas = { ...water, name: "gas", method: { type: "lennard-jones", dissociation: 1 } };
test.each([
  [water, { bodies: [water, gas] }],
  [gas, { bodies: [gas, other] }],
  [gas, { colliders: [mesh] }],
  [gas, { colliders: [mover] }],
])("contact of points must be excluded with bodies that they cannot touch: %j, %j", (body, more) => {
  expect(() => validateScene(scene(body, more))).toThrow(expect.objectContaining({ path: "/bodies/0/contact/ignore" }));
});

test("bodies with a surface and water can touch everything, and bodies with a surface hold it", () => {
  const colliders = [{ type: "plane", normal: [0, 1, 0], offset: 0 }, mesh, mover];
  const bodies = [{ ...cube, contact: {} }, other, water, { ...water, name: "more" }];
  const attachments = [{ from: { body: "other", particle: 0 }, to: { body: "cube", particle: 0 } }];
  expect(() => validateScene(scene(cube, { bodies, colliders, attachments }))).not.toThrow();
});
