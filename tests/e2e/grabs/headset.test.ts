/**
 * A visitor with a headset, played by Meta's emulator in a real browser: two controllers grab and drag, tracked hands
 * pinch and push. After the session the page continues as before.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import type * as Iwer from "iwer";
import { Bot } from "../../../load-tests/bot.ts";
import {
  drawn,
  noBrowser,
  press,
  type E2e,
  serverPositions,
  surfaceUnderMiddle,
  takeHold,
  until,
  PATIENCE_MS,
} from "../pageStage.ts";
import { useStage } from "../useStage.ts";

type Point = [number, number, number];
type Which = "left" | "right";

declare global {
  interface Window {
    IWER: typeof Iwer;
    headset: Iwer.XRDevice;
    /** Position of the index finger's tip in the visitor's space, m. */
    tipOf: (which: Which) => Promise<Point>;
  }
}

const emulator = fileURLToPath(new URL("../../../node_modules/iwer/build/iwer.min.js", import.meta.url));

/** Runs in the page, before its scripts and after the emulator's. */
function wearHeadset(): void {
  const headset = new window.IWER.XRDevice(window.IWER.metaQuest3);
  headset.installRuntime({ forceInstall: true });
  window.headset = headset;
  window.tipOf = (which) =>
    new Promise((resolve) => {
      const session = headset.activeSession! as unknown as XRSession;
      const look = (space: XRReferenceSpace): number =>
        session.requestAnimationFrame((_, frame) => {
          const source = [...session.inputSources].find(({ handedness }) => handedness === which)!;
          const { x, y, z } = frame.getJointPose!(source.hand!.get("index-finger-tip")!, space)!.transform.position;
          resolve([x, y, z]);
        });
      void session.requestReferenceSpace("local-floor").then(look);
    });
}

/** Waits until a pull has moved the body. */
const hasMoved = async (stage: E2e, room: string, start: readonly number[]): Promise<void> =>
  expect
    .poll(
      async () => {
        const now = (await serverPositions(stage, room)).positions;
        return Math.max(...now.map((value, i) => Math.abs(value - start[i]!)));
      },
      { timeout: PATIENCE_MS },
    )
    .toBeGreaterThan(0.03);

const enter = "button[data-tool=headset]";

describe.skipIf(noBrowser)("a visitor with a headset", () => {
  const stage = useStage({}, { fewPictures: true });

  async function visitWithHeadset(path: string): Promise<Page> {
    const content = `${readFileSync(emulator, "utf8")};(${String(wearHeadset)})();`;
    const prepare = (page: Page): Promise<unknown> => page.addInitScript({ content });
    // Fixed quality: the machine's drawing speed is not tested here.
    return drawn(await stage.visit(`${path}?quality=4`, {}, { prepare }));
  }

  async function enterRoom(page: Page): Promise<void> {
    await press(page, enter);
    await until(page, () => window.pliant.seen([0, 0, 0]) !== undefined, undefined);
  }

  /** Drawing settings that a session must not change. */
  const drawing = (page: Page): Promise<{ quality: string; width: number }> =>
    page.evaluate(() => ({
      quality: window.pliant.stats().quality,
      width: document.querySelector<HTMLCanvasElement>("canvas.view")!.width,
    }));

  /** Places a controller that points ahead in the visitor's space. */
  const hold = (page: Page, which: Which, at: Point, trigger: number): Promise<void> =>
    page.evaluate(
      ({ which, at, trigger }) => {
        const controller = window.headset.controllers[which]!;
        controller.position.set(...at);
        controller.quaternion.set(0, 0, 0, 1);
        controller.updateButtonValue("trigger", trigger);
      },
      { which, at, trigger },
    );
  const owned = (page: Page, count: number): Promise<void> =>
    until(page, (n) => window.pliant.grabs().filter(({ id }) => id.startsWith("own:")).length === n, count);

  test("two controllers grab and drag at once; other members see the grabs; the page continues after the session", async () => {
    const { name, path } = await stage.room("jelly-stack");
    const other = await Bot.join(stage.url, name);
    const page = await visitWithHeadset(path);
    const before = await drawing(page);
    const { point } = await surfaceUnderMiddle(page);
    await enterRoom(page);

    const [x, y, z] = (await page.evaluate((at) => window.pliant.seen(at), point)) as Point;
    // In front of the visitor, at table height or above, within arm's length.
    expect(y).toBeGreaterThan(0.85);
    expect(y).toBeLessThan(1.95);
    expect(z).toBeLessThan(0);
    expect(z).toBeGreaterThan(-1.2);

    const start = (await serverPositions(stage, name)).positions;
    await hold(page, "right", [x + 0.05, y, z + 0.5], 0);
    await hold(page, "left", [x - 0.05, y, z + 0.5], 0);
    await hold(page, "right", [x + 0.05, y, z + 0.5], 1);
    await owned(page, 1);
    await hold(page, "left", [x - 0.05, y, z + 0.5], 1);
    await owned(page, 2);
    await stage.shoot(page, "headset-controllers");
    await hold(page, "right", [x + 0.35, y + 0.2, z + 0.5], 1);
    await hold(page, "left", [x - 0.35, y + 0.2, z + 0.5], 1);
    const held = (): Point[] =>
      [...other.memberGrabs.values()].flatMap(({ grabs }) => grabs.map(({ target }) => target));
    await other.until(() => held().length === 2 && Math.abs(held()[0]![0] - held()[1]![0]) > 0.1, "both grabs");
    await hasMoved(stage, name, start);
    await stage.shoot(page, "headset-drag");

    await hold(page, "right", [x + 0.35, y + 0.2, z + 0.5], 0);
    await owned(page, 1);

    const seen = await page.evaluate(() => window.pliant.seen([0.1, 0, 0])!);
    await page.evaluate(() => window.headset.controllers.right!.updateAxes("thumbstick", 1, 0));
    await until(page, (old) => Math.abs(window.pliant.seen([0.1, 0, 0])![2]! - old[2]!) > 0.03, seen);
    await page.evaluate(() => window.headset.controllers.right!.updateAxes("thumbstick", 0, 0));

    // The left controller still grabs when the session ends, which ends the grab.
    await page.evaluate((button) => document.querySelector<HTMLButtonElement>(button)!.click(), enter);
    await until(page, () => window.pliant.seen([0, 0, 0]) === undefined, undefined);
    await owned(page, 0);
    await other.until(() => held().length === 0, "the end of both grabs");
    await other.leave();
    expect(await drawing(page)).toEqual(before);
    const pictures = await page.evaluate(() => window.pliant.drawn);
    await page.keyboard.press("h");
    await until(page, (old) => window.pliant.drawn > old, pictures);
    // The released body is still moving back.
    await takeHold(page);
    await page.mouse.up();
    await stage.shoot(page, "headset-left");
  });

  test("tracked hands: a pinch grabs and lets go, a fingertip pushes", async () => {
    const { name, path } = await stage.room("jelly-stack");
    const page = await visitWithHeadset(path);
    await enterRoom(page);
    await page.evaluate(() => {
      window.headset.primaryInputMode = "hand";
      for (const which of ["left", "right"] as const) window.headset.hands[which]!.quaternion.set(0, 0, 0, 1);
    });
    await until(page, () => [...window.headset.activeSession!.inputSources].every(({ hand }) => hand), undefined);
    /** Moves the hand so that its fingertip is at the given point. */
    const point = async (which: Which, to: Point): Promise<void> => {
      const tip = await page.evaluate((which) => window.tipOf(which), which);
      await page.evaluate(
        ({ which, by }) => {
          const { position } = window.headset.hands[which]!;
          position.set(position.x + by[0]!, position.y + by[1]!, position.z + by[2]!);
        },
        { which, by: to.map((value, r) => value - tip[r]!) },
      );
    };
    const pinch = (which: Which, value: number): Promise<void> =>
      page.evaluate(({ which, value }) => window.headset.hands[which]!.updatePinchValue(value), { which, value });

    const { point: surface } = await surfaceUnderMiddle(page);
    const [x, y, z] = (await page.evaluate((at) => window.pliant.seen(at), surface)) as Point;
    await point("right", [x, y, z + 0.4]);
    await pinch("right", 1);
    await page.evaluate(() => window.tipOf("right"));
    await pinch("right", 0);
    await page.evaluate(() => window.tipOf("right"));
    // A pinch in the air grabs nothing.
    await owned(page, 0);
    await point("right", [x, y, z + 0.02]);
    await pinch("right", 1);
    await owned(page, 1);
    await stage.shoot(page, "headset-pinch");
    const start = (await serverPositions(stage, name)).positions;
    await point("right", [x, y + 0.3, z + 0.1]);
    await hasMoved(stage, name, start);
    await pinch("right", 0);
    await owned(page, 0);
    await point("right", [x + 0.5, y + 0.3, z + 0.5]);

    // At rest again, so that later motion comes from the push.
    await page.evaluate(() => document.querySelector<HTMLButtonElement>("button[data-tool=reset]")!.click());
    await until(page, () => window.pliant.frames().at(-1)!.still, undefined);
    const tick = await page.evaluate(() => window.pliant.tick);
    for (let step = 0; step < 8; step++) await point("left", [x, y, z + 0.3 - 0.06 * step]);
    await until(page, (old) => window.pliant.frames().some((frame) => frame.tick > old && !frame.still), tick);
  });
});
