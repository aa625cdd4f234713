/** What went wrong, for a person. */
import { PliantError } from "../sdk/errors.ts";
import { textOfCode } from "./text.ts";

/** In the page's language where the code has a text; else as the server says it. */
export function problemText(error: unknown): string {
  if (!(error instanceof PliantError)) return error instanceof Error ? error.message : String(error);
  return textOfCode("error", error.code) ?? error.message;
}
