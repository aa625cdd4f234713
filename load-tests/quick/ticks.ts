/** Ticks of a simulation, measured repeatedly from the same state: every repetition has the same bits. */
import type { Scene } from "../../shared/scene/scene.ts";
import { createWorld, type CreatedWorld } from "../../server/sim/world/createWorld.ts";
import type { Input } from "../../server/sim/types.ts";
import { openWorld, type SimWorld } from "../../server/sim/world.ts";
import { copyMemory, filledOf } from "../../server/workers/stepping/memoryCopy.ts";
import type { Figure, Options } from "./figure.ts";
import { repeat } from "./repeat.ts";

/** Snapshot of a memory's content. */
class Moment {
  readonly #memory: WebAssembly.Memory;
  readonly #content: WebAssembly.Memory;
  #filled: Uint32Array;

  constructor(memory: WebAssembly.Memory) {
    this.#memory = memory;
    this.#filled = filledOf(memory);
    this.#content = copyMemory(memory, this.#filled);
  }

  /** Must be called once after the first repetition: finds the pages that all later repetitions will write, too. */
  sawWrites(): void {
    this.#filled = Uint32Array.from([...this.#filled, ...filledOf(this.#memory)]);
  }

  restore(): void {
    const from = new Uint8Array(this.#content.buffer);
    const to = new Uint8Array(this.#memory.buffer);
    for (let i = 0; i < this.#filled.length; i += 2)
      to.set(from.subarray(this.#filled[i], this.#filled[i + 1]), this.#filled[i]);
  }
}

export interface TicksOptions {
  /** Folder of the scene's files. */
  baseDir?: string;
  /** Ticks before the measured ones. */
  settle: number;
  ticks: number;
  /** Ticks measured as one piece; default 1. A piece shorter than 2 ms is less exact. */
  perPiece?: number;
  /** Called before the first measured tick of each repetition; returns the inputs of each tick, in order. */
  inputs?: (created: CreatedWorld, world: SimWorld) => () => Input[];
}

/** Mean CPU time of a tick. */
export async function ticksOf(scene: Scene, options: TicksOptions, how: Options): ReturnType<Figure["measure"]> {
  const { baseDir = ".", settle, ticks, perPiece = 1, inputs } = options;
  const created = await createWorld(scene, { baseDir });
  const { memory, layout } = created;
  const open = (): SimWorld => {
    const world = openWorld(memory, layout);
    world.mayRest = false;
    return world;
  };
  const before = open();
  for (let tick = 0; tick < settle; tick++) before.step([]);
  const moment = new Moment(memory);
  let hash: string | undefined;
  const measured = await repeat(async (time) => {
    if (hash !== undefined) moment.restore();
    const world = open();
    const next = inputs?.(created, world);
    for (let tick = 0; tick < ticks; tick += perPiece)
      await time(() => {
        for (let i = tick; i < Math.min(tick + perPiece, ticks); i++) world.step(next?.() ?? []);
      });
    if (hash === undefined) moment.sawWrites();
    hash ??= world.stateHash();
    if (world.stateHash() !== hash) throw new Error(`state ${world.stateHash()} after the same ticks, was ${hash}`);
  }, how);
  return { ...measured, ms: measured.ms / ticks, hash: hash! };
}
