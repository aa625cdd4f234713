/**
 * Figures of the physics report in their small size: all of their checks hold. `npm test -- report/figures -t fig7`
 * runs one. With TEST_LONG=1, as in `npm run test:long`, also the dear ones.
 */
import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { inLong } from "../../support/run/long.ts";
import { allowed, check, short } from "./figure.ts";
import { FIGURES } from "./index.ts";

describe("a check", () => {
  test("holds only inside of its limits and at their ends", () => {
    const limits = { unit: "m", low: 1, high: 2 };
    for (const value of [1, 1.5, 2]) expect(check("x", value, limits).pass).toBe(true);
    for (const value of [0.999, 2.001, NaN, Infinity]) expect(check("x", value, limits).pass).toBe(false);
    expect(check("x", 5, { low: 1 }).pass).toBe(true);
    expect(check("x", Infinity, { low: 1 }).pass).toBe(false);
  });

  test("without limits is refused", () => expect(() => check("x", 1, { unit: "m" })).toThrow(/low and high/));

  test("describes its limits in words", () => {
    expect(allowed({ low: 0.95, high: 1.05, unit: "" })).toBe("0.95 to 1.05");
    expect(allowed({ high: 4e-4, unit: "m" })).toBe("at most 4e-4 m");
    expect(short(0.123456)).toBe("0.1235");
    expect(short(1234567)).toBe("1.235e6");
  });
});

/** Figures that take seconds -> the test of the same subject in `npm test`. They run in `npm run test:long`. */
const DEAR: Record<string, string> = {
  fig1: "colliders/tunnel",
  fig5: "bars/uniaxial",
  fig6: "materials/recovery",
  fig8: "materials/plasticScenes",
  fig9: "materials/plasticScenes",
  fig11: "bars/uniaxial",
  // It judges by time.
  inversion: "materials/recovery",
  uniaxial: "bars/uniaxial",
  "stiff-cloth": "solvers/implicitSheets",
  stacks: "rigid/rigidStacks",
  pairs: "pairs/pairs",
  drift: "laws/precision",
  energy: "laws/energyLedger",
  methods: "methods/reference",
  "boundary-elements": "methods/boundaryElements",
};

test.each(Object.entries(DEAR))("a test has the subject of figure %s", (id, path) => {
  expect(FIGURES).toHaveProperty(id);
  expect(existsSync(new URL(`../../physics/${path}.test.ts`, import.meta.url))).toBe(true);
});

const ids = Object.keys(FIGURES);
describe.each(
  inLong(
    ids,
    ids.filter((id) => !(id in DEAR)),
  ),
)("figure %s", (id) => {
  test("its checks hold", async () => {
    const { figure } = await FIGURES[id]!();
    const result = await figure.run("small");
    expect(figure.id).toBe(id);
    expect(id).toMatch(/^[A-Za-z0-9-]+$/);
    expect(result.text.length).toBeGreaterThan(100);
    expect(result.checks.length).toBeGreaterThan(0);
    expect(
      result.checks
        .filter(({ pass }) => !pass)
        .map((c) => `${c.what}: ${short(c.value)} ${c.unit}, allowed ${allowed(c)}`),
    ).toEqual([]);
    for (const { png } of result.pictures) expect([...png.subarray(0, 4)]).toEqual([0x89, 0x50, 0x4e, 0x47]);
  });
});
