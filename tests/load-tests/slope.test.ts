/** A slope with its standard error: exact for a line, equal to a sum by hand for scattered points. */
import { expect, test } from "vitest";
import { slopeOf } from "../../load-tests/visitors/slope.ts";

test("a line has its slope, and no error", () => {
  const { slope, error, mean } = slopeOf([1, 2, 4, 9], [5, 7, 11, 21]);
  expect(slope).toBeCloseTo(2, 12);
  expect(error).toBeCloseTo(0, 12);
  expect(mean).toBe(11);
});

test("three points that scatter: 0 +- sqrt(1/3)", () => {
  const { slope, error } = slopeOf([0, 1, 2], [0, 1, 0]);
  expect(slope).toBeCloseTo(0, 12);
  expect(error).toBeCloseTo(Math.sqrt(1 / 3), 12);
});

test("two points give no standard error", () => {
  expect(() => slopeOf([0, 1], [0, 1])).toThrow(RangeError);
});
