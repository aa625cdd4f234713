/** What others' hands have taken and let go since the last look: for who cannot see them. */
import type { Hand } from "../../shared/protocol/fromServer.ts";

export interface HandNews {
  member: number;
  /** Body that is held now, or all that one hand may pull; undefined: nothing any more. */
  body: number | "all" | undefined;
}

export class HandWatch {
  private held = new Map<number, number | "all">();

  /** @param hands by member. @param own is not told of. @returns one entry for each member whose hold has changed */
  look(hands: ReadonlyMap<number, Pick<Hand, "grabs">>, own: number | undefined): HandNews[] {
    const now = new Map<number, number | "all">();
    for (const [member, { grabs }] of hands) {
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
