/** List of the scenes in the gallery, with their owners' addresses and a delete button. */
import type { AdminSaved, AdminSavedScenes } from "../../net/admin.ts";
import { dateText, t } from "../../text/text.ts";
import { h } from "../dom.ts";
import { size } from "./format.ts";
import { sureButton } from "./sureButton.ts";

export class SavedList {
  readonly element: HTMLElement;
  readonly #delete: (scene: AdminSaved) => void;
  readonly #sum = h("p", { class: "summary" });
  readonly #list = h("ol", { class: "audit objects" });
  #shown = "";

  constructor(onDelete: (scene: AdminSaved) => void) {
    this.#delete = onDelete;
    this.element = h("section", { "aria-label": t("gallery") }, h("h2", {}, t("gallery")), this.#sum, this.#list);
  }

  update(all: AdminSavedScenes): void {
    const shown = JSON.stringify(all);
    // Keep an unchanged list, so that its buttons stay in place.
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#sum.textContent = t("adminGallerySum", { count: all.scenes.length, most: all.mostScenes });
    const entries = all.scenes.map((scene) => this.#entry(scene));
    this.#list.replaceChildren(...(entries.length > 0 ? entries : [h("li", { class: "none" }, t("adminNothingYet"))]));
  }

  #entry(scene: AdminSaved): HTMLLIElement {
    const { saved, title, bytes, address, createdAt } = scene;
    return h(
      "li",
      { "data-saved": saved },
      h("time", { datetime: createdAt }, dateText(createdAt)),
      h("strong", { dir: "auto" }, title),
      h("span", { class: "details" }, [address ?? t("adminObjectOperators"), size(bytes)].join(", ")),
      sureButton("delete", "adminDeleteObject", "adminDeleteSure", () => this.#delete(scene)),
    );
  }
}
