/** A field for a number with a unit, which shows a message if the input is invalid. */
import { h } from "../dom.ts";
import { t } from "../../text/text.ts";
import { parse, quantity, typed, type Unit } from "./quantity.ts";

export interface NumberFieldOptions {
  id: string;
  label: string;
  /** Unit of the input. */
  unit: () => Unit;
  /** Allowed range, SI. */
  limits: () => { min: number; max: number };
  /** Formats the value for the text beside the field. */
  write?: (value: number) => string;
  /** Empty is allowed. */
  optional?: true;
}

export class NumberField {
  readonly element: HTMLElement;
  readonly #input: HTMLInputElement;
  readonly #unit = h("span", { class: "unit", dir: "ltr" });
  readonly #problem: HTMLElement;
  readonly #options: NumberFieldOptions;

  /** @param changed called after each change by the user */
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

  /** Reads the value and shows a message if it is invalid. @returns SI; undefined if invalid */
  read(): number | undefined {
    const { label, unit, limits, write, optional } = this.#options;
    const text = this.#input.value.trim();
    const { size } = unit();
    const { min, max } = limits();
    const number = parse(text);
    const value = number === undefined ? undefined : number * size;
    // Tolerance for values that were converted from another unit.
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
