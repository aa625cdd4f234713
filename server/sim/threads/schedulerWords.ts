/**
 * Words that control helpers from outside of the kernel (kernel/assembly/step/step.ts). They open and close a tick for
 * helpers, send one helper away, or mark one as lost. Any thread may write them; no call waits.
 */
import * as L from "../../kernel/assembly/layout/layout.ts";

/** Largest number of helpers of a room, besides its orchestrator; their rows are 1 .. MOST_HELPERS. */
export const MOST_HELPERS = L.MAX_THREADS - 1;

export class SchedulerWords {
  private readonly words: Int32Array;

  constructor(memory: WebAssembly.Memory) {
    this.words = new Int32Array(memory.buffer);
  }

  /**
   * Lets helpers of this generation claim the chunks that the orchestrator publishes from now on. Call it before the
   * orchestrator steps.
   * @param generation int32, not 0, different from the last tick's
   */
  open(generation: number): void {
    const at = (L.HEADER + L.H_ACTIVE) / 4;
    // A finished tick has no unfinished chunk: helpers lost since then were lost between ticks.
    for (const word of [L.H_TORN, L.H_JOINED, L.H_CHUNKS_SHARED, L.H_CHUNKS_HELPED])
      Atomics.store(this.words, (L.HEADER + word) / 4, 0);
    Atomics.store(this.words, at, generation);
    Atomics.notify(this.words, at);
  }

  /** Ends the tick, successful or not: helpers leave. */
  close(): void {
    Atomics.store(this.words, (L.HEADER + L.H_ACTIVE) / 4, 0);
    this.wake();
  }

  /** Whether this generation's tick is open. */
  isOpen(generation: number): boolean {
    return Atomics.load(this.words, (L.HEADER + L.H_ACTIVE) / 4) === generation;
  }

  /**
   * Prepares a slot for a helper that is about to join.
   * @param slot 1 .. MOST_HELPERS, currently unused
   */
  clear(slot: number): void {
    Atomics.store(this.words, this.row(slot) + L.HELPER_LEAVES / 4, 0);
    Atomics.store(this.words, this.row(slot) + L.HELPER_CLAIMS / 4, 0);
  }

  /** Makes the helper leave as soon as its chunk is done. */
  sendAway(slot: number): void {
    Atomics.store(this.words, this.row(slot) + L.HELPER_LEAVES / 4, 1);
    this.wake();
  }

  /**
   * Reports that the helper's thread has ended. If it was working on a chunk, that chunk never ends: the orchestrator
   * stops waiting and throws.
   * @returns true in that case
   */
  lost(slot: number): boolean {
    if (Atomics.load(this.words, this.row(slot) + L.HELPER_CLAIMS / 4) === 0) return false;
    Atomics.store(this.words, (L.HEADER + L.H_TORN) / 4, 1);
    Atomics.notify(this.words, (L.HEADER + L.H_DONE) / 4);
    return true;
  }

  /**
   * Work of orchestrator and helpers in the last opened tick; a helper that left and came back counts as two threads.
   */
  lastTick(): { threads: number; shared: number; helped: number } {
    const word = (offset: number): number => Atomics.load(this.words, (L.HEADER + offset) / 4);
    return { threads: 1 + word(L.H_JOINED), shared: word(L.H_CHUNKS_SHARED), helped: word(L.H_CHUNKS_HELPED) };
  }

  /** A number that changes whenever a phase is opened, or a chunk is claimed or done. */
  progress(): number {
    const word = (offset: number): number => Atomics.load(this.words, (L.HEADER + offset) / 4);
    let sum = word(L.H_OPENED) + word(L.H_DONE);
    for (let n = 0; n < L.MAX_THREADS; n++) sum += word(L.H_HELPERS + n * L.HELPER_BYTES + L.HELPER_NEXT);
    return sum;
  }

  /** Address of a helper's spill area. */
  static scratch(layout: { scratch: number }, slot: number): number {
    return layout.scratch + slot * L.SCRATCH_BYTES;
  }

  private row(slot: number): number {
    if (!Number.isInteger(slot) || slot < 1 || slot > MOST_HELPERS)
      throw new RangeError(`slot: ${slot}, limit 1 to ${MOST_HELPERS}`);
    return (L.HEADER + L.H_HELPERS + slot * L.HELPER_BYTES) / 4;
  }

  /** Wakes sleeping helpers. */
  private wake(): void {
    const at = (L.HEADER + L.H_OPENED) / 4;
    Atomics.add(this.words, at, 1);
    Atomics.notify(this.words, at);
  }
}
