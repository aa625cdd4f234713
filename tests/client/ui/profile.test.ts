/** Names and colours: what a visitor types fits what the server takes, and labels can be read on every colour. */
import { expect, test } from "vitest";
import { PALETTE, tidyName } from "../../../client/ui/profile.ts";
import { inkOn } from "../../../client/view/labelSprite.ts";
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
  for (const color of PALETTE) expect(cleanColor(color)).toBe(color);
});

test("ink on light colours is dark, on dark ones white", () => {
  expect(inkOn("#ffffff")).toBe("#1c1917");
  expect(inkOn("#ffe08a")).toBe("#1c1917");
  expect(inkOn("#000000")).toBe("#ffffff");
  expect(inkOn("#2f7dd1")).toBe("#ffffff");
});

test("keys are single and lower case, and no command has two", () => {
  for (const key of Object.keys(KEYS)) expect(key).toBe(key.toLowerCase());
  expect(new Set(Object.values(KEYS)).size).toBe(Object.keys(KEYS).length);
});
