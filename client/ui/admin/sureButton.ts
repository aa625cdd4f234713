/** A button that needs a second press to confirm, because its action cannot be undone and affects everyone. */
import { type PlainKey, t } from "../../text/text.ts";
import { h } from "../dom.ts";

/** Time within which the second press counts, ms. */
const SURE_MS = 4000;

/** @param action `data-action`, for tests and styles. @param question text of the button after the first press */
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
