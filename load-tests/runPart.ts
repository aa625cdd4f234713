/** Child process of the benchmark: loads one part, runs it once, sends its rows to the parent. */
import { pathToFileURL } from "node:url";
import type { Part } from "./part.ts";

const part = (await import(pathToFileURL(process.argv[2]).href)) as Part;
const rows = await part.run();
process.once("disconnect", () => process.exit(0)); // The parent has them. A part may have left a pool or a socket open.
process.send?.(rows);
