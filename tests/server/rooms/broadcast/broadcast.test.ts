/** The backpressure policy: when a socket counts as congested. */
import { expect, test } from "vitest";
import { congestion, DRAINED_BYTES } from "../../../../server/rooms/broadcast/broadcast.ts";
import { Limits } from "../../../../shared/protocol/protocol.ts";

test("frames are sent up to 64 KiB of backlog, skipped above it, and 1 MiB closes the connection", () => {
  expect(congestion(0, 0)).toBe("flowing");
  expect(congestion(Limits.backpressureBytes, 0)).toBe("flowing");
  expect(congestion(Limits.backpressureBytes + 1, 0)).toBe("skip");
  expect(congestion(Limits.tooSlowBytes, 0)).toBe("skip");
  expect(congestion(Limits.tooSlowBytes + 1, 0)).toBe("close");
});

test("one large keyframe does not make a client slow", () => {
  const keyframe = 3 * 1024 * 1024;
  expect(congestion(keyframe, keyframe)).toBe("skip");
  expect(congestion(2 * keyframe + 1, keyframe)).toBe("close");
});

test("a client counts as drained well before it would be skipped again", () => {
  expect(DRAINED_BYTES).toBeLessThan(Limits.backpressureBytes / 2);
});
