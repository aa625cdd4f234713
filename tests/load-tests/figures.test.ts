/**
 * The benchmark's arithmetic: medians over runs, targets, hashes, and quantiles of a histogram between two readings.
 */
import { expect, test } from "vitest";
import { histogramQuantile, increase, parseMetrics, total } from "../../load-tests/metrics.ts";
import { quantile, ratioOf, type Row, summarize } from "../../load-tests/part.ts";

test("a quantile lies between its neighbours' ranks", () => {
  expect(quantile([4, 1, 3, 2], 0.5)).toBe(2.5);
  expect(quantile([7], 0.99)).toBe(7);
  expect(quantile([0, 10], 0.99)).toBeCloseTo(9.9, 12);
  expect(() => quantile([], 0.5)).toThrow(RangeError);
});

test("rows of several runs become one line, and the median is compared with the target", () => {
  const row = (value: number, hash: string) => ({ what: "step", unit: "ms", value, hash, target: { atMost: 8 } });
  const all = (...runs: Row[]) => summarize(runs.map((each) => ({ rows: [each], yardstickMs: 2 })));
  const [line] = all(row(5, "a"), row(9, "a"), row(7, "a"));
  expect(line).toMatchObject({ minimum: 5, median: 7, maximum: 9, values: [5, 9, 7], met: true, hashesAgree: true });
  expect(all(row(9, "a"), row(9, "b"))[0]).toMatchObject({ met: false, hashesAgree: false });
  expect(all({ what: "rate", unit: "1/s", value: 3, target: { atLeast: 4 } })[0].met).toBe(false);
  expect(all({ what: "x", unit: "", value: 3 })[0].met).toBeUndefined();
});

test("times are printed in yardsticks, rates per yardstick, other values unchanged", () => {
  const ratio = (unit: string, value: number, absolute = false): number =>
    ratioOf({ what: "x", unit, value, absolute }, 4);
  expect([ratio("ms", 6), ratio("s", 0.002), ratio("ns", 4e6), ratio("1/s", 500)]).toEqual([1.5, 0.5, 1, 2]);
  expect([ratio("bytes", 6), ratio("%", 6), ratio("kbps", 6), ratio("ms", 6, true)]).toEqual([6, 6, 6, 6]);
});

const reading = (fast: number, slow: number): string => `
# HELP tick_seconds One tick.
# TYPE tick_seconds histogram
tick_seconds_bucket{le="0.004",app="a"} ${fast}
tick_seconds_bucket{le="0.008",app="a"} ${fast + slow}
tick_seconds_bucket{le="+Inf",app="a"} ${fast + slow}
bytes_total{kind="delta"} ${fast * 10} 1700000000000
bytes_total{kind="key \\"frame\\""} 5
plain 1.5e-3`;

test("the text format is parsed with labels, timestamps and exponents", () => {
  const samples = parseMetrics(reading(3, 0));
  expect(total(samples, "plain")).toBe(0.0015);
  expect(total(samples, "bytes_total")).toBe(35);
  expect(total(samples, "bytes_total", { kind: "delta" })).toBe(30);
});

test("quantiles count only observations between the two readings", () => {
  const before = parseMetrics(reading(1000, 0));
  const after = parseMetrics(reading(1050, 50));
  expect(increase(before, after, "bytes_total", { kind: "delta" })).toBe(500);
  expect(histogramQuantile(before, after, "tick_seconds", 0.25)).toBeCloseTo(0.002, 12);
  expect(histogramQuantile(before, after, "tick_seconds", 0.75)).toBeCloseTo(0.006, 12);
  expect(histogramQuantile(before, before, "tick_seconds", 0.5)).toBeNaN();
});
