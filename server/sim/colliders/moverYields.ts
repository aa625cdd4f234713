/** Moving colliders that bodies keep off their paths (kernel/assembly/contact/solve/movers.ts), for pages. */
import * as L from "../../kernel/assembly/layout/layout.ts";
import type { MoverRow } from "../../../shared/protocol/fromServer.ts";
import type { SimEvent } from "../types.ts";

/** Changes below this are not told, m. */
const RESOLUTION = 1e-4;

export class MoverYields {
  readonly #memory: WebAssembly.Memory;
  /** Rows as told; undefined: nothing yet, and a reader may know the rows of another world. */
  #told: string | undefined;

  constructor(memory: WebAssembly.Memory) {
    this.#memory = memory;
  }

  /** Adds an event if the rows have changed since the last call. */
  tell(tick: number, events: SimEvent[]): void {
    const { buffer } = this.#memory;
    const header = new Int32Array(buffer, L.HEADER);
    const count = header[L.H_MOTION_COUNT / 4]!;
    if (count === 0) return;
    const movers: MoverRow[] = [];
    for (let n = 0; n < count; n++) {
      const at = header[L.H_MOTIONS / 4]! + n * L.MOTION_BYTES + L.MOTION_YIELD;
      const [x, y, z] = Array.from(
        new Float64Array(buffer, at, 3),
        (part) => RESOLUTION * Math.round(part / RESOLUTION),
      );
      if (x !== 0 || y !== 0 || z !== 0) movers.push([n, x!, y!, z!]);
    }
    const rows = JSON.stringify(movers);
    if (rows === this.#told) return;
    this.#told = rows;
    events.push({ type: "yielded", tick, movers });
  }
}
