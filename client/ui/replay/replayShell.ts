/**
 * The static parts of the replay page: canvas, title, and the row with play button, slider and time. Contains no replay
 * logic.
 */
import "../../styles/replay.css";
import { CapturePanel, type CaptureSource } from "../cards/capturePanel.ts";
import { CursorLayer } from "../room/layers/cursorLayer.ts";
import { h, icon } from "../dom.ts";
import { SPEEDS } from "../../state/playhead.ts";
import { Toasts } from "../toasts.ts";
import { t } from "../../text/text.ts";

export interface ReplayActions {
  toggle: () => void;
  /** Moves the playhead to this tick. */
  seek: (tick: number) => void;
  speed: (speed: number) => void;
  home: () => void;
  download: () => void;
  capture: () => CaptureSource | undefined;
}

/** 75.31 -> "1:15.3" */
function clockText(seconds: number): string {
  const tenths = Math.round(10 * Math.max(0, seconds));
  const minutes = Math.floor(tenths / 600);
  const rest = tenths - 600 * minutes;
  return `${minutes}:${String(Math.floor(rest / 10)).padStart(2, "0")}.${rest % 10}`;
}

export class ReplayShell {
  readonly element: HTMLElement;
  readonly canvas = h("canvas", { class: "view", tabindex: "0", "aria-label": t("replayCanvas") });
  readonly toasts = new Toasts();
  readonly cursors = new CursorLayer();
  private readonly titleText = h("h1", {}, t("replay"));
  private readonly loadingText = h("span", {}, t("goingBack"));
  private readonly loading = h(
    "div",
    { class: "loading", role: "status" },
    h("span", { class: "spinner" }),
    this.loadingText,
  );
  private readonly play: HTMLButtonElement;
  private readonly slider = h("input", {
    type: "range",
    min: "0",
    max: "1",
    value: "0",
    step: "1",
    disabled: true,
    "aria-label": t("moment"),
  });
  private readonly come = h("div", {
    class: "come",
    role: "progressbar",
    "aria-label": t("loaded"),
    "aria-valuemin": "0",
    "aria-valuemax": "100",
  });
  /** Initially as wide as the times of a short replay, so that the tools beside it do not move. */
  private readonly time = h("span", { class: "time" }, `${clockText(0)} / ${clockText(0)}`);
  private readonly capture: CapturePanel;
  private tickHz = 60;
  private from = 0;
  private until = 1;
  private shown = "";

  constructor(room: string, actions: ReplayActions) {
    this.capture = new CapturePanel(`${room}-replay`, actions.capture);
    this.play = h("button", { class: "tool play", type: "button", onclick: actions.toggle });
    this.setPlaying(false);
    this.slider.addEventListener("input", () => actions.seek(Number(this.slider.value)));
    const speed = h("select", { class: "tool", "aria-label": t("speedField"), title: t("speedField") });
    for (const value of SPEEDS) speed.append(h("option", { value: String(value), selected: value === 1 }, `${value}×`));
    speed.addEventListener("change", () => {
      actions.speed(Number(speed.value));
      // Otherwise the arrow keys would change the speed again.
      speed.blur();
    });
    const button = (name: "home" | "download", title: string, run: () => void): HTMLElement =>
      h("button", { class: "tool", type: "button", title, "aria-label": title, onclick: run }, icon(name));
    const title = h(
      "a",
      { class: "title glass", href: `/r/${encodeURIComponent(room)}`, title: t("backToRoom") },
      h("img", { src: "/icon.svg", alt: "", width: "30", height: "30" }),
      h("span", {}, this.titleText, h("small", {}, t("backTo", { room }))),
    );
    this.element = h(
      "main",
      { class: "room replay" },
      this.canvas,
      this.cursors.element,
      this.loading,
      h("div", { class: "topbar" }, title),
      h(
        "div",
        { class: "deck glass", role: "toolbar", "aria-label": t("player") },
        this.play,
        h("div", { class: "scrub" }, h("div", { class: "track" }, this.come), this.slider),
        this.time,
        speed,
        button("home", t("homeTitle"), actions.home),
        this.capture.button,
        button("download", t("downloadRecording"), actions.download),
      ),
      this.capture.panel.element,
      this.toasts.element,
    );
  }

  setTitle(title: string): void {
    this.titleText.textContent = t("replayOf", { title });
    document.title = t("documentTitle", { title: t("replayOf", { title }) });
  }

  /** First and last tick of the replay. */
  setRange(from: number, until: number, tickHz: number): void {
    Object.assign(this, { from, until, tickHz });
    this.slider.min = String(from);
    this.slider.max = String(until);
    this.slider.disabled = false;
  }

  /** @param last the last tick that has arrived */
  setLoaded(last: number): void {
    const share = this.until > this.from ? Math.min(1, Math.max(0, (last - this.from) / (this.until - this.from))) : 1;
    this.come.style.setProperty("--share", String(share));
    this.come.setAttribute("aria-valuenow", String(Math.round(100 * share)));
  }

  setPlaying(playing: boolean): void {
    const title = t(playing ? "pause" : "play");
    if (this.play.title === title) return;
    this.play.title = title;
    this.play.setAttribute("aria-label", title);
    this.play.replaceChildren(icon(playing ? "pause" : "play"));
  }

  setTick(tick: number): void {
    const text = `${clockText((tick - this.from) / this.tickHz)} / ${clockText((this.until - this.from) / this.tickHz)}`;
    this.slider.value = String(Math.round(tick));
    if (text === this.shown) return;
    this.shown = text;
    this.time.textContent = text;
    this.slider.setAttribute("aria-valuetext", text);
  }

  /** Shows a loading text; undefined hides it, when the picture is ready. */
  setLoading(text: string | undefined): void {
    this.loading.classList.toggle("gone", text === undefined);
    if (text !== undefined) this.loadingText.textContent = text;
  }
}
