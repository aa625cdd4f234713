/**
 * The list of spawnable bodies. Choosing one that is out of the room puts it where the next click points; choosing one
 * that is in the room takes it out.
 */
import type { BodyLook } from "../../../shared/scene/bodyLook.ts";
import { h, icon, labelOf } from "../dom.ts";
import { Panel } from "../panel.ts";
import { t } from "../../text/text.ts";

export interface SpawnActions {
  /** Sets the body that the next click places; undefined: none. */
  place: (body: number | undefined) => void;
  takeOut: (body: number) => void;
  /** Asks for another look of a body. */
  dress: (body: number) => void;
}

interface Row {
  body: number;
  button: HTMLButtonElement;
  does: HTMLElement;
  swatch: HTMLElement;
  /** In the scene. */
  color: string | undefined;
}

export class SpawnMenu {
  readonly element = h("div", { class: "spares" });
  private readonly actions: SpawnActions;
  private readonly list = h("ul");
  readonly panel: Panel;
  private readonly button: HTMLButtonElement;
  private rows: Row[] = [];
  private absent: ReadonlySet<number> = new Set();
  private placing: number | undefined;

  constructor(actions: SpawnActions) {
    this.actions = actions;
    this.button = h(
      "button",
      {
        class: "tool",
        type: "button",
        title: t("putInTitle"),
        "aria-label": labelOf(t("putIn"), t("putInTitle")),
        "aria-pressed": "false",
        onclick: () => this.toggle(),
      },
      icon("plus"),
      h("span", { class: "text" }, t("putIn")),
    );
    this.panel = new Panel(this.button, t("putInPanel"), "spares-panel", this.list);
    this.element.append(this.button);
    this.element.hidden = true;
  }

  /** Sets the spawnable bodies of the scene. */
  setBodies(bodies: readonly { body: number; name: string; color: string | undefined }[]): void {
    this.element.hidden = bodies.length === 0;
    this.rows = bodies.map(({ body, name, color }) => {
      const does = h("small");
      const swatch = h("span", { class: "swatch" });
      const button = h(
        "button",
        { type: "button", "data-body": String(body), onclick: () => this.chosen(body) },
        swatch,
        h("span", {}, name),
        does,
      );
      return { body, button, does, swatch, color };
    });
    const brush = (body: number, name: string): HTMLElement =>
      h(
        "button",
        {
          class: "dress",
          type: "button",
          title: t("dressTitle", { body: name }),
          "aria-label": t("dressTitle", { body: name }),
          onclick: () => {
            this.open(false);
            this.actions.dress(body);
          },
        },
        icon("brush"),
      );
    this.list.replaceChildren(
      ...this.rows.map(({ body, button }, n) => h("li", {}, button, brush(body, bodies[n]!.name))),
    );
    this.show();
    this.setLooks({});
  }

  /** @param looks that members gave bodies */
  setLooks(looks: Readonly<Record<number, BodyLook>>): void {
    for (const { body, swatch, color } of this.rows)
      swatch.style.setProperty("--member", looks[body]?.color ?? color ?? "");
  }

  setAbsent(absent: ReadonlySet<number>): void {
    this.absent = absent;
    if (this.placing !== undefined && !absent.has(this.placing)) this.setPlacing(undefined);
    this.show();
  }

  setOnline(on: boolean): void {
    this.button.disabled = !on;
    if (!on) this.cancel();
  }

  toggle(): void {
    if (this.element.hidden || this.button.disabled) return;
    if (this.placing !== undefined) return this.setPlacing(undefined);
    this.open(!this.panel.isOpen);
  }

  /** Closes the list and cancels placing. */
  cancel(): void {
    this.open(false);
    this.setPlacing(undefined);
  }

  private open(on: boolean): void {
    this.panel.open(on);
    if (on) this.list.querySelector("button")?.focus();
  }

  private chosen(body: number): void {
    this.open(false);
    this.button.blur();
    if (this.absent.has(body)) this.setPlacing(body);
    else this.actions.takeOut(body);
  }

  private setPlacing(body: number | undefined): void {
    if (this.placing === body) return;
    this.placing = body;
    this.button.setAttribute("aria-pressed", String(body !== undefined));
    this.actions.place(body);
  }

  private show(): void {
    for (const { body, does } of this.rows) does.textContent = t(this.absent.has(body) ? "doesPutIn" : "doesTakeOut");
  }
}
