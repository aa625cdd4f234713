/** Impacts found in positions: a bounce sounds once, free fall, rest and pulls do not. */
import { expect, test } from "vitest";
import { timbreOf } from "../../../client/sound/contactSounds.ts";
import { type Impact, Impacts } from "../../../client/sound/impacts.ts";
import { frequencyOf } from "../../../client/sound/voices.ts";

const STEP = 1 / 30;

/** Impacts of bodies of four particles each, whose middles have these heights at each step. */
function impactsOf(heights: readonly (readonly number[])[], silent: readonly boolean[] = []): Impact[][] {
  const positions = new Float32Array(12 * heights.length);
  const bodies = heights.map((_, body) => ({
    first: 4 * body,
    count: 4,
    mass: 1,
    silent: () => silent[body] ?? false,
  }));
  const impacts = new Impacts(bodies);
  return heights[0]!.map((_, step) => {
    for (const [body, { first }] of bodies.entries())
      for (let p = 0; p < 4; p++) positions.set([body + (p % 2), heights[body]![step]! + (p >> 1), 0], 3 * (first + p));
    return impacts.at(step, step * STEP, positions);
  });
}

/** Heights of a drop from 1 m that bounces with this restitution. */
function drop(restitution: number, steps = 90): number[] {
  let [height, speed] = [1, 0];
  return Array.from({ length: steps }, () => {
    speed -= 9.81 * STEP;
    height += speed * STEP;
    if (height < 0) [height, speed] = [0, -restitution * speed];
    return height;
  });
}

test("a drop is silent until it lands, and then sounds once with the change of its velocity", () => {
  const found = impactsOf([drop(0)]);
  const landed = found.findIndex((impacts) => impacts.length > 0);
  expect(landed * STEP).toBeCloseTo(Math.sqrt(2 / 9.81), 1);
  const [first, ...rest] = found.flat();
  expect(rest).toEqual([]);
  expect(first).toMatchObject({ body: 0 });
  expect(first!.speed).toBeGreaterThan(3);
  expect(first!.speed).toBeLessThan(6);
  expect(first!.at[1]).toBeCloseTo(0.5);
});

test("rest, a constant motion and a pulled body are silent", () => {
  const still = new Array<number>(60).fill(0);
  const moving = still.map((_, step) => 3 * step * STEP);
  expect(impactsOf([still, moving]).flat()).toEqual([]);
  expect(impactsOf([drop(0.5)], [true]).flat()).toEqual([]);
});

test("a body that is put in elsewhere makes no sound before it lands", () => {
  const heights = [0, 0, 0, 7, ...drop(0, 60)];
  const positions = new Float32Array(3);
  let tick = 0;
  const impacts = new Impacts([{ first: 0, count: 1, mass: 1, silent: () => tick < 4 }]);
  const found = heights.flatMap((height, step) => {
    tick = step;
    positions[1] = height;
    return impacts.at(step, step * STEP, positions).map(() => step);
  });
  expect(found.length).toBe(1);
  expect(found[0]! - 4).toBeGreaterThan(10);
});

test("a jump in time is no impact, and a harder landing is louder", () => {
  const positions = new Float32Array(3);
  const impacts = new Impacts([{ first: 0, count: 1, mass: 1, silent: () => false }]);
  for (const [seconds, height] of [
    [0, 0],
    [STEP, 0],
    [60, 5],
    [60 + STEP, 5],
    [3, 1],
    [3 + STEP, 1],
  ] as const) {
    positions[1] = height;
    expect(impacts.at(0, seconds, positions)).toEqual([]);
  }
  const low = drop(0).map((height) => height / 4);
  const [loud, soft] = [impactsOf([drop(0)]).flat()[0]!, impactsOf([low]).flat()[0]!];
  expect(loud.loudness).toBeGreaterThan(2 * soft.loudness);
});

test("of many simultaneous impacts only the strongest four sound", () => {
  const heights = Array.from({ length: 20 }, (_, n) => drop(0, 40).map((height) => height * (1 + n / 10)));
  const found = impactsOf(heights).filter((impacts) => impacts.length > 0);
  expect(Math.max(...found.map((impacts) => impacts.length))).toBe(4);
  for (const impacts of found)
    expect(impacts.map(({ loudness }) => loudness)).toEqual(
      [...impacts].map(({ loudness }) => loudness).sort((a, b) => b - a),
    );
});

test("the timbre follows the material, and large bodies sound lower within bounds", () => {
  expect(timbreOf({ kind: "soft", look: {} })).toBe("soft");
  expect(timbreOf({ kind: "soft", look: { finish: "metal" } })).toBe("metal");
  expect(timbreOf({ kind: "soft", look: { finish: "clay" } })).toBe("hard");
  expect(timbreOf({ kind: "ball", look: {} })).toBe("hard");
  expect(timbreOf({ kind: "cloth", look: { finish: "silk" } })).toBe("cloth");
  expect(frequencyOf({ timbre: "hard", size: 0.1 })).toBeGreaterThan(frequencyOf({ timbre: "hard", size: 1 }));
  expect([0, 1e9].map((size) => frequencyOf({ timbre: "metal", size }))).toEqual([2400, 45]);
});
