/**
 * Labels under bodies that a scene compares: name, time per step of a simulation method, and the error if the scene has
 * a reference; and texts that members wrote beside bodies. They are elements over the canvas.
 */
import type { RoomStats } from "../../../../shared/protocol/fromServer.ts";
import { numberText, t, tParts } from "../../../text/text.ts";
import type { Edges, Foot } from "../../../view/roomView.ts";
import { h } from "../../dom.ts";
import { labelPlaces, leastGap } from "./labelPlaces.ts";

/** Gap between two labels side by side, px. */
const GAP = 6;
/** Largest number of bodies without a label that labels leave free. */
const MOST_UNNAMED = 32;
/** Elements that labels leave free, and the time between two looks at them, ms. */
const TOOLS = ".title, .toolbar, .together, .hint, .pin-here";
const TOOLS_MS = 200;
/** Time after a change of the window in which the view still moves, ms. */
const SETTLES_MS = 800;
/** Widest and narrowest label, px. Between these, labels are as wide as the distance of their bodies. */
const WIDEST = 240;
const NARROWEST = 84;
/** Below this width, the error's reference would take lines of its own, px. */
const TIGHT = 190;

interface Label {
  element: HTMLElement;
  /** It has only a text that a member wrote. */
  sign: boolean;
  /** Size of the label, px; width NaN: not measured since the text changed. */
  width: number;
  height: number;
  /** Color of the body that it shows, #rrggbb. */
  color: string;
}

export class CostLabels {
  readonly element = h("div", { class: "costs", "aria-hidden": "true" });
  private readonly labels = new Map<number, Label>();
  private names: readonly string[] = [];
  /** Several bodies have had a time per step: a single one compares nothing. */
  private compares = false;
  /** Number of labels and width of the window, for which the width of the labels was set. */
  private widthFor = "";
  private settlesUntil = 0;
  private tools: readonly Edges[] = [];
  private toolsUntil = 0;
  private shown: { label: Label; at: Foot }[] = [];
  /** Bodies without a label, and balls, which no label covers. */
  private unnamed: Edges[] = [];
  private again: ReturnType<typeof setTimeout> | undefined;

  /** @param names of the scene's bodies. @param compared bodies that get a label, although they have no numbers */
  setBodies(names: readonly string[], compared: readonly number[]): void {
    this.names = names;
    for (const [body, label] of this.labels) if (!label.sign) write(label, 0, names[body] ?? "");
    for (const body of compared) if (!this.labels.has(body)) this.add(body);
  }

  /**
   * @param methods body and milliseconds per step, from `stats`; shown only if there are several to compare.
   * @param errors body and distance from its reference over its largest side.
   * A sleeping body keeps its last value.
   */
  update({ methods, errors }: Pick<RoomStats, "methods" | "errors">): void {
    this.compares ||= methods.length > 1;
    if (this.compares)
      for (const [body, stepMs] of methods)
        write(this.labels.get(body) ?? this.add(body), 1, t("msPerStep", { ms: rounded(stepMs) }));
    for (const [body, error] of errors) {
      const of = h("span", { class: "of" }, t("exactShape"));
      const percent = document.createTextNode(error === null ? "" : rounded(100 * error));
      const text = error === null ? tParts("errorUnknown", { of }) : tParts("errorOfSide", { percent, of });
      const label = this.labels.get(body);
      if (label) write(label, 2, ...text);
    }
  }

  /** Shows a member's text beside a body; undefined: none. */
  setText(body: number, text: string | undefined): void {
    const label = this.labels.get(body) ?? (text && this.add(body, true));
    if (!label) return;
    write(label, 3, text ?? "");
    if (text || !label.sign) return;
    label.element.remove();
    this.labels.delete(body);
  }

  /**
   * Places the labels.
   * @param foot returns the point below a body in the picture
   * @param balls returns the colliders that are balls
   */
  show(foot: (body: number) => Foot | undefined, balls: () => Edges[]): void {
    this.shown = [];
    for (const [body, label] of this.labels) {
      const at = foot(body);
      if (at) this.shown.push({ label, at });
      else label.element.hidden = true;
    }
    this.unnamed = this.shown.length > 0 ? [...this.unnamedBodies(foot), ...balls()] : [];
    this.place();
  }

  private unnamedBodies(foot: (body: number) => Foot | undefined): Edges[] {
    const unnamed = [...this.names.keys()].filter((body) => !this.labels.has(body)).slice(0, MOST_UNNAMED);
    return unnamed.flatMap((body) => foot(body) ?? []);
  }

  private place(): void {
    const { shown } = this;
    clearTimeout(this.again);
    if (shown.length === 0) return;
    this.narrow(shown.map(({ at: { x, bottom } }) => ({ x, y: bottom })));
    for (const { label, at } of shown) {
      // Hidden elements have no size.
      if (Number.isNaN(label.width)) label.element.hidden = false;
      measure(label);
      paint(label, at.color);
    }
    const labels = shown.map(({ label: { width, height }, at: { x, bottom } }) => ({ x, y: bottom, width, height }));
    const places = labelPlaces(labels, this.toolBoxes(), innerWidth, this.unnamed);
    for (const [k, { label }] of shown.entries()) {
      const place = places[k];
      label.element.hidden = place === undefined;
      if (place) label.element.style.translate = `${place.left}px ${place.top}px`;
    }
    // Tools go without a new picture.
    if (places.includes(undefined)) this.again = setTimeout(() => this.place(), 2 * TOOLS_MS);
  }

  /** Measured a few times a second, because measuring forces a layout of the page. */
  private toolBoxes(): readonly Edges[] {
    const now = performance.now();
    if (now < this.toolsUntil) return this.tools;
    this.toolsUntil = now + TOOLS_MS;
    this.tools = [...(this.element.parentElement?.querySelectorAll(TOOLS) ?? [])]
      .map((tool) => tool.getBoundingClientRect())
      .filter(({ width }) => width > 0);
    return this.tools;
  }

  /** Makes labels so narrow that they stand side by side, if they can. Bodies that move later do not change it. */
  private narrow(feet: Parameters<typeof leastGap>[0]): void {
    const widthFor = `${feet.length} ${innerWidth}`;
    const now = performance.now();
    if (widthFor !== this.widthFor) this.settlesUntil = now + SETTLES_MS;
    else if (now > this.settlesUntil) return;
    this.widthFor = widthFor;
    const wide = Math.floor(Math.max(NARROWEST, Math.min(WIDEST, leastGap(feet) - GAP)));
    const widest = `${wide}px`;
    if (widest === this.element.style.getPropertyValue("--widest")) return;
    this.element.style.setProperty("--widest", widest);
    this.element.classList.toggle("tight", wide < TIGHT);
    for (const label of this.labels.values()) label.width = Number.NaN;
  }

  private add(body: number, sign = false): Label {
    const element = h("div", { class: "cost", "data-body": String(body), hidden: true });
    const name = sign ? "" : (this.names[body] ?? "");
    element.append(h("strong", {}, name), h("div"), h("div"), h("div", { class: "sign", dir: "auto" }));
    const label = { element, sign, width: Number.NaN, height: 0, color: "" };
    this.labels.set(body, label);
    this.element.append(element);
    return label;
  }
}

function write(label: Label, line: number, ...text: (string | Node)[]): void {
  label.element.children[line]!.replaceChildren(...text);
  label.width = Number.NaN;
}

/** A dot in the body's color tells which body it is, also where the label had to step aside. */
function paint(label: Label, color: string): void {
  if (label.color === color) return;
  label.color = color;
  label.element.style.setProperty("--body", color);
}

/** Measures a label once per text, because measuring forces a layout of the page. */
function measure(label: Label): void {
  if (!Number.isNaN(label.width)) return;
  const { width, height } = label.element.getBoundingClientRect();
  label.width = width;
  label.height = height;
}

const rounded = (value: number): string => numberText(Number(value.toPrecision(2)));
