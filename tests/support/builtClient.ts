/** Builds the pages before the tests of real servers, which serve them. */
import { succeeds } from "./program.ts";

export async function setup(): Promise<void> {
  if (!(await succeeds("setup.mjs", ["--quiet", "--only", "client"]))) throw new Error("the client could not be built");
}
