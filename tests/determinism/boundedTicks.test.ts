/**
 * A tick whose counted work reaches its limit ends early, and the next call continues the same tick. No simulated time
 * is lost. Ticks end at the same substeps in any process, with any number of threads.
 */
import { expect, test } from "vitest";
import { drive } from "../../load-tests/extremes/drive.ts";
import { knobsOf } from "../../load-tests/extremes/knobs.ts";
import * as L from "../../server/kernel/assembly/layout/layout.ts";
import { loadState, saveState } from "../../server/sim/world/checkpoint.ts";
import { createWorld } from "../../server/sim/world/createWorld.ts";
import { readScene } from "../../server/sim/scene/readScene.ts";
import { openWorld, type SimWorld } from "../../server/sim/world.ts";
import { copyMemory } from "../../server/workers/stepping/memoryCopy.ts";
import { StepWorkers } from "../../server/sim/threads/stepWorkers.ts";
import { validateScene } from "../../shared/scene/sceneValidator.ts";
import { inLong } from "../support/run/long.ts";
import { build, script, type Built } from "./run.ts";

/** Limit of counted work a call, in units of about 10 ns. A tick of these scenes with contacts needs more. */
const LIMIT = 100_000;
const TICKS = 60;
/** Ticks at which visitors begin to pull and push. Without estimates three of them took 1.23 to 1.27 of the limit. */
const STARTS = inLong(
  Array.from({ length: 45 }, (_, n) => n),
  [1, 2, 12, 30],
);

function limit(memory: WebAssembly.Memory, units: number): void {
  new Int32Array(memory.buffer)[(L.HEADER + L.H_WORK_LIMIT) / 4] = units;
}

/** Counted work of the last call of `step`, in units. */
function workOf({ memory }: Built): number {
  return new Int32Array(memory.buffer)[(L.HEADER + L.H_WORK) / 4]!;
}

/** Steps until `ticks` whole ticks are simulated. @returns the number of calls that ended early */
function finish(world: SimWorld, ticks: number): number {
  let unfinished = 0;
  for (let done = 0; done < ticks; ) {
    world.step([]);
    if (world.isUnfinished) unfinished++;
    else done++;
  }
  return unfinished;
}

test("bodies without contact end with the same bits, whether ticks take one call or many", async () => {
  const { memory, layout } = await build("stretched-cloth");
  const one = { memory: copyMemory(memory), layout };
  const many = { memory: copyMemory(memory), layout };
  limit(many.memory, 1000);
  const whole = openWorld(one.memory, layout);
  const cut = openWorld(many.memory, layout);
  whole.mayRest = cut.mayRest = false;
  expect(finish(whole, 30)).toBe(0);
  expect(finish(cut, 30)).toBeGreaterThan(30);
  const particles = (of: WebAssembly.Memory, at: number): Buffer =>
    Buffer.from(of.buffer, at, 16 * layout.particleCount);
  for (const at of [layout.x, layout.v])
    expect(Buffer.compare(particles(one.memory, at), particles(many.memory, at))).toBe(0);
  expect(cut.tickNumber).toBeGreaterThan(whole.tickNumber);
  expect(cut.stepped).toBe(whole.stepped);
});

test("a bounded tick ends at its limit, or after its first substep if that alone exceeds the limit", async () => {
  const created = await build("hundred-bodies");
  limit(created.memory, LIMIT);
  const { layout } = created;
  const world = openWorld(created.memory, layout);
  const substep = (): number => new Int32Array(created.memory.buffer)[(L.HEADER + L.H_NEXT_SUBSTEP) / 4]!;
  let early = 0;
  for (let tick = 0; tick < TICKS; tick++) {
    const before = substep();
    world.step([]);
    const done = (world.isUnfinished ? substep() : layout.substeps) - before;
    early += world.isUnfinished ? 1 : 0;
    expect(done).toBeGreaterThan(0);
    // the estimate for the next substep is the cost of the last one, so the last substep may exceed the limit
    if (done > 2) expect(workOf(created)).toBeLessThan(2 * LIMIT);
  }
  expect(early).toBeGreaterThan(10);
});

test("a fluid with floating bodies has the same ticks and bits in any world object", async () => {
  const created = await build("tank");
  const { layout } = created;
  limit(created.memory, 1);
  const memory = copyMemory(created.memory);
  const kept = openWorld(memory, layout);
  const ends = (world: SimWorld): string => {
    do world.step([]);
    while (world.isUnfinished);
    return world.stateHash();
  };
  const others = copyMemory(created.memory);
  for (let tick = 0; tick < 3; tick++) {
    const hash = ends(kept);
    do openWorld(others, layout).step([]);
    while (openWorld(others, layout).isUnfinished);
    expect(openWorld(others, layout).stateHash()).toBe(hash);
  }
  expect(kept.tickNumber).toBe(3 * layout.substeps);
});

test("threads, new world objects and a checkpoint in the middle of a tick do not change the hash", async () => {
  const created = await build("hundred-bodies");
  const { layout } = created;
  limit(created.memory, LIMIT);
  const hash = async (threads: number): Promise<string> => {
    const memory = copyMemory(created.memory);
    const world = openWorld(memory, layout);
    const workers = await StepWorkers.start(world, memory, threads);
    try {
      for (let tick = 1; tick <= TICKS; tick++) workers.step(script(tick));
    } finally {
      await workers.stop();
    }
    return world.stateHash();
  };
  const alone = await hash(1);
  expect(await hash(3)).toBe(alone);

  let memory = copyMemory(created.memory);
  for (let tick = 1; tick <= TICKS; tick++) openWorld(memory, layout).step(script(tick));
  expect(openWorld(memory, layout).stateHash()).toBe(alone);

  memory = copyMemory(created.memory);
  const live = openWorld(memory, layout);
  let tick = 0;
  do live.step(script(++tick));
  while (!live.isUnfinished || tick < 22);
  const restored = copyMemory(created.memory);
  loadState(restored, layout, saveState(memory, created.memory, layout));
  const other = openWorld(restored, layout);
  expect(other.isUnfinished).toBe(true);
  while (++tick <= TICKS) {
    live.step(script(tick));
    other.step(script(tick));
    expect(other.stateHash(), `tick ${tick}`).toBe(live.stateHash());
  }
});

test("shared work of sheets that rest near each other is counted as that of one thread", async () => {
  const material = { density: 300, thickness: 0.001, youngsModulus: 2e5, poissonsRatio: 0.3, bendingStiffness: 2e-5 };
  const sheets = [0, 1, 2].map((n) => ({
    name: `sheet ${n}`,
    kind: "cloth",
    mesh: { type: "grid", size: [0.4, 0.4], cells: [16, 16] },
    transform: { translate: [0, 0.00095 * n, 0] },
    contact: { thickness: 0.001 },
    material,
  }));
  const scene = { version: 1, title: "sheets", tickHz: 60, substeps: 10, iterations: 1, gravity: [0, 0, 0] };
  const alone = await createWorld(validateScene({ ...scene, bodies: sheets }), { baseDir: "scenes" });
  const shared = { ...alone, memory: copyMemory(alone.memory) };
  const worlds = [alone, shared].map(({ memory, layout }) => openWorld(memory, layout));
  // the orchestrator cuts work into parts as if a helper were present, though none takes any
  worlds[1]!.helpers = true;
  new Int32Array(shared.memory.buffer)[(L.HEADER + L.H_HELPERS_INSIDE) / 4] = 1;
  for (let tick = 1; tick <= 6; tick++) {
    for (const world of worlds) world.step([]);
    expect(workOf(shared), `tick ${tick}`).toBe(workOf(alone));
  }
});

test("a reset in the middle of a tick starts a new tick", async () => {
  const created = await build("hundred-bodies");
  limit(created.memory, LIMIT);
  const world = openWorld(created.memory, created.layout);
  while (!world.isUnfinished) world.step([]);
  const fresh = openWorld(copyMemory(created.memory), created.layout);
  for (const one of [world, fresh]) one.step([{ type: "reset", member: 1 }]);
  expect(fresh.stateHash()).toBe(world.stateHash());
  expect(world.tangled).toBe(false);
});

test("three grabs and impulses at their limits exceed the work of a tick by a tenth at most", async () => {
  const created = await createWorld(await readScene("scenes/tangled-hands.json"), { baseDir: "scenes", bounded: true });
  const impulses = knobsOf(created.layout).find(({ pushes }) => pushes)!;
  // the sheets fall on each other differently at each start
  for (const settleTicks of STARTS) {
    const { work, ticks } = drive("tangled-hands", created, impulses, {
      hands: 3,
      seconds: 0.6,
      settleTicks,
      atMostSeconds: Infinity,
    });
    expect(ticks.length).toBe(36);
    expect(work, `start at tick ${settleTicks}`).toBeGreaterThan(0.7);
    expect(work, `start at tick ${settleTicks}`).toBeLessThan(1.1);
  }
});
