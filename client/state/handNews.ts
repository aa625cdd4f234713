/** What others' hands have taken and let go since the last look: for who cannot see them. */
import type { Hand } from "../../shared/protocol/fromServer.ts";

export interface HandNews {
  member: number;
  /** Body that is held now; undefined: nothing any more. */
  body: number | undefined;
}

export class HandWatch {
  private held = new Map<number, number>();

  /** @param hands by member. @param own is not told of. @returns one entry for each member whose hold has changed */
  look(hands: ReadonlyMap<number, Pick<Hand, "grabs">>, own: number | undefined): HandNews[] {
    const now = new Map<number, number>();
    for (const [member, { grabs }] of hands)
      if (member !== own && grabs.length > 0) now.set(member, grabs[grabs.length - 1]!.body);
    const members = new Set([...this.held.keys(), ...now.keys()]);
    const news = [...members].flatMap((member) =>
      now.get(member) === this.held.get(member) ? [] : [{ member, body: now.get(member) }],
    );
    this.held = now;
    return news;
  }
}
