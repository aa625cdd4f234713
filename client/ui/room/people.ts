/** The members of the room as a row of name tags. Badges mark spectators and owners. Owners can kick members here. */
import { above, atLeast, type Role } from "../../../shared/members/roles.ts";
import type { Member } from "../../../shared/protocol/fromServer.ts";
import { h, icon, wear } from "../dom.ts";
import { closeOutside } from "../panel.ts";
import { initials } from "./profile.ts";
import { t } from "../../text/text.ts";

export interface PeopleActions {
  /** @param banSeconds length of the ban; undefined: the member may return at once */
  kick: (member: number, banSeconds: number | undefined) => void;
}

/** Beyond this number the rest is shown as a count. Owners see all members, because they must be able to kick each. */
const SHOWN = 6;

const WAYS_OUT = [
  ["kick", undefined],
  ["banTenMinutes", 600],
  ["banDay", 86_400],
] as const;

export const ROLE_TEXTS = {
  spectator: "roleSpectator",
  player: "rolePlayer",
  owner: "roleOwner",
  admin: "roleAdmin",
} as const;

export class People {
  readonly element = h("ul", { class: "people", "aria-label": t("peopleHere") });
  /** Opens the list on small screens, where it is hidden. */
  readonly button: HTMLButtonElement;
  private readonly count = h("b", {}, "1");
  private readonly actions: PeopleActions;
  /** Member whose menu is open. */
  private open: number | undefined;
  private last: { members: readonly Member[]; own: number; role: Role } = { members: [], own: 0, role: "player" };

  constructor(actions: PeopleActions) {
    this.actions = actions;
    this.button = h(
      "button",
      {
        class: "people-button glass",
        type: "button",
        "aria-label": t("peopleHere"),
        "aria-expanded": "false",
        onclick: () => this.show(!this.element.classList.contains("open")),
      },
      icon("people"),
      this.count,
    );
    closeOutside(
      () => this.open !== undefined,
      [this.element],
      () => this.toggle(undefined),
    );
    closeOutside(
      () => this.element.classList.contains("open"),
      [this.element, this.button],
      () => this.show(false),
    );
  }

  /** Opens or closes the list as a bottom sheet, on small screens. */
  show(on: boolean): void {
    this.element.classList.toggle("open", on);
    this.button.setAttribute("aria-expanded", String(on));
  }

  /** Visible tag of a member. */
  of(member: number): Element | undefined {
    const tag = this.element.querySelector(`[data-member="${member}"]`);
    return tag?.getClientRects().length ? tag : undefined;
  }

  /** @param role of this member */
  update(members: readonly Member[], own: number, role: Role): void {
    this.last = { members, own, role };
    const here = members.filter((member) => member.connected || member.member === own);
    const sorted = [...here].sort((a, b) => Number(b.member === own) - Number(a.member === own) || a.member - b.member);
    const shown = atLeast(role, "owner") ? sorted : sorted.slice(0, SHOWN);
    const tags = shown.map((member) => this.tag(member, own, role));
    if (sorted.length > shown.length) tags.push(h("li", { class: "glass more" }, `+${sorted.length - shown.length}`));
    this.count.textContent = String(sorted.length);
    this.button.setAttribute("aria-label", t("peopleCount", { count: sorted.length }));
    this.element.replaceChildren(...tags);
  }

  private tag(member: Member, own: number, role: Role): HTMLElement {
    const name = member.member === own ? t("nameYou", { name: member.name }) : member.name;
    const badge = member.role === "spectator" ? "eye" : atLeast(member.role, "owner") ? "star" : undefined;
    const title = member.role === "player" ? name : t("nameRole", { name, role: t(ROLE_TEXTS[member.role]) });
    const tag = h(
      "li",
      { class: `glass ${member.role}`, title, "data-member": String(member.member), "data-role": member.role },
      h("span", { class: "dot", "aria-hidden": "true" }, initials(member.name)),
      h("span", { class: "name" }, name),
      badge && icon(badge),
    );
    wear(tag, member.color);
    if (!atLeast(role, "owner") || !above(role, member.role)) return tag;
    tag.append(
      h(
        "button",
        {
          class: "out",
          type: "button",
          title: t("putOut", { name: member.name }),
          "aria-label": t("putOut", { name: member.name }),
          "aria-expanded": String(this.open === member.member),
          onclick: () => this.toggle(this.open === member.member ? undefined : member.member),
        },
        "×",
      ),
    );
    if (this.open === member.member) {
      tag.append(
        h(
          "div",
          { class: "popover glass", role: "menu" },
          ...WAYS_OUT.map(([text, seconds]) =>
            h(
              "button",
              {
                class: "link",
                type: "button",
                role: "menuitem",
                onclick: () => {
                  this.actions.kick(member.member, seconds);
                  this.toggle(undefined);
                },
              },
              t(text),
            ),
          ),
        ),
      );
    }
    return tag;
  }

  private toggle(member: number | undefined): void {
    this.open = member;
    this.update(this.last.members, this.last.own, this.last.role);
  }
}
