/** Adaptive quality reduces one feature at a time, only for lasting slowness, and never at a fixed level. */
import { expect, test } from "vitest";
import {
  AFFORDABLE_MS,
  LEVELS,
  QualityGovernor,
  SOFTWARE_LEVEL,
} from "../../../../client/view/stage/pictureQuality.ts";

/** Draws at a steady rate and returns how often the level was lowered. */
function drawn(governor: QualityGovernor, fps: number, seconds: number, fromMs = 0): number {
  let lowered = 0;
  for (let ms = fromMs; ms < fromMs + 1000 * seconds; ms += 1000 / fps) if (governor.frame(ms, 1000 / fps)) lowered++;
  return lowered;
}

test("each level needs no more than the one before", () => {
  for (let i = 1; i < LEVELS.length; i++) {
    const [before, here] = [LEVELS[i - 1]!, LEVELS[i]!];
    expect(here.pixelRatio).toBeLessThanOrEqual(before.pixelRatio);
    expect(here.shadowMap).toBeLessThanOrEqual(before.shadowMap);
    expect(Number(here.softShadows)).toBeLessThanOrEqual(Number(before.softShadows));
    expect(here.pixelRatio * here.fluids).toBeLessThanOrEqual(before.pixelRatio * before.fluids);
    expect(Number(here.environment)).toBeLessThanOrEqual(Number(before.environment));
  }
  expect(LEVELS.at(-1)!.shadowMap).toBe(0);
});

test("full screen resolution is the last feature to be reduced", () => {
  for (const { pixelRatio, shadowMap, environment } of LEVELS)
    if (pixelRatio < 1) expect([shadowMap, environment]).toEqual([0, false]);
  expect(LEVELS[SOFTWARE_LEVEL]!.pixelRatio).toBe(1);
});

test("a renderer that starts low climbs to the best affordable level, and tries at most one level above", () => {
  const climb = (costs: number[]): { level: number; asked: number[] } => {
    const governor = new QualityGovernor(SOFTWARE_LEVEL);
    const asked: number[] = [];
    const changed = governor.climb((level) => {
      asked.push(level);
      return costs[level]! * AFFORDABLE_MS;
    });
    expect(changed).toBe(governor.level !== SOFTWARE_LEVEL);
    return { level: governor.level, asked };
  };
  expect(climb([9, 9, 9, 2, 1.5])).toEqual({ level: 4, asked: [4] });
  expect(climb([9, 9, 1.2, 0.8, 0.4])).toEqual({ level: 3, asked: [4, 3, 2] });
  expect(climb([0.9, 0.7, 0.5, 0.3, 0.2])).toEqual({ level: 0, asked: [4, 3, 2, 1, 0] });
  const pinned = new QualityGovernor(SOFTWARE_LEVEL, true);
  expect(pinned.climb(() => 0)).toBe(false);
});

test("thirty pictures a second are enough", () => {
  const governor = new QualityGovernor(0);
  expect(drawn(governor, 30, 20)).toBe(0);
});

test("lasting slowness lowers level by level, to the last and no further", () => {
  const governor = new QualityGovernor(0);
  expect(drawn(governor, 6, 6)).toBe(1);
  expect(drawn(governor, 6, 90, 6000)).toBe(LEVELS.length - 2);
  expect(governor.level).toBe(LEVELS.length - 1);
});

test("at ten pictures a second the screen's own resolution stays", () => {
  const governor = new QualityGovernor(0);
  drawn(governor, 10, 120);
  expect(LEVELS[governor.level]!.pixelRatio).toBe(1);
  expect(LEVELS[governor.level + 1]!.pixelRatio).toBeLessThan(1);
});

test("a pause does not count as slowness", () => {
  const governor = new QualityGovernor(0);
  for (let ms = 0; ms < 60_000; ms += 2000) expect(governor.frame(ms, 2000)).toBe(false);
});

test("a fixed level stays", () => {
  const governor = new QualityGovernor(0, true);
  expect(drawn(governor, 3, 60)).toBe(0);
});
