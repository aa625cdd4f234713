/** Asks for the color, the surface and the text of a body; loaded when a member chooses it. Changes apply at once. */
import "../../styles/bring.css";
import { type BodyLook, FINISHES, LONGEST_TEXT, type LookChange } from "../../../shared/scene/bodyLook.ts";
import type { Finish } from "../../../shared/scene/scene.ts";
import { type PlainKey, t } from "../../text/text.ts";
import { h } from "../dom.ts";

const NAMES: Record<Finish, PlainKey> = {
  jelly: "bringJelly",
  rubber: "bringRubber",
  foam: "bringFoam",
  clay: "bringClay",
  metal: "finishMetal",
  canvas: "finishCanvas",
  silk: "bringSilk",
  leather: "bringLeather",
  paper: "finishPaper",
};
/** Shown for a body without a color. */
const GREY = "#999999";
/** Least time between two changes while the color's field moves, ms. */
const PACE_MS = 400;

/** @param body its name. @param look shown first. @param send receives each change */
export function askForLook(body: string, look: BodyLook, send: (change: LookChange) => void): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const later = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      send({ color: color.value });
    }, PACE_MS);
  };
  const color = h("input", { id: "dress-color", type: "color", value: look.color ?? GREY, oninput: later });
  const finish = h(
    "select",
    { id: "dress-finish", onchange: () => send({ finish: finish.value ? (finish.value as Finish) : null }) },
    ...(look.finish ? [] : [h("option", { value: "" }, "–")]),
    ...FINISHES.map((name) => h("option", { value: name }, t(NAMES[name]))),
  );
  finish.value = look.finish ?? "";
  const text = h("input", {
    id: "dress-text",
    maxlength: String(LONGEST_TEXT),
    autocomplete: "off",
    dir: "auto",
    value: look.text ?? "",
    onchange: () => send({ text: text.value }),
  });
  const asScene = (): void => {
    clearTimeout(timer);
    timer = undefined;
    send({ color: null, finish: null, text: null });
    dialog.close();
  };
  const heading = t("dressTitle", { body });
  const close = { class: "close", type: "button", "aria-label": t("close"), onclick: () => dialog.close() };
  const row = (label: string, field: HTMLElement): HTMLElement =>
    h("div", { class: "row" }, h("label", { for: field.id }, label), field);
  const onsubmit = (event: Event): void => {
    event.preventDefault();
    text.blur();
    dialog.close();
  };
  const dialog = h(
    "dialog",
    { class: "bring-dialog dress-dialog", "aria-label": heading },
    h("div", { class: "head" }, h("strong", {}, heading), h("button", close, "×")),
    h(
      "form",
      { onsubmit },
      row(t("dressColor"), color),
      row(t("dressFinish"), finish),
      row(t("dressText"), text),
      h("button", { class: "button", type: "button", onclick: asScene }, t("dressAsScene")),
    ),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  color.focus();
}
