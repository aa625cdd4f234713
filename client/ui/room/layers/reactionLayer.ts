/**
 * Reactions of members: a picture at the member's cursor that rises and fades. Without a cursor in the picture it rises
 * from the member's name tag, or from the lower edge.
 */
import { REACTIONS } from "../../../../shared/members/reactions.ts";
import { h } from "../../dom.ts";

/** Time that a reaction is shown, ms; as in hands.css. */
const SHOWN_MS = 3000;
/** Reactions shown at once; the oldest go. */
const MOST_SHOWN = 24;

export class ReactionLayer {
  readonly element = h("div", { class: "reacted", "aria-hidden": "true" });

  /** @param from element of the member's cursor or name tag; undefined: neither is visible */
  show(reaction: number, from: Element | undefined): void {
    const picture = REACTIONS[reaction];
    // A newer server may have more reactions: ignore unknown ones.
    if (picture === undefined) return;
    const box = from?.getBoundingClientRect();
    const own = this.element.getBoundingClientRect();
    const shown = h("span", {}, picture);
    shown.style.left = `${box ? box.left + box.width / 2 - own.left : own.width / 2}px`;
    shown.style.top = `${box ? box.top - own.top : 0.7 * own.height}px`;
    this.element.append(shown);
    while (this.element.childElementCount > MOST_SHOWN) this.element.firstElementChild!.remove();
    setTimeout(() => shown.remove(), SHOWN_MS);
  }
}
