/** Small damage to files and to JSON, as by a faulty tool or a hostile author. */
import type { Random } from "./random.ts";

const WORDS = [
  "",
  "-1",
  "0",
  "1",
  "2",
  "3",
  "4",
  "4294967295",
  "4294967296",
  "-2147483649",
  "99999999999999999999",
  "1e400",
  "-1e400",
  "1e-400",
  "nan",
  "inf",
  "0x10",
  "1.5",
  "1e",
  "-",
  "+",
  ".",
  "١",
  "\\",
  "#",
  "\0",
  "end_header",
  "$EndNodes",
  "1/1/1",
  "1//",
  "-9",
];

/** Damages a text or binary file in one to four places. */
export function damaged(bytes: Uint8Array, random: Random): Uint8Array {
  let text = Buffer.from(bytes).toString("latin1");
  for (let k = 1 + random.below(4); k > 0; k--) {
    const at = random.below(text.length + 1);
    const lines = text.split("\n");
    switch (random.below(9)) {
      case 0:
        text = text.slice(0, at);
        break;
      case 1:
        text = text.slice(0, at) + String.fromCharCode(random.below(256)) + text.slice(at + 1);
        break;
      case 2:
        text = text.slice(0, at) + Buffer.from(random.bytes(1 + random.below(16))).toString("latin1") + text.slice(at);
        break;
      case 3:
        text = text.slice(0, at) + text.slice(at + 1 + random.below(20));
        break;
      case 4:
        lines.splice(random.below(lines.length), 1 + random.below(2));
        text = lines.join("\n");
        break;
      case 5:
        lines.splice(random.below(lines.length), 0, random.pick(lines));
        text = lines.join("\n");
        break;
      case 6:
        text = text.replace(/\n/g, random.pick(["\r\n", "\r", " ", "\n\n", "\\\n"]));
        break;
      default: {
        // Replaces one word, which in a text file is most often a number.
        const words = [...text.matchAll(/[^\s]+/g)];
        const word = words[random.below(words.length)];
        if (word) text = text.slice(0, word.index) + random.pick(WORDS) + text.slice(word.index + word[0].length);
      }
    }
  }
  return Buffer.from(text, "latin1");
}

const VALUES: readonly unknown[] = [
  null,
  true,
  "",
  "x",
  "__proto__",
  "body",
  [],
  {},
  -1,
  0,
  1,
  2,
  0.5,
  1e-9,
  1e9,
  1e15,
  1e308,
  -1e308,
  5e-324,
  2 ** 31,
  256,
  512,
];

/** A deep copy with one to three of its values, fields or entries changed. */
export function bent<T>(value: T, random: Random): T {
  const copy = structuredClone(value);
  for (let k = 1 + random.below(3); k > 0; k--) bendOnce(copy, random);
  return copy;
}

function bendOnce(root: unknown, random: Random): void {
  const places: [Record<string, unknown>, string][] = [];
  const collect = (node: unknown): void => {
    if (typeof node !== "object" || node === null || ArrayBuffer.isView(node)) return;
    for (const key of Object.keys(node)) {
      places.push([node as Record<string, unknown>, key]);
      collect((node as Record<string, unknown>)[key]);
    }
  };
  collect(root);
  const place = places[random.below(places.length)];
  if (!place) return;
  const [parent, key] = place;
  const old = parent[key];
  switch (random.below(6)) {
    case 0:
      delete parent[key];
      break;
    case 1:
      if (!Array.isArray(parent))
        parent[random.pick(["extra", "type", "kind", "mesh", "constructor", key])] = random.pick(VALUES);
      break;
    case 2:
      if (Array.isArray(parent)) parent.push(structuredClone(old));
      else parent[key] = random.pick(VALUES);
      break;
    case 3:
      parent[key] = structuredClone(random.pick(places)[0]);
      break;
    default:
      parent[key] =
        typeof old === "number" && random.chance(0.7)
          ? old * random.pick([-1, 0, 1e-6, 0.5, 2, 1000, 1e6])
          : random.pick(VALUES);
  }
}
