/**
 * The members' grabs in a replay, tick by tick. They are rebuilt from the inputs and the simulation's events, as
 * rooms/inputs/memberRequests.ts built them in the running room.
 */
import type { Input, SimEvent } from "../../sim/types.ts";
import type { Grab, GrabsOf } from "../../../shared/protocol/fromServer.ts";

interface Held extends GrabsOf {
  grabs: Map<number, Grab>;
}

export class ReplayGrabs {
  /** Cursors and grabs by member. A grab that began before the recording's first state is unknown and not shown. */
  readonly #byMember = new Map<number, Held>();
  readonly #changed = new Set<number>();

  /** Applies one tick: its inputs and the simulation's events. */
  step(inputs: readonly Input[], events: readonly SimEvent[]): void {
    for (const input of inputs) this.#apply(input);
    for (const event of events) {
      if (event.type === "inputRejected" && event.grab !== undefined) this.#drop(event.member, event.grab);
      const pinned = event.type === "pinned" && event.after && inputs[event.input!];
      if (pinned && pinned.type === "pin" && pinned.grab !== undefined) this.#drop(pinned.member, pinned.grab);
      if (event.type === "removed")
        for (const { member, grabs } of this.#byMember.values())
          for (const { grab, body } of grabs.values()) if (body === event.body) this.#drop(member, grab);
    }
  }

  /** Returns the members whose cursor or grabs changed since the last call. */
  takeChanged(): GrabsOf[] {
    const changed = [...this.#changed].map((member) => this.#of(member));
    this.#changed.clear();
    return changed;
  }

  #apply(input: Input): void {
    switch (input.type) {
      case "grab": {
        const { type: _, member, ...held } = input;
        this.#of(member).grabs.set(held.grab, held);
        this.#changed.add(member);
        return;
      }
      case "move": {
        const held = this.#of(input.member).grabs.get(input.grab);
        if (!held) return;
        // Copy the grab: the input object belongs to the history.
        this.#of(input.member).grabs.set(input.grab, { ...held, target: input.target });
        this.#changed.add(input.member);
        return;
      }
      case "release":
        return this.#drop(input.member, input.grab);
      case "releaseAll":
        return this.#dropAll(input.member);
      case "reset":
        for (const member of this.#byMember.keys()) this.#dropAll(member);
        return;
      case "impulse":
      case "spawn":
      case "remove":
      case "tune":
      case "dress":
      case "pin":
      case "unpin":
        return;
    }
  }

  #of(member: number): Held {
    let held = this.#byMember.get(member);
    if (!held) this.#byMember.set(member, (held = { member, cursor: null, grabs: new Map() }));
    return held;
  }

  #drop(member: number, grab: number): void {
    if (this.#of(member).grabs.delete(grab)) this.#changed.add(member);
  }

  #dropAll(member: number): void {
    const { grabs } = this.#of(member);
    if (grabs.size > 0) this.#changed.add(member);
    grabs.clear();
  }
}
