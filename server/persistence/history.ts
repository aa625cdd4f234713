/**
 * A room's last minutes: its state at some ticks, and all that went in between. From these any tick since the oldest
 * checkpoint can be had again, bit for bit: the last good one when a thread is lost inside a step, one of ten seconds
 * ago when the owner asks for it, all of them in a recording. The store (journalWriter.ts) holds the same things for
 * who comes after this process.
 *
 *     tick      0 ......... 300 ......... 600 ......... 900 .... 961
 *     state     x            x             x             x               the newest NEAR closely, older ones
 *               SPARSE_SECONDS apart
 *     inputs       .   ..  .    ...  .         . .  ..     . .          every tick in which something went in
 *     fresh                   |             |             |              ticks before which a state was taken: that
 *                             leaves its trace (sim/checkpoint.ts)
 */
import { promisify } from "node:util";
import { constants, zstdCompress, zstdDecompressSync } from "node:zlib";
import type { Input } from "../sim/types.ts";
import type { TickHash, TickRecord } from "../workers/messages.ts";

/** Checkpoints that are kept however close they are: what undo and a lost thread go back to. */
const NEAR = 8;
/** Older ones are needed for how far a recording reaches back, and for leaps in it. */
const SPARSE_SECONDS = 30;

/** A state that a room can be had from. The oldest of a room may be its scene's start, which needs no bytes. */
export interface Checkpoint {
  tick: number;
  /** Empty: as the scene starts, tick 0. */
  stateHash: string;
  /** zstd of sim/checkpoint.ts's bytes; null: as the scene starts. */
  packed: Uint8Array | null;
  /**
   * Seconds of steps that the room had taken by then in this process: what it takes to have it again without the state.
   */
  cost?: number;
}

/** How to have a tick again. */
export interface Rebuild {
  /** undefined: as the scene starts. */
  state: Uint8Array | undefined;
  from: number;
  until: number;
  records: TickRecord[];
  /** What the state was found to be after some of these ticks. */
  hashes?: TickHash[];
  /** A state was taken after the last of them. */
  fresh: boolean;
}

export class HistoryError extends Error {}

/** @returns what `OpenTask` takes */
export function unpack({ packed }: Checkpoint): Uint8Array | undefined {
  return packed ? zstdDecompressSync(packed) : undefined;
}

const compress = promisify(zstdCompress);
/** Level 1: 0.5 to 3 ms of a library thread for 0.2 to 0.5 MB, and within a tenth of the default's size. */
const LEVEL = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

export class RoomHistory {
  readonly #tickHz: number;
  readonly #keepTicks: number;
  #states: Checkpoint[] = [{ tick: 0, stateHash: "", packed: null }];
  #records: TickRecord[] = [];
  #hashes: { tick: number; stateHash: string }[] = [];
  #tick = 0;
  /** A state was taken since the last tick. */
  #fresh = false;
  readonly #rewinds: number[] = [];

  /**
   * Of a room that begins as its scene does.
   * @param keepSeconds how far back it reaches at least, once the room is as old
   */
  constructor(tickHz: number, keepSeconds: number) {
    this.#tickHz = tickHz;
    this.#keepTicks = keepSeconds * tickHz;
  }

  /** The last tick that was stepped. */
  get tick(): number {
    return this.#tick;
  }

  /** The earliest tick that can be had again. */
  get oldestTick(): number {
    return this.#states[0]!.tick;
  }

  get newestState(): Checkpoint {
    return this.#states.at(-1)!;
  }

  /** Ascending. */
  get states(): readonly Checkpoint[] {
    return this.#states;
  }

  /** State hashes that were taken along the way, ascending. */
  get hashes(): readonly { tick: number; stateHash: string }[] {
    return this.#hashes;
  }

  /** How often time went back, and to which ticks: -1 is a new beginning. */
  get rewinds(): readonly number[] {
    return this.#rewinds;
  }

  /** A tick was stepped. */
  stepped(tick: number, inputs: Input[], stateHash?: string): void {
    this.#tick = tick;
    if (inputs.length > 0 || this.#fresh) this.#records.push({ tick, inputs, fresh: this.#fresh });
    if (stateHash !== undefined) this.#hashes.push({ tick, stateHash });
    this.#fresh = false;
  }

  /**
   * Is there a state of the last tick? Whoever goes on from it has no list of pairs, as the room had none that it was
   * taken from; the start of a scene never had one.
   */
  get endsWithState(): boolean {
    const last = this.#states.at(-1);
    return last?.tick === this.#tick && last.packed !== null;
  }

  /** The room's state was taken after the last tick. */
  marked(): void {
    this.#fresh = true;
  }

  /** What a room did that another process stepped: in the order of the ticks, before anything of this one's. */
  append(until: number, records: readonly TickRecord[], hashes: readonly { tick: number; stateHash: string }[]): void {
    this.#tick = until;
    // An hour of ticks is more than a call takes as arguments.
    this.#records = [...this.#records, ...records];
    this.#hashes = [...this.#hashes, ...hashes];
  }

  /**
   * A state, as it was taken; packs it on the side. Resolves when it is kept, with null when the room went back behind
   * it meanwhile.
   */
  async keep(tick: number, stateHash: string, state: Uint8Array, cost = 0): Promise<Checkpoint | null> {
    const { length } = this.#rewinds;
    const checkpoint: Checkpoint = { tick, stateHash, packed: await compress(state, LEVEL), cost };
    // Time may have gone back meanwhile, and on to the same tick again.
    return length === this.#rewinds.length && this.add(checkpoint) ? checkpoint : null;
  }

  /** A state that is packed already. @returns false when it is of a time that never was */
  add(checkpoint: Checkpoint): boolean {
    if (checkpoint.tick > this.#tick) return false;
    this.#states = [...this.#states.filter(({ tick }) => tick !== checkpoint.tick), checkpoint].sort(
      (a, b) => a.tick - b.tick,
    );
    this.#thin();
    return true;
  }

  /** What went in after `after` up to and with `until`, ascending. */
  records(after: number, until = this.#tick): TickRecord[] {
    const first = this.#records.findLastIndex(({ tick }) => tick <= after) + 1; // What is wanted is mostly the end.
    return this.#records.slice(first, this.#records.findLastIndex(({ tick }) => tick <= until) + 1);
  }

  /** @throws HistoryError when `until` is before the oldest checkpoint or after the last tick */
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

  /** States and inputs before `tick`, of which there is a state, are not known any more. */
  forgetBefore(tick: number): void {
    this.#states = this.#states.filter((state) => state.tick >= tick);
    this.#records = this.#records.filter((record) => record.tick > tick);
    this.#hashes = this.#hashes.filter((hash) => hash.tick > tick);
  }

  /** What came after `tick` never was. */
  rewind(tick: number): void {
    // A state that was taken of this very tick has left its mark, though it may still be being packed.
    const marked = this.#fresh && tick === this.#tick;
    this.#states = this.#states.filter((state) => state.tick <= tick);
    this.#records = this.#records.filter((record) => record.tick <= tick);
    this.#hashes = this.#hashes.filter((hash) => hash.tick <= tick);
    this.#tick = tick;
    this.#fresh = marked || this.endsWithState;
    this.#rewinds.push(tick);
  }

  /** The scene starts again, and nothing was before. */
  begin(): void {
    this.rewind(-1);
    this.#states = [{ tick: 0, stateHash: "", packed: null }];
    this.#tick = 0;
  }

  /** Of what is older than it need be, nothing; of what is old, a state now and then. */
  #thin(): void {
    const sparse = SPARSE_SECONDS * this.#tickHz;
    const states = this.#states;
    const near = states.slice(-NEAR);
    const old = states.slice(0, -NEAR);
    // the last one before the time that is kept begins it
    const first = Math.max(
      0,
      states.findLastIndex(({ tick }) => tick <= this.#tick - this.#keepTicks),
    );
    const sparseOnes: Checkpoint[] = [];
    for (const state of old.slice(first)) {
      if (sparseOnes.length === 0 || state.tick - sparseOnes.at(-1)!.tick >= sparse) sparseOnes.push(state);
    }
    this.#states = [...sparseOnes, ...near];
    this.forgetBefore(this.oldestTick);
  }
}
