/**
 * Dialog that uploads a model file, shows a preview, and turns it into a body: its kind, material, size and room.
 * Errors appear in the dialog, and another file may be tried.
 */
import "../../styles/bring.css";
import type { PresetName } from "../../../shared/scene/materialPresets.ts";
import { OBJECT_ROLES, type ObjectRole, PRESET_NAMES, suits } from "../../../shared/scene/objectRoles.ts";
import { type BroughtObject, bringObject, composeScene, createRoom, fetchProgress } from "../../net/api.ts";
import { problemDetail, problemText } from "../../text/problem.ts";
import { handOver } from "../../state/handOver.ts";
import { numberText, t } from "../../text/text.ts";
import type { ObjectPreview } from "../../view/uploads/objectPreview.ts";
import { h, icon } from "../dom.ts";
import { noteItems } from "./objectNotes.ts";

/** Interval of requests for the progress of the build, ms. */
const ASK_MS = 250;
const ENDINGS = ".glb,.gltf,.obj,.stl,.ply";
const SIZE = { least: 0.05, most: 5, first: 0.5 };

const ROLE_TEXTS = { soft: "bringSoft", cloth: "bringCloth", rigid: "bringRigid", collider: "bringCollider" } as const;
const MATERIAL_TEXTS = {
  rubber: "bringRubber",
  jelly: "bringJelly",
  foam: "bringFoam",
  cotton: "bringCotton",
  silk: "bringSilk",
  leather: "bringLeather",
  clay: "bringClay",
  steel: "bringSteel",
} as const;

export class BringDialog {
  private readonly element: HTMLDialogElement;
  private readonly into: string | undefined;
  private readonly input = h("input", { type: "file", accept: ENDINGS, id: "bring-file", autofocus: true });
  private readonly progress = h("progress", { max: "1", hidden: true });
  private readonly said = h("p", { class: "said", role: "status" });
  private readonly problem = h("p", { class: "problem", role: "alert", hidden: true });
  private readonly canvas = h("canvas", { class: "preview", role: "img", "aria-label": t("bringPreview") });
  private readonly notes = h("ul", { class: "notes" });
  private readonly role = h("select", { id: "bring-role" });
  private readonly material = h("select", { id: "bring-material" });
  private readonly size = h("input", {
    type: "number",
    id: "bring-size",
    min: String(SIZE.least),
    max: String(SIZE.most),
    step: "0.05",
    value: String(SIZE.first),
  });
  private readonly where = h("select", { id: "bring-where" });
  private readonly choices: HTMLFormElement;
  private readonly start = h("button", { class: "button primary", type: "submit" }, t("bringOpen"));
  private readonly ended = new AbortController();
  private sending = new AbortController();
  private brought: BroughtObject | undefined;
  private preview: ObjectPreview | undefined;

  /** @param into id of the scene of the room that the page shows; undefined if it shows none */
  constructor(into: string | undefined) {
    this.into = into;
    const row = (label: string, field: HTMLElement): HTMLElement =>
      h("div", { class: "row" }, h("label", { for: field.id }, label), field);
    for (const role of OBJECT_ROLES) this.role.append(h("option", { value: role }, t(ROLE_TEXTS[role])));
    this.where.append(
      h("option", { value: "alone" }, t("bringAlone")),
      ...(into === undefined ? [] : [h("option", { value: "into" }, t("bringInto"))]),
    );
    this.role.addEventListener("change", () => this.offerMaterials());
    this.offerMaterials();
    this.choices = h(
      "form",
      { hidden: true },
      this.canvas,
      this.notes,
      row(t("bringAs"), this.role),
      row(t("bringMaterial"), this.material),
      row(t("bringSize"), this.size),
      into === undefined ? undefined : row(t("bringWhere"), this.where),
      this.start,
    );
    this.choices.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.build();
    });
    this.input.addEventListener("change", () => {
      const [file] = this.input.files ?? [];
      if (file) void this.send(file);
    });
    this.element = h(
      "dialog",
      { class: "bring-dialog", "aria-label": t("bringOwn") },
      h(
        "div",
        { class: "head" },
        h("strong", {}, t("bringOwn")),
        h(
          "button",
          { class: "close", type: "button", "aria-label": t("close"), onclick: () => this.element.close() },
          "×",
        ),
      ),
      h("p", {}, t("bringTitle")),
      h("label", { class: "choose" }, icon("file"), t("bringChoose"), this.input),
      this.progress,
      this.said,
      this.problem,
      this.choices,
    );
    this.element.addEventListener("close", () => this.end());
  }

  open(file?: File): void {
    document.body.append(this.element);
    this.element.showModal();
    if (file) void this.send(file);
  }

  private end(): void {
    this.ended.abort();
    this.sending.abort();
    this.preview?.dispose();
    this.element.remove();
  }

  private offerMaterials(): void {
    const role = this.role.value as ObjectRole;
    const before = this.material.value as PresetName;
    const offered = PRESET_NAMES.filter((name) => suits(name, role));
    this.material.replaceChildren(...offered.map((name) => h("option", { value: name }, t(MATERIAL_TEXTS[name]))));
    if (offered.includes(before)) this.material.value = before;
  }

  /** @param done 0 to 1; undefined: unknown */
  private say(text: string, done?: number): void {
    this.said.textContent = text;
    this.progress.hidden = text === "";
    if (done === undefined) this.progress.removeAttribute("value");
    else this.progress.value = done;
  }

  private fail(error: unknown): void {
    if (this.ended.signal.aborted) return;
    this.say("");
    this.problem.hidden = false;
    const detail = problemDetail(error);
    // The detail names the place as the file format does: in English, from left to right.
    this.problem.replaceChildren(
      problemText(error),
      ...(detail === undefined ? [] : [h("small", { class: "detail", lang: "en", dir: "ltr" }, detail)]),
    );
  }

  private async send(file: File): Promise<void> {
    this.sending.abort();
    const sending = (this.sending = new AbortController());
    this.problem.hidden = true;
    this.choices.hidden = true;
    try {
      const brought = await bringObject(
        file,
        (share) =>
          share < 1 ? this.say(t("bringSending", { percent: percentOf(share) }), share) : this.say(t("bringReading")),
        sending.signal,
      );
      this.brought = brought;
      this.say("");
      await this.show(brought);
    } catch (error) {
      if (!sending.signal.aborted) this.fail(error);
    }
  }

  private async show(brought: BroughtObject): Promise<void> {
    const { triangles, materials, notes } = brought;
    const found = t("bringFound", { triangles: numberText(triangles), materials: numberText(materials) });
    this.notes.replaceChildren(h("li", {}, found), ...noteItems(notes));
    this.choices.hidden = false;
    this.role.focus();
    const { ObjectPreview } = await import("../../view/uploads/objectPreview.ts");
    this.preview ??= new ObjectPreview(this.canvas);
    await this.preview.show(brought.picture);
  }

  private async build(): Promise<void> {
    const { brought } = this;
    if (!brought) return;
    this.problem.hidden = true;
    this.start.disabled = true;
    this.say(t("bringWaits"));
    const choice = {
      object: brought.object,
      name: brought.name,
      role: this.role.value,
      material: this.material.value,
      size: this.size.valueAsNumber,
    };
    let asking: ReturnType<typeof setInterval> | undefined;
    try {
      const scene = await composeScene(choice, this.where.value === "into" ? this.into : undefined);
      asking = setInterval(() => void this.look(scene), ASK_MS);
      const { room, notes } = await createRoom(scene);
      // The new page shows the notes; they do not prevent opening the room.
      if (notes) handOver("found", room, notes);
      // With the scene in the address, the link creates the room again after it has ended.
      location.assign(`/r/${encodeURIComponent(room)}?scene=${encodeURIComponent(scene)}`);
    } catch (error) {
      this.fail(error);
    } finally {
      clearInterval(asking);
      this.start.disabled = false;
    }
  }

  private async look(scene: string): Promise<void> {
    const progress = await fetchProgress(scene);
    if (!progress || this.ended.signal.aborted || !this.start.disabled) return;
    const { stage, done } = progress;
    if (stage === "waiting") this.say(t("bringWaits"));
    else if (done > 0) this.say(t("bringBuilding", { percent: percentOf(done) }), done);
    else this.say(t("bringBuilding", { percent: "" }));
  }
}

const percentOf = (share: number): string => `${numberText(Math.floor(100 * share))} %`;
