/** The histories of `npm test`, half of them in each of two files. */
import { describe, expect, test } from "vitest";
import { EVERY_FAULT } from "./plan.ts";
import { prepareStage, runHistories } from "./run.ts";

export interface Size {
  /** Tests of one file, each of some minutes at a low priority on a busy machine. */
  tests: number;
  histories: number;
}

/** @param half 0 or 1 */
export function describeHistories(half: number, { tests, histories: perTest }: Size): void {
  describe("a room has one owner, and acknowledged changes are not lost", () => {
    const firsts = Array.from({ length: tests }, (_, k) => 1 + perTest * (half * tests + k));
    // One stage for all histories: a history does not depend on earlier ones (histories.test.ts).
    const staged = prepareStage();
    test.each(firsts)(`${perTest} histories from seed %i`, async (seed) => {
      const stage = await staged;
      const { violations, histories } = await runHistories({ stage, seed, count: perTest, faults: EVERY_FAULT });
      expect(violations.map(({ seed, violation }) => `seed ${seed}: ${violation!.message}`)).toEqual([]);
      expect(histories).toBe(perTest);
    });
  });
}
