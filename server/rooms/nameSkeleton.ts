/**
 * Recognizes names that look the same. Two names are doubles if their skeletons agree (Unicode Technical Standard 39,
 * section 4, with the table of confusable characters), without regard to case and spaces. The later member gets its
 * number behind its name.
 */
import unhomoglyph from "unhomoglyph";
import { Limits } from "../../shared/protocol/protocol.ts";

export function skeletonOf(name: string): string {
  const plain = unhomoglyph(name.normalize("NFD")).normalize("NFD");
  return plain.toLowerCase().replaceAll(" ", "");
}

/** @returns the name, or with the member's number behind it: a name that looks like none of those taken */
export function distinctName(name: string, member: number, taken: ReadonlySet<string>): string {
  let distinct = name;
  for (let again = 1; taken.has(skeletonOf(distinct)); again++) {
    const mark = ` #${member}${again === 1 ? "" : `.${again}`}`;
    distinct =
      [...name]
        .slice(0, Limits.nameLength - mark.length)
        .join("")
        .trimEnd() + mark;
  }
  return distinct;
}
