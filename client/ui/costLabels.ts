/**
 * Under each of several bodies with a method of their own, what a step of it takes, and how wrong it is where the scene
 * has a reference: elements over the canvas.
 */
import type { RoomStats } from "../../shared/protocol/protocol.ts";
import { numberText, t } from "../text/text.ts";
import type { Foot } from "../view/roomView.ts";
import { h } from "./dom.ts";

export class CostLabels {
  readonly element = h("div", { class: "costs", "aria-hidden": "true" });
  private readonly labels = new Map<number, HTMLElement>();

  /**
   * @param methods body and milliseconds of a step, as `stats` has them; one body alone has none to be compared with.
   * @param errors body and distance from its reference over its largest side.
   * What a body that rests took last stays.
   */
  update({ methods, errors }: Pick<RoomStats, "methods" | "errors">): void {
    for (const [body, stepMs] of methods) {
      const label = this.labels.get(body) ?? (methods.length > 1 ? this.add(body) : undefined);
      if (label) label.children[0]!.textContent = t("msPerStep", { ms: rounded(stepMs) });
    }
    for (const [body, error] of errors) {
      const text = error === null ? t("errorUnknown") : t("errorOfSide", { percent: rounded(100 * error) });
      const label = this.labels.get(body);
      if (label) label.children[1]!.textContent = text;
    }
  }

  /** @param foot of a body in the picture */
  show(foot: (body: number) => Foot | undefined): void {
    for (const [body, label] of this.labels) {
      const at = foot(body);
      label.hidden = at === undefined;
      if (at) label.style.translate = `${at.x}px ${at.y}px`;
    }
  }

  private add(body: number): HTMLElement {
    const label = h("div", { class: "cost", "data-body": String(body), hidden: true }, h("div"), h("div"));
    this.labels.set(body, label);
    this.element.append(label);
    return label;
  }
}

const rounded = (value: number): string => numberText(Number(value.toPrecision(2)));
