/**
 * Spawnable bodies, on real pages: neither drawn nor picked until a member puts one in with two clicks. Then all
 * members see it, and one more click takes it out.
 */
import { describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { decode } from "fast-png";
import { look } from "../clips.ts";
import { downloaded, drawn, noBrowser, press, serverPositions, takeHold, toasted, until } from "../pageStage.ts";
import { useStage } from "../useStage.ts";

/** In scene put-in: all spawnable bodies, one of them, and its place on the tray, m. */
const ALL = [1, 2, 3, 4, 5];
const GREEN = 2;
const PLACE: [number, number, number] = [0.18, 0.03, 0.1];

/** Opens the list and chooses a body of it. */
async function choose(page: Page, body: number): Promise<void> {
  await page.click(".spares .tool");
  await page.click(`.spares-panel [data-body="${body}"]`);
}

/** A click on a body puts the next one on top of it; Escape cancels the choice. */
async function onTop(page: Page): Promise<void> {
  await choose(page, 3);
  await page.keyboard.press("Escape");
  const at = (await page.evaluate(() => window.pliant.project([0, 0.12, 0.1])))!;
  await page.mouse.click(at.x, at.y);
  await page.waitForTimeout(500);
  expect(await page.evaluate(() => window.pliant.absent)).toEqual(ALL);
  await choose(page, 3);
  await page.mouse.click(at.x, at.y);
  await until(page, () => !window.pliant.absent.includes(3), undefined);
}

/** Ann takes her last act back by the keyboard, Ben his by the button; both are theirs although others acted since. */
async function undone(ann: Page, ben: Page): Promise<void> {
  await ann.keyboard.press("Control+z");
  await until(ben, () => window.pliant.absent.includes(3), undefined);
  await toasted(ben, / removed /);
  await ben.click("[data-tool='undo']");
  await until(ann, (body) => !window.pliant.absent.includes(body), GREEN);
}

/** Ben pulls the first jelly until Ann has seen it move: her last seconds then show motion, also on a slow machine. */
async function pulled(ben: Page, ann: Page): Promise<void> {
  const before = await ann.evaluate(() => window.pliant.displayed());
  const { x, y } = await takeHold(ben, 0, 100);
  await ben.mouse.move(x - 60, y - 30, { steps: 5 });
  await until(ann, (first) => window.pliant.displayed().some((c, i) => Math.abs(c - first[i]!) > 0.02), before);
  await ben.mouse.up();
}

/** The picture, and the last seconds, are saved as files that a browser can show. */
async function saved(page: Page, other: Page): Promise<void> {
  await press(page, "[data-tool='camera']");
  const save = async (kind: string): Promise<Buffer> => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(`[data-save='${kind}']`)]);
    expect(download.suggestedFilename()).toMatch(new RegExp(`\\.${kind}$`));
    return downloaded(download);
  };
  const picture = decode(await save("png"));
  expect(picture.width).toBe(await page.evaluate(() => document.querySelector("canvas")!.width));
  await pulled(other, page);
  const gif = await look(page, await save("gif"), "image/gif");
  expect(Math.max(gif.width, gif.height)).toBe(Math.min(480, Math.max(picture.width, picture.height)));
  expect(gif.motion).toBeGreaterThan(0.001);
  await page.waitForSelector("[data-save='webm']:not([disabled])");
  await pulled(other, page);
  const video = await look(page, await save("webm"), "video/webm");
  expect(video).toMatchObject({ width: gif.width, height: gif.height });
  expect(video.motion).toBeGreaterThan(0.001);
  await page.keyboard.press("Escape");
}

describe.skipIf(noBrowser)("spawnable bodies", () => {
  const stage = useStage({}, { fewPictures: true });

  test("on a tall screen the whole tray is in the picture", async () => {
    const { path } = await stage.room("put-in");
    const page = await drawn(await stage.visit(path, { viewport: { width: 390, height: 844 } }));
    for (const x of [-0.3, 0.3])
      for (const z of [-0.3, 0.3]) {
        const corner = await page.evaluate((at) => window.pliant.project(at)!.x, [x, 0.03, z] as [
          number,
          number,
          number,
        ]);
        expect(corner).toBeGreaterThan(0);
        expect(corner).toBeLessThan(390);
      }
  });

  test("a body is put in at the click, or on top, seen by the other member, picked, and taken out", async () => {
    const { name, path } = await stage.room("put-in");
    const ann = await drawn(await stage.visit(path));
    const ben = await drawn(await stage.visit(path));
    for (const page of [ann, ben]) expect(await page.evaluate(() => window.pliant.absent)).toEqual(ALL);
    // A late hint moves the view.
    await ann.waitForSelector(".hint:not([hidden])");
    const at = (await ann.evaluate((place) => window.pliant.project(place), PLACE))!;
    expect(await ann.evaluate(({ x, y }) => window.pliant.pick(x, y), at)).toBeUndefined();

    await choose(ann, GREEN);
    await toasted(ann, "Choose a place for green jelly");
    await ann.mouse.click(at.x, at.y);
    await until(ben, (body) => !window.pliant.absent.includes(body), GREEN);
    await toasted(ben, / added green jelly$/);
    await until(ann, (body) => !window.pliant.absent.includes(body), GREEN);
    // It is at the click's place: a ray through it hits the body, on both pages, as soon as the picture shows it. The
    // view may have stepped back for the new body.
    for (const page of [ann, ben])
      await until(
        page,
        ({ place, body }) => {
          const { x, y } = window.pliant.project(place)!;
          return window.pliant.pick(x, y)?.body === body;
        },
        { place: PLACE, body: GREEN },
      );
    expect((await serverPositions(stage, name)).spawnableBodies).toEqual(ALL.filter((body) => body !== GREEN));
    await stage.shoot(ben, "put-in");

    // A member who joins now sees it at once, and not the other spawnable bodies.
    const late = await drawn(await stage.visit(path));
    expect(await late.evaluate(() => window.pliant.absent)).toEqual(ALL.filter((body) => body !== GREEN));

    // The list that put the body in also takes it out.
    await ben.click(".spares .tool");
    expect(await ben.textContent(`.spares-panel [data-body="${GREEN}"] small`)).toBe("remove");
    await ben.click(`.spares-panel [data-body="${GREEN}"]`);
    await until(ann, (body) => window.pliant.absent.includes(body), GREEN);
    await until(
      ann,
      (place) => {
        const { x, y } = window.pliant.project(place)!;
        return window.pliant.pick(x, y) === undefined;
      },
      PLACE,
    );
    await onTop(ann);
    await undone(ann, ben);
    await saved(ann, ben);
  });
});
