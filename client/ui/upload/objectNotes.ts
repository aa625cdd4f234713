/**
 * Notes about an uploaded model as list items: parts that were ignored, defects that were found or repaired, and where.
 */
import type { ObjectNote } from "../../net/api.ts";
import { h } from "../dom.ts";
import { numberText, t, textOfCode } from "../../text/text.ts";

/** Uses the page's language if the code has a text there, otherwise the server's text. */
export function noteItems(notes: readonly ObjectNote[]): HTMLElement[] {
  return notes.map(({ code, text, at }) => {
    const said = textOfCode("note", code);
    if (said === undefined) return h("li", { lang: "en", dir: "ltr" }, text);
    const place = at?.map((part) => `${numberText(Math.round(100 * part))} %`).join(" / ");
    return h("li", {}, place === undefined ? said : `${said} ${t("noteAt", { place })}`);
  });
}
