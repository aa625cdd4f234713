/** The second half of the histories; runs in parallel with histories.test.ts. */
import { inLong } from "../support/run/long.ts";
import { describeHistories } from "./describeHistories.ts";

describeHistories(1, inLong({ tests: 50, histories: 500 }, { tests: 2, histories: 150 }));
