/**
 * Recognizes names that look the same. Two names are doubles if a skeleton of one is a skeleton of the other (Unicode
 * Technical Standard 39, section 4, with the table of confusable characters), without regard to case and spaces. The
 * later member gets its number behind its name.
 */
import unhomoglyph from "unhomoglyph";
import { Limits } from "../../../shared/protocol/protocol.ts";

const withoutCase = (text: string): string => text.toUpperCase().toLowerCase();
const lookOf = (text: string): string => unhomoglyph(text.normalize("NFD")).normalize("NFD");

/** One skeleton as written, one without case: a capital can look like another letter than its small one (I like l). */
export function skeletonsOf(name: string): string[] {
  return [withoutCase(lookOf(name)), lookOf(withoutCase(name))].map((skeleton) => skeleton.replaceAll(" ", ""));
}

/** A mark as `distinctName` sets it, with the member's number. */
const MARK = /#\s*(\d+)(\.\d+)?$/;

/**
 * @returns the name, or with the member's number behind it: a name that looks like none of those taken, and does not
 *   end with another member's mark
 */
export function distinctName(name: string, member: number, taken: ReadonlySet<string>): string {
  const claims = (text: string): boolean => Number(MARK.exec(text)?.[1] ?? member) !== member;
  let distinct = name;
  for (let again = 1; claims(distinct) || skeletonsOf(distinct).some((skeleton) => taken.has(skeleton)); again++) {
    const mark = ` #${member}${again === 1 ? "" : `.${again}`}`;
    distinct =
      [...name]
        .slice(0, Limits.nameLength - mark.length)
        .join("")
        .trimEnd() + mark;
  }
  return distinct;
}
