/** Places of concurrent uploads: shares of addresses, and slow senders that lose their place. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { UploadPlaces } from "../../../server/objects/uploadPlaces.ts";

const GRACE_MS = 5000;
let places: UploadPlaces;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
  places = new UploadPlaces(GRACE_MS);
});
afterEach(() => void vi.useRealTimers());

test("a slow upload yields to another one of its address, the slowest first, but only after its grace", async () => {
  const [slower, slow] = [places.take("school", false), places.take("school", false)];
  slow.came(100);
  vi.advanceTimersByTime(GRACE_MS - 1);
  expect(() => places.take("school", false)).toThrow("Too many requests");
  vi.advanceTimersByTime(1);
  const next = places.take("school", false);
  await expect(slower.lost).rejects.toMatchObject({ code: "TOO_MANY_REQUESTS", details: { value: 0 } });
  places.take("school", false);
  await expect(slow.lost).rejects.toMatchObject({ code: "TOO_MANY_REQUESTS", details: { value: 20 } });
  // Both are new.
  expect(() => places.take("school", false)).toThrow("Too many requests");
  next.leave();
  places.take("school", false);
});

test("neither a complete upload nor a fast one yields, and no address ends uploads of another within its own share", async () => {
  const [whole, fast] = [places.take("school", false), places.take("school", false)];
  const other = places.take("home", false);
  let ended = 0;
  for (const { lost } of [whole, fast, other]) lost.catch(() => (ended += 1));
  whole.whole();
  vi.advanceTimersByTime(2 * GRACE_MS);
  fast.came(1e6);
  expect(() => places.take("school", false)).toThrow("Too many requests");
  await new Promise((resolve) => setImmediate(resolve));
  expect(ended).toBe(0);
});
