/** `node busy.ts <share> <seconds>`: uses this share of a core, as an attacker does, without sending requests. */
import { setTimeout as sleep } from "node:timers/promises";

/** Length of one uninterrupted piece of work, ms. */
const PIECE_MS = 1;

const [share, seconds] = process.argv.slice(2).map(Number) as [number, number];
const workedMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
const beginMs = performance.now();
const before = workedMs();
for (let nowMs = beginMs; nowMs < beginMs + 1000 * seconds; nowMs = performance.now()) {
  while (workedMs() - before < share * (nowMs - beginMs))
    for (const fromMs = performance.now(); performance.now() < fromMs + PIECE_MS; );
  await sleep(PIECE_MS);
}
