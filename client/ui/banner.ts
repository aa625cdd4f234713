/** The strip that says that the line is down and when the next attempt comes. */
import type { ConnectionStatus } from "../net/connection.ts";
import { h } from "./dom.ts";

/** A line that is back this soon was never worth a word, ms. */
const PATIENCE_MS = 400;

export class ConnectionBanner {
  readonly element: HTMLElement;
  private readonly text = h("span");
  private timer: ReturnType<typeof setTimeout> | undefined;
  private everOpen = false;

  constructor() {
    this.element = h("div", { class: "banner", role: "alert", hidden: true }, h("span", { class: "spinner" }), this.text);
  }

  update(status: ConnectionStatus): void {
    if (status.state === "open" || status.state === "ended") {
      this.everOpen ||= status.state === "open";
      clearTimeout(this.timer);
      this.timer = undefined;
      this.element.hidden = true;
      return;
    }
    this.text.textContent = this.everOpen ? "Connection lost. Reconnecting …" : "Connecting …";
    this.timer ??= setTimeout(() => {
      this.element.hidden = false;
    }, PATIENCE_MS);
  }
}
