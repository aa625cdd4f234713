/** Tracks the grabs of all members from the server's messages, and computes the changes. */
import type { Grab, MemberGrabs } from "../../../shared/protocol/fromServer.ts";

/** A point that a member grabbed or released. */
export type HeldPoint = Grab & { member: number };

export interface HeldChanges {
  grabbed: HeldPoint[];
  released: HeldPoint[];
}

export class HeldPoints {
  readonly #byMember = new Map<number, readonly Grab[]>();

  /** @param members those whose grabs changed, each with all of its grabs */
  grabsAre(members: readonly MemberGrabs[]): HeldChanges {
    const changes: HeldChanges = { grabbed: [], released: [] };
    for (const { member, grabs } of members) {
      const before = this.#byMember.get(member) ?? [];
      const of = (grab: Grab): HeldPoint => ({ ...grab, member });
      changes.released.push(...before.filter((held) => !grabs.some((grab) => isSame(held, grab))).map(of));
      changes.grabbed.push(...grabs.filter((grab) => !before.some((held) => isSame(held, grab))).map(of));
      this.#byMember.set(member, grabs);
    }
    return changes;
  }

  /** @param present ids of all members; grabs of members that are gone count as released */
  membersAre(present: readonly number[]): HeldChanges {
    const gone = [...this.#byMember.keys()].filter((member) => !present.includes(member));
    const changes = this.grabsAre(gone.map((member) => ({ member, cursor: undefined, grabs: [] })));
    for (const member of gone) this.#byMember.delete(member);
    return changes;
  }
}

/** A grab id may be reused for another point: that is one grab that ended and one that began. */
function isSame(a: Grab, b: Grab): boolean {
  return a.grab === b.grab && a.body === b.body && a.triangle === b.triangle && a.u === b.u && a.v === b.v;
}
