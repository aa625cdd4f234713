/**
 * The contract of golden.test.ts for solver "implicit", which no bundled scene uses: any number of threads and a reset
 * give the same bits. The hash includes the float64 state behind the particles.
 */
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import type { Body } from "../../shared/scene/scene.ts";
import { createWorld, type CreatedWorld } from "../../server/sim/world/createWorld.ts";
import type { Input } from "../../server/sim/types.ts";
import { openWorld } from "../../server/sim/world.ts";
import { hashOf } from "./run.ts";
import { clothGrid, softBox } from "../support/bodies.ts";

const sheet = (n: number, solver: "compliant" | "implicit"): Body =>
  clothGrid(`sheet ${n} ${solver}`, [1, 1], [20, 20], {
    solver,
    contact: { self: false, ignore: [0, 1, 2].flatMap((m) => (m === n ? [] : [`sheet ${m} implicit`])) },
    transform: { translate: [1.2 * n, 1, solver === "implicit" ? 0 : 2] },
    pins: [{ select: { particles: [0, 20] } }],
    material: { density: 300, thickness: 0.001, youngsModulus: 1e6, poissonsRatio: 0.3, bendingStiffness: 1e-5 },
  });

function build(): Promise<CreatedWorld> {
  const bodies = [0, 1, 2].map((n) => sheet(n, "implicit"));
  const others = bodies.map(({ name }) => name);
  const soft: Body = softBox("block", [0.4, 0.4, 0.4], [8, 8, 8], {
    contact: { ignore: others },
    transform: { translate: [0, 3, 4] },
    material: { density: 500, youngsModulus: 5e4, poissonsRatio: 0.3 },
  });
  // between the sheets in memory, so that the particles of the implicit bodies are in two ranges
  const between: Body = { ...soft, name: "between", contact: { ignore: others }, transform: { translate: [2, 3, 4] } };
  return createWorld(
    {
      version: 1,
      title: "implicit",
      bodies: [bodies[0]!, between, bodies[1]!, bodies[2]!, soft],
      colliders: [{ type: "plane", name: "floor", normal: [0, 1, 0], offset: 0, ignore: others }],
    },
    { baseDir: "." },
  );
}

test("one, two and three threads give the same bits", async () => {
  const alone = await hashOf(await build(), { until: 8 });
  for (const threads of [2, 3])
    expect(await hashOf(await build(), { threads, until: 8 }), `${threads} threads`).toBe(alone);
});

test("bodies that touch each other have the same bits with one and three threads", async () => {
  const cube = (name: string, height: number, x: number): Body =>
    softBox(name, [0.2, 0.2, 0.2], [3, 3, 3], {
      solver: "implicit",
      transform: { translate: [x, height, 0], rotate: [0, 20 * x, 0] },
      material: { density: 1000, youngsModulus: 1e6, poissonsRatio: 0.3 },
    });
  const piles = (): Promise<CreatedWorld> =>
    createWorld(
      {
        version: 1,
        title: "piles",
        bodies: [cube("a", 0.11, 0), cube("b", 0.33, 0), cube("c", 0.11, 1), cube("d", 0.34, 1.05)],
        colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0 }],
      },
      { baseDir: "." },
    );
  const alone = await hashOf(await piles(), { until: 30 });
  expect(await hashOf(await piles(), { threads: 3, until: 30 })).toBe(alone);
});

test("a reset restores the initial state of the scene", async () => {
  const { memory, layout } = await build();
  const world = openWorld(memory, layout);
  const positions = (): string =>
    createHash("sha256")
      .update(new Uint8Array(memory.buffer, layout.x, 16 * layout.particleCount).slice())
      .digest("hex");
  const run = (first: readonly Input[]): string[] =>
    [first, [], [], []].map((inputs) => {
      world.step(inputs);
      return positions();
    });
  const once = run([]);
  expect(run([{ type: "reset", member: 1 }])).toEqual(once);
});

test("the hash includes float64 digits that float32 does not hold", async () => {
  const { memory, layout } = await build();
  const world = openWorld(memory, layout);
  world.step([]);
  const before = world.stateHash();
  const state = new Float64Array(memory.buffer, layout.states[0]!.address, 3);
  state[1]! += 2 ** -50;
  expect(world.stateHash()).not.toBe(before);
});
