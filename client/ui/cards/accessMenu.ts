/** The owners' menu: lock, password, permission to reset, invitations, undo. Shown to owners only. */
import { PASSWORD_LENGTH } from "../../../shared/protocol/protocol.ts";
import type { AccessState } from "../../../shared/protocol/fromServer.ts";
import { h, icon } from "../dom.ts";
import { Panel } from "../panel.ts";
import { t } from "../../text/text.ts";

export interface AccessActions {
  changeAccess: (change: {
    locked?: boolean;
    ownersOnly?: boolean;
    chat?: boolean;
    password?: string | null;
    liftBans?: boolean;
  }) => void;
  /** Creates a link that admits its bearer with this role. */
  invite: (role: "player" | "spectator") => void;
  /** Takes the room back by this many seconds. */
  goBack: (seconds: number) => void;
  unpinAll: () => void;
}

const UNDO_SECONDS = 10;

export class AccessMenu {
  readonly element = h("div", { class: "access", hidden: true });
  readonly panel: Panel;
  private readonly button: HTMLButtonElement;
  private readonly locked = h("input", { type: "checkbox", id: "access-locked" });
  private readonly ownersOnly = h("input", { type: "checkbox", id: "access-owners" });
  private readonly chatClosed = h("input", { type: "checkbox", id: "access-chat" });
  private readonly password = h("input", {
    type: "password",
    id: "access-password",
    autocomplete: "new-password",
    minlength: String(PASSWORD_LENGTH.min),
    maxlength: String(PASSWORD_LENGTH.max),
  });
  private readonly clear: HTMLButtonElement;
  private readonly lift: HTMLButtonElement;
  private readonly unpin: HTMLElement;

  constructor(actions: AccessActions) {
    this.button = h(
      "button",
      {
        class: "tool",
        type: "button",
        title: t("roomAccess"),
        "aria-label": t("roomAccess"),
        onclick: () => this.panel.open(!this.panel.isOpen),
      },
      icon("lock"),
      h("span", { class: "text extra" }, t("roomAccess")),
    );
    this.locked.addEventListener("change", () => actions.changeAccess({ locked: this.locked.checked }));
    this.ownersOnly.addEventListener("change", () => actions.changeAccess({ ownersOnly: this.ownersOnly.checked }));
    this.chatClosed.addEventListener("change", () => actions.changeAccess({ chat: !this.chatClosed.checked }));
    this.clear = h(
      "button",
      { class: "link", type: "button", hidden: true, onclick: () => actions.changeAccess({ password: null }) },
      t("noPasswordAnyMore"),
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
      h("label", { for: "access-password" }, t("passwordForNewcomers")),
      this.password,
      h("button", { class: "button", type: "submit" }, t("set")),
      this.clear,
    );
    const line = (input: HTMLElement, id: string, text: string): HTMLElement =>
      h("div", { class: "line" }, input, h("label", { for: id }, text));
    const link = (text: string, run: () => void): HTMLElement =>
      h("button", { class: "link", type: "button", onclick: run }, text);
    this.unpin = link(t("removeAllPins"), actions.unpinAll);
    this.unpin.hidden = true;
    this.panel = new Panel(
      this.button,
      t("youOwn"),
      "access-panel",
      line(this.locked, "access-locked", t("lockedOption")),
      line(this.ownersOnly, "access-owners", t("ownersOnlyOption")),
      line(this.chatClosed, "access-chat", t("chatClosedOption")),
      form,
      this.lift,
      h("hr"),
      link(t("copyPlayerLink"), () => actions.invite("player")),
      link(t("copySpectatorLink"), () => actions.invite("spectator")),
      h("hr"),
      this.unpin,
      link(t("undo", { count: UNDO_SECONDS }), () => actions.goBack(UNDO_SECONDS)),
    );
    this.element.append(this.button);
  }

  /** @param mine true if this member is an owner */
  setOwner(mine: boolean): void {
    this.element.hidden = !mine;
    if (!mine) this.panel.open(false);
  }

  setPins(count: number): void {
    this.unpin.hidden = count === 0;
  }

  setAccess({ locked, password, ownersOnly, chat, bans }: AccessState): void {
    this.locked.checked = locked;
    this.ownersOnly.checked = ownersOnly;
    this.chatClosed.checked = !chat;
    this.password.placeholder = t(password ? "passwordIsSet" : "passwordNotNeeded");
    this.clear.hidden = !password;
    this.lift.hidden = bans === 0;
    this.lift.textContent = t("liftBans", { count: bans });
    this.button.setAttribute("aria-pressed", String(locked || password));
  }
}
