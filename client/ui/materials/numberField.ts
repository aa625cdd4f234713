/** A field for a number with a unit, which says by itself what is wrong with what is typed. */
import { h } from "../dom.ts";
import { t } from "../../text/text.ts";
import { parse, quantity, typed, type Unit } from "./quantity.ts";

export interface NumberFieldOptions {
  id: string;
  label: string;
  /** That it is typed in. */
  unit: () => Unit;
  /** What it takes, SI. */
  limits: () => { min: number; max: number };
  /** The value in words, beside the unit. */
  write?: (value: number) => string;
  /** Nothing is wrong with an empty one. */
  optional?: true;
}

export class NumberField {
  readonly element: HTMLElement;
  readonly #input: HTMLInputElement;
  readonly #unit = h("span", { class: "unit", dir: "ltr" });
  readonly #problem: HTMLElement;
  readonly #options: NumberFieldOptions;

  /** @param changed after each change by hand */
  constructor(options: NumberFieldOptions, changed: () => void) {
    const { id, label } = options;
    this.#options = options;
    this.#input = h("input", {
      id,
      type: "text",
      inputmode: "decimal",
      autocomplete: "off",
      spellcheck: "false",
      dir: "ltr",
      "aria-describedby": `${id}-problem`,
      oninput: changed,
    });
    this.#problem = h("p", { class: "problem", id: `${id}-problem`, role: "alert", hidden: true });
    this.element = h(
      "div",
      { class: "number" },
      h("label", { for: id }, label),
      h("div", { class: "typed" }, this.#input, this.#unit),
      this.#problem,
    );
  }

  /** @param value SI */
  show(value: number): void {
    this.#input.value = typed(value / this.#options.unit().size);
  }

  /** Says what is wrong, if anything is. @returns SI; undefined: it is no number that it takes */
  read(): number | undefined {
    const { label, unit, limits, write, optional } = this.#options;
    const text = this.#input.value.trim();
    const { size } = unit();
    const { min, max } = limits();
    const number = parse(text);
    const value = number === undefined ? undefined : number * size;
    // by the last digits of what was typed in another unit nothing is outside
    const inside = value !== undefined && value >= min * (1 - 1e-9) && value <= max * (1 + 1e-9);
    const say = write ?? ((si: number): string => quantity(si, unit()));
    const range = { field: label, min: say(min), max: say(max) };
    let problem: string | undefined;
    if (text === "") problem = optional ? undefined : t("materialEmpty", range);
    else if (value === undefined) problem = t("materialNoNumber", { ...range, value: text });
    else if (!inside) problem = t("materialOutside", { ...range, value: text });
    this.#problem.hidden = problem === undefined;
    if (this.#problem.textContent !== (problem ?? "")) this.#problem.textContent = problem ?? "";
    this.#input.setAttribute("aria-invalid", String(problem !== undefined));
    this.#unit.textContent = write && inside && value >= 1000 ? `= ${write(value)}` : unit().text;
    return inside ? value : undefined;
  }
}
