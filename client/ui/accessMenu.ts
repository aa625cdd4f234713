/** What owners decide: lock, password, who may reset, invitations, undo. Shown to owners only. */
import type { AccessState } from "../sdk/messages.ts";
import { h, icon } from "./dom.ts";

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
  private readonly button: HTMLButtonElement;
  private readonly popover: HTMLElement;
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
        "aria-expanded": "false",
        onclick: () => this.open(this.popover.hidden !== false),
      },
      icon("lock"),
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
    this.popover = h(
      "div",
      { class: "popover glass", hidden: true, "aria-label": "Room access" },
      h("strong", {}, "You own this room"),
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
    this.element.append(this.button, this.popover);
    addEventListener(
      "pointerdown",
      (event) => {
        if (!this.popover.hidden && !this.element.contains(event.target as Node)) this.open(false);
      },
      { capture: true },
    );
  }

  /** @param mine is this member an owner? */
  setOwner(mine: boolean): void {
    this.element.hidden = !mine;
    if (!mine) this.open(false);
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

  open(on: boolean): void {
    this.popover.hidden = !on;
    this.button.setAttribute("aria-expanded", String(on));
  }
}
