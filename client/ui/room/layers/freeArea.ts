/** The part of the page's picture without tools: between the bar at the top and the hint or the tools below. */
import { WHOLE, type FreeArea } from "../../../../shared/geometry/framing.ts";

/** Margin between bodies and tools, and at the sides, as a share of the window: space to pull into. */
const MARGIN = 0.05;
/** Below this share of the window's height the free area is useless: then bodies may be under the tools. */
const LEAST_SHARE = 0.25;

/** @param page element that contains the canvas, the bar and the tools */
export function freeArea(page: HTMLElement): FreeArea {
  const { width, height } = page.querySelector("canvas.view")!.getBoundingClientRect();
  const bar = page.querySelector(".title")?.getBoundingClientRect();
  const tools = [...page.querySelectorAll(".toolbar, .toolbar .together:not([hidden]), .hint:not([hidden]), .deck")]
    // Not in embedded pages.
    .filter((tool) => tool.getClientRects().length > 0);
  if (width === 0 || height === 0 || !bar || tools.length === 0) return WHOLE;
  const top = bar.bottom + MARGIN * height;
  // A sheet below the canvas covers the tools.
  const bottom = Math.min(height, ...tools.map((tool) => tool.getBoundingClientRect().top)) - MARGIN * height;
  if (bottom - top < LEAST_SHARE * height) return WHOLE;
  const side = 1 - 2 * MARGIN;
  return { left: -side, right: side, top: 1 - (2 * top) / height, bottom: 1 - (2 * bottom) / height };
}
