/** Who holds what, as the server says it, and what changed with each time that it says so. */
import type { Grab, Hand } from "../../shared/protocol/fromServer.ts";

/** A point that a member took hold of, or let go of. */
export type HeldPoint = Grab & { member: number };

export interface HeldChanges {
  grabbed: HeldPoint[];
  released: HeldPoint[];
}

export class HeldPoints {
  readonly #byMember = new Map<number, readonly Grab[]>();

  /** @param hands members whose hands changed, each with all that it holds now */
  handsAre(hands: readonly Hand[]): HeldChanges {
    const changes: HeldChanges = { grabbed: [], released: [] };
    for (const { member, grabs } of hands) {
      const before = this.#byMember.get(member) ?? [];
      const of = (grab: Grab): HeldPoint => ({ ...grab, member });
      changes.released.push(...before.filter((held) => !grabs.some((grab) => isSame(held, grab))).map(of));
      changes.grabbed.push(...grabs.filter((grab) => !before.some((held) => isSame(held, grab))).map(of));
      this.#byMember.set(member, grabs);
    }
    return changes;
  }

  /** @param present numbers of all members: who is not there any more has let go */
  membersAre(present: readonly number[]): HeldChanges {
    const gone = [...this.#byMember.keys()].filter((member) => !present.includes(member));
    const changes = this.handsAre(gone.map((member) => ({ member, cursor: undefined, grabs: [] })));
    for (const member of gone) this.#byMember.delete(member);
    return changes;
  }
}

/** A grab's number may be used again elsewhere: then one has ended and another begun. */
function isSame(a: Grab, b: Grab): boolean {
  return a.grab === b.grab && a.body === b.body && a.triangle === b.triangle && a.u === b.u && a.v === b.v;
}
