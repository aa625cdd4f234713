/** A button that asks once more: what it ends is gone for everybody. */
import { type PlainKey, t } from "../../text/text.ts";
import { h } from "../dom.ts";

/** The second press counts for so long, ms. */
const SURE_MS = 4000;

/** @param action for tests and styles. @param question its text after the first press */
export function sureButton(action: string, text: PlainKey, question: PlainKey, does: () => void): HTMLButtonElement {
  const button = h("button", { class: "button danger", type: "button", "data-action": action }, t(text));
  let sure: ReturnType<typeof setTimeout> | undefined;
  button.addEventListener("click", () => {
    const second = sure !== undefined;
    clearTimeout(sure);
    sure = second
      ? undefined
      : setTimeout(() => {
          sure = undefined;
          button.textContent = t(text);
        }, SURE_MS);
    button.textContent = t(second ? text : question);
    if (second) does();
  });
  return button;
}
