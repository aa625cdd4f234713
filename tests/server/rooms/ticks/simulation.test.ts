/**
 * A room's handling of lost threads. One is lost after a step was done, and before it could report it: the room's
 * memory is a tick ahead of the room (on real threads). For another one a closing room is waiting.
 */
import { fileURLToPath } from "node:url";
import { expect, test, vi } from "vitest";
import { RoomHistory } from "../../../../server/persistence/history.ts";
import { type Recover, RoomSimulation } from "../../../../server/rooms/ticks/simulation.ts";
import type { SceneTemplate } from "../../../../server/rooms/scenes/sceneLibrary.ts";
import { FrameState } from "../../../../server/workers/stepping/frameState.ts";
import type { StepTask } from "../../../../server/workers/messages.ts";
import { type RoomPool, WorkerPools } from "../../../../server/workers/pool.ts";
import { ThreadLost } from "../../../../server/workers/threadLost.ts";

const task = (tick: number): Parameters<RoomSimulation["step"]>[0] => ({
  tick,
  inputs: [],
  delta: "moving",
  keyframe: false,
});

test("a step whose result was lost is not stepped twice", async () => {
  const pools = new WorkerPools({
    workers: 1,
    roomThreads: 1,
    heavyMs: 1000,
    stepDeadlineMs: 60_000,
    onError: (error) => {
      throw error;
    },
  });
  try {
    const built = await pools.build({
      scenePath: fileURLToPath(new URL("../../../integration/scenes/cube.json", import.meta.url)),
    });
    const template = { ...built, memory: built.template, scene: "cube", text: "" } as unknown as SceneTemplate;
    const real = pools.forRoom("shared");
    let lose = false;
    const simulation = await RoomSimulation.open(template, {
      ...real,
      step: async (step) => {
        const result = await real.step(step);
        if (lose) throw new Error("lost on the way");
        return result;
      },
    });
    const history = new RoomHistory(60, 60);
    const rebuild = (): ReturnType<RoomHistory["rebuild"]> => history.rebuild(history.tick);
    const step = async (tick: number): Promise<string> => {
      const outcome = await simulation.step(task(tick), rebuild);
      if (outcome.kind === "stepped") history.stepped(tick, []);
      return outcome.kind;
    };
    for (let tick = 1; tick <= 20; tick++) expect(await step(tick)).toBe("stepped");
    lose = true;
    expect(await step(21)).toBe("rebuilt");
    lose = false;
    expect((await simulation.inspect()).tick).toBe(20);
    expect(await step(21)).toBe("stepped");
    const { stateHash } = await simulation.inspect();
    const whole = await RoomSimulation.open(template, real);
    for (let tick = 1; tick <= 21; tick++) await whole.step(task(tick), rebuild);
    expect((await whole.inspect()).stateHash).toBe(stateHash);
  } finally {
    await pools.close();
  }
});

test("a room that closes while it waits for a trial alone is not charged", async () => {
  const open = async (): ReturnType<RoomPool["open"]> => ({
    memory: {} as WebAssembly.Memory,
    frames: FrameState.allocate(0),
  });
  const replayed = { tick: 0, ticks: 0, held: [], absent: [], stateHash: "none", differs: null };
  const lost = new ThreadLost("no_progress", true, null);
  const pool = {
    kind: "shared",
    open,
    step: ({ room }: StepTask) => {
      new FrameState(room.frames).enter(1);
      return Promise.reject(lost);
    },
    save: () => Promise.reject(lost),
    replay: async () => replayed,
    withdraw: () => {},
    memoryEnded: () => {},
    release: async () => {},
    // The thread is another room's, and stays so.
    alone: (signal: AbortSignal) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error))),
  } as unknown as RoomPool;
  for (const work of ["step", "save"] as const) {
    const simulation = await RoomSimulation.open({} as SceneTemplate, pool);
    const charges: boolean[] = [];
    const recover: Recover = (charged) => {
      charges.push(charged);
      return { ...new RoomHistory(60, 60).rebuild(0), alone: true };
    };
    const done = work === "step" ? simulation.step(task(1), recover) : simulation.save(recover);
    const failed = expect(done).rejects.toThrow("aborted");
    await vi.waitUntil(() => charges.length === 1);
    await simulation.close();
    await failed;
    expect(charges).toEqual([true]);
  }
});
