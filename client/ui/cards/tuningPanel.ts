/**
 * The owners' physics panel: gravity, wind, time scale and materials, which apply to everyone. Shown to owners only. A
 * body shows only the sliders that apply to it.
 */
import {
  BODY_FIELDS,
  type BodyField,
  type BodyTuning,
  SPANS,
  type Tuning,
  type TuningChange,
  type TuningLimits,
  type Wind,
} from "../../../shared/members/tuningLimits.ts";
import { t } from "../../text/text.ts";
import { h, icon, labelOf } from "../dom.ts";
import { Panel } from "../panel.ts";
import { isUseful, PRESETS } from "./presets.ts";
import { Slider, type SliderOptions } from "../slider.ts";

export interface TuningActions {
  tune: (change: TuningChange) => void;
  /** Downloads the scene with its current values. */
  saveScene: () => void;
  /** Gives the room objects that members can add. */
  addPalette: () => void;
  /** Saves it in the gallery. */
  saveInGallery: () => void;
  /** Shares a link that opens it. */
  linkScene: (tuning: Tuning) => void;
  /** Creates a room with the same scene and the same values. */
  duplicate: (tuning: Tuning) => void;
}

const DOWN: Tuning["gravity"] = [0, -1, 0];
/** Density of the wind in a scene without air, kg/m^3. */
const AIR = 1.2;
/** Size of gusts, m, small enough to be visible in a room of some meters, and their seed. */
const GUSTS = { scale: 2, seed: 1 };

type Range = Omit<SliderOptions, "id" | "text">;

/** Ranges of the sliders; a value outside widens its slider. */
const RANGES: Readonly<Record<BodyField, Range>> = {
  youngsModulus: { unit: "Pa", min: 1e3, max: 1e9, step: 0.02, log: true },
  poissonsRatio: { unit: "", min: 0, max: 0.49, step: 0.01 },
  density: { unit: "kg/m³", min: 10, max: 10_000, step: 0.01, log: true },
  bendingStiffness: { unit: "N m", min: 1e-6, max: 1e-1, step: 0.02, log: true },
  pressure: { unit: "", min: 0.2, max: 3, step: 0.05 },
  yield: { unit: "", min: 0, max: 0.3, step: 0.01 },
  damping: { unit: "1/s", min: 0, max: 10, step: 0.1 },
  friction: { unit: "", min: 0, max: 2, step: 0.05 },
  modes: { unit: "", min: 1, max: 60, step: 1 },
  steps: { unit: "", min: 1, max: 32, step: 1 },
};
const ORDER = Object.keys(RANGES) as BodyField[];

/** Speed and horizontal direction of the wind, degrees from +x towards -z, seen from above. */
function courseOf([x, , z]: Wind["velocity"]): { speed: number; course: number } {
  return { speed: Math.hypot(x, z), course: ((Math.atan2(-z, x) * 180) / Math.PI + 360) % 360 };
}

function velocityOf(speed: number, course: number, [, up]: Wind["velocity"]): Wind["velocity"] {
  const angle = (course * Math.PI) / 180;
  const part = (value: number): number => Number(value.toFixed(3));
  return [part(speed * Math.cos(angle)), up, part(-speed * Math.sin(angle))];
}

export class TuningPanel {
  readonly element = h("div", { class: "tuning", hidden: true });
  readonly panel: Panel;
  private readonly button: HTMLButtonElement;
  private readonly gravity: Slider;
  private readonly time: Slider;
  private readonly wind: Slider;
  private readonly course: Slider;
  /** Arrow along the wind, as in the picture seen from above. */
  private readonly compass = h("span", { class: "compass" }, icon("arrow"));
  private readonly turbulence: Slider;
  private readonly bodySliders: Record<BodyField, Slider>;
  private readonly pins = h("input", { type: "checkbox", id: "tuning-pins" });
  private readonly pinsLine = h("div", { class: "line" }, this.pins, h("label", { for: "tuning-pins" }, t("pins")));
  private readonly chosen = h("select", { id: "tuning-body" });
  private readonly ofBody: HTMLElement;
  private presets: HTMLButtonElement[] = [];
  private readonly tune: TuningActions["tune"];
  private tuning: Tuning | undefined;
  private limits: TuningLimits | undefined;
  private names: readonly string[] = [];
  /** Unit vector of gravity for positive values of the slider. */
  private down = DOWN;

  constructor(actions: TuningActions) {
    const { tune } = actions;
    this.tune = tune;
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
    this.time = slider("time", t("timeScale"), { unit: "×", min: 0, max: 2, step: 0.05 }, (timeScale) =>
      tune({ timeScale }),
    );
    this.gravity = slider("gravity", t("gravity"), { unit: "m/s²", min: -20, max: 20, step: 0.1 }, (strength) =>
      tune({ gravity: this.down.map((part) => part * strength) as Tuning["gravity"] }),
    );
    this.wind = slider("wind", t("wind"), { unit: "m/s", min: 0, max: 20, step: 0.5 }, (speed) => this.blow({ speed }));
    this.course = slider("course", t("windCourse"), { unit: "°", min: 0, max: 355, step: 5 }, (course) =>
      this.blow({ course }),
    );
    this.course.element.append(this.compass);
    this.turbulence = slider("turbulence", t("turbulence"), { unit: "%", min: 0, max: 100, step: 5 }, (percent) =>
      this.blow({ intensity: percent / 100 }),
    );
    this.bodySliders = Object.fromEntries(
      BODY_FIELDS.map((field) => [
        field,
        slider(field, t(field), RANGES[field], (value) => tune({ body: this.body, [field]: value })),
      ]),
    ) as Record<BodyField, Slider>;
    this.chosen.addEventListener("change", () => this.showBody(true));
    this.pins.addEventListener("change", () => tune({ body: this.body, pins: this.pins.checked }));
    this.ofBody = h(
      "div",
      { role: "group", "aria-labelledby": "tuning-of-body" },
      h("h2", { id: "tuning-of-body" }, t("tuningBody")),
      h("select", {}),
      ...ORDER.map((field) => this.bodySliders[field].element),
      this.pinsLine,
    );
    this.chosen.setAttribute("aria-labelledby", "tuning-of-body");
    this.ofBody.querySelector("select")!.replaceWith(this.chosen);
    this.panel = new Panel(
      this.button,
      t("tuning"),
      "tuning-panel docked",
      this.chips(),
      h(
        "div",
        { role: "group", "aria-labelledby": "tuning-of-room" },
        h("h2", { id: "tuning-of-room" }, t("tuningRoom")),
        ...[this.time, this.gravity, this.wind, this.course, this.turbulence].map(({ element }) => element),
      ),
      this.ofBody,
      h("hr"),
      ...this.links(actions),
    );
    this.element.append(this.button);
  }

  private links({ addPalette, saveScene, saveInGallery, linkScene, duplicate }: TuningActions): HTMLElement[] {
    const link = (text: string, run: () => void): HTMLElement =>
      h("button", { class: "link", type: "button", onclick: run }, text);
    return [
      link(t("palette"), addPalette),
      link(t("saveInGallery"), saveInGallery),
      link(t("saveScene"), saveScene),
      link(t("linkScene"), () => this.tuning && linkScene(this.tuning)),
      link(t("duplicateRoom"), () => this.tuning && duplicate(this.tuning)),
    ];
  }

  private chips(): HTMLElement {
    const chip = (text: string, run: () => void): HTMLButtonElement =>
      h("button", { class: "chip", type: "button", onclick: run }, text);
    this.presets = PRESETS.map(({ text, changes }) =>
      chip(t(text), () => {
        if (this.tuning && this.limits) for (const change of changes(this.tuning, this.limits)) this.tune(change);
      }),
    );
    const back = chip(t("asScene"), () => this.tune({ asScene: true }));
    return h("div", { class: "presets", role: "group", "aria-label": t("presets") }, ...this.presets, back);
  }

  /** @param mine true if this member is an owner. @param online true if the connection is open */
  setAllowed(mine: boolean, online: boolean): void {
    this.element.hidden = !mine;
    this.button.disabled = !online;
    if (!mine || !online) this.panel.open(false);
  }

  /** @param limits of the room; undefined: this member may not tune */
  setLimits(limits: TuningLimits | undefined): void {
    if (limits === this.limits) return;
    this.limits = limits;
    if (!limits) return;
    this.gravity.limit({ least: -limits.gravity, most: limits.gravity });
    this.wind.limit({ least: 0, most: limits.wind.velocity });
    const { least, most } = limits.wind.intensity;
    this.turbulence.limit({ least: 100 * least, most: 100 * most });
    this.showBody(true);
  }

  /** @param names of the scene's bodies */
  setBodies(names: readonly string[]): void {
    this.names = names;
    this.list();
  }

  show(tuning: Tuning): void {
    const listed = tuning.bodies.length === this.tuning?.bodies.length;
    this.tuning = tuning;
    if (!listed) this.list();
    const strength = Math.hypot(...tuning.gravity);
    const along = tuning.gravity.reduce((sum, part, r) => sum + part * this.down[r]!, 0);
    // Keep the direction if gravity stays on the same line: the slider then continues through 0.
    if (strength > 0 && Math.abs(along) < 0.999 * strength)
      this.down = tuning.gravity.map(
        (part) => ((tuning.gravity[1] > 0 ? -1 : 1) * part) / strength,
      ) as Tuning["gravity"];
    this.gravity.show(tuning.gravity.reduce((sum, part, r) => sum + part * this.down[r]!, 0));
    this.time.show(tuning.timeScale);
    const { speed, course } = courseOf(tuning.wind.velocity);
    const felt = tuning.wind.density > 0;
    this.wind.show(felt ? speed : 0);
    this.course.show(speed > 0 ? course : this.course.value);
    this.turbulence.show(100 * tuning.wind.intensity);
    this.showBody(false);
    const { limits } = this;
    if (limits)
      for (const [n, preset] of PRESETS.entries()) this.presets[n]!.hidden = !isUseful(preset, tuning, limits);
  }

  /** @param azimuth of the camera around the vertical axis, radians */
  turnCompass(azimuth: number): void {
    if (this.panel.isOpen) this.compass.style.rotate = `${azimuth - (this.course.value * Math.PI) / 180}rad`;
  }

  /** Changes one property of the wind. */
  private blow(change: { speed?: number; course?: number; intensity?: number }): void {
    if (!this.tuning) return;
    const { wind } = this.tuning;
    const now = courseOf(wind.velocity);
    const { speed = now.speed, course = now.speed > 0 ? now.course : this.course.value } = change;
    // The limit applies to the whole vector.
    const most = Math.sqrt(Math.max(0, (this.limits?.wind.velocity ?? Infinity) ** 2 - wind.velocity[1] ** 2));
    const sent: Partial<Wind> = { velocity: velocityOf(Math.min(speed, most), course, wind.velocity) };
    if (wind.density === 0) sent.density = AIR;
    if (change.intensity !== undefined) sent.intensity = change.intensity;
    if (change.intensity !== undefined && wind.intensity === 0) Object.assign(sent, GUSTS);
    this.tune({ wind: sent });
  }

  private get body(): number {
    return Number(this.chosen.value);
  }

  private list(): void {
    const bodies = this.tuning?.bodies ?? [];
    const before = this.chosen.value;
    this.chosen.replaceChildren(
      ...bodies.map(({ body }) => h("option", { value: String(body) }, this.names[body] ?? String(body))),
    );
    if (bodies.some(({ body }) => String(body) === before)) this.chosen.value = before;
    this.ofBody.hidden = bodies.length === 0;
    this.showBody(true);
  }

  /** @param other true if the sliders now show another body */
  private showBody(other: boolean): void {
    const now: BodyTuning | undefined = this.tuning?.bodies.find(({ body }) => body === this.body);
    if (!now) return;
    for (const field of BODY_FIELDS) {
      const value = now[field];
      if (other) this.bodySliders[field].limit(this.limits?.bodies[now.body]?.[field] ?? SPANS[field]);
      if (other || value === undefined) this.bodySliders[field].turnTo(value);
      else this.bodySliders[field].show(value);
    }
    this.pinsLine.hidden = now.pins === undefined;
    this.pins.checked = now.pins ?? false;
  }
}

function slider(name: string, text: string, range: Range, send: (value: number) => void): Slider {
  return new Slider({ id: `tuning-${name}`, text, ...range }, send);
}
