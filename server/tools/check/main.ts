/**
 * `npm run check:collisions`: checks a recording for intersections and penetrations. It has its own broad phase, its
 * own tests, and exact decisions. It imports no simulation code, so errors there are not repeated here.
 */
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { checkRecording } from "./check.ts";
import { writeRaw } from "./raw.ts";
import { openRecording, RecordingError } from "./recording.ts";
import { summaryLines, tableHead, tableRows, Tally } from "./report.ts";
import type { FrameFindings } from "./findings.ts";

const USAGE = `npm run check:collisions -- recorded-dir [--list n] [--threads n] [--raw dir] [--json]
  recorded-dir   output folder of npm run simulate -- scene.json --ticks N --record recorded-dir --every substep
  --list n       print the n deepest findings of each frame (default 1)
  --threads n    threads, 1 to 64 (default: one per core, at most 4); the result does not depend on it
  --raw dir      also write the input for other programs, little-endian, without a header:
                   positions.f32  float32 x y z of every vertex, frames back to back
                   triangles.u32  uint32, three vertices each, of all bodies and colliders
                   groups.u32     uint32 a vertex: its body from 0; all colliders are the group after the last body
                 They do not contain which pairs the scene allows to intersect.
  --json         print everything as one line of JSON
  --help         this text
Exit code: 0 no intersections, 1 intersections found, 2 the recording cannot be checked.
Checks: triangles that intersect in a frame (touching counts); vertices through triangles and edges through edges between frames, in straight
lines; particles below planes. Pairs with a common vertex are skipped, except for the far sides of intersecting neighbors.`;

class UsageError extends Error {}

function readOptions(args: string[]): {
  dir: string;
  threads: number;
  list: number;
  raw: string | undefined;
  json: boolean;
} {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      threads: { type: "string", default: String(Math.min(4, availableParallelism())) },
      list: { type: "string", default: "1" },
      raw: { type: "string" },
      json: { type: "boolean", default: false },
    },
  });
  if (positionals.length !== 1) throw new UsageError(`recorded-dir: ${positionals.length} given, limit: exactly one`);
  const integer = (name: string, text: string, high: number): number => {
    const n = /^\d+$/.test(text) ? Number(text) : NaN;
    if (!(n >= 1 && n <= high))
      throw new UsageError(`--${name}: ${text === "" ? "empty" : text}, limit: a whole number from 1 to ${high}`);
    return n;
  };
  if (values.raw === "") throw new UsageError("--raw: empty, limit: a folder");
  return {
    dir: positionals[0]!,
    threads: integer("threads", values.threads, 64),
    list: integer("list", values.list, 10_000),
    raw: values.raw,
    json: values.json,
  };
}

function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}

async function main(): Promise<void> {
  if (process.argv.includes("--help")) return console.log(USAGE);
  const { dir, threads, list, raw, json } = readOptions(process.argv.slice(2));
  const recording = openRecording(dir);
  if (raw !== undefined) writeRaw(recording, raw);
  const tally = new Tally(recording);
  const kept: FrameFindings[] = [];
  let headed = false;
  await checkRecording(recording, {
    threads,
    most: list,
    onFrames: (frames, judged) => {
      progress("");
      for (const frame of frames) {
        tally.add(frame);
        if (json) kept.push(frame);
        else {
          if (!headed) console.log(tableHead());
          headed = true;
          tableRows(frame).forEach((row) => console.log(row));
        }
      }
      progress(`frame ${judged} of ${recording.frames}`);
    },
  });
  progress("");
  const { summary } = tally;
  if (json)
    console.log(
      JSON.stringify({ recording: dir, title: recording.title, every: recording.every, ...summary, findings: kept }),
    );
  else summaryLines(summary, recording).forEach((line) => console.log(line));
  process.exitCode = summary.framesWithFindings > 0 ? 1 : 0;
}

main().catch((error: unknown) => {
  progress("");
  if (error instanceof UsageError || (error as { code?: string }).code?.startsWith("ERR_PARSE_ARGS"))
    console.error(`${(error as Error).message}\n\n${USAGE}`);
  // syscall: the file system's own errors name the file
  else if (error instanceof RecordingError || (error as NodeJS.ErrnoException).syscall !== undefined)
    console.error((error as Error).message);
  else console.error(error);
  process.exitCode = 2;
});
