/**
 * Spawnable bodies in the simulation. Before their spawn they take no part. A spawn puts a body where nothing is nearer
 * than the contact distance, or on request at the lowest such place above. From then on nothing passes through it, and
 * the same inputs give the same bits. Free places are computed by hand and by the checker's exact test.
 */
import { describe, expect, test } from "vitest";
import type { Body, Collider, Scene } from "../../../shared/scene/scene.ts";
import type { Input, SimEvent } from "../../../server/sim/types.ts";
import { StepWorkers } from "../../../server/sim/threads/stepWorkers.ts";
import { openWorld } from "../../../server/sim/world.ts";
import { encloses } from "../../../server/sim/spawn/inside.ts";
import { separation } from "../../../server/sim/spawn/separation.ts";
import { randomStream } from "../../parity/kit.ts";
import { watch } from "../contact/contactWatch.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";
import { lowest } from "../measures.ts";

type V = [number, number, number];
const jelly = (name: string, size: number, more: Partial<Body> = {}): Body =>
  ({
    name,
    kind: "soft",
    mesh: { type: "box", size: [size, size, size], cells: [3, 3, 3] },
    material: { density: 500, youngsModulus: 40_000, poissonsRatio: 0.3 },
    contact: { thickness: 0.004 },
    ...more,
  }) as Body;
const ball = (name: string, radius: number, more: Partial<Body> = {}): Body =>
  ({
    name,
    kind: "ball",
    mesh: { type: "ball", radius, subdivisions: 2 },
    material: { density: 500 },
    ...more,
  }) as Body;
const cloth = (name: string, size: number, more: Partial<Body> = {}): Body =>
  ({
    name,
    kind: "cloth",
    mesh: { type: "grid", size: [size, size], cells: [8, 8] },
    material: { density: 300, thickness: 0.004, youngsModulus: 1e5, poissonsRatio: 0.3 },
    ...more,
  }) as Body;
const FLOOR: Collider = { type: "plane", name: "floor", normal: [0, 1, 0], offset: 0 };
const spawnable = { spawnable: true } as const;
/** Contact distance, m. Each of the two bodies contributes half. */
const THICKNESS = 0.004;

const spawn = (
  body: number,
  position: V,
  occupied: "refuse" | "lift" = "refuse",
  heading: [number, number] = [1, 0],
): Input => ({ type: "spawn", member: 1, body, position, heading, occupied });
const remove = (body: number): Input => ({ type: "remove", member: 1, body });
const types = (events: readonly SimEvent[]): string[] => events.map(({ type }) => type);

describe("a spawnable body takes no part", () => {
  const others = (spare: Body[]): Partial<Scene> & Pick<Scene, "bodies"> => ({
    bodies: [
      jelly("a", 0.3, { transform: { translate: [0, 0.4, 0] } }),
      cloth("c", 0.6, { transform: { translate: [0.05, 0.6, 0] } }),
      ...spare,
    ],
    colliders: [FLOOR],
    gravity: [0, -9.81, 0],
    substeps: 8,
  });

  test("its place in the scene file does not change a bit: among the other bodies, or beside them", async () => {
    const withdrawn = (place: V): Promise<Laboratory> =>
      laboratory(
        others([
          jelly("w", 0.3, { ...spawnable, transform: { translate: place } }),
          ball("b", 0.2, { ...spawnable, transform: { translate: place } }),
          cloth("n", 0.3, { ...spawnable, transform: { translate: place } }),
        ]),
      );
    const among = await withdrawn([0, 0.42, 0.1]);
    const beside = await withdrawn([2, 0.5, 0]);
    expect(among.run(60)).toEqual(beside.run(60));
    for (const body of [0, 1]) expect(among.positions(body)).toEqual(beside.positions(body));
    expect([...among.world.absent()]).toEqual([0, 0, 1, 1, 1]);
  });

  test("grabs and impulses on it are refused", async () => {
    const lab = await laboratory(others([jelly("w", 0.3, spawnable)]));
    expect(
      lab.run(1, [
        { type: "grab", member: 3, grab: 7, body: 2, triangle: 0, u: 0.2, v: 0.2, target: [0, 1, 0] },
        { type: "impulse", member: 3, body: 2, triangle: 0, u: 0.2, v: 0.2, impulse: [1, 0, 0] },
      ]),
    ).toMatchObject([
      { type: "inputRejected", member: 3, field: "body", value: 2, grab: 7 },
      { type: "inputRejected", member: 3, field: "body", value: 2 },
    ]);
  });

  test("a refused spawn lets a room sleep, a spawn wakes it", async () => {
    const lab = await laboratory({
      bodies: [jelly("a", 0.3, { transform: { translate: [0, 0.152, 0] } }), jelly("w", 0.2, spawnable)],
      colliders: [FLOOR],
      gravity: [0, -9.81, 0],
      damping: 5,
      substeps: 4,
    });
    lab.world.mayRest = true;
    for (let tick = 0; tick < 3600 && !lab.world.resting; tick++) lab.run(1);
    expect(lab.world.resting).toBe(true);
    expect(types(lab.run(1, [spawn(1, [0, 0.1, 0])]))).toEqual(["inputRejected"]);
    expect(lab.world.resting).toBe(true);
    expect(types(lab.run(1, [spawn(1, [1, 0.1, 0])]))).toEqual(["spawned"]);
    expect(lab.world.resting).toBe(false);
  });

  test("a room whose bodies all wait sleeps at once", async () => {
    const lab = await laboratory({
      bodies: [jelly("w", 0.2, spawnable)],
      colliders: [FLOOR],
      gravity: [0, -9.81, 0],
      substeps: 2,
    });
    lab.world.mayRest = true;
    lab.run(2);
    expect(lab.world.resting).toBe(true);
  });
});

describe("place of a spawn", () => {
  test("undeformed, with its underside's middle at the place, turned about y, at the scene's velocity", async () => {
    const lab = await laboratory({
      bodies: [
        jelly("a", 0.2),
        jelly("w", 0.2, { ...spawnable, transform: { translate: [5, 3, 1] }, velocity: [2, 0.5, 0] }),
      ],
      substeps: 1,
      tickHz: 240,
    });
    const rest = lab.positions(1);
    // half a turn to the left, seen from above: x goes to z
    expect(types(lab.run(1, [spawn(1, [1, 2, 3], "refuse", [0, 7])]))).toEqual(["spawned"]);
    const now = lab.positions(1);
    const v = [0, 0.5, 2];
    for (let i = 0; i < now.length; i += 3) {
      const [x, y, z] = [rest[i]! - 5, rest[i + 1]! - 2.9, rest[i + 2]! - 1];
      // one step later; float32 near 3 has steps of 2^-22
      [1 - z + v[0]! / 240, 2 + y + v[1]! / 240, 3 + x + v[2]! / 240].forEach((c, r) =>
        expect(Math.abs(now[i + r]! - c)).toBeLessThan(2e-6),
      );
    }
  });

  test.each<[string, Partial<Body>]>([
    [
      "plastic",
      {
        material: {
          density: 500,
          youngsModulus: 4e4,
          poissonsRatio: 0.3,
          plasticity: { yield: 0.01, creep: 10, max: 0.5 },
        },
      } as Partial<Body>,
    ],
    [
      "neo-Hookean",
      { material: { model: "neo-hookean", density: 500, youngsModulus: 4e4, poissonsRatio: 0.3 } } as Partial<Body>,
    ],
    ["Jacobi with Chebyshev", { sweep: { order: "jacobi", rho: 0.8 } }],
    [
      "a clump",
      {
        material: {
          model: "shape-matching",
          mode: "linear",
          density: 500,
          stiffness: 0.6,
          linearity: 0.3,
          plasticity: { yield: 0.01, creep: 5, max: 0.3 },
        },
      } as Partial<Body>,
    ],
    [
      "a balloon",
      {
        material: { model: "pbd", density: 500, distance: { compliance: 1e-5 }, volume: { compliance: 0, of: "body" } },
      } as Partial<Body>,
    ],
    ["rigid", { material: { model: "shape-matching", mode: "rigid", density: 500 } } as Partial<Body>],
  ])("a second spawn equals the first, without traces of earlier motion: %s", async (_, more) => {
    const lab = await laboratory({
      bodies: [
        jelly("a", 0.2, { transform: { translate: [3, 0.1, 0] } }),
        jelly("w", 0.2, { ...spawnable, ...more } as Partial<Body>),
      ],
      colliders: [FLOOR],
      gravity: [0, -30, 0],
      substeps: 6,
      iterations: 3,
    });
    const once = (): Float64Array => {
      expect(types(lab.run(1, [spawn(1, [0, 0.5, 0])]))).toEqual(["spawned"]);
      lab.run(40);
      return lab.positions(1);
    };
    const first = once();
    expect(types(lab.run(1, [remove(1)]))).toEqual(["removed"]);
    lab.run(5);
    expect(once()).toEqual(first);
  });

  test("pins fix it at its place", async () => {
    const lab = await laboratory({
      bodies: [jelly("a", 0.2), cloth("w", 0.4, { ...spawnable, pins: [{ select: { particles: [0, 8] } }] })],
      gravity: [0, -9.81, 0],
      substeps: 4,
    });
    lab.run(1, [spawn(1, [3, 2, 1])]);
    lab.run(60);
    const x = lab.positions(1);
    const pinned = [0, 8].map((p) => lab.created.bodies[1]!.origin.indexOf(p));
    pinned.forEach((p, n) => [2.8 + 0.4 * n, 2, 0.8].forEach((c, r) => expect(x[3 * p + r]).toBeCloseTo(c, 5)));
    expect(lowest(lab, 1)).toBeLessThan(1.8);
  });

  const room = (): Promise<Laboratory> =>
    laboratory({
      bodies: [
        jelly("there", 0.4, { transform: { translate: [0, 0.21, 0] } }),
        cloth("sheet", 0.4, { transform: { translate: [2, 0.5, 0] } }),
        ball("globe", 0.2, { transform: { translate: [4, 0.21, 0] } }),
        jelly("small", 0.1, spawnable),
        jelly("large", 0.6, spawnable),
        ball("marble", 0.05, spawnable),
        cloth("napkin", 0.2, spawnable),
        jelly("ghost", 0.1, { ...spawnable, contact: { ignore: ["there"] } }),
      ],
      colliders: [
        FLOOR,
        { type: "box", name: "block", center: [6, 0.3, 0], halfExtents: [0.3, 0.3, 0.3] },
        { type: "sphere", name: "knob", center: [8, 0.5, 0], radius: 0.05 },
        {
          type: "mesh",
          name: "statue",
          mesh: { type: "ball", radius: 0.3, subdivisions: 2 },
          transform: { translate: [10, 0.4, 0] },
        },
      ],
    });
  const SMALL = 3;
  const LARGE = 4;
  const MARBLE = 5;
  const NAPKIN = 6;
  const GHOST = 7;

  test.each<[string, number, V, object]>([
    ["a corner in a jelly", SMALL, [0.21, 0.2, 0], { body: 0 }],
    ["wholly inside a jelly", SMALL, [0, 0.15, 0], { body: 0 }],
    ["around a ball", LARGE, [4, 0.05, 0], { body: 2 }],
    ["nearer to a jelly than contact keeps", SMALL, [0.2 + 0.05 + 0.9 * THICKNESS, 0.2, 0], { body: 0 }],
    ["through a sheet", SMALL, [2, 0.45, 0], { body: 1 }],
    ["inside a ball", MARBLE, [4, 0.15, 0], { body: 2 }],
    ["a marble in a jelly", MARBLE, [0.05, 0.2, 0.02], { body: 0 }],
    ["a napkin in a jelly", NAPKIN, [0.02, 0.2, 0.01], { body: 0 }],
    ["below the floor", SMALL, [-3, -1, 0], { collider: 0 }],
    ["on the floor without the gap that it keeps", SMALL, [-3, 0.4 * THICKNESS, 0], { collider: 0 }],
    ["inside a block", SMALL, [6, 0.25, 0], { collider: 1 }],
    ["around a knob", LARGE, [8, 0.2, 0], { collider: 2 }],
    ["inside a statue", SMALL, [10, 0.35, 0], { collider: 3 }],
  ])("refused: %s", async (_, body, position, by) => {
    const lab = await room();
    const before = lab.world.stateHash();
    const [event, ...more] = lab.run(1, [spawn(body, position)]);
    const twin = await room();
    twin.run(1);
    expect(more).toEqual([]);
    expect(event).toMatchObject({ type: "inputRejected", member: 1, field: "position", by });
    expect((event as Extract<SimEvent, { type: "inputRejected" }>).limit).toMatch(
      /^at least [\d.e-]+ m from (body|collider) \d$/,
    );
    // nothing else has changed
    expect(lab.world.stateHash()).toBe(twin.world.stateHash());
    expect(lab.world.stateHash()).not.toBe(before);
  });

  test.each<[string, number, V]>([
    ["beside a jelly, as near as contact keeps it and a little more", SMALL, [0.2 + 0.05 + 1.05 * THICKNESS, 0.2, 0]],
    ["below a sheet", SMALL, [2, 0.1, 0]],
    ["on the floor", SMALL, [-3, 0.55 * THICKNESS, 0]],
    ["in what it passes through", GHOST, [0, 0.15, 0]],
  ])("accepted at once: %s", async (_, body, position) => {
    const lab = await room();
    expect(types(lab.run(1, [spawn(body, position)]))).toEqual(["spawned"]);
  });

  // raised from the requested place to the lowest free place above
  test.each<[string, number, V, number]>([
    ["out of a jelly, from inside", SMALL, [0, 0.15, 0], 0.41 + THICKNESS],
    ["out of a jelly, from a corner", SMALL, [0.21, 0.1, 0], 0.41 + THICKNESS],
    ["through a sheet", SMALL, [2, 0.45, 0], 0.5 + THICKNESS],
    ["out of the floor", SMALL, [-3, -0.7, 0], 0.5 * THICKNESS],
    ["out of a block", SMALL, [6, 0.2, 0], 0.6 + 0.5 * THICKNESS],
    ["over a knob that it is around", LARGE, [8, 0.2, 0], 0.55 + 0.5 * THICKNESS],
    ["over a ball", SMALL, [4, 0.2, 0], 0.41 + 0.5 * THICKNESS],
    ["where it is free already", SMALL, [-3, 0.3, 0], 0.3],
  ])("raised: %s", async (_, body, position, height) => {
    const lab = await room();
    expect(types(lab.run(1, [spawn(body, position, "lift")]))).toEqual(["spawned"]);
    const found = lowest(lab, body);
    expect(found).toBeGreaterThanOrEqual(height - 1e-6);
    // headroom is 2^-21 of the farthest coordinate, and so is the search
    expect(found).toBeLessThan(height + 3 * 2 ** -21 * 10);
    expect(lab.run(5).filter((e) => e.type === "tangled")).toEqual([]);
  });

  test("spawns into a crowd keep every pair of triangles apart at the lowest free height, by brute force", async () => {
    const random = randomStream(11);
    const bodies = [0, 1, 2, 3].map((n) =>
      jelly(`b${n}`, 0.15 + 0.05 * n, {
        transform: {
          translate: [0.25 * random(), 0.3 + 0.45 * n, 0.25 * random()],
          rotate: [90 * random(), 90 * random(), 90 * random()],
        },
      }),
    );
    const lab = await laboratory({ bodies: [...bodies, jelly("w", 0.2, spawnable)] });
    const { layout } = lab.created;
    const tris = (b: number): Float64Array[] => {
      const x = lab.positions(b);
      const { triangles } = lab.created.bodies[b]!;
      return Array.from({ length: triangles.length / 3 }, (_, t) =>
        Float64Array.from([0, 1, 2].flatMap((k) => [0, 1, 2].map((r) => x[3 * triangles[3 * t + k]! + r]!))),
      );
    };
    const there = [0, 1, 2, 3].map((b) => ({
      triangles: tris(b),
      shell: { x: lab.positions(b), triangles: Int32Array.from(lab.created.bodies[b]!.triangles) },
    }));
    let raised = 0;
    let asked = 0;
    for (let n = 0; n < 12; n++) {
      const place: V = [0.3 * random(), 0.2 + 0.8 * (1 + random()), 0.3 * random()];
      // nothing has moved: there is no gravity, and every spawned body is removed again
      expect(types(lab.run(1, [spawn(4, place, "lift", [random(), 1])]))).toEqual(["spawned"]);
      const height = lowest(lab, 4) - place[1];
      const own = tris(4);
      const inner = lab.positions(4);
      const { first } = layout.bodies[4]!;
      expect(first).toBeGreaterThan(0);
      const least = (down: number): number =>
        Math.min(
          ...there.map(({ triangles, shell }) => {
            if (encloses(shell, inner[0]!, inner[1]! - down, inner[2]!)) return 0;
            return Math.min(
              ...triangles.map((t) =>
                own.reduce(
                  (d, u) =>
                    Math.min(
                      d,
                      separation(
                        t,
                        u.map((c, k) => (k % 3 === 1 ? c - down : c)),
                        THICKNESS,
                      ),
                    ),
                  Infinity,
                ),
              ),
            );
          }),
        );
      // float32 near 1 has steps of 2^-23
      expect(least(0)).toBeGreaterThanOrEqual(THICKNESS - 2 ** -22);
      if (height > 1e-3) {
        raised++;
        for (let k = 1; k <= 12; k++, asked++) expect(least((k / 12) * height)).toBeLessThan(THICKNESS);
      }
      lab.run(1, [remove(4)]);
    }
    expect(raised).toBeGreaterThan(4);
    expect(asked).toBe(12 * raised);
  });

  test("no free place above is refused: beside a wall without an end, and under the world's limit", async () => {
    const lab = await laboratory({
      bodies: [jelly("a", 0.2), jelly("w", 0.2, spawnable)],
      colliders: [{ type: "plane", normal: [1, 0, 0], offset: -1 }],
      worldRadius: 20,
    });
    expect(lab.run(1, [spawn(1, [-1, 0, 0], "lift")])).toMatchObject([{ type: "inputRejected", by: { collider: 0 } }]);
    expect(lab.run(1, [spawn(1, [5, 19.9, 0], "lift")])).toMatchObject([
      { type: "inputRejected", field: "position", limit: "all of the body within 20 m of the world's origin" },
    ]);
  });

  test("a spawned body is in the way of the next spawn, a removed one is not", async () => {
    const lab = await room();
    expect(types(lab.run(1, [spawn(SMALL, [-3, 0.1, 0]), spawn(GHOST, [-3, 0.12, 0])]))).toEqual([
      "spawned",
      "inputRejected",
    ]);
    expect(types(lab.run(1, [remove(SMALL), spawn(GHOST, [-3, 0.12, 0])]))).toEqual(["removed", "spawned"]);
  });

  test.each<[string, Input[], object]>([
    [
      "one that is always there",
      [spawn(0, [9, 9, 9])],
      { field: "body", value: 0, limit: "a spawnable body: 3, 4, 5, 6, 7" },
    ],
    [
      "one that is there",
      [spawn(SMALL, [-3, 1, 0]), spawn(SMALL, [-4, 1, 0])],
      { field: "body", value: SMALL, limit: "a body that is absent: this one is in the scene" },
    ],
    [
      "one that waits",
      [remove(SMALL)],
      { field: "body", value: SMALL, limit: "a body in the scene: this one is absent" },
    ],
    ["a heading of no length", [spawn(SMALL, [-3, 1, 0], "refuse", [0, 0])], { field: "heading", value: 0 }],
  ])("refused: %s", async (_, inputs, refusal) => {
    expect((await room()).run(1, inputs).at(-1)).toMatchObject({ type: "inputRejected", member: 1, ...refusal });
  });
});

test("a moving collider is in the way at its current place", async () => {
  const lab = await laboratory({
    bodies: [jelly("a", 0.1, { transform: { translate: [5, 0, 0] } }), jelly("w", 0.1, spawnable)],
    colliders: [
      {
        type: "box",
        center: [0, 0, 0],
        halfExtents: [0.2, 0.2, 0.2],
        motion: { keys: [{ time: 0 }, { time: 1, translate: [2, 0, 0] }] },
      },
    ],
    substeps: 2,
  });
  lab.run(60);
  expect(types(lab.run(1, [spawn(1, [2, 0, 0])]))).toEqual(["inputRejected"]);
  expect(types(lab.run(1, [spawn(1, [0, 0, 0])]))).toEqual(["spawned"]);
});

test("nothing passes through bodies that are spawned on each other, removed and respawned in motion", async () => {
  const bodies = [
    jelly("a", 0.3, { transform: { translate: [0, 0.16, 0] } }),
    jelly("b", 0.2, spawnable),
    ball("c", 0.06, spawnable),
    cloth("d", 0.5, spawnable),
  ];
  const { events, findings, frames } = await watch({
    scene: { bodies, colliders: [FLOOR], gravity: [0, -9.81, 0], substeps: 6 },
    ticks: 90,
    inputs: (_, tick) =>
      tick === 5
        ? [spawn(1, [0.05, 0.1, 0.02], "lift")]
        : tick === 12
          ? [spawn(2, [0, 0, 0], "lift")]
          : tick === 20
            ? [spawn(3, [0.02, 0.2, 0], "lift", [1, 1])]
            : tick === 50
              ? [remove(1)]
              : tick === 55
                ? [spawn(1, [0, 0.1, 0], "lift")]
                : [],
  });
  expect(types(events)).toEqual(["spawned", "spawned", "spawned", "removed", "spawned"]);
  expect(frames).toBe(541);
  expect(findings).toEqual([]);
});

describe("the same inputs, the same bits", () => {
  const bodies = [
    jelly("a", 0.3, { transform: { translate: [0, 0.16, 0] } }),
    jelly("b", 0.2, spawnable),
    ball("c", 0.06, spawnable),
  ];
  const make = (): Promise<Laboratory> =>
    laboratory({ bodies, colliders: [FLOOR], gravity: [0, -9.81, 0], substeps: 4 });
  const script = (tick: number): Input[] =>
    tick === 3
      ? [spawn(1, [0.05, 0.1, 0.02], "lift", [2, 1])]
      : tick === 9
        ? [spawn(2, [0.1, 0, 0], "lift"), spawn(2, [0, 0, 0])]
        : tick === 20
          ? [remove(1)]
          : tick === 24
            ? [spawn(1, [0, 0.2, 0], "lift")]
            : [];

  test("again, and with a new world object every tick", async () => {
    const [one, two] = [await make(), await make()];
    for (let tick = 0; tick < 40; tick++) {
      one.run(1, script(tick));
      const world = openWorld(two.created.memory, two.created.layout);
      world.mayRest = false;
      world.step(script(tick));
    }
    expect(openWorld(two.created.memory, two.created.layout).stateHash()).toBe(one.world.stateHash());
  });

  test("with one thread and with three", async () => {
    const [one, three] = [await make(), await make()];
    const workers = await StepWorkers.start(three.world, three.created.memory, 3);
    try {
      for (let tick = 0; tick < 40; tick++) {
        one.run(1, script(tick));
        workers.step(script(tick));
      }
    } finally {
      await workers.stop();
    }
    expect(three.world.stateHash()).toBe(one.world.stateHash());
  });

  test("after a reset all spawnable bodies are out, and the same script gives the same bits", async () => {
    const lab = await make();
    const hashes: Float64Array[][] = [];
    for (let round = 0; round < 2; round++) {
      for (let tick = 0; tick < 40; tick++)
        lab.run(1, [...(round === 1 && tick === 0 ? [{ type: "reset", member: 1 } as const] : []), ...script(tick)]);
      hashes.push([0, 1, 2].map((b) => lab.positions(b)));
      if (round === 0) {
        lab.run(1, [{ type: "reset", member: 1 }]);
        expect([...lab.world.absent()]).toEqual([0, 1, 1]);
      }
    }
    expect(hashes[1]).toEqual(hashes[0]);
  });

  test("a scene 1024 times as small decides alike, to the bit", async () => {
    const places = async (s: number): Promise<number[][]> => {
      const sized = (name: string, size: number, more: Partial<Body>): Body =>
        ({
          ...jelly(name, s * size, more),
          material: { density: 500, youngsModulus: 40_000 * s * s, poissonsRatio: 0.3 },
          contact: { thickness: s * THICKNESS },
        }) as Body;
      const lab = await laboratory({
        bodies: [
          sized("a", 0.3, { transform: { translate: [0, 0.16 * s, 0] } }),
          sized("b", 0.2, spawnable),
          ball("c", 0.06 * s, spawnable),
        ],
        colliders: [FLOOR, { type: "sphere", center: [0.3 * s, 0, 0], radius: 0.1 * s }],
        worldRadius: 100 * s,
        substeps: 2,
      });
      return (
        [
          [1, [0.05, 0.1, 0.02]],
          [2, [0.1, 0, 0]],
        ] as [number, V][]
      ).map(([body, position]) => {
        expect(types(lab.run(1, [spawn(body, position.map((c) => s * c) as V, "lift", [2, 1])]))).toEqual(["spawned"]);
        return Array.from(lab.positions(body), (c) => c / s);
      });
    };
    expect(await places(2 ** -10)).toEqual(await places(1));
  });
});
