/**
 * Searches for four bytes in a row, of 32 values each, that chance finds once in a million tries. Runs with guidance
 * and without, and prints both results as JSON.
 */
import { Random } from "../random.ts";
import { Blocks } from "./blocks.ts";
import { search, type Target } from "./search.ts";

const blocks = new Blocks(/\/lock\.ts$/);
const { unlock } = await import("./lock.ts");
const target: Target = {
  name: "lock",
  seeds: [new Uint8Array(4)],
  mutate: (input, _other, random) => {
    const copy = Uint8Array.from(input);
    copy[random.below(copy.length)] = random.below(32);
    return copy;
  },
  run: unlock,
};
const EXECUTIONS = 64 * 60;
const guided = (await search(target, [], blocks, new Random(1), EXECUTIONS)).findings.length;
// Coverage that is never new after the seed.
let calls = 0;
const nothing = { take: () => (++calls === 2 ? [{ name: "the seed", whole: [0, 1] as const, missed: [] }] : []) };
const blind = (await search(target, [], nothing, new Random(1), EXECUTIONS)).findings.length;
process.stdout.write(`${JSON.stringify({ guided, blind })}\n`);
