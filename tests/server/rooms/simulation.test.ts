/**
 * A thread that is lost after a step was done, and before it could say so: the room's memory is a tick ahead of what
 * the room knows. On real threads.
 */
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { RoomHistory } from "../../../server/persistence/history.ts";
import { RoomSimulation } from "../../../server/rooms/simulation.ts";
import type { SceneTemplate } from "../../../server/rooms/sceneLibrary.ts";
import { WorkerPools } from "../../../server/workers/pool.ts";

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
      scenePath: fileURLToPath(new URL("../../integration/scenes/cube.json", import.meta.url)),
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
