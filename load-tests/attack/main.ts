/**
 * `node main.ts <url> <attacks, comma-separated> <seconds>`: runs these attacks at the same time from one address,
 * 127.0.0.1; then reports its CPU time, s, and ends.
 */
import { ATTACKS } from "./attacks.ts";

const [url, names, seconds] = process.argv.slice(2) as [string, string, string];
const attacks = names.split(",").map((attack) => {
  const start = ATTACKS[attack];
  if (!start)
    throw new Error(`the attack ${attack} does not exist; known attacks are ${Object.keys(ATTACKS).join(", ")}`);
  return start;
});
// The attacks provoke failures of all kinds: ignore them.
process.on("unhandledRejection", () => {});
process.on("uncaughtException", () => {});
for (const start of attacks) void start(url);
setTimeout(() => {
  const { user, system } = process.cpuUsage();
  process.send!((user + system) / 1e6, () => process.exit(0));
}, 1000 * Number(seconds));
