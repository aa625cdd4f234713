/**
 * Loaded before server/main.ts (`--import`): writes the messages of its diagnostics channels as lines of JSON into the
 * file TRACE_FILE, with times since the epoch.
 */
import { subscribe } from "node:diagnostics_channel";
import { createWriteStream } from "node:fs";

const out = createWriteStream(process.env.TRACE_FILE!);

for (const name of ["pliant.input", "pliant.tick"]) {
  subscribe(
    name,
    (message) =>
      void out.write(`${JSON.stringify({ name, origin: performance.timeOrigin, ...(message as object) })}\n`),
  );
}
