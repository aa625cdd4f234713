/** Shared by the tests of reports: bodies, and scenes that are played at their defaults. */
import { validateScene } from "../../../shared/scene/sceneValidator.ts";
import type { Scene, Vec3 } from "../../../shared/scene/scene.ts";
import type { Input, SimEvent } from "../../../server/sim/types.ts";
import { createWorld } from "../../../server/sim/world/createWorld.ts";
import { openWorld } from "../../../server/sim/world.ts";

export const G = 9.81;
export const RUBBER = { density: 1000, youngsModulus: 1e5, poissonsRatio: 0.4 };
export const RIGID = { model: "shape-matching", mode: "rigid", density: 1000 };
export const SHEET = { density: 300, thickness: 0.001, youngsModulus: 1e5, poissonsRatio: 0.3 };
const BALLOON = {
  ...{ model: "pbd", density: 300, thickness: 0.001, distance: { compliance: 1e-4 } },
  volume: { compliance: 0, pressure: 1.5 },
};
export const floor = { type: "plane", normal: [0, 1, 0], offset: 0 };
export const wall = { type: "box", center: [0, 0, 0], halfExtents: [0.005, 1, 1] };

export const box = (
  name: string,
  size: Vec3,
  translate: Vec3,
  material: object = RIGID,
  more: object = {},
): object => ({
  ...{ name, kind: "soft", mesh: { type: "box", size, cells: [2, 2, 2] }, transform: { translate }, material },
  ...more,
});
export const ball = (name: string, radius: number, translate: Vec3, more: object = {}): object => ({
  ...{ name, kind: "ball", mesh: { type: "ball", radius }, transform: { translate }, material: { density: 1000 } },
  ...more,
});
export const sheet = (size: number, cells: number, translate: Vec3, more: object = {}): object => ({
  ...{ name: "sheet", kind: "cloth", mesh: { type: "grid", size: [size, size], cells: [cells, cells] } },
  ...{ transform: { translate }, material: SHEET, ...more },
});
export const balloon = (translate: Vec3): object => ({
  ...{ name: "balloon", kind: "cloth", mesh: { type: "ball", radius: 0.3, subdivisions: 2 } },
  ...{ transform: { translate }, material: BALLOON },
});
/** Pins the edge x = -0.5 of a sheet of 1 m. */
export const hung = { pins: [{ select: { box: { min: [-0.51, -9, -0.51], max: [-0.49, 9, 0.51] } } }] };
/** Gravity beside a plane that is inclined by this angle. */
export const inclined = (degrees: number): Vec3 => {
  const angle = (degrees * Math.PI) / 180;
  return [G * Math.sin(angle), -G * Math.cos(angle), 0];
};

export interface Play {
  places(body?: number): Vec3[];
  middle(body?: number): Vec3;
  /** Steps; `inputs` apply to the first tick. Returns the events. */
  run(seconds: number, look?: (t: number) => void, inputs?: readonly Input[]): SimEvent[];
  origin: Vec3;
}

/** Opens a scene with its defaults. @param rests whether bodies may sleep @param baseDir folder of mesh files */
export async function open(scene: object, rests = true, baseDir = "."): Promise<Play> {
  const whole = validateScene({ version: 1, title: "report", ...scene }) as Scene;
  const created = await createWorld(whole, { baseDir });
  const world = openWorld(created.memory, created.layout);
  world.mayRest = rests;
  const { origin, tickHz } = created.layout;
  const places = (body = 0): Vec3[] =>
    Array.from({ length: created.bodies[body]!.particleCount }, (_, p) => add(world.position(body, p), origin));
  return {
    places,
    origin,
    middle: (body = 0) => {
      const all = places(body);
      return all.reduce((sum, place) => add(sum, place, 1 / all.length), [0, 0, 0] as Vec3);
    },
    run(seconds, look = () => {}, inputs = []) {
      const events: SimEvent[] = [];
      for (let t = 1; t <= Math.round(seconds * tickHz); t++) {
        events.push(...world.step(t === 1 ? inputs : []).events);
        look(t / tickHz);
      }
      return events;
    },
  };
}
export const add = (a: readonly number[], b: readonly number[], factor = 1): Vec3 =>
  [0, 1, 2].map((k) => a[k]! + factor * b[k]!) as Vec3;
export const distance = (a: Vec3, b: Vec3): number => Math.hypot(...add(a, b, -1));
/** Largest distance between corresponding places. */
export const farthest = (a: readonly Vec3[], b: readonly Vec3[]): number =>
  Math.max(...a.map((place, i) => distance(place, b[i]!)));
export const heights = (places: readonly Vec3[]): number[] => places.map(([, y]) => y);
export const peaks = (ys: readonly number[]): number[] =>
  ys.filter((y, i) => i > 0 && y > ys[i - 1]! && y >= (ys[i + 1] ?? Infinity));
