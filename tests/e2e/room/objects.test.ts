/**
 * Uploaded objects, on real pages: a GLB with several textured materials is dropped on the lobby, and two visitors grab
 * it. At rest it looks like the file in three's own loader. The page reports an unusable file where it was dropped.
 */
import { readdirSync, writeFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";
import { decode } from "fast-png";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import type { Mesh } from "three";
import { objBall, texturedGlb } from "../../support/modelFiles.ts";
import { similarity, type Pixels } from "../../support/similarity.ts";
import { findings, PHONE_ONLY, SIZES, tooWide, withAxe, wrong } from "../controls.ts";
import { drawn, noBrowser, takeHold, until, PATIENCE_MS } from "../pageStage.ts";
import { useStage } from "../useStage.ts";
import { inLong } from "../../support/run/long.ts";

/** Required similarity. */
const LEAST_SIMILARITY = 0.98;
/** Niceness of this process's other threads, relative to the process; only the thread that builds objects has more. */
const HELPERS_BEHIND = 10;
const PATIENCE = { timeout: PATIENCE_MS };

const dressed = (page: Page, bodies = 1): Promise<unknown> =>
  page.waitForFunction(
    (count) => {
      const shown = window.pliant?.view?.bodies ?? [];
      return shown.filter(({ mesh }) => Array.isArray(mesh.material) && mesh.material.length === 3).length === count;
    },
    bodies,
    PATIENCE,
  );

/** Drops a file on the page, as with a mouse. */
async function drop(page: Page, name: string, bytes: Uint8Array): Promise<void> {
  const transfer = await page.evaluateHandle(
    ([file, text]) => {
      const data = new DataTransfer();
      data.items.add(new File([Uint8Array.from(atob(text), (character) => character.charCodeAt(0))], file));
      return data;
    },
    [name, Buffer.from(bytes).toString("base64")] as const,
  );
  // The button's script also adds the drop listener.
  await page.waitForSelector(".bring", { state: "attached" });
  await page.dispatchEvent("body", "dragover", { dataTransfer: transfer });
  await page.dispatchEvent("body", "drop", { dataTransfer: transfer });
}

type Load = (address: string) => Promise<Mesh[]>;

/**
 * Both pictures in one task of the page, so that nothing moves in between: the body undeformed, and the file in three's
 * loader, at the same place under the same light.
 * @param chunk of the page with the loader
 */
async function bothPictures(page: Page, chunk: string): Promise<{ ours: string; theirs: string }> {
  // The code is a string, because the test runner would replace `import` in a function by its own.
  await page.evaluate(`import("${chunk}").then((all) => void (globalThis.load = Object.values(all)[0]))`);
  return page.evaluate(async () => {
    const { stage, bodies } = window.pliant.view!;
    // One pixel of the picture for each pixel of the screen.
    (stage as unknown as { applyQuality(level: number): void }).applyQuality(4);
    const { load } = globalThis as unknown as { load: Load };
    const { object, matrix } = window.pliant.pictures()[0]!;
    const boxOf = (meshes: Mesh[]): [number[], number[]] => {
      const boxes = meshes.map(({ geometry }) => {
        geometry.computeBoundingBox();
        return geometry.boundingBox!;
      });
      return [
        [0, 1, 2].map((r) => Math.min(...boxes.map(({ min }) => min.getComponent(r)))),
        [0, 1, 2].map((r) => Math.max(...boxes.map(({ max }) => max.getComponent(r)))),
      ];
    };
    // The stored object is fitted to a standard box, so the original file is moved and scaled to the same box.
    const [low, high] = boxOf(await load(`/api/objects/${object}/picture`));
    const parts = await load("/as-it-came.glb");
    const [first, last] = boxOf(parts);
    const scale = (high[0]! - low[0]!) / (last[0]! - first[0]!);
    const [x, y, z] = low.map((c, r) => c - scale * first[r]!) as [number, number, number];
    for (const { geometry } of parts) geometry.scale(scale, scale, scale).translate(x, y, z);
    const [body] = bodies;
    body!.positions.set(body!.rest);
    body!.update();
    const look = (): string => {
      stage.draw();
      return stage.renderer.domElement.toDataURL("image/png");
    };
    const ours = look();
    body!.mesh.visible = false;
    for (const part of parts) {
      part.castShadow = part.receiveShadow = true;
      part.matrixAutoUpdate = false;
      part.matrix.fromArray(matrix);
    }
    stage.scene.add(...parts);
    const theirs = look();
    stage.scene.remove(...parts);
    body!.mesh.visible = true;
    return { ours, theirs };
  });
}

const bytesOf = (url: string): Buffer => Buffer.from(url.slice(url.indexOf(",") + 1), "base64");

const pixels = (url: string): Pixels => decode(bytesOf(url)) as Pixels;

/**
 * Objects are read and built at the lowest priority while pages stay open. On a busy machine that takes minutes, longer
 * than the building itself. If the system allows it, this gives their thread normal priority.
 * @returns a function that ends it
 */
function buildInLine(): () => void {
  const own = getPriority();
  const timer = setInterval(() => {
    for (const thread of process.platform === "linux" ? readdirSync("/proc/self/task") : [])
      try {
        if (getPriority(Number(thread)) > own + HELPERS_BEHIND) setPriority(Number(thread), own);
      } catch {
        // The thread has just ended, or the system does not allow it.
      }
  }, 200);
  return () => clearInterval(timer);
}

describe.skipIf(noBrowser)("uploaded objects", () => {
  let end: (() => void) | undefined;
  beforeAll(() => void (end = buildInLine()));
  afterAll(() => end?.());
  const stage = useStage({}, { fewPictures: true }, /422|the server responded with a status/);

  test("a GLB dropped on the lobby is grabbed by two members, looks like its file, and can be added to another room", async () => {
    const glb = await texturedGlb(4);
    const ann = await stage.visit("/");
    await drop(ann, "a <b>pear.glb", glb);
    await ann.waitForSelector(".bring-dialog form:not([hidden])", PATIENCE);
    expect(await ann.textContent(".bring-dialog .notes li")).toBe("Triangles: 5,120. Materials: 3.");
    await ann.selectOption("#bring-material", "rubber");
    await stage.shoot(ann, "objects-dialog");
    await ann.click(".bring-dialog button[type=submit]");
    await ann.waitForURL(/\/r\/.*\?scene=o-/, PATIENCE);
    const address = new URL(ann.url());
    await dressed(await drawn(ann));
    expect(await ann.textContent("h1")).toBe("a <b>pear");

    const ben = await stage.visit(address.pathname + address.search);
    await dressed(await drawn(ben));
    // A late hint moves the view.
    await ann.waitForSelector(".hint:not([hidden])");
    await takeHold(ann);
    const { y: before } = await middle(ben);
    // Far above the ball: to a target at its top it would only roll.
    await ann.mouse.move(360, 20, { steps: 8 });
    await until(ben, (start) => window.pliant.view!.bodies[0]!.bounds.center.y > start + 0.03, before);
    await stage.shoot(ann, "objects-pulled-ann");
    await stage.shoot(ben, "objects-pulled-ben");
    await ann.mouse.up();

    const chunk = readdirSync("build/client/assets").find((file) => /^loadPicture-.*\.js$/.test(file))!;
    await ann.route("**/as-it-came.glb", (route) => route.fulfill({ body: Buffer.from(glb) }));
    const { ours, theirs } = await bothPictures(ann, `/assets/${chunk}`);
    for (const [name, url] of Object.entries({ ours, theirs }))
      writeFileSync(`artifacts/e2e/objects-${name}.png`, bytesOf(url));
    const [a, b] = [pixels(ours), pixels(theirs)];
    const differs = (x: number, y: number): boolean => colored(a, x, y) || colored(b, x, y);
    const found = similarity(a, b, differs);
    console.log(`similarity at rest: ${found.toFixed(4)}`);
    expect(found).toBeGreaterThanOrEqual(LEAST_SIMILARITY);

    // The dialog reports a file that is not a model, and the room is not affected.
    await drop(ann, "broken.glb", glb.slice(0, 1000));
    await ann.waitForSelector(".bring-dialog .problem:not([hidden])", PATIENCE);
    expect(await ann.textContent(".bring-dialog .problem")).toMatch(/^The file is damaged or incomplete\./);
    expect(await ann.textContent(".bring-dialog .problem .detail")).toMatch(/ is .*, .*\. /);
    await stage.shoot(ann, "objects-refused");
    expect(await ben.evaluate(() => window.pliant.status)).toBe("open");
    await ben.close();
    await ann.setInputFiles("#bring-file", { name: "second.glb", mimeType: "", buffer: Buffer.from(glb) });
    await ann.waitForSelector(".bring-dialog form:not([hidden])", PATIENCE);
    await ann.selectOption("#bring-role", "rigid");
    await ann.selectOption("#bring-where", "into");
    await ann.click(".bring-dialog button[type=submit]");
    await ann.waitForURL((url) => url.pathname !== address.pathname, PATIENCE);
    await dressed(await drawn(ann), 2);
    await stage.shoot(ann, "objects-beside");
  });

  test("the dialog fits every screen in each of its states, and axe-core finds nothing", async () => {
    const glb = await texturedGlb(1);
    const [viewport] = SIZES;
    const page = await withAxe(await stage.visit("/?lang=de", { viewport, hasTouch: true, isMobile: true }));
    await page.tap(".bring");
    await page.waitForSelector(".bring-dialog[open]");
    await page.setInputFiles("#bring-file", { name: "broken.glb", mimeType: "", buffer: Buffer.from("glTF") });
    await page.waitForSelector(".bring-dialog .problem:not([hidden])", PATIENCE);
    expect(await findings(page, { inTurns: inLong(false, true), within: ".bring-dialog" })).toEqual([]);
    await page.setInputFiles("#bring-file", { name: "pear.glb", mimeType: "", buffer: Buffer.from(glb) });
    await page.waitForSelector(".bring-dialog form:not([hidden])", PATIENCE);
    for (const size of inLong([...SIZES], [SIZES[0], SIZES[2], SIZES[4]])) {
      const at = `${size.width}x${size.height}`;
      await page.setViewportSize(size);
      expect(await wrong(page, ".bring-dialog", size.width < 1000), at).toEqual([]);
      expect(await tooWide(page), at).toEqual([]);
      await stage.shoot(page, `bring-${at}`);
    }
    expect(await findings(page, { inTurns: inLong(false, true), within: ".bring-dialog" })).toEqual([]);
    await page.keyboard.press("Escape");
    await page.waitForSelector(".bring-dialog", { state: "detached" });

    // The room of a repaired object shows the problems that were found, with their places.
    await page.tap(".bring");
    const holed = objBall(2).trimEnd().split("\n").slice(0, -1).join("\n");
    await page.setInputFiles("#bring-file", { name: "holed.obj", mimeType: "", buffer: Buffer.from(holed) });
    await page.waitForSelector(".bring-dialog form:not([hidden])", PATIENCE);
    await page.tap(".bring-dialog button[type=submit]");
    const found = await page.waitForSelector(".found-panel:not([hidden])", PATIENCE);
    expect(await found.textContent()).toMatch(/Löcher oder Ränder\. Stelle .*: -?\d+ % \/ \d+ % \/ -?\d+ %\./);
    await drawn(page);
    for (const size of inLong([...SIZES], [SIZES[0], SIZES[2], SIZES[4]])) {
      const at = `${size.width}x${size.height}`;
      await page.setViewportSize(size);
      expect(await wrong(page, ".found-panel", size.width < 1000), at).toEqual([]);
      await stage.shoot(page, `bring-found-${at}`);
    }
    expect(await findings(await withAxe(page), PHONE_ONLY)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.waitForSelector(".found-panel", { state: "hidden" });
    await page.reload();
    await drawn(page);
    expect(await page.$(".found-panel")).toBeNull();
  });
});

const middle = (page: Page): Promise<{ y: number }> =>
  page.evaluate(() => ({ y: window.pliant.view!.bodies[0]!.bounds.center.y }));

/** Tests for a pixel of the object: the floor and the background have almost no color. */
function colored({ width, height, data }: Pixels, x: number, y: number): boolean {
  const at = (data.length / (width * height)) * (y * width + x);
  const [r, g, b] = [data[at]!, data[at + 1]!, data[at + 2]!];
  return Math.max(r, g, b) - Math.min(r, g, b) > 60;
}
