/**
 * Scenarios: every file is valid, and an invalid one gets an error with path, value and limit. Also the search for the
 * largest load that passes.
 */
import { existsSync, readdirSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { knee } from "../../load-tests/load/knee.ts";
import { checkScenario, readScenario, ScenarioError } from "../../load-tests/load/scenario.ts";

const names = readdirSync("load-tests/scenarios")
  .filter((name) => name.endsWith(".json") && name !== "schema.json")
  .map((name) => name.slice(0, -5));

test.each(names)("%s is valid, and its scenes exist", (name) => {
  const { scenes, rooms } = readScenario(name);
  for (const { scene } of rooms)
    expect(existsSync(`${scenes === "load" ? "load-tests/scenes" : "scenes"}/${scene}.json`)).toBe(true);
});

describe("an invalid scenario", () => {
  const fault = (change: (scenario: any) => void): string => {
    const scenario = structuredClone(readScenario("soak"));
    change(scenario);
    try {
      checkScenario(scenario);
    } catch (error) {
      expect(error).toBeInstanceOf(ScenarioError);
      return (error as Error).message;
    }
    return expect.fail("the invalid scenario was accepted");
  };

  test("names the path, the value and the limit", () => {
    expect(fault((s) => (s.rooms[1].count = 0))).toBe(
      "scenario /rooms/1/count: 0 is not allowed, must be as in the schema: >= 1",
    );
    expect(fault((s) => (s.rooms[0].clients = 2.5))).toBe(
      "scenario /rooms/0/clients: 2.5 is not allowed, must be as in the schema: integer",
    );
    expect(fault((s) => (s.scenes = "mine"))).toBe(
      'scenario /scenes: "mine" is not allowed, must be one of bundled, load',
    );
    expect(fault((s) => delete s.workers)).toContain("/workers: undefined is not allowed, must be present");
    expect(fault((s) => (s.churn.bursts = 3))).toBe(
      "scenario /churn/bursts: 3 is not allowed, must be absent: no such field here",
    );
    expect(fault((s) => (s.rooms[0].scene = "../secret"))).toContain('/rooms/0/scene: "../secret" is not allowed');
    expect(fault((s) => (s.rooms[0].hands.center = [0, 0]))).toContain("/rooms/0/hands/center");
    expect(fault((s) => (s.rooms[0].hands.movesPerSecond = 61))).toContain(
      "/rooms/0/hands/movesPerSecond: 61 is not allowed, must be as in the schema: <= 60",
    );
  });

  test("has at most as many decoding or grabbing clients as clients", () => {
    expect(fault((s) => (s.rooms[0].decoding = 5))).toBe(
      "scenario /rooms/0/decoding: 5 is not allowed, must be at most the room's clients, 4",
    );
    expect(fault((s) => (s.rooms[1].hands.players = 4))).toBe(
      "scenario /rooms/1/hands/players: 4 is not allowed, must be at most the room's clients, 3",
    );
  });
});

describe("the largest load that passes", () => {
  test("is found to its precision, wherever it is", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 400 }),
        fc.integer({ min: 1, max: 300 }),
        fc.constantFrom(0, 0.1, 0.3),
        async (limit, from, precision) => {
          const most = 320;
          const found = await knee(async (count) => count <= limit, { from, most, precision });
          const truth = Math.min(limit, most);
          expect(found).toBeLessThanOrEqual(truth);
          // The first number that was tried and failed is at least truth + 1.
          if (truth < most)
            expect(found).toBeGreaterThanOrEqual(
              Math.floor(truth - Math.max(1, (precision / (1 - precision)) * (truth + 1))),
            );
          else expect(found).toBe(most);
        },
      ),
    );
  });

  test("survives one failed try", async () => {
    let tries = 0;
    expect(await knee(async (count) => tries++ !== 0 && count <= 10, { from: 10, most: 100, precision: 0.1 })).toBe(10);
  });
});
