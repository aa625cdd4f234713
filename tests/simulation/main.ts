/**
 * `npm run simulate:histories -- [--count 10000] [--seed 1] [--faults kill,cut] [--into file] [--trace] [--whole]`:
 * runs histories of several servers on one database in virtual time, checked by a model (docs/SIMULATION.md). --into
 * keeps the results in a file and continues from there, so that a million histories can run in several sessions.
 * --trace prints a history even if it passes. --whole prints a failed history as it was, not the smallest one that
 * breaks the same rule. Exit code 0: all passed; 1: one failed; 2: invalid arguments.
 */
import { parseArgs } from "node:util";
import type { Outcome, Stage } from "./history.ts";
import { FAULTS, type Fault, type Plan, planOf, EVERY_FAULT } from "./plan.ts";
import { prepareStage, runPlan } from "./run.ts";
import { shrink } from "./shrink.ts";
import { goOn, readTally, type Tally } from "./tally.ts";

/** Failed histories that are printed in full; of further ones only the seed is printed. */
const MOST_PRINTED = 3;
const PROGRESS = 10_000;

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "10000" },
    seed: { type: "string", default: "1" },
    faults: { type: "string", default: EVERY_FAULT.join(",") },
    into: { type: "string" },
    trace: { type: "boolean", default: false },
    whole: { type: "boolean", default: false },
  },
});

function number(name: "count" | "seed"): number {
  const value = Number(values[name]);
  if (Number.isInteger(value) && value >= 1 && value <= 2 ** 31) return value;
  console.error(`--${name} is ${values[name]}, but must be an integer from 1 to ${2 ** 31}`);
  return process.exit(2);
}

const faults = values.faults.split(",") as Fault[];
for (const fault of faults) {
  if (fault in FAULTS) continue;
  console.error(`--faults is ${fault}, but must be of ${Object.keys(FAULTS).join(", ")}`);
  process.exit(2);
}

function print({ actions, ...about }: Plan, { lines }: Outcome): void {
  console.log(JSON.stringify(about));
  for (const action of actions) console.log(`  ${JSON.stringify(action)}`);
  for (const line of lines) console.log(line);
}

async function printWrong(stage: Stage, { seed, violation }: Outcome): Promise<void> {
  const plan = planOf(seed, faults);
  const smallest = values.whole ? plan : await shrink(stage, plan, violation!.rule);
  print(smallest, await runPlan(stage, smallest, true));
  console.log(`to repeat: npm run simulate:histories -- --seed ${seed} --count 1 --faults ${faults.join(",")}\n`);
}

function startTally(): Tally {
  try {
    return readTally(values.into, seed, faults);
  } catch (error) {
    console.error((error as Error).message);
    return process.exit(2);
  }
}

const [seed, count] = [number("seed"), number("count")];
const tally = startTally();
const stage = await prepareStage();
const violations = await goOn(stage, tally, {
  count,
  ...(values.into !== undefined && { file: values.into }),
  report: ({ violation, seed: wrong }) => {
    if (violation) console.log(`seed ${wrong}: ${violation.message}`);
    if (tally.done % PROGRESS === 0) console.error(`${tally.done} of ${count}`);
  },
});
if (values.trace) print(planOf(seed, faults), await runPlan(stage, planOf(seed, faults), true));
else for (const wrong of violations.slice(0, MOST_PRINTED)) await printWrong(stage, wrong);
const rules = new Map<string, number>();
for (const { rule } of tally.wrong) rules.set(rule, (rules.get(rule) ?? 0) + 1);
for (const [rule, times] of rules) console.log(`${times} times: ${rule}`);
console.log(
  `${tally.done} histories from seed ${seed}, ${Math.round(tally.virtualMinutes)} virtual minutes, ${tally.ticks} ticks,`,
  `${(tally.done / tally.cpuSeconds).toFixed(0)} a second of one core: ${tally.wrong.length} wrong`,
);
process.exit(tally.wrong.length > 0 ? 1 : 0);
