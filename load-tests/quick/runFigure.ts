/** Child process of the quick guard: measures the figure named by the first argument, and sends it to the parent. */
import { FIGURES } from "./figures.ts";
import type { Reading } from "./guard.ts";

const figure = FIGURES.find(({ name }) => name === process.argv[2])!;
const result = await figure.measure({});
const reading: Reading =
  "bytes" in result
    ? { ...result, value: result.bytes, unit: "bytes" }
    : { ...result, value: result.ms / result.yardstickMs, unit: "yardsticks" };
process.once("disconnect", () => process.exit(0));
process.send?.(reading);
