/** A page that only says something and shows the way out: room gone, no WebGL, server too old. */
import { h } from "./dom.ts";

export function messagePage(title: string, text: string): HTMLElement {
  return h(
    "main",
    { class: "message" },
    h("img", { src: "/icon.svg", alt: "", width: "72", height: "72" }),
    h("h1", {}, title),
    h("p", {}, text),
    h("a", { class: "button primary", href: "/" }, "To the lobby"),
  );
}

export const MESSAGES = {
  nothingHere: ["Nothing is here", "The address leads to no page. A room's address ends with /r/ and its code."],
  roomGone: [
    "This room has ended",
    "Rooms go away a while after the last visitor has left. Open a new one from the lobby and send its link.",
  ],
  tokenNeeded: [
    "By invitation only",
    "This room takes a link with a token in it, and this browser has none that is still good. Ask whoever opened the room for one.",
  ],
  kicked: ["You were kicked from this room", "Its owner does not let you in again, perhaps for a while only."],
  locked: ["This room is locked", "Nobody new comes in at the moment. Its owner can open it again."],
  parked: [
    "This room is parked",
    "Something is wrong with it, and it is kept as it was until whoever runs the server has looked at it.",
  ],
  tooManyAttempts: ["Too many wrong passwords", "They came from your network. Wait a few minutes and try again."],
  noWebGl: [
    "This browser cannot draw it",
    "Pliant needs WebGL 2. It is in every current browser, but may be switched off, or the graphics driver may be on a block list.",
  ],
  oldClient: ["This page is out of date", "The server speaks a newer version. Reload the page to get it."],
} as const satisfies Record<string, readonly [string, string]>;
