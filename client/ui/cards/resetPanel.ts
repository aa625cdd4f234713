/** Confirmation of a reset, which discards the state of all members. Shown if other members are in the room. */
import { h } from "../dom.ts";
import { Panel } from "../panel.ts";
import { t } from "../../text/text.ts";

export class ResetPanel {
  readonly panel: Panel;
  private readonly text = h("p");
  private readonly yes: HTMLButtonElement;

  constructor(button: HTMLElement, reset: () => void) {
    const answer = (text: string, kind: string, run: () => void): HTMLButtonElement =>
      h("button", { class: `button ${kind}`, type: "button", onclick: run }, text);
    this.yes = answer(t("startAgain"), "primary", () => {
      this.panel.open(false);
      reset();
    });
    this.panel = new Panel(
      button,
      t("startAgainQuestion"),
      "reset-panel",
      this.text,
      h(
        "div",
        { class: "acts" },
        this.yes,
        answer(t("keepIt"), "", () => this.panel.open(false)),
      ),
    );
  }

  /** @param others number of other members in the room, at least one */
  ask(others: number): void {
    this.text.textContent = t("startsAgainFor", { count: others });
    this.panel.open(true);
    this.yes.focus();
  }
}
