/** Steps that never end and make no progress, on real threads. */
import { vi } from "vitest";
import * as L from "../../../server/kernel/assembly/layout/layout.ts";
import type { SimLayout } from "../../../server/sim/world/worldLayout.ts";
import type { RoomHandle } from "../../../server/workers/messages.ts";
import { type RoomPool, WorkerPools } from "../../../server/workers/pool.ts";

/** Substeps without phases: seconds of CPU time without a preemption point. */
function makeEndless(memory: WebAssembly.Memory): void {
  const words = new Int32Array(memory.buffer);
  words[(L.HEADER + L.H_SUBSTEPS) / 4] = 0x7fffffff;
  words[(L.HEADER + L.H_PHASES) / 4] = 0;
}

/**
 * Makes steps of rooms that `isMeant` chooses endless, in pools that are created from now on.
 * @returns a function that ends it
 */
export function endlessSteps(isMeant: (room: RoomHandle, kind: RoomPool["kind"]) => boolean): () => void {
  const { forRoom } = WorkerPools.prototype;
  const spy = vi.spyOn(WorkerPools.prototype, "forRoom").mockImplementation(function (this: WorkerPools, kind) {
    const pool = forRoom.call(this, kind);
    return {
      ...pool,
      step: (task) => {
        if (isMeant(task.room, kind)) makeEndless(task.room.memory);
        return pool.step(task);
      },
    };
  });
  return () => spy.mockRestore();
}

/** Rooms whose first body has this name. */
export const withBody =
  (name: string) =>
  (room: RoomHandle): boolean =>
    (room.layout as unknown as SimLayout).bodies[0]?.name === name;
