/** Requests of members while their room takes no inputs. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { Limits } from "../../../../shared/protocol/protocol.ts";
import type { Metrics } from "../../../../server/metrics/metrics.ts";
import type { ClientRequest } from "../../../../shared/protocol/fromClient.ts";
import { InputQueue } from "../../../../server/rooms/inputs/inputQueue.ts";
import { MemberRequests } from "../../../../server/rooms/inputs/memberRequests.ts";
import { Session } from "../../../../server/rooms/members/session.ts";
import type { RoomShape } from "../../../../server/workers/messages.ts";

const shape = {
  triangles: [10],
  spawnable: [],
  together: [],
  reach: 10,
  origin: [0, 0, 0],
  maxImpulse: 1,
} as unknown as RoomShape;
const metrics = { inputs: { inc: () => {} }, reject: () => {} } as unknown as Metrics;

type Asked = Parameters<MemberRequests["handle"]>[1];

const at = { body: 0, triangle: 0, u: 0.2, v: 0.2 };
const asked: fc.Arbitrary<Asked> = fc.oneof(
  fc.nat(5).map((grab): Asked => ({ type: "grab", grab, ...at, target: [0, 0, 0] })),
  fc.nat(5).map((grab): Asked => ({ type: "move", grab, target: [1, 0, 0] })),
  fc.nat(5).map((grab): Asked => ({ type: "release", grab })),
  fc.constant<Asked>({ type: "impulse", ...at, impulse: [0, 0, 0] } satisfies ClientRequest as Asked),
  fc.constant<Asked>({ type: "reset" }),
);

test("any requests without a tick give a bounded queue, and afterwards the member's grabs are those that it expects", () => {
  fc.assert(
    fc.property(fc.array(asked, { minLength: 500, maxLength: 1500 }), (requests) => {
      const session = new Session(1, undefined, "#d55e00", {
        role: "player",
        subject: null,
        name: undefined,
        expiresAtMs: null,
        address: "a",
      });
      const queue = new InputQueue();
      const handler = new MemberRequests(new Map([[1, session]]), queue, shape, metrics);
      for (const request of requests) handler.handle(session, request);
      // Each of the 120 may be released once, and moved before and after the one reset; then the active grabs.
      expect(queue.length).toBeLessThanOrEqual(3 * Limits.inputBurst + 2 * Limits.grabsPerMember);
      const held = new Set<number>();
      for (const input of queue.take()) {
        if (input.type === "grab") held.add(input.grab);
        if (input.type === "release") held.delete(input.grab);
        if (input.type === "releaseAll" || input.type === "reset") held.clear();
      }
      expect([...held].sort()).toEqual([...session.grabs.keys()].sort());
    }),
    { numRuns: 100 },
  );
});

test("a member's impulses add up to impulsesPerSecond of the largest size, and small ones are parts of one", () => {
  const refused: unknown[] = [];
  const session = new Session(1, undefined, "#d55e00", {
    role: "player",
    subject: null,
    name: undefined,
    expiresAtMs: null,
    address: "a",
  });
  const queue = new InputQueue();
  const counting = {
    inputs: { inc: () => {} },
    reject: (reason: string) => refused.push(reason),
  } as unknown as Metrics;
  const handler = new MemberRequests(new Map([[1, session]]), queue, shape, counting);
  const give = (size: number, times: number): number => {
    for (let n = 0; n < times; n++) handler.handle(session, { type: "impulse", ...at, impulse: [0, size, 0] });
    return queue.take().length;
  };
  // the bucket regains much less than one while the test runs
  expect(give(1, 2)).toBe(2);
  expect(give(0.1, 15)).toBe(15);
  expect(give(100, 3)).toBe(0);
  expect(refused).toEqual(["rate", "rate", "rate"]);
  expect(give(0, 10)).toBe(10);
});
