/**
 * Who this visitor is to the others: a name and a colour, invented at the first visit and remembered in this browser.
 */
import { Limits } from "../../shared/protocol.ts";

export interface Profile {
  name: string;
  color: string;
}

/** Told apart on light and dark grounds. */
export const PALETTE = [
  "#e4572e",
  "#2f7dd1",
  "#2a9d5c",
  "#8e5bd0",
  "#d9901a",
  "#d1477a",
  "#14939c",
  "#6b7f2a",
] as const;

const ADJECTIVES = [
  "Amber",
  "Brave",
  "Calm",
  "Dapper",
  "Eager",
  "Fuzzy",
  "Gentle",
  "Jolly",
  "Lucky",
  "Mellow",
  "Nimble",
  "Quiet",
  "Rosy",
  "Snug",
  "Sunny",
  "Witty",
];
const ANIMALS = [
  "Otter",
  "Finch",
  "Badger",
  "Gecko",
  "Heron",
  "Koala",
  "Lynx",
  "Marten",
  "Newt",
  "Panda",
  "Robin",
  "Seal",
  "Tapir",
  "Vole",
  "Wren",
  "Yak",
];
const KEY = "pliant.identity";

function pick<T>(list: readonly T[]): T {
  return list[Math.floor(Math.random() * list.length)]!;
}

/** Trims a typed name to what the server takes. */
export function tidyName(name: string): string {
  return [...name.replace(/\s+/g, " ").trim()].slice(0, Limits.nameLength).join("");
}

/** Private windows may refuse storage; then the profile lives as long as the page. */
export function loadProfile(): Profile {
  const fresh = { name: `${pick(ADJECTIVES)} ${pick(ANIMALS)}`, color: pick(PALETTE) };
  try {
    const stored = JSON.parse(localStorage.getItem(KEY) ?? "null") as Partial<Profile> | null;
    if (stored && typeof stored.name === "string" && /^#[0-9a-f]{6}$/i.test(String(stored.color))) {
      return { name: tidyName(stored.name) || fresh.name, color: stored.color! };
    }
  } catch {
    return fresh;
  }
  saveProfile(fresh);
  return fresh;
}

export function saveProfile(profile: Profile): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(profile));
  } catch {
    // Refused storage: see above.
  }
}
