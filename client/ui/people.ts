/** Who is in the room, as a row of name tags. */
import type { Member } from "../net/messages.ts";
import { h } from "./dom.ts";

/** More than this many become a number. */
const SHOWN = 6;

export class People {
  readonly element = h("ul", { class: "people", "aria-label": "People in this room" });

  update(members: readonly Member[], own: number): void {
    const here = members.filter((member) => member.connected || member.member === own);
    const sorted = [...here].sort((a, b) => Number(b.member === own) - Number(a.member === own) || a.member - b.member);
    const tags = sorted.slice(0, SHOWN).map((member) => {
      const name = member.member === own ? `${member.name} (you)` : member.name;
      const tag = h("li", { class: "glass", title: name, "data-member": String(member.member) }, h("span", { class: "dot" }), h("span", { class: "name" }, name));
      tag.style.setProperty("--member", member.color);
      return tag;
    });
    if (sorted.length > SHOWN) tags.push(h("li", { class: "glass more" }, `+${sorted.length - SHOWN}`));
    this.element.replaceChildren(...tags);
  }
}
