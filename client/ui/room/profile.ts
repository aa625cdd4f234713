/** This visitor's name and color for other members: random at the first visit, then kept in this browser. */
import { MEMBER_COLORS, PALETTE } from "../../../shared/members/memberColors.ts";
import { Limits } from "../../../shared/protocol/protocol.ts";

export interface Profile {
  name: string;
  color: string;
}

/** Color names for screen readers. */
export const COLOR_NAMES = {
  "#d55e00": "colorVermilion",
  "#0072b2": "colorBlue",
  "#009e73": "colorGreen",
  "#4b2a7b": "colorViolet",
  "#e69f00": "colorOrange",
  "#cc79a7": "colorPink",
  "#56b4e9": "colorSkyBlue",
  "#f0e442": "colorYellow",
} as const satisfies Record<(typeof PALETTE)[number], string>;

/** Initials of the first two words of a name; a number after two words replaces the second letter. */
export function initials(name: string): string {
  const words = name.split(" ").filter((word) => word !== "");
  const first = (word = ""): string => [...word][0] ?? "";
  const number = words.slice(2).find((word) => /^\d{1,2}$/.test(word));
  return (first(words[0]) + (number ?? first(words[1]))).toUpperCase();
}

/**
 * Returns a color that no other member has, if there is one. Members that change at the same time choose different
 * colors: the first takes the first free one, the second the next.
 */
function colorBeside(own: string, earlier: readonly Profile[], everybody: readonly Profile[]): string {
  const kept = new Set<string>();
  let before = 0;
  for (const { color } of earlier) {
    if (kept.has(color)) before++;
    kept.add(color);
  }
  // With more people than colors, some colors are shared; otherwise members would change whenever one joins.
  if (!kept.has(own) || kept.size === MEMBER_COLORS.length) return own;
  const free = MEMBER_COLORS.filter((color) => !kept.has(color));
  const unused = free.filter((color) => !everybody.some((other) => other.color === color));
  return unused[before] ?? free[before % free.length]!;
}

/**
 * Makes a profile differ from the members who joined earlier: another color if it is taken, a number after a name that
 * is taken (a second tab is a second person). The change is not stored.
 * @returns the new profile; undefined if nothing has to change
 */
export function distinctFrom(
  profile: Profile,
  earlier: readonly Profile[],
  everybody: readonly Profile[],
): Profile | undefined {
  const next = { ...profile, color: colorBeside(profile.color, earlier, everybody) };
  const base = profile.name.replace(/ \d+$/, "");
  for (let number = 2; earlier.some(({ name }) => name === next.name); number++) {
    const end = ` ${number}`;
    next.name = [...base].slice(0, Limits.nameLength - end.length).join("") + end;
  }
  return next.name === profile.name && next.color === profile.color ? undefined : next;
}

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

/** Trims a typed name to the server's limits. */
export function tidyName(name: string): string {
  return [...name.replace(/\s+/g, " ").trim()].slice(0, Limits.nameLength).join("");
}

/** Returns a random profile. @param before a name to avoid */
export function freshProfile(before = ""): Profile {
  const name = `${pick(ADJECTIVES)} ${pick(ANIMALS)}`;
  return name === before ? freshProfile(before) : { name, color: pick(PALETTE) };
}

/** Loads the profile. If the browser refuses storage, it lives as long as the page. */
export function loadProfile(): Profile {
  const fresh = freshProfile();
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
    // Storage is refused: see loadProfile.
  }
}
