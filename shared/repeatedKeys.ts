/** Names that stand twice in an object of a JSON text. JSON.parse keeps the last value without a word. */

export interface RepeatedKey {
  /** JSON pointer of the field. */
  path: string;
  /** Lines of its first and of this value, from 1. */
  firstLine: number;
  line: number;
}

/** Most that are returned. */
const MOST = 100;

/** An open object or list. */
interface Level {
  /** Line of each name; undefined for a list. */
  lines: Map<string, number> | undefined;
  /** Name or index of the current value. */
  at: string | number;
}

/** @param text valid JSON */
export function repeatedKeys(text: string): RepeatedKey[] {
  const found: RepeatedKey[] = [];
  const levels: Level[] = [];
  let line = 1;
  let isName = false;
  for (let i = 0; i < text.length && found.length < MOST; i++) {
    const level = levels.at(-1);
    switch (text[i]) {
      case "\n":
        line += 1;
        break;
      case "{":
      case "[":
        isName = text[i] === "{";
        levels.push({ lines: isName ? new Map<string, number>() : undefined, at: 0 });
        break;
      case "}":
      case "]":
        levels.pop();
        break;
      case ",":
        isName = level!.lines !== undefined;
        if (!isName) level!.at = Number(level!.at) + 1;
        break;
      case '"': {
        const end = endOfText(text, i);
        if (isName) {
          level!.at = JSON.parse(text.slice(i, end + 1)) as string;
          const firstLine = level!.lines!.get(level!.at);
          if (firstLine === undefined) level!.lines!.set(level!.at, line);
          else found.push({ path: pointerTo(levels), firstLine, line });
        }
        isName = false;
        i = end;
      }
    }
  }
  return found;
}

/** @returns the index of the quote that ends the string which begins at `from` */
function endOfText(text: string, from: number): number {
  let end = from + 1;
  while (text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
  return end;
}

/** As in RFC 6901. */
const pointerTo = (levels: readonly Level[]): string =>
  levels.map(({ at }) => `/${String(at).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
