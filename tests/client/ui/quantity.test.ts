/** Input on the materials page is read as intended, or rejected. */
import { expect, test } from "vitest";
import { LENGTHS, millimeters, parse, pascals, quantity, typed } from "../../../client/ui/materials/quantity.ts";

test.each([
  ["1500", 1500],
  [" 1.5 ", 1.5],
  ["1,5", 1.5],
  ["0,125", 0.125],
  [".5", 0.5],
  ["2e6", 2e6],
  ["2,1E11", 2.1e11],
  ["1e-3", 1e-3],
  ["-3", -3],
])("%s is %d", (text, value) => expect(parse(text)).toBe(value));

// Ten, or ten thousand: the input is ambiguous.
test.each(["10,000", "1,000,000", "", "jelly", "1.2.3", "1e", "0x10", "Infinity", "NaN", "1 000", "3 cm", "--1"])(
  "%j is not a number",
  (text) => expect(parse(text)).toBeUndefined(),
);

test.each([0.02, 15e3, 1.5e6, 2.1e11, 1e-5, 123456, 7850])("%d is formatted so that it is read back", (value) =>
  expect(parse(typed(value))).toBe(value),
);

test("units fit their numbers", () => {
  expect([99, 15e3, 1.5e6, 210e9, 1e13].map(pascals)).toEqual([
    "99\u00a0Pa",
    "15\u00a0kPa",
    "1.5\u00a0MPa",
    "210\u00a0GPa",
    "10\u00a0TPa",
  ]);
  expect([9.1705e-3, 6.3, 1e-9].map(millimeters)).toEqual(["9.17\u00a0mm", "6,300\u00a0mm", "< 0.001\u00a0mm"]);
  expect(quantity(0.1, LENGTHS.cm)).toBe("10\u00a0cm");
});
