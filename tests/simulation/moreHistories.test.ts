/** The second half of the histories; runs in parallel with histories.test.ts. */
import { describeHistories } from "./describeHistories.ts";

describeHistories(1);
