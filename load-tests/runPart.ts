/**
 * Child process of the benchmark: loads one part, runs it once, sends its rows and the yardstick of this process to the
 * parent.
 */
import { pathToFileURL } from "node:url";
import { measureYardstick } from "./harness/yardstick.ts";
import type { Part, PartOptions, RunReport } from "./part.ts";

const [, , file, options] = process.argv;
const part = (await import(pathToFileURL(file).href)) as Part;
// Before and after: what else the machine does in between slows both, and the faster one is the machine's own.
const before = measureYardstick();
const rows = await part.run(JSON.parse(options) as PartOptions);
const after = measureYardstick();
process.once("disconnect", () => process.exit(0)); // The parent has them. A part may have left a pool or a socket open.
process.send?.({ rows, yardstickMs: Math.min(before.ms, after.ms) } satisfies RunReport);
