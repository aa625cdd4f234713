/**
 * `node load-tests/codec/bench.ts [recording ...] [--quantum 0.0005] [--json]`: bytes per particle and frame, and
 * times, of the snapshot codec. A recording is a folder written by `npm run simulate -- scene.json --record dir`.
 * Without one it uses its own cloths and a wobbling surface.
 */
import { parseArgs } from "node:util";
import { clothTrajectory } from "./clothTrajectory.ts";
import { type Figures, measure } from "./measure.ts";
import { readRecording } from "./recording.ts";
import { wobbleTrajectory } from "./wobbleTrajectory.ts";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { quantum: { type: "string", default: "0.0005" }, json: { type: "boolean", default: false } },
});
const quantum = Number(values.quantum);
if (!(quantum > 0)) throw new Error(`--quantum is ${values.quantum}, must be a positive length in m`);

const sources =
  positionals.length > 0
    ? positionals.map((dir) => () => readRecording(dir, quantum))
    : [
        () => clothTrajectory({ quantum }),
        () => clothTrajectory({ side: 101, seconds: 6, quantum }),
        () => wobbleTrajectory(),
      ];

function table({ name, particles, modelMs, keyframeBytesPerParticle, keyframeEncodeMs, phases }: Figures): string {
  const cells = [
    ["", "frames", "bytes/particle", "worst", "kbps", "encode ms", "decode ms"],
    ...phases.map((row) => [
      row.phase,
      String(row.frames),
      row.bytesPerParticle.toFixed(3),
      row.worstFrame.toFixed(2),
      row.kbps.toFixed(0),
      row.encodeMs.toFixed(2),
      row.decodeMs.toFixed(2),
    ]),
  ];
  const widths = cells[0].map((_, column) => Math.max(...cells.map((row) => row[column].length)));
  return [
    `${name}: ${particles} particles`,
    ...cells.map(
      (row) => `  ${row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join("  ")}`,
    ),
    `  keyframe ${keyframeBytesPerParticle.toFixed(2)} bytes/particle, ${keyframeEncodeMs.toFixed(2)} ms; model ${modelMs.toFixed(0)} ms`,
  ].join("\n");
}

const all: Figures[] = [];
for (const source of sources) {
  const figures = measure(source());
  all.push(figures);
  if (!values.json) console.log(`${table(figures)}\n`);
}
console.log(JSON.stringify(all));
