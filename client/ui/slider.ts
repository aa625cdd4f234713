/**
 * A range with its name and value, that says where it is moved to; what others say of it does not pull it meanwhile.
 */
import type { Span } from "../../shared/tuning.ts";
import { numberText, t } from "../text/text.ts";
import { h } from "./dom.ts";

/** One change of a slider is sent at most this often, ms. */
const SEND_MS = 100;
/** A slider that was moved is its mover's for so long, ms: what comes back of earlier moves does not pull it. */
const OWN_MS = 600;
/** Rounding of a quotient, in steps. */
const TINY = 1e-6;

export interface SliderOptions {
  id: string;
  text: string;
  unit: string;
  min: number;
  max: number;
  /** Of what is moved: the value, or with `log` its logarithm to the base 10. */
  step: number;
  /** Values of many sizes: each part of the way is as many times as much. */
  log?: true;
}

/** Three digits of what has many sizes, two places of the rest. */
const rounded = (value: number, log: boolean | undefined): number =>
  Number(log ? value.toPrecision(3) : value.toFixed(2));

export class Slider {
  readonly element: HTMLElement;
  private readonly input: HTMLInputElement;
  // a number with its sign before it and its SI unit behind, in every language
  private readonly output = h("output", { dir: "ltr" });
  private readonly options: SliderOptions;
  /** Of what is moved: as `options` say, or narrower. */
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

  /** Offers no value beyond these. */
  limit({ least, most }: Span): void {
    const { min, max } = this.options;
    this.min = Math.min(Math.max(min, least), most);
    this.max = Math.max(Math.min(max, most), least);
    this.show(this.latest);
  }

  /** What holds now, whoever said so. */
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

  /** It stands for something else now; undefined: for nothing. */
  turnTo(value: number | undefined): void {
    clearTimeout(this.sending);
    this.sending = undefined;
    this.movedMs = -Infinity;
    this.element.hidden = value === undefined;
    if (value !== undefined) this.show(value);
  }

  /** The input counts steps from its lower end: with whole steps at both ends, 0 and round values stay reachable. */
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
    // whole steps and rounding must not carry an end beyond its limit
    return Math.min(Math.max(value, Math.min(this.min, this.latest)), Math.max(this.max, this.latest));
  }

  private say(value: number): void {
    const { unit, log } = this.options;
    const shown = rounded(value, log);
    // a bending stiffness of 0.00002 has more digits than a number for people
    const text = log && Math.abs(shown) < 0.01 ? shown.toExponential() : shown;
    this.output.textContent = unit ? t("quantity", { value: text, unit }) : numberText(shown);
    this.input.setAttribute("aria-valuetext", this.output.textContent);
  }

  private moved(): void {
    this.movedMs = performance.now();
    this.say(this.value);
    // what is refused does not come back: then it is where it was
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
