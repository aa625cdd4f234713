/**
 * `npm run check:scenes`: runs the contact scenes with many grabs and checks every substep. No surfaces may intersect.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { checkScene, SCENES_FOLDER, type SceneCheck } from "./checkScene.ts";
import { SCRIPTS } from "./scripts.ts";

const USAGE = `npm run check:scenes -- [scene ...] [--ticks N] [--seed n] [--threads n]
  scene          ${Object.keys(SCRIPTS).join(", ")} (default: all)
  --ticks N      ticks of each (default: as many as give 20,000 substeps)
  --seed n       selects other grabs (default 1)
  --threads n    of the checker (default 1)
Exit code: 0 no intersections, 1 intersections.`;
const SUBSTEPS = 20_000;
/** Substeps of a tick; the default of a scene is 10. */
const substepsOf = (name: string): number =>
  (JSON.parse(readFileSync(join(SCENES_FOLDER, `${name}.json`), "utf8")) as { substeps?: number }).substeps ?? 10;

const HEAD = [
  "scene",
  "ticks",
  "substeps",
  "triangles",
  "pairs",
  "static",
  "swept",
  "below",
  "ms mean",
  "ms p99",
  "impulses",
  "zones",
  "stops",
  "asleep",
];
const row = (cells: readonly string[]): string =>
  cells.map((cell, i) => (i === 0 ? cell.padEnd(21) : cell.padStart(10))).join("");
const cellsOf = (r: SceneCheck): string[] => [
  r.scene,
  ...[
    r.ticks,
    r.substeps,
    r.triangles,
    Math.round(r.pairs),
    r.staticIntersections,
    r.sweptCrossings,
    r.belowPlanes,
  ].map(String),
  r.meanMs.toFixed(2),
  r.p99Ms.toFixed(2),
  ...[r.impulses, r.zones, r.stops, r.asleepTicks].map(String),
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    ticks: { type: "string" },
    seed: { type: "string", default: "1" },
    threads: { type: "string", default: "1" },
    help: { type: "boolean" },
  },
});
const unknown = positionals.filter((name) => !SCRIPTS[name]);
const whole = (text: string | undefined): boolean => text === undefined || (/^\d+$/.test(text) && Number(text) > 0);
if (values.help || unknown.length > 0 || ![values.ticks, values.seed, values.threads].every(whole)) {
  console.log(unknown.length > 0 ? `${unknown.join(", ")}: not a contact scene\n\n${USAGE}` : USAGE);
  process.exit(values.help ? 0 : 2);
}
console.log(row(HEAD));
let substeps = 0;
let found = 0;
for (const name of positionals.length > 0 ? positionals : Object.keys(SCRIPTS)) {
  const ticks = values.ticks === undefined ? Math.ceil(SUBSTEPS / substepsOf(name)) : Number(values.ticks);
  const result = await checkScene(name, {
    ticks,
    script: SCRIPTS[name]!(ticks, Number(values.seed)),
    threads: Number(values.threads),
    onTick: (tick, frames) =>
      process.stderr.isTTY &&
      process.stderr.write(`\r\x1b[K${name}: tick ${tick} of ${ticks}, ${frames} frames with findings`),
  });
  if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
  console.log(row(cellsOf(result)));
  for (const f of result.findings.slice(0, 20))
    console.log(
      `  tick ${f.tick} substep ${f.substep}: ${f.kind} ${f.between.join(" | ")} ${f.particles.join(" ")}, ${f.depth.toExponential(2)} m${f.time === undefined ? "" : ` at ${f.time.toFixed(3)}`}`,
    );
  if (result.findings.length > 20) console.log(`  and ${result.findings.length - 20} more frames`);
  for (const event of result.events) console.log(`  ${event}`);
  substeps += result.substeps;
  found += result.findings.length + result.events.length;
}
console.log(`${substeps} substeps, ${found === 0 ? "no intersections" : `${found} frames and events above`}`);
process.exitCode = found === 0 ? 0 : 1;
