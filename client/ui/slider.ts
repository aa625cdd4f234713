/**
 * A range input with label and value, which sends its moves. For a while after a move, the server's values do not move
 * it.
 */
import type { Span } from "../../shared/members/tuningLimits.ts";
import { numberText, t } from "../text/text.ts";
import { h } from "./dom.ts";

/** Least time between two sends of a slider, ms. */
const SEND_MS = 100;
/** Time after a move during which values from the server do not move the slider, ms. */
const OWN_MS = 600;
/** Tolerance for rounding, in steps. */
const TINY = 1e-6;

export interface SliderOptions {
  id: string;
  text: string;
  unit: string;
  min: number;
  max: number;
  /** Step of the input: of the value, or with `log` of its base-10 logarithm. */
  step: number;
  /** The scale is logarithmic. */
  log?: true;
}

/** Three significant digits on a logarithmic scale, otherwise two decimals. */
const rounded = (value: number, log: boolean | undefined): number =>
  Number(log ? value.toPrecision(3) : value.toFixed(2));

export class Slider {
  readonly element: HTMLElement;
  private readonly input: HTMLInputElement;
  // The sign comes before the number and the SI unit after it, in every language.
  private readonly output = h("output", { dir: "ltr" });
  private readonly options: SliderOptions;
  /** Range as in `options`, or narrower. */
  private min: number;
  private max: number;
  private readonly send: (value: number) => void;
  private latest = 0;
  private movedMs = -Infinity;
  private sentMs = -Infinity;
  private sending: ReturnType<typeof setTimeout> | undefined;
  private settling: ReturnType<typeof setTimeout> | undefined;

  constructor(options: SliderOptions, send: (value: number) => void) {
    const { id, text, min, max, step } = options;
    this.options = options;
    this.min = min;
    this.max = max;
    this.send = send;
    this.input = h("input", { type: "range", id, step: String(step) });
    this.reach(this.wayOf(min), this.wayOf(max));
    this.output.setAttribute("for", id);
    this.input.addEventListener("input", () => this.moved());
    this.element = h("div", { class: "slider" }, h("label", { for: id }, text), this.output, this.input);
  }

  /** Narrows the range. */
  limit({ least, most }: Span): void {
    const { min, max } = this.options;
    this.min = Math.min(Math.max(min, least), most);
    this.max = Math.max(Math.min(max, most), least);
    this.show(this.latest);
  }

  /** Shows the current value, from any source. */
  show(value: number): void {
    this.latest = value;
    clearTimeout(this.settling);
    const waitMs = this.movedMs + OWN_MS - performance.now();
    if (waitMs > 0) {
      this.settling = setTimeout(() => this.show(this.latest), waitMs);
      return;
    }
    const way = this.wayOf(value);
    this.reach(Math.min(this.wayOf(this.min), way), Math.max(this.wayOf(this.max), way));
    this.input.value = String(way);
    this.say(value);
  }

  /** Shows the value of another quantity; undefined hides the slider. */
  turnTo(value: number | undefined): void {
    clearTimeout(this.sending);
    this.sending = undefined;
    this.movedMs = -Infinity;
    this.element.hidden = value === undefined;
    if (value !== undefined) this.show(value);
  }

  /** The input counts steps from its minimum. Both ends are whole steps, so that 0 and round values stay reachable. */
  private reach(least: number, most: number): void {
    const { step } = this.options;
    this.input.min = String(Number((Math.floor(least / step + TINY) * step).toFixed(9)));
    this.input.max = String(Number((Math.ceil(most / step - TINY) * step).toFixed(9)));
  }

  private wayOf(value: number): number {
    return this.options.log ? Math.log10(value) : value;
  }

  get value(): number {
    const way = Number(this.input.value);
    const value = this.options.log ? rounded(10 ** way, true) : way;
    // Whole steps and rounding must not exceed the limits.
    return Math.min(Math.max(value, Math.min(this.min, this.latest)), Math.max(this.max, this.latest));
  }

  private say(value: number): void {
    const { unit, log } = this.options;
    const shown = unit === "°" ? Math.round(value) % 360 : rounded(value, log);
    // Small values, such as a bending stiffness of 0.00002, are shown with an exponent.
    const text = log && Math.abs(shown) < 0.01 ? shown.toExponential() : shown;
    this.output.textContent = unit ? t("quantity", { value: text, unit }) : numberText(shown);
    this.input.setAttribute("aria-valuetext", this.output.textContent);
  }

  private moved(): void {
    this.movedMs = performance.now();
    this.say(this.value);
    // Returns to the last known value unless the server confirms: a refused change is not sent back.
    this.show(this.latest);
    if (this.sending !== undefined) return;
    const tell = (): void => {
      this.sending = undefined;
      this.sentMs = performance.now();
      this.send(this.value);
    };
    const waitMs = this.sentMs + SEND_MS - this.movedMs;
    if (waitMs <= 0) tell();
    else this.sending = setTimeout(tell, waitMs);
  }
}
