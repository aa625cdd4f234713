/**
 * A room's history of the last minutes: its state at some ticks, and all inputs between them. From it any tick since
 * the oldest checkpoint can be rebuilt, bit for bit. It serves the recovery from a thread loss, undo, and recordings.
 * The store (journalWriter.ts) has the same data for a process that takes the room over.
 *
 *     tick      0 ......... 300 ......... 600 ......... 900 .... 961
 *     state     x            x             x             x               the newest NEAR states, older ones
 *               SPARSE_SECONDS apart
 *     inputs       .   ..  .    ...  .         . .  ..     . .          every tick with inputs
 *     fresh                   |             |             |              ticks before which a state was saved: saving
 *                             affects the next tick (sim/world/checkpoint.ts)
 */
import { promisify } from "node:util";
import { constants, zstdCompress, zstdDecompressSync } from "node:zlib";
import type { Input } from "../sim/types.ts";
import type { TickHash, TickRecord } from "../workers/messages.ts";

/** Number of newest checkpoints that are always kept, for undo and thread losses. */
const NEAR = 8;
/** Interval of older checkpoints, s. They are for the start of a recording and for jumps in it. */
const SPARSE_SECONDS = 30;

/** A state that a room can be restored from. A room's oldest may be its scene's start, which needs no bytes. */
export interface Checkpoint {
  tick: number;
  /** Empty at the scene's start, tick 0. */
  stateHash: string;
  /** The bytes of sim/world/checkpoint.ts, compressed with zstd; null: the scene's start. */
  packed: Uint8Array | null;
  /** Step time of the room in this process up to this tick, s: the cost of rebuilding this state without its bytes. */
  cost?: number;
}

/** Instructions for rebuilding a tick. */
export interface Rebuild {
  /** undefined: the scene's start. */
  state: Uint8Array | undefined;
  from: number;
  until: number;
  records: TickRecord[];
  /** Recorded state hashes after some of these ticks. */
  hashes?: TickHash[];
  /** True if a state was saved after the last tick. */
  fresh: boolean;
}

export class HistoryError extends Error {}

/** Decompresses a state. @returns the state for `OpenTask` */
export function unpack({ packed }: Checkpoint): Uint8Array | undefined {
  return packed ? zstdDecompressSync(packed) : undefined;
}

const compress = promisify(zstdCompress);
/** Level 1: 0.5 to 3 ms of a zlib thread for 0.2 to 0.5 MB; the size is within a tenth of the default level's. */
const LEVEL = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

export class RoomHistory {
  readonly #tickHz: number;
  readonly #keepTicks: number;
  #states: Checkpoint[] = [{ tick: 0, stateHash: "", packed: null }];
  #records: TickRecord[] = [];
  #hashes: { tick: number; stateHash: string }[] = [];
  #tick = 0;
  /** A state was saved since the last tick. */
  #fresh = false;
  readonly #rewinds: number[] = [];

  /**
   * Creates the history of a room at its scene's start.
   * @param keepSeconds least time that the history reaches back, once the room is that old
   */
  constructor(tickHz: number, keepSeconds: number) {
    this.#tickHz = tickHz;
    this.#keepTicks = keepSeconds * tickHz;
  }

  /** The last stepped tick. */
  get tick(): number {
    return this.#tick;
  }

  /** The earliest tick that can be rebuilt. */
  get oldestTick(): number {
    return this.#states[0]!.tick;
  }

  get newestState(): Checkpoint {
    return this.#states.at(-1)!;
  }

  /** All checkpoints, ascending. */
  get states(): readonly Checkpoint[] {
    return this.#states;
  }

  /** Recorded state hashes, ascending. */
  get hashes(): readonly { tick: number; stateHash: string }[] {
    return this.#hashes;
  }

  /** The ticks to which the room went back, in order; -1: the scene's start. */
  get rewinds(): readonly number[] {
    return this.#rewinds;
  }

  /** Adds a stepped tick. */
  stepped(tick: number, inputs: Input[], stateHash?: string): void {
    this.#tick = tick;
    if (inputs.length > 0 || this.#fresh) this.#records.push({ tick, inputs, fresh: this.#fresh });
    if (stateHash !== undefined) this.#hashes.push({ tick, stateHash });
    this.#fresh = false;
  }

  /**
   * Is there a state of the last tick? A room that continues from it has no pair list, as the room that saved it had
   * none. A scene's start never had one.
   */
  get endsWithState(): boolean {
    const last = this.#states.at(-1);
    return last?.tick === this.#tick && last.packed !== null;
  }

  /** Marks that the room's state was saved after the last tick. */
  marked(): void {
    this.#fresh = true;
  }

  /** Adds ticks that another process stepped: in order, before any tick of this process. */
  append(until: number, records: readonly TickRecord[], hashes: readonly { tick: number; stateHash: string }[]): void {
    this.#tick = until;
    // Spread instead of push(...): an hour of ticks exceeds the limit of arguments.
    this.#records = [...this.#records, ...records];
    this.#hashes = [...this.#hashes, ...hashes];
  }

  /**
   * Compresses a state and adds it. Resolves when it is added, with null if the room went back before this tick
   * meanwhile.
   */
  async keep(tick: number, stateHash: string, state: Uint8Array, cost = 0): Promise<Checkpoint | null> {
    const { length } = this.#rewinds;
    const checkpoint: Checkpoint = { tick, stateHash, packed: await compress(state, LEVEL), cost };
    // The room may have gone back meanwhile and reached the same tick again.
    return length === this.#rewinds.length && this.add(checkpoint) ? checkpoint : null;
  }

  /** Adds a compressed state. @returns false: its tick is after the last tick */
  add(checkpoint: Checkpoint): boolean {
    if (checkpoint.tick > this.#tick) return false;
    this.#states = [...this.#states.filter(({ tick }) => tick !== checkpoint.tick), checkpoint].sort(
      (a, b) => a.tick - b.tick,
    );
    this.#thin();
    return true;
  }

  /** Returns the inputs after tick `after` up to and including tick `until`, ascending. */
  records(after: number, until = this.#tick): TickRecord[] {
    const first = this.#records.findLastIndex(({ tick }) => tick <= after) + 1; // Search from the end, where it mostly is.
    return this.#records.slice(first, this.#records.findLastIndex(({ tick }) => tick <= until) + 1);
  }

  /** @throws HistoryError if `until` is before the oldest checkpoint or after the last tick */
  rebuild(until: number): Rebuild {
    const from = this.#states.findLast(({ tick }) => tick <= until);
    if (!from || until > this.#tick)
      throw new HistoryError(`tick ${until} is not between ${this.oldestTick} and ${this.#tick}`);
    return {
      state: unpack(from),
      from: from.tick,
      until,
      records: this.records(from.tick, until),
      hashes: [
        ...(from.packed ? [{ tick: from.tick, stateHash: from.stateHash }] : []),
        ...this.#hashes.filter(({ tick }) => tick > from.tick && tick <= until),
      ],
      fresh: until === this.#tick && this.#fresh,
    };
  }

  /** Forgets states and inputs before `tick`, which must have a state. */
  forgetBefore(tick: number): void {
    this.#states = this.#states.filter((state) => state.tick >= tick);
    this.#records = this.#records.filter((record) => record.tick > tick);
    this.#hashes = this.#hashes.filter((hash) => hash.tick > tick);
  }

  /** Forgets everything after `tick`. */
  rewind(tick: number): void {
    // If a state of this very tick was saved, its effect on the next tick remains, even while it is being compressed.
    const marked = this.#fresh && tick === this.#tick;
    this.#states = this.#states.filter((state) => state.tick <= tick);
    this.#records = this.#records.filter((record) => record.tick <= tick);
    this.#hashes = this.#hashes.filter((hash) => hash.tick <= tick);
    this.#tick = tick;
    this.#fresh = marked || this.endsWithState;
    this.#rewinds.push(tick);
  }

  /** Goes back to the scene's start and forgets everything. */
  begin(): void {
    this.rewind(-1);
    this.#states = [{ tick: 0, stateHash: "", packed: null }];
    this.#tick = 0;
  }

  /** Thins out old states to one in SPARSE_SECONDS, and forgets states before the kept time. */
  #thin(): void {
    const sparse = SPARSE_SECONDS * this.#tickHz;
    const states = this.#states;
    const near = states.slice(-NEAR);
    const old = states.slice(0, -NEAR);
    // The history begins with the last state before the kept time.
    const first = Math.max(
      0,
      states.findLastIndex(({ tick }) => tick <= this.#tick - this.#keepTicks),
    );
    const sparseOnes: Checkpoint[] = [];
    for (const state of old.slice(first)) {
      if (sparseOnes.length === 0 || state.tick - sparseOnes.at(-1)!.tick >= sparse) sparseOnes.push(state);
    }
    const oldest = this.oldestTick;
    this.#states = [...sparseOnes, ...near];
    // searching an hour of inputs at every state would take longer than a light tick
    if (this.oldestTick > oldest) this.forgetBefore(this.oldestTick);
  }
}
