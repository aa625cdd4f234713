/** A page that only says something and shows the way out: room gone, no WebGL, server too old. */
import { h } from "./dom.ts";
import { t } from "../text/text.ts";

/** @param wayOut to the lobby */
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

/** What a page of its own is there to say: its title and its text. */
type Message =
  | "nothingHere"
  | "roomGone"
  | "tokenNeeded"
  | "kicked"
  | "locked"
  | "parked"
  | "tooManyAttempts"
  | "noWebGl"
  | "oldClient";

export const messageOf = (message: Message): [title: string, text: string] => [
  t(`${message}Title`),
  t(`${message}Text`),
];
