/** Names without invisible characters, in one form. */
import { expect, test } from "vitest";
import { visibleText } from "../../../shared/members/visibleText.ts";

test.each([
  ["a Hangul filler", "\u3164", ""],
  ["other fillers", "\u115F\u1160\uFFA0", ""],
  ["zero-width characters, joiners and marks of direction", "A\u200B\u200C\u200D\u2060\uFEFF\u202Ed\u2066a", "Ada"],
  ["a soft hyphen and a grapheme joiner", "A\u00ADd\u034Fa", "Ada"],
  ["variation selectors and tags", "A\uFE0Fd\u{E0100}a\u{E0041}", "Ada"],
  ["letters without a shape", "A\u{1D159}d\u{16FE4}a", "Ada"],
  ["controls", "A\u0000d\u0085a\u007F", "Ada"],
  ["private, unassigned and surrogate code points", "A\uE000d\u{10FFFE}a\uD800", "Ada"],
  ["patterns without dots", "\u2800Ada\u2800\u2800L", "Ada L"],
  ["spaces of all widths, lines and tabs", "\u00A0Ada\u2003\u3000\u2028L\n\tM ", "Ada L M"],
  ["marks without a letter", "\u0301Ada \u0301L", "Ada L"],
  ["a tower of marks", `A${"\u0321\u0337\u0489".repeat(20)}da`, "A\u0337\u0321\u0489da"],
  ["compatibility forms", "\uFF21\u{1D41D}\u{1D41A} \uFB03 \u2163", "Ada ffi IV"],
  ["composition", "Zoe\u0308", "Zo\u00EB"],
])("%s", (_title, given, expected) => {
  expect(visibleText(given)).toBe(expected);
});

test("names in many scripts and emoji stay", () => {
  for (const name of [
    "Zoë",
    "محمد",
    "Ольга",
    "李小龍",
    "김철수",
    "ประยุทธ์",
    "नरेन्द्र",
    "Nguyễn Thị",
    "O’Brien-Łuk",
    "👩",
    "🧵#1",
  ])
    expect(visibleText(name)).toBe(name.normalize("NFKC"));
});
