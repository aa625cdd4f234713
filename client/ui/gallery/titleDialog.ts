/** Dialog that asks for the title of a saved scene and shows the problem if the server refuses it. */
import "../../styles/bring.css";
import { problemText } from "../../text/problem.ts";
import { t } from "../../text/text.ts";
import { h } from "../dom.ts";

/** Longest title, characters, as on the server. */
const TITLE_LENGTH = 80;

/**
 * @param heading of the dialog. @param title to begin with
 * @param does receives the title that the visitor confirms
 */
export function askTitle(heading: string, title: string, does: (title: string) => Promise<void>): void {
  const field = h("input", {
    id: "saved-title",
    required: true,
    maxlength: String(TITLE_LENGTH),
    autocomplete: "off",
    value: title,
  });
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const save = h("button", { class: "button primary", type: "submit" }, t("gallerySave"));
  const send = async (): Promise<void> => {
    save.disabled = true;
    try {
      await does(field.value);
      dialog.close();
    } catch (error) {
      problem.textContent = problemText(error);
      problem.hidden = false;
    } finally {
      save.disabled = false;
    }
  };
  const onsubmit = (event: Event): void => {
    event.preventDefault();
    void send();
  };
  const close = { class: "close", type: "button", "aria-label": t("close"), onclick: () => dialog.close() };
  const dialog = h(
    "dialog",
    { class: "bring-dialog", "aria-label": heading },
    h("div", { class: "head" }, h("strong", {}, heading), h("button", close, "×")),
    problem,
    h("form", { onsubmit }, h("div", { class: "row" }, h("label", { for: field.id }, t("galleryTitle")), field), save),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  field.select();
}
