/** The words of docs/GLOSSARY.md are the words of the code: retired words are gone, and each listed term is used. */
import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { expect, test } from "vitest";
import { readSources, repositoryFiles } from "./sources.ts";

const GLOSSARY = "docs/GLOSSARY.md";
const SELF = "tests/architecture/glossary.test.ts";

/** Words that other terms have replaced. A name is split into words, so "adopt" does not match `loadOptions`. */
const RETIRED_WORDS: ReadonlySet<string> = new Set(
  [
    ["heir", "heirs", "lapse", "lapsed", "adopt", "adopted", "adoption", "trial", "trials", "doubt", "foreign"],
    ["vouch", "vouched", "foresee", "foreseen", "film", "films", "hopeless", "outlier", "outliers", "spares"],
    ["somebody", "nobody", "whoever", "others", "park", "parks", "parked", "parking", "unpark", "stood"],
    ["hands", "waits"],
  ].flat(),
);
/** Beginnings of constants of the kernel's layout that were renamed. */
const RETIRED_PREFIX = /^(WAY|PARTED|CLOSE|H_STOOD)(_|$)/;
/** Names of files that were renamed or deleted, without folder and ending. */
const RETIRED_FILES: ReadonlySet<string> = new Set(
  [
    ["pairs", "pairChunks", "pairLeaves", "front", "frontClose", "frontParted", "frontFound", "frontCompact"],
    ["interactions", "lines", "directly", "vouched", "sharedRead", "trials", "grips", "hand", "touches"],
  ].flat(),
);

const DECLARED =
  /^export (?:(?:default|declare|abstract|async) )*(?:function\*?|class|const|let|interface|type|enum)\s+([\w$]+)/gm;
const LISTED = /^\s*export\s+(?:type\s+)?\{([^}]*)\}/gm;

const sources = readSources().filter(({ path }) => /^(server|shared|client)\//.test(path));

/** Names under which a file exports its declarations. */
function exportsOf(text: string): string[] {
  const listed = [...text.matchAll(LISTED)].flatMap(([, list]) => list!.split(","));
  const names = listed.map((item) => item.replace(/^.*\bas\s+|\btype\s+/, "").trim());
  return [...[...text.matchAll(DECLARED)].map(([, name]) => name!), ...names].filter((name) => name !== "");
}

/** `ForwardedIdentity`, `FORWARDED_IDENTITY` and `forwarded-identity` are all forwarded, identity. */
const wordsOf = (name: string): string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/);

const isRetired = (name: string): boolean =>
  RETIRED_PREFIX.test(name) || wordsOf(name).some((word) => RETIRED_WORDS.has(word));

/** First cells of the glossary's tables: those of terms, and those of older names. */
function firstCells(): { terms: string[]; older: string[] } {
  const [terms, older] = readFileSync(GLOSSARY, "utf8").split("## Older names");
  const cells = (text: string): string[] =>
    [...text.matchAll(/^\| ([^|]+) \|/gm)].map(([, cell]) => cell!).filter((cell) => !/^(term|name|---)$/.test(cell));
  return { terms: cells(terms!), older: cells(older!) };
}

/** Without articles, spaces and capitals, so that `halveStep` is the term "halve the step". */
const squashed = (text: string): string =>
  text
    .replace(/\b(?:the|a|an)\s/gi, "")
    .replace(/[^a-z0-9]/gi, "")
    .toLowerCase();

const texts = repositoryFiles()
  .filter((path) => /\.(ts|mjs|py|md|yml|html)$/.test(path) && path !== GLOSSARY && path !== SELF)
  .map((path) => ({ path, text: readFileSync(path, "utf8") }));

test("no exported name contains a retired word", () => {
  expect(sources.length).toBeGreaterThan(500);
  const found = sources.flatMap(({ path, text }) =>
    exportsOf(text)
      .filter(isRetired)
      .map((name) => `${path}: ${name}`),
  );
  expect(found).toEqual([]);
});

test("no file name contains a retired word", () => {
  const nameOf = (path: string): string => posix.basename(path).replace(/\..*$/, "");
  const found = sources
    .map(({ path }) => path)
    .filter((path) => RETIRED_FILES.has(nameOf(path)) || isRetired(nameOf(path)));
  expect(found).toEqual([]);
});

test("the search finds retired words in samples, and no others", () => {
  const text = "export const WAY_ROW = 1;\nexport async function adoptRoom() {}\nexport { a as isLapsed, b };";
  expect(exportsOf(text)).toEqual(["WAY_ROW", "adoptRoom", "isLapsed", "b"]);
  expect(exportsOf(text).filter(isRetired)).toEqual(["WAY_ROW", "adoptRoom", "isLapsed"]);
  expect(["LoadOptions", "STORE_AWAY_SECONDS", "lattice", "CLOSED"].filter(isRetired)).toEqual([]);
});

test("the code or a document uses each term of the glossary", () => {
  const all = texts.map(({ path, text }) => squashed(`${path} ${text}`)).join(" ");
  const { terms } = firstCells();
  expect(terms.length).toBeGreaterThan(100);
  // "bounding volume test tree (bvtt) front" is also used as "bvtt front".
  const forms = (term: string): string[] => [term.replace(/ \(.*?\)/, ""), term.replace(/^.*\((.*?)\)/, "$1")];
  const unused = terms
    .flatMap((cell) => cell.split(", "))
    .filter((term) => !forms(term).some((form) => all.includes(squashed(form))));
  expect(unused).toEqual([]);
});

test("the code has each older name that the glossary maps to a term", () => {
  const all = texts
    .filter(({ path }) => /^(server|shared|client)\//.test(path) && !path.endsWith(".md"))
    .map(({ text }) => text)
    .join("\n");
  const names = firstCells().older.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!));
  expect(names.length).toBeGreaterThan(5);
  expect(names.filter((name) => !new RegExp(`(?<![\\w])${name}(?![\\w])`).test(all))).toEqual([]);
});

/** A word in singular, so that `heldBodies` has the words of "held body". */
const singular = (word: string): string => word.replace(/ies$/, "y").replace(/(?<=[^s]{3})s$/, "");

test("a name in the code, not only its comments, has a word of each term", () => {
  const names = sources.flatMap(({ path, text }) => [
    posix.basename(path, ".ts"),
    ...text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "").match(/[A-Za-z_$][\w$]*/g)!,
  ]);
  const used = new Set([...new Set(names)].flatMap((name) => [name.toLowerCase(), ...wordsOf(name)]).map(singular));
  const { terms } = firstCells();
  const missing = terms
    .flatMap((cell) => cell.split(", "))
    .filter(
      (term) => !used.has(squashed(term)) && !wordsOf(term).some((word) => word.length > 2 && used.has(singular(word))),
    );
  expect(missing).toEqual([]);
});
