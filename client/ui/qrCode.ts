/** A QR code as an SVG element. A separate module, because most visitors never need it. */
import { encode } from "uqr";
import { t } from "../text/text.ts";
import { svg } from "./dom.ts";

/** Width of the light border that readers need, modules. */
const QUIET = 4;

export function qrCode(text: string): SVGSVGElement {
  const { data, size } = encode(text, { ecc: "M", border: QUIET });
  const d = data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : []))).join("");
  const label = t("qrCode", { address: text });
  return svg(
    "svg",
    { viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": label, "shape-rendering": "crispEdges" },
    svg("path", { d }),
  );
}
