/** Starting again takes from everybody what they have made: with others in the room it asks first. */
import { h } from "./dom.ts";
import { Panel } from "./panel.ts";

export class ResetPanel {
  readonly panel: Panel;
  private readonly text = h("p");
  private readonly yes: HTMLButtonElement;

  constructor(button: HTMLElement, reset: () => void) {
    const answer = (text: string, kind: string, run: () => void): HTMLButtonElement =>
      h("button", { class: `button ${kind}`, type: "button", onclick: run }, text);
    this.yes = answer("Start again", "primary", () => {
      this.panel.open(false);
      reset();
    });
    this.panel = new Panel(
      button,
      "Start again?",
      "reset-panel",
      this.text,
      h(
        "div",
        { class: "acts" },
        this.yes,
        answer("Keep it", "", () => this.panel.open(false)),
      ),
    );
  }

  /** @param others in the room, at least one */
  ask(others: number): void {
    const who = others === 1 ? "one other person" : `${others} other people`;
    this.text.textContent = `The scene starts again for you and ${who}.`;
    this.panel.open(true);
    this.yes.focus();
  }
}
