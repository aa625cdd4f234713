/** Code that shows the room in a frame of another page, with a choice of size. */
import { h } from "../dom.ts";
import { copyText } from "../shareLink.ts";
import { t } from "../../text/text.ts";

/** Sizes of the frame, px. */
const SIZES = [
  [480, 360],
  [800, 600],
  [1280, 720],
] as const;

/** @param address of the room's page; without its own words, so that nothing needs escaping but quotes */
export function embedCode(address: string, width: number, height: number): string {
  const source = address.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  return `<iframe src="${source}?ui=minimal" width="${width}" height="${height}" title="Pliant" allow="fullscreen" style="border:0;max-width:100%"></iframe>`;
}

/** @param address of the room, known when the panel opens. @param say shows a note */
export function embedSection(address: () => string, say: (text: string) => void): HTMLElement {
  const size = h(
    "select",
    { "aria-label": t("embedSize") },
    ...SIZES.map(([width, height], n) => h("option", { value: String(n) }, `${width} × ${height}`)),
  );
  const code = h("textarea", { readonly: true, rows: "5", dir: "ltr", "aria-label": t("embedCode") });
  const preview = h("div", { class: "preview", dir: "ltr", "aria-hidden": "true" });
  const show = (): void => {
    const [width, height] = SIZES[Number(size.value)]!;
    code.value = embedCode(address(), width, height);
    preview.style.aspectRatio = `${width} / ${height}`;
    preview.textContent = `${width} × ${height}`;
  };
  size.addEventListener("change", show);
  const element = h(
    "details",
    { class: "embed", ontoggle: show },
    h("summary", {}, t("embed")),
    size,
    preview,
    code,
    h(
      "button",
      { class: "button", type: "button", onclick: () => void copyText(code.value, t("embedCopied")).then(say) },
      t("embedCopy"),
    ),
    h("p", {}, t("embedAllow")),
  );
  return element;
}
