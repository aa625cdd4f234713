/**
 * The short form of `npm run fuzz`: every violation of WebSocket, and 5,000 hostile frames on a real server, which has
 * the same resources afterwards.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { runFrames } from "./frameRun.ts";
import { Random } from "./random.ts";
import { violate, VIOLATIONS } from "./rawFrames.ts";
import { alarms, type FuzzedServer, startFuzzedServer } from "./fuzzedServer.ts";

let fuzzed: FuzzedServer;
beforeAll(async () => {
  fuzzed = await startFuzzedServer();
});
afterAll(async () => {
  expect(await fuzzed.stop()).toBe(0);
});

test.each(VIOLATIONS)("$name ends with $code", async ({ bytes, code }) => {
  expect(await violate(fuzzed.server.url, "plain", bytes(new Random(3)))).toBe(code);
});

test("5,000 hostile frames: every connection ends as documented for its last frame, and no session or room remains", async () => {
  const { deltas } = fuzzed.witness.counts;
  const result = await runFrames({
    url: fuzzed.server.url,
    rooms: fuzzed.rooms,
    frames: 5000,
    seed: 1,
    connections: 4,
  });
  expect(result.findings).toEqual([]);
  expect(result.connections).toBeGreaterThan(100);
  expect(Object.keys(result.notices)).toEqual(expect.arrayContaining(["NOT_ALLOWED", "OUT_OF_RANGE"]));
  await fuzzed.witness.until(() => fuzzed.witness.counts.deltas > deltas + 5, "frames for the witness");
  expect(fuzzed.witness.closed).toBeNull();
  // Sessions that were closed for their messages stay for 2 s.
  await expect.poll(fuzzed.holds, { timeout: 300_000 }).toMatchObject({ sessions: 1, rooms: 3 });
  expect(alarms(fuzzed.server.output())).toEqual([]);
});
