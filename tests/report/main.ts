/**
 * `npm run report`: runs the figures of tests/report/figures in full and writes one page and its JSON. Progress goes to
 * stderr; the last line on stdout names the page. Exit code 1 if a check fails or a figure throws, 2 if the run could
 * not begin.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { FIGURES } from "./figures/index.ts";
import type { FigureSize } from "./figures/figure.ts";
import { environment } from "./environment.ts";
import { page } from "./page.ts";
import { failures, type Outcome } from "./outcome.ts";
import type { Order, Said } from "./runFigure.ts";

const USAGE = `npm run report -- [--only fig7,uniaxial] [--out dir] [--size full|small] [--jobs n]
  --only ids    these figures; default all
  --out dir     where index.html and report.json go (default build/report)
  --size what   full (default) or small, as in npm test
  --jobs n      figures side by side, each in a thread of its own (default: as many as there are cores, at most 4); timings always run alone
  --help        this text
figures: ${Object.keys(FIGURES).join(", ")}`;

class UsageError extends Error {}

function readOptions(args: string[]): { ids: string[]; out: string; size: FigureSize; jobs: number } {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: "string" },
      out: { type: "string", default: "build/report" },
      size: { type: "string", default: "full" },
      jobs: { type: "string" },
    },
  });
  const ids = values.only?.split(",").filter((id) => id !== "") ?? Object.keys(FIGURES);
  const unknown = ids.find((id) => !(id in FIGURES));
  if (unknown !== undefined || ids.length === 0)
    throw new UsageError(`--only: ${unknown ?? "empty"}, limit: ${Object.keys(FIGURES).join(", ")}`);
  if (values.size !== "full" && values.size !== "small")
    throw new UsageError(`--size: ${values.size}, limit: full or small`);
  const jobs =
    values.jobs === undefined
      ? Math.min(4, availableParallelism())
      : /^\d+$/.test(values.jobs)
        ? Number(values.jobs)
        : NaN;
  if (!(jobs >= 1 && jobs <= 64)) throw new UsageError(`--jobs: ${values.jobs}, limit: a whole number from 1 to 64`);
  return { ids, out: resolve(process.cwd(), values.out), size: values.size, jobs };
}

/** Runs one figure in its own thread, which frees its memory at the end. */
function run(id: string, size: FigureSize): Promise<Outcome> {
  return new Promise((done) => {
    const order: Order = { id, size };
    const worker = new Worker(new URL("./runFigure.ts", import.meta.url), { workerData: order });
    const failed = (error: unknown): void =>
      done({
        id,
        title: id,
        source: "",
        seconds: 0,
        error: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
    let shown = 0;
    worker.on("message", (said: Said) => {
      if (said.type === "outcome") return done(said.outcome);
      if (performance.now() - shown < 2000) return;
      shown = performance.now();
      process.stderr.write(`${id.padEnd(14)} ${String(Math.round(100 * said.done)).padStart(3)} % ${said.stage}\n`);
    });
    worker.on("error", failed);
    worker.on("exit", (code) =>
      failed(new Error(`the thread of ${id} ended with code ${code} before it returned a result`)),
    );
  });
}

async function main(): Promise<void> {
  if (process.argv.includes("--help")) return console.log(USAGE);
  const { ids, out, size, jobs } = readOptions(process.argv.slice(2));
  const started = performance.now();
  // now, not at the end: files may change during the run, and then the load is the report's own
  const conditions = environment(new Date(), size);
  const outcomes = new Map<string, Outcome>();
  const take = async (queue: string[]): Promise<void> => {
    for (let id = queue.shift(); id !== undefined; id = queue.shift()) {
      const outcome = await run(id, size);
      const bad = failures(outcome);
      outcomes.set(id, outcome);
      process.stderr.write(
        `${id.padEnd(14)} ${bad.length === 0 ? "passed" : "FAILED"} in ${outcome.seconds.toFixed(1)} s${bad.map((text) => `\n  ${text}`).join("")}\n`,
      );
    }
  };
  const alone = new Set<string>();
  for (const id of ids) if ((await FIGURES[id]!()).figure.alone) alone.add(id);
  const queue = ids.filter((id) => !alone.has(id));
  await Promise.all(Array.from({ length: jobs }, () => take(queue)));
  await take(ids.filter((id) => alone.has(id)));

  const report = {
    environment: { ...conditions, seconds: Math.round((performance.now() - started) / 1000), jobs },
    figures: ids.map((id) => outcomes.get(id)!),
  };
  const path = join(out, "index.html");
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, await page(report));
  // pictures are in the page; the JSON has only their captions
  const plain = {
    ...report,
    figures: report.figures.map((f) =>
      "error" in f ? f : { ...f, pictures: f.pictures.map(({ caption }) => ({ caption })) },
    ),
  };
  await writeFile(join(out, "report.json"), `${JSON.stringify(plain, null, 1)}\n`);
  const bad = report.figures.filter((f) => failures(f).length > 0).length;
  console.log(`${report.figures.length - bad} of ${report.figures.length} figures passed: ${path}`);
  if (bad > 0) process.exitCode = 1;
}

main().catch((error: unknown) => {
  if (error instanceof UsageError || (error as { code?: string }).code?.startsWith("ERR_PARSE_ARGS"))
    console.error(`${(error as Error).message}\n\n${USAGE}`);
  else console.error(error);
  process.exitCode = 2;
});
