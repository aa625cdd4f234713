/** The help card. */
import { h } from "../dom.ts";
import { t, type PlainKey } from "../../text/text.ts";

const touch = () => matchMedia("(pointer: coarse)").matches;

/** A row: an input (a key as labelled, or a text) and its effect. */
type Row = readonly [what: PlainKey | { key: string }, does: PlainKey];

const WITH_MOUSE: readonly Row[] = [
  ["helpDrag", "helpDragDoes"],
  ["helpTurn", "helpTurnDoes"],
  ["helpArrows", "helpArrowsDoes"],
  [{ key: "P" }, "helpPushDoes"],
  [{ key: "I" }, "helpPutInDoes"],
  [{ key: "K" }, "helpPinDoes"],
  ["helpUndo", "helpUndoDoes"],
  [{ key: "R" }, "helpResetDoes"],
  [{ key: "T" }, "helpTalkDoes"],
  [{ key: "H" }, "helpHomeDoes"],
  [{ key: "O" }, "helpNumbersDoes"],
  ["replay", "helpReplayDoes"],
  [{ key: "S" }, "helpStrainDoes"],
  [{ key: "W" }, "helpWiresDoes"],
  [{ key: "Esc" }, "helpEscDoes"],
];

const WITH_FINGERS: readonly Row[] = [
  ["helpFinger", "helpFingerDoes"],
  ["helpFingerTurn", "helpFingerTurnDoes"],
  ["helpTwoFingers", "helpTwoFingersDoes"],
  ["pinHere", "helpPinTouchDoes"],
  ["push", "helpTapPushDoes"],
  ["putIn", "helpTapPutInDoes"],
  ["chat", "helpTalkDoes"],
  ["replay", "helpReplayPageDoes"],
  ["undoAct", "helpUndoDoes"],
  ["reset", "helpResetTouchDoes"],
];

export function helpPanel(close: () => void): HTMLElement {
  const list = h("dl");
  for (const [what, does] of touch() ? WITH_FINGERS : WITH_MOUSE) {
    const name = typeof what === "string" ? t(what) : h("kbd", {}, what.key);
    list.append(h("dt", {}, name), h("dd", {}, t(does)));
  }
  return h(
    "section",
    { class: "help glass", role: "dialog", "aria-label": t("help"), hidden: true },
    h("h2", {}, t("howToPull")),
    list,
    h("button", { class: "button primary", type: "button", onclick: close }, t("gotIt")),
  );
}
