/**
 * One room on several threads of the pool: the state is that of one thread, whoever helps, comes late, is called away
 * or dies. Real pools, real threads; what is random here is when threads are killed, and every outcome of that is
 * judged.
 */
import { EventEmitter } from "node:events";
import { fileURLToPath } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { Piscina } from "piscina";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as L from "../../../server/kernel/assembly/layout/layout.ts";
import { Crews } from "../../../server/workers/crews.ts";
import { FrameState } from "../../../server/workers/frameState.ts";
import type {
  BuildResult,
  InspectResult,
  OpenResult,
  RoomHandle,
  StepResult,
} from "../../../server/workers/messages.ts";
import { WorkerPools, type RoomPool } from "../../../server/workers/pool.ts";

const TICKS = 30;
const onError = (error: Error): void => {
  throw error;
};
const scene = (name: string): string =>
  fileURLToPath(
    new URL(
      `../../../${name === "sheet" ? "tests/integration/scenes/victim" : `scenes/${name}`}.json`,
      import.meta.url,
    ),
  );

/**
 * Bodies of tetrahedra that fall on each other, and a sheet that lies on itself: phases of the program, and what is
 * shared out in the middle of them.
 */
const SCENES = ["jelly-stack", "drape"];
const built = new Map<string, BuildResult>();
/** State after TICKS ticks by one thread. */
const alone = new Map<string, string>();

/**
 * Cuts what the phases of a substep do into two chunks each, so that a helper is inside a long one most of the time.
 * Who does what still makes no difference.
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
  const { template, layout, topology, topologyHash } = built.get(name)!;
  return {
    key: `crew-${handles++}`,
    ...(await pool.open({ template, layout })),
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
  const pools = new WorkerPools({ workers: 1, roomThreads: 1, crewMs: 1000, stepDeadlineMs: 60_000, onError });
  const pool = pools.forRoom("shared");
  for (const name of [...SCENES, "sheet", "funnel"]) {
    built.set(name, await pools.build({ scenePath: scene(name) }));
    const room = await open(pool, name);
    await run(pool, room, TICKS);
    alone.set(name, (await pool.inspect({ room })).stateHash);
  }
  await pools.close();
});

describe.each([2, 4, 8])("%i threads", (threads) => {
  let pools: WorkerPools;
  beforeAll(
    () =>
      (pools = new WorkerPools({
        workers: threads,
        roomThreads: threads,
        crewMs: 0.01,
        stepDeadlineMs: 60_000,
        onError,
      })),
  );
  afterAll(() => pools.close());

  test.each(SCENES)("%s ends in the state of one thread, and others have helped", async (name) => {
    const pool = pools.forRoom("shared");
    const room = await open(pool, name);
    const results = await run(pool, room, TICKS);
    expect((await pool.inspect({ room })).stateHash).toBe(alone.get(name));
    expect(results.reduce((sum, { crew }) => sum + crew.helped, 0)).toBeGreaterThan(0);
    expect(Math.max(...results.map(({ crew }) => crew.threads))).toBeGreaterThan(1);
    for (const { crew } of results) {
      expect(crew.threads).toBeLessThanOrEqual(threads);
      expect(crew.helped).toBeLessThanOrEqual(crew.shared);
    }
  });

  test("several heavy rooms at once borrow from each other", async () => {
    const pool = pools.forRoom("shared");
    const names = [...SCENES, SCENES[0]!];
    const rooms = await Promise.all(names.map((name) => open(pool, name)));
    await Promise.all(rooms.map((room) => run(pool, room, TICKS)));
    const hashes = await Promise.all(rooms.map(async (room) => (await pool.inspect({ room })).stateHash));
    expect(hashes).toEqual(names.map((name) => alone.get(name)));
  });
});

test("a light room is stepped by one thread, a heavy one by no more than it may have", async () => {
  const pools = new WorkerPools({ workers: 4, roomThreads: 2, crewMs: 1000, stepDeadlineMs: 60_000, onError });
  const light = pools.forRoom("shared");
  expect((await run(light, await open(light, "drape"), 10)).map(({ crew }) => crew)).toEqual(
    Array(10).fill({ threads: 1, shared: 0, helped: 0 }),
  );
  await pools.close();
  const eager = new WorkerPools({ workers: 4, roomThreads: 2, crewMs: 0.01, stepDeadlineMs: 60_000, onError });
  const heavy = eager.forRoom("shared");
  for (const { crew } of await run(heavy, await open(heavy, "drape"), 30)) expect(crew.threads).toBeLessThanOrEqual(2);
  await eager.close();
});

test("light rooms move between threads, which are told of those that they do not know", async () => {
  const pools = new WorkerPools({ workers: 3, roomThreads: 1, crewMs: 1000, stepDeadlineMs: 60_000, onError });
  const pool = pools.forRoom("shared");
  const names = ["drape", "jelly-stack", "drape", "jelly-stack"];
  const rooms = await Promise.all(names.map((name) => open(pool, name)));
  await Promise.all(rooms.map((room) => run(pool, room, TICKS)));
  // one after the other: whichever thread is idle, some of which have not had this room
  expect(await Promise.all(rooms.map(async (room) => (await pool.inspect({ room })).stateHash))).toEqual(
    names.map((name) => alone.get(name)),
  );
  await pools.close();
});

test("tasks run in the order in which they came: rooms that never pause keep nobody from being opened, looked at or stepped", async () => {
  const pools = new WorkerPools({ workers: 1, roomThreads: 1, crewMs: 1000, stepDeadlineMs: 60_000, onError });
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
      // Steps that had been asked for, and those that were asked for meanwhile: of every room no more than the next
      // one.
      expect(opened - before).toBeLessThanOrEqual(rooms.length + 1);
      expect(steps.reduce((sum, n) => sum + n) - opened).toBeLessThanOrEqual(rooms.length + 1);
    }
    expect(Math.max(...steps) - Math.min(...steps)).toBeLessThanOrEqual(1);
  } finally {
    over = true;
    await Promise.all(busy);
    await pools.close();
  }
}, 20_000);

test("where a room is stepped again beside rooms that tick without a pause, each side has its part of the time", async () => {
  const pools = new WorkerPools({ workers: 1, roomThreads: 1, crewMs: 1000, stepDeadlineMs: 60_000, onError });
  const pool = pools.forRoom("shared");
  const rooms = await Promise.all(Array.from({ length: 6 }, () => open(pool, "sheet")));
  const again = await open(pool, "sheet");
  let over = false;
  let stepped = 0;
  const busy = rooms.map(async (room) => {
    for (let tick = 1; !over; tick++)
      stepped += (await pool.step({ room, tick, inputs: [], delta: "none", keyframe: false })).wholeSeconds;
  });
  try {
    const slices = 25;
    const sliceMs = 8;
    const before = stepped;
    for (let slice = 0; slice < slices; slice++)
      await pool.replay({ room: again, records: [], until: 1e6, fresh: false, sliceMs });
    const steps = stepped - before;
    const others = (slices * sliceMs) / 1000;
    // a quarter of the time for the steps, three for the rest; what a task takes besides is not in these
    expect(steps / (steps + others)).toBeGreaterThan(0.1);
    expect(steps / (steps + others)).toBeLessThan(0.5);
  } finally {
    over = true;
    await Promise.all(busy);
    await pools.close();
  }
}, 20_000);

/** Leaders and helpers in pools of their own, so that helpers alone can be killed. */
describe("helpers that die", () => {
  const filename = fileURLToPath(new URL("../../../server/workers/simWorker.ts", import.meta.url));
  const threads: Worker[] = [];
  const note = (worker: Worker): void => void threads.push(worker);
  let leaders: Piscina;
  let helpers: Piscina;
  let crews: Crews;
  beforeAll(() => {
    leaders = new Piscina({ filename, minThreads: 1, maxThreads: 1, idleTimeout: Infinity });
    process.on("worker", note);
    helpers = new Piscina({ filename, minThreads: 2, maxThreads: 2, idleTimeout: Infinity });
    crews = new Crews({
      threads: 3,
      mostThreads: 3,
      heavySeconds: 1e-5,
      help: (task, signal) => helpers.run(task, { name: "help", signal }),
    });
  });
  afterAll(async () => {
    process.off("worker", note);
    await Promise.all([leaders.destroy(), helpers.destroy()]);
  });

  const pool = { open: (task: object): Promise<OpenResult> => leaders.run(task, { name: "open" }) };
  const hashOf = async (room: RoomHandle): Promise<string> =>
    ((await leaders.run({ room }, { name: "inspect" })) as InspectResult).stateHash;
  /** The leader's own error, not a deadline's. */
  const expectTorn = (room: RoomHandle, failed: unknown): void => {
    expect(failed).toMatchObject({ message: "unreachable" });
    expect(new FrameState(room.frames).busy).toBe(true);
  };
  const step = (room: RoomHandle, tick: number): Promise<StepResult> =>
    crews.step({ room, tick, inputs: [], delta: "none", keyframe: false }, new EventEmitter(), (task) =>
      leaders.run(task, { name: "step" }),
    );

  test("a thread that is killed costs its room nothing, or is noticed at once if it was in the middle of a chunk", async () => {
    let whole = 0;
    let helped = 0;
    for (let tries = 0; tries < 8; tries++) {
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
          ({ crew }) => (helped += crew.helped),
          (error: unknown) => (failed = error),
        );
      }
      if (failed === undefined) {
        expect(await hashOf(room)).toBe(alone.get("sheet"));
        whole++;
      } else expectTorn(room, failed);
    }
    expect(helped).toBeGreaterThan(0);
    expect(whole).toBeGreaterThan(0);
  }, 120_000);

  test("one that is lost in the middle of a chunk: the tick ends at once, and the room knows that its memory is torn", async () => {
    // Its spill area lies outside of the memory: it traps in the first body whose rotation it fits.
    const beyond = (room: RoomHandle): RoomHandle => ({
      ...room,
      key: `${room.key}-astray`,
      layout: { ...room.layout, scratch: room.memory.buffer.byteLength } as RoomHandle["layout"],
    });
    const astray = new Crews({
      threads: 3,
      mostThreads: 3,
      heavySeconds: 1e-5,
      help: (task, signal) => helpers.run({ ...task, room: beyond(task.room) }, { name: "help", signal }),
    });
    const room = await open(pool, "funnel");
    let failed: unknown;
    for (let tick = 1; tick <= 20 * TICKS && failed === undefined; tick++) {
      await astray
        .step({ room, tick, inputs: [], delta: "none", keyframe: false }, new EventEmitter(), (task) =>
          leaders.run(task, { name: "step" }),
        )
        .catch((error: unknown) => (failed = error));
    }
    expectTorn(room, failed);
  });

  test("one that never starts is not waited for", async () => {
    const never = new Crews({ threads: 3, mostThreads: 3, heavySeconds: 1e-5, help: () => new Promise(() => {}) });
    const room = await open(pool, "jelly-stack");
    for (let tick = 1; tick <= TICKS; tick++) {
      await never.step({ room, tick, inputs: [], delta: "none", keyframe: false }, new EventEmitter(), (task) =>
        leaders.run(task, { name: "step" }),
      );
    }
    expect(await hashOf(room)).toBe(alone.get("jelly-stack"));
  });
});
