/**
 * Renders a Vega-Lite specification to an SVG inside the page, with the page's light and dark colors and without
 * loading anything.
 */
import * as vega from "vega";
import { compile, type TopLevelSpec } from "vega-lite";
import type { VegaLiteSpec } from "./figures/figure.ts";

/**
 * Readable on white and on near-black (Okabe and Ito 2008, for color blindness; without yellow and black, with five
 * more for rare plots).
 */
const PALETTE = [
  "#0f83c4",
  "#d9650f",
  "#0a9d76",
  "#c2659c",
  "#a8862b",
  "#6f7fd6",
  "#8a8f98",
  "#c0392b",
  "#4fa3a5",
  "#7d5ba6",
  "#7a9a3a",
  "#b5795a",
];

/** Axes, labels and grid take the color of the surrounding text. */
const ink = "currentColor";
const CONFIG = {
  background: null,
  font: "system-ui, sans-serif",
  view: {
    stroke: null,
    continuousWidth: 520,
    continuousHeight: 300,
    discreteWidth: { step: 56 },
    discreteHeight: { step: 34 },
  },
  axis: {
    labelColor: ink,
    titleColor: ink,
    tickColor: ink,
    domainColor: ink,
    gridColor: ink,
    gridOpacity: 0.12,
    domainOpacity: 0.4,
    tickOpacity: 0.4,
    labelFontSize: 11,
    titleFontSize: 12,
    titleFontWeight: "normal",
  },
  legend: {
    labelColor: ink,
    titleColor: ink,
    labelFontSize: 11.5,
    titleFontSize: 12,
    titleFontWeight: "normal",
    labelLimit: 0,
    orient: "bottom",
    columns: 3,
  },
  title: { color: ink, fontSize: 13, fontWeight: 600 },
  header: { labelColor: ink, titleColor: ink },
  range: { category: PALETTE },
  line: { strokeWidth: 2 },
  bar: { color: PALETTE[0] },
};

/** @param name prefix of the ids inside, so that a page can hold several charts */
export async function chart(spec: VegaLiteSpec, name: string): Promise<string> {
  const own = (spec.config ?? {}) as object;
  const { spec: compiled } = compile({ ...spec, config: { ...CONFIG, ...own } } as unknown as TopLevelSpec, {
    logger: quiet,
  });
  const view = new vega.View(vega.parse(compiled), { renderer: "none", logLevel: vega.Error });
  const svg = await view.toSVG();
  view.finalize();
  // Clip paths and gradients are numbered from zero in every chart.
  return svg
    .replace(/\bid="([^"]+)"/g, `id="${name}-$1"`)
    .replace(/url\(#([^)]+)\)/g, `url(#${name}-$1)`)
    .replace(/<svg /, '<svg role="img" ');
}

/** Vega-Lite warns about harmless things, such as a domain that it widens. Errors are thrown. */
const quiet = {
  level: () => quiet,
  error: (...args: readonly unknown[]) => {
    throw new Error(args.join(" "));
  },
  warn: () => quiet,
  info: () => quiet,
  debug: () => quiet,
} as never;
