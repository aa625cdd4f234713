/** Banner that reports a lost connection. */
import { CloseCode } from "../../shared/protocol/protocol.ts";
import type { ConnectionStatus } from "../sdk/connection/roomConnection.ts";
import { h } from "./dom.ts";
import { t, type PlainKey } from "../text/text.ts";

/** Delay before the banner appears, ms: a connection that is back earlier needs no message. */
const PATIENCE_MS = 400;

/** Close codes with a message of their own. */
const REASONS: ReadonlyMap<number, PlainKey> = new Map<number, PlainKey>([
  [CloseCode.roomFull, "roomFull"],
  [CloseCode.restarting, "restarting"],
  [CloseCode.tooSlow, "tooSlow"],
  [CloseCode.flood, "flood"],
]);

export class ConnectionBanner {
  readonly element: HTMLElement;
  private readonly text = h("span");
  private timer: ReturnType<typeof setTimeout> | undefined;
  private everOpen = false;

  constructor() {
    this.element = h(
      "div",
      { class: "banner", role: "alert", hidden: true },
      h("span", { class: "spinner" }),
      this.text,
    );
  }

  update(status: ConnectionStatus): void {
    if (status.state === "open" || status.state === "ended") {
      this.everOpen ||= status.state === "open";
      clearTimeout(this.timer);
      this.timer = undefined;
      this.element.hidden = true;
      return;
    }
    if (status.state === "reconnecting")
      this.text.textContent = t(REASONS.get(status.code) ?? (this.everOpen ? "connectionLost" : "connecting"));
    else if (!this.timer) this.text.textContent = t(this.everOpen ? "reconnecting" : "connecting");
    this.timer ??= setTimeout(() => {
      this.element.hidden = false;
    }, PATIENCE_MS);
  }
}
