/** List of the model files that visitors uploaded, with their addresses and a delete button. */
import type { AdminObject, AdminObjects } from "../../net/admin.ts";
import { dateText, t } from "../../text/text.ts";
import { h } from "../dom.ts";
import { megabytes, size } from "./format.ts";
import { sureButton } from "./sureButton.ts";

export class ObjectsList {
  readonly element: HTMLElement;
  readonly #delete: (object: AdminObject) => void;
  readonly #sum = h("p", { class: "summary" });
  readonly #list = h("ol", { class: "audit objects" });
  #shown = "";

  constructor(onDelete: (object: AdminObject) => void) {
    this.#delete = onDelete;
    this.element = h(
      "section",
      { "aria-label": t("adminObjects") },
      h("h2", {}, t("adminObjects")),
      this.#sum,
      this.#list,
    );
  }

  update(all: AdminObjects): void {
    const shown = JSON.stringify(all);
    // Keep an unchanged list, so that its buttons stay in place.
    if (shown === this.#shown) return;
    this.#shown = shown;
    const { objects, mostObjects, mostBytes } = all;
    const bytes = objects.reduce((sum, object) => sum + object.bytes, 0);
    this.#sum.textContent = t("adminObjectsSum", {
      count: objects.length,
      most: mostObjects,
      bytes: megabytes(bytes),
      mostBytes: megabytes(mostBytes),
    });
    const entries = objects.map((object) => this.#entry(object));
    this.#list.replaceChildren(...(entries.length > 0 ? entries : [h("li", { class: "none" }, t("adminNothingYet"))]));
  }

  #entry(object: AdminObject): HTMLLIElement {
    const { name, bytes, address, createdAt, rooms } = object;
    const facts = [address ?? t("adminObjectOperators"), size(bytes), t("rooms", { count: rooms })];
    return h(
      "li",
      { "data-object": object.object },
      h("time", { datetime: createdAt }, dateText(createdAt)),
      h("strong", {}, name),
      h("span", { class: "details" }, facts.join(", ")),
      ...(rooms === 0
        ? [sureButton("delete", "adminDeleteObject", "adminDeleteSure", () => this.#delete(object))]
        : []),
    );
  }
}
