/** An owner tunes a room: a slider on one page changes the bodies on another. */
import { describe, expect, test } from "vitest";
import type { Scene } from "../../../shared/scene/scene.ts";
import { validateScene } from "../../../shared/scene/sceneValidator.ts";
import type { Page } from "playwright-core";
import { downloaded, drawn, type E2e, noBrowser, press, until } from "../pageStage.ts";
import { useStage } from "../useStage.ts";

const PHONE = { hasTouch: true, isMobile: true, viewport: { width: 390, height: 664 } };

/** Moves a slider as a mouse or the keyboard does: sets its value, then sends the event. */
const slide = (page: Page, id: string, value: number): Promise<void> => page.fill(`#${id}`, String(value));

const output = (page: Page, id: string): Promise<string | null> =>
  page.textContent(`.tuning-panel .slider:has(#${id}) output`);

/** Height of the lowest particle, m. */
const lowest = (): number =>
  window.pliant.displayed().reduce((least, y, k) => (k % 3 === 1 ? Math.min(least, y) : least), Infinity);

/** The tuned values are saved as a scene, and copied into a new room. */
async function savedAndTakenAlong(owner: Page, url: string): Promise<void> {
  await owner.selectOption("#tuning-body", { index: 0 });
  await slide(owner, "tuning-gravity", -3);
  await slide(owner, "tuning-friction", 1.25);
  const scene = (): Promise<Scene> =>
    fetch(`${url}/api/rooms/playing/scene`).then((answer) => answer.json() as Promise<Scene>);
  while ((await scene()).bodies[0]!.material.friction !== 1.25) await owner.waitForTimeout(50);
  const [download] = await Promise.all([
    owner.waitForEvent("download"),
    owner.getByRole("button", { name: "Save as scene" }).click(),
  ]);
  expect(download.suggestedFilename()).toBe("playing.json");
  const saved = validateScene(JSON.parse((await downloaded(download)).toString()));
  expect(saved).toEqual(await scene());
  expect(saved.gravity).toEqual([0, 3, 0]);

  await owner.getByRole("button", { name: "Duplicate room" }).click();
  await owner.waitForURL((url) => /^\/r\/(?!playing)/.test(url.pathname));
  await drawn(owner);
  await press(owner, ".tuning .tool");
  await until(owner, () => document.querySelector("#tuning-friction")!.ariaValueText === "1.25", undefined);
  const name = new URL(owner.url()).pathname.slice("/r/".length);
  expect(await (await fetch(`${url}/api/rooms/${name}/scene`)).json()).toEqual(saved);
}

/** The panel fits the smallest phone: nothing is wider than the screen, and the last button is in reach. */
async function fitsTheSmallest(stage: E2e, phone: Page, owner: Page): Promise<void> {
  await phone.setViewportSize({ width: 320, height: 568 });
  await stage.shoot(phone, "tuning-320");
  const overflow = await phone.evaluate(() => {
    const { scrollWidth, clientWidth } = document.querySelector(".tuning-panel")!;
    return scrollWidth - clientWidth;
  });
  expect(overflow).toBe(0);
  // Material parameters, wind and time scale also take effect and are announced.
  await slide(phone, "tuning-youngsModulus", 4.6);
  expect(await output(phone, "tuning-youngsModulus")).toBe("39,800 Pa");
  await slide(phone, "tuning-wind", 6);
  await slide(phone, "tuning-time", 0);
  await until(
    owner,
    () =>
      document.querySelector("#tuning-time")!.ariaValueText === "0 ×" &&
      document.querySelector("#tuning-wind")!.ariaValueText === "6 m/s" &&
      document.querySelector("#tuning-youngsModulus")!.ariaValueText === "39,800 Pa",
    undefined,
  );
  await stage.shoot(owner, "tuning-wide");
  await phone.getByRole("button", { name: "Duplicate room" }).scrollIntoViewIfNeeded();
  await stage.shoot(phone, "tuning-320-end");
  await phone.getByRole("button", { name: "As in the scene" }).click();
  await until(owner, () => document.querySelector("#tuning-gravity")!.ariaValueText === "9.81 m/s²", undefined);
}

describe.skipIf(noBrowser)("tuning", () => {
  const stage = useStage({}, { fewPictures: true });

  test("modes that an owner drops are dropped for all members, and under each bar is the time of its step", async () => {
    const owner = await drawn(await stage.visit("/r/bars?scene=modes"));
    const german = await drawn(await stage.visit("/r/bars", { locale: "de-DE" }));
    await press(owner, ".tuning .tool");
    await owner.selectOption("#tuning-body", { index: 1 });
    expect(await output(owner, "tuning-modes")).toBe("60");
    await slide(owner, "tuning-modes", 3);
    const kept = (): Promise<number> =>
      german.evaluate(async () => {
        const scene = (await (await fetch("/api/rooms/bars/scene")).json()) as {
          bodies: { method: { modes: number } }[];
        };
        return scene.bodies[1]!.method.modes;
      });
    while ((await kept()) !== 3) await german.waitForTimeout(50);
    const under = async (page: Page): Promise<string[]> => {
      // The names come first, the times with the statistics of the next second.
      const timed = (): boolean =>
        [...document.querySelectorAll(".cost:not([hidden])")].filter(({ textContent }) => /\d/.test(textContent))
          .length === 2;
      await until(page, timed, undefined);
      return page.locator(".cost").allTextContents();
    };
    for (const text of await under(owner)) expect(text).toMatch(/^[a-z]+\d[\d.]* ms a step$/);
    for (const text of await under(german)) expect(text).toMatch(/^(Elemente|Moden)\d[\d,]* ms je Schritt$/);
    await stage.shoot(owner, "modes");
  });

  test("gravity reversed on one page lifts everything on the other; the scene's gravity can be restored", async () => {
    const owner = await drawn(await stage.visit("/r/playing?scene=jelly-stack"));
    const guest = await drawn(await stage.visit("/r/playing"));
    expect(await guest.locator(".tuning").isVisible()).toBe(false);
    const stood = await guest.evaluate(lowest);
    await press(owner, ".tuning .tool");
    expect(await output(owner, "tuning-gravity")).toBe("9.81 m/s²");
    await slide(owner, "tuning-gravity", -5);
    expect(await output(owner, "tuning-gravity")).toBe("-5 m/s²");
    await until(
      guest,
      (before) =>
        window.pliant.displayed().reduce((least, y, k) => (k % 3 === 1 ? Math.min(least, y) : least), Infinity) >
        before + 0.3,
      stood,
    );
    await stage.shoot(owner, "tuning");

    // The same owner on another device sees the current values, body by body.
    await slide(owner, "tuning-friction", 1.5);
    const phone = await drawn(
      await stage.visit("/r/playing", { ...PHONE, storageState: await owner.context().storageState() }),
    );
    await phone.click(".more-tools");
    await phone.click(".tuning .tool");
    await until(phone, () => document.querySelector("#tuning-friction")!.ariaValueText === "1.5", undefined);
    expect(await output(phone, "tuning-gravity")).toBe("-5 m/s²");
    await stage.shoot(phone, "tuning-390");
    await phone.selectOption("#tuning-body", { index: 1 });
    expect(await output(phone, "tuning-friction")).not.toBe("1.5");

    // The keyboard moves it by steps, and the server's echo does not move it.
    await phone.focus("#tuning-damping");
    const before = Number(await phone.inputValue("#tuning-damping"));
    for (let k = 0; k < 5; k++) await phone.keyboard.press("ArrowRight");
    expect(Number(await phone.inputValue("#tuning-damping"))).toBeCloseTo(before + 0.5, 6);
    await owner.selectOption("#tuning-body", { index: 1 });
    await until(
      owner,
      (value) => Number((document.querySelector("#tuning-damping") as HTMLInputElement).value) === value,
      Number(await phone.inputValue("#tuning-damping")),
    );
    await fitsTheSmallest(stage, phone, owner);
    await phone.close();
    await savedAndTakenAlong(owner, stage.url);
    await stage.shoot(owner, "tuning-duplicate");
  });
});
