/** A scene with one of everything, for tests to break, and the error that the validator finds in it. */
import { SceneError } from "../../../shared/scene/sceneError.ts";
import { validateScene } from "../../../shared/scene/sceneValidator.ts";

/** A scene as plain data, so that tests can write values that the types forbid. */
export type Draft = any;

/** Bodies of elastic elements. */
const elastic = (): Draft[] => [
  {
    name: "jelly",
    kind: "soft",
    mesh: { type: "box", size: [1, 1, 1], cells: [2, 2, 2] },
    transform: { scale: 2 },
    material: { density: 1000, youngsModulus: 1e5, poissonsRatio: 0.3 },
    pins: [{ select: { box: { min: [0, 0, 0], max: [1, 1, 1] } } }],
  },
  {
    name: "towel",
    kind: "cloth",
    mesh: { type: "grid", size: [1, 1], cells: [4, 4] },
    material: { density: 300, thickness: 0.001, youngsModulus: 1e5, poissonsRatio: 0.3 },
    loads: [{ select: { particles: [0] }, force: [0, 1, 0] }],
    look: { color: "#aabbcc" },
    spawnable: false,
    contact: { thickness: 0.004, self: false, ignore: ["jelly", "floor"], restitution: 0.5, staticFriction: 0.7 },
  },
  {
    name: "weave",
    kind: "cloth",
    mesh: { type: "file", path: "weave.obj" },
    material: {
      model: "orthotropic",
      density: 300,
      thickness: 0.001,
      kWeft: 1e5,
      kWarp: 2e5,
      kShear: 1e4,
      nuWeft: 0.2,
      nuWarp: 0.4,
    },
  },
  {
    name: "wood",
    kind: "soft",
    mesh: { type: "box", size: [1, 1, 1], cells: [2, 2, 2] },
    material: {
      model: "orthotropic",
      density: 500,
      youngsModuli: [4e6, 1e6, 1e6],
      poissonsRatios: [0.4, 0.3, 0.4],
      shearModuli: [1e5, 1e5, 1e5],
      plasticity: { yield: 0.01, creep: 2, max: 0.1 },
    },
  },
];

/** Bodies of every other model. */
const others = (): Draft[] => [
  {
    name: "foam",
    kind: "soft",
    spawnable: true,
    mesh: { type: "box", size: [1, 1, 1], cells: [2, 2, 2] },
    material: {
      model: "pbd",
      density: 100,
      distance: { stiffness: 0.5 },
      volume: { compliance: 0, of: "body", pressure: 1.1 },
    },
  },
  {
    name: "hex",
    kind: "soft",
    mesh: { type: "box", size: [1, 1, 1], cells: [2, 2, 2] },
    material: { model: "hexahedral", density: 100, youngsModulus: 1e5, poissonsRatio: 0.3 },
  },
  {
    name: "clump",
    kind: "soft",
    mesh: { type: "box", size: [1, 1, 1], cells: [2, 2, 2] },
    material: {
      model: "shape-matching",
      density: 100,
      mode: "linear",
      linearity: 0.5,
      plasticity: { yield: 0.1, creep: 1, max: 0.5 },
    },
  },
  {
    name: "net",
    kind: "cloth",
    mesh: { type: "grid", size: [1, 1], cells: [4, 4] },
    material: { model: "pbd", density: 300, thickness: 0.001, distance: { compliance: 1e-6, unilateral: true } },
    sweep: { order: "jacobi", rho: 0.9, relaxation: 1.2 },
  },
  {
    name: "shot",
    kind: "ball",
    mesh: { type: "ball", radius: 0.2 },
    material: { density: 7800, friction: 0.2 },
    contact: { staticFriction: 0.3 },
  },
];

const colliders = (): Draft[] => [
  {
    type: "plane",
    name: "floor",
    normal: [0, 1, 0],
    offset: 0,
    friction: 0.4,
    staticFriction: 0.6,
    restitution: 0.1,
    ignore: ["shot"],
  },
  { type: "sphere", center: [0, 0, 0], radius: 1 },
  { type: "box", center: [0, 0, 0], halfExtents: [1, 1, 1] },
  { type: "capsule", a: [0, 0, 0], b: [0, 1, 0], radius: 1 },
  {
    type: "cylinder",
    a: [0, 0, 0],
    b: [0, 1, 0],
    radius: 1,
    motion: { keys: [{ time: 0 }, { time: 1, translate: [0, 1, 0] }, { time: 2.5, rotate: [0, 90, 0] }], loop: true },
  },
  { type: "funnel", a: [0, 1, 0], b: [0, 0, 0], radiusA: 2, radiusB: 1, thickness: 0.1 },
  {
    type: "mesh",
    mesh: { type: "file", path: "statue.ply" },
    transform: { scale: 2, rotate: [0, 90, 0] },
    ignore: ["net"],
  },
];

/** One of everything. */
export function draft(): Draft {
  return {
    version: 1,
    title: "drafted",
    tickHz: 60,
    substeps: 8,
    gravity: [0, -9.81, 0],
    camera: { position: [1, 1, 1], target: [0, 0, 0] },
    bodies: [...elastic(), ...others()],
    colliders: colliders(),
    attachments: [
      { from: { body: "towel", particle: 0 }, to: { world: [0, 1, 0] } },
      { from: { body: "weave", near: [0, 0, 0] }, to: { body: "jelly", particle: 3 } },
    ],
    intersections: "hold",
    interaction: { grabCompliance: 0.001, together: ["jelly", "towel"] },
  };
}

/** The validator's error for an invalid scene; fails if it accepts the scene. */
export function fault(scene: unknown): SceneError {
  try {
    validateScene(scene);
  } catch (error) {
    if (error instanceof SceneError) return error;
    throw error;
  }
  throw new Error(`accepted: ${JSON.stringify(scene)}`);
}

/** Sets one field of a draft by its JSON pointer. */
export function put(scene: Draft, pointer: string, value: unknown): void {
  const steps = pointer.slice(1).split("/");
  const key = steps.pop()!;
  steps.reduce((at, step) => at[step], scene)[key] = value;
}
