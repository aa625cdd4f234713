/**
 * The short form of `npm run chaos`: a server killed, one stopped for longer than its leases, one ended in order,
 * everybody coming back at once, on a real database.
 */
import { describe, expect, test } from "vitest";
import { LEASE_SECONDS } from "../../server/store/store.ts";
import { inLong } from "../support/long.ts";
import { findPostgres } from "../support/postgres.ts";
import { lacks } from "../support/tools.ts";
import { chaos, randomFrom } from "./run.ts";
import { SCENARIOS } from "./scenarios.ts";

const bin = findPostgres();
/** The others go through the same parts; what they are for is tried in virtual time, too (tests/simulation). */
const SHORT = ["kill", "partition", "acknowledged"];

describe.skipIf(lacks("PostgreSQL", bin))("chaos", () => {
  test("no room twice, none hidden, none set back, what was acknowledged holds, every state as it was recorded", async () => {
    const only = inLong([...SHORT, "terminate", "clock"], SHORT);
    // On one fleet, as in `npm run chaos`: a start of it takes as long as what is done to it.
    const outcomes = await chaos({
      bin: bin as string,
      runs: only.length,
      seed: 7,
      servers: 2,
      rooms: 4,
      playersPerRoom: 1,
      owners: 2,
      only,
      inTurn: true,
      report: () => {},
    });
    expect(outcomes.flatMap(({ scenario, wrong }) => wrong.map((what) => `${scenario}: ${what}`))).toEqual([]);
    expect(outcomes.map(({ scenario }) => scenario)).toEqual(only);
    // A lease and the looks of who takes over, and twice that for two busy cores: nobody who does not come back is
    // waited for. (A process of this machine that was killed is not waited for at all: tests/integration/cluster.)
    for (const { stillMs } of outcomes) expect(stillMs).toBeLessThan(3 * 1000 * LEASE_SECONDS);
  });
});

test("a seed chooses the same scenarios and times again, and all of them in the long run", () => {
  const [a, b] = [randomFrom(5), randomFrom(5)];
  const names = Object.keys(SCENARIOS);
  const chosen = Array.from({ length: 500 }, () => names[Math.floor(a() * names.length)]);
  expect(Array.from({ length: 500 }, () => names[Math.floor(b() * names.length)])).toEqual(chosen);
  expect(new Set(chosen)).toEqual(new Set(names));
});
