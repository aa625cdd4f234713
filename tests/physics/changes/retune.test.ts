/**
 * Material changes in a running room (server/sim/tuning/retune.ts). A changed body rests as in a scene with this
 * material from the start. A body changed before the first tick moves as in such a scene. A change can be undone to the
 * bit.
 *
 * Tolerances: rest means that stress is within 0.5 % of its limit (SETTLED of server/sim/rest/findResting.ts), in both
 * rooms. Motion from the start differs by the rounding of float32 rows, which a second of motion amplifies by less than
 * a thousand.
 */
import { describe, expect, test } from "vitest";
import type { BodyTuning } from "../../../shared/members/tuningLimits.ts";
import type { Body, Scene } from "../../../shared/scene/scene.ts";
import * as L from "../../../server/kernel/assembly/layout/layout.ts";
import { BodyMaterials } from "../../../server/sim/tuning/retune.ts";
import { loadState, saveState } from "../../../server/sim/world/checkpoint.ts";
import type { Input } from "../../../server/sim/types.ts";
import { openWorld } from "../../../server/sim/world.ts";
import { copyMemory } from "../../../server/workers/stepping/memoryCopy.ts";
import { type Laboratory, laboratory } from "../laboratory.ts";
import { enclosedVolume } from "../../../server/sim/body/meshes.ts";
import { worst, watched } from "../laws/watched.ts";

type Change = Omit<BodyTuning, "body">;
const tune = (change: Change, body = 0): Input => ({ type: "tune", member: 1, body, ...change });

const PINS = [{ select: { box: { min: [-1, -1, -1], max: [-0.49, 1, 1] } } }];
/** A beam fixed at one end. */
const beam = (material: object, more: object = {}): Body =>
  ({
    name: "beam",
    kind: "soft",
    mesh: { type: "box", size: [1, 0.2, 0.2], cells: [10, 2, 2] },
    material: { density: 300, youngsModulus: 1e5, poissonsRatio: 0.3, damping: 3, ...material },
    pins: PINS,
    ...more,
  }) as Body;
/** A strip of cloth fixed at one end. */
const strip = (material: object): Body =>
  ({
    name: "strip",
    kind: "cloth",
    mesh: { type: "grid", size: [1, 0.2], cells: [20, 4] },
    material: {
      density: 300,
      thickness: 0.001,
      youngsModulus: 2e5,
      poissonsRatio: 0.3,
      bendingStiffness: 0.02,
      damping: 3,
      ...material,
    },
    pins: [{ select: { box: { min: [-1, -1, -1], max: [-0.44, 1, 1] } } }],
    contact: { self: false },
  }) as Body;
const balloon = (volume: object): Body =>
  ({
    name: "balloon",
    kind: "cloth",
    mesh: { type: "ball", radius: 0.3, subdivisions: 2 },
    material: {
      model: "pbd",
      density: 200,
      thickness: 0.002,
      damping: 3,
      distance: { compliance: 0.001 },
      volume: { compliance: 1e-6, ...volume },
    },
    contact: { self: false },
  }) as Body;

/** Volume inside a balloon, m^3. */
const volume = (lab: Laboratory): number =>
  enclosedVolume({ positions: lab.positions(), triangles: lab.created.bodies[0]!.triangles });

type Parts = Partial<Scene> & Pick<Scene, "bodies">;
const scene = (body: Body): Parts => ({ gravity: [0, -9.81, 0], tickHz: 60, substeps: 20, bodies: [body] });

/** Displacement of each particle from its start, m, once the room sleeps. */
async function restOf(lab: Laboratory): Promise<Float64Array> {
  lab.world.mayRest = true;
  for (let n = 0; n < 60 * 60 && !lab.world.resting; n++) lab.world.step([]);
  expect(lab.world.resting).toBe(true);
  return lab.positions();
}

const distance = (a: Float64Array, b: Float64Array): number =>
  Math.sqrt(a.reduce((sum, c, k) => sum + (c - b[k]!) ** 2, 0));

const CASES: [string, (changed: boolean) => Body, Change][] = [
  ["stiffness", (c) => beam(c ? { youngsModulus: 3e5 } : {}), { youngsModulus: 3e5 }],
  ["Poisson's ratio", (c) => beam(c ? { poissonsRatio: 0.45 } : {}), { poissonsRatio: 0.45 }],
  ["density", (c) => beam(c ? { density: 120 } : {}), { density: 120 }],
  [
    "all of Saint Venant-Kirchhoff",
    (c) => beam(c ? { density: 500, youngsModulus: 2.5e5, poissonsRatio: 0.1 } : {}),
    { density: 500, youngsModulus: 2.5e5, poissonsRatio: 0.1 },
  ],
  [
    "a stable Neo-Hookean solid",
    (c) => beam({ model: "stable-neo-hookean", ...(c && { youngsModulus: 2e5, density: 200, poissonsRatio: 0.2 }) }),
    { youngsModulus: 2e5, density: 200, poissonsRatio: 0.2 },
  ],
  [
    "a plastic solid that does not flow",
    (c) =>
      beam({
        plasticity: { yield: c ? 5 : 4, creep: 1, max: 10 },
        ...(c && { youngsModulus: 2e5, poissonsRatio: 0.2 }),
      }),
    { youngsModulus: 2e5, poissonsRatio: 0.2, yield: 5 },
  ],
  [
    "a sheet",
    (c) => strip(c ? { youngsModulus: 4e5, poissonsRatio: 0.1, density: 200 } : {}),
    { youngsModulus: 4e5, poissonsRatio: 0.1, density: 200 },
  ],
  ["bending stiffness", (c) => strip({ bendingStiffness: c ? 2 : 1 }), { bendingStiffness: 2 }],
  [
    "a viscous solid",
    (c) => beam({ retardationTime: 0.1, ...(c && { density: 500, youngsModulus: 2.5e5, poissonsRatio: 0.1 }) }),
    { density: 500, youngsModulus: 2.5e5, poissonsRatio: 0.1 },
  ],
  [
    "a viscous sheet",
    (c) => strip({ retardationTime: 0.1, bendingStiffness: c ? 2 : 1, ...(c && { youngsModulus: 4e5 }) }),
    { youngsModulus: 4e5, bendingStiffness: 2 },
  ],
];

/** Implicit bodies, whose factorization stays that of the scene. */
const IMPLICIT = { solver: "implicit" };
const IMPLICIT_CASES: typeof CASES = [
  ["stiffness", (c) => beam({ youngsModulus: c ? 1.6e6 : 1e5 }, IMPLICIT), { youngsModulus: 1.6e6 }],
  ["Poisson's ratio", (c) => beam({ poissonsRatio: c ? 0.45 : 0.3 }, IMPLICIT), { poissonsRatio: 0.45 }],
  ["density", (c) => beam({ density: c ? 120 : 300 }, IMPLICIT), { density: 120 }],
  [
    "a sheet",
    (c) => ({ ...strip(c ? { youngsModulus: 4e5, poissonsRatio: 0.1, density: 200 } : {}), ...IMPLICIT }) as Body,
    { youngsModulus: 4e5, poissonsRatio: 0.1, density: 200 },
  ],
  [
    "bending stiffness",
    (c) => ({ ...strip({ bendingStiffness: c ? 2 : 1 }), ...IMPLICIT }) as Body,
    { bendingStiffness: 2 },
  ],
];

describe("a changed body rests as in a scene with this material from the start", () => {
  test.each([
    ...CASES,
    ...IMPLICIT_CASES.map(([name, ...rest]): (typeof CASES)[number] => [`${name}, implicit`, ...rest]),
  ])("%s", async (_, body, change) => {
    const [said, tuned, before] = await Promise.all([true, false, false].map((c) => laboratory(scene(body(c)))));
    tuned!.run(30);
    tuned!.run(1, [tune(change)]);
    const [wanted, there, without] = await Promise.all([said!, tuned!, before!].map(restOf));
    const moved = distance(wanted!, before!.created.bodies[0]!.positions);
    expect(distance(there!, wanted!)).toBeLessThan(0.01 * moved);
    // the rest differs from that without the change
    expect(distance(without!, wanted!)).toBeGreaterThan(0.03 * moved);
  });
});

/**
 * Half a second of a body with the change from the start, with the change in its first tick, and without it.
 * @returns the motion of the first, and the distances of the second and the third from it
 */
async function movedBy([, body, change]: (typeof CASES)[number]): Promise<{
  way: number;
  off: number;
  without: number;
}> {
  const [said, tuned, before] = await Promise.all([true, false, false].map((c) => laboratory(scene(body(c)))));
  const start = before!.positions();
  said!.run(30);
  before!.run(30);
  tuned!.run(30, [tune(change)]);
  const end = said!.positions();
  return {
    way: distance(end, start),
    off: distance(tuned!.positions(), end),
    without: distance(before!.positions(), end),
  };
}

describe("a body changed before its first tick moves as in a scene with this material", () => {
  test.each(CASES)("%s", async (...one) => {
    const { way, off, without } = await movedBy(one);
    expect(off).toBeLessThan(1000 * 2 ** -23 * way);
    expect(without).toBeGreaterThan(1e-3 * way);
  });
});

test.each([0.3, 1.5])(
  "a balloon at pressure %f follows a change of pressure by six rest volumes a second",
  async (to) => {
    const [said, tuned] = await Promise.all([to, 1].map((pressure) => laboratory(scene(balloon({ pressure })))));
    const start = volume(tuned!);
    tuned!.run(1, [tune({ pressure: to })]);
    // the volume follows its target with the spring of the compliance, so it may lag but not lead by much
    expect(Math.abs(volume(tuned!) / start - 1)).toBeLessThan((1.5 * 6) / 60);
    said!.run(180);
    tuned!.run(179);
    expect(Math.abs(volume(said!) / start - 1)).toBeGreaterThan(0.1);
    expect(volume(tuned!) / volume(said!)).toBeCloseTo(1, 2);
  },
);

describe("an implicit body changed before its first tick moves as in a scene with this material", () => {
  const damped: (typeof CASES)[number] = ["damping", (c) => beam({ damping: c ? 30 : 3 }, IMPLICIT), { damping: 30 }];
  test.each([...IMPLICIT_CASES, damped])("%s", async (...one) => {
    const { way, off, without } = await movedBy(one);
    // frequencies are right to 0.5 % in both rooms, and nothing here swings faster than 2.4 Hz: 0.075 of it after 0.5 s
    expect(off).toBeLessThan(0.075 * way);
    expect(without).toBeGreaterThan(5 * off);
  });
});

test("a change that is taken back leaves no trace, to the bit, and does not affect other bodies", async () => {
  const parts: Parts = {
    ...scene(beam({})),
    bodies: [beam({}), { ...strip({}), transform: { translate: [0, 1, 0] } } as Body],
  };
  const [plain, tuned] = await Promise.all([1, 2].map(() => laboratory(parts)));
  tuned!.run(1, [
    tune({ youngsModulus: 3e5, density: 500, poissonsRatio: 0.1, pins: false }),
    tune({ youngsModulus: 1e5 }, 1),
  ]);
  tuned!.run(1, [
    tune({ youngsModulus: 2e5, pins: true }),
    { type: "tune", member: 1, asScene: true },
    { type: "reset", member: 1 },
  ]);
  plain!.run(2, [{ type: "reset", member: 1 }]);
  plain!.run(1, [{ type: "reset", member: 1 }]);
  tuned!.run(1, [{ type: "reset", member: 1 }]);
  plain!.run(30);
  tuned!.run(30);
  for (const body of [0, 1]) expect(tuned!.positions(body)).toEqual(plain!.positions(body));
});

test("the same holds for an implicit body; a checkpoint includes the change", async () => {
  const floor = { colliders: [{ type: "plane", normal: [0, 1, 0], offset: -0.4 }] } as Partial<Scene>;
  const cloth = { ...strip({}), ...IMPLICIT, transform: { translate: [0, 1, 0] }, contact: {} } as Body;
  const parts: Parts = { ...scene(beam({})), ...floor, bodies: [beam({}, { ...IMPLICIT, pins: [] }), cloth] };
  const room = await laboratory(parts);
  const { memory, layout } = room.created;
  const template = copyMemory(memory);
  const began = openWorld(memory, layout, template);
  const changes = [
    tune({ youngsModulus: 3e5, density: 500, poissonsRatio: 0.1, damping: 1 }),
    tune({ youngsModulus: 4e5, bendingStiffness: 0.05 }, 1),
  ];
  for (let n = 0; n < 20; n++) began.step(n === 5 ? changes : []);
  const restored = copyMemory(template);
  loadState(restored, layout, saveState(memory, template, layout));
  const [here, there] = [openWorld(memory, layout, template), openWorld(restored, layout, template)];
  expect(there.tuning()).toEqual(here.tuning());
  for (let n = 0; n < 20; n++) {
    here.step([]);
    there.step([]);
    expect(there.stateHash()).toBe(here.stateHash());
  }
  const reset: Input = { type: "reset", member: 1 };
  const fresh = openWorld(copyMemory(template), layout, template);
  for (const world of [here, fresh]) {
    world.step([{ type: "tune", member: 1, asScene: true }, reset]);
    world.step([reset]);
    for (let n = 0; n < 20; n++) world.step([]);
  }
  for (const body of [0, 1])
    for (const particle of [0, 30, 54]) expect(here.position(body, particle)).toEqual(fresh.position(body, particle));
});

test("warm-start stress survives a change of stiffness, and is dropped with a change of mass", async () => {
  const { created, world } = await laboratory(scene(beam({ youngsModulus: 1e7 })));
  const { memory, layout } = created;
  const template = copyMemory(memory);
  const views = { f32: new Float32Array(memory.buffer), i32: new Int32Array(memory.buffer) };
  const remembered = (): boolean =>
    layout.memories.some(({ address, bytes }) =>
      Array.from({ length: bytes / L.WARM_START_BYTES }, (_, n) => (address + n * L.WARM_START_BYTES) / 4).some((at) =>
        views.i32.subarray(at, at + L.WARM_START_BODY / 4).some((word) => word !== 0),
      ),
    );
  // a settling body stores warm-start stress after some ticks
  world.mayRest = true;
  for (let n = 0; n < 60 * 60 && !remembered(); n++) world.step([]);
  expect(remembered()).toBe(true);
  const materials = new BodyMaterials(views, layout, () => new Float32Array(template.buffer));
  const { damping: _, friction: __, ...material } = layout.tunable[0]!.scene;
  materials.write(0, { ...material, youngsModulus: 2e7 }, false);
  expect(remembered()).toBe(true);
  materials.write(0, { ...material, density: 120 }, true);
  expect(remembered()).toBe(false);
});

test("a changed density keeps velocities, so momentum changes with the mass", async () => {
  const lab = await laboratory({ bodies: [beam({ damping: 0 }, { pins: [], velocity: [2, 0, 0] })] });
  lab.run(5);
  const before = lab.velocities();
  const heavy = lab.x[3]!;
  lab.run(1, [tune({ density: 600 })]);
  expect(lab.x[3]! / heavy).toBeCloseTo(0.5, 6);
  lab.velocities().forEach((v, k) => expect(v).toBeCloseTo(before[k]!, 4));
});

test("pins release particles and fix them where they are; a reset puts them where the scene has them", async () => {
  const lab = await laboratory(scene(beam({})));
  const { pinned } = lab.created.layout.tunable[0]!;
  expect(pinned.length).toBe(9);
  const held = (): number[] => [...pinned].map((p) => lab.positions()[3 * p + 1]!);
  const start = held();
  lab.run(12, [tune({ pins: false })]);
  const let_go = held();
  // free, all of it falls: g t^2/2 with implicit damping of 3/s
  for (const [n, y] of let_go.entries()) expect(start[n]! - y).toBeGreaterThan(0.1);
  lab.run(12, [tune({ pins: true })]);
  held().forEach((y, n) => expect(y).toBe(let_go[n]!));
  lab.run(1, [{ type: "reset", member: 1 }]);
  held().forEach((y, n) => expect(y).toBe(start[n]!));
});

test("changes are part of the state: another thread continues with them, also from a checkpoint", async () => {
  const room = await laboratory(scene(beam({ plasticity: { yield: 0.01, creep: 5, max: 0.3 } })));
  const { memory, layout } = room.created;
  const template = copyMemory(memory);
  const first = openWorld(memory, layout, template);
  for (let n = 0; n < 20; n++) first.step(n === 5 ? [tune({ youngsModulus: 2e5, density: 200, yield: 0.02 })] : []);
  const restored = copyMemory(template);
  loadState(restored, layout, saveState(memory, template, layout));
  const [here, there] = [openWorld(memory, layout, template), openWorld(restored, layout, template)];
  expect(here.tuning().bodies[0]).toMatchObject({ youngsModulus: 2e5, density: 200, yield: 0.02, pins: true });
  for (let n = 0; n < 20; n++) {
    const inputs = n === 10 ? [tune({ poissonsRatio: 0.4, pins: false })] : [];
    here.step(inputs);
    there.step(inputs);
    expect(there.stateHash()).toBe(here.stateHash());
  }
});

test("the energy ledger balances over a change", async () => {
  const { books, run } = await watched(scene(beam({})));
  run(10);
  run(10, [tune({ youngsModulus: 3e5, density: 200, poissonsRatio: 0.4 })]);
  run(10);
  expect(worst(books)).toBeLessThan(1e-12);
});

test("an invalid change is refused with field, value and limit, and changes nothing", async () => {
  const lab = await laboratory(scene(beam({ model: "neo-hookean" })));
  const refusals = (change: Change): object[] => lab.run(1, [tune(change)]);
  // sound crosses 0.6 edges of 12 cm in 1/1200 s: k (1 - nu)/((1 + nu)(1 - 2 nu)) = density (0.6 a/h)^2
  const [refused] = refusals({ youngsModulus: 9e6 });
  expect(refused).toMatchObject({ type: "inputRejected", field: "youngsModulus", value: 9e6 });
  const limit = Number(/<= (\S+) for/.exec((refused as { limit: string }).limit)![1]);
  expect(refusals({ youngsModulus: 0.999 * limit })).toMatchObject([{ type: "tuned" }]);
  const edge = Math.cbrt(((6 * Math.SQRT2 * 0.04) / lab.created.bodies[0]!.elements[0]!.particles.length) * 4);
  const nu = 0.3;
  expect(limit / ((300 * (0.6 * edge * 1200) ** 2 * (1 + nu) * (1 - 2 * nu)) / (1 - nu))).toBeCloseTo(1, 2);
  expect(refusals({ density: 1 })).toMatchObject([{ field: "density", value: 1 }]);
  const clay = await laboratory(scene(beam({ plasticity: { yield: 0.1, creep: 1, max: 0.5 } })));
  expect(clay.run(1, [tune({ yield: 0.5 })])).toMatchObject([
    { field: "yield", value: 0.5, limit: "< 0.5, which is max" },
  ]);
  expect(clay.world.tuning().bodies[0]!.yield).toBe(0.1);
  // an implicit step is prepared for moduli and masses whose ratios differ 16 times at most
  const own = await laboratory(scene(beam({}, IMPLICIT)));
  expect(own.run(1, [tune({ youngsModulus: 1.7e6 })])).toMatchObject([
    { field: "youngsModulus", value: 1.7e6, limit: "6250 to 1600000: its implicit step was prepared for 100000" },
  ]);
  expect(own.run(1, [tune({ density: 150 })])).toMatchObject([{ type: "tuned" }]);
  expect(own.run(1, [tune({ youngsModulus: 8.1e5 })])).toMatchObject([
    { limit: expect.stringContaining("3125 to 800000:") },
  ]);
  expect(own.run(1, [tune({ poissonsRatio: 0.499 })])).toMatchObject([
    { field: "poissonsRatio", limit: "nearer to the scene's 0.3: its implicit step was prepared for that" },
  ]);
  expect(own.world.tuning().bodies[0]).toMatchObject({ youngsModulus: 1e5, density: 150, poissonsRatio: 0.3 });
});
