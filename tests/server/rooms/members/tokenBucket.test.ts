/** Rate limits in virtual time. */
import { expect, test } from "vitest";
import { TokenBucket } from "../../../../server/rooms/members/tokenBucket.ts";

test("a burst, then the sustained rate; at most a burst is saved up", () => {
  const bucket = new TokenBucket(60, 120, 0);
  const taken = (nowMs: number): number => {
    let count = 0;
    while (bucket.take(nowMs)) count += 1;
    return count;
  };
  expect(taken(0)).toBe(120);
  expect(taken(1000)).toBe(60);
  expect(taken(1010)).toBe(0);
  expect(taken(1_000_000)).toBe(120);
});

test("several at once are taken whole or not at all", () => {
  const bucket = new TokenBucket(10, 40, 0);
  expect([bucket.take(0, 30), bucket.take(0, 11), bucket.take(0, 10)]).toEqual([true, false, true]);
  expect([bucket.take(2000, 21), bucket.take(2000, 20)]).toEqual([false, true]);
});
