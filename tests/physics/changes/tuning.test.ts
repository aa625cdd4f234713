/**
 * Tuning by the owner of a running room (server/sim/tuning/applyTuning.ts). A room tuned before its first tick moves
 * bit for bit as a scene with these values, and the tuned values are part of the state.
 */
import { describe, expect, it } from "vitest";
import type { Body, Scene } from "../../../shared/scene/scene.ts";
import { loadState, saveState } from "../../../server/sim/world/checkpoint.ts";
import type { Input } from "../../../server/sim/types.ts";
import { openWorld } from "../../../server/sim/world.ts";
import { copyMemory } from "../../../server/workers/stepping/memoryCopy.ts";
import { type Laboratory, laboratory } from "../laboratory.ts";

type Vec3 = [number, number, number];
const MOON: Vec3 = [0.3, -1.62, 0];

interface Values {
  gravity: Vec3;
  damping: number;
  friction: number;
}

const SCENE: Values = { gravity: [0, -9.81, 0], damping: 2, friction: 0.5 };
const TUNED: Values = { gravity: MOON, damping: 3.5, friction: 0.1 };

/**
 * A soft and a rigid cube that slide on a slope, one of them under a load and one under a cloth, and a ball beside
 * them. Friction, damping and gravity affect each kind of body in a different way.
 */
function scene({ gravity, damping, friction }: Values): Partial<Scene> & Pick<Scene, "bodies"> {
  const box = (name: string, x: number, material: object, more: object = {}): Body =>
    ({
      name,
      kind: "soft",
      mesh: { type: "box", size: [0.2, 0.2, 0.2], cells: [2, 2, 2] },
      transform: { translate: [x, 0.15 + 0.3 * x, 0] },
      material: { density: 500, damping, friction, ...material },
      ...more,
    }) as Body;
  return {
    gravity,
    tickHz: 60,
    substeps: 4,
    bodies: [
      box(
        "soft",
        0,
        { model: "stvk", youngsModulus: 50_000, poissonsRatio: 0.3 },
        {
          loads: [{ select: { box: { min: [-9, -9, -9], max: [9, 9, 9] } }, force: [0.5, 0, 0] }],
          contact: { staticFriction: 0.7 },
        },
      ),
      box("rigid", 0.5, { model: "shape-matching", mode: "rigid" }),
      {
        name: "ball",
        kind: "ball",
        mesh: { type: "ball", radius: 0.1, subdivisions: 2 },
        transform: { translate: [1, 0.5, 0] },
        material: { density: 500, damping, friction },
      },
      {
        name: "sheet",
        kind: "cloth",
        mesh: { type: "grid", size: [0.3, 0.3], cells: [6, 6] },
        transform: { translate: [0, 0.4, 0] },
        material: { density: 300, thickness: 0.001, youngsModulus: 20_000, poissonsRatio: 0.3, damping, friction },
      } as Body,
    ],
    colliders: [{ type: "plane", normal: [-0.3, 1, 0], offset: -0.05, friction: 0.5 }],
  };
}

const change = ({ gravity, damping, friction }: Values, bodies: number): Input[] => [
  { type: "tune", member: 1, gravity },
  ...Array.from({ length: bodies }, (_, body): Input => ({ type: "tune", member: 1, body, damping, friction })),
];

function streamed({ created, world }: Laboratory): Float32Array {
  const out = new Float32Array(3 * created.layout.streamedParticles);
  world.readStreamed(out);
  return out;
}

describe("tuning", () => {
  it("before the first tick it equals the scene's own values, in every kind of body", async () => {
    const [said, tuned, other] = await Promise.all([SCENE, TUNED, TUNED].map((values) => laboratory(scene(values))));
    const before = new Float32Array(streamed(said!));
    said!.run(90, change(TUNED, 4));
    tuned!.run(90);
    expect(streamed(said!)).toEqual(streamed(tuned!));
    expect(said!.velocities(2)).toEqual(tuned!.velocities(2));
    expect(streamed(said!)).not.toEqual(before);
    // and back again
    said!.run(1, [{ type: "tune", member: 1, asScene: true }]);
    other!.run(90);
    other!.run(1, change(SCENE, 4));
    expect(streamed(said!)).toEqual(streamed(other!));
    expect(said!.world.tuning()).toEqual(other!.world.tuning());
  });

  it.each(["gravity", "damping", "friction"] as const)("%s alone makes a difference", async (field) => {
    const [plain, tuned] = await Promise.all([SCENE, SCENE].map((values) => laboratory(scene(values))));
    plain!.run(60);
    tuned!.run(60, change({ ...SCENE, [field]: TUNED[field] }, 4));
    for (let body = 0; body < 4; body++) expect(tuned!.positions(body)).not.toEqual(plain!.positions(body));
  });

  it("is part of the state: hash, checkpoint, roll-back; a reset keeps it", async () => {
    const room = await laboratory(scene(SCENE));
    const { memory, layout } = room.created;
    const template = copyMemory(memory);
    const start = room.positions();
    const events = room.run(20, [{ type: "tune", member: 7, body: 1, damping: 9, friction: 2 }]);
    const bodies = [0, 1, 2, 3].map((body) => ({ body, damping: body === 1 ? 9 : 2, friction: body === 1 ? 2 : 0.5 }));
    expect(events).toContainEqual({
      type: "tuned",
      tick: 1,
      member: 7,
      tuning: expect.objectContaining({
        gravity: SCENE.gravity,
        bodies: bodies.map((body) => expect.objectContaining(body)),
      }),
    });
    const restored = copyMemory(template);
    loadState(restored, layout, saveState(memory, template, layout));
    const other = openWorld(restored, layout);
    other.mayRest = false;
    expect(other.tuning()).toEqual(room.world.tuning());
    for (let n = 0; n < 20; n++) {
      // another instance of the kernel has no memory of earlier values
      const inputs: Input[] = n === 10 ? [{ type: "tune", member: 7, body: 0, friction: 0.9 }] : [];
      room.world.step(inputs);
      other.step(inputs);
      expect(other.stateHash()).toBe(room.world.stateHash());
    }
    room.run(1, [{ type: "reset", member: 1 }]);
    // rigid: it has no other values to change
    expect(room.world.tuning().bodies[1]).toEqual({ body: 1, damping: 9, friction: 2 });
    expect(room.positions()).not.toEqual(start);
    const { first, count } = layout.bodies[1]!;
    expect(Array.from({ length: count }, (_, i) => room.v[4 * (first + i) + 3])).toEqual(new Array(count).fill(9));
    // values that do not show in any particle count, too
    const [one, two] = await Promise.all([SCENE, SCENE].map((values) => laboratory(scene(values))));
    one!.run(1, [{ type: "tune", member: 1, body: 2, friction: 0.5 }]);
    two!.run(1);
    expect(one!.world.stateHash()).not.toBe(two!.world.stateHash());
    one!.run(1, [{ type: "tune", member: 1, asScene: true }]);
    two!.run(1);
    expect(one!.world.stateHash()).toBe(two!.world.stateHash());
  });

  it("gives the same bits on a thread that has stepped the room before and on one that has not", async () => {
    const values = { ...SCENE, friction: 2 };
    const { bodies, ...rest } = scene(values);
    const { contact: _, ...body } = bodies[0]!;
    const [knows, stranger] = await Promise.all([1, 2].map(() => laboratory({ ...rest, bodies: [body as Body] })));
    for (let tick = 1; tick <= 90; tick++) {
      const inputs: Input[] = tick === 60 ? [{ type: "tune", member: 1, body: 0, friction: 0.05 }] : [];
      knows!.world.step(inputs);
      const fresh = openWorld(stranger!.created.memory, stranger!.created.layout);
      fresh.mayRest = false;
      fresh.step(inputs);
      expect(fresh.stateHash(), `tick ${tick}`).toBe(knows!.world.stateHash());
    }
  });

  it("wakes a room that rests", async () => {
    const { bodies } = scene(SCENE);
    const room = await laboratory({
      gravity: SCENE.gravity,
      bodies: [bodies[1]!],
      colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0 }],
    });
    room.world.mayRest = true;
    for (let n = 0; n < 600 && !room.world.resting; n++) room.world.step([]);
    expect(room.world.resting).toBe(true);
    const before = room.positions();
    room.run(30, [{ type: "tune", member: 1, gravity: [0, 3, 0] }]);
    const rise = room.positions().map((c, k) => c - before[k]!)[1]!;
    // free from the first tick on, with implicit damping of 2/s: less than g t^2/2, more than half of it
    expect(rise).toBeGreaterThan(0.5 * 1.5 * 0.5 ** 2);
    expect(rise).toBeLessThan(1.5 * 0.52 ** 2);
  });

  it("gravity acts on bodies with implicit steps", async () => {
    const own = {
      name: "own",
      kind: "soft",
      solver: "implicit",
      mesh: { type: "box", size: [0.2, 0.2, 0.2], cells: [2, 2, 2] },
      material: { density: 500, model: "stvk", youngsModulus: 50_000, poissonsRatio: 0.3 },
      contact: { self: false },
    } as unknown as Body;
    const room = await laboratory({ bodies: [own] });
    const before = room.positions();
    room.run(30, [{ type: "tune", member: 1, gravity: MOON }]);
    // free fall: the middle of the body after 0.5 s; BDF2 begins with one step of first order
    const fallen = room.positions().reduce((sum, c, k) => sum + (k % 3 === 1 ? c - before[k]! : 0), 0);
    expect(fallen / (before.length / 3)).toBeCloseTo(-1.62 * 0.125, 2);
  });

  it("friction of an implicit body acts where it slides", async () => {
    const slide = (friction: number): Promise<Laboratory> =>
      laboratory({
        gravity: [0, -9.81, 0],
        bodies: [
          {
            name: "own",
            kind: "soft",
            solver: "implicit",
            mesh: { type: "box", size: [0.2, 0.2, 0.2], cells: [2, 2, 2] },
            transform: { translate: [0, 0.1, 0] },
            material: { density: 500, model: "stvk", youngsModulus: 500_000, poissonsRatio: 0.3, friction },
            contact: { self: false },
            velocity: [2, 0, 0],
          } as unknown as Body,
        ],
        colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0, friction: 0.4 }],
      });
    const [said, tuned, rough] = await Promise.all([0.1, 0.9, 0.9].map(slide));
    said!.run(30);
    rough!.run(30);
    tuned!.run(30, [{ type: "tune", member: 1, body: 0, friction: 0.1 }]);
    expect(tuned!.positions()).toEqual(said!.positions());
    expect(tuned!.positions()).not.toEqual(rough!.positions());
  });
});

describe("paused time", () => {
  const parts = (): Partial<Scene> & Pick<Scene, "bodies"> => {
    const whole = scene(SCENE);
    return {
      ...whole,
      colliders: [
        ...whole.colliders!,
        {
          type: "sphere",
          center: [0.4, 0.1, 0.4],
          radius: 0.1,
          motion: { keys: [{ time: 0 }, { time: 1, translate: [-0.4, 0, -0.4] }], loop: true },
        },
      ],
    };
  };

  it("moves nothing, and the room continues as if it had not paused, to the bit", async () => {
    const [plain, paused] = await Promise.all([1, 2].map(() => laboratory(parts())));
    plain!.run(20);
    paused!.run(20);
    const before = streamed(paused!).slice();
    const events = paused!.run(50, [{ type: "tune", member: 1, timeScale: 0 }]);
    expect(events).toMatchObject([{ type: "tuned", tick: 21, tuning: { timeScale: 0, pausedTicks: 0 } }]);
    expect(streamed(paused!)).toEqual(before);
    expect(paused!.world.tickNumber).toBe(70);
    expect(paused!.world.tuning()).toMatchObject({ timeScale: 0, pausedTicks: 50 });
    expect(paused!.world.collidersMove()).toBe(false);
    // the same inputs, which wake a resting room
    plain!.run(40, [{ type: "tune", member: 1, timeScale: 1 }]);
    paused!.run(40, [{ type: "tune", member: 1, timeScale: 1 }]);
    expect(streamed(paused!)).toEqual(streamed(plain!));
    expect(streamed(paused!)).not.toEqual(before);
  });

  it("accepts inputs: a grab pulls once time continues", async () => {
    const room = await laboratory(parts());
    const grab: Input = { type: "grab", member: 1, grab: 0, body: 0, triangle: 0, u: 0.3, v: 0.3, target: [0, 3, 0] };
    room.run(1, [{ type: "tune", member: 1, timeScale: 0 }, grab]);
    const before = room.positions();
    room.run(20);
    expect(room.positions()).toEqual(before);
    room.run(30, [{ type: "tune", member: 1, timeScale: 2 }]);
    expect(room.positions()[1]! - before[1]!).toBeGreaterThan(0.2);
  });
});
