/**
 * `node main.ts <url> <attacks, by commas> <seconds>`: one address, 127.0.0.1, does all of these at once; then says how
 * long it had a processor, s, and ends.
 */
import { ATTACKS } from "./attacks.ts";

const [url, names, seconds] = process.argv.slice(2) as [string, string, string];
const attacks = names.split(",").map((attack) => {
  const start = ATTACKS[attack];
  if (!start) throw new Error(`there is no attack ${attack}; there are ${Object.keys(ATTACKS).join(", ")}`);
  return start;
});
// Refusals of any kind are what it is about.
process.on("unhandledRejection", () => {});
process.on("uncaughtException", () => {});
for (const start of attacks) void start(url);
setTimeout(() => {
  const { user, system } = process.cpuUsage();
  process.send!((user + system) / 1e6, () => process.exit(0));
}, 1000 * Number(seconds));
