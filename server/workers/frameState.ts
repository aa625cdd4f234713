/**
 * A room's encoder state in shared memory, beside its simulation memory, so that any worker can run any tick: the
 * quantized frame that the room's delta chain stands on, its tick, and a flag that tells a torn room from a whole one.
 *
 *     int32 [0] busy       1 while a worker is inside a step of this room
 *     int32 [1] sequence   counts steps; with `busy` it lets the watchdog see that one step hangs
 *     int32 [2] frameTick  wire tick of `frame`, -1: none yet
 *     int32 [3] tick       wire tick of the simulation memory
 *     int32 [4] thread     that was in the last step: its threadId
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
  /** The quantized frame that was sent last, inout. */
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

  /** True while a step is under way, or when a step did not come to its end: then the room's memory is torn. */
  get busy(): boolean {
    return Atomics.load(this.#header, BUSY) === 1;
  }

  get sequence(): number {
    return Atomics.load(this.#header, SEQUENCE);
  }

  /** The last one that entered, or -1. */
  get thread(): number {
    return Atomics.load(this.#header, THREAD);
  }

  /** First thing of a step, before anything is written. @param thread threadId of who steps */
  enter(thread: number): void {
    Atomics.store(this.#header, THREAD, thread);
    Atomics.add(this.#header, SEQUENCE, 1);
    Atomics.store(this.#header, BUSY, 1);
  }

  /** Last thing of a step that came to its end; never in a `finally`. */
  leave(): void {
    Atomics.store(this.#header, BUSY, 0);
  }
}
