/** What owners decide: lock, password, who may reset, invitations, undo. Shown to owners only. */
import type { AccessState } from "../sdk/messages.ts";
import { h, icon } from "./dom.ts";
import { Panel } from "./panel.ts";

export interface AccessActions {
  changeAccess: (change: {
    locked?: boolean;
    ownersOnly?: boolean;
    password?: string | null;
    liftBans?: boolean;
  }) => void;
  /** Makes a link that lets its bearer in as this. */
  invite: (role: "player" | "spectator") => void;
  /** The room goes back by this many seconds. */
  undo: (seconds: number) => void;
}

const UNDO_SECONDS = 10;
const PASSWORD_LENGTH = { min: 6, max: 128 };

export class AccessMenu {
  readonly element = h("div", { class: "access", hidden: true });
  readonly panel: Panel;
  private readonly button: HTMLButtonElement;
  private readonly locked = h("input", { type: "checkbox", id: "access-locked" });
  private readonly ownersOnly = h("input", { type: "checkbox", id: "access-owners" });
  private readonly password = h("input", {
    type: "password",
    id: "access-password",
    autocomplete: "new-password",
    minlength: String(PASSWORD_LENGTH.min),
    maxlength: String(PASSWORD_LENGTH.max),
  });
  private readonly clear: HTMLButtonElement;
  private readonly lift: HTMLButtonElement;

  constructor(actions: AccessActions) {
    this.button = h(
      "button",
      {
        class: "tool",
        type: "button",
        title: "Room access",
        "aria-label": "Room access",
        onclick: () => this.panel.open(!this.panel.isOpen),
      },
      icon("lock"),
      h("span", { class: "text extra" }, "Room access"),
    );
    this.locked.addEventListener("change", () => actions.changeAccess({ locked: this.locked.checked }));
    this.ownersOnly.addEventListener("change", () => actions.changeAccess({ ownersOnly: this.ownersOnly.checked }));
    this.clear = h(
      "button",
      { class: "link", type: "button", hidden: true, onclick: () => actions.changeAccess({ password: null }) },
      "No password any more",
    );
    this.lift = h("button", {
      class: "link",
      type: "button",
      hidden: true,
      onclick: () => actions.changeAccess({ liftBans: true }),
    });
    const form = h(
      "form",
      {
        onsubmit: (event) => {
          event.preventDefault();
          if (!this.password.value) return;
          actions.changeAccess({ password: this.password.value });
          this.password.value = "";
        },
      },
      h("label", { for: "access-password" }, "Password for newcomers"),
      this.password,
      h("button", { class: "button", type: "submit" }, "Set"),
      this.clear,
    );
    const line = (input: HTMLElement, id: string, text: string): HTMLElement =>
      h("div", { class: "line" }, input, h("label", { for: id }, text));
    const link = (text: string, run: () => void): HTMLElement =>
      h("button", { class: "link", type: "button", onclick: run }, text);
    this.panel = new Panel(
      this.button,
      "You own this room",
      "access-panel",
      line(this.locked, "access-locked", "Locked: nobody new comes in"),
      line(this.ownersOnly, "access-owners", "Only owners reset and put in"),
      form,
      this.lift,
      h("hr"),
      link("Copy a link for a player", () => actions.invite("player")),
      link("Copy a link for a spectator", () => actions.invite("spectator")),
      h("hr"),
      link(`Undo the last ${UNDO_SECONDS} seconds`, () => actions.undo(UNDO_SECONDS)),
    );
    this.element.append(this.button);
  }

  /** @param mine is this member an owner? */
  setOwner(mine: boolean): void {
    this.element.hidden = !mine;
    if (!mine) this.panel.open(false);
  }

  setAccess({ locked, password, ownersOnly, bans }: AccessState): void {
    this.locked.checked = locked;
    this.ownersOnly.checked = ownersOnly;
    this.password.placeholder = password ? "one is set" : "none is needed";
    this.clear.hidden = !password;
    this.lift.hidden = bans === 0;
    this.lift.textContent = bans === 1 ? "Lift the ban" : `Lift ${bans} bans`;
    this.button.setAttribute("aria-pressed", String(locked || password));
  }
}
