/**
 * Runs a few ticks of a hidden room on every thread, so that the first visitor's ticks do not wait until the kernel
 * is compiled and the codec optimized. Thread time of the first tick, measured with `bunny`: 11 to 12 ms without
 * warm-up, 1 to 3 ms with it.
 */
import type { Rebuild } from "../persistence/history.ts";
import type { RoomPool } from "../workers/pool.ts";
import type { SceneTemplate } from "./scenes/sceneLibrary.ts";
import { RoomSimulation } from "./ticks/simulation.ts";

/** After this many ticks, all bundled scenes have reached their final tick time. */
const WARM_UP_TICKS = 10;

/**
 * @param pool the shared pool
 * @param threads number of parallel warm-ups: a busy thread leaves the next warm-up to another thread
 */
export async function warmUp(template: SceneTemplate, pool: RoomPool, threads: number): Promise<void> {
  await Promise.all(
    Array.from({ length: threads }, async () => {
      const simulation = await RoomSimulation.open(template, pool);
      // If the warm-up loses a thread, the scene's rooms would lose it too.
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
