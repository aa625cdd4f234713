/** A stage for all tests of a file: opened before the first, left after each, closed after the last. */
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import type { Config } from "../../server/config.ts";
import { noBrowser, openStage, type E2e, type StageOptions } from "./pageStage.ts";

/**
 * Call it where the file's tests are described. After each test all visitors leave, and no page may have had an error.
 * @param tolerated errors that the tests expect
 * @returns the stage, valid from the first test on
 */
export function useStage(changes: Partial<Config> = {}, options: StageOptions = {}, tolerated = /^$/): E2e {
  const stage = {} as E2e;
  beforeAll(async () => {
    if (!noBrowser) Object.assign(stage, await openStage(changes, options));
  });
  afterEach(async () => {
    await stage.leave?.();
    expect(stage.takeErrors?.().filter((error) => !tolerated.test(error)) ?? []).toEqual([]);
  });
  afterAll(() => stage.close?.());
  return stage;
}
