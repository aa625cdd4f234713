/**
 * Every test that SECURITY.md names exists under that title; "..." stands for the rest of a long one, and no other test
 * of the file begins like it. Every row names a test, except rows that say that there is none.
 */
import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const page = readFileSync("SECURITY.md", "utf8");
/** A file may be followed by several titles. */
const named = [...page.matchAll(/`(tests\/[^`]+\.ts)` ("[^"]+"(?:, "[^"]+")*)/g)].flatMap(([, file, titles]) =>
  [...titles!.matchAll(/"([^"]+)"/g)].map(([, title]) => ({ file: file!, title: title! })),
);

/** @returns the number of strings in the text that are this title, or begin with it if it ends in " ..." */
function titled(text: string, title: string): number {
  const begin = title.replace(/ \.\.\.$/, "");
  return ['"', "'", "`"].reduce((sum, quote) => {
    const literal = begin === title ? quote + title + quote : quote + begin;
    return sum + text.split(literal).length - 1;
  }, 0);
}

test("the tests that SECURITY.md names exist", () => {
  expect(named.length).toBeGreaterThan(30);
  const missing = named.filter(
    ({ file, title }) => !existsSync(file) || titled(readFileSync(file, "utf8"), title) !== 1,
  );
  expect(missing).toEqual([]);
});

test("every threat has a countermeasure and a test, or says that it has none", () => {
  const threats = page
    .split("\n")
    .filter((line) => line.startsWith("| to "))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  expect(threats.length).toBeGreaterThan(30);
  for (const [threat, stopped, shown] of threats) {
    expect([threat, stopped !== ""]).toEqual([threat, true]);
    expect([
      threat,
      stopped!.startsWith("nothing in Pliant") || named.some(({ title }) => shown!.includes(title)),
    ]).toEqual([threat, true]);
  }
});

test("every known gap has a remedy and a test, or says why it has none", () => {
  const [, gaps = ""] = page.split("## Known gaps");
  const rows = gaps.split("\n").filter((line) => /^\| (?!gap|---)/.test(line));
  expect(rows.length).toBeGreaterThan(4);
  for (const row of rows) {
    const [, gap, remedy, shown] = row.split("|").map((cell) => cell.trim());
    expect([gap, remedy !== "" && /^(`tests\/|none: )/.test(shown!)]).toEqual([gap, true]);
  }
});

test("each path and each variable that SECURITY.md names exists", () => {
  for (const [, path] of page.matchAll(/`(tests\/[^`]+)`/g)) expect([path, existsSync(path!)]).toEqual([path, true]);
  const variables = readFileSync("server/config.ts", "utf8");
  for (const [, name] of page.matchAll(/\b(PLIANT_[A-Z_]+)\b/g))
    expect([name, variables.includes(`"${name}"`)]).toEqual([name, true]);
});
