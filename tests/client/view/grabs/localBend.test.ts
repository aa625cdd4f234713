/**
 * The immediate response to a pull: visible at once, gone when the server's response is shown, without a jump, and
 * never through the floor.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Grab, Point } from "../../../../shared/protocol/fromServer.ts";
import { AcknowledgedGrabs } from "../../../../client/state/acknowledgedGrabs.ts";
import { FADE_MS, LIMIT, LocalBend, RESPONSE } from "../../../../client/view/grabs/localBend.ts";

/** Eleven particles in a row, 0.1 m apart; the grab is at the middle one. */
const rest = Float32Array.from({ length: 33 }, (_, i) => (i % 3 === 0 ? (i / 3) * 0.1 : 0));
const RADIUS = 0.25;
const HELD = 3 * 5;
const GRAB = 1;
const grabbed = (target: Point): Grab => ({ grab: GRAB, body: 0, triangle: 0, u: 0, v: 0, target });

class Hold {
  readonly acknowledged = new AcknowledgedGrabs();
  readonly positions = rest.slice();
  readonly bend = new LocalBend({ positions: this.positions, rest }, GRAB, [0.5, 0, 0], [0.5, 0, 0], RADIUS);

  /** Positions drawn at a moment; the server's are the rest positions. */
  draw(nowMs: number, tick: number, floorY = -Infinity): Float32Array {
    this.positions.set(rest);
    this.bend.update(this.acknowledged, { nowMs, tick, sendTicks: 2, patienceMs: 500 });
    this.bend.apply(floorY);
    return this.positions;
  }
}

test("a new motion of the target bends the neighborhood, most at the grabbed point, nothing far away", () => {
  const hold = new Hold();
  hold.bend.move(0.5, 0.05, 0);
  const positions = hold.draw(10, 100);
  const lift = Array.from({ length: 11 }, (_, i) => positions[3 * i + 1]!);
  const wanted = RESPONSE * 0.05;
  expect(lift[5]).toBeCloseTo(wanted / (1 + wanted / (LIMIT * RADIUS)), 6);
  expect(lift[5]!).toBeGreaterThan(lift[4]!);
  expect(lift[4]!).toBeGreaterThan(lift[3]!);
  for (const far of [0, 1, 2, 8, 9, 10]) expect(lift[far]).toBe(0);
});

test("once the picture shows the server's pull, nothing is added, at any delay", () => {
  const hold = new Hold();
  hold.bend.move(0.5, 0.05, 0);
  hold.acknowledged.note(104, [grabbed([0.5, 0.05, 0])]);
  expect(hold.draw(10, 101)[HELD + 1]).toBeGreaterThan(0);
  expect(hold.draw(900, 104)).toEqual(rest);
});

test("the offset stays below a third of the neighborhood, for any speed of the pointer", () => {
  const hold = new Hold();
  hold.bend.move(0.5, 50, 0);
  expect(hold.draw(10, 100)[HELD + 1]).toBeLessThan(LIMIT * RADIUS);
});

test("nothing is pushed through the floor, and nothing below it is lifted", () => {
  const hold = new Hold();
  hold.bend.move(0.5, -0.2, 0);
  const positions = hold.draw(10, 100, -0.001);
  expect(positions[HELD + 1]).toBeCloseTo(-0.001, 9);
  hold.positions[HELD + 1] = -0.02;
  hold.bend.apply(0);
  expect(hold.positions[HELD + 1]).toBeCloseTo(-0.02, 6);
});

describe("release", () => {
  test("the offset ends when the server's grab ends, and the bend is over", () => {
    const hold = new Hold();
    hold.acknowledged.note(100, [grabbed([0.5, 0, 0])]);
    hold.bend.move(0.5, 0.05, 0);
    hold.bend.release(10, true);
    const before = hold.draw(20, 102)[HELD + 1]!;
    expect(before).toBeGreaterThan(0.01);
    hold.acknowledged.note(110, []);
    expect(hold.draw(30, 108)[HELD + 1]).toBe(before);
    expect(hold.draw(40, 109.99)[HELD + 1]).toBeLessThan(0.01 * before);
    expect(hold.bend.finished).toBe(false);
    hold.draw(45, 110);
    expect(hold.bend.finished).toBe(true);
    expect(hold.positions).toEqual(rest);
  });

  test.each([
    ["the server ended the grab", (hold: Hold) => hold.acknowledged.note(100, [])],
    ["the connection was lost or the room was reset", (hold: Hold) => hold.bend.release(1000, false)],
  ])("%s: the offset fades as a cross-fade does, and then is over", (_, happens) => {
    const hold = new Hold();
    hold.acknowledged.note(98, [grabbed([0.5, 0, 0])]);
    hold.bend.move(0.5, 0.05, 0);
    const full = hold.draw(990, 99)[HELD + 1]!;
    happens(hold);
    const step = 16;
    let last = hold.draw(1000, 100)[HELD + 1]!;
    expect(last).toBeCloseTo(full, 6);
    for (let ms = 1000 + step; ms <= 1000 + FADE_MS + step; ms += step) {
      const now = hold.draw(ms, 100)[HELD + 1]!;
      // A smoothstep's steepest slope is 1.5 over its length.
      expect(last - now).toBeLessThanOrEqual((1.5 * full * step) / FADE_MS + 1e-7);
      expect(now).toBeLessThanOrEqual(last);
      last = now;
    }
    expect(last).toBe(0);
    hold.bend.release(2000, false);
    hold.draw(2001, 100);
    expect(hold.bend.finished).toBe(true);
  });

  test("the fade does not wait for a server that never receives the release", () => {
    const hold = new Hold();
    hold.bend.move(0.5, 0.05, 0);
    hold.bend.release(0, true);
    hold.draw(499, 100);
    expect(hold.bend.finished).toBe(false);
    for (const ms of [501, 502 + FADE_MS]) hold.draw(ms, 100);
    expect(hold.bend.finished).toBe(true);
  });
});

/**
 * The bound that excludes visible jumps, at every vertex and between any two pictures. The local bend moves by at most
 * RESPONSE times the motion of the pointer and of the server's target in the displayed time. Pointers, bursts of
 * messages, late pictures and releases are random.
 */
test("on any connection the offset moves at most as fast as the pointer and the server's target", () => {
  const vector = fc.tuple(
    ...[0, 1, 2].map(() => fc.double({ min: -0.2, max: 0.2, noNaN: true })),
  ) as fc.Arbitrary<Point>;
  fc.assert(
    fc.property(
      fc.array(fc.record({ step: vector, told: fc.boolean(), ticks: fc.double({ min: 0, max: 6, noNaN: true }) }), {
        minLength: 2,
        maxLength: 40,
      }),
      fc.nat(40),
      (moves, releaseAt) => {
        const hold = new Hold();
        const hand: Point = [0.5, 0, 0];
        let shownTick = 90;
        let toldTick = 100;
        let last = rest.slice();
        let lastHand: Point = [...hand];
        let released = false;
        const shown = Float64Array.from(hand);
        const lastShown = Float64Array.from(hand);
        for (const [k, { step, told, ticks }] of moves.entries()) {
          if (!released) {
            for (let r = 0; r < 3; r++) hand[r]! += step[r]!;
            hold.bend.move(...hand);
          }
          if (k === releaseAt) {
            hold.bend.release(k, true);
            hold.acknowledged.note((toldTick += 2), []);
            released = true;
          } else if (told && !released) hold.acknowledged.note((toldTick += 2), [grabbed(hand)]);
          // The playhead never passes the newest frame.
          shownTick = Math.min(toldTick, shownTick + ticks);
          shown.set([0.5, 0, 0]);
          if (
            hold.acknowledged.at(GRAB, shownTick, 2, shown, released ? Float64Array.from(hand) : undefined) === "after"
          )
            shown.set(hand);
          const now = hold.draw(k, shownTick).slice();
          const travelled =
            Math.hypot(...hand.map((x, r) => x - lastHand[r]!)) + Math.hypot(...shown.map((x, r) => x - lastShown[r]!));
          for (let i = 0; i < now.length; i += 3) {
            const jump = Math.hypot(now[i]! - last[i]!, now[i + 1]! - last[i + 1]!, now[i + 2]! - last[i + 2]!);
            // float32 positions of up to 1 m: half a unit in the last place for each of two roundings and three
            // components.
            expect(jump).toBeLessThanOrEqual(RESPONSE * travelled + 3 * 2 ** -24 * 2);
          }
          [last, lastHand] = [now, [...hand]];
          lastShown.set(shown);
        }
      },
    ),
    { numRuns: 300, seed: 5 },
  );
});
