/** Short notes that disappear after a while, announced to screen readers. */
import { h } from "./dom.ts";

const SHOWN_MS = 3200;

export class Toasts {
  readonly element = h("div", { class: "toasts", role: "status", "aria-live": "polite" });

  show(text: string): void {
    const toast = h("div", { class: "toast" }, text);
    this.element.append(toast);
    // Limit their number, so that they do not cover the picture.
    while (this.element.childElementCount > 3) this.element.firstElementChild!.remove();
    setTimeout(() => toast.classList.add("leaving"), SHOWN_MS);
    setTimeout(() => toast.remove(), SHOWN_MS + 400);
  }
}
