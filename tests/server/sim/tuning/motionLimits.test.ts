/**
 * The scene bounds all values that visitors may set: each end of each range is accepted and the next value is refused.
 * No body moves further than MOST_SIZES of its sizes in a substep. This is a sample of the benchmark's part `extremes`,
 * with counts instead of times; `npm run test:long` has all bundled scenes.
 */
import { verificationRate } from "../../../../server/sim/scene/substeps.ts";
import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { drive } from "../../../../load-tests/extremes/drive.ts";
import { type Knob, knobsOf } from "../../../../load-tests/extremes/knobs.ts";
import { checkRanges } from "../../../../server/rooms/inputs/requestRanges.ts";
import { createWorld, type CreatedWorld } from "../../../../server/sim/world/createWorld.ts";
import { applyInput } from "../../../../server/sim/grabs/applyGrabs.ts";
import { instantiateKernel } from "../../../../server/sim/world/kernelModule.ts";
import { MOST_SIZES, mostPushSpeed } from "../../../../server/sim/tuning/motionLimits.ts";
import { readScene } from "../../../../server/sim/scene/readScene.ts";
import type { Input, SimEvent } from "../../../../server/sim/types.ts";
import { openWorld } from "../../../../server/sim/world.ts";
import type { RoomShape } from "../../../../server/workers/messages.ts";
import type { Body, Scene } from "../../../../shared/scene/scene.ts";
import { validateScene } from "../../../../shared/scene/sceneValidator.ts";
import {
  type BodyField,
  type Span,
  spanText,
  type TuningChange,
  within,
} from "../../../../shared/members/tuningLimits.ts";
import { laboratory } from "../../../physics/laboratory.ts";
import { inLong } from "../../../support/run/long.ts";

const SCENES = readdirSync("scenes")
  .filter((file) => file.endsWith(".json") && file !== "schema.json")
  .map((file) => file.slice(0, -5));
const built = async (name: string): Promise<CreatedWorld> =>
  createWorld(await readScene(`scenes/${name}.json`), { baseDir: "scenes" });
const shapeOf = ({ layout }: CreatedWorld): RoomShape =>
  ({ tunable: layout.tuned.bodies, tuning: layout.limits }) as RoomShape;
const tuneOf = (change: TuningChange): Extract<Input, { type: "tune" }> => ({ type: "tune", member: 1, ...change });

describe.each(inLong(SCENES, ["jelly-stack", "one-sheet", "flag-in-the-wind", "smoke"]))("%s", (name) => {
  test("accepts each end of each range, and refuses values beyond with field, value and limit", async () => {
    const created = await built(name);
    const { limits, tuned } = created.layout;
    const shape = shapeOf(created);
    const world = openWorld(created.memory, created.layout);
    for (const knob of knobsOf(created.layout))
      for (const change of knob.changes) {
        expect(checkRanges({ type: "tune", ...change }, shape), knob.name).toBeNull();
        // Each change starts from the scene's values. The time scale is 0, so nothing moves.
        const { events } = world.step([tuneOf({ asScene: true }), tuneOf({ timeScale: 0 }), tuneOf(change)]);
        expect(
          events.map(({ type }) => type),
          knob.name,
        ).toEqual(["tuned"]);
      }
    const refused = (change: TuningChange): unknown => checkRanges({ type: "tune", ...change }, shape);
    const beyond = 1.01 * limits.gravity;
    expect(refused({ gravity: [0, beyond, 0] })).toEqual({
      field: "gravity",
      value: beyond,
      limit: `a vector of at most ${limits.gravity} m/s^2`,
    });
    expect(refused({ wind: { velocity: [0, 0, 1.01 * limits.wind.velocity] } })).toMatchObject({
      field: "wind.velocity",
    });
    limits.bodies.forEach((spans, body) => {
      for (const [field, span] of Object.entries(spans) as [BodyField, Span][]) {
        expect(within(tuned.bodies[body]![field]!, span), `the scene's own ${field}`).toBe(true);
        const value = 1.01 * span.most;
        const said = refused({ body, [field]: value });
        expect(said).toEqual({ field, value, limit: spanText(field, span) });
      }
    });
  });
});

test("gravity of a million is refused in every bundled scene with the finding, and none allows 100", async () => {
  for (const name of ["jelly-stack", "drape"]) {
    const created = await built(name);
    expect(created.layout.limits.gravity).toBeLessThan(100);
    expect(checkRanges({ type: "tune", gravity: [0, -1e6, 0] }, shapeOf(created))).toMatchObject({
      field: "gravity",
      value: 1e6,
    });
  }
});

/** Displacement of body 0's center in each substep, in its sizes. */
async function ways(
  scene: Partial<Scene> & Pick<Scene, "bodies">,
  ticks: number,
  inputs: () => Input[] = () => [],
): Promise<{ found: number[]; events: SimEvent[] }> {
  const { created, world } = await laboratory(scene);
  const { first, count, size } = created.layout.bodies[0]!;
  const x = new Float32Array(created.memory.buffer, created.layout.x + 16 * first, 4 * count);
  const center = (): number[] =>
    [0, 1, 2].map((r) => Array.from({ length: count }, (_, i) => x[4 * i + r]!).reduce((sum, c) => sum + c, 0) / count);
  const found: number[] = [];
  let before = center();
  world.watchSubsteps(() => {
    const now = center();
    found.push(Math.hypot(...now.map((c, r) => c - before[r]!)) / size);
    before = now;
  });
  const events = Array.from({ length: ticks }, () => world.step(inputs()).events).flat();
  return { found, events };
}

const grain = (more: Partial<Body> = {}): Body =>
  ({
    name: "grain",
    kind: "soft",
    mesh: { type: "box", size: [0.02, 0.02, 0.02], cells: [1, 1, 1] },
    material: { density: 1000, youngsModulus: 1e5, poissonsRatio: 0.3, damping: 0 },
    ...more,
  }) as Body;

describe("no body moves further than MOST_SIZES in a substep", () => {
  const room = { tickHz: 60, substeps: 4, worldRadius: 1e5 };
  test("that falls without end: it falls at a constant speed, and the room continues", async () => {
    const { found, events } = await ways({ ...room, gravity: [0, -20, 0], bodies: [grain()] }, 240);
    expect(events).toEqual([]);
    expect(Math.max(...found)).toBeLessThanOrEqual(MOST_SIZES + 0.5);
    expect(found.at(-1)).toBeGreaterThan(MOST_SIZES - 0.01);
  });

  test("that is pushed with the maximum impulse in every tick", async () => {
    const push: Input = { type: "impulse", member: 1, body: 0, triangle: 0, u: 0.3, v: 0.3, impulse: [19, 0, 0] };
    const { found } = await ways({ ...room, bodies: [grain()] }, 60, () => [push]);
    expect(Math.max(...found)).toBeGreaterThan(0.2);
    expect(Math.max(...found)).toBeLessThanOrEqual(MOST_SIZES);
  });

  test("except with an initial velocity of its scene, which is kept to the bit", async () => {
    const velocity: [number, number, number] = [0, 0, 3 * MOST_SIZES * Math.sqrt(3) * 0.02 * 240];
    const { found } = await ways({ ...room, bodies: [grain({ velocity })] }, 10);
    expect(Math.min(...found)).toBeCloseTo(3 * MOST_SIZES, 3);
  });
});

test("the momentum of a strong impulse arrives whole, and no particle gets more than mostPushSpeed from its own share", async () => {
  const { memory, layout } = await built("jelly-stack");
  const f32 = new Float32Array(memory.buffer);
  const body = layout.bodies[0]!;
  const of = (array: number, p: number, r: number): number => f32[array / 4 + 4 * p + r]!;
  const J = layout.interaction.maxImpulse;
  const input: Input = { type: "impulse", member: 1, body: 0, triangle: 8, u: 0.3, v: 0.3, impulse: [J, 0, 0] };
  const views = { f32, i32: new Int32Array(memory.buffer) };
  expect(applyInput(views, layout, instantiateKernel(memory), input, 0, () => false)).toBeUndefined();
  const most = mostPushSpeed(body, 1 / verificationRate(layout));
  let momentum = 0;
  const speeds: number[] = [];
  for (let p = body.first; p < body.first + body.count; p++) {
    momentum += (layout.massUnit / of(layout.x, p, 3)) * of(layout.v, p, 0);
    speeds.push(of(layout.v, p, 0));
  }
  // 245 particles, each velocity rounded to float32
  expect(momentum / J).toBeCloseTo(1, 6);
  const whole = Math.min(...speeds);
  expect(whole).toBeGreaterThan(0);
  expect(Math.max(...speeds) - whole).toBeCloseTo(most, 3);
});

test("a combination of heavier, softer and stronger pull is refused, with the body and an allowed value", async () => {
  const created = await built("jelly-stack");
  const world = openWorld(created.memory, created.layout);
  const { density, youngsModulus } = created.layout.limits.bodies[0]!;
  const both = [
    tuneOf({ gravity: [0, -created.layout.limits.gravity, 0] }),
    tuneOf({ body: 0, youngsModulus: youngsModulus!.least }),
    tuneOf({ body: 0, density: density!.most }),
  ];
  const refused = world.step(both).events.filter(({ type }) => type === "inputRejected");
  expect(refused.length).toBeGreaterThan(0);
  for (const event of refused)
    expect(event).toMatchObject({
      field: expect.stringMatching(/^(density|youngsModulus)$/),
      limit: expect.stringMatching(/^[<>]= [\d.e+-]+: more weight would crush body 0$/),
    });
});

test.each([
  ["/gravity", { gravity: [0, -1e6, 0] }],
  ["/wind/velocity", { wind: { velocity: [900, 0, 0] } }],
  ["/interaction/grabSpeed", { interaction: { grabSpeed: 1e6 } }],
  ["/bodies/0/loads", { bodies: [grain({ loads: [{ select: { particles: [0] }, force: [1e6, 0, 0] }] })] }],
] as const)("a scene whose %s alone moves a body too far is refused, with body and limit", async (path, change) => {
  const scene = { version: 1, title: "t", substeps: 4, bodies: [grain()], ...change };
  await expect(createWorld(validateScene(scene), { baseDir: "." })).rejects.toMatchObject({
    path,
    limit: expect.stringMatching(/^at most .* more moves body grain by 4 of its sizes/),
  });
});

describe("extremes with three grabs: bodies stay intact, in their world and within the displacement limit", () => {
  const MARKED = /^(gravity|wind most|density|youngsModulus|impulses|spawn)/;
  test.each(inLong(SCENES, ["put-in"]))("%s", async (name) => {
    const created = await built(name);
    const knobs: Knob[] = knobsOf(created.layout).filter((knob) => inLong(true, MARKED.test(knob.name)));
    for (const knob of knobs) {
      const seconds = inLong(10, 0.1);
      const { sizes, broken, refused, hash } = drive(name, created, knob, {
        hands: 3,
        seconds,
        atMostSeconds: Infinity,
      });
      const what = `${knob.name}, ${hash}`;
      expect(sizes, what).toBeLessThanOrEqual(MOST_SIZES);
      expect(broken, what).toBe(0);
      expect(refused, what).toEqual([]);
    }
  });
});
