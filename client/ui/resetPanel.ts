/** Starting again takes from everybody what they have made: with others in the room it asks first. */
import { h } from "./dom.ts";
import { Panel } from "./panel.ts";
import { t } from "../text/text.ts";

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

  /** @param others in the room, at least one */
  ask(others: number): void {
    this.text.textContent = t("startsAgainFor", { count: others });
    this.panel.open(true);
    this.yes.focus();
  }
}
