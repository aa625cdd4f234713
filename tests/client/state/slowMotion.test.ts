/** When a page reports that its room runs slowly, and with which reason. */
import { expect, test } from "vitest";
import type { RoomStats } from "../../../shared/protocol/fromServer.ts";
import { slowMotionOf } from "../../../client/state/slowMotion.ts";

const stats = (change: Partial<RoomStats>): RoomStats => ({
  stepMs: 30,
  stages: { tetrahedra: 20, broadPhase: 6, guard: 3, encode: 1 },
  tickLatenessMs: 0,
  clients: 1,
  kbpsOut: 0,
  timeDilation: 0.5,
  methods: [],
  errors: [],
  ...change,
});

test("down to 95 % of real time nothing is reported", () => {
  expect(slowMotionOf(stats({ timeDilation: 1 }), 60)).toBeUndefined();
  expect(slowMotionOf(stats({ timeDilation: 0.95 }), 60)).toBeUndefined();
  expect(slowMotionOf(stats({ timeDilation: Number.NaN }), 60)).toBeUndefined();
  expect(slowMotionOf(stats({ timeDilation: 0.949 }), 60)?.factor).toBe(0.949);
});

test("the reason is the most expensive part of the tick, with the stages of contact added up", () => {
  expect(slowMotionOf(stats({}), 60)?.why).toBe("slowSolving");
  expect(slowMotionOf(stats({ stages: { triangles: 8, bending: 4, broadPhase: 8, response: 9 } }), 60)?.why).toBe(
    "slowContact",
  );
  expect(slowMotionOf(stats({ stages: { triangles: 4, integrate: 4, momentum: 4, contacts: 11 } }), 60)?.why).toBe(
    "slowSolving",
  );
  expect(slowMotionOf(stats({ stages: { encode: 20, triangles: 5 } }), 60)?.why).toBe("slowSending");
  expect(slowMotionOf(stats({ stages: { tetrahedra: 12, broadPhase: 7, contacts: 8 } }), 60)?.why).toBe("slowContact");
});

test("ticks that fit into their period and are still late wait for a thread", () => {
  expect(slowMotionOf(stats({ stepMs: 10 }), 60)?.why).toBe("slowOtherRooms");
  expect(slowMotionOf(stats({ stepMs: 16 }), 60)?.why).toBe("slowSolving");
});
