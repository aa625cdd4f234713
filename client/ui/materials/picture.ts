/** Picture of the hanging beam, to scale, with a ruler beside its end. */
import type { Hanging, Section } from "../../../shared/geometry/beam.ts";
import { measuredText } from "../../text/text.ts";
import { svg } from "../dom.ts";
import { LENGTHS, millimeters } from "./quantity.ts";

/** Layout, px: width of the table, width of the ruler, gap between beam and ruler, greatest height of the beam. */
const TABLE = 44;
const RULER = 54;
const GAP = 16;
const MOST_HIGH = 320;
/** Least distance between two numbers of the ruler, px. */
const STEP = 34;

/** Rounds up to 1, 2 or 5 times a power of ten. */
function round(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * [1, 2, 5, 10].find((n) => n * power >= least * (1 - 1e-9))!;
}

/** @param width of the picture, px. @param label accessible name */
export function beamPicture(width: number, beam: Section, hanging: Hanging, label: string): SVGElement {
  const { length, height } = beam;
  const scale = Math.min((width - TABLE - GAP - RULER) / length, MOST_HIGH / (hanging.sag + height));
  const half = Math.max((height / 2) * scale, 1);
  const left = (width - TABLE - GAP - RULER - length * scale) / 2 + TABLE;
  const top = half + 30;
  const [tipX, tipY] = [left + hanging.line.at(-3)! * scale, top + hanging.sag * scale];
  const rulerX = left + length * scale + GAP;
  // Show at least two numbers of the ruler.
  const step = round(STEP / scale);
  const bottom = Math.max(tipY + half + 28, top + half + 70, top + step * scale + 18);
  const drawing = svg("svg", {
    viewBox: `0 0 ${width} ${bottom}`,
    width,
    height: bottom,
    role: "img",
    "aria-label": label,
  });
  drawing.append(
    svg("rect", { class: "level", x: left, y: top - half, width: length * scale, height: 2 * half }),
    svg("path", { class: "beam", d: outline(hanging, scale, half, left, top) }),
    ...clamp(left, top, half, bottom),
    svg("path", { class: "level", d: `M${left + length * scale} ${top}H${rulerX}M${tipX} ${tipY}H${rulerX}` }),
    ...ruler(rulerX, top, bottom, scale, step),
    svg("path", { class: "mark", d: `M${rulerX} ${tipY}l-9 -5v10z` }),
    svg("text", { class: "sag", x: rulerX - 12, y: tipY + half + 18, "text-anchor": "end" }, millimeters(hanging.sag)),
  );
  return drawing;
}

/** Outline of the beam: half a height to either side of the middle line. */
function outline({ line }: Hanging, scale: number, half: number, left: number, top: number): string {
  const upper: string[] = [];
  const lower: string[] = [];
  // Every fourth point is enough for a picture.
  for (let i = 0; i < line.length; i += 12) {
    const [nx, ny] = [half * Math.sin(line[i + 2]!), -half * Math.cos(line[i + 2]!)];
    const [x, y] = [left + line[i]! * scale, top + line[i + 1]! * scale];
    upper.push(`${(x + nx).toFixed(2)} ${(y + ny).toFixed(2)}`);
    lower.unshift(`${(x - nx).toFixed(2)} ${(y - ny).toFixed(2)}`);
  }
  return `M${[...upper, ...lower].join("L")}Z`;
}

/** The table's edge, the clamped part of the beam, and the jaw. */
const clamp = (left: number, top: number, half: number, bottom: number): SVGElement[] => [
  svg("rect", { class: "beam", x: left - 30, y: top - half, width: 30, height: 2 * half }),
  svg("path", {
    class: "table",
    d: `M${left - TABLE} ${top + half}h${TABLE}v14h-14V${bottom}h-12V${top + half + 14}h-18z`,
  }),
  svg("path", { class: "jaw", d: `M${left - 24} ${top - half}h24v-9h-8v-12h-8v12h-8z` }),
];

/** The ruler, with zero at the beam without gravity. @param step between two numbers, m */
function ruler(x: number, zero: number, bottom: number, scale: number, step: number): SVGElement[] {
  const unit = Object.values(LENGTHS).findLast(({ size }) => step >= size * (1 - 1e-9)) ?? LENGTHS.mm;
  const marks: string[] = [];
  const numbers: SVGElement[] = [];
  for (let n = 0; zero + (n / 10) * step * scale < bottom - 6; n++) {
    const y = zero + (n / 10) * step * scale;
    marks.push(`M${x} ${y.toFixed(2)}h${n % 10 === 0 ? 15 : n % 5 === 0 ? 11 : 7}`);
    if (n % 10 > 0) continue;
    numbers.push(svg("text", { x: x + 19, y: y + 4 }, measuredText(((n / 10) * step) / unit.size)));
  }
  return [
    svg("rect", { class: "ruler", x, y: zero - 24, width: RULER, height: bottom - zero + 22, rx: 3 }),
    svg("path", { class: "marks", d: marks.join("") }),
    svg("g", { class: "numbers" }, svg("text", { x: x + 19, y: zero - 10 }, unit.text), ...numbers),
  ];
}
