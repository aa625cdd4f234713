/**
 * A card that a button opens: above the button if there is space, as a bottom sheet on small screens (screens.css).
 * A press outside closes it.
 */
import { h } from "./dom.ts";
import { t } from "../text/text.ts";

/** Distance from the button and from the window's edge, px. */
const GAP = 10;

export class Panel {
  readonly element: HTMLElement;
  /** Called after it was closed, for any reason. */
  onClose: () => void = () => {};
  private readonly button: HTMLElement;

  /** @param name CSS class of the element, in addition to "popover" */
  constructor(button: HTMLElement, title: string, name: string, ...children: (HTMLElement | undefined)[]) {
    this.button = button;
    button.setAttribute("aria-expanded", "false");
    this.element = h(
      "div",
      { class: `popover glass ${name}`, role: "dialog", tabindex: "-1", "aria-label": title, hidden: true },
      h("div", { class: "head" }, h("strong", {}, title), this.closeButton()),
      ...children,
    );
    closeOutside(
      () => this.isOpen,
      [button, this.element],
      () => this.open(false),
    );
    addEventListener("resize", () => this.place());
  }

  get isOpen(): boolean {
    return !this.element.hidden;
  }

  open(on: boolean): void {
    if (on === this.isOpen) return;
    if (!on && this.element.contains(document.activeElement)) this.button.focus();
    this.element.hidden = !on;
    this.button.setAttribute("aria-expanded", String(on));
    if (!on) return this.onClose();
    this.place();
    this.element.focus({ preventScroll: true });
  }

  private closeButton(): HTMLElement {
    return h(
      "button",
      { class: "close", type: "button", "aria-label": t("close"), onclick: () => this.open(false) },
      "×",
    );
  }

  /** Places the card above the button, inside the window. The style sheet places sheets. */
  private place(): void {
    if (!this.isOpen) return;
    const { left, top } = this.button.getBoundingClientRect();
    const most = innerWidth - this.element.offsetWidth - GAP;
    this.element.style.setProperty("--left", `${Math.max(GAP, Math.min(left, most))}px`);
    this.element.style.setProperty("--bottom", `${Math.max(GAP, innerHeight - top + GAP)}px`);
  }
}

/** Calls `close` if something is open and a pointer is pressed outside of `inside`. */
export function closeOutside(isOpen: () => boolean, inside: readonly HTMLElement[], close: () => void): void {
  addEventListener(
    "pointerdown",
    (event) => {
      if (isOpen() && !inside.some((element) => element.contains(event.target as Node))) close();
    },
    { capture: true },
  );
}
