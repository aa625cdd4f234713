/** The other half of histories.test.ts, side by side with it. */
import { theHistories } from "./theHistories.ts";

theHistories(1);
