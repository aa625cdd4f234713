/** Shares or copies a link. */
import { t } from "../text/text.ts";

/** @returns a note for the user; undefined if the system's share sheet was used */
export async function shareLink(url: string): Promise<string | undefined> {
  if (matchMedia("(pointer: coarse)").matches && "share" in navigator) {
    try {
      await navigator.share({ title: document.title, url });
      return undefined;
    } catch (error) {
      if (error instanceof DOMException && error.name === "AbortError") return undefined;
    }
  }
  return copyText(url);
}

/** @param done note after success. @returns a note for the user */
export async function copyText(text: string, done = t("linkCopied")): Promise<string> {
  try {
    await navigator.clipboard.writeText(text);
    return done;
  } catch {
    // Without HTTPS (a laptop in a classroom) there is no clipboard API: use the old way.
    const field = document.createElement("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    const copied = document.execCommand("copy");
    field.remove();
    return copied ? done : text;
  }
}
