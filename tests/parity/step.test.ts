/**
 * Whole ticks of whole rooms: the kernel's step against reference/step.ts, from the same state, tick by tick. Unstable
 * scenes (contact, buckling) amplify float32 rounding, so each tick starts from the kernel's state. This tests the
 * order of stages, the program, the blocks and the loader, not the divergence of two trajectories.
 *
 * Tolerance after one tick: rounding of positions in each correction of each substep, 2^-24 of the largest coordinate
 * times the square root of their number, times 8. The paper's form amplifies it: the softest part of the strain sets
 * its step, and parts more than four times as stiff overshoot. There the tolerance is 8 times the twin's change after a
 * start that is off by that much, over several samples.
 */
import { expect, test } from "vitest";
import type { Body, Scene, Sweep } from "../../shared/scene.ts";
import { validateScene } from "../../shared/sceneValidator.ts";
import { createWorld } from "../../server/sim/createWorld.ts";
import { momentumOf } from "../../server/sim/reference/momentum.ts";
import { stepTick } from "../../server/sim/reference/step.ts";
import { norm, subtract } from "../../server/sim/reference/vector.ts";
import { openWorld } from "../../server/sim/world.ts";
import type { ReferenceCollider } from "../../server/sim/reference/collide.ts";
import { distanceAt, randomStream, UNIT } from "./kit.ts";
import { copyParticles, referenceRoom } from "./room.ts";
import { ListWatcher } from "./contactLists.ts";

const floor: ReferenceCollider = {
  type: "plane",
  normal: [0, 1, 0],
  offset: 0,
  rootFriction: Math.fround(Math.sqrt(0.5)),
};
const soft = { density: 500, youngsModulus: 5e4, poissonsRatio: 0.35, friction: 0.5 };

const woven: Body["material"] & object = {
  model: "orthotropic",
  density: 300,
  thickness: 0.001,
  kWeft: 1e5,
  kWarp: 2e5,
  kShear: 3e4,
  nuWeft: 0.1,
  nuWarp: 0.2,
  bendingStiffness: 1e-4,
};
const orthotropic: Body["material"] & object = {
  model: "orthotropic",
  density: 500,
  youngsModuli: [5e4, 1e5, 3e4],
  poissonsRatios: [0.2, 0.3, 0.25],
  shearModuli: [2e4, 2e4, 2e4],
};
const pbd: Body["material"] & object = {
  model: "pbd",
  density: 500,
  distance: { compliance: 1e-5 },
  volume: { stiffness: 0.5 },
};

/** @param contacts least number of pairs solved as contacts, summed over all substeps */
async function compare(
  parts: Partial<Scene> & Pick<Scene, "bodies">,
  colliders: ReferenceCollider[],
  free: number[],
  ticks: number,
  amplifies = false,
  contacts = 0,
): Promise<void> {
  const scene = validateScene({ version: 1, title: "parity", ...parts });
  const created = await createWorld(scene, { baseDir: "." });
  const world = openWorld(created.memory, created.layout);
  const twin = referenceRoom(scene, created, colliders, free);
  const n = twin.particles.count;
  world.mayRest = false;
  const lists = new ListWatcher(created, world);
  const corrections =
    twin.groups.flatMap((g) => g.constraints).reduce((sum, c) => sum + c.colors.length, 0) *
    twin.iterations *
    twin.substeps;
  let moved = 0;
  let near = 0;
  for (let tick = 0; tick < ticks; tick++) {
    copyParticles(created, twin.particles);
    const before = Float64Array.from(twin.particles.x);
    const rounding = UNIT * Math.max(...before.map(Math.abs)) * Math.sqrt(corrections);
    lists.begin();
    world.step([]);
    twin.contact = lists.contact();
    near += twin.contact.solved.flat().filter((touch) => touch.near).length;
    const others = amplifies
      ? [1, 2, 3, 4].map((seed) => {
          const random = randomStream(seed + 10 * tick);
          const other = {
            ...twin,
            particles: {
              ...twin.particles,
              x: before.map((x) => x + rounding * random()),
              xPrev: Float64Array.from(twin.particles.xPrev),
              v: Float64Array.from(twin.particles.v),
            },
          };
          stepTick(other);
          return other.particles.x;
        })
      : [];
    stepTick(twin);
    const tolerance =
      8 *
      (amplifies
        ? Math.max(...others.flatMap((x) => Array.from({ length: n }, (_, i) => distanceAt(x, twin.particles.x, i))))
        : UNIT * Math.max(...twin.particles.x.map(Math.abs)) * Math.sqrt(corrections));
    for (let i = 0; i < n; i++) {
      const kernel = Float64Array.from(world.position(0, i)); // body 0 starts at particle 0
      expect(
        distanceAt(kernel, twin.particles.x.subarray(3 * i, 3 * i + 3), 0),
        `tick ${tick}, particle ${i}`,
      ).toBeLessThan(tolerance);
      moved = Math.max(moved, distanceAt(before, twin.particles.x, i));
    }
  }
  expect(moved).toBeGreaterThan(1e-4);
  expect(near).toBeGreaterThanOrEqual(contacts);
}

test("a soft box falls onto the floor and rests as the twin", () =>
  compare(
    {
      substeps: 4,
      iterations: 2,
      bodies: [
        {
          name: "b",
          kind: "soft",
          mesh: { type: "box", size: [0.2, 0.2, 0.2], cells: [2, 2, 2] },
          transform: { translate: [0, 0.145, 0], rotate: [10, 0, 20] },
          solver: "compliant",
          material: soft,
          velocity: [0.5, -1, 0],
        },
      ],
      colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0 }],
    },
    [floor],
    [],
    12,
  ));

test.each(["neo-hookean", "stable-neo-hookean"] as const)("a %s box falls onto the floor as the twin", (model) =>
  compare(
    {
      substeps: 4,
      iterations: 2,
      bodies: [
        {
          name: "b",
          kind: "soft",
          mesh: { type: "box", size: [0.2, 0.2, 0.2], cells: [2, 2, 2] },
          transform: { translate: [0, 0.145, 0], rotate: [10, 0, 20] },
          material: { ...soft, model },
          velocity: [0.5, -1, 0],
        },
      ],
      colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0 }],
    },
    [floor],
    [],
    12,
  ),
);

test("a pinned sheet with bending swings as the twin", () =>
  compare(
    {
      substeps: 5,
      iterations: 1,
      damping: 0.3,
      bodies: [
        {
          name: "s",
          kind: "cloth",
          solver: "compliant",
          mesh: { type: "grid", size: [0.4, 0.4], cells: [5, 5] },
          pins: [{ select: { particles: [0, 5] } }],
          velocity: [0, 0, 0.4],
          material: woven,
        },
      ],
    },
    [],
    [],
    12,
  ));

test("a loaded bar in free flight moves as the twin", () =>
  compare(
    {
      substeps: 6,
      iterations: 3,
      gravity: [0, -9.81, 0],
      bodies: [
        {
          name: "b",
          kind: "soft",
          mesh: { type: "box", size: [0.3, 0.1, 0.1], cells: [3, 1, 1] },
          material: soft,
          velocity: [1, 2, 0],
          loads: [{ select: { box: { min: [0.149, -1, -1], max: [1, 1, 1] } }, force: [3, 1, 0] }],
        },
      ],
    },
    [],
    [0],
    12,
  ));

test("two boxes, one on the other, move as the twin", () =>
  compare(
    {
      substeps: 4,
      iterations: 1,
      bodies: [0, 1].map((k) => ({
        name: `b${k}`,
        kind: "soft" as const,
        solver: "compliant" as const,
        mesh: {
          type: "box" as const,
          size: [0.2 - 0.05 * k, 0.1, 0.2 - 0.05 * k] as [number, number, number],
          cells: [2, 1, 2] as [number, number, number],
        },
        transform: {
          translate: [0.01 * k, 0.0505 + 0.105 * k, 0] as [number, number, number],
          rotate: [0, 15 * k, 0] as [number, number, number],
        },
        material: soft,
      })),
      colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0 }],
    },
    [floor],
    [],
    6,
    false,
    100,
  ));

const SWEEPS: Sweep[] = [
  { order: "gauss-seidel" },
  { order: "symmetric" },
  { order: "jacobi" },
  { order: "jacobi", relaxation: 1.5 },
  { order: "jacobi", relaxation: 1.8, rho: 0.9 },
];

/** Bodies of every kind that a solver has, side by side, in one schedule. @param n their row */
function everyKind(solver: "compliant" | "paper", sweep: Sweep, n: number): Body[] {
  const bar = (name: string, x: number, length: number, material: object): Body =>
    ({
      name: `${name}${n}`,
      kind: "soft",
      solver,
      sweep,
      mesh: { type: "box", size: [length, 0.1, 0.1], cells: [Math.round(10 * length), 1, 1] },
      transform: { translate: [x, 0.3 * n, 0] },
      pins: [{ select: { particles: [0, 1] } }],
      material,
    }) as Body;
  const cloth = {
    name: `c${n}`,
    kind: "cloth",
    solver,
    sweep,
    mesh: { type: "grid", size: [0.3, 0.3], cells: [4, 4] },
    transform: { translate: [1, 0.3 * n, 0] },
    pins: [{ select: { particles: [0, 4] } }],
    velocity: [0, 0, 0.4],
    material: woven,
  } as Body;
  const { solver: _, ...distances } = bar("p", 3, 0.2, pbd);
  return [
    { ...bar("s", 0, 0.3, soft), velocity: [0, 0, 0.5] },
    cloth,
    bar("o", 2, 0.2, orthotropic),
    bar("n", 2.5, 0.2, { ...soft, model: n % 2 ? "neo-hookean" : "stable-neo-hookean" }),
    ...(solver === "compliant" ? [distances as Body] : []),
  ];
}

test.each(["compliant", "paper"] as const)(
  "a room with one body per schedule and kind moves as the twin, %s",
  (solver) =>
    compare(
      { substeps: 3, iterations: 5, bodies: SWEEPS.flatMap((sweep, n) => everyKind(solver, sweep, n)) },
      [],
      [],
      solver === "paper" ? 2 : 4,
      solver === "paper",
    ),
);

test("both solver forms side by side in one schedule move as the twin", () =>
  compare(
    {
      substeps: 3,
      iterations: 3,
      bodies: (["paper", "compliant", "paper"] as const).map(
        (solver, n): Body => ({
          name: `b${n}`,
          kind: "soft",
          solver,
          sweep: { order: "symmetric" },
          mesh: { type: "box", size: [0.2, 0.1, 0.1], cells: [2, 1, 1] },
          transform: { translate: [0, 0.3 * n, 0] },
          pins: [{ select: { particles: [0] } }],
          material: soft,
        }),
      ),
    },
    [],
    [],
    12,
    true,
  ));

test("a jelly of distances and volumes falls onto the floor as the twin", () =>
  compare(
    {
      substeps: 4,
      iterations: 3,
      bodies: [
        {
          name: "j",
          kind: "soft",
          mesh: { type: "box", size: [0.2, 0.2, 0.2], cells: [2, 2, 2] },
          transform: { translate: [0, 0.145, 0], rotate: [10, 0, 20] },
          velocity: [0.5, -1, 0],
          material: {
            model: "pbd",
            density: 500,
            friction: 0.5,
            distance: { stiffness: 0.6 },
            volume: { compliance: 1e-9, unilateral: true },
          },
        },
      ],
      colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0 }],
    },
    [floor],
    [],
    12,
  ));

test("a jelly and a block of hexahedra in every schedule move as the twin", () =>
  compare(
    {
      substeps: 3,
      iterations: 5,
      bodies: SWEEPS.flatMap((sweep, n): Body[] => [
        {
          name: `j${n}`,
          kind: "soft",
          sweep,
          mesh: { type: "box", size: [0.3, 0.1, 0.1], cells: [3, 1, 1] },
          transform: { translate: [0, 0.3 * n, 0] },
          pins: [{ select: { particles: [0, 1] } }],
          material: {
            model: "pbd",
            density: 500,
            distance: { compliance: 1e-4, unilateral: true },
            volume: { compliance: 1e-9 },
          },
        },
        {
          name: `h${n}`,
          kind: "soft",
          sweep,
          mesh: { type: "box", size: [0.3, 0.1, 0.1], cells: [3, 1, 1] },
          transform: { translate: [1, 0.3 * n, 0] },
          pins: [{ select: { particles: [0, 1] } }],
          material: { model: "hexahedral", density: 500, youngsModulus: 5e4, poissonsRatio: 0.35 },
        },
      ]),
    },
    [],
    [],
    8,
  ));

test("a jelly with a constraint on its whole volume and pressure moves as the twin", () =>
  compare(
    {
      substeps: 4,
      iterations: 3,
      bodies: [
        {
          name: "j",
          kind: "soft",
          mesh: { type: "box", size: [0.2, 0.2, 0.2], cells: [2, 3, 2] },
          pins: [{ select: { particles: [0] } }],
          material: {
            model: "pbd",
            density: 500,
            distance: { compliance: 1e-4 },
            volume: { of: "body", stiffness: 0.9, pressure: 1.2 },
          },
        },
      ],
    },
    [],
    [],
    12,
  ));

test("a balloon, a closed cloth of distances with pressure inside, moves as the twin", () =>
  compare(
    {
      substeps: 4,
      iterations: 2,
      bodies: [
        {
          name: "b",
          kind: "cloth",
          mesh: { type: "ball", radius: 0.2, subdivisions: 2 },
          pins: [{ select: { particles: [0] } }],
          material: {
            model: "pbd",
            density: 300,
            thickness: 0.001,
            distance: { compliance: 1e-4, unilateral: true },
            volume: { compliance: 1e-9, pressure: 1.3, unilateral: true },
            bendingStiffness: 1e-5,
          },
        },
      ],
    },
    [],
    [],
    12,
  ));

test("a block of hexahedra swings as the twin", () =>
  compare(
    {
      substeps: 4,
      iterations: 3,
      bodies: [
        {
          name: "h",
          kind: "soft",
          mesh: { type: "box", size: [0.3, 0.1, 0.1], cells: [6, 2, 2] },
          pins: [{ select: { box: { min: [-1, -1, -1], max: [-0.149, 1, 1] } } }],
          material: { model: "hexahedral", density: 1000, youngsModulus: 1e5, poissonsRatio: 0.4 },
        },
      ],
    },
    [],
    [],
    12,
  ));

test("free bodies keep their momentum in both, and the twin keeps it better", async () => {
  const scene = validateScene({
    version: 1,
    title: "spin",
    gravity: [0, 0, 0],
    substeps: 4,
    iterations: 1,
    bodies: [
      {
        name: "b",
        kind: "soft",
        solver: "compliant",
        mesh: { type: "box", size: [0.3, 0.2, 0.1], cells: [2, 2, 1] },
        material: soft,
        velocity: [0.1, 0, 0],
      },
    ],
  });
  const created = await createWorld(scene, { baseDir: "." });
  const { layout, memory } = created;
  const f32 = new Float32Array(memory.buffer);
  for (let i = 0; i < layout.particleCount; i++)
    for (const [a, b, s] of [
      [0, 1, -3],
      [1, 0, 3],
    ] as const)
      f32[layout.v / 4 + 4 * i + a]! += s * f32[layout.x / 4 + 4 * i + b]!;
  const world = openWorld(memory, layout);
  const twin = referenceRoom(scene, created, [], [0]);
  const p = twin.particles;
  const n = p.count;
  const before = momentumOf(p.w, p.x, p.v, 0, n);
  for (let tick = 0; tick < 30; tick++) {
    world.step([]);
    stepTick(twin);
  }
  const exact = momentumOf(p.w, p.x, p.v, 0, n);
  copyParticles(created, p);
  const kernel = momentumOf(p.w, p.x, p.v, 0, n);
  expect(norm(subtract(exact.angular, before.angular)) / norm(before.angular)).toBeLessThan(1e-12);
  expect(norm(subtract(exact.linear, before.linear)) / norm(before.linear)).toBeLessThan(1e-12);
  expect(norm(subtract(kernel.angular, before.angular)) / norm(before.angular)).toBeLessThan(2e-6);
  expect(norm(subtract(kernel.linear, before.linear)) / norm(before.linear)).toBeLessThan(2e-6);
});
