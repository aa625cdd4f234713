/** The histories of `npm test`, half of them in each of two files. */
import { describe, expect, test } from "vitest";
import { inLong } from "../support/run/long.ts";
import { EVERY_FAULT } from "./plan.ts";
import { prepareStage, runHistories } from "./run.ts";

/** Some minutes, for a low priority on a busy machine. */
const PER_TEST = inLong(500, 250);
const TESTS = inLong(50, 2);

/** @param half 0 or 1 */
export function describeHistories(half: number): void {
  describe("a room has one owner, and acknowledged changes are not lost", () => {
    const firsts = Array.from({ length: TESTS }, (_, k) => 1 + PER_TEST * (half * TESTS + k));
    // One stage for all histories: a history does not depend on earlier ones (histories.test.ts).
    const staged = prepareStage();
    test.each(firsts)(`${PER_TEST} histories from seed %i`, async (seed) => {
      const stage = await staged;
      const { violations, histories } = await runHistories({ stage, seed, count: PER_TEST, faults: EVERY_FAULT });
      expect(violations.map(({ seed, violation }) => `seed ${seed}: ${violation!.message}`)).toEqual([]);
      expect(histories).toBe(PER_TEST);
    });
  });
}
