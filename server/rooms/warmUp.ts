/**
 * A few ticks of a room that nobody sees, on every thread, so that the first visitor's ticks do not wait for the kernel
 * to be compiled and the codec to be optimized. Measured with `bunny`, thread time of the first tick: 11 to 12 ms
 * without it, 1 to 3 ms with it.
 */
import type { Rebuild } from "../persistence/history.ts";
import type { RoomPool } from "../workers/pool.ts";
import type { SceneTemplate } from "./sceneLibrary.ts";
import { RoomSimulation } from "./simulation.ts";

/** After these the ticks of all bundled scenes take what they take later on. */
const WARM_UP_TICKS = 10;

/**
 * @param pool the shared pool
 * @param threads how many warm-ups run side by side: each busy thread leaves the next one to another
 */
export async function warmUp(template: SceneTemplate, pool: RoomPool, threads: number): Promise<void> {
  await Promise.all(
    Array.from({ length: threads }, async () => {
      const simulation = await RoomSimulation.open(template, pool);
      // a thread that is lost in a warm-up is lost in the scene's rooms, too
      const lost = (): Rebuild => {
        throw new Error(`scene ${template.scene}: a thread was lost in its first ticks`);
      };
      for (let tick = 1; tick <= WARM_UP_TICKS; tick++)
        await simulation.step(
          { tick, inputs: [], delta: "always", keyframe: tick % 5 === 1, save: tick % 5 === 0, hash: true },
          lost,
        );
    }),
  );
}
