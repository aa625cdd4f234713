/** The other half of histories.test.ts, side by side with it. */
import { describeHistories } from "./describeHistories.ts";

describeHistories(1);
