/** What was ignored, found or mended in a file that somebody brought, and where. */
import type { ObjectNote } from "../net/api.ts";
import { h } from "./dom.ts";
import { numberText, t, textOfCode } from "../text/text.ts";

/** In the page's language where the code has a text, else as the server says it. */
export function noteItems(notes: readonly ObjectNote[]): HTMLElement[] {
  return notes.map(({ code, text, at }) => {
    const said = textOfCode("note", code);
    if (said === undefined) return h("li", { lang: "en", dir: "ltr" }, text);
    const place = at?.map((part) => `${numberText(Math.round(100 * part))} %`).join(" / ");
    return h("li", {}, place === undefined ? said : `${said} ${t("noteAt", { place })}`);
  });
}
