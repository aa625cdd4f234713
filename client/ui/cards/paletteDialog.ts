/** Asks an owner whether the room starts again with objects to add; loaded when an owner chooses it. */
import "../../styles/bring.css";
import { givePalette } from "../../net/gallery.ts";
import { problemText } from "../../text/problem.ts";
import { t } from "../../text/text.ts";
import { h } from "../dom.ts";

/** @param say shows a note */
export function askForPalette(room: string, say: (text: string) => void): void {
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const send = async (): Promise<void> => {
    give.disabled = true;
    try {
      const added = await givePalette(room);
      dialog.close();
      say(t(added > 0 ? "paletteGiven" : "paletteThere"));
    } catch (error) {
      problem.textContent = problemText(error);
      problem.hidden = false;
    } finally {
      give.disabled = false;
    }
  };
  const give = h("button", { class: "button primary", type: "button", onclick: () => void send() }, t("paletteGive"));
  const close = { class: "close", type: "button", "aria-label": t("close"), onclick: () => dialog.close() };
  const dialog = h(
    "dialog",
    { class: "bring-dialog", "aria-label": t("palette") },
    h("div", { class: "head" }, h("strong", {}, t("palette")), h("button", close, "×")),
    h("p", {}, t("paletteAsk")),
    problem,
    h("form", {}, give),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  give.focus();
}
