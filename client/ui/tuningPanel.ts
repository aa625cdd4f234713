/** What owners play with: gravity, and each body's damping and friction, for everybody at once. Shown to owners only. */
import type { Tuning, TuningChange } from "../../shared/protocol.ts";
import { numberText, t } from "../text/text.ts";
import { h, icon, labelOf } from "./dom.ts";
import { Panel } from "./panel.ts";

export interface TuningActions {
  tune: (change: TuningChange) => void;
  /** A file of the scene as it is now. */
  saveScene: () => void;
  /** A room of one's own with the same scene and the same values. */
  duplicate: (tuning: Tuning) => void;
}

/** One change of a slider is sent at most this often, ms. */
const SEND_MS = 100;
/** A slider that was moved is its mover's for so long, ms: what comes back of earlier moves does not pull it. */
const OWN_MS = 600;
const DOWN: Tuning["gravity"] = [0, -1, 0];

interface SliderOptions {
  id: string;
  text: string;
  unit: string;
  min: number;
  max: number;
  step: number;
}

/** A range with its name and value, that says where it is moved to. */
class Slider {
  readonly element: HTMLElement;
  private readonly input: HTMLInputElement;
  // a number with its sign before it and its SI unit behind, in every language
  private readonly output = h("output", { dir: "ltr" });
  private readonly options: SliderOptions;
  private readonly send: (value: number) => void;
  private latest = 0;
  private movedMs = -Infinity;
  private sentMs = -Infinity;
  private sending: ReturnType<typeof setTimeout> | undefined;
  private settling: ReturnType<typeof setTimeout> | undefined;

  constructor(options: SliderOptions, send: (value: number) => void) {
    const { id, text, min, max, step } = options;
    this.options = options;
    this.send = send;
    this.input = h("input", { type: "range", id, min: String(min), max: String(max), step: String(step) });
    this.output.setAttribute("for", id);
    this.input.addEventListener("input", () => this.moved());
    this.element = h("div", { class: "slider" }, h("label", { for: id }, text), this.output, this.input);
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
    this.input.min = String(Math.min(this.options.min, value));
    this.input.max = String(Math.max(this.options.max, value));
    this.input.value = String(value);
    this.say(value);
  }

  /** It stands for something else now. */
  turnTo(value: number): void {
    clearTimeout(this.sending);
    this.sending = undefined;
    this.movedMs = -Infinity;
    this.show(value);
  }

  private say(value: number): void {
    const { unit } = this.options;
    const rounded = Number(value.toFixed(2));
    this.output.textContent = unit ? t("quantity", { value: rounded, unit }) : numberText(rounded);
    this.input.setAttribute("aria-valuetext", this.output.textContent);
  }

  private moved(): void {
    this.movedMs = performance.now();
    this.say(Number(this.input.value));
    if (this.sending !== undefined) return;
    const tell = (): void => {
      this.sending = undefined;
      this.sentMs = performance.now();
      this.send(Number(this.input.value));
    };
    const waitMs = this.sentMs + SEND_MS - this.movedMs;
    if (waitMs <= 0) tell();
    else this.sending = setTimeout(tell, waitMs);
  }
}

export class TuningPanel {
  readonly element = h("div", { class: "tuning", hidden: true });
  readonly panel: Panel;
  private readonly button: HTMLButtonElement;
  private readonly gravity: Slider;
  private readonly damping: Slider;
  private readonly friction: Slider;
  private readonly chosen = h("select", { id: "tuning-body" });
  private readonly ofBody: HTMLElement;
  private tuning: Tuning = { gravity: DOWN, bodies: [] };
  private names: readonly string[] = [];
  /** Where things fall if gravity's strength is more than 0: of length 1. */
  private down = DOWN;

  constructor({ tune, saveScene, duplicate }: TuningActions) {
    this.button = h(
      "button",
      {
        class: "tool",
        type: "button",
        title: t("tuningTitle"),
        "aria-label": labelOf(t("tuning"), t("tuningTitle")),
        onclick: () => this.panel.open(!this.panel.isOpen),
      },
      icon("sliders"),
      h("span", { class: "text extra" }, t("tuning")),
    );
    this.gravity = new Slider(
      { id: "tuning-gravity", text: t("gravity"), unit: "m/s²", min: -20, max: 20, step: 0.1 },
      (strength) => tune({ gravity: this.down.map((part) => part * strength) as Tuning["gravity"] }),
    );
    this.damping = new Slider(
      { id: "tuning-damping", text: t("damping"), unit: "1/s", min: 0, max: 10, step: 0.1 },
      (damping) => tune({ body: this.body, damping }),
    );
    this.friction = new Slider(
      { id: "tuning-friction", text: t("friction"), unit: "", min: 0, max: 2, step: 0.05 },
      (friction) => tune({ body: this.body, friction }),
    );
    this.chosen.addEventListener("change", () => this.showBody());
    this.ofBody = h(
      "div",
      {},
      h("div", { class: "choice" }, h("label", { for: "tuning-body" }, t("tuningBody")), this.chosen),
      this.damping.element,
      this.friction.element,
    );
    const link = (text: string, run: () => void): HTMLElement =>
      h("button", { class: "link", type: "button", onclick: run }, text);
    this.panel = new Panel(
      this.button,
      t("tuning"),
      "tuning-panel",
      this.gravity.element,
      this.ofBody,
      h("hr"),
      link(t("asScene"), () => tune({ asScene: true })),
      link(t("saveScene"), saveScene),
      link(t("duplicateRoom"), () => duplicate(this.tuning)),
    );
    this.element.append(this.button);
  }

  /** @param may is this member an owner, and the line up? */
  setAllowed(mine: boolean, online: boolean): void {
    this.element.hidden = !mine;
    this.button.disabled = !online;
    if (!mine || !online) this.panel.open(false);
  }

  /** @param names of the scene's bodies */
  setBodies(names: readonly string[]): void {
    this.names = names;
    this.list();
  }

  show(tuning: Tuning): void {
    const listed = tuning.bodies.length === this.tuning.bodies.length;
    this.tuning = tuning;
    if (!listed) this.list();
    const strength = Math.hypot(...tuning.gravity);
    const along = tuning.gravity.reduce((sum, part, r) => sum + part * this.down[r]!, 0);
    // the same line, whichever way along it: the slider goes on through 0
    if (strength > 0 && Math.abs(along) < 0.999 * strength)
      this.down = tuning.gravity.map(
        (part) => ((tuning.gravity[1] > 0 ? -1 : 1) * part) / strength,
      ) as Tuning["gravity"];
    this.gravity.show(tuning.gravity.reduce((sum, part, r) => sum + part * this.down[r]!, 0));
    const now = tuning.bodies.find(({ body }) => body === this.body);
    if (now) this.damping.show(now.damping);
    if (now) this.friction.show(now.friction);
  }

  private get body(): number {
    return Number(this.chosen.value);
  }

  private list(): void {
    const { bodies } = this.tuning;
    const before = this.chosen.value;
    this.chosen.replaceChildren(
      ...bodies.map(({ body }) => h("option", { value: String(body) }, this.names[body] ?? String(body))),
    );
    if (bodies.some(({ body }) => String(body) === before)) this.chosen.value = before;
    this.ofBody.hidden = bodies.length === 0;
    this.showBody();
  }

  private showBody(): void {
    const now = this.tuning.bodies.find(({ body }) => body === this.body);
    if (!now) return;
    this.damping.turnTo(now.damping);
    this.friction.turnTo(now.friction);
  }
}
