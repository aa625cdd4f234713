/** What went wrong, for a person. */
import { PliantError } from "../sdk/errors.ts";
import { textOfCode } from "./text.ts";

const sentenceOf = ({ code, reason }: PliantError): string | undefined =>
  (reason === undefined ? undefined : textOfCode("refused", reason)) ?? textOfCode("error", code);

/** In the page's language where the code, or the reason for it, has a text; else as the server says it. */
export function problemText(error: unknown): string {
  if (!(error instanceof PliantError)) return error instanceof Error ? error.message : String(error);
  return sentenceOf(error) ?? error.message;
}

/** Of a file that was refused, the server's own words: the place in the file, what is there, and what may be. */
export function problemDetail(error: unknown): string | undefined {
  if (!(error instanceof PliantError) || error.reason === undefined) return undefined;
  return sentenceOf(error) === undefined ? undefined : error.message;
}
