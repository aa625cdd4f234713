/**
 * Starts the longest files first, so that no worker still runs one of them while the other workers are idle. Vitest
 * knows durations only from earlier runs.
 */
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { LONGEST } from "./times.ts";

const rank = ({ moduleId }: TestSpecification): number => {
  const index = LONGEST.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
  return index < 0 ? LONGEST.length : index;
};

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const order = ({ project }: TestSpecification): number => project.config.sequence.groupOrder;
    return sorted.sort((a, b) => order(a) - order(b) || rank(a) - rank(b));
  }
}
