/**
 * `npm run simulate`: steps a scene without clients. Prints stage timings and the state hash; can record the positions.
 */
import { writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { Scene } from "../../shared/scene/scene.ts";
import type { IsotropicMaterial } from "../../shared/scene/sceneMaterials.ts";
import { SceneError } from "../../shared/scene/sceneError.ts";
import { MeshError } from "../meshing/mesh.ts";
import type { FoundInMesh } from "../sim/body/meshes.ts";
import { createWorld, type CreatedWorld } from "../sim/world/createWorld.ts";
import { StepWorkers } from "../sim/threads/stepWorkers.ts";
import { EnergyLedger } from "../sim/energy/ledger.ts";
import { ledgerAsCsv, ledgerAsJson, summaryLines, summaryOf, type BodySummary } from "../sim/energy/writeLedger.ts";
import { readScene } from "../sim/scene/readScene.ts";
import { Recorder } from "../sim/world/record.ts";
import { type ContactCounts, noSeconds, STAGES } from "../sim/types.ts";
import { openWorld } from "../sim/world.ts";
import { SCENE_DEFAULTS } from "../sim/scene/defaults.ts";
import type { Inexact } from "../sim/scene/chooseSolvers.ts";
import type { StandIn } from "../sim/scene/standIns.ts";
import type { Form } from "../sim/constraints/constraint.ts";
import { askedSteps } from "../sim/scene/substeps.ts";
import { type MemoryUse, memoryUse } from "../sim/memory/usage.ts";

const USAGE = `npm run simulate -- scene.json --ticks N [--threads n] [--record dir] [--every tick|substep] [--energy file.json|file.csv] [--rest] [--json]
  --ticks N      ticks to step (required)
  --threads n    threads on this one scene, 1 to 16; the result does not depend on it (default 1)
  --record dir   write manifest.json and positions.f32 there; frame 0 is the initial state
  --every unit   one frame per tick (default) or per substep
  --energy file  write every body's energy, momentum and energy losses by cause, tick by tick; .json or .csv. Takes much longer than the run itself
  --rest         let bodies at rest fall asleep, as rooms do
  --json         print the result as one line of JSON
  --help         this text`;

class UsageError extends Error {}

interface Options {
  scene: string;
  ticks: number;
  threads: number;
  record: string | undefined;
  every: "tick" | "substep";
  energy: string | undefined;
  rest: boolean;
  json: boolean;
}

function readOptions(args: string[]): Options {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      ticks: { type: "string" },
      threads: { type: "string", default: "1" },
      record: { type: "string" },
      every: { type: "string", default: "tick" },
      energy: { type: "string" },
      rest: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
    },
  });
  if (positionals.length !== 1) throw new UsageError(`scene: ${positionals.length} given, limit: exactly one`);
  const integer = (name: string, text: string | undefined, low: number, high: number): number => {
    const n = /^\d+$/.test(text ?? "") ? Number(text) : NaN;
    if (!(n >= low && n <= high))
      throw new UsageError(
        `--${name}: ${text === "" ? "empty" : (text ?? "missing")}, limit: a whole number from ${low} to ${high}`,
      );
    return n;
  };
  if (values.every !== "tick" && values.every !== "substep")
    throw new UsageError(`--every: ${values.every}, limit: tick or substep`);
  if (values.energy !== undefined && !/\.(json|csv)$/.test(values.energy))
    throw new UsageError(`--energy: ${values.energy || "empty"}, limit: a file that ends in .json or .csv`);
  return {
    scene: resolve(process.cwd(), positionals[0]!),
    ticks: integer("ticks", values.ticks, 0, 100_000_000),
    threads: integer("threads", values.threads, 1, 16),
    record: values.record,
    every: values.every,
    energy: values.energy,
    rest: values.rest,
    json: values.json,
  };
}

function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}

/** Measurements of a run. */
interface Run {
  /** Time of each tick, ms, ascending. */
  ticks: number[];
  /** Totals over all ticks, s. */
  stages: ReturnType<typeof noSeconds>;
  events: number;
}

/** Steps the scene; prints events and progress to stderr. */
function run(
  workers: StepWorkers,
  count: number,
  recorder: Recorder | undefined,
  ledger: EnergyLedger | undefined,
): Run {
  const stages = noSeconds();
  const ticks: number[] = [];
  let events = 0;
  let shown = performance.now();
  for (let t = 0; t < count; t++) {
    const before = performance.now();
    const { seconds, events: told } = workers.step([]);
    // A yielding mover tells its place in every tick.
    const happened = told.filter(({ type }) => type !== "yielded");
    const tookMs = performance.now() - before;
    ticks.push(tookMs);
    seconds.other = tookMs / 1000 - Object.values(seconds).reduce((sum, s) => sum + s, 0);
    for (const stage of STAGES) stages[stage] += seconds[stage];
    events += happened.length;
    for (const event of happened) console.error(JSON.stringify(event));
    recorder?.write();
    ledger?.closeTick();
    if (performance.now() - shown > 500) {
      shown = performance.now();
      progress(`tick ${t + 1} of ${count}`);
    }
  }
  progress("");
  return { ticks: ticks.sort((a, b) => a - b), stages, events };
}

/** Pressure that a bar of model stvk bears, relative to its modulus: (s - s^3) / 2 at the stretch s = 1 / sqrt 3. */
const STVK_BEARS = 1 / (3 * Math.sqrt(3));

/** Solids of model stvk that are crushed by their own weight when they stand. */
function tooHeavy(scene: Scene, bodies: CreatedWorld["bodies"]): string[] {
  const g = scene.gravity ?? SCENE_DEFAULTS.gravity;
  return scene.bodies.flatMap((body, b) => {
    if (body.kind !== "soft" || body.pins || body.method) return [];
    const { model = "stvk", density, youngsModulus = Infinity } = body.material as IsotropicMaterial;
    if (model !== "stvk") return [];
    const { positions } = bodies[b]!;
    let [least, most] = [Infinity, -Infinity];
    for (let p = 0; p < positions.length; p += 3) {
      const depth = g[0] * positions[p]! + g[1] * positions[p + 1]! + g[2] * positions[p + 2]!;
      [least, most] = [Math.min(least, depth), Math.max(most, depth)];
    }
    return density * (most - least) > STVK_BEARS * youngsModulus ? [body.name] : [];
  });
}

/** Describes the scene for the output: sizes, solver settings and methods; inapplicable fields are left out. */
function shapeOf(scene: Scene, { layout, bodies, inexact, standIns }: CreatedWorld) {
  const asked = askedSteps(scene);
  const methods = layout.methods.map(({ body, spec }) => `${layout.bodies[body]!.name} (${spec.type})`);
  const named = (form: Form): string[] => bodies.filter((b) => b.form === form).map((b) => b.name);
  const implicit = named("implicit");
  const heavy = tooHeavy(scene, bodies);
  const prefactored = named("prefactored");
  return {
    tickHz: layout.tickHz,
    substeps: layout.substeps,
    iterations: layout.iterations,
    ...(asked.substeps < layout.substeps && { asked: `${asked.substeps} x ${asked.iterations}` }),
    ...(implicit.length > 0 && { implicit }),
    ...(prefactored.length > 0 && { prefactored }),
    ...(inexact && { inexact }),
    ...(standIns.length > 0 && { standIns }),
    ...(heavy.length > 0 && { tooHeavy: heavy }),
    ...(methods.length > 0 && { methods }),
    particles: layout.particleCount,
    tetrahedra: bodies.reduce((n, b) => n + b.tets.length / 4, 0),
    triangles: bodies.reduce((n, b) => n + (b.kind === "cloth" ? b.triangles.length / 3 : 0), 0),
  };
}

function ledgerText(
  file: string,
  ledger: EnergyLedger,
  names: string[],
  scene: Scene,
  { layout }: CreatedWorld,
): string {
  const { tickHz, substeps, iterations } = layout;
  return file.endsWith(".csv")
    ? ledgerAsCsv(ledger, names, tickHz)
    : ledgerAsJson(ledger, names, { scene: scene.title, tickHz, substeps, iterations });
}

async function main(): Promise<void> {
  if (process.argv.includes("--help")) return console.log(USAGE);
  const options = readOptions(process.argv.slice(2));
  const scene = await readScene(options.scene);
  const built = performance.now();
  const found: FoundInMesh[] = [];
  const created = await createWorld(scene, {
    baseDir: dirname(options.scene),
    found,
    onProgress: (done, stage) => progress(`building ${Math.round(100 * done)} % ${stage}`),
  });
  progress("");
  for (const note of found) console.error(`${"file" in note ? note.file : note.object}: ${note.code} ${note.text}`);
  const world = openWorld(created.memory, created.layout);
  const workers = await StepWorkers.start(world, created.memory, options.threads);
  world.mayRest = options.rest;
  const buildSeconds = (performance.now() - built) / 1000;
  const recorder =
    options.record === undefined ? undefined : new Recorder(options.record, scene, created, world, options.every);
  recorder?.write();
  const everySubstep = options.every === "substep";
  if (recorder && everySubstep) world.watchSubsteps(() => recorder.write());
  const ledger = options.energy === undefined ? undefined : new EnergyLedger(created, world);

  const { ticks, stages, events } = run(workers, options.ticks, everySubstep ? undefined : recorder, ledger);
  await workers.stop();
  const at = (q: number): number => ticks[Math.min(ticks.length - 1, Math.floor(q * ticks.length))] ?? 0;
  const meanMs = (seconds: number): number => (1000 * seconds) / Math.max(options.ticks, 1);
  const stateHash = world.stateHash();
  const names = created.layout.bodies.map((b) => b.name);
  const result = {
    scene: scene.title,
    ticks: options.ticks,
    threads: options.threads,
    ...shapeOf(scene, created),
    buildSeconds,
    tickMs: { min: at(0), median: at(0.5), p99: at(0.99), max: at(1) },
    stageMs: Object.fromEntries(Object.entries(stages).map(([stage, seconds]) => [stage, meanMs(seconds)])),
    events,
    contact: world.contactCounts(),
    memory: memoryUse(created.memory),
    stateHash,
    ...(found.length > 0 && { notes: found }),
    ...(ledger && { energy: summaryOf(ledger, names) }),
  };
  if (ledger) writeFileSync(options.energy!, ledgerText(options.energy!, ledger, names, scene, created));
  recorder?.close({ stateHash, ticks: options.ticks });
  if (options.json) console.log(JSON.stringify(result));
  else print(result, recorder?.frames);
}

function print(
  r: {
    scene: string;
    particles: number;
    tetrahedra: number;
    triangles: number;
    ticks: number;
    threads: number;
    tickHz: number;
    substeps: number;
    iterations: number;
    asked?: string;
    implicit?: string[];
    prefactored?: string[];
    inexact?: Inexact;
    standIns?: readonly StandIn[];
    tooHeavy?: readonly string[];
    methods?: string[];
    buildSeconds: number;
    tickMs: Record<string, number>;
    stageMs: Record<string, number>;
    events: number;
    contact: ContactCounts;
    memory: MemoryUse;
    stateHash: string;
    energy?: BodySummary[];
  },
  frames: number | undefined,
): void {
  console.log(`${r.scene}: ${r.particles} particles, ${r.tetrahedra} tetrahedra, ${r.triangles} cloth triangles`);
  console.log(
    `${r.ticks} ticks at ${r.tickHz} Hz, ${r.substeps} substeps x ${r.iterations} iterations${r.asked ? ` (refined from ${r.asked})` : ""}, ${r.threads} thread(s); built in ${r.buildSeconds.toFixed(2)} s`,
  );
  console.log(
    `ms per tick   ${Object.entries(r.tickMs)
      .map(([k, v]) => `${k} ${v.toFixed(3)}`)
      .join("   ")}`,
  );
  console.log(
    `mean by stage ${Object.entries(r.stageMs)
      .filter(([, v]) => v > 0)
      .map(([k, v]) => `${k} ${v.toFixed(3)}`)
      .join("   ")}`,
  );
  const periodMs = 1000 / r.tickHz;
  const median = r.tickMs.median!;
  if (median > periodMs)
    console.log(
      `slow motion   a tick has ${periodMs.toFixed(1)} ms: on this machine, with ${r.threads} thread(s), a room with this scene runs at ${Math.round((100 * periodMs) / median)} % of real time`,
    );
  if (r.implicit) console.log(`implicit      ${r.implicit.join(", ")}`);
  if (r.prefactored) console.log(`prefactored   ${r.prefactored.join(", ")}`);
  if (r.inexact) {
    const { body, missing, of, why } = r.inexact;
    const [form, is, too] = {
      stiffness: ["compliant    ", "is", "soft while moving"],
      damping: ["compliant    ", "damps", "little while moving"],
      pace: ["prefactored  ", "swings", "slowly"],
    }[of] as [string, string, string];
    console.log(`${form} ${body} ${is} ${Math.round(100 * missing)} % too ${too}; not implicit because: ${why}`);
  }
  for (const { body, meets } of r.standIns ?? []) console.log(`not implicit  ${body}: it may touch or holds ${meets}`);
  if (r.tooHeavy)
    console.log(`too heavy     ${r.tooHeavy.join(", ")}: model stvk is crushed by this weight; neo-hookean bears it`);
  if (r.methods) console.log(`methods       ${r.methods.join(", ")}`);
  if (frames !== undefined) console.log(`recorded      ${frames} frames`);
  if (r.events) console.log(`events        ${r.events} (above)`);
  console.log(
    `contact       ${Object.entries(r.contact)
      .map(([k, v]) => `${k} ${v}`)
      .join("   ")}`,
  );
  console.log(`memory        ${memoryLine(r.memory, r.particles)}`);
  for (const body of r.energy ?? []) summaryLines(body).forEach((line) => console.log(line));
  console.log(`state hash    ${r.stateHash}`);
}

function memoryLine({ reserved, used, limit, full }: MemoryUse, particles: number): string {
  const [mb, kb] = [(n: number) => (n / 2 ** 20).toFixed(1), (n: number) => (n / 1000 / particles).toFixed(2)];
  const most = `grows to ${mb(limit)} MiB${full.length > 0 ? `, too little for ${full.join(", ")}` : ""}`;
  return `${mb(reserved)} MiB reserved, ${kb(reserved)} KB per particle   ${mb(used)} MiB used, ${kb(used)} KB   ${most}`;
}

main().catch((error: unknown) => {
  progress("");
  if (error instanceof UsageError || (error as { code?: string }).code?.startsWith("ERR_PARSE_ARGS"))
    console.error(`${(error as Error).message}\n\n${USAGE}`);
  // syscall: the file system's own errors name the file
  else if (
    error instanceof SceneError ||
    error instanceof MeshError ||
    (error as NodeJS.ErrnoException).syscall !== undefined
  )
    console.error((error as Error).message);
  else console.error(error);
  process.exitCode = 2;
});
