/** Saves the picture, or the last ten seconds as a GIF or a WebM. Nothing leaves the browser. */
import { type FrameRing, paint } from "../../capture/frameRing.ts";
import { t, type PlainKey } from "../../text/text.ts";
import { h, icon, labelOf } from "../dom.ts";
import { Panel } from "../panel.ts";
import { saveFile } from "../saveFile.ts";

/** Longest side of a saved picture, px. */
const LONGEST_PICTURE = 4096;

export interface CaptureSource {
  canvas: HTMLCanvasElement;
  ring: FrameRing;
  /** Draws the picture again: the browser has cleared the canvas's buffer since. */
  draw: () => void;
}

export class CapturePanel {
  readonly button: HTMLButtonElement;
  readonly panel: Panel;
  private readonly name: string;
  private readonly source: () => CaptureSource | undefined;
  private readonly buttons: HTMLButtonElement[];
  private readonly status = h("p", { class: "status", role: "status" });

  /** @param name of the saved files. @param source undefined: nothing is shown yet */
  constructor(name: string, source: () => CaptureSource | undefined) {
    this.name = name;
    this.source = source;
    this.button = h(
      "button",
      {
        class: "tool",
        type: "button",
        title: t("captureTitle"),
        "data-tool": "camera",
        "aria-label": labelOf(t("capture"), t("captureTitle")),
        onclick: () => this.panel.open(!this.panel.isOpen),
      },
      icon("camera"),
      h("span", { class: "text extra" }, t("capture")),
    );
    const act = (kind: string, text: PlainKey, run: () => void): HTMLButtonElement =>
      h("button", { class: "button", type: "button", "data-save": kind, onclick: run }, t(text));
    this.buttons = [
      act("png", "capturePicture", () => this.picture()),
      act("gif", "captureGif", () => void this.clip("gif")),
      act("webm", "captureWebm", () => void this.clip("webm")),
    ];
    this.panel = new Panel(
      this.button,
      t("captureTitle"),
      "capture-panel",
      h("div", { class: "acts" }, ...this.buttons),
      this.status,
    );
  }

  private picture(): void {
    const source = this.source();
    if (!source) return;
    source.draw();
    const canvas = document.createElement("canvas");
    paint(source.canvas, canvas, LONGEST_PICTURE);
    canvas.toBlob((blob) => blob && saveFile(`${this.name}.png`, blob), "image/png");
  }

  private async clip(kind: "gif" | "webm"): Promise<void> {
    const frames = this.source()?.ring.recent(performance.now()) ?? [];
    if (frames.length === 0) return;
    const say = (share: number): void => {
      this.status.textContent = t("captureMaking", { percent: `${Math.round(100 * share)} %` });
    };
    for (const button of this.buttons) button.disabled = true;
    say(0);
    try {
      const { canRecord, gifOf, webmOf } = await import("../../capture/clip.ts");
      if (kind === "webm" && !canRecord()) {
        this.status.textContent = t("captureNoWebm");
        return;
      }
      saveFile(`${this.name}.${kind}`, await (kind === "gif" ? gifOf : webmOf)(frames, say));
      this.status.textContent = t("captureSaved");
    } catch (error) {
      console.warn(error);
      this.status.textContent = t("captureFailed");
    } finally {
      for (const button of this.buttons) button.disabled = false;
    }
  }
}
