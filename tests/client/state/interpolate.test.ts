/** Interpolation reproduces its ends exactly and stays within the segment between them. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { interpolateInto } from "../../../client/state/interpolate.ts";
import { CrossFade } from "../../../client/state/crossFade.ts";

const floats = fc.float({ noNaN: true, min: -100, max: 100 });

test("stays between the two frames for any alpha", () => {
  fc.assert(
    fc.property(floats, floats, fc.double({ noNaN: true, min: -5, max: 5 }), (a, b, alpha) => {
      const out = new Float32Array(1);
      interpolateInto(out, Float32Array.of(a), Float32Array.of(b), alpha);
      expect(out[0]).toBeGreaterThanOrEqual(Math.min(a, b) - 1e-4);
      expect(out[0]).toBeLessThanOrEqual(Math.max(a, b) + 1e-4);
    }),
  );
});

test("the ends are the frames themselves, bit for bit", () => {
  const a = Float32Array.of(0.1, -3.7);
  const b = Float32Array.of(12.34, 5.6);
  const out = new Float32Array(2);
  interpolateInto(out, a, b, 0);
  expect(out).toEqual(a);
  interpolateInto(out, a, b, 1);
  expect(out).toEqual(b);
  interpolateInto(out, a, b, 0.5);
  expect(out[0]).toBeCloseTo(6.22, 5);
});

test("a cross-fade begins with the shown positions and ends with the current ones", () => {
  const fade = new CrossFade();
  fade.begin(Float32Array.of(10), 1000);
  const shown = [1000, 1050, 1130, 1200, 1260, 1300].map((ms) => {
    const live = Float32Array.of(0);
    fade.blendInto(live, ms);
    return live[0]!;
  });
  expect(shown[0]).toBe(10);
  expect(shown.at(-2)).toBe(0);
  for (let i = 1; i < shown.length; i++) expect(shown[i]).toBeLessThanOrEqual(shown[i - 1]!);
  expect(fade.blendInto(Float32Array.of(0), 1400)).toBe(false);
});
