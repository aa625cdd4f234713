/**
 * Coverage-guided fuzzing: keeps the inputs that execute code which no earlier input executed, and makes new inputs
 * from the kept ones (as AFL and libFuzzer do).
 */
import type { Random } from "../random.ts";
import { type Blocks, Reached } from "./blocks.ts";

export interface Target {
  name: string;
  /** Well-formed inputs. */
  seeds: readonly Uint8Array[];
  /** Makes another input from one or two inputs. */
  mutate: (input: Uint8Array, other: Uint8Array, random: Random) => Uint8Array;
  /** Runs the code. @throws errors other than documented refusals, which are findings */
  run: (input: Uint8Array) => void | Promise<void>;
}

interface Found {
  input: Uint8Array;
  error: unknown;
}

export interface Outcome {
  /** Inputs with new coverage; the given ones come first. */
  corpus: Uint8Array[];
  /** Characters of source that the corpus executes. */
  reached: number;
  findings: Found[];
}

/** Inputs in one coverage reading: a reading takes longer than running an input. */
const BATCH = 64;
/** Larger inputs are not kept, so that a corpus runs in seconds. */
const MOST_BYTES = 16 * 1024;
const MOST_FINDINGS = 10;

/** @param corpus inputs of earlier searches */
export async function search(
  target: Target,
  corpus: readonly Uint8Array[],
  blocks: Pick<Blocks, "take">,
  random: Random,
  executions: number,
): Promise<Outcome> {
  const reached = new Reached();
  const kept: Uint8Array[] = [];
  const findings: Found[] = [];
  const run = async (input: Uint8Array): Promise<void> => {
    try {
      await target.run(input);
    } catch (error) {
      if (findings.length < MOST_FINDINGS) findings.push({ input, error });
    }
  };
  /** Runs inputs together. If the batch has new coverage, splits it in halves down to the single input. */
  const keepNew = async (inputs: readonly Uint8Array[]): Promise<void> => {
    const before = findings.length;
    for (const input of inputs) await run(input);
    const fresh = blocks.take().filter((ran) => reached.grows(ran));
    // An input that causes an error is a finding and is not kept.
    if (fresh.length === 0 || (inputs.length === 1 && findings.length > before)) return;
    if (inputs.length === 1) {
      for (const ran of fresh) reached.add(ran);
      kept.push(...inputs);
      return;
    }
    findings.length = before;
    const half = Math.ceil(inputs.length / 2);
    await keepNew(inputs.slice(0, half));
    await keepNew(inputs.slice(half));
  };
  blocks.take();
  for (const input of [...target.seeds, ...corpus]) await keepNew([input]);
  const given = findings.length;
  for (let done = 0; done < executions && findings.length - given < MOST_FINDINGS; done += BATCH) {
    const inputs = Array.from({ length: BATCH }, () =>
      target.mutate(random.pick(kept), random.pick(kept), random),
    ).filter(({ byteLength }) => byteLength <= MOST_BYTES);
    await keepNew(inputs);
  }
  return { corpus: kept, reached: reached.size, findings };
}
