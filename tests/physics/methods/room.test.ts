/**
 * Guarantees of a room for bodies with any method: grabs, impulses, attachments, colliders, reset, roll-back, sleep and
 * the energy ledger work. Any number of threads, a restore and a repetition give the same bits.
 */
import { describe, expect, test } from "vitest";
import type { Body, Scene } from "../../../shared/scene/scene.ts";
import type { SoftMaterial } from "../../../shared/scene/sceneMaterials.ts";
import type { Method } from "../../../shared/scene/sceneMethodTypes.ts";
import { loadState, saveState } from "../../../server/sim/world/checkpoint.ts";
import { createWorld, type CreatedWorld } from "../../../server/sim/world/createWorld.ts";
import { StepWorkers } from "../../../server/sim/threads/stepWorkers.ts";
import { apartPairs } from "../../../server/sim/world/recordedColliders.ts";
import type { Input } from "../../../server/sim/types.ts";
import { openWorld } from "../../../server/sim/world.ts";
import { copyMemory } from "../../../server/workers/stepping/memoryCopy.ts";
import { laboratory } from "../laboratory.ts";
import { watched, worst } from "../laws/watched.ts";
import { block, cube, largest } from "./kit.ts";

const METHODS: [name: string, method: Method][] = [
  ["springs, explicit", { type: "mass-spring", integrator: "explicit", steps: 16, stiffnessDamping: 0.005 }],
  ["springs, symplectic", { type: "mass-spring", integrator: "symplectic", steps: 8 }],
  ["springs, implicit", { type: "mass-spring" }],
  ["linear elements", { type: "finite-elements", warped: false, stiffnessDamping: 0.001 }],
  ["warped elements", { type: "finite-elements" }],
  ["volumes", { type: "finite-volumes", integrator: "symplectic", steps: 8 }],
  ["boundary", { type: "boundary-elements", stiffnessDamping: 0.05 }],
  ["modes", { type: "modal", modes: 20 }],
];

const POINTS: [name: string, method: Method][] = [
  ["lennard-jones", { type: "lennard-jones", dissociation: 1 }],
  ["lennard-jones, warm", { type: "lennard-jones", dissociation: 1, temperature: 0.3 }],
  ["point-based", { type: "point-based", integrator: "symplectic", steps: 8 }],
  ["point-based, melting", { type: "point-based", yield: 0.05, temperature: 0.8, creep: 40 }],
  ["fluid", { type: "position-based-fluid", viscosity: 0.05, surfaceTension: 10, vorticity: 0.1 }],
  ["smoothed", { type: "smoothed-particles", steps: 8, viscosity: 0.01, surfaceTension: 10, vorticity: 0.1 }],
  ["smoke", { type: "eulerian-fluid", cells: [6, 6, 6], edge: 0.1, plume: { radius: 0.15, acceleration: 5 } }],
];

/** All methods side by side with a jelly among them, over a floor, and a grab for each. */
function together(): Promise<CreatedWorld> {
  const all = [...METHODS, ...POINTS];
  const names = all.map(([name]) => name);
  const bodies = all.map(([name, method], n) => ({
    ...(n < METHODS.length ? cube(method) : block(method)),
    name,
    transform: { translate: [0.7 * n, n < METHODS.length ? 0.25 : 0.17, 0] },
    ...(n < METHODS.length && { pins: [{ select: { box: { min: [-10, -1, -1], max: [10, 0.001, 1] } } }] }),
    contact: { self: false, ignore: [...names.filter((other) => other !== name), "jelly"] },
  })) as Body[];
  const { method: _, pins: __, contact: ___, ...free } = cube({ type: "finite-elements" });
  bodies.splice(3, 0, { ...free, name: "jelly", transform: { translate: [0, 0.4, 1] } });
  const compared = ["springs, implicit", "warped elements", "volumes"];
  return createWorld(
    {
      ...{ version: 1, title: "together", bodies },
      reference: { of: "warped elements", cells: [2, 2, 2], bodies: compared },
      interaction: { together: names },
      colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0 }],
    },
    { baseDir: "." },
  );
}

function script(tick: number, count: number): Input[] {
  const bodies = Array.from({ length: count }, (_, body) => body);
  if (tick === 3)
    return bodies.map((body) => ({
      type: "grab",
      member: 1 + body,
      grab: 0,
      body,
      triangle: 9,
      u: 0.2,
      v: 0.3,
      target: [0.8 * body, 0.9, 0.2],
    }));
  // and one grab on all of them
  const all = { member: 99, grab: 0 };
  if (tick === 5)
    return [{ type: "grab", ...all, body: 4, triangle: 9, u: 0.2, v: 0.3, target: [2.2, 0.5, 0.1], together: true }];
  if (tick === 7 || tick === 12) return [{ type: "move", ...all, target: [2.1, 0.4, 0.05 * tick] }];
  if (tick === 16) return [{ type: "release", ...all }];
  if (tick === 9) return [{ type: "impulse", member: 1, body: 4, triangle: 20, u: 0.1, v: 0.2, impulse: [1, 2, -1] }];
  return tick === 14 ? bodies.map((body) => ({ type: "releaseAll", member: 1 + body })) : [];
}

const TICKS = 20;

async function hash(created: CreatedWorld, threads: number, reopen = false): Promise<string> {
  let world = openWorld(created.memory, created.layout);
  const workers = await StepWorkers.start(world, created.memory, threads);
  for (let tick = 1; tick <= TICKS; tick++) {
    if (reopen) world = openWorld(created.memory, created.layout);
    const step = reopen ? world : workers;
    expect(step.step(script(tick, created.layout.bodyCount)).events).toEqual([]);
  }
  await workers.stop();
  return world.stateHash();
}

describe("the same bits", () => {
  test("two and three threads, and a new world object every tick, give the same bits", async () => {
    const alone = await hash(await together(), 1);
    expect(await hash(await together(), 2)).toBe(alone);
    expect(await hash(await together(), 3)).toBe(alone);
    expect(await hash(await together(), 1, true)).toBe(alone);
  });

  test("a checkpoint in the middle of a pull continues with the same bits", async () => {
    const { memory: template, layout } = await together();
    const memory = copyMemory(template);
    const live = openWorld(memory, layout);
    for (let tick = 1; tick <= 8; tick++) live.step(script(tick, layout.bodyCount));
    const state = saveState(memory, template, layout);
    const restored = copyMemory(template);
    loadState(restored, layout, state);
    const other = openWorld(restored, layout);
    for (let tick = 9; tick <= TICKS; tick++) {
      live.step(script(tick, layout.bodyCount));
      other.step(script(tick, layout.bodyCount));
      expect(other.stateHash(), `tick ${tick}`).toBe(live.stateHash());
    }
    expect(other.methodErrors()).toEqual(live.methodErrors());
    expect(Buffer.compare(saveState(restored, template, layout), saveState(memory, template, layout))).toBe(0);
  });

  test("the hash includes the float64 state behind the particles", async () => {
    const { memory, layout } = await together();
    const world = openWorld(memory, layout);
    const before = world.stateHash();
    const [springs] = layout.methods;
    new Float64Array(memory.buffer, springs!.state, 3)[0]! += 1e-12;
    expect(world.stateHash()).not.toBe(before);
  });

  test("a reset restores the initial state", async () => {
    const { memory, layout } = await together();
    const world = openWorld(memory, layout);
    const xs = (): Float64Array[] =>
      layout.methods.map(({ state, body }) =>
        new Float64Array(memory.buffer, state, 6 * layout.bodies[body]!.count).slice(),
      );
    const run = (first: Input[]): Float64Array[] => {
      for (let tick = 0; tick < 6; tick++) world.step(tick === 0 ? first : []);
      return xs();
    };
    const before = run([]);
    run(script(3, layout.bodyCount));
    expect(run([{ type: "reset", member: 1 }])).toEqual(before);
  });
});

describe.each(METHODS)("%s", (_, method) => {
  const settling = { damping: 8 };
  const calm = (more: Partial<Body> = {}): Body => {
    const body = cube(method, more as never);
    return { ...body, material: { ...body.material, ...settling } as SoftMaterial };
  };

  test("a grab pulls with its allowed force, and lets go", async () => {
    const lab = await laboratory({ bodies: [calm()], interaction: { grabMaxForce: 20, grabSpeed: 1 } });
    const rest = lab.positions();
    const target: [number, number, number] = [0, 0.9, 0];
    // a triangle on top
    const { bodies } = lab.created;
    const triangles = bodies[0]!.triangles;
    const top = Array.from({ length: triangles.length / 3 }, (_, t) => t).find((t) =>
      [0, 1, 2].every((c) => rest[3 * triangles[3 * t + c]! + 1]! > 0.499),
    )!;
    lab.run(120, [{ type: "grab", member: 1, grab: 0, body: 0, triangle: top, u: 0.3, v: 0.3, target }]);
    const held = lab.positions();
    expect(largest(held.map((x, k) => x - rest[k]!))).toBeGreaterThan(0.001);
    // at rest the fixed particles bear the grab's force: the stored energy grows by F times its displacement
    const energy = lab.world.methodEnergy(0)!;
    expect(energy).toBeGreaterThan(0);
    expect(energy).toBeLessThan(20 * largest(held.map((x, k) => x - rest[k]!)));
    lab.run(400, [{ type: "release", member: 1, grab: 0 }]);
    expect(lab.world.methodEnergy(0)!).toBeLessThan(1e-3 * energy);
  });

  test("its energy ledger balances, and includes its elastic energy", async () => {
    const { books, run } = await watched({ bodies: [calm()], gravity: [0, -9.81, 0] });
    run(10);
    expect(worst(books)).toBeLessThan(1e-12);
    expect(books.entries.at(-1)!.bodies[0]!.elastic).toBeGreaterThan(0);
  });

  test("it falls asleep if nothing moves it", async () => {
    const created = await createWorld({ version: 1, title: "asleep", bodies: [calm()] }, { baseDir: "." });
    const world = openWorld(created.memory, created.layout);
    for (let tick = 0; tick < 1200 && !world.resting; tick++) world.step([]);
    expect(world.resting).toBe(true);
  });
});

/** Methods with inertia. Boundary elements have none, and are fixed. */
const FREE = METHODS.filter(([, { type }]) => type !== "boundary-elements");

test.each(FREE)("%s: an impulse adds all of its momentum to a free body without gravity", async (_, method) => {
  const free = cube(method, { pins: [] } as never);
  const lab = await laboratory({ bodies: [{ ...free, material: { ...free.material, damping: 0 } as SoftMaterial }] });
  const impulse: [number, number, number] = [3, 5, -2];
  lab.run(1, [{ type: "impulse", member: 1, body: 0, triangle: 4, u: 0.2, v: 0.3, impulse }]);
  const v = lab.velocities();
  const { mass } = lab.created.bodies[0]!;
  // modes that are left out take no part, but every set has the rigid motions
  for (let r = 0; r < 3; r++) {
    const momentum = mass.reduce((sum, m, i) => sum + m * v[3 * i + r]!, 0);
    expect(Math.abs(momentum - impulse[r]!)).toBeLessThan(1e-4);
  }
});

/** Methods that may tumble. Modes rotate linearly. */
const TUMBLING = FREE.filter(([, { type }]) => type !== "modal");

describe.each(TUMBLING)("%s against colliders", (_, method) => {
  const fallen = async (colliders: Scene["colliders"]): Promise<{ lab: Awaited<ReturnType<typeof laboratory>> }> => {
    const body = cube(method, { pins: [], transform: { translate: [0, 0.45, 0] } } as never);
    const lab = await laboratory({
      gravity: [0, -9.81, 0],
      bodies: [{ ...body, material: { ...body.material, damping: 2 } as SoftMaterial }],
      colliders: colliders!,
    });
    lab.run(240);
    return { lab };
  };

  test("it comes to rest on a floor, with no particle below", async () => {
    const { lab } = await fallen([{ type: "plane", normal: [0, 1, 0], offset: 0 }]);
    const heights = Array.from(lab.positions()).filter((_, k) => k % 3 === 1);
    expect(Math.min(...heights)).toBeGreaterThan(-1e-6);
    expect(Math.min(...heights)).toBeLessThan(0.02);
    expect(Math.max(...heights)).toBeGreaterThan(0.35);
    // explicit Euler moves by the velocity of the previous step: on a floor it trembles
    expect(largest(lab.velocities())).toBeLessThan(0.2);
  });

  test("no particle enters a box or a sphere that it falls on", async () => {
    const { lab } = await fallen([
      { type: "box", center: [0, -0.1, 0], halfExtents: [0.4, 0.2, 0.4] },
      { type: "sphere", center: [0.1, 0.1, 0.05], radius: 0.08 },
      { type: "plane", normal: [0, 1, 0], offset: -0.3 },
    ]);
    const x = lab.positions();
    for (let i = 0; i < x.length; i += 3) {
      const inBox = Math.max(Math.abs(x[i]!) - 0.4, Math.abs(x[i + 1]! + 0.1) - 0.2, Math.abs(x[i + 2]!) - 0.4);
      const toSphere = Math.hypot(x[i]! - 0.1, x[i + 1]! - 0.1, x[i + 2]! - 0.05) - 0.08;
      expect(Math.min(inBox, toSphere)).toBeGreaterThan(-1e-4);
    }
  });
});

test("a body that explodes is rolled back and held, the rest moves on, and a reset restores it", async () => {
  const bodies = [
    cube({ type: "mass-spring", integrator: "explicit", steps: 1 }, {
      name: "explodes",
      contact: { self: false, ignore: ["stays"] },
    } as never),
    cube({ type: "mass-spring" }, { name: "stays", contact: { self: false, ignore: ["explodes"] } } as never),
  ];
  const lab = await laboratory({ bodies, gravity: [0, -9.81, 0], worldRadius: 5 });
  const events = lab.run(200);
  expect(events).toMatchObject([{ type: "bodyHeld", body: 0 }]);
  expect(largest(lab.positions(0))).toBeLessThan(5);
  const there = lab.positions(0);
  lab.run(5);
  expect(lab.positions(0)).toEqual(there);
  expect(largest(lab.velocities(1))).toBeLessThan(1);
  const again = lab.run(200, [{ type: "reset", member: 1 }]);
  expect(again.map(({ type }) => type)).toEqual(["reset", "bodyHeld"]);
});

test("a recording of a body with a method does not check its surface, because only its particles collide", () => {
  const colliders: Scene["colliders"] = [
    { type: "plane", normal: [0, 1, 0], offset: 0 },
    { type: "sphere", center: [0, 0, 0], radius: 1 },
  ];
  const touch = { staticFriction: 0, restitution: 0, ignore: [], self: false };
  const scene: Scene = { version: 1, title: "apart", bodies: [cube({ type: "modal" })], colliders };
  const of = (form: "method" | "compliant"): [number, number][] => apartPairs(scene, [{ name: "cube", touch, form }]);
  expect(of("method")).toEqual([
    [0, 0],
    [0, 2],
  ]);
  expect(of("compliant")).toEqual([[0, 0]]);
});

test("an attachment carries a hanging body, in the world and on a moving collider", async () => {
  const { material: _, ...net } = cube({ type: "mass-spring" });
  const bodies: Body[] = [
    {
      ...net,
      name: "net",
      kind: "cloth",
      mesh: { type: "grid", size: [0.4, 0.4], cells: [4, 4] },
      material: { model: "pbd", density: 300, thickness: 0.001, damping: 2, distance: { compliance: 1 / 200 } },
      pins: [],
      contact: { self: false, ignore: ["lift"] },
    },
  ];
  const lab = await laboratory({
    gravity: [0, -9.81, 0],
    bodies,
    colliders: [
      {
        type: "sphere",
        name: "lift",
        center: [0.2, 0.25, 0.2],
        radius: 0.05,
        motion: { keys: [{ time: 0 }, { time: 1, translate: [0, 0.5, 0] }] },
      },
    ],
    attachments: [
      { from: { body: "net", particle: 0 }, to: { world: [-0.2, 0.25, -0.2] } },
      { from: { body: "net", particle: 24 }, to: { collider: "lift" } },
    ],
  });
  lab.run(300);
  const x = lab.positions();
  expect(largest(x.subarray(0, 3).map((value, r) => value - [-0.2, 0.25, -0.2][r]!))).toBeLessThan(1e-3);
  expect(largest(x.subarray(72, 75).map((value, r) => value - [0.2, 0.75, 0.2][r]!))).toBeLessThan(1e-3);
});

test("a method is refused if its eigenproblem is too large, its steps are too many, or nothing is free", async () => {
  const scene = (body: Partial<Body>): Scene => ({
    version: 1,
    title: "refused",
    bodies: [{ ...cube({ type: "modal" }), ...body } as Body],
  });
  const large = scene({ mesh: { type: "box", size: [0.5, 0.5, 0.5], cells: [8, 8, 8] } });
  await expect(createWorld(large, { baseDir: "." })).rejects.toThrow(/\/bodies\/0\/method\/type.*400 free particles/);
  const many = scene({
    mesh: { type: "box", size: [0.5, 0.5, 0.5], cells: [12, 12, 12] },
    method: { type: "finite-elements", steps: 256 },
  });
  await expect(createWorld(many, { baseDir: "." })).rejects.toThrow(/method\/steps: 256 .*at most 119 for 2197/);
  const fixed = scene({ pins: [{ select: { sphere: { center: [0, 0, 0], radius: 9 } } }] });
  await expect(createWorld(fixed, { baseDir: "." })).rejects.toThrow(/every particle of the body is fixed/);
});
