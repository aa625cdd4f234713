/**
 * `npm run fuzz`: sends hostile frames to a real server over real sockets, after bytes that violate WebSocket itself.
 * Exits with code 1 if anything was found; a finding's seed reproduces it.
 *
 *   npm run fuzz -- --frames 1000000 [--seed 1] [--connections 8] [--json]
 */
import { parseArgs } from "node:util";
import { runFrames } from "./frameRun.ts";
import { Random } from "./random.ts";
import { violate, VIOLATIONS } from "./rawFrames.ts";
import { alarms, startFuzzedServer, type Holdings } from "./fuzzedServer.ts";

const { values } = parseArgs({
  options: {
    frames: { type: "string", default: "100000" },
    seed: { type: "string", default: "1" },
    connections: { type: "string", default: "8" },
    json: { type: "boolean", default: false },
  },
});
const integer = (name: "frames" | "seed" | "connections", low: number, high: number): number => {
  const value = Number(values[name]);
  if (Number.isInteger(value) && value >= low && value <= high) return value;
  process.stderr.write(`fuzz: --${name}: ${values[name]}, limit: a whole number from ${low} to ${high}\n`);
  process.exit(2);
};
const frames = integer("frames", 100, 1e9);
const seed = integer("seed", 0, 2 ** 31);
const connections = integer("connections", 1, 60);

const say = (text: string): void => void process.stderr.write(`${text}\n`);
const shown = ({ rssMb, heapMb, externalMb, files, sessions, rooms }: Holdings): string =>
  `${rssMb.toFixed(0)} MB resident, ${heapMb.toFixed(0)} MB heap, ${externalMb.toFixed(0)} MB beside it, ${files} files, ${sessions} sessions, ${rooms} rooms`;
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const fuzzed = await startFuzzedServer();
const problems: string[] = [];
const random = new Random(seed);
for (const { name, bytes, code } of VIOLATIONS) {
  const ended = await violate(fuzzed.server.url, "plain", bytes(random)).catch(
    (error: unknown) => (error as Error).message,
  );
  if (ended !== code) problems.push(`${name}: ended with ${ended}, not ${code}`);
}

// A fifth of the frames first: one-time allocations are not a leak.
const startMs = performance.now();
const warm = await runFrames({
  url: fuzzed.server.url,
  rooms: fuzzed.rooms,
  frames: Math.ceil(frames / 5),
  seed,
  connections,
});
await sleep(4000);
const before = await fuzzed.holds();
const witnessed = fuzzed.witness.counts.deltas;
say(`after ${warm.frames} frames: ${shown(before)}`);
const rest = await runFrames({
  url: fuzzed.server.url,
  rooms: fuzzed.rooms,
  frames: frames - warm.frames,
  seed: seed + warm.connections,
  connections,
  onProgress: (sent) => say(`${warm.frames + sent} frames, ${((performance.now() - startMs) / 1000).toFixed(0)} s`),
});
await sleep(4000);
const after = await fuzzed.holds();
say(`after ${warm.frames + rest.frames} frames: ${shown(after)}`);

for (const { seed: own, what, sent } of [...warm.findings, ...rest.findings])
  problems.push(`seed ${own}: ${what}; last frame ${sent.at(-1)}`);
if (fuzzed.witness.closed) problems.push(`the witness was closed with ${fuzzed.witness.closed.code}`);
if (fuzzed.witness.counts.deltas <= witnessed) problems.push("the witness got no frames");
if (after.sessions > 1) problems.push(`${after.sessions} sessions are left, only the witness should be`);
if (after.files > before.files) problems.push(`${after.files - before.files} more open files`);
if (after.heapMb > before.heapMb + 5)
  problems.push(`${(after.heapMb - before.heapMb).toFixed(1)} MB more heap in use after garbage collection`);
// Rooms remember their last minutes, and the allocator keeps freed memory. A leak of a frame or a connection would
// exceed this limit many times.
if (after.rssMb > 1.25 * before.rssMb + 10)
  problems.push(`${(after.rssMb - before.rssMb).toFixed(0)} MB more resident memory`);
for (const line of alarms(fuzzed.server.output())) problems.push(`log: ${line.slice(0, 300)}`);
const code = await fuzzed.stop();
if (code !== 0) problems.push(`the server ended with ${code}`);

const add = (a: Record<string, number>, b: Record<string, number>): Record<string, number> =>
  Object.fromEntries(
    [...new Set([...Object.keys(a), ...Object.keys(b)])].sort().map((key) => [key, (a[key] ?? 0) + (b[key] ?? 0)]),
  );
const summary = {
  frames: warm.frames + rest.frames,
  connections: warm.connections + rest.connections,
  seconds: Math.round((performance.now() - startMs) / 1000),
  ends: add(warm.ends, rest.ends),
  notices: add(warm.notices, rest.notices),
  before,
  after,
  problems,
};
process.stdout.write(
  values.json
    ? `${JSON.stringify(summary)}\n`
    : `${summary.frames} frames on ${summary.connections} connections in ${summary.seconds} s\n  closed with  ${JSON.stringify(summary.ends)}\n  notices      ${JSON.stringify(summary.notices)}\n  ${problems.length === 0 ? "nothing found" : `FOUND\n  ${problems.join("\n  ")}`}\n`,
);
process.exitCode = problems.length === 0 ? 0 : 1;
