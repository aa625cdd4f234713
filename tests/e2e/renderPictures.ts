/**
 * Makes the pictures in the repository from the real room pages: the lobby's thumbnails for light and dark pages
 * (client/public/thumbnails) and the README's screenshot (client/public/images). Run by hand after a change of the
 * rendering or of a scene: node tests/e2e/renderPictures.ts [scene | room ...]; with names, only those thumbnails, and
 * the screenshot for "room".
 */
import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { Bot } from "../../load-tests/bot.ts";
import { setup as buildClient } from "../support/builtClient.ts";
import { SCENES_FOLDER } from "../physics/scenes/checkScene.ts";
import { chromiumFlags } from "../support/chromium.ts";
import { drawn, openStage, until, type E2e } from "./pageStage.ts";

const publicDir = fileURLToPath(new URL("../../client/public", import.meta.url));

/** A pull for the picture: from a point of the scene at rest (m) by a number of pixels. */
interface Pose {
  from: [number, number, number];
  by: [number, number];
  color: string;
  name: string;
}

interface Picture {
  scene: string;
  poses: Pose[];
  /** Spawnable bodies to put in first, m. */
  putIn?: [number, [number, number, number]][];
  /**
   * Resets once the page is open: the interesting motion ends before software rendering has drawn its first picture.
   */
  again?: boolean;
  /** Time of the picture after the last pull, ms. */
  afterMs: number;
}

const PICTURES: Picture[] = [
  { scene: "bunny", poses: [{ from: [0.07, 0.4, 0.02], by: [80, -60], color: "#e4572e", name: "Ada" }], afterMs: 2500 },
  {
    scene: "dragon",
    poses: [{ from: [-0.32, 0.5, 0.08], by: [-70, -45], color: "#e4572e", name: "Ada" }],
    afterMs: 3000,
  },
  { scene: "drape", poses: [], afterMs: 2500 },
  {
    scene: "jelly-stack",
    poses: [{ from: [0, 0.62, 0.1], by: [130, -20], color: "#2f7dd1", name: "Ben" }],
    afterMs: 2500,
  },
  { scene: "twisted-beams", poses: [], afterMs: 6000 },
  { scene: "modes", poses: [], again: true, afterMs: 2500 },
  { scene: "dented-dragons", poses: [], afterMs: 6000 },
  { scene: "crush", poses: [], again: true, afterMs: 900 },
  { scene: "funnel", poses: [], again: true, afterMs: 1200 },
  { scene: "ball-on-weave", poses: [], afterMs: 2500 },
  { scene: "rigid-playground", poses: [], afterMs: 2500 },
  { scene: "recovering-dragons", poses: [], afterMs: 8000 },
  { scene: "pulled-beams", poses: [], afterMs: 2500 },
  { scene: "position-based", poses: [], afterMs: 2500 },
  { scene: "stretched-cloth", poses: [], afterMs: 2500 },
  { scene: "weft-and-warp", poses: [], afterMs: 2500 },
  { scene: "cloth-through-funnel", poses: [], again: true, afterMs: 2500 },
  { scene: "flag-on-pole", poses: [], afterMs: 3500 },
  { scene: "flag-in-the-wind", poses: [], afterMs: 2500 },
  { scene: "melt", poses: [], afterMs: 12000 },
  { scene: "smoke", poses: [], afterMs: 12000 },
  { scene: "tank", poses: [], afterMs: 9000 },
  {
    scene: "tangled-hands",
    poses: [{ from: [0.3, 0.3, 0.15], by: [60, -120], color: "#e4572e", name: "Ada" }],
    afterMs: 2500,
  },
  { scene: "hundred-bodies", poses: [], again: true, afterMs: 1500 },
  { scene: "integrators", poses: [], again: true, afterMs: 1200 },
  {
    scene: "one-sheet",
    poses: [{ from: [1.3, 0.6, 0.1], by: [60, -70], color: "#e4572e", name: "Ada" }],
    afterMs: 2500,
  },
  {
    scene: "one-cube",
    poses: [-0.93, -0.31, 0.31].map((x) => ({ from: [x, 0.36, 0.9], by: [40, -25], color: "#e4572e", name: "Ada" })),
    afterMs: 2500,
  },
  { scene: "bullet-curtain", poses: [], again: true, afterMs: 3500 },
  {
    scene: "put-in",
    poses: [],
    putIn: [
      [1, [0.02, 0.2, 0]],
      [2, [-0.19, 0.04, 0.12]],
      [4, [0.18, 0.04, 0.14]],
      [5, [0.01, 0.42, 0.01]],
    ],
    afterMs: 3000,
  },
];

/** Software rendering draws a picture in this time, ms. */
const DRAWN_MS = 1500;

/** @param query of the address, after the quality */
async function visitor(
  stage: E2e,
  path: string,
  { name, color }: { name: string; color: string },
  size: { width: number; height: number },
  scale: number,
  query = "",
): Promise<Page> {
  const page = await stage.visit("/icon.svg", { viewport: size, deviceScaleFactor: scale });
  await page.evaluate((identity) => localStorage.setItem("pliant.identity", JSON.stringify(identity)), { name, color });
  await page.goto(`${stage.url}${path}?quality=1${query}`);
  return drawn(page);
}

/** Grabs the surface near the pose's point. @returns the window pixel of the grab */
async function hold(page: Page, { from }: Pose): Promise<{ x: number; y: number }> {
  const at = await page.evaluate((point) => {
    const start = window.pliant.project(point)!;
    for (let k = 0; k < 400; k++) {
      const x = start.x + 0.6 * k * Math.cos(k * 0.7);
      const y = start.y + 0.6 * k * Math.sin(k * 0.7);
      if (window.pliant.pick(x, y)) return { x, y };
    }
    return undefined;
  }, from);
  if (!at) throw new Error(`nothing to hold near ${from}`);
  await page.mouse.move(at.x, at.y);
  await page.mouse.down();
  return at;
}

const hideFurniture = (page: Page, selector: string): Promise<void> =>
  page.evaluate((wanted) => {
    for (const element of document.querySelectorAll<HTMLElement>(wanted)) element.style.visibility = "hidden";
  }, selector);

/** The README's screenshot: two members at a dragon. Ben is a bot: with two pages, grabs often ended. */
async function renderRoom(): Promise<void> {
  const { name, path } = await stage.room("dragon");
  const left: Pose = { from: [-0.36, 0.5, 0.05], by: [-130, -60], color: "#e4572e", name: "Ada" };
  const ada = await visitor(stage, path, left, { width: 1280, height: 760 }, 1);
  await until(ada, () => window.pliant.frames().at(-1)?.still, undefined);
  // The hint moves the view when it appears.
  await ada.waitForSelector(".hint:not([hidden])");
  await ada.waitForTimeout(2 * DRAWN_MS);
  const tail = await ada.evaluate(() => {
    const { x, y } = window.pliant.project([0.36, 0.36, 0.05])!;
    return window.pliant.pick(x, y);
  });
  if (!tail) throw new Error("no tail to hold");
  const ben = await Bot.join(stage.url, name, { name: "Ben", color: "#2f7dd1" });
  const target: [number, number, number] = [tail.point[0]! + 0.25, tail.point[1]! + 0.1, tail.point[2]!];
  ben.grab(0, tail, target);
  ben.cursor(target);
  const at = await hold(ada, left);
  await ada.mouse.move(at.x + left.by[0], at.y + left.by[1], { steps: 8 });
  await ada.waitForTimeout(6000);
  await hideFurniture(ada, ".ghost, .slow, .pin-here, .toasts");
  await ada.screenshot({ path: `${publicDir}/images/room.jpg`, type: "jpeg", quality: 85 });
  await ben.leave();
}

const wanted = process.argv.slice(2);
await buildClient();
// The scenes themselves, not the coarser ones of the tests.
const stage = await openStage({ scenesDir: SCENES_FOLDER }, { flags: chromiumFlags, alone: true });
try {
  for (const part of ["thumbnails", "images"]) mkdirSync(`${publicDir}/${part}`, { recursive: true });
  for (const { scene, poses, putIn, again, afterMs } of PICTURES) {
    if (wanted.length > 0 && !wanted.includes(scene)) continue;
    const { name, path } = await stage.room(scene);
    const page = await visitor(
      stage,
      path,
      poses[0] ?? { name: "Ada", color: "#e4572e" },
      { width: 640, height: 420 },
      1.5,
      // Without tools the bodies fill the picture.
      "&ui=none",
    );
    if (poses.length > 0) await until(page, () => window.pliant.frames().at(-1)?.still, undefined);
    for (const pose of poses) {
      const at = await hold(page, pose);
      await page.mouse.move(at.x + pose.by[0], at.y + pose.by[1], { steps: 8 });
    }
    if (putIn) {
      const bot = await Bot.join(stage.url, name);
      for (const [body, at] of putIn) {
        bot.spawn(body, at, { heading: [5, 2], occupied: "lift" });
        await bot.until(() => !bot.spawnable.bodies.includes(body), `body ${body}`);
        await page.waitForTimeout(400);
      }
      await bot.leave();
    }
    await hideFurniture(page, ".topbar, .toolbar, .ghost, .toasts, .hint, .costs, .strain-legend");
    for (const [colorScheme, file] of [
      ["light", `${scene}.jpg`],
      ["dark", `${scene}.dark.jpg`],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      if (again) await page.keyboard.press("r");
      // Otherwise the pose of the first picture only needs the time to be drawn once more.
      await page.waitForTimeout(again || colorScheme === "light" ? afterMs : DRAWN_MS);
      await page.screenshot({ path: `${publicDir}/thumbnails/${file}`, type: "jpeg", quality: 78 });
    }
    await stage.leave();
  }

  if (wanted.length === 0 || wanted.includes("room")) await renderRoom();
} finally {
  await stage.close();
}
