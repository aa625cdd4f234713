/**
 * A room's encoder state in shared memory, beside its simulation memory, so that any worker can run any tick. It
 * contains the last quantized frame, which is the base of the next delta, its tick, and a flag that marks a torn
 * memory.
 *
 *     int32 [0] busy       1 while a worker is inside a step of this room
 *     int32 [1] sequence   counts steps; with `busy` it lets the watchdog see that one step hangs
 *     int32 [2] frameTick  wire tick of `frame`, -1: none yet
 *     int32 [3] tick       wire tick of the simulation memory
 *     int32 [4] thread     threadId of the last thread that entered a step
 *     int32 [5 ..]         frame: int32[3*streamedParticles]
 *
 * Only one thread writes at a time (a room never has two tasks in flight); the task's own messages order the accesses.
 */
const BUSY = 0;
const SEQUENCE = 1;
const FRAME_TICK = 2;
const TICK = 3;
const THREAD = 4;
const HEADER_INTS = 5;

export class FrameState {
  readonly #header: Int32Array<SharedArrayBuffer>;
  /** The last sent frame, quantized, inout. */
  readonly frame: Int32Array<SharedArrayBuffer>;

  constructor(buffer: SharedArrayBuffer) {
    this.#header = new Int32Array(buffer, 0, HEADER_INTS);
    this.frame = new Int32Array(buffer, 4 * HEADER_INTS);
  }

  static allocate(streamedParticles: number): SharedArrayBuffer {
    const buffer = new SharedArrayBuffer(4 * (HEADER_INTS + 3 * streamedParticles));
    const header = new Int32Array(buffer);
    header[FRAME_TICK] = header[THREAD] = -1;
    return buffer;
  }

  get frameTick(): number {
    return this.#header[FRAME_TICK]!;
  }

  set frameTick(tick: number) {
    this.#header[FRAME_TICK] = tick;
  }

  get tick(): number {
    return this.#header[TICK]!;
  }

  set tick(tick: number) {
    this.#header[TICK] = tick;
  }

  /** True during a step, and after a step that did not finish: then the room's memory is torn. */
  get busy(): boolean {
    return Atomics.load(this.#header, BUSY) === 1;
  }

  get sequence(): number {
    return Atomics.load(this.#header, SEQUENCE);
  }

  /** threadId of the last thread that entered, or -1. */
  get thread(): number {
    return Atomics.load(this.#header, THREAD);
  }

  /** Call it first in a step, before any write. @param thread threadId of the stepping thread */
  enter(thread: number): void {
    Atomics.store(this.#header, THREAD, thread);
    Atomics.add(this.#header, SEQUENCE, 1);
    Atomics.store(this.#header, BUSY, 1);
  }

  /** Call it last in a step that finished; never in a `finally`, because an exception must leave the flag set. */
  leave(): void {
    Atomics.store(this.#header, BUSY, 0);
  }
}
