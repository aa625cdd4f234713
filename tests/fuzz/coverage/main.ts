/**
 * `npm run fuzz:coverage`: searches for inputs that reach code which no input of the corpus reaches, and for inputs
 * that cause errors. Exits with code 1 if it found an error.
 *
 *   npm run fuzz:coverage -- [--target scenes] [--executions 100000] [--seed 1] [--keep]
 *
 * `--keep` writes the inputs with new coverage into tests/fuzz/corpus/<target>, to be committed.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { Random } from "../random.ts";
import { Blocks } from "./blocks.ts";
import { search } from "./search.ts";

// First: V8 counts only blocks of code that is compiled from then on.
const blocks = new Blocks(/\/(server|shared)\//);
const { TARGETS } = await import("./targets.ts");

const { values } = parseArgs({
  options: {
    target: { type: "string" },
    executions: { type: "string", default: "100000" },
    seed: { type: "string", default: "1" },
    keep: { type: "boolean", default: false },
  },
});
const chosen = TARGETS.filter(({ name }) => values.target === undefined || name === values.target);
const executions = Number(values.executions);
if (chosen.length === 0 || !Number.isInteger(executions) || executions < 0) {
  process.stderr.write(
    `fuzz: --target: one of ${TARGETS.map(({ name }) => name).join(", ")}; --executions: 0 or more\n`,
  );
  process.exit(2);
}

const report: Record<string, unknown>[] = [];
for (const target of chosen) {
  const folder = new URL(`../corpus/${target.name}/`, import.meta.url);
  const files = existsSync(folder) ? readdirSync(folder).sort() : [];
  const known = files.map((file) => new Uint8Array(readFileSync(new URL(file, folder))));
  const seeds = (await search(target, [], blocks, new Random(0), 0)).reached;
  const { corpus, reached, findings } = await search(
    target,
    known,
    blocks,
    new Random(Number(values.seed)),
    executions,
  );
  if (values.keep) {
    mkdirSync(folder, { recursive: true });
    for (const input of corpus.filter((kept) => !target.seeds.includes(kept))) {
      const name = createHash("sha256").update(input).digest("hex").slice(0, 16);
      if (!files.includes(name)) writeFileSync(new URL(name, folder), input);
    }
  }
  report.push({
    target: target.name,
    corpus: files.length,
    seeds,
    reached,
    findings: findings.map(({ input, error }) => ({
      input: Buffer.from(input).toString("base64").slice(0, 2000),
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    })),
  });
  if (findings.length > 0) process.exitCode = 1;
}
process.stdout.write(`${JSON.stringify(report, null, 1)}\n`);
