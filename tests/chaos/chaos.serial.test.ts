/**
 * The short form of `npm run chaos` on a real database: a server is killed, and one is cut off from the database.
 */
import { describe, expect, test } from "vitest";
import { inLong } from "../support/run/long.ts";
import { findPostgres } from "../support/postgres.ts";
import { lacks } from "../support/run/tools.ts";
import { chaos, randomFrom } from "./run.ts";
import { SCENARIOS } from "./scenarios.ts";

const bin = findPostgres();
/**
 * The other scenarios run through the same code; tests/simulation also covers them in virtual time, and
 * integration/durability/acknowledged kills servers that have just acknowledged changes.
 */
const SHORT = ["kill", "partition"];

describe.skipIf(lacks("PostgreSQL", bin))("chaos", () => {
  test("no room twice, none hidden, none set back; acknowledged changes hold, and every state matches its recording", async () => {
    const only = inLong([...SHORT, "acknowledged", "terminate", "clock"], SHORT);
    // All on one fleet, as in `npm run chaos`: starting one takes as long as a scenario.
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
  });
});

test("a seed chooses the same scenarios and times again, and eventually all of them", () => {
  const [a, b] = [randomFrom(5), randomFrom(5)];
  const names = Object.keys(SCENARIOS);
  const chosen = Array.from({ length: 500 }, () => names[Math.floor(a() * names.length)]);
  expect(Array.from({ length: 500 }, () => names[Math.floor(b() * names.length)])).toEqual(chosen);
  expect(new Set(chosen)).toEqual(new Set(names));
});
