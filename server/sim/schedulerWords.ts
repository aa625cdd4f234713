/**
 * The words by which helpers are steered from outside of the kernel (kernel/assembly/step/step.ts): a tick is opened
 * for helpers and closed, one helper is sent away, one is found dead. Any thread may do that; it never waits.
 */
import * as L from "../kernel/assembly/layout/layout.ts";

/** Helpers that a room can have beside its orchestrator; their rows are 1 .. MOST_HELPERS. */
export const MOST_HELPERS = L.MAX_THREADS - 1;

export class SchedulerWords {
  private readonly words: Int32Array;

  constructor(memory: WebAssembly.Memory) {
    this.words = new Int32Array(memory.buffer);
  }

  /**
   * Helpers of this generation may claim what the orchestrator publishes from now on. To be called before the
   * orchestrator steps.
   * @param generation int32, not 0, another one than the last tick's
   */
  open(generation: number): void {
    const at = (L.HEADER + L.H_ACTIVE) / 4;
    // A tick that came to its end has no chunk that nobody finished: who was lost since then was lost outside of one.
    for (const word of [L.H_TORN, L.H_JOINED, L.H_CHUNKS_SHARED, L.H_CHUNKS_HELPED])
      Atomics.store(this.words, (L.HEADER + word) / 4, 0);
    Atomics.store(this.words, at, generation);
    Atomics.notify(this.words, at);
  }

  /** The tick is over, however it ended: helpers leave. */
  close(): void {
    Atomics.store(this.words, (L.HEADER + L.H_ACTIVE) / 4, 0);
    this.wake();
  }

  /** Is this generation's tick open? */
  isOpen(generation: number): boolean {
    return Atomics.load(this.words, (L.HEADER + L.H_ACTIVE) / 4) === generation;
  }

  /** For a helper that is about to come. @param slot 1 .. MOST_HELPERS, nobody's at the moment */
  clear(slot: number): void {
    Atomics.store(this.words, this.row(slot) + L.HELPER_LEAVES / 4, 0);
    Atomics.store(this.words, this.row(slot) + L.HELPER_CLAIMS / 4, 0);
  }

  /** The helper leaves as soon as its chunk is done. */
  sendAway(slot: number): void {
    Atomics.store(this.words, this.row(slot) + L.HELPER_LEAVES / 4, 1);
    this.wake();
  }

  /**
   * The helper's thread has ended. If that was in the middle of a chunk, nobody will finish it: the orchestrator stops
   * waiting and throws.
   * @returns true if so
   */
  lost(slot: number): boolean {
    if (Atomics.load(this.words, this.row(slot) + L.HELPER_CLAIMS / 4) === 0) return false;
    Atomics.store(this.words, (L.HEADER + L.H_TORN) / 4, 1);
    Atomics.notify(this.words, (L.HEADER + L.H_DONE) / 4);
    return true;
  }

  /**
   * What orchestrator and helpers did in the tick that was opened last; a helper that went away and came back counts as
   * two threads.
   */
  lastTick(): { threads: number; shared: number; helped: number } {
    const word = (offset: number): number => Atomics.load(this.words, (L.HEADER + offset) / 4);
    return { threads: 1 + word(L.H_JOINED), shared: word(L.H_CHUNKS_SHARED), helped: word(L.H_CHUNKS_HELPED) };
  }

  /** Changes whenever a phase is opened, and a chunk claimed or done. */
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

  /** Sleeping helpers look around. */
  private wake(): void {
    const at = (L.HEADER + L.H_OPENED) / 4;
    Atomics.add(this.words, at, 1);
    Atomics.notify(this.words, at);
  }
}
