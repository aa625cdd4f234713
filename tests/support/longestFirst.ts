/**
 * Files that take longest are begun first, so that no worker is left with one of them while the others have nothing to
 * do any more. Vitest knows what took long only where it has run before.
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
