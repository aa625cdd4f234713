/** The catalogue of texts: every language is complete, and every text of the pages is in it. */
import { readdirSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { parseAst } from "vite";
import { afterEach, describe, expect, test } from "vitest";
import { answerError } from "../../client/sdk/connection/roomRequests.ts";
import { type Catalog, english } from "../../client/text/english.ts";
import { problemDetail, problemText } from "../../client/text/problem.ts";
import {
  type Language,
  languageOf,
  LANGUAGES,
  load,
  speak,
  t,
  type TextKey,
  textOfCode,
} from "../../client/text/text.ts";
import { BODY_NOTES, FILE_NOTES, REFUSALS, SURFACE_NOTES } from "../../shared/scene/objectCodes.ts";

const languages = Object.keys(LANGUAGES) as Language[];
const keys = Object.keys(english) as TextKey[];
const forms = (entry: Catalog[TextKey]): [category: string, text: string][] =>
  typeof entry === "string" ? [["other", entry]] : Object.entries(entry);
const placesOf = (text: string): string[] => [...new Set(text.match(/\{\w+\}/g) ?? [])].sort();
/** Integers of a plural category: a form for a single number may omit the number. */
const numbersOf = (language: string, category: string): number[] =>
  Array.from({ length: 1001 }, (_, n) => n).filter((n) => new Intl.PluralRules(language).select(n) === category);

afterEach(() => speak("en", english));

describe.each(languages)("%s", (language) => {
  test("has every text, with the placeholders of the English one", async () => {
    const catalog = await load[language]();
    expect(Object.keys(catalog).sort()).toEqual([...keys].sort());
    for (const key of keys) {
      const english_ = english[key];
      const wanted = placesOf(forms(english_).find(([category]) => category === "other")![1]);
      for (const [category, text] of forms(catalog[key])) {
        expect(text.trim(), key).not.toBe("");
        const missing = wanted.filter((place) => !placesOf(text).includes(place));
        const known = typeof english_ !== "string" && numbersOf(language, category).length === 1 ? ["{count}"] : [];
        expect(
          missing.filter((place) => !known.includes(place)),
          `${key}, ${category}`,
        ).toEqual([]);
        expect(
          placesOf(text).filter((place) => !wanted.includes(place) && place !== "{count}"),
          key,
        ).toEqual([]);
      }
    }
  });

  test("says what to do about a problem as the English text does", async () => {
    const catalog = await load[language]();
    const problems = keys.filter((key) => /^(error[A-Z]|notice|refused)/.test(key));
    const lengths = (texts: Catalog) =>
      problems.map((key) => [key, String(texts[key]).match(/[.!?؟](?=\s|$)/gu)?.length ?? 0]);
    expect(problems.length).toBeGreaterThan(50);
    expect(lengths(catalog)).toEqual(lengths(english));
  });

  test("has every plural form of its grammar, and no other", async () => {
    const catalog = await load[language]();
    const categories = [...new Intl.PluralRules(language).resolvedOptions().pluralCategories].sort();
    const plurals = keys.filter((key) => typeof english[key] !== "string");
    expect(plurals.length).toBeGreaterThan(5);
    for (const key of plurals) expect(Object.keys(catalog[key]).sort(), key).toEqual(categories);
  });

  test("is not English", async () => {
    const catalog = await load[language]();
    const alike = keys.filter((key) => JSON.stringify(catalog[key]) === JSON.stringify(english[key]));
    expect(alike.length / keys.length)[language === "en" ? "toBe" : "toBeLessThan"](language === "en" ? 1 : 0.08);
  });
});

test.each(languages)("%s explains why a file is refused, and which parts of it were ignored", async (language) => {
  speak(language, await load[language]());
  for (const reason of REFUSALS) {
    const error = answerError(422, { code: "OBJECT_REFUSED", message: "where is 3, at most 2 are allowed", reason });
    expect(problemText(error), reason).toBe((await load[language]())[`refused${reason}`]);
    expect(problemDetail(error)).toBe("where is 3, at most 2 are allowed");
  }
  for (const code of [...FILE_NOTES, ...SURFACE_NOTES, ...BODY_NOTES])
    expect(textOfCode("note", code), code).toBeDefined();
  // An unknown reason of a later server is shown in the server's words; without a reason, the general text.
  expect(problemText(answerError(422, { code: "OBJECT_REFUSED", message: "in words", reason: "LATER" }))).toBe(
    "in words",
  );
  expect(problemText(answerError(503, { code: "ROOM_LIMIT" }))).toBe((await load[language]()).errorROOM_LIMIT);
  expect(problemDetail(answerError(503, { code: "ROOM_LIMIT" }))).toBeUndefined();
});

test("a count selects its plural form", async () => {
  expect([0, 1, 2].map((count) => t("people", { count }))).toEqual(["0 people", "1 person", "2 people"]);
  speak("ar", await load.ar());
  expect([0, 1, 2, 3, 11, 100].map((count) => t("people", { count }))).toEqual([
    "لا أحد",
    "شخص واحد",
    "شخصان",
    "3 أشخاص",
    "11 شخصًا",
    "100 شخص",
  ]);
});

test("the address sets the language, then the browser's list, then English", () => {
  expect(languageOf("de", ["es"])).toBe("de");
  expect(languageOf("tlh", ["fr-FR", "es-MX", "de"])).toBe("es");
  expect(languageOf(null, ["AR-eg"])).toBe("ar");
  expect(languageOf(null, ["fr"])).toBe("en");
  expect(languageOf("constructor", [])).toBe("en");
});

/** A node of a syntax tree. */
interface Node {
  type: string;
  [property: string]: unknown;
}

const isNode = (value: unknown): value is Node => typeof (value as Node | null)?.type === "string";
const childrenOf = (node: Node): Node[] => Object.values(node).flat().filter(isNode);

/** Attributes whose values users read. */
const READ = /^(title|alt|placeholder|label|aria-(label|valuetext|description|roledescription))$/;
/** Properties and calls that display their value or arguments. */
const SHOWN = /^(textContent|title|innerText|placeholder|ariaLabel|alt)$/;
const SHOWS = /^(show|say|setLoading|setTitle|alert|confirm)$/;
const LETTERS = /\p{L}{2}/u;
/** Names and units are the same in every language. */
const NAMES = /^(Pliant|kbit\/s|json|fps|ms|kB|MB|B|min|h|s)$/;

const nameOf = (node: unknown): string => {
  const { name, value } = (node ?? {}) as { name?: string; value?: unknown };
  return name ?? String(value ?? "");
};
const words = (text: string): string[] => text.split(/[^\p{L}/]+/u).filter((word) => LETTERS.test(word));
const isText = (text: string): boolean => words(text).some((word) => !NAMES.test(word));

/** Texts that an expression may evaluate to. */
function literals(node: Node): string[] {
  if (node.type === "Literal") return typeof node.value === "string" ? [node.value] : [];
  if (node.type === "TemplateLiteral")
    return [
      ...(node.quasis as { value: { cooked: string } }[]).map(({ value }) => value.cooked),
      ...(node.expressions as Node[]).flatMap(literals),
    ];
  if (node.type === "ConditionalExpression") return [node.consequent, node.alternate].filter(isNode).flatMap(literals);
  if (/^(Logical|Binary)Expression$/.test(node.type)) return [node.left, node.right].filter(isNode).flatMap(literals);
  return [];
}

/** Texts that a page displays without the catalogue. */
function shownBy(node: Node): string[] {
  if (node.type === "CallExpression") {
    const callee = node.callee as Node;
    const args = node.arguments as Node[];
    const called = nameOf(callee.type === "MemberExpression" ? callee.property : callee);
    if (called === "h") return args.slice(2).flatMap(literals);
    if (SHOWS.test(called)) return args.flatMap(literals);
    if (called === "setAttribute" && READ.test(nameOf(args[0]))) return args.slice(1).flatMap(literals);
  }
  if (node.type === "Property" && READ.test(nameOf(node.key))) return literals(node.value as Node);
  if (node.type === "AssignmentExpression" && SHOWN.test(nameOf((node.left as Node).property)))
    return literals(node.right as Node);
  return [];
}

/** Whole sentences anywhere else: they would be displayed sooner or later. */
function sentences(node: Node): string[] {
  if (node.type === "ThrowStatement") return [];
  if (node.type === "TaggedTemplateExpression") return [];
  const own = literals(node).filter((text) => /^\p{Lu}\p{Ll}+ \p{L}+/u.test(text) || /\p{L} \p{L}+[.…?!]$/u.test(text));
  return [...own, ...childrenOf(node).flatMap(sentences)];
}

function all(node: Node, look: (node: Node) => string[]): string[] {
  return [...look(node), ...childrenOf(node).flatMap((child) => all(child, look))];
}

const parse = (source: string): Node => parseAst(stripTypeScriptTypes(source)) as unknown as Node;

test("the search finds samples of displayed texts", () => {
  const found = (source: string): string[] => all(parse(source), shownBy).filter(isText);
  expect(found(`h("p", {}, open ? "Room open" : text)`)).toEqual(["Room open"]);
  expect(found(`h("p", { class: "big room", title: "Go" }, t("join"))`)).toEqual(["Go"]);
  expect(found(`shell.say(name + " holds")`)).toEqual([" holds"]);
  expect(found(`this.button.textContent = sure ? "Dispose" : x`)).toEqual(["Dispose"]);
  expect(found(`h("b", {}, n + " ms", "Pliant")`)).toEqual([]);
  expect(sentences(parse(`const WHY = { full: "This room is full." };`))).toContain("This room is full.");
  expect(sentences(parse(`throw new Error("This is for developers.");`))).toEqual([]);
});

test("every text of the pages is in the catalogue", () => {
  const files = readdirSync("client", { recursive: true, encoding: "utf8" }).filter(
    (path) => /\.ts$/.test(path) && !/^(text|sdk)\//.test(path) && !/Hook\.ts$/.test(path),
  );
  expect(files.length).toBeGreaterThan(60);
  const found = files.flatMap((path) => {
    const tree = parse(readFileSync(`client/${path}`, "utf8"));
    const texts = [...all(tree, shownBy).filter(isText), ...new Set(sentences(tree))];
    return texts.map((text) => `${path}: ${text}`);
  });
  expect(found).toEqual([]);
});

test("every text of the catalogue is shown somewhere", () => {
  const sources = readdirSync("client", { recursive: true, encoding: "utf8" })
    .filter((path) => /\.ts$/.test(path) && !/^text\//.test(path))
    .map((path) => readFileSync(`client/${path}`, "utf8"))
    .join("\n");
  // Keys built from a code, a page's name, or a field with a slider.
  const built = (key: string): boolean =>
    /^(error|notice|refused|note)[A-Z_]+$/.test(key) ||
    sources.includes(`"${key.replace(/(Title|Text)$/, "")}"`) ||
    sources.includes(`  ${key}: { unit: `);
  expect(keys.filter((key) => !sources.includes(`"${key}"`) && !built(key))).toEqual([]);
});
