/**
 * Texts of the pages in the user's language. The catalogue is english.ts; each other language is a chunk of its own,
 * loaded only when used. The compiler reports missing keys and missing values.
 */
import type { SceneTexts } from "../../shared/scene/sceneSettings.ts";
import { type Catalog, type English, english, type Plural } from "./english.ts";

export type TextKey = keyof English;

type Places<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Places<Rest> : never;
type FormOf<Entry> = Entry extends { other: infer Other extends string } ? Other | "{count}" : Entry & string;
type Values<Key extends TextKey, Value> = {
  readonly [name in Places<FormOf<English[Key]>>]: name extends "count" ? number : Value;
};
/** A text without placeholders takes no values. */
type Given<Key extends TextKey, Value> = [Places<FormOf<English[Key]>>] extends [never] ? [] : [Values<Key, Value>];

/** Keys of texts without placeholders. */
export type PlainKey = { [key in TextKey]: [Places<FormOf<English[key]>>] extends [never] ? key : never }[TextKey];

/** Name of each language in the language itself, and its writing direction. */
export const LANGUAGES = {
  en: { name: "English", direction: "ltr" },
  de: { name: "Deutsch", direction: "ltr" },
  es: { name: "Español", direction: "ltr" },
  ar: { name: "العربية", direction: "rtl" },
} as const;
export type Language = keyof typeof LANGUAGES;

export const load: Readonly<Record<Language, () => Promise<Catalog>>> = {
  en: async () => english,
  de: async () => (await import("./german.ts")).german,
  es: async () => (await import("./spanish.ts")).spanish,
  ar: async () => (await import("./arabic.ts")).arabic,
};

let catalog: Catalog = english;
let language: Language = "en";
let plurals = new Intl.PluralRules("en");
let numbers = new Intl.NumberFormat("en");
let threeDigits = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

const isLanguage = (tag: string | null): tag is Language => tag !== null && Object.hasOwn(LANGUAGES, tag);

/**
 * @param asked language from the page's address or from earlier in this tab
 * @param preferred browser's list, best first
 */
export function languageOf(asked: string | null, preferred: readonly string[]): Language {
  if (isLanguage(asked)) return asked;
  return preferred.map((tag) => tag.split("-")[0]!.toLowerCase()).find(isLanguage) ?? "en";
}

const KEY = "pliant.language";

/**
 * Returns the language from `?lang=`, which is kept for the tab, so that it also applies in rooms opened from the
 * lobby.
 */
function askedFor(search: string): string | null {
  const asked = new URLSearchParams(search).get("lang");
  try {
    if (isLanguage(asked)) sessionStorage.setItem(KEY, asked);
    return isLanguage(asked) ? asked : sessionStorage.getItem(KEY);
  } catch {
    // The browser refuses storage: the parameter is then needed on every page.
    return asked;
  }
}

/** Sets the page's language and direction. Called once, before anything is shown. */
export async function chooseLanguage(): Promise<void> {
  const wanted = languageOf(askedFor(location.search), navigator.languages);
  try {
    speak(wanted, await load[wanted]());
  } catch (error) {
    // The chunk failed to load: a page in English is better than none.
    console.warn(error);
  }
  document.documentElement.lang = language;
  document.documentElement.dir = LANGUAGES[language].direction;
}

/** Switches all texts to this language. */
export function speak(next: Language, texts: Catalog): void {
  language = next;
  catalog = texts;
  plurals = new Intl.PluralRules(next);
  // Latin digits, as in the server's texts, in plots and in codes, so that a page has one kind of digits.
  numbers = new Intl.NumberFormat(next, { numberingSystem: "latn" });
  threeDigits = new Intl.NumberFormat(next, { numberingSystem: "latn", maximumSignificantDigits: 3 });
}

/** The texts of a scene in the page's language, if it has them; otherwise as the scene says. */
export function textsOf<T extends SceneTexts>(scene: T & { texts?: Partial<Record<string, SceneTexts>> }): SceneTexts {
  return scene.texts?.[language] ?? scene;
}

/** Formats date and time in the page's language. @param iso ISO 8601 */
export const dateText = (iso: string): string => new Date(iso).toLocaleString(`${language}-u-nu-latn`);

function patternOf(key: TextKey, values: Readonly<Record<string, unknown>>): string {
  const entry: string | Plural = catalog[key];
  if (typeof entry === "string") return entry;
  return entry[plurals.select(values.count as number)] ?? entry.other;
}

/**
 * In right-to-left text, isolates names (U+2068 ... U+2069), so that another script does not reorder the text around.
 */
function shown(value: unknown): string {
  if (typeof value === "number") return numbers.format(value);
  return LANGUAGES[language].direction === "rtl" ? `\u2068${String(value)}\u2069` : String(value);
}

export const numberText = (value: number): string => numbers.format(value);
/** Formats a measured value, with three significant digits. */
export const measuredText = (value: number): string => threeDigits.format(value);

/** Returns the text of a key, with the values in its placeholders. */
export function t<Key extends TextKey>(key: Key, ...[values]: Given<Key, string | number>): string {
  const given = (values ?? {}) as Record<string, unknown>;
  return patternOf(key, given).replace(/\{(\w+)\}/g, (_, name: string) => shown(given[name]));
}

/** Like `t`, with elements in the placeholders. */
export function tParts<Key extends TextKey>(key: Key, ...[values]: Given<Key, Node>): (Node | string)[] {
  const given = (values ?? {}) as Record<string, Node>;
  return patternOf(key, given)
    .split(/\{(\w+)\}/)
    .map((part, at) => (at % 2 === 1 ? given[part]! : part));
}

/** Returns the text of a code of the server; undefined if there is none. */
export function textOfCode(kind: "error" | "notice" | "refused" | "note", code: string): string | undefined {
  const key = `${kind}${code}`;
  return Object.hasOwn(catalog, key) ? (catalog[key as TextKey] as string) : undefined;
}
