/** The room's toolbar: profile, push, reset, view, numbers, replay, invitation, help. */
import { h, icon, labelOf, wear, type IconName } from "../dom.ts";
import { closeOutside, Panel } from "../panel.ts";
import { lookOf, MEMBER_COLORS, PALETTE } from "../../../shared/members/memberColors.ts";
import { COLOR_NAMES, saveProfile, tidyName, type Profile } from "./profile.ts";
import { t } from "../../text/text.ts";

export interface ToolbarActions {
  profileChanged: () => void;
  push: () => void;
  undo: () => void;
  reset: () => void;
  /** Resets after the confirmation. */
  resetAll: () => void;
  home: () => void;
  overlay: () => void;
  strain: () => void;
  /** Starts or ends the headset session. */
  visit: () => void;
  help: () => void;
}

export class Toolbar {
  readonly element: HTMLElement;
  private readonly pushButton: HTMLButtonElement;
  private readonly overlayButton: HTMLButtonElement;
  private readonly strainButton: HTMLButtonElement;
  private readonly undoButton: HTMLButtonElement;
  readonly resetButton: HTMLButtonElement;
  private readonly visitButton: HTMLButtonElement;
  private readonly me: HTMLButtonElement;
  readonly profile: Panel;
  private readonly overflow: HTMLElement;
  private readonly moreButton: HTMLButtonElement;
  private taken: ReadonlySet<string> = new Set();

  /**
   * @param room its name
   * @param tools from other files: switch of one body or all, spawnable bodies, the owners' panels, invitation, chat,
   *   upload
   */
  constructor(
    profile: Profile,
    actions: ToolbarActions,
    room: string,
    {
      together,
      spares,
      tuning,
      access,
      share,
      capture,
      talk,
      bring,
    }: Record<"together" | "spares" | "tuning" | "access" | "share" | "capture" | "talk", HTMLElement> & {
      bring: HTMLElement | undefined;
    },
  ) {
    this.me = meButton(() => this.toggleProfile());
    this.profile = new Panel(
      this.me,
      t("you"),
      "profile-panel",
      ...profileFields(
        profile,
        () => this.taken,
        () => {
          this.showProfile(profile);
          saveProfile(profile);
          actions.profileChanged();
        },
      ),
    );
    this.pushButton = tool("push", t("push"), t("pushTitle"), actions.push);
    this.undoButton = tool("undo", t("undoAct"), t("undoTitle"), actions.undo);
    this.resetButton = tool("reset", t("reset"), t("resetTitle"), actions.reset);
    this.overlayButton = tool("chart", t("numbers"), t("numbersTitle"), actions.overlay, "extra");
    this.strainButton = tool("strain", t("strain"), t("strainTitle"), actions.strain, "extra");
    this.visitButton = tool("headset", t("enterVr"), t("enterVrTitle"), actions.visit);
    this.visitButton.hidden = true;
    for (const toggle of [this.pushButton, this.overlayButton, this.strainButton, this.visitButton])
      toggle.setAttribute("aria-pressed", "false");
    this.overflow = h(
      "div",
      { class: "overflow" },
      this.resetButton,
      talk,
      tool("home", t("homeView"), t("homeTitle"), actions.home, "extra"),
      this.overlayButton,
      this.strainButton,
      tool("help", t("help"), t("helpTitle"), actions.help, "extra"),
      capture,
      bring,
      tuning,
      access,
      this.visitButton,
      replayLink(room),
    );
    this.moreButton = tool("more", "", t("moreTools"), () => this.toggleMore());
    this.moreButton.classList.add("more-tools");
    this.toggleMore(false);
    this.element = h(
      "div",
      { class: "toolbar glass", role: "toolbar", "aria-label": t("tools") },
      this.me,
      h("hr"),
      together,
      this.pushButton,
      spares,
      this.undoButton,
      this.overflow,
      h("hr"),
      share,
      this.moreButton,
    );
    this.showProfile(profile);
    this.closeMoreOnItsOwn();
  }

  private closeMoreOnItsOwn(): void {
    // Close the menu, so that the result of the choice is visible.
    this.overflow.addEventListener("click", () => this.toggleMore(false));
    closeOutside(
      () => this.overflow.classList.contains("open"),
      [this.overflow, this.moreButton],
      () => this.toggleMore(false),
    );
  }

  /** Opens the menu of the tools that have no room on a narrow screen. */
  toggleMore(open = !this.overflow.classList.contains("open")): void {
    this.overflow.classList.toggle("open", open);
    this.moreButton.setAttribute("aria-expanded", String(open));
  }

  private toggleProfile(): void {
    this.profile.open(!this.profile.isOpen);
    // On a phone, the on-screen keyboard would cover the colors.
    if (this.profile.isOpen && !matchMedia("(pointer: coarse)").matches)
      this.profile.element.querySelector("input")!.select();
  }

  setPushing(on: boolean): void {
    this.pushButton.setAttribute("aria-pressed", String(on));
  }

  setOverlay(on: boolean): void {
    this.overlayButton.setAttribute("aria-pressed", String(on));
  }

  setStrain(on: boolean): void {
    this.strainButton.setAttribute("aria-pressed", String(on));
  }

  /** Shows the VR button. */
  offerVisit(): void {
    this.visitButton.hidden = false;
  }

  setVisiting(on: boolean): void {
    this.visitButton.setAttribute("aria-pressed", String(on));
  }

  /** @param mayReset true if the role and the connection allow a reset. @param mayPull the same for grabs */
  setAllowed(mayReset: boolean, mayPull: boolean): void {
    this.resetButton.disabled = !mayReset;
    this.pushButton.disabled = !mayPull;
    this.undoButton.disabled = !mayPull;
  }

  /** @param taken colors of other members */
  showProfile({ name, color }: Profile, taken: ReadonlySet<string> = this.taken): void {
    this.taken = taken;
    wear(this.me, color);
    this.me.lastElementChild!.textContent = name;
    const field = this.profile.element.querySelector("input")!;
    if (field !== document.activeElement) field.value = name;
    for (const button of this.profile.element.querySelectorAll<HTMLButtonElement>("[data-color]")) {
      const wanted = button.dataset.color!;
      button.setAttribute("aria-checked", String(wanted === lookOf(color).first));
      button.disabled = wanted !== lookOf(color).first && freeOf(wanted, taken) === undefined;
    }
  }
}

/** The button with this member's name and color; opens the profile panel. */
function meButton(onclick: () => void): HTMLButtonElement {
  return h(
    "button",
    { class: "tool me", type: "button", title: t("yourNameAndColor"), onclick },
    h("span", { class: "swatch" }),
    h("span", { class: "text" }),
  );
}

/** The replay opens in a new tab, so that a grab does not end. */
function replayLink(room: string): HTMLElement {
  return h(
    "a",
    {
      class: "tool",
      href: `/r/${encodeURIComponent(room)}/replay`,
      target: "_blank",
      rel: "noopener",
      title: t("replayTitle"),
      "aria-label": labelOf(t("replay"), t("replayTitle")),
    },
    icon("replay"),
    h("span", { class: "text" }, t("replay")),
  );
}

/** @param kind "extra": the text is visible only in the menu of a narrow screen */
function tool(name: IconName, text: string, title: string, run: () => void, kind = ""): HTMLButtonElement {
  return h(
    "button",
    {
      class: "tool",
      type: "button",
      title,
      "data-tool": name,
      "aria-label": labelOf(text, title),
      onclick: (event) => {
        // After a press with a pointer the button loses the focus; a press with the keyboard keeps it.
        if ((event as MouseEvent).detail > 0) (event.currentTarget as HTMLElement).blur();
        run();
      },
    },
    icon(name),
    text ? h("span", { class: `text ${kind}` }, text) : undefined,
  );
}

/** Returns a free member color with this first color, or undefined: the plain color, else one with a second color. */
const freeOf = (first: string, taken: ReadonlySet<string>): string | undefined =>
  MEMBER_COLORS.find((color) => lookOf(color).first === first && !taken.has(color));

function profileFields(profile: Profile, taken: () => ReadonlySet<string>, changed: () => void): HTMLElement[] {
  const field = h("input", {
    value: profile.name,
    maxlength: "24",
    autocomplete: "off",
    spellcheck: "false",
    id: "member-name",
  });
  field.addEventListener("change", () => {
    const name = tidyName(field.value);
    field.value = name || profile.name;
    if (!name || name === profile.name) return;
    profile.name = name;
    changed();
  });
  const colors = h("div", { class: "colors", role: "radiogroup", "aria-label": t("yourColor") });
  for (const color of PALETTE) {
    const button = h("button", {
      type: "button",
      role: "radio",
      "aria-label": t(COLOR_NAMES[color]),
      "data-color": color,
      "aria-checked": String(color === lookOf(profile.color).first),
    });
    button.style.setProperty("--member", color);
    button.addEventListener("click", () => {
      const free = freeOf(color, taken());
      if (free === undefined || color === lookOf(profile.color).first) return;
      profile.color = free;
      changed();
    });
    colors.append(button);
  }
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") field.blur();
  });
  return [h("label", { for: "member-name" }, t("yourName")), field, colors];
}
