/** The statistics overlay: connection, buffer, drawing, and the server's tick with its stages. Hidden by default. */
import type { RoomStats } from "../../../../shared/protocol/fromServer.ts";
import type { SlowMotion } from "../../../state/slowMotion.ts";
import { h } from "../../dom.ts";
import { Plot } from "../../plot.ts";
import { t } from "../../../text/text.ts";

/** Values that the page measures. */
export interface LocalStats {
  rttMs: number;
  bufferMs: number;
  jitterMs: number;
  fps: number;
  kbpsIn: number;
  framesPerSecond: number;
  decodeMs: number;
  quality: string;
}

/**
 * Colors of the server's stages, in the order of its tick; similar stages have similar colors. Others use OTHER_STAGE.
 */
const STAGES: Record<string, string> = {
  inputs: "#94a3b8",
  warmStart: "#c4b5fd",
  broadPhase: "#d9901a",
  integrate: "#60a5fa",
  tetrahedra: "#e4572e",
  triangles: "#ef7d5a",
  bending: "#f6a88e",
  distances: "#c2410c",
  volumes: "#9a3412",
  shapes: "#fb923c",
  sweeps: "#fdba74",
  points: "#ec4899",
  contacts: "#2a9d5c",
  rigid: "#15803d",
  implicit: "#be123c",
  momentum: "#3b6fd1",
  collide: "#84cc16",
  verify: "#facc15",
  response: "#a16207",
  plasticity: "#7f1d1d",
  intersections: "#8e5bd0",
  methods: "#0f766e",
  guard: "#6d28d9",
  encode: "#14939c",
};
const OTHER_STAGE = "#a8a29e";
/** Stages named in the legend; the rest is summed up, so that the length of the list stays constant. */
const NAMED_STAGES = 7;

interface Row {
  element: HTMLElement;
  value: HTMLElement;
  plot: Plot | undefined;
}

function row(label: string, plot?: Plot): Row {
  const value = h("b", {}, "–");
  return { element: h("div", { class: "row" }, h("span", {}, label), value, plot?.canvas), value, plot };
}

export class StatsOverlay {
  readonly element: HTMLElement;
  private readonly rtt = row(t("roundTrip"), new Plot("#2f7dd1", 20));
  private readonly buffer = row(t("bufferDelay"), new Plot("#8e5bd0", 100));
  private readonly fps = row(t("framesDrawn"), new Plot("#2a9d5c", 60));
  private readonly kbps = row(t("received"), new Plot("#d9901a", 50));
  private readonly step = row(t("serverStep"), new Plot("#e4572e", 8));
  private readonly late = row(t("tickLateness"), new Plot("#14939c", 5));
  private readonly decode = row(t("decode"));
  private readonly quality = row(t("picture"));
  private readonly why = h("p", { class: "why", hidden: true });
  private readonly bar = h("div", { class: "stages" });
  private readonly legend = h("div", { class: "legend" });

  constructor() {
    const rows = [this.rtt, this.buffer, this.fps, this.kbps, this.step].map(({ element }) => element);
    this.element = h(
      "aside",
      { class: "stats glass", hidden: true, tabindex: "0", "aria-label": t("statistics") },
      ...rows,
      this.why,
      this.bar,
      this.legend,
      this.late.element,
      this.decode.element,
      this.quality.element,
    );
  }

  /** @returns true if it is visible now */
  toggle(): boolean {
    this.element.hidden = !this.element.hidden;
    return !this.element.hidden;
  }

  /** Called a few times a second, also while hidden: the plots keep their history. */
  updateLocal(stats: LocalStats): void {
    set(this.rtt, stats.rttMs, `${round(stats.rttMs)} ms`);
    set(this.buffer, stats.bufferMs, t("jitter", { buffer: round(stats.bufferMs), jitter: round(stats.jitterMs) }));
    set(this.fps, stats.fps, `${Math.round(stats.fps)} fps`);
    set(this.kbps, stats.kbpsIn, `${round(stats.kbpsIn)} kbit/s · ${Math.round(stats.framesPerSecond)}/s`);
    this.decode.value.textContent = t("msAFrame", { ms: stats.decodeMs.toFixed(2) });
    this.quality.value.textContent = stats.quality;
    if (this.element.hidden) return;
    for (const { plot } of [this.rtt, this.buffer, this.fps, this.kbps, this.step, this.late]) plot?.draw();
  }

  updateServer(stats: RoomStats, slow: SlowMotion | undefined): void {
    this.why.hidden = slow === undefined;
    this.why.textContent = slow === undefined ? "" : t("slowMotion", { why: t(slow.why) });
    const ms = stats.stepMs.toFixed(2);
    const percent = Math.round(100 * stats.timeDilation);
    set(this.step, stats.stepMs, stats.timeDilation < 0.995 ? t("stepWithTime", { ms, percent }) : `${ms} ms`);
    set(this.late, stats.tickLatenessMs, `${stats.tickLatenessMs.toFixed(1)} ms`);
    const total = Object.values(stats.stages).reduce((sum, ms) => sum + ms, 0);
    if (total <= 0) return;
    const stages = mostOf(stats.stages);
    this.bar.replaceChildren(
      ...stages.map(([name, ms]) => {
        const part = h("span", { title: `${name} ${ms.toFixed(2)} ms` });
        part.style.width = `${(100 * ms) / total}%`;
        part.style.background = STAGES[name] ?? OTHER_STAGE;
        return part;
      }),
    );
    this.legend.replaceChildren(
      ...stages.map(([name, ms]) => {
        const swatch = h("i");
        swatch.style.setProperty("--stage", STAGES[name] ?? OTHER_STAGE);
        return h("span", {}, swatch, `${name} ${ms.toFixed(2)}`);
      }),
    );
  }
}

/** The NAMED_STAGES largest stages in their order, and the sum of the rest. */
function mostOf(all: Record<string, number>): [name: string, ms: number][] {
  const stages = Object.entries(all).filter(([name, ms]) => ms > 0 && name !== "other");
  const least = stages.map(([, ms]) => ms).sort((a, b) => b - a)[NAMED_STAGES - 1] ?? 0;
  const named = stages.filter(([, ms]) => ms >= least);
  const rest = Object.values(all).reduce((sum, ms) => sum + ms, 0) - named.reduce((sum, [, ms]) => sum + ms, 0);
  return rest > 0 ? [...named, [t("otherStages"), rest]] : named;
}

function round(value: number): string {
  return Number.isFinite(value) ? (value < 10 ? value.toFixed(1) : String(Math.round(value))) : "–";
}

function set({ value, plot }: Row, number: number, text: string): void {
  value.textContent = text;
  plot?.add(Number.isFinite(number) ? number : 0);
}
