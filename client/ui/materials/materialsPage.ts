/**
 * `/materials`: the meaning of a material's numbers. Converts pascals into Hz and mm, with a picture to scale, and a
 * measured sag (mm) or counted swings into pascals (shared/geometry/beam.ts).
 */
import "../../styles/lobby.css";
import "../../styles/materials.css";
import {
  axialFrequency,
  type Beam,
  bendingFrequency,
  hang,
  type Hanging,
  type Material,
  modulusOfFrequency,
  modulusOfSag,
  retardationTime,
  shortening,
  slendernessError,
  SMALL,
  smallSag,
} from "../../../shared/geometry/beam.ts";
import { MATERIAL_PRESETS } from "../../../shared/scene/materialPresets.ts";
import { fetchScenes } from "../../net/api.ts";
import { measuredText, type PlainKey, t } from "../../text/text.ts";
import { h } from "../dom.ts";
import { copyText } from "../shareLink.ts";
import { Toasts } from "../toasts.ts";
import { makeFields, stripOf } from "./fields.ts";
import type { NumberField } from "./numberField.ts";
import { beamPicture } from "./picture.ts";
import { LENGTHS, millimeters, pascals, quantity, type Unit } from "./quantity.ts";

const { jelly, foam, rubber, steel } = MATERIAL_PRESETS;
const MATERIALS: readonly [name: PlainKey, material: Material][] = [
  ["bringJelly", jelly.soft!],
  ["bringFoam", foam.soft!],
  ["bringRubber", rubber.soft!],
  // Spruce, dry, along its grain (M. F. Ashby, as the presets).
  ["materialWood", { youngsModulus: 1e10, density: 450, poissonsRatio: 0.3 }],
  ["bringSteel", steel.soft!],
];

const COUNTED_S = 10;
/** A note appears if the wobble is off by more than this. */
const NOTED = 0.02;
/** Results are announced to screen readers after this time without input, ms. */
const SPOKEN_MS = 900;
const NOTHING = "–";

const milliseconds = (value: number): string => quantity(value, { text: "ms", size: 1e-3 });
const hertz = (value: number): string => quantity(value, { text: "Hz", size: 1 });

export function openMaterialsPage(app: HTMLElement): void {
  document.title = t("documentTitle", { title: t("materials") });
  app.replaceChildren(new MaterialsPage().element);
}

/** A labelled number. */
class Figure {
  readonly value = h("dd", { dir: "ltr" }, NOTHING);
  readonly element: HTMLElement;
  constructor(name: PlainKey, id: string) {
    this.value.id = id;
    this.element = h("div", {}, h("dt", {}, t(name)), this.value);
  }
  show(value: number | undefined, write: (value: number) => string): void {
    this.value.textContent = value === undefined ? NOTHING : write(value);
  }
}

/** The modulus that follows from a measurement, with a button that applies it. */
class Answer {
  readonly element: HTMLElement;
  readonly #button: HTMLButtonElement;
  #modulus = 0;
  constructor(field: NumberField, use: (modulus: number) => void) {
    this.#button = h("button", { class: "button", type: "button", hidden: true, onclick: () => use(this.#modulus) });
    this.element = h("div", { class: "answer" }, field.element, this.#button);
  }
  show(modulus: number | undefined): void {
    this.#button.hidden = modulus === undefined;
    if (modulus === undefined) return;
    this.#modulus = Number(modulus.toPrecision(3));
    this.#button.textContent = t("materialUse", { value: pascals(this.#modulus) });
  }
}

class MaterialsPage {
  readonly element: HTMLElement;
  #unit: Unit = LENGTHS.cm;
  readonly #fields = makeFields(
    () => this.#unit,
    () => this.#update(),
  );
  readonly #wobble = new Figure("materialWobble", "wobble");
  readonly #swings = new Figure("materialSwings", "swings");
  readonly #sag = new Figure("materialSag", "sag");
  readonly #shorter = new Figure("materialShorter", "shorter");
  readonly #bounce = new Figure("materialBounce", "bounce");
  readonly #retardation = new Figure("materialRetardation", "retardation");
  readonly #beamNotes = h("div", { class: "notes" });
  readonly #cubeNotes = h("div", { class: "notes" });
  readonly #picture = h("div", { class: "to-scale" });
  readonly #bySag: Answer;
  readonly #bySwings: Answer;
  readonly #chips: HTMLElement;
  readonly #scene = h("code", { class: "scene" });
  readonly #copy = h(
    "button",
    {
      class: "button",
      type: "button",
      onclick: async () => this.#toasts.show(await copyText(this.#scene.textContent, t("materialCopied"))),
    },
    t("materialCopy"),
  );
  readonly #spoken = h("p", { class: "unseen", role: "status" });
  readonly #toasts = new Toasts();
  #drawn: { beam: Beam; hanging: Hanging } | undefined;
  #speaking: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    const use = (youngsModulus: number): void => {
      this.#fields.youngsModulus.show(youngsModulus);
      this.#update();
    };
    this.#bySag = new Answer(this.#fields.measured, use);
    this.#bySwings = new Answer(this.#fields.counted, use);
    this.#chips = h("div", { class: "chips" }, ...MATERIALS.map(([name, material]) => this.#chip(name, material)));
    const { soft } = rubber;
    this.#fill({ ...soft!, length: 0.1, height: 0.01 }, 0.05);
    this.element = this.#layout();
    this.#update();
    // The text has the size of the page's text, so another width needs another picture.
    let width = 0;
    new ResizeObserver(() => {
      if (width === this.#picture.clientWidth) return;
      width = this.#picture.clientWidth;
      this.#draw();
    }).observe(this.#picture);
  }

  #chip(name: PlainKey, material: Material): HTMLElement {
    const choose = (): void => {
      this.#fillMaterial(material);
      this.#update();
    };
    return h("button", { class: "button", type: "button", "aria-pressed": "false", onclick: choose }, t(name));
  }

  #fillMaterial({ youngsModulus, density, poissonsRatio }: Material): void {
    this.#fields.youngsModulus.show(youngsModulus);
    this.#fields.density.show(density);
    this.#fields.poissonsRatio.show(poissonsRatio);
  }

  #fill(beam: Beam, edge: number): void {
    this.#fillMaterial(beam);
    this.#fields.length.show(beam.length);
    this.#fields.height.show(beam.height);
    this.#fields.edge.show(edge);
  }

  #layout(): HTMLElement {
    const icon = h("img", { src: "/icon.svg", alt: "", width: "36", height: "36" });
    return h(
      "div",
      { class: "lobby materials" },
      h("header", {}, h("a", { class: "brand", href: "/" }, icon, "Pliant")),
      h(
        "main",
        {},
        h("h1", {}, t("materials")),
        h("p", { class: "intro" }, t("materialsIntro")),
        h(
          "div",
          { class: "columns" },
          column(this.#inputs(), this.#cubeSection()),
          column(this.#beamSection(), this.#backSection()),
        ),
        this.#sceneSection(),
        this.#spoken,
      ),
      this.#toasts.element,
    );
  }

  #inputs(): HTMLElement {
    const { youngsModulus, density, poissonsRatio, length, height, edge } = this.#fields;
    const units = Object.keys(LENGTHS) as (keyof typeof LENGTHS)[];
    const select = h("select", { id: "unit" }, ...units.map((unit) => h("option", { value: unit }, unit)));
    select.value = this.#unit.text;
    select.addEventListener("change", () => {
      const values = [length, height, edge].map((field) => field.read());
      this.#unit = LENGTHS[select.value as keyof typeof LENGTHS];
      [length, height, edge].forEach((field, i) => values[i] !== undefined && field.show(values[i]));
      this.#update();
    });
    return h(
      "section",
      { class: "sheet inputs" },
      h("h2", {}, t("materialMadeOf")),
      this.#chips,
      ...[youngsModulus, density, poissonsRatio].map(({ element }) => element),
      h("h2", {}, t("materialSize")),
      h("div", { class: "number" }, h("label", { for: "unit" }, t("materialUnit")), select),
      ...[length, height, edge].map(({ element }) => element),
    );
  }

  #beamSection(): HTMLElement {
    const figures = [this.#wobble, this.#swings, this.#sag].map(({ element }) => element);
    return h(
      "section",
      { class: "sheet beam-section" },
      h("h2", {}, t("materialBeam")),
      h("figure", {}, this.#picture, h("figcaption", {}, t("materialScale"))),
      h("dl", {}, ...figures),
      this.#beamNotes,
    );
  }

  #cubeSection(): HTMLElement {
    const figures = h("dl", {}, this.#shorter.element, this.#bounce.element);
    return h("section", { class: "sheet cube" }, h("h2", {}, t("materialCube")), figures, this.#cubeNotes);
  }

  #backSection(): HTMLElement {
    const how = h("p", {}, t("materialBackHow"));
    const answers = [this.#bySag.element, this.#bySwings.element, this.#fields.halved.element];
    const damping = h("dl", {}, this.#retardation.element);
    return h("section", { class: "sheet back" }, h("h2", {}, t("materialBack")), how, ...answers, damping);
  }

  #sceneSection(): HTMLElement {
    const report = h("a", { class: "button", href: "/report", hidden: true }, t("materialReport"));
    // Scenes know whether there is a report.
    void fetchScenes().then(
      ({ scenes }) => (report.hidden = !scenes.some((scene) => scene.report)),
      () => undefined,
    );
    return h(
      "section",
      { class: "sheet" },
      h("h2", {}, t("materialScene")),
      h("p", {}, t("materialSceneHow")),
      h("div", { class: "copied" }, this.#scene, this.#copy, report),
    );
  }

  #update(): void {
    const { youngsModulus, density, poissonsRatio, edge, measured, counted, halved } = this.#fields;
    const strip = stripOf(this.#fields);
    const [E, rho, nu] = [youngsModulus, density, poissonsRatio].map((field) => field.read());
    const beam = strip && E !== undefined ? { ...strip, youngsModulus: E } : undefined;
    this.#showBeam(beam);
    const swung = halved.read();
    const tau = beam && swung !== undefined ? retardationTime(bendingFrequency(beam), swung) : undefined;
    this.#retardation.show(tau, milliseconds);
    const known = E !== undefined && rho !== undefined && nu !== undefined;
    const material = known ? { youngsModulus: E, density: rho, poissonsRatio: nu } : undefined;
    this.#showCube(material, edge.read());
    this.#copy.disabled = material === undefined;
    this.#scene.textContent = material ? fieldOf(material, tau) : NOTHING;
    MATERIALS.forEach(([, chip], i) => {
      const chosen = E === chip.youngsModulus && rho === chip.density && nu === chip.poissonsRatio;
      this.#chips.children[i]!.setAttribute("aria-pressed", String(chosen));
    });
    const sag = measured.read();
    const swings = counted.read();
    this.#bySag.show(strip && sag !== undefined ? modulusOfSag(sag, strip) : undefined);
    this.#bySwings.show(strip && swings !== undefined ? modulusOfFrequency(swings / COUNTED_S, strip) : undefined);
  }

  #showBeam(beam: Beam | undefined): void {
    this.#drawn = beam && { beam, hanging: hang(beam) };
    const wobble = beam && bendingFrequency(beam);
    const sag = this.#drawn?.hanging.sag;
    this.#wobble.show(wobble, hertz);
    this.#swings.show(wobble, (hz) => measuredText(hz * COUNTED_S));
    this.#sag.show(sag, millimeters);
    this.#beamNotes.replaceChildren(...(this.#drawn ? notesOf(this.#drawn) : []).map((note) => h("p", {}, note)));
    this.#draw();
    clearTimeout(this.#speaking);
    if (wobble === undefined || sag === undefined) return;
    const said = t("materialSaid", { wobble: hertz(wobble), sag: millimeters(sag) });
    this.#speaking = setTimeout(() => (this.#spoken.textContent = said), SPOKEN_MS);
  }

  #showCube(material: Material | undefined, edge: number | undefined): void {
    const known = material !== undefined && edge !== undefined;
    const shorter = known ? shortening(material, edge) : undefined;
    this.#shorter.show(shorter, millimeters);
    this.#bounce.show(known ? axialFrequency(material, edge) : undefined, hertz);
    const squashed = shorter !== undefined && shorter > SMALL * edge!;
    this.#cubeNotes.replaceChildren(...(squashed ? [h("p", {}, t("materialSquashed"))] : []));
  }

  #draw(): void {
    const width = this.#picture.clientWidth;
    if (!this.#drawn || width === 0) return this.#picture.replaceChildren();
    const { beam, hanging } = this.#drawn;
    const label = t("materialPicture", { length: quantity(beam.length, this.#unit), sag: millimeters(hanging.sag) });
    this.#picture.replaceChildren(beamPicture(width, beam, hanging, label));
  }
}

const column = (...sheets: HTMLElement[]): HTMLElement => h("div", { class: "column" }, ...sheets);

/** The JSON of a body's `material` field for a scene file, in one line. @param tau retardation time, s */
function fieldOf(material: Material, tau?: number): string {
  const damped = { ...material, ...(tau !== undefined && { retardationTime: Number(tau.toPrecision(3)) }) };
  return JSON.stringify({ material: damped }, null, 1).replace(/\n\s*/g, " ").slice(2, -2);
}

/** Notes about where the formulas are no longer accurate. */
function notesOf({ beam, hanging }: { beam: Beam; hanging: Hanging }): string[] {
  const error = slendernessError(beam);
  const notes: string[] = [];
  if (hanging.limp) notes.push(t("materialLimp"));
  else if (smallSag(beam) > SMALL * beam.length) notes.push(t("materialFar", { sag: millimeters(smallSag(beam)) }));
  if (error > NOTED) notes.push(t("materialShort", { percent: Math.round((100 * error) / (1 + error)) }));
  return notes;
}
