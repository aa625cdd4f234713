/** Scenes of difficult contacts: thin, fast, pinched and colliding bodies. Lengths in m; ticks of 1/60 s. */
import type { Input } from "../../../server/sim/types.ts";
import type { Body, ClothBody, Collider, Scene, Vec3 } from "../../../shared/scene/scene.ts";
import type { Laboratory } from "../laboratory.ts";

export interface ContactScene {
  scene: Partial<Scene> & Pick<Scene, "bodies">;
  ticks: number;
  /** Grabs of the members in a tick. */
  inputs?: (lab: Laboratory, tick: number) => Input[];
}

const CLOTH = {
  density: 300,
  thickness: 0.001,
  youngsModulus: 2e5,
  poissonsRatio: 0.3,
  bendingStiffness: 1e-4,
  friction: 0.3,
};
const JELLY = { density: 500, youngsModulus: 5e4, poissonsRatio: 0.35, friction: 0.4 };
const FLOOR: Collider = { type: "plane", normal: [0, 1, 0], offset: 0, friction: 0.5 };
const GRAVITY: Vec3 = [0, -9.81, 0];

const sheet = (name: string, size: [number, number], cells: [number, number], more: Partial<ClothBody>): ClothBody => ({
  name,
  kind: "cloth",
  mesh: { type: "grid", size, cells },
  material: CLOTH,
  ...more,
});
const block = (name: string, size: number, more: Partial<Body>): Body =>
  ({
    name,
    kind: "soft",
    mesh: { type: "box", size: [size, size, size], cells: [3, 3, 3] },
    material: JELLY,
    ...more,
  }) as Body;

/** Two sheets, tilted against each other, meet at 100 m/s. */
export const clash: ContactScene = {
  ticks: 30,
  scene: {
    worldRadius: 1000,
    bodies: [
      sheet("left", [0.3, 0.3], [12, 12], {
        transform: { translate: [-0.4, 0, 0], rotate: [0, 0, 84] },
        velocity: [50, 0, 0],
      }),
      sheet("right", [0.3, 0.3], [10, 10], {
        transform: { translate: [0.4, 0.02, 0.03], rotate: [8, 0, -88] },
        velocity: [-50, 0, 0],
      }),
    ],
  },
};

/** A soft box flies into a curtain of 1 mm that hangs from its upper edge. */
export const bullet: ContactScene = {
  ticks: 4,
  scene: {
    worldRadius: 1000,
    gravity: GRAVITY,
    bodies: [
      sheet("curtain", [0.6, 0.6], [18, 18], {
        transform: { rotate: [90, 0, 0] },
        pins: [{ select: { box: { min: [-1, 0.299, -1], max: [1, 1, 1] } } }],
      }),
      block("bullet", 0.12, {
        transform: { translate: [0.03, -0.02, -1], rotate: [20, 35, 10] },
        velocity: [0, 0, 100],
      }),
    ],
  },
};

/** A sheet that falls on its lower edge and crumples. */
export const crumple: ContactScene = {
  ticks: 60,
  scene: {
    gravity: GRAVITY,
    bodies: [
      sheet("sheet", [0.3, 0.5], [9, 15], {
        transform: { translate: [0, 0.27, 0], rotate: [88, 0, 3] },
        velocity: [0, -3, 0],
      }),
    ],
    colliders: [FLOOR],
  },
};

/** Four jellies, thrown at each other from four sides. */
export const fourJellies: ContactScene = {
  ticks: 60,
  scene: {
    gravity: GRAVITY,
    bodies: (
      [
        [1, 0, 0],
        [-1, 0, 0],
        [0, 0, 1],
        [0, 0, -1],
      ] as Vec3[]
    ).map(([x, , z], n) =>
      block(`jelly ${n + 1}`, 0.15, {
        transform: { translate: [0.3 * x, 0.25 + 0.01 * n, 0.3 * z], rotate: [10 * n, 25 * n, 5] },
        velocity: [-4 * x, 0.5, -4 * z],
      }),
    ),
    colliders: [FLOOR],
  },
};

/**
 * A sheet half on a box, with its edges overhanging, and half on a rod thinner than its mesh, with a fold beyond it.
 */
export const edgeAndRod: ContactScene = {
  ticks: 60,
  scene: {
    gravity: GRAVITY,
    damping: 1,
    bodies: [
      sheet("sheet", [0.6, 0.3], [18, 9], {
        transform: { translate: [0, 0.16, 0], rotate: [2, 5, 0] },
        material: { ...CLOTH, friction: 1 },
        velocity: [0, -1, 0],
      }),
    ],
    colliders: [
      { type: "box", center: [-0.2, 0.05, 0], halfExtents: [0.15, 0.1, 0.1], rotate: [0, 20, 0], friction: 1 },
      { type: "capsule", a: [0.12, 0.15, -0.3], b: [0.1, 0.15, 0.3], radius: 0.002, friction: 1 },
    ],
  },
};

/** A sheet that swings between two boxes, which close to a gap of four thicknesses, slide past each other and part. */
export const pinch: ContactScene = {
  ticks: 60,
  scene: {
    gravity: GRAVITY,
    bodies: [
      sheet("sheet", [0.3, 0.4], [9, 12], {
        transform: { rotate: [75, 0, 3] },
        pins: [{ select: { box: { min: [-1, 0.18, -1], max: [1, 1, 1] } } }],
      }),
    ],
    colliders: [-1, 1].map(
      (side): Collider => ({
        type: "box",
        center: [0, -0.05, side * 0.15],
        halfExtents: [0.2, 0.06, 0.1],
        friction: 0.5,
        motion: {
          keys: [
            { time: 0 },
            { time: 0.4, translate: [0, 0, -side * 0.048] },
            { time: 0.7, translate: [side * 0.03, 0.03 * side, -side * 0.048] },
            { time: 1, translate: [0, 0, 0] },
          ],
        },
      }),
    ),
  },
};

/**
 * A flag whose inner edge is fixed beside a pole. A grab at each outer corner carries it round the pole once and two
 * thirds, while the pole turns the other way.
 */
export const pole: ContactScene = {
  ticks: 60,
  scene: {
    gravity: GRAVITY,
    damping: 1,
    bodies: [
      sheet("flag", [0.4, 0.2], [16, 8], {
        transform: { translate: [0.222, 0, 0], rotate: [90, 0, 0] },
        pins: [{ select: { box: { min: [-1, -1, -1], max: [0.0221, 1, 1] } } }],
      }),
    ],
    colliders: [
      {
        type: "cylinder",
        name: "pole",
        a: [0, -0.3, 0],
        b: [0, 0.3, 0],
        radius: 0.02,
        friction: 0.3,
        motion: { keys: [{ time: 0 }, { time: 1, rotate: [0, 600, 0] }] },
      },
    ],
    interaction: { grabCompliance: 1e-3, grabMaxForce: 2, grabRadius: 0.03 },
  },
  inputs(lab, tick) {
    const angle = (tick / 90) * 5 * Math.PI;
    const radius = 0.4 - 0.1 * (tick / 90);
    const { triangles } = lab.created.bodies[0]!;
    const x = lab.positions();
    return [-0.08, 0.08].map((y, hand): Input => {
      const target: Vec3 = [radius * Math.cos(angle), y, radius * Math.sin(angle)];
      if (tick > 0) return { type: "move", member: 1, grab: hand, target };
      // the triangle nearest to the corner
      const far = (t: number): number => Math.hypot(x[3 * triangles[t]!]! - 0.42, x[3 * triangles[t]! + 1]! - y);
      const best = Array.from({ length: triangles.length / 3 }, (_, t) => 3 * t).reduce((a, b) =>
        far(b) < far(a) ? b : a,
      );
      return { type: "grab", member: 1, grab: hand, body: 0, triangle: best / 3, u: 0.3, v: 0.3, target };
    });
  },
};
