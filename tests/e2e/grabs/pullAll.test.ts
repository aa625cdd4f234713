/** One grab pulls all cubes, or one: the switch among the tools, by mouse, keyboard and finger, on every screen. */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { expectFramed, findings, withAxe, wrong } from "../controls.ts";
import { drawn, type E2e, noBrowser, takeHold, until } from "../pageStage.ts";
import { useStage } from "../useStage.ts";

const DESK = { width: 1280, height: 800 };
/** Window of the member who only watches: the CPU draws every pixel. */
const SMALL = { width: 320, height: 240 };
const PHONES = [
  { width: 390, height: 664 },
  { width: 320, height: 568 },
  { width: 640, height: 320 },
];

/** Bodies whose particles have moved further than this since `before`, m. */
const movedBodies = ({ before, by }: { before: number[]; by: number }): number[] => {
  const now = window.pliant.displayed();
  return window.pliant.view!.bodies.flatMap(({ positions }, body, bodies) => {
    const first = bodies.slice(0, body).reduce((sum, one) => sum + one.positions.length, 0);
    return positions.some((_, k) => Math.abs(now[first + k]! - before[first + k]!) > by) ? [body] : [];
  });
};

/** Least contrast of labels with the page behind them, by WCAG 2.2: axe-core does not check them. */
function contrastOfLabels(): number {
  const luminance = (color: string): number => {
    const [r, g, b] = color.match(/[\d.]+/g)!.map((part) => {
      const share = Number(part) / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    }) as [number, number, number];
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const page = luminance(getComputedStyle(document.documentElement).backgroundColor);
  const contrasts = [...document.querySelectorAll(".cost")].map((label) => {
    const own = luminance(getComputedStyle(label).color);
    return (Math.max(own, page) + 0.05) / (Math.min(own, page) + 0.05);
  });
  return Math.min(...contrasts);
}

/** No label covers another, or is cut off, in the next picture. */
const labelsApart = (page: Page): Promise<void> =>
  until(
    page,
    () => {
      const boxes = [...document.querySelectorAll(".cost")].map((label) => label.getBoundingClientRect());
      return boxes.every(
        (a, k) =>
          a.left >= 0 &&
          a.right <= innerWidth &&
          !boxes.some((b, l) => l > k && a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom),
      );
    },
    undefined,
  );

/** On phones the switch lies above the tools, nothing covers it, and it does not cover the bodies. */
async function fitsPhones(stage: E2e, ann: Page): Promise<void> {
  for (const [i, size] of PHONES.entries()) {
    await ann.setViewportSize(size);
    await until(ann, (width) => document.querySelector("canvas")!.clientWidth === width, size.width);
    await ann.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
    expect(await wrong(ann, ".toolbar", true)).toEqual([]);
    await expectFramed(ann);
    // Labels move with the next picture.
    await until(
      ann,
      () => {
        const tools = document.querySelector(".together")!.getBoundingClientRect();
        return [...document.querySelectorAll(".cost")].every((label) => {
          const { left, right, top, bottom } = label.getBoundingClientRect();
          return left >= tools.right || tools.left >= right || top >= tools.bottom || tools.top >= bottom;
        });
      },
      undefined,
    );
    if (i === 0) await labelsApart(ann);
    await stage.shoot(ann, `pull-all-${size.width}`);
  }
  expect(await findings(ann, { within: ".toolbar", widths: PHONES.slice(0, 1) })).toEqual([]);
}

describe.skipIf(noBrowser)("one grab", () => {
  const stage = useStage({}, { fewPictures: true });

  test("pulls one cube, or all of them, each with its error", async () => {
    const ann = await withAxe(await drawn(await stage.visit("/r/cubes?scene=one-cube")));
    const ben = await drawn(await stage.visit("/r/cubes", { viewport: SMALL }));
    const known = (): boolean =>
      [...document.querySelectorAll(".cost:not([hidden])")].filter((label) => /\d % /.test(label.textContent))
        .length === 8;
    await until(ann, known, undefined);
    // Each cube is labelled with the time of its step and its error.
    await until(
      ann,
      () =>
        [...document.querySelectorAll(".cost:not([hidden])")].filter((label) =>
          /^[a-z ]+\d[\d.]* ms a step\d[\d.]* % off the exact shape$/.test(label.textContent),
        ).length === 8,
      undefined,
    );
    const before = await ben.evaluate(() => [...window.pliant.displayed()]);
    const { first, count } = await ann.evaluate(() => {
      const bodies = window.pliant.view!.bodies;
      const first = bodies.slice(0, 3).reduce((sum, { positions }) => sum + positions.length / 3, 0);
      return { first, count: bodies[3]!.positions.length / 3 };
    });
    const moved = async (bodies: number): Promise<void> => {
      while ((await ben.evaluate(movedBodies, { before, by: 0.05 })).length < bodies) await ben.waitForTimeout(100);
    };
    const pull = async (): Promise<void> => {
      const held = await takeHold(ann, first, count);
      await ann.mouse.move(held.x + 30, held.y - 60, { steps: 4 });
    };

    await pull();
    await moved(1);
    expect(await ben.evaluate(movedBodies, { before, by: 0.05 })).toEqual([3]);
    await ann.mouse.up();

    // With the keyboard: one focus stop, and arrows choose.
    await ann.getByRole("radio", { name: "One" }).focus();
    await ann.keyboard.press("ArrowRight");
    expect(await ann.getByRole("radio", { name: "All" }).isChecked()).toBe(true);
    await pull();
    await moved(8);
    // Each member sees a line on each cube, and every error is known.
    const eight = (): boolean =>
      (window.pliant.view as unknown as { cursors: { bands: Map<string, unknown> } }).cursors.bands.size === 8;
    await until(ann, eight, undefined);
    await until(ben, eight, undefined);
    await until(ann, known, undefined);
    await ann.setViewportSize(DESK);
    await stage.shoot(ann, "pull-all");
    for (const colorScheme of ["dark", "light"] as const) {
      await ann.emulateMedia({ colorScheme });
      expect(await ann.evaluate(contrastOfLabels), colorScheme).toBeGreaterThanOrEqual(4.5);
    }
    await ann.mouse.up();
    await until(ben, () => window.pliant.grabs().length === 0, undefined);
    expect(await findings(ann, { within: ".toolbar", widths: [DESK] })).toEqual([]);
    await fitsPhones(stage, ann);
  });
});
