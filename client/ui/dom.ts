/** Builds elements without markup strings, so that text from servers or players is never parsed as HTML. */
import { lookOf } from "../../shared/members/memberColors.ts";
import { t } from "../text/text.ts";
import { inkOn } from "../view/ink.ts";

type Attributes = Record<string, string | boolean | ((event: Event) => void)>;
type Child = Node | string | undefined;

/** `h("button", { class: "big", onclick: run }, "Go")`: functions become listeners, true becomes an empty attribute. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.replace(/^on/, ""), value);
    else if (value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== undefined));
  return element;
}

/** Makes an SVG element, as `h` makes HTML elements: `svg("path", { d: "M0 0h1" })`. */
export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Record<string, string | number>,
  ...children: (Node | string)[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/** Sets a member's colors as CSS variables of an element. @param color as in the protocol */
export function wear({ style }: HTMLElement, color: string): void {
  const { first, second } = lookOf(color);
  style.setProperty("--member", first);
  style.setProperty("--on-member", inkOn(first));
  if (second === first) style.removeProperty("--second");
  else style.setProperty("--second", second);
}

/** Accessible name that begins with the visible text. */
export const labelOf = (seen: string, title: string): string =>
  title.startsWith(seen) ? title : t("toolLabel", { text: seen, title });

/** Outlines on a 24 x 24 grid. */
const ICONS = {
  share: "M12 15V4M8 7.500l4-4 4 4M6 11H5v9h14v-9h-1",
  link: "M10 14a4 4 0 0 0 5.7 0l3-3a4 4 0 0 0-5.7-5.7l-1 1M14 10a4 4 0 0 0-5.7 0l-3 3a4 4 0 0 0 5.7 5.7l1-1",
  reset: "M4 5v5h5M4.6 14a8 8 0 1 0 1.6-8.2L4 10",
  undo: "M9 6L4 11l5 5M4 11h10a5.500 5.500 0 0 1 0 9h-3",
  camera: "M4 8h4l1.500-2.500h5L16 8h4v11H4zM12 16.500a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7z",
  push: "M3 12h11M10 7l5 5-5 5M19 5v14",
  hand: "M8 12V5.5a1.5 1.5 0 0 1 3 0V11m0-6.5a1.5 1.5 0 0 1 3 0V11m0-5a1.5 1.5 0 0 1 3 0v8c0 4-2.5 7-6.5 7-3 0-4.500-1.500-6-4l-2-3.500c-.8-1.500 1-2.800 2.200-1.500L8 14",
  chart: "M4 19V5M4 19h16M8 15l4-5 3 3 4-6",
  strain: "M3 12h18M7 8l-4 4 4 4M17 8l4 4-4 4M12 5v3M12 16v3",
  home: "M4 11l8-7 8 7M6 10v9h12v-9",
  help: "M9.500 9.500a2.500 2.500 0 1 1 3.500 2.300c-.7.3-1 .8-1 1.700M12 17v.1",
  file: "M6 3h8l4 4v14H6zM14 3v4h4M12 17v-6M9 14l3-3 3 3",
  plus: "M12 5v14M5 12h14",
  headset: "M4 8h16v9h-5l-2-3h-2l-2 3H4zM8 12v.1M16 12v.1",
  brush: "M14 4l6 6-8 6-4-4zM8 12c-3 0-4 2-4 4s-1 3-2 3c3 2 8 1 9-3",
  more: "M5 11.4v1.2M12 11.4v1.2M19 11.4v1.2",
  arrow: "M5 12h14M13 6l6 6-6 6",
  lock: "M6 11h12v9H6zM8.500 11V8a3.500 3.500 0 0 1 7 0v3",
  eye: "M2.500 12s3.500-6 9.500-6 9.500 6 9.500 6-3.500 6-9.500 6-9.500-6-9.500-6zM12 14.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5z",
  star: "M12 4l2.400 5 5.600.7-4.100 3.800 1.100 5.500-5-2.800-5 2.800 1.100-5.500L4 9.700 9.600 9z",
  sliders: "M4 7h9M17 7h3M13 4.500v5M4 12h3M11 12h9M9 9.500v5M4 17h7M15 17h5M13 14.500v5",
  play: "M7 4.500v15l12-7.500z",
  pause: "M8 5v14M16 5v14",
  replay: "M4 12a8 8 0 1 0 2.300-5.600L4 8.500M4 4v4.500h4.500M12 8v4.500l3 1.800",
  talk: "M4 5h16v11h-9l-4 4v-4H4zM8 9h8M8 12h5",
  download: "M12 4v11M7 11l5 5 5-5M5 20h14",
  people:
    "M9 11a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7zM2.500 20c0-3.600 2.900-6 6.500-6s6.500 2.400 6.500 6M16 4.500a3.500 3.500 0 0 1 0 6.500M18 14.500c2.200.8 3.500 2.800 3.500 5.500",
} as const;

export type IconName = keyof typeof ICONS;

export const icon = (name: IconName): SVGSVGElement =>
  svg(
    "svg",
    { viewBox: "0 0 24 24", class: `icon icon-${name}`, "aria-hidden": "true" },
    svg("path", { d: ICONS[name] }),
  );
