/**
 * Text that people read, from untrusted sources: names of members and files. The rule follows the nickname profile of
 * PRECIS (RFC 8266): NFKC, one kind of space, no outer or double spaces. Characters without a shape are removed:
 * control, format, private, unassigned and default-ignorable ones, marks without a letter before them, and marks beyond
 * the third on one letter.
 */

/**
 * `\p{DI}` are the default-ignorable letters and marks, for example U+3164 and variation selectors. U+1D159 is a note
 * without a head, U+16FE4 a filler: fonts draw nothing for them.
 */
const SHAPELESS = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Cn}\p{DI}\u{1D159}\u{16FE4}]/gu;
/** Separators, and U+2800, the pattern of Braille without dots. */
const SPACES = /[\p{Z}\u2800]+/gu;

export function visibleText(text: string): string {
  return text
    .normalize("NFKC")
    .replace(/[\t\n\r]/g, " ")
    .replace(SHAPELESS, "")
    .replace(SPACES, " ")
    .replace(/(^|\s)\p{M}+/gu, "$1")
    .replace(/(\p{M}{3})\p{M}+/gu, "$1")
    .trim();
}
