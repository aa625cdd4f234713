/**
 * Progress of a build, in memory shared by both threads: the builder writes it, and readers look without any message.
 */

const BUILD_STAGES = ["waiting", "reading", "meshing", "assembling", "done"] as const;
export type BuildStage = (typeof BUILD_STAGES)[number];

/** int32 words: stage, and the finished part of it in units of 1 / STEPS. */
const WORDS = 2;
const STEPS = 1000;

export class BuildProgress {
  readonly shared: SharedArrayBuffer;
  readonly #words: Int32Array;

  constructor(shared = new SharedArrayBuffer(4 * WORDS)) {
    this.shared = shared;
    this.#words = new Int32Array(shared);
  }

  /** @param done 0 to 1 */
  tell(stage: BuildStage, done = 0): void {
    Atomics.store(this.#words, 1, Math.round(STEPS * Math.min(1, Math.max(0, done))));
    Atomics.store(this.#words, 0, BUILD_STAGES.indexOf(stage));
  }

  look(): { stage: BuildStage; done: number } {
    return { stage: BUILD_STAGES[Atomics.load(this.#words, 0)]!, done: Atomics.load(this.#words, 1) / STEPS };
  }
}
