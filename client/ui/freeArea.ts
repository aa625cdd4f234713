/** The part of a page's picture that no tools cover: between the bar above and the tools below. */
import { WHOLE, type FreeArea } from "../../shared/framing.ts";

/** Between bodies and tools, and at the sides, as a share of the window: there is something to pull into. */
const MARGIN = 0.05;
/** Tools on a window this low leave nothing to look at: then bodies may lie under them. */
const LEAST_SHARE = 0.25;

/** @param page has the canvas, the bar and the tools */
export function freeArea(page: HTMLElement): FreeArea {
  const { width, height } = page.getBoundingClientRect();
  const bar = page.querySelector(".title")?.getBoundingClientRect();
  const tools = [...page.querySelectorAll(".toolbar, .toolbar .together:not([hidden]), .deck")];
  if (width === 0 || height === 0 || !bar || tools.length === 0) return WHOLE;
  const top = bar.bottom + MARGIN * height;
  const bottom = Math.min(...tools.map((tool) => tool.getBoundingClientRect().top)) - MARGIN * height;
  if (bottom - top < LEAST_SHARE * height) return WHOLE;
  const side = 1 - 2 * MARGIN;
  return { left: -side, right: side, top: 1 - (2 * top) / height, bottom: 1 - (2 * bottom) / height };
}
