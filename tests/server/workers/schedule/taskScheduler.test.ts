/**
 * One room on several threads of the pool: the state equals that of one thread, whichever helpers join, come late, are
 * called away or die. Real pools, real threads. The times of kills are random, and every possible outcome is checked.
 */
import { fileURLToPath } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { Piscina } from "piscina";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as L from "../../../../server/kernel/assembly/layout/layout.ts";
import { FrameState } from "../../../../server/workers/stepping/frameState.ts";
import type {
  BuildResult,
  HelpTask,
  InspectResult,
  OpenResult,
  RoomHandle,
  StepResult,
} from "../../../../server/workers/messages.ts";
import { WorkerPools, type RoomPool } from "../../../../server/workers/pool.ts";
import { StepThread } from "../../../../server/workers/stepping/stepThread.ts";
import { type SchedulerThread, TaskScheduler } from "../../../../server/workers/schedule/taskScheduler.ts";
import { StepsRunning } from "../../../../server/workers/stepping/stepsRunning.ts";
import { inLong } from "../../../support/run/long.ts";

const TICKS = 20;
const onError = (error: Error): void => {
  throw error;
};
const scene = (name: string): string =>
  fileURLToPath(
    new URL(
      `../../../../${name === "sheet" ? "tests/integration/scenes/victim" : `scenes/${name}`}.json`,
      import.meta.url,
    ),
  );

/**
 * Bodies of tetrahedra that fall on each other, and a sheet in contact with itself: phases of the program, and work
 * that is shared out during them.
 */
const SCENES = ["jelly-stack", "drape"];
const built = new Map<string, BuildResult>();
/** State after TICKS ticks by one thread. */
const alone = new Map<string, string>();

/**
 * Splits the phases of a substep into two chunks each, so that a helper is inside a long one most of the time. The
 * division of work does not change the result.
 */
function cutInHalves({ memory }: RoomHandle): void {
  const i32 = new Int32Array(memory.buffer);
  const word = (offset: number): number => i32[(L.HEADER + offset) / 4]!;
  for (let phase = 0; phase < word(L.H_PHASES); phase++) {
    const row = (word(L.H_PROGRAM) + phase * L.PHASE_BYTES) / 4;
    if (i32[row + L.PHASE_CHUNKS / 4]! < 2) continue;
    i32[row + L.PHASE_CHUNK / 4] = Math.ceil(i32[row + L.PHASE_COUNT / 4]! / 2);
    i32[row + L.PHASE_CHUNKS / 4] = 2;
  }
}

let handles = 0;
async function open(pool: Pick<RoomPool, "open">, name: string): Promise<RoomHandle> {
  const { template, filled, layout, topology, topologyHash } = built.get(name)!;
  return {
    key: `shared-${handles++}`,
    ...(await pool.open({ template, filled, layout })),
    template,
    layout,
    topology,
    topologyHash,
  };
}

async function run(pool: RoomPool, room: RoomHandle, ticks: number): Promise<StepResult[]> {
  const results: StepResult[] = [];
  for (let tick = 1; tick <= ticks; tick++)
    results.push(await pool.step({ room, tick, inputs: [], delta: "moving", keyframe: tick === 1 }));
  return results;
}

beforeAll(async () => {
  const pools = new WorkerPools({ workers: 1, roomThreads: 1, heavyMs: 1000, stepDeadlineMs: 60_000, onError });
  const pool = pools.forRoom("shared");
  for (const name of [...SCENES, "sheet", "funnel"]) {
    built.set(name, await pools.build({ scenePath: scene(name) }));
    const room = await open(pool, name);
    await run(pool, room, TICKS);
    alone.set(name, (await pool.inspect({ room })).stateHash);
  }
  await pools.close();
});

/** A room may have at most eight; on two cores they mostly wait for each other. */
describe.each(inLong([2, 4, 8], [4]))("%i threads", (threads) => {
  let pools: WorkerPools;
  beforeAll(
    () =>
      (pools = new WorkerPools({
        workers: threads,
        roomThreads: threads,
        heavyMs: 0.01,
        stepDeadlineMs: 60_000,
        onError,
      })),
  );
  afterAll(() => pools.close());

  test.each(SCENES)("%s ends in the state of one thread, and helpers did some of the work", async (name) => {
    const pool = pools.forRoom("shared");
    const room = await open(pool, name);
    const results = await run(pool, room, TICKS);
    expect((await pool.inspect({ room })).stateHash).toBe(alone.get(name));
    expect(results.reduce((sum, { work }) => sum + work.helped, 0)).toBeGreaterThan(0);
    expect(Math.max(...results.map(({ work }) => work.threads))).toBeGreaterThan(1);
    for (const { work } of results) {
      expect(work.threads).toBeLessThanOrEqual(threads);
      expect(work.helped).toBeLessThanOrEqual(work.shared);
    }
  });

  test("several heavy rooms at once share helpers", async () => {
    const pool = pools.forRoom("shared");
    const names = [...SCENES, SCENES[0]!];
    const rooms = await Promise.all(names.map((name) => open(pool, name)));
    await Promise.all(rooms.map((room) => run(pool, room, TICKS)));
    const hashes = await Promise.all(rooms.map(async (room) => (await pool.inspect({ room })).stateHash));
    expect(hashes).toEqual(names.map((name) => alone.get(name)));
  });
});

test("a light room is stepped by one thread, a heavy one by at most its limit", async () => {
  const pools = new WorkerPools({ workers: 4, roomThreads: 2, heavyMs: 1000, stepDeadlineMs: 60_000, onError });
  const light = pools.forRoom("shared");
  expect((await run(light, await open(light, "drape"), 10)).map(({ work }) => work)).toEqual(
    Array(10).fill({ threads: 1, shared: 0, helped: 0 }),
  );
  await pools.close();
  const eager = new WorkerPools({ workers: 4, roomThreads: 2, heavyMs: 0.01, stepDeadlineMs: 60_000, onError });
  const heavy = eager.forRoom("shared");
  for (const { work } of await run(heavy, await open(heavy, "drape"), 30)) expect(work.threads).toBeLessThanOrEqual(2);
  await eager.close();
});

test("light rooms move between threads, which are told of rooms that they do not know", async () => {
  const pools = new WorkerPools({ workers: 3, roomThreads: 1, heavyMs: 1000, stepDeadlineMs: 60_000, onError });
  const pool = pools.forRoom("shared");
  const names = ["drape", "jelly-stack", "drape", "jelly-stack"];
  const rooms = await Promise.all(names.map((name) => open(pool, name)));
  await Promise.all(rooms.map((room) => run(pool, room, TICKS)));
  // One after the other on any idle thread, including threads that did not have this room.
  expect(await Promise.all(rooms.map(async (room) => (await pool.inspect({ room })).stateHash))).toEqual(
    names.map((name) => alone.get(name)),
  );
  await pools.close();
});

test("tasks run in the order of their arrival: rooms that never pause do not delay opening, inspecting or stepping others", async () => {
  const pools = new WorkerPools({ workers: 1, roomThreads: 1, heavyMs: 1000, stepDeadlineMs: 60_000, onError });
  const pool = pools.forRoom("shared");
  const rooms = await Promise.all(Array.from({ length: 6 }, () => open(pool, "sheet")));
  const steps = rooms.map(() => 0);
  let over = false;
  const busy = rooms.map(async (room, i) => {
    while (!over) await pool.step({ room, tick: ++steps[i]!, inputs: [], delta: "none", keyframe: false });
  });
  try {
    for (let tries = 0; tries < 5; tries++) {
      const before = steps.reduce((sum, n) => sum + n);
      const room = await open(pool, "sheet");
      const opened = steps.reduce((sum, n) => sum + n);
      await pool.inspect({ room });
      // While the room is opened, and while it is inspected, each other room takes at most one step, and one ends.
      expect(opened - before).toBeLessThanOrEqual(rooms.length + 1);
      expect(steps.reduce((sum, n) => sum + n) - opened).toBeLessThanOrEqual(rooms.length + 1);
    }
  } finally {
    over = true;
    await Promise.all(busy);
    await pools.close();
  }
});

/** Separate pools of threads that step and threads that help, so that only helpers can be killed. */
/** Rooms never have this much memory. */
const BEYOND = 2 ** 31 - 65_536;

describe("helpers that die", () => {
  const filename = fileURLToPath(new URL("../../../../server/workers/stepping/simWorker.ts", import.meta.url));
  const threads: Worker[] = [];
  const note = (worker: Worker): void => void threads.push(worker);
  const options = { mostThreads: 3, heavySeconds: 1e-5 };
  const threadOptions = { running: new StepsRunning(), deadlineMs: 60_000, onLost: () => {} };
  let own: Piscina;
  let lent: Piscina;
  let stepper: StepThread;
  let helpers: StepThread[];
  let scheduler: TaskScheduler;
  beforeAll(async () => {
    own = new Piscina({ filename, minThreads: 1, maxThreads: 1, idleTimeout: Infinity });
    stepper = new StepThread({ ...threadOptions, pool: own, slot: 0 });
    process.on("worker", note);
    lent = new Piscina({ filename, minThreads: 2, maxThreads: 2, idleTimeout: Infinity });
    helpers = [1, 2].map((slot) => new StepThread({ ...threadOptions, pool: lent, slot }));
    scheduler = new TaskScheduler({ ...options, threads: [...helpers.map(helpsOnly), stepper] });
  });
  afterAll(async () => {
    process.off("worker", note);
    for (const thread of [stepper, ...helpers]) thread.close();
    await Promise.all([own.destroy(), lent.destroy()]);
  });

  /** A thread that never gets a room's own steps: the test knows where the room is stepped. */
  function helpsOnly(thread: StepThread): SchedulerThread {
    return {
      get up() {
        return true;
      },
      get pending() {
        return thread.pending;
      },
      get overdue() {
        return thread.overdue;
      },
      run: (name, task) => thread.run(name, task),
      step: (task, turn, begun) => stepper.step(task, turn, begun),
    };
  }

  const pool = { open: (task: object): Promise<OpenResult> => stepper.run("open", task) };
  const hashOf = async (room: RoomHandle): Promise<string> =>
    (await stepper.run<InspectResult>("inspect", { room })).stateHash;
  /** The step's own error, not a deadline's. */
  const expectTorn = (room: RoomHandle, failed: unknown): void => {
    expect(failed).toMatchObject({ message: "unreachable" });
    expect(new FrameState(room.frames).busy).toBe(true);
  };
  const step = (room: RoomHandle, tick: number, by = scheduler): Promise<StepResult> =>
    by.step({ room, tick, inputs: [], delta: "none", keyframe: false });

  test("a killed helper costs its room nothing, or is noticed at once if it was in the middle of a chunk", async () => {
    let whole = 0;
    let helped = 0;
    // On a busy machine a helper may come too late for all of a room's ticks.
    for (let tries = 0; tries < inLong(8, 4) || helped === 0 || whole === 0; tries++) {
      const room = await open(pool, "sheet");
      cutInHalves(room);
      let failed: unknown;
      for (let tick = 1; tick <= TICKS && failed === undefined; tick++) {
        const result = step(room, tick);
        if (tick === TICKS / 2) {
          // Spread over the milliseconds of a tick: a helper that works, looks for work, sleeps, or has left.
          await sleep(tries % 6);
          await threads[threads.length - 1 - (tries % 2)]!.terminate();
        }
        await result.then(
          ({ work }) => (helped += work.helped),
          (error: unknown) => (failed = error),
        );
      }
      if (failed === undefined) {
        expect(await hashOf(room)).toBe(alone.get("sheet"));
        whole++;
      } else expectTorn(room, failed);
    }
  }, 120_000);

  test("a helper lost in the middle of a chunk: the tick ends at once, and the room knows that its memory is torn", async () => {
    // Its spill area is beyond the memory's limit: it traps at the first body whose rotation it fits.
    const beyond = (room: RoomHandle): RoomHandle => ({
      ...room,
      key: `${room.key}-astray`,
      layout: { ...room.layout, scratch: BEYOND } as RoomHandle["layout"],
    });
    const astray = helpers.map(
      (thread): SchedulerThread => ({
        ...helpsOnly(thread),
        pending: 0,
        overdue: 0,
        run: (name, task) => thread.run(name, { ...(task as HelpTask), room: beyond((task as HelpTask).room) }),
      }),
    );
    const by = new TaskScheduler({ ...options, threads: [...astray, stepper] });
    // A helper that is late finds no work, so the test repeats until one is lost.
    for (let failed: unknown; failed === undefined; ) {
      const room = await open(pool, "funnel");
      for (let tick = 1; tick <= 20 * TICKS && failed === undefined; tick++)
        await step(room, tick, by).catch((error: unknown) => (failed = error));
      if (failed !== undefined) expectTorn(room, failed);
    }
  });

  test("a helper that never starts is not waited for", async () => {
    const never = helpers.map(
      (thread): SchedulerThread => ({ ...helpsOnly(thread), pending: 0, overdue: 0, run: () => new Promise(() => {}) }),
    );
    const by = new TaskScheduler({ ...options, threads: [...never, stepper] });
    const room = await open(pool, "jelly-stack");
    for (let tick = 1; tick <= TICKS; tick++) await step(room, tick, by);
    expect(await hashOf(room)).toBe(alone.get("jelly-stack"));
  });
});
