/** The room's row of tools: who I am, push, reset, view, numbers, replay, link, help. */
import { h, icon, type IconName } from "./dom.ts";
import { PALETTE, saveProfile, tidyName, type Profile } from "./profile.ts";

export interface ToolbarActions {
  profileChanged: () => void;
  push: () => void;
  reset: () => void;
  home: () => void;
  overlay: () => void;
  help: () => void;
  copyLink: () => void;
}

export class Toolbar {
  readonly element: HTMLElement;
  private readonly pushButton: HTMLButtonElement;
  private readonly overlayButton: HTMLButtonElement;
  private readonly resetButton: HTMLButtonElement;
  private readonly me: HTMLButtonElement;
  private readonly popover: HTMLElement;

  /** @param spares the list of what can be put in; access what owners decide; room its name */
  constructor(profile: Profile, actions: ToolbarActions, spares: HTMLElement, access: HTMLElement, room: string) {
    this.popover = profilePopover(profile, () => {
      this.showProfile(profile);
      saveProfile(profile);
      actions.profileChanged();
    });
    this.me = h(
      "button",
      {
        class: "tool me",
        type: "button",
        title: "Your name and colour",
        "aria-expanded": "false",
        onclick: () => this.togglePopover(),
      },
      h("span", { class: "swatch" }),
      h("span", { class: "text" }),
    );
    this.pushButton = tool("push", "Push", "Push instead of pull (P)", actions.push);
    this.pushButton.setAttribute("aria-pressed", "false");
    this.resetButton = tool("reset", "Reset", "Start the scene again, for everyone (R)", actions.reset);
    this.overlayButton = tool("chart", "", "Numbers (O)", actions.overlay);
    this.overlayButton.setAttribute("aria-pressed", "false");
    this.element = h(
      "div",
      { class: "toolbar glass", role: "toolbar", "aria-label": "Tools" },
      this.me,
      h("hr"),
      this.pushButton,
      spares,
      this.resetButton,
      tool("home", "", "The scene's own view (H)", actions.home),
      this.overlayButton,
      tool("help", "", "Help (?)", actions.help),
      access,
      h("hr"),
      tool("link", "Copy link", "Copy the link to this room", actions.copyLink),
      this.popover,
    );
    // A page of its own, so that nobody loses a hold.
    const replay = h(
      "a",
      {
        class: "tool",
        href: `/r/${encodeURIComponent(room)}/replay`,
        target: "_blank",
        rel: "noopener",
        title: "Replay the last minute",
        "aria-label": "Replay the last minute",
      },
      icon("replay"),
      h("span", { class: "text" }, "Replay"),
    );
    this.popover.before(replay);
    this.showProfile(profile);
    addEventListener(
      "pointerdown",
      (event) => {
        if (!this.popover.hidden && !this.element.contains(event.target as Node)) this.togglePopover(false);
      },
      { capture: true },
    );
  }

  togglePopover(open = this.popover.hidden): void {
    this.popover.hidden = !open;
    this.me.setAttribute("aria-expanded", String(open));
    if (open) this.popover.querySelector("input")!.select();
  }

  setPushing(on: boolean): void {
    this.pushButton.setAttribute("aria-pressed", String(on));
  }

  setOverlay(on: boolean): void {
    this.overlayButton.setAttribute("aria-pressed", String(on));
  }

  /** @param mayReset does this member's role allow it, and is the line up? mayPull the same for hands */
  setAllowed(mayReset: boolean, mayPull: boolean): void {
    this.resetButton.disabled = !mayReset;
    this.pushButton.disabled = !mayPull;
  }

  private showProfile({ name, color }: Profile): void {
    this.me.style.setProperty("--member", color);
    this.me.lastElementChild!.textContent = name;
  }
}

function tool(name: IconName, text: string, title: string, run: () => void): HTMLButtonElement {
  return h(
    "button",
    {
      class: "tool",
      type: "button",
      title,
      "aria-label": title,
      onclick: (event) => {
        // Focus would stay on the button, and the space bar would press it again.
        (event.currentTarget as HTMLElement).blur();
        run();
      },
    },
    icon(name),
    text ? h("span", { class: "text" }, text) : undefined,
  );
}

function profilePopover(profile: Profile, changed: () => void): HTMLElement {
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
  const colors = h("div", { class: "colors", role: "radiogroup", "aria-label": "Your colour" });
  for (const color of PALETTE) {
    const button = h("button", {
      type: "button",
      role: "radio",
      "aria-label": color,
      "aria-checked": String(color === profile.color),
    });
    button.style.setProperty("--member", color);
    button.addEventListener("click", () => {
      if (color === profile.color) return;
      profile.color = color;
      for (const other of colors.children) other.setAttribute("aria-checked", String(other === button));
      changed();
    });
    colors.append(button);
  }
  const popover = h(
    "div",
    { class: "popover glass", hidden: true },
    h("label", { for: "member-name" }, "Your name"),
    field,
    colors,
  );
  popover.addEventListener("keydown", (event) => {
    if (event.key === "Enter") field.blur();
  });
  return popover;
}
