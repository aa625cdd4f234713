/** Upload of a model: a button, and files dropped anywhere on the page. The dialog is loaded when it is needed. */
import { h, icon, labelOf } from "../dom.ts";
import { t } from "../../text/text.ts";

export interface BringActions {
  /** Id of the scene of the room that the page shows; undefined if it shows none. */
  sceneHere: () => string | undefined;
}

export class Bring {
  readonly button: HTMLButtonElement;
  private readonly sceneHere: BringActions["sceneHere"];
  private readonly veil = h("div", { class: "drop-veil", hidden: true }, h("p", {}, t("bringDrop")));

  /** @param looks CSS classes of the button */
  constructor(sceneHere: BringActions["sceneHere"], looks = "tool extra") {
    this.sceneHere = sceneHere;
    this.button = h(
      "button",
      {
        class: `bring ${looks}`,
        type: "button",
        title: t("bringTitle"),
        "aria-label": labelOf(t("bringOwn"), t("bringTitle")),
        onclick: () => void this.open(),
      },
      icon("file"),
      h("span", { class: "text" }, t("bringOwn")),
    );
    document.body.append(this.veil);
    addEventListener("dragover", (event) => this.over(event));
    addEventListener("dragleave", (event) => {
      if (event.relatedTarget === null) this.veil.hidden = true;
    });
    addEventListener("drop", (event) => this.dropped(event));
  }

  private over(event: DragEvent): void {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "copy";
    this.veil.hidden = false;
  }

  private dropped(event: DragEvent): void {
    this.veil.hidden = true;
    const [file] = event.dataTransfer?.files ?? [];
    if (!file) return;
    event.preventDefault();
    void this.open(file);
  }

  private async open(file?: File): Promise<void> {
    const { BringDialog } = await import("./uploadDialog.ts");
    new BringDialog(this.sceneHere()).open(file);
  }
}
