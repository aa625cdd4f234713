/**
 * A card that a button opens: above the button if there is space, as a bottom sheet on small screens (screens.css).
 * A press outside closes it. A docked card stays open beside the picture, so that its effect is visible: at the page's
 * side, and on phones as a sheet that takes at most SHEET_SHARE of the window and leaves the rest to the picture.
 */
import { h } from "./dom.ts";
import { t } from "../text/text.ts";

/** Distance from the button and from the window's edge, px. */
const GAP = 10;
/** Share of the window's height, and of its width on a phone on its side, that a docked sheet takes at most. */
const SHEET_SHARE = 0.45;
/** Least height of a sheet, px; a drag to less than half of it closes the sheet. */
const LEAST_SHEET = 150;
/** The media queries of screens.css. */
const isUpright = (): boolean => matchMedia("(max-width: 34rem)").matches;
const isLow = (): boolean => matchMedia("(max-height: 29rem)").matches;

export class Panel {
  readonly element: HTMLElement;
  /** Called after it was closed, for any reason. */
  onClose: () => void = () => {};
  private readonly button: HTMLElement;
  private readonly docked: boolean;
  /** Height of the sheet that the visitor chose, px. */
  private height = Infinity;

  /** @param name CSS classes of the element, in addition to "popover"; with "docked" the card stays open */
  constructor(button: HTMLElement, title: string, name: string, ...children: (HTMLElement | undefined)[]) {
    this.button = button;
    this.docked = name.split(" ").includes("docked");
    button.setAttribute("aria-expanded", "false");
    const head = h("div", { class: "head" }, h("strong", {}, title), this.closeButton());
    this.element = h(
      "div",
      { class: `popover glass ${name}`, role: "dialog", tabindex: "-1", "aria-label": title, hidden: true },
      head,
      ...(this.docked ? [h("div", { class: "content" }, ...children)] : children),
    );
    if (this.docked) this.followDrags(head);
    else
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
    const active = document.activeElement as HTMLElement | null;
    if (!on && this.element.contains(active)) {
      // A button in a closed menu takes no focus, and a hidden field would keep it until the next picture.
      active!.blur();
      this.button.focus();
    }
    this.element.hidden = !on;
    this.button.setAttribute("aria-expanded", String(on));
    this.place();
    if (!on) return this.onClose();
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
    if (this.docked) this.dock();
    if (!this.isOpen || this.docked) return;
    // The menu of tools closes, or is closed: its own button stays.
    const menu = this.button.closest(".overflow")?.parentElement?.querySelector<HTMLElement>(".more-tools");
    let anchor = menu && menu.offsetHeight > 0 ? menu : this.button;
    while (anchor.offsetHeight === 0 && anchor.parentElement) anchor = anchor.parentElement;
    const { left, top } = anchor.getBoundingClientRect();
    const most = innerWidth - this.element.offsetWidth - GAP;
    this.element.style.setProperty("--left", `${Math.max(GAP, Math.min(left, most))}px`);
    this.element.style.setProperty("--bottom", `${Math.max(GAP, innerHeight - top + GAP)}px`);
  }

  /** On a phone, leaves the part of the page without the sheet to the picture (room.css). */
  private dock(): void {
    const style = this.element.parentElement?.style;
    if (!style) return;
    const below = this.isOpen && isUpright();
    const beside = this.isOpen && !isUpright() && isLow();
    const most = SHEET_SHARE * innerHeight;
    style.setProperty("--sheet-bottom", below ? `${Math.min(most, Math.max(LEAST_SHEET, this.height))}px` : "0px");
    style.setProperty("--sheet-side", beside ? `${SHEET_SHARE * innerWidth}px` : "0px");
  }

  /** A drag of the head changes the height of a sheet, or closes it. */
  private followDrags(head: HTMLElement): void {
    let startY: number | undefined;
    let startHeight = 0;
    head.addEventListener("pointerdown", (event) => {
      if (!isUpright() || (event.target as Element).closest("button")) return;
      head.setPointerCapture(event.pointerId);
      startY = event.clientY;
      startHeight = this.element.offsetHeight;
    });
    head.addEventListener("pointermove", ({ clientY }) => {
      if (startY === undefined) return;
      this.height = startHeight + startY - clientY;
      this.dock();
    });
    for (const end of ["pointerup", "pointercancel"] as const)
      head.addEventListener(end, () => {
        if (startY === undefined) return;
        startY = undefined;
        if (this.height >= LEAST_SHEET / 2) return;
        this.height = Infinity;
        this.open(false);
      });
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
