/**
 * `npm run simulate:histories -- [--count 10000] [--seed 1] [--faults kill,cut] [--into file] [--trace] [--whole]`:
 * histories of several servers on one database in virtual time, judged by a model (docs/SIMULATION.md). --into keeps
 * what came of them in a file, and goes on where that ends: a million can be run in many sittings. --trace prints a
 * history though nothing is wrong with it; --whole prints a wrong one as it was, not the smallest that breaks the same
 * rule. Exit code 0: all held; 1: one did not; 2: the arguments are none.
 */
import { parseArgs } from "node:util";
import type { Outcome, Stage } from "./history.ts";
import { FAULTS, type Fault, type Plan, planOf, EVERY_FAULT } from "./plan.ts";
import { prepareStage, runPlan } from "./run.ts";
import { shrink } from "./shrink.ts";
import { goOn, readTally, type Tally } from "./tally.ts";

/** Wrong histories that are printed; of the others the seeds are. */
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
  console.log(`again: npm run simulate:histories -- --seed ${seed} --count 1 --faults ${faults.join(",")}\n`);
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
