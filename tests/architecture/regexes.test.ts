/**
 * No regular expression of the server can take more than polynomial time: no repeated group contains a repetition, a
 * form that backtracks exponentially (ReDoS).
 */
import { expect, test } from "vitest";
import { readSources } from "./sources.ts";

/** Literals of regular expressions: after a character that cannot end a value. */
const LITERAL = /(?<=[(,=:[!&|?{};\n]\s*|return\s)\/(?![*/])((?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+)\/[dgimsuvy]*/g;

/** Whether a group that ends with + or * (or {n,}) contains an unbounded repetition. */
function nestsRepetition(source: string): boolean {
  const plain = source.replaceAll(/\\./g, "x").replaceAll(/\[(?:[^\]])*\]/g, "x");
  const open: boolean[] = [];
  for (let i = 0; i < plain.length; i++) {
    const char = plain[i]!;
    const unbounded = char === "+" || char === "*" || /^\{\d*,\}/.test(plain.slice(i));
    if (char === "(") open.push(false);
    else if (char === ")") {
      const inside = open.pop() ?? false;
      const after = plain.slice(i + 1);
      if (inside && /^([+*]|\{\d*,\})/.test(after)) return true;
      if (inside && open.length > 0) open[open.length - 1] = true;
    } else if (unbounded && open.length > 0) open[open.length - 1] = true;
  }
  return false;
}

test("the check finds nested repetitions, and no others", () => {
  for (const source of ["(a+)+", "(a*b)*", "((x+)y)*", "(?:a{2,})+b"])
    expect([source, nestsRepetition(source)]).toEqual([source, true]);
  for (const source of ["a+b*", "(a+)?", "(ab)+", "[+*]+", "\\(a+\\)+", "(a+)(b+)"])
    expect([source, nestsRepetition(source)]).toEqual([source, false]);
});

/** Every repetition begins with a semicolon, which the inner one excludes: there is one way to match. */
const UNAMBIGUOUS = ["^data:([^;,]*)((?:;[^;,]*)*),"];

test("no regular expression of server and shared code nests repetitions", () => {
  const found = readSources()
    .filter(({ path }) => /^(server|shared)\//.test(path) && !path.includes("/assembly/"))
    .flatMap(({ path, text }) => [...text.matchAll(LITERAL)].map(([, source]) => ({ path, source: source! })));
  expect(found.length).toBeGreaterThan(50);
  expect(found.filter(({ source }) => nestsRepetition(source) && !UNAMBIGUOUS.includes(source))).toEqual([]);
});
