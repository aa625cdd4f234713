/** A page with only a message and a link to the lobby: room gone, no WebGL, old version. */
import { h } from "./dom.ts";
import { t } from "../text/text.ts";

/** @param wayOut show the link to the lobby */
export function messagePage(title: string, text: string, wayOut = true): HTMLElement {
  return h(
    "main",
    { class: "message" },
    h("img", { src: "/icon.svg", alt: "", width: "72", height: "72" }),
    h("h1", {}, title),
    h("p", {}, text),
    wayOut ? h("a", { class: "button primary", href: "/" }, t("toLobby")) : undefined,
  );
}

/** Messages with a title and a text in the catalogue. */
type Message =
  | "nothingHere"
  | "roomGone"
  | "sceneGone"
  | "tokenNeeded"
  | "kicked"
  | "locked"
  | "quarantined"
  | "tooManyAttempts"
  | "noWebGl"
  | "oldClient";

export const messageOf = (message: Message): [title: string, text: string] => [
  t(`${message}Title`),
  t(`${message}Text`),
];
