/** Names and colours: what a visitor types fits what the server takes, and labels can be read on every colour. */
import { expect, test } from "vitest";
import { distinctFrom, initials, PALETTE, tidyName } from "../../../client/ui/profile.ts";
import { contrast, inkOn } from "../../../client/view/ink.ts";
import { KEYS } from "../../../client/input/keyboard.ts";
import { cleanColor, cleanName } from "../../../server/rooms/clientMessages.ts";
import { Limits } from "../../../shared/protocol.ts";

test("a tidied name is one that the server keeps as it is", () => {
  for (const typed of ["  Ada   Lovelace ", "x".repeat(80), "Ωmega ☃", "a\n\tb"]) {
    const name = tidyName(typed);
    expect([...name].length).toBeLessThanOrEqual(Limits.nameLength);
    expect(cleanName(name)).toBe(name);
  }
  expect(tidyName("   ")).toBe("");
});

test("every colour of the palette is one that the server takes", () => {
  for (const { color } of PALETTE) expect(cleanColor(color)).toBe(color);
});

test("ink on light colours is dark, on dark ones white", () => {
  expect(inkOn("#ffffff")).toBe("#1c1917");
  expect(inkOn("#ffe08a")).toBe("#1c1917");
  expect(inkOn("#000000")).toBe("#ffffff");
  expect(inkOn("#0072b2")).toBe("#ffffff");
  for (const { color } of PALETTE) expect(contrast(inkOn(color), color), color).toBeGreaterThanOrEqual(4.5);
});

/** Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB. */
const SEEN = {
  normal: [1, 0, 0, 0, 1, 0, 0, 0, 1],
  protanopia: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  deuteranopia: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
  tritanopia: [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
};

/** CIELAB (D65) of a colour as such eyes see it. */
function lab(color: string, eyes: readonly number[]): number[] {
  const linear = [1, 3, 5].map((at) => {
    const value = parseInt(color.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  const by = (m: readonly number[], v: readonly number[]): number[] =>
    [0, 3, 6].map((row) => m[row]! * v[0]! + m[row + 1]! * v[1]! + m[row + 2]! * v[2]!);
  const rgb = by(eyes, linear).map((x) => Math.min(1, Math.max(0, x)));
  const xyz = by(
    [0.4124564, 0.3575761, 0.1804375, 0.2126729, 0.7151522, 0.072175, 0.0193339, 0.119192, 0.9503041],
    rgb,
  );
  const f = (t: number): number => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
  const [x, y, z] = [f(xyz[0]! / 0.95047), f(xyz[1]!), f(xyz[2]! / 1.08883)];
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

test.each(Object.entries(SEEN))("the colours differ for eyes with %s", (_, eyes) => {
  const seen = PALETTE.map(({ color }) => lab(color, eyes));
  // Some 2.3 can just be told side by side (Mahy et al. 1994): several times that at two places of a picture.
  for (const [i, a] of seen.entries())
    for (const b of seen.slice(0, i)) expect(Math.hypot(...a.map((x, k) => x - b[k]!))).toBeGreaterThan(15);
});

test("who comes later gets a colour that nobody has, and another name", () => {
  const [first, second, third] = PALETTE.map(({ color }) => color);
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
  const all = PALETTE.map(({ color }, n) => ({ name: `Member ${n}`, color }));
  expect(distinctFrom(ada, all, all)).toBeUndefined();
  const long = { name: "x".repeat(Limits.nameLength), color: first! };
  expect([...distinctFrom(long, [long], [long])!.name].length).toBe(Limits.nameLength);
});

test("initials are of the first two words", () => {
  expect(initials("Snug Vole")).toBe("SV");
  expect(initials("ada")).toBe("A");
  expect(initials("Ωmega de la Rue")).toBe("ΩD");
});

test("keys are single and lower case, and no command has two", () => {
  for (const key of Object.keys(KEYS)) expect(key).toBe(key.toLowerCase());
  expect(new Set(Object.values(KEYS)).size).toBe(Object.keys(KEYS).length);
});
