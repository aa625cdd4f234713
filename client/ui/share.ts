/** Puts a link where it can be sent from. */
import { t } from "../text/text.ts";

/** @returns what happened, for a note to the player; undefined when the system's own sheet said it */
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

/** @param done what to say of it. @returns what happened, for a note to the player */
export async function copyText(text: string, done = t("linkCopied")): Promise<string> {
  try {
    await navigator.clipboard.writeText(text);
    return done;
  } catch {
    // Without https (a laptop in a class room) there is no clipboard API: the old way.
    const field = document.createElement("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    const copied = document.execCommand("copy");
    field.remove();
    return copied ? done : text;
  }
}
