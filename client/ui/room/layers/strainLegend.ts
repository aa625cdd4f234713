/** The legend of the strain view: the color scale with its ends. */
import type { StrainKind } from "../../../view/bodies/strainView.ts";
import { h } from "../../dom.ts";
import { numberText, t } from "../../../text/text.ts";

const percent = (value: number): string => `${numberText(value)} %`;

export class StrainLegend {
  readonly element: HTMLElement;
  private readonly caption = h("figcaption");
  private readonly ends = [h("span"), h("span", {}, percent(0)), h("span")] as const;

  constructor() {
    this.element = h(
      "figure",
      { class: "strain-legend glass", hidden: true },
      this.caption,
      h("div", { class: "scale" }),
      h("div", { class: "ends", dir: "ltr" }, ...this.ends),
      h("div", { class: "ends words", dir: "ltr" }, h("span", {}, t("compressed")), h("span", {}, t("stretched"))),
    );
  }

  /** @param end strain at the end of the scale; undefined: hidden. @param colors of the scale */
  show(end: number | undefined, colors: readonly string[], kind: StrainKind): void {
    this.caption.textContent = t(kind === "area" ? "strainOfArea" : "strain");
    this.element.style.setProperty("--colors", colors.join(", "));
    this.element.hidden = end === undefined;
    const value = Math.round(100 * (end ?? 0));
    this.ends[0].textContent = percent(-value);
    this.ends[2].textContent = percent(value);
  }
}
