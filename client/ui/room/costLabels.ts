/**
 * Labels under bodies that a scene compares: name, time per step of a simulation method, and the error if the scene has
 * a reference. They are elements over the canvas.
 */
import type { RoomStats } from "../../../shared/protocol/fromServer.ts";
import { numberText, t, tParts } from "../../text/text.ts";
import type { Foot } from "../../view/roomView.ts";
import { h } from "../dom.ts";

/** Gap between two labels side by side, px. */
const GAP = 6;
/** Widest and narrowest label, px. Between these, labels are as wide as the distance of their bodies. */
const WIDEST = 190;
const NARROWEST = 84;

interface Label {
  element: HTMLElement;
  /** Size of the label, px; width NaN: not measured since the text changed. */
  width: number;
  height: number;
}

export class CostLabels {
  readonly element = h("div", { class: "costs", "aria-hidden": "true" });
  private readonly labels = new Map<number, Label>();
  private names: readonly string[] = [];
  /** Number of labels and width of the window, for which the width of the labels was set. */
  private widthFor = "";

  /** @param names of the scene's bodies. @param all true if each body gets a label, although it has no numbers */
  setBodies(names: readonly string[], all: boolean): void {
    this.names = names;
    if (all) for (const body of names.keys()) if (!this.labels.has(body)) this.add(body);
  }

  /**
   * @param methods body and milliseconds per step, from `stats`; labels appear only if there are several to compare.
   * @param errors body and distance from its reference over its largest side.
   * A sleeping body keeps its last value.
   */
  update({ methods, errors }: Pick<RoomStats, "methods" | "errors">): void {
    for (const [body, stepMs] of methods) {
      const label = this.labels.get(body) ?? (methods.length > 1 ? this.add(body) : undefined);
      if (label) write(label, 1, t("msPerStep", { ms: rounded(stepMs) }));
    }
    for (const [body, error] of errors) {
      const of = h("span", { class: "of" }, t("exactShape"));
      const percent = document.createTextNode(error === null ? "" : rounded(100 * error));
      const text = error === null ? tParts("errorUnknown", { of }) : tParts("errorOfSide", { percent, of });
      const label = this.labels.get(body);
      if (label) write(label, 2, ...text);
    }
  }

  /**
   * Places labels side by side if there is room, otherwise one below the other, so that they do not overlap.
   * @param foot returns the point below a body in the picture
   */
  show(foot: (body: number) => Foot | undefined): void {
    const shown: { label: Label; at: Foot }[] = [];
    for (const [body, label] of this.labels) {
      const at = foot(body);
      label.element.hidden = at === undefined;
      if (at) shown.push({ label, at });
    }
    this.narrow(shown.map(({ at }) => at.x));
    const placed: { left: number; right: number; top: number; bottom: number }[] = [];
    for (const { label, at } of shown.sort((a, b) => a.at.x - b.at.x)) {
      measure(label);
      // Keep the whole label inside the window if its body is.
      const whole = at.x > 0 && at.x < innerWidth;
      const most = whole ? innerWidth - label.width : Infinity;
      const left = Math.max(whole ? 0 : -Infinity, Math.min(most, at.x - label.width / 2));
      const right = left + label.width + GAP;
      // Sorted from top to bottom, so one pass resolves all overlaps.
      let top = at.y;
      for (const other of placed.toSorted((a, b) => a.top - b.top))
        if (left < other.right && other.left < right && top < other.bottom && other.top < top + label.height)
          top = other.bottom;
      placed.push({ left, right, top, bottom: top + label.height });
      label.element.style.translate = `${left}px ${top}px`;
    }
  }

  /** Makes labels so narrow that they stand side by side, if they can. Bodies that move later do not change it. */
  private narrow(xs: number[]): void {
    const widthFor = `${xs.length} ${innerWidth}`;
    if (xs.length === 0 || widthFor === this.widthFor) return;
    this.widthFor = widthFor;
    xs.sort((a, b) => a - b);
    const least = xs.reduce((gap, x, i) => (i === 0 ? gap : Math.min(gap, x - xs[i - 1]!)), Infinity);
    const width = Math.max(NARROWEST, Math.min(WIDEST, least - GAP));
    this.element.style.setProperty("--widest", `${Math.floor(width)}px`);
    for (const label of this.labels.values()) label.width = Number.NaN;
  }

  private add(body: number): Label {
    const element = h("div", { class: "cost", "data-body": String(body), hidden: true });
    element.append(h("strong", {}, this.names[body] ?? ""), h("div"), h("div"));
    const label = { element, width: Number.NaN, height: 0 };
    this.labels.set(body, label);
    this.element.append(element);
    return label;
  }
}

function write(label: Label, line: number, ...text: (string | Node)[]): void {
  label.element.children[line]!.replaceChildren(...text);
  label.width = Number.NaN;
}

/** Measures a label once per text, because measuring forces a layout of the page. */
function measure(label: Label): void {
  if (!Number.isNaN(label.width)) return;
  const { width, height } = label.element.getBoundingClientRect();
  label.width = width;
  label.height = height;
}

const rounded = (value: number): string => numberText(Number(value.toPrecision(2)));
