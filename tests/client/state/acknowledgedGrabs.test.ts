/** Acknowledged grabs, played at the frames' playhead: before the first, between two, over a pause, and at the end. */
import { expect, test } from "vitest";
import type { Grab, Point } from "../../../shared/protocol/fromServer.ts";
import { AcknowledgedGrabs } from "../../../client/state/acknowledgedGrabs.ts";

const GAP = 2;
const BEGIN: Point = [1, 1, 1];
const held = (grab: number, target: Point): Grab => ({ grab, body: 0, triangle: 0, u: 0, v: 0, target });

function shown(acknowledged: AcknowledgedGrabs, tick: number, last?: Point): { phase: string; x: number } {
  const out = Float64Array.from(BEGIN);
  const phase = acknowledged.at(7, tick, GAP, out, last && Float64Array.from(last));
  return { phase, x: out[0]! };
}

test("before the first acknowledgement the target is the grabbed point; over the first interval it moves to the first target", () => {
  const acknowledged = new AcknowledgedGrabs();
  expect(shown(acknowledged, 100)).toEqual({ phase: "before", x: 1 });
  acknowledged.note(100, [held(7, [3, 0, 0])]);
  expect(shown(acknowledged, 98)).toEqual({ phase: "before", x: 1 });
  expect(shown(acknowledged, 99)).toEqual({ phase: "held", x: 2 });
  expect(shown(acknowledged, 100)).toEqual({ phase: "held", x: 3 });
});

test("between two acknowledgements it moves as frames do; after the last it stays", () => {
  const acknowledged = new AcknowledgedGrabs();
  acknowledged.note(100, [held(7, [3, 0, 0])]);
  acknowledged.note(102, [held(7, [4, 0, 0])]);
  expect(shown(acknowledged, 101.5).x).toBe(3.75);
  expect(shown(acknowledged, 140)).toEqual({ phase: "held", x: 4 });
});

test("after a pause it does not move until one interval before the next acknowledgement", () => {
  const acknowledged = new AcknowledgedGrabs();
  acknowledged.note(100, [held(7, [3, 0, 0])]);
  acknowledged.note(130, [held(7, [4, 0, 0])]);
  expect(shown(acknowledged, 127.9).x).toBe(3);
  expect(shown(acknowledged, 129).x).toBe(3.5);
});

test("the end: the server has the last target of a released grab, even if it never sends it", () => {
  const acknowledged = new AcknowledgedGrabs();
  acknowledged.note(100, [held(7, [3, 0, 0])]);
  acknowledged.note(110, []);
  expect(shown(acknowledged, 108, [5, 0, 0])).toEqual({ phase: "held", x: 3 });
  expect(shown(acknowledged, 109, [5, 0, 0]).x).toBe(4);
  expect(shown(acknowledged, 109.999, [5, 0, 0]).x).toBeCloseTo(5, 2);
  expect(shown(acknowledged, 110, [5, 0, 0]).phase).toBe("after");
  // The server ended this grab, so its last acknowledged target stays to the end.
  expect(shown(acknowledged, 109.5).x).toBe(3);
});

test("a repeated acknowledgement, as in a keyframe, counts once", () => {
  const acknowledged = new AcknowledgedGrabs();
  acknowledged.note(100, [held(7, [3, 0, 0])]);
  acknowledged.note(102, [held(7, [4, 0, 0])]);
  acknowledged.note(102, [held(7, [4, 0, 0])]);
  expect(shown(acknowledged, 101).x).toBe(3.5);
});

test("a long grab keeps only entries that the playhead may need, and grabs are separate", () => {
  const acknowledged = new AcknowledgedGrabs();
  for (let tick = 0; tick <= 600; tick += GAP) acknowledged.note(tick, [held(7, [tick, 0, 0]), held(8, [-tick, 0, 0])]);
  for (let tick = 600 - 2 * 58; tick <= 600; tick += 0.5) expect(shown(acknowledged, tick).x).toBeCloseTo(tick, 9);
});

test("after clear or forget the grab counts as unknown to the server", () => {
  const acknowledged = new AcknowledgedGrabs();
  acknowledged.note(100, [held(7, [3, 0, 0])]);
  acknowledged.forget(7);
  expect(shown(acknowledged, 100).phase).toBe("before");
  acknowledged.note(100, [held(7, [3, 0, 0])]);
  acknowledged.clear();
  expect(shown(acknowledged, 100).phase).toBe("before");
});
