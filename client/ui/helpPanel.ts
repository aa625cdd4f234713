/** What one can do here, on one card. */
import { h } from "./dom.ts";

const touch = () => matchMedia("(pointer: coarse)").matches;

const WITH_MOUSE: [string, string][] = [
  ["Drag a body", "pull on it; the wheel moves your hand nearer or farther"],
  ["Drag elsewhere", "turn the view; right button moves it, wheel zooms"],
  ["Arrows", "point with the keyboard, once the picture has the focus (Tab); space takes hold and lets go"],
  ["P", "push mode: a click gives a shove"],
  ["I", "put something in, take it out, where the scene has spares"],
  ["R", "start again, for everyone"],
  ["H", "the scene's own view"],
  ["O", "numbers and plots"],
  ["Replay", "the last minute, on a page of its own: space plays, arrows go a second"],
  ["W", "the simulated surface as wires"],
  ["Esc", "let go, close"],
];

const WITH_FINGERS: [string, string][] = [
  ["A finger on a body", "pulls; several fingers pull several points"],
  ["A finger elsewhere", "turns the view"],
  ["Two fingers elsewhere", "zoom and move"],
  ["Push", "a tap gives a shove"],
  ["Put in", "a tap says where, where the scene has spares"],
  ["Replay", "the last minute, on a page of its own"],
  ["Reset", "starts again, for everyone"],
];

export function helpPanel(close: () => void): HTMLElement {
  const list = h("dl");
  for (const [what, does] of touch() ? WITH_FINGERS : WITH_MOUSE) {
    list.append(h("dt", {}, what.length <= 3 ? h("kbd", {}, what) : what), h("dd", {}, does));
  }
  return h(
    "section",
    { class: "help glass", role: "dialog", "aria-label": "Help", hidden: true },
    h("h2", {}, "How to pull"),
    list,
    h("button", { class: "button primary", type: "button", onclick: close }, "Got it"),
  );
}
