/** Switch between grabs of one body and grabs of all bodies in `together`. */
import { h } from "../dom.ts";
import { t } from "../../text/text.ts";

export class TogetherSwitch {
  private readonly one = radio();
  private readonly every = radio();
  readonly element = h(
    "fieldset",
    { class: "together", role: "radiogroup", "aria-label": t("handPulls"), title: t("handPulls"), hidden: true },
    h("label", {}, this.one, h("span", {}, t("pullsOne"))),
    h("label", {}, this.every, h("span", {}, t("pullsAll"))),
  );

  constructor() {
    this.setAll(false);
  }

  get all(): boolean {
    return this.every.checked;
  }

  setAll(all: boolean): void {
    this.one.checked = !all;
    this.every.checked = all;
  }

  /** @param has whether the scene has bodies that one grab can pull together */
  offer(has: boolean): void {
    this.element.hidden = !has;
    if (!has) this.setAll(false);
  }
}

const radio = (): HTMLInputElement => h("input", { type: "radio", name: "together" });
