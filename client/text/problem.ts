/** Texts for errors. */
import { PliantError } from "../sdk/errors.ts";
import { textOfCode } from "./text.ts";

const sentenceOf = ({ code, reason }: PliantError): string | undefined =>
  (reason === undefined ? undefined : textOfCode("refused", reason)) ?? textOfCode("error", code);

/**
 * Returns the text of an error, in the page's language if its code or reason has a text, otherwise the server's
 * message.
 */
export function problemText(error: unknown): string {
  if (!(error instanceof PliantError)) return error instanceof Error ? error.message : String(error);
  return sentenceOf(error) ?? error.message;
}

/** For a refused file, returns the server's own message, which names the place in the file, its value and the limit. */
export function problemDetail(error: unknown): string | undefined {
  if (!(error instanceof PliantError) || error.reason === undefined) return undefined;
  return sentenceOf(error) === undefined ? undefined : error.message;
}
