/**
 * Under each of several bodies with a method of their own, what a step of it takes, and how wrong it is where the scene
 * has a reference: elements over the canvas.
 */
import type { RoomStats } from "../../shared/protocol/protocol.ts";
import { numberText, t } from "../text/text.ts";
import type { Foot } from "../view/roomView.ts";
import { h } from "./dom.ts";

/** Between two labels side by side, px. */
const GAP = 6;

interface Label {
  element: HTMLElement;
  /** px, of its text; NaN: not known, or it has changed. */
  width: number;
  height: number;
}

export class CostLabels {
  readonly element = h("div", { class: "costs", "aria-hidden": "true" });
  private readonly labels = new Map<number, Label>();

  /**
   * @param methods body and milliseconds of a step, as `stats` has them; one body alone has none to be compared with.
   * @param errors body and distance from its reference over its largest side.
   * What a body that rests took last stays.
   */
  update({ methods, errors }: Pick<RoomStats, "methods" | "errors">): void {
    for (const [body, stepMs] of methods) {
      const label = this.labels.get(body) ?? (methods.length > 1 ? this.add(body) : undefined);
      if (label) write(label, 0, t("msPerStep", { ms: rounded(stepMs) }));
    }
    for (const [body, error] of errors) {
      const text = error === null ? t("errorUnknown") : t("errorOfSide", { percent: rounded(100 * error) });
      const label = this.labels.get(body);
      if (label) write(label, 1, text);
    }
  }

  /**
   * Side by side where there is room for it, else one below the other: no label covers another.
   * @param foot of a body in the picture
   */
  show(foot: (body: number) => Foot | undefined): void {
    const shown: { label: Label; at: Foot }[] = [];
    for (const [body, label] of this.labels) {
      const at = foot(body);
      label.element.hidden = at === undefined;
      if (at) shown.push({ label, at });
    }
    const placed: { left: number; right: number; top: number; bottom: number }[] = [];
    for (const { label, at } of shown.sort((a, b) => a.at.x - b.at.x)) {
      measure(label);
      // whole, under a body that is seen
      const whole = at.x > 0 && at.x < innerWidth;
      const most = whole ? innerWidth - label.width : Infinity;
      const left = Math.max(whole ? 0 : -Infinity, Math.min(most, at.x - label.width / 2));
      const right = left + label.width + GAP;
      // from above to below: what is left behind is never met again
      let top = at.y;
      for (const other of placed.toSorted((a, b) => a.top - b.top))
        if (left < other.right && other.left < right && top < other.bottom && other.top < top + label.height)
          top = other.bottom;
      placed.push({ left, right, top, bottom: top + label.height });
      label.element.style.translate = `${left}px ${top}px`;
    }
  }

  private add(body: number): Label {
    const element = h("div", { class: "cost", "data-body": String(body), hidden: true }, h("div"), h("div"));
    const label = { element, width: Number.NaN, height: 0 };
    this.labels.set(body, label);
    this.element.append(element);
    return label;
  }
}

function write(label: Label, line: number, text: string): void {
  label.element.children[line]!.textContent = text;
  label.width = Number.NaN;
}

/** Once for a text: the page is laid out for it. */
function measure(label: Label): void {
  if (!Number.isNaN(label.width)) return;
  const { width, height } = label.element.getBoundingClientRect();
  label.width = width;
  label.height = height;
}

const rounded = (value: number): string => numberText(Number(value.toPrecision(2)));
