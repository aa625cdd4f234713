/**
 * `npm run chaos -- [--runs 50] [--seed 1] [--only kill,stop] [--servers 3] [--rooms 8] [--owners 4]`: servers are
 * killed, paused and cut off from their database, and many members reconnect at once. After each scenario judge.ts
 * checks its guarantees. Needs PostgreSQL's programs. The same seed chooses the same scenarios and times. Exit code 0:
 * all passed; 1: one failed.
 */
import { parseArgs } from "node:util";
import { findPostgres } from "../support/postgres.ts";
import { chaos } from "./run.ts";
import { SCENARIOS } from "./scenarios.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "50" },
    seed: { type: "string", default: "1" },
    only: { type: "string", default: Object.keys(SCENARIOS).join(",") },
    servers: { type: "string", default: "3" },
    rooms: { type: "string", default: "8" },
    owners: { type: "string", default: "4" },
  },
});
const number = (name: "runs" | "seed" | "servers" | "rooms" | "owners", most: number): number => {
  const value = Number(values[name]);
  if (Number.isInteger(value) && value >= 1 && value <= most) return value;
  console.error(`--${name} is ${values[name]}, but must be an integer from 1 to ${most}`);
  return process.exit(2);
};
const only = values.only.split(",");
for (const name of only) {
  if (name in SCENARIOS) continue;
  console.error(`--only is ${name}, but must be of ${Object.keys(SCENARIOS).join(", ")}`);
  process.exit(2);
}
const bin = findPostgres();
if (bin === undefined) {
  console.error("PostgreSQL was not found. docs/TESTS.md says how to install it.");
  process.exit(2);
}
const outcomes = await chaos({
  bin,
  runs: number("runs", 100_000),
  seed: number("seed", 2 ** 31),
  servers: number("servers", 20),
  rooms: number("rooms", 60),
  playersPerRoom: 2,
  owners: number("owners", 60),
  only,
  report: ({ run, scenario, harmMs, backMs, stillMs, pledged, returned, wrong }) => {
    console.log(
      `${String(run).padStart(4)}  ${scenario.padEnd(12)} ${(harmMs / 1000).toFixed(1).padStart(6)} s, all back after ${(backMs / 1000).toFixed(1).padStart(5)} s, longest pause of a room ${(stillMs / 1000).toFixed(1).padStart(5)} s; ${pledged} acknowledged just before a kill, ${returned} returns${wrong.length > 0 ? "  WRONG" : ""}`,
    );
    for (const line of wrong) console.log(`      ${line}`);
  },
});
const sum = (of: "pledged" | "returned"): number => outcomes.reduce((total, outcome) => total + outcome[of], 0);
const wrong = outcomes.filter((outcome) => outcome.wrong.length > 0).length;
console.log(
  `${outcomes.length} runs, ${wrong} wrong; ${sum("pledged")} acknowledged in the second before a kill, ${sum("returned")} returns of owners to their sessions; slowest return ${(Math.max(...outcomes.map(({ backMs }) => backMs)) / 1000).toFixed(1)} s`,
);
process.exit(wrong > 0 ? 1 : 0);
