/** Names and colors: a visitor's input fits the server's rules, and labels are readable on every color. */
import { expect, test } from "vitest";
import { ciede2000, EYES, labOf, noticed } from "../colorDifference.ts";
import { freeColor, lookOf, MEMBER_COLORS, PALETTE } from "../../../../shared/members/memberColors.ts";
import { COLOR_NAMES, distinctFrom, initials, tidyName } from "../../../../client/ui/room/profile.ts";
import { contrast, inkOn } from "../../../../client/view/ink.ts";
import { KEYS } from "../../../../client/input/keyboard.ts";
import { cleanColor, cleanName } from "../../../../server/rooms/inputs/requestRanges.ts";
import { Limits } from "../../../../shared/protocol/protocol.ts";

test("the server keeps a tidied name unchanged", () => {
  for (const typed of ["  Ada   Lovelace ", "x".repeat(80), "Ωmega ☃", "a\n\tb"]) {
    const name = tidyName(typed);
    expect([...name].length).toBeLessThanOrEqual(Limits.nameLength);
    expect(cleanName(name)).toBe(name);
  }
  expect(tidyName("   ")).toBe("");
});

test("the server accepts every color of the palette", () => {
  for (const color of PALETTE) expect(cleanColor(color)).toBe(color);
});

test("ink on light colors is dark, on dark ones white", () => {
  expect(inkOn("#ffffff")).toBe("#1c1917");
  expect(inkOn("#ffe08a")).toBe("#1c1917");
  expect(inkOn("#000000")).toBe("#ffffff");
  expect(inkOn("#0072b2")).toBe("#ffffff");
  for (const color of PALETTE) expect(contrast(inkOn(color), color), color).toBeGreaterThanOrEqual(4.5);
});

/** The published pairs of Sharma, Wu and Dalal 2005, table 1, which test each branch of the formula. */
test.each([
  [[50, 2.6772, -79.7751], [50, 0, -82.7485], 2.0425],
  [[50, -1, 2], [50, 0, 0], 2.3669],
  [[50, -0.001, 2.49], [50, 0.0011, -2.49], 4.7461],
  [[50, 2.49, -0.001], [50, -2.49, 0.0011], 7.2195],
  [[50, 2.5, 0], [73, 25, -18], 27.1492],
  [[60.2574, -34.0099, 36.2677], [60.4626, -34.1751, 39.4387], 1.2644],
  [[22.7233, 20.0904, -46.694], [23.0331, 14.973, -42.5619], 2.0373],
  [[2.0776, 0.0795, -1.135], [0.9033, -0.0636, -0.5514], 0.9082],
] as const)("CIEDE2000 of %j and %j is %d", (one, other, expected) => {
  expect(ciede2000(one, other)).toBeCloseTo(expected, 4);
});

/** A cursor is 16 CSS pixels wide; one is 1/96 inch at 28 inches. */
const CURSOR_DEGREES = 16 * 0.0213;

test.each(Object.entries(EYES))("the colors differ for eyes with %s", (_, eyes) => {
  const seen = PALETTE.map((color) => ({ name: COLOR_NAMES[color], lab: labOf(color, eyes) }));
  for (const [i, one] of seen.entries())
    for (const other of seen.slice(0, i)) {
      const pair = `${one.name}, ${other.name}`;
      // Three of four viewers distinguish two cursors (the model is linear in their share). Any observer sees a
      // difference of 5 as two colors (Mokrzycki and Tatol 2011). The test requires twice that, for cursors far apart
      // in a picture.
      expect(noticed(one.lab, other.lab, CURSOR_DEGREES), pair).toBeGreaterThan(1.5);
      expect(ciede2000(one.lab, other.lab), pair).toBeGreaterThan(10);
    }
});

test("a later member gets an unused color, and another name", () => {
  const [first, second, third] = PALETTE;
  const ada = { name: "Ada", color: first! };
  expect(distinctFrom(ada, [], [{ name: "Ada", color: first! }])).toBeUndefined();
  expect(distinctFrom(ada, [{ name: "Ben", color: second! }], [{ name: "Ben", color: second! }])).toBeUndefined();
  const there = [
    { name: "Ada", color: first! },
    { name: "Ben", color: second! },
    { name: "Ada 2", color: "#123456" },
  ];
  expect(distinctFrom(ada, there.slice(0, 1), there)).toEqual({ name: "Ada 2", color: third });
  expect(distinctFrom(ada, there, there)).toEqual({ name: "Ada 3", color: third });
  const singles = PALETTE.map((color, n) => ({ name: `Member ${n}`, color }));
  const beside = lookOf(distinctFrom(ada, singles, singles)!.color);
  expect(beside.second).not.toBe(beside.first);
  // More members than colors: no member changes without a gain.
  const all = MEMBER_COLORS.map((color, n) => ({ name: `Member ${n}`, color }));
  expect(distinctFrom(ada, all, all)).toBeUndefined();
  const long = { name: "x".repeat(Limits.nameLength), color: first! };
  expect([...distinctFrom(long, [long], [long])!.name].length).toBe(Limits.nameLength);
});

/** Size of a full room by default (PLIANT_MAX_MEMBERS). */
const FULL = 64;

test.each([30, FULL])("%d members who join at once agree: no two have the same name, or look alike", (count) => {
  for (const same of [true, false]) {
    const people = Array.from({ length: count }, (_, n) => ({
      name: "Ada",
      color: PALETTE[same ? 0 : n % PALETTE.length]! as string,
    }));
    let rounds = 0;
    for (let changes = 1; changes > 0; rounds++) {
      changes = 0;
      // Each decides on the same messages, before any of them has changed.
      const told = people.map((person) => ({ ...person }));
      for (const [at, person] of people.entries()) {
        const others = told.filter((_, other) => other !== at);
        const next = distinctFrom(person, told.slice(0, at), others);
        if (!next) continue;
        changes++;
        Object.assign(person, next);
      }
      expect(rounds).toBeLessThan(people.length);
    }
    expect(new Set(people.map(({ name }) => name)).size).toBe(count);
    const looks = people.map(({ color }) => lookOf(color));
    expect(new Set(looks.map(({ first, second }) => `${first} in ${second}`)).size).toBe(count);
    // Single colors are assigned first.
    const single = looks.filter(({ first, second }) => first === second);
    expect(single).toHaveLength(PALETTE.length);
  }
});

test("a full room has enough different looks; a pair is sent as its first color and reconstructed", () => {
  expect(MEMBER_COLORS).toHaveLength(FULL);
  const known: readonly string[] = PALETTE;
  const looks = MEMBER_COLORS.map(lookOf);
  expect(new Set(looks.map(({ first, second }) => first + second)).size).toBe(FULL);
  for (const [at, color] of MEMBER_COLORS.entries()) {
    expect(cleanColor(color)).toBe(color);
    const { first, second } = looks[at]!;
    expect(known).toEqual(expect.arrayContaining([first, second]));
    // A client without pairs draws a color that viewers cannot distinguish from the first: only trained observers
    // notice less than 2 (Mokrzycki and Tatol 2011).
    expect(ciede2000(labOf(color, EYES.normal), labOf(first, EYES.normal)), color).toBeLessThan(2);
  }
  expect(lookOf("#123456")).toEqual({ first: "#123456", second: "#123456" });
});

test("a member without a color gets an unused one, as long as there is one", () => {
  const taken: string[] = [];
  for (let n = 0; n < FULL; n++) taken.push(freeColor(taken));
  expect(new Set(taken).size).toBe(FULL);
  expect(freeColor(taken.filter((color) => color !== taken[7]))).toBe(taken[7]);
  expect(MEMBER_COLORS).toContain(freeColor(taken));
});

test("initials are those of the first two words, or include the number that makes a name unique", () => {
  expect(initials("Snug Vole")).toBe("SV");
  expect(initials("ada")).toBe("A");
  expect(initials("Ωmega de la Rue")).toBe("ΩD");
  expect(initials("")).toBe("");
  // A second Snug Vole has the number in its name.
  expect(initials("Snug Vole 2")).toBe("S2");
  expect(initials("Snug Vole 12")).toBe("S12");
});

test("keys are single and lower case, and no two commands share one", () => {
  for (const key of Object.keys(KEYS)) expect(key).toBe(key.toLowerCase());
  expect(new Set(Object.values(KEYS)).size).toBe(Object.keys(KEYS).length);
});
