/** A QR code as an image that needs no markup strings. A module of its own: most visitors never ask for it. */
import { encode } from "uqr";
import { t } from "../text/text.ts";

const SVG = "http://www.w3.org/2000/svg";
/** Light modules around the code that readers need. */
const QUIET = 4;

export function qrCode(text: string): SVGSVGElement {
  const { data, size } = encode(text, { ecc: "M", border: QUIET });
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${size} ${size}`);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", t("qrCode", { address: text }));
  svg.setAttribute("shape-rendering", "crispEdges");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute(
    "d",
    data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : []))).join(""),
  );
  svg.append(path);
  return svg;
}
