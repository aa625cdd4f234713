/**
 * Child process of the benchmark: loads one part, runs it once, and sends its rows and the yardstick of this process to
 * the parent.
 */
import { pathToFileURL } from "node:url";
import { measureYardstick } from "./harness/yardstick.ts";
import type { Part, PartOptions, RunReport } from "./part.ts";

const [, , file, options] = process.argv;
const part = (await import(pathToFileURL(file).href)) as Part;
// Before and after, because other load slows both; the faster one is nearer to the machine's own speed.
const before = measureYardstick();
const rows = await part.run(JSON.parse(options) as PartOptions);
const after = measureYardstick();
process.once("disconnect", () => process.exit(0)); // The parent has received them. A part may have left a pool or socket open.
process.send?.({ rows, yardstickMs: Math.min(before.ms, after.ms) } satisfies RunReport);
