/** The immediate answer to a pull: there at once, gone when the server's answer is there, never through the floor. */
import { expect, test } from "vitest";
import { LocalBend } from "../../../client/view/localBend.ts";

/** Eleven particles in a row, 0.1 m apart; the hand holds the middle one. */
const rest = Float32Array.from({ length: 33 }, (_, i) => (i % 3 === 0 ? (i / 3) * 0.1 : 0));
const bendOf = (positions: Float32Array): LocalBend => {
  const bend = new LocalBend({ positions, rest }, [0.5, 0, 0], 0.25);
  bend.hand(0.5, 0, 0, 0);
  return bend;
};
const LAG = 100;

test("a hand that has just moved bends the neighbourhood, most at the held point, nothing far away", () => {
  const positions = rest.slice();
  const bend = bendOf(positions);
  bend.hand(0.5, 0.05, 0, 10);
  bend.apply(10, LAG, -Infinity);
  const lift = Array.from({ length: 11 }, (_, i) => positions[3 * i + 1]!);
  expect(lift[5]).toBeGreaterThan(0.015);
  expect(lift[5]).toBeLessThan(0.05);
  expect(lift[5]!).toBeGreaterThan(lift[4]!);
  expect(lift[4]!).toBeGreaterThan(lift[3]!);
  for (const far of [0, 1, 2, 8, 9, 10]) expect(lift[far]).toBe(0);
});

test("a hand at rest for the length of the lag adds nothing: the server's answer is on the screen", () => {
  const positions = rest.slice();
  const bend = bendOf(positions);
  bend.hand(0.5, 0.05, 0, 10);
  bend.hand(0.5, 0.05, 0, 10 + LAG);
  bend.apply(10 + LAG, LAG, -Infinity);
  expect(positions).toEqual(rest);
});

test("however far the hand races, the offset stays below a third of the neighbourhood", () => {
  const positions = rest.slice();
  const bend = bendOf(positions);
  bend.hand(0.5, 50, 0, 10);
  bend.apply(10, LAG, -Infinity);
  expect(positions[16]).toBeLessThan(0.35 * 0.25);
});

test("nothing is pushed through the floor, and nothing that lies below it is lifted", () => {
  const positions = rest.slice();
  positions[3 * 4 + 1] = -0.02;
  const bend = bendOf(positions);
  bend.hand(0.5, -0.2, 0, 10);
  bend.apply(10, LAG, 0);
  expect(positions[3 * 5 + 1]).toBe(0);
  expect(positions[3 * 4 + 1]).toBeCloseTo(-0.02, 6);
});

test("once released it dies within a fifth of a second", () => {
  const positions = rest.slice();
  const bend = bendOf(positions);
  bend.hand(0.5, 0.05, 0, 10);
  bend.release(20);
  expect(bend.finished(100)).toBe(false);
  bend.apply(200, 1000, -Infinity);
  expect(positions[16]).toBeLessThan(0.001);
  expect(bend.finished(240)).toBe(true);
});
