/** Mean and 99th percentile of the newest values, against their definitions. */
import { expect, test } from "vitest";
import { RecentTimes } from "../../../../server/rooms/ticks/recentTimes.ts";

test("without values 0; a single value is mean, median and p99", () => {
  const times = new RecentTimes(4);
  expect(times.summary()).toEqual({ mean: 0, p10: 0, median: 0, p99: 0 });
  times.add(0.25);
  expect(times.summary()).toEqual({ mean: 0.25, p10: 0.25, median: 0.25, p99: 0.25 });
});

test("p99 of 1 to 200 is 198 in any order: 99 % of 200 values are 198", () => {
  const times = new RecentTimes(200);
  // 77 and 200 share no divisor: every number comes once.
  for (let i = 0; i < 200; i++) times.add(1 + ((i * 77) % 200));
  expect(times.summary()).toEqual({ mean: 100.5, p10: 20, median: 100, p99: 198 });
});

test("the oldest values are dropped", () => {
  const times = new RecentTimes(4);
  for (const value of [1000, 1000, 1, 2, 3, 4]) times.add(value);
  expect(times.summary()).toEqual({ mean: 2.5, p10: 1, median: 2, p99: 4 });
});
