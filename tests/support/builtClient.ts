/** Before the tests of real servers, and of no others: the pages that they serve are built. */
import { succeeds } from "./program.ts";

export async function setup(): Promise<void> {
  if (!(await succeeds("setup.mjs", ["--quiet", "--only", "client"]))) throw new Error("the client could not be built");
}
