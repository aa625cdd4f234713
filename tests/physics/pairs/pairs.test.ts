/**
 * The matrix of pairs: every kind of body meets every kind in every act and obeys the act's laws, except in the cells
 * that red.json lists. A green cell that becomes red fails, and so does a listed one that becomes green.
 */
import { describe, expect, test } from "vitest";
import { inLong } from "../../support/run/long.ts";
import { ACTS } from "./acts.ts";
import { difference, isKnownRefused, strangers, type Known } from "./known.ts";
import { CELLS, missOf, nameOf, play, sampleOf, type Cell } from "./matrix.ts";

/** A cell of ten seconds of CPU. The sample has another one of its act, and the pair in two other acts. */
const DEAR: Cell = { act: "stack 100:1", a: "finite elements", b: "compliant solid" };
const PLAYED = inLong(
  CELLS,
  sampleOf(48, isKnownRefused).filter((cell) => nameOf(cell) !== nameOf(DEAR)),
);

test.each(Object.keys(ACTS))("%s: cells are as listed", async (act) => {
  const differences: string[] = [];
  const own = PLAYED.filter((cell) => cell.act === act);
  expect(own.length).toBeGreaterThan(0);
  for (const cell of own) {
    const found = difference(cell, await play(cell));
    if (found) differences.push(found);
  }
  expect(differences).toEqual([]);
});

test.each<Cell>([
  // thousands of sweeps rounded the motion of soft particles to float32: up to 3e-3 of the momentum was lost
  { act: "slide", a: "compliant solid", b: "rigid box" },
  { act: "slide", a: "rigid box", b: "compliant solid" },
  { act: "attachment", a: "compliant solid", b: "rigid box" },
  // sweeps of its own constraints turned the shell: it crept at 0.6 to 1.7 mm/s, and gained 1.5 of its energy
  { act: "rest", a: "pressure shell", b: "pressure shell" },
  { act: "attachment", a: "pressure shell", b: "pressure shell" },
  { act: "wind", a: "pressure shell", b: "triangles" },
  // the floor did not carry cloth while the box was pushed out of it: the box crept at 0.7 mm/s, or flew up by 0.1 m
  { act: "stack 10:1", a: "rigid box", b: "prefactored cloth" },
  { act: "exact start", a: "rigid box", b: "compliant cloth" },
  // a heavy ball kept its distance from light corners, and bounced on them by 2 mm for ever
  { act: "stack 10:1", a: "ball", b: "compliant solid" },
  // a ball's contacts with boxes were not solved with those on the floor: the box sank into it by 25 mm
  { act: "stack 100:1", a: "rigid box", b: "ball" },
  // light corners were deformed instead of moved: 0.2 m/s
  { act: "exact start, side by side", a: "compliant solid", b: "ball" },
  // colliders carried a ball only after what lies on it was solved: it rolled away under cloth at 2 mm/s
  { act: "rest", a: "compliant cloth", b: "ball" },
  // the implicit step of a deformed body lost angular momentum: 1e-3
  { act: "off-centre", a: "rigid box", b: "finite elements" },
])("$act: $a / $b holds", async (cell) => expect(missOf(await play(cell))).toBeLessThanOrEqual(1));

test("all listed cells exist", () => expect(strangers(CELLS)).toEqual([]));

describe("the comparison with the list", () => {
  const cell: Cell = { act: "rest", a: "rigid box", b: "ball" };
  const creep = (value: number) => ({ measures: [{ law: "creep", value, limit: 1e-4, unit: "m/s" }] });
  const empty: Known = { refused: [], red: {} };
  const listed: Known = {
    refused: [],
    red: { rest: { "rigid box / ball": { law: "creep", value: 3e-4, limit: 1e-4 } } },
  };
  const refused: Known = { refused: ["ball / rigid box"], red: {} };
  test.each([
    ["green, not listed", creep(5e-5), empty, undefined],
    ["red, not listed", creep(2e-4), empty, /became red: creep 0.0002/],
    ["not a number, not listed", creep(NaN), empty, /became red/],
    ["red, listed", creep(4e-4), listed, undefined],
    ["green, listed", creep(1e-4), listed, /became green/],
    ["more than twice the listed value", creep(7e-4), listed, /became worse/],
    ["refused, not listed", { refused: "/bodies" }, empty, /is refused/],
    ["refused, listed as refused", { refused: "/bodies" }, refused, undefined],
    ["allowed, listed as refused", creep(0), refused, /no longer refused/],
  ] as const)("%s", (_, outcome, list, expected) => {
    const found = difference(cell, outcome as Parameters<typeof difference>[1], list);
    if (expected) expect(found).toMatch(expected);
    else expect(found).toBeUndefined();
  });
});
