/**
 * The inputs that wait for a room's next tick, coalesced. If one grab has several moves, the last wins. A move of a
 * grab that is still queued only changes that grab's target. At most one reset is queued.
 *
 * A paused room (its lease has expired, or a step is slow) takes no inputs, so the queue is bounded: a caller that
 * pushes a grab, an impulse or a spawn asks `hasPlace` first. A release is never refused; there are at most as many as
 * grabs.
 */
import type { Input } from "../../sim/types.ts";

/**
 * Most queued inputs of one member: the number that a member may send at once (`inputBurst` of
 * shared/protocol/protocol.ts).
 */
const MOST_OF_A_MEMBER = 120;
/** Most queued inputs of all members. */
const MOST_IN_ALL = 4096;

type Moving = Extract<Input, { type: "grab" | "move" }>;

export class InputQueue {
  #inputs: Input[] = [];
  /** The queued input of each grab whose target a move may still change. */
  readonly #open = new Map<string, Moving>();
  /** Number of queued inputs of each member. */
  readonly #counts = new Map<number, number>();
  /** Time at which the oldest queued input came in, on the monotonic clock; null: the queue is empty. */
  oldestMs: number | null = null;

  get length(): number {
    return this.#inputs.length;
  }

  /** Returns whether the queue has a place for another input of this member. */
  hasPlace(member: number): boolean {
    return this.#inputs.length < MOST_IN_ALL && (this.#counts.get(member) ?? 0) < MOST_OF_A_MEMBER;
  }

  push(input: Input): void {
    clearNegativeZeros(input);
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
      case "pin":
        // A later move must not change the pin's target.
        if (input.grab !== undefined) this.#open.delete(key({ member: input.member, grab: input.grab }));
        break;
      case "release":
        // A later move belongs to another grab, even under the same id.
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
      case "dress":
      case "unpin":
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

  /** Puts back inputs that a tick took but did not run. */
  putBack(inputs: Input[]): void {
    const later = this.take();
    for (const input of [...inputs, ...later]) this.push(input);
  }

  clear(): void {
    this.take();
  }
}

/**
 * Replaces -0 by 0, in place: requests are answered by their inputs' identity. The journal and recordings store -0 as 0
 * (msgpack writes it as an integer), and a simulation distinguishes them: without this, a restored room would differ
 * from the one that its members saw.
 */
function clearNegativeZeros(values: object): void {
  for (const [name, value] of Object.entries(values)) {
    if (Object.is(value, -0)) (values as Record<string, unknown>)[name] = 0;
    else if (typeof value === "object" && value !== null) clearNegativeZeros(value);
  }
}

function key(input: { member: number; grab: number }): string {
  return `${input.member}:${input.grab}`;
}
