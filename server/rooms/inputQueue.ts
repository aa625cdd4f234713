/**
 * The inputs that wait for a room's next tick, coalesced: of several moves of one grab the last wins, a move of a grab
 * that is itself still queued only changes that grab's target, and there is at most one reset.
 *
 * A room that stands still (its lease is away, a step is slow) takes nothing out, so what may wait is bounded: whoever
 * puts in grabs, impulses or bodies asks `hasPlace` first. What lets go is never refused, and there is no more of it
 * than there are grabs.
 */
import type { Input } from "../sim/types.ts";

/**
 * Inputs of one member that may wait: as many as a member may send at once (`inputBurst` of
 * shared/protocol/protocol.ts).
 */
const MOST_OF_A_MEMBER = 120;
/** Inputs of all members that may wait. */
const MOST_IN_ALL = 4096;

type Moving = Extract<Input, { type: "grab" | "move" }>;

export class InputQueue {
  #inputs: Input[] = [];
  /** The queued input of each grab whose target a move may still change. */
  readonly #open = new Map<string, Moving>();
  /** Inputs that wait, by member. */
  readonly #counts = new Map<number, number>();
  /** When the oldest input that waits came in, by the monotonic clock; null when none does. */
  oldestMs: number | null = null;

  get length(): number {
    return this.#inputs.length;
  }

  /** May another input of this member wait? */
  hasPlace(member: number): boolean {
    return this.#inputs.length < MOST_IN_ALL && (this.#counts.get(member) ?? 0) < MOST_OF_A_MEMBER;
  }

  push(input: Input): void {
    this.oldestMs ??= performance.now();
    switch (input.type) {
      case "move": {
        const queued = this.#open.get(key(input));
        if (queued) {
          queued.target = input.target;
          return;
        }
        this.#open.set(key(input), input);
        break;
      }
      case "grab":
        this.#open.set(key(input), input);
        break;
      case "release":
        // What comes after belongs to another hold, even under the same id.
        this.#open.delete(key(input));
        break;
      case "reset":
        if (this.#inputs.some((queued) => queued.type === "reset")) return;
        this.#open.clear();
        break;
      case "releaseAll":
        for (const name of this.#open.keys()) if (name.startsWith(`${input.member}:`)) this.#open.delete(name);
        break;
      case "impulse":
      case "spawn":
      case "remove":
      case "tune":
        break;
    }
    this.#inputs.push(input);
    this.#counts.set(input.member, (this.#counts.get(input.member) ?? 0) + 1);
  }

  /** Hands the queued inputs to a tick, in order. */
  take(): Input[] {
    const inputs = this.#inputs;
    this.#inputs = [];
    this.oldestMs = null;
    this.#open.clear();
    this.#counts.clear();
    return inputs;
  }

  /** Puts back what a tick took but did not run. */
  putBack(inputs: Input[]): void {
    const later = this.take();
    for (const input of [...inputs, ...later]) this.push(input);
  }

  clear(): void {
    this.take();
  }
}

function key(input: { member: number; grab: number }): string {
  return `${input.member}:${input.grab}`;
}
