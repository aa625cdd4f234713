/**
 * Who this visitor is to the others: a name and a colour, invented at the first visit and remembered in this browser.
 */
import { Limits } from "../../shared/protocol/protocol.ts";

export interface Profile {
  name: string;
  color: string;
}

/**
 * Told apart by colour-blind people, too: Okabe and Ito's palette (2008, https://jfly.uni-koeln.de/color/) with violet
 * for its black.
 */
export const PALETTE = [
  { name: "colorVermilion", color: "#d55e00" },
  { name: "colorBlue", color: "#0072b2" },
  { name: "colorGreen", color: "#009e73" },
  { name: "colorViolet", color: "#4b2a7b" },
  { name: "colorOrange", color: "#e69f00" },
  { name: "colorPink", color: "#cc79a7" },
  { name: "colorSkyBlue", color: "#56b4e9" },
  { name: "colorYellow", color: "#f0e442" },
] as const;

/** The first letters of a name's first two words; where a number tells it from the same name, that is the second. */
export function initials(name: string): string {
  const words = name.split(" ").filter((word) => word !== "");
  const first = (word = ""): string => [...word][0] ?? "";
  const number = words.slice(2).find((word) => /^\d{1,2}$/.test(word));
  return (first(words[0]) + (number ?? first(words[1]))).toUpperCase();
}

/**
 * A color that nobody has, while there is one; then one of those that fewest have, so that of thirty people each shares
 * its own with two or three. Where all are taken, one more than the fewest is left as it is: a class that comes in does
 * not change its colors with everybody who comes.
 */
function colorBeside(own: string, earlier: readonly Profile[], everybody: readonly Profile[]): string {
  const having = (wanted: string, people: readonly Profile[]): number =>
    people.filter(({ color }) => color === wanted).length;
  const least = Math.min(...PALETTE.map(({ color }) => having(color, earlier)));
  if (having(own, earlier) <= (least === 0 ? 0 : least + 1)) return own;
  const few = PALETTE.filter(({ color }) => having(color, earlier) === least);
  return (few.find(({ color }) => having(color, everybody) === 0) ?? few[0]!).color;
}

/**
 * Who comes later gives way: a color that somebody who was there before has becomes another one, and a name gets a
 * number (a second tab is a second person). Not remembered.
 * @returns what to change; undefined: nothing
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

/** Trims a typed name to what the server takes. */
export function tidyName(name: string): string {
  return [...name.replace(/\s+/g, " ").trim()].slice(0, Limits.nameLength).join("");
}

/** Somebody new, invented. @param before whose name it is not */
export function freshProfile(before = ""): Profile {
  const name = `${pick(ADJECTIVES)} ${pick(ANIMALS)}`;
  return name === before ? freshProfile(before) : { name, color: pick(PALETTE).color };
}

/** Private windows may refuse storage; then the profile lives as long as the page. */
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
    // Refused storage: see above.
  }
}
