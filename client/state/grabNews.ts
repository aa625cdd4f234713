/** Grabs of other members that began or ended since the last look, as announcements for screen readers. */
import type { MemberGrabs } from "../../shared/protocol/fromServer.ts";

export interface GrabNews {
  member: number;
  /** The body that the member grabs now, or "all" for a grab of several bodies; undefined: the member released. */
  body: number | "all" | undefined;
}

export class GrabWatch {
  private held = new Map<number, number | "all">();

  /**
   * @param byMember by member. @param own this member, who is skipped. @returns one entry for each member with a change
   */
  look(byMember: ReadonlyMap<number, Pick<MemberGrabs, "grabs">>, own: number | undefined): GrabNews[] {
    const now = new Map<number, number | "all">();
    for (const [member, { grabs }] of byMember) {
      const last = grabs.at(-1);
      if (member !== own && last) now.set(member, last.together ? "all" : last.body);
    }
    const members = new Set([...this.held.keys(), ...now.keys()]);
    const news = [...members].flatMap((member) =>
      now.get(member) === this.held.get(member) ? [] : [{ member, body: now.get(member) }],
    );
    this.held = now;
    return news;
  }
}
