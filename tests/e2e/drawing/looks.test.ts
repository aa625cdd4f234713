/**
 * Drawing of cloth, on pictures of sheets that cannot move: no dashes of the back along folds, no specks, no washed-out
 * tops. The result does not depend on the time of the picture.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decode } from "fast-png";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { setQuality } from "../controls.ts";
import { drawn, noBrowser, openStage, type E2e } from "../pageStage.ts";
import { inLong } from "../../support/run/long.ts";

const CELLS = { x: 48, y: 24 };
/** m */
const SIZE = { x: 1.2, y: 0.6 };
const FRONT = "#2040c0";
const BACK = "#ff3000";

/** A vertical sheet that faces +z, in folds of 10 cells that hide parts of each other from the side. */
function folded(): string {
  const lines: string[] = [];
  for (let j = 0; j <= CELLS.y; j++) {
    for (let i = 0; i <= CELLS.x; i++) {
      const x = (i / CELLS.x - 0.5) * SIZE.x;
      const y = (j / CELLS.y) * SIZE.y;
      // Slightly uneven, like real cloth: folds lean, and every other vertex is shifted a little.
      const fold = 0.09 * Math.sin((2 * Math.PI * i) / 10 + y) + 0.002 * Math.sin(12.9898 * i + 78.233 * j);
      lines.push(`v ${x} ${y} ${fold}`);
    }
  }
  for (let j = 0; j < CELLS.y; j++) {
    for (let i = 0; i < CELLS.x; i++) {
      const a = j * (CELLS.x + 1) + i + 1;
      const [b, c, d] = [a + 1, a + CELLS.x + 1, a + CELLS.x + 2];
      lines.push(
        ...((i + j) % 2 ? [`f ${a} ${b} ${c}`, `f ${b} ${d} ${c}`] : [`f ${a} ${b} ${d}`, `f ${a} ${d} ${c}`]),
      );
    }
  }
  return lines.join("\n");
}

const scene = (mesh: unknown, camera: unknown): string =>
  JSON.stringify({
    version: 1,
    title: "Looks",
    gravity: [0, 0, 0],
    camera,
    bodies: [
      {
        name: "sheet",
        kind: "cloth",
        mesh,
        material: { density: 300, thickness: 0.001, youngsModulus: 1e5, poissonsRatio: 0.3 },
        pins: [{ select: { box: { min: [-9, -9, -9], max: [9, 9, 9] } } }],
        look: { color: FRONT, backColor: BACK },
      },
    ],
  });

interface Picture {
  width: number;
  height: number;
  /** r, g, b of a pixel, 0..255 */
  at(x: number, y: number): [number, number, number];
}

/** Light, 0..1, of a canvas value, 0..255. */
const linear = (value: number): number => ((value / 255 + 0.055) / 1.055) ** 2.4;

function pixels({ width, height }: Picture, holds: (x: number, y: number) => boolean): [number, number][] {
  const found: [number, number][] = [];
  for (let y = 1; y < height - 1; y++) for (let x = 1; x < width - 1; x++) if (holds(x, y)) found.push([x, y]);
  return found;
}

/** A cube of jelly that cannot move, seen from the front and a little from above. */
const jelly = (look: { color: string; roughness?: number }): string =>
  JSON.stringify({
    version: 1,
    title: "Jelly",
    gravity: [0, 0, 0],
    camera: { position: [0, 0.25, 1.6], target: [0, 0, 0] },
    bodies: [
      {
        name: "cube",
        kind: "soft",
        mesh: { type: "box", size: [0.6, 0.6, 0.6], cells: [4, 4, 4] },
        transform: { rotate: [0, 45, 0] },
        material: { density: 300, youngsModulus: 1e5, poissonsRatio: 0.3 },
        pins: [{ select: { box: { min: [-9, -9, -9], max: [9, 9, 9] } } }],
        look: { ...look, finish: "jelly" },
      },
    ],
  });

/** Two plates over a floor, seen from above: the left one is near it, the right one far. */
const PLATES = JSON.stringify({
  version: 1,
  title: "Plates",
  gravity: [0, 0, 0],
  camera: { position: [-0.3, 3.2, 0.01], target: [-0.3, 0, 0] },
  bodies: [
    {
      name: "grain",
      kind: "soft",
      mesh: { type: "box", size: [0.02, 0.02, 0.02], cells: [1, 1, 1] },
      transform: { translate: [1, 1, 1] },
      material: { density: 300, youngsModulus: 1e5, poissonsRatio: 0.3 },
      pins: [{ select: { box: { min: [-9, -9, -9], max: [9, 9, 9] } } }],
    },
    {
      name: "second grain",
      kind: "soft",
      mesh: { type: "box", size: [0.02, 0.02, 0.02], cells: [1, 1, 1] },
      transform: { translate: [-1, 0.02, -1] },
      material: { density: 300, youngsModulus: 1e5, poissonsRatio: 0.3 },
      pins: [{ select: { box: { min: [-9, -9, -9], max: [9, 9, 9] } } }],
    },
  ],
  colliders: [
    { type: "plane", normal: [0, 1, 0], offset: 0 },
    { type: "box", center: [-0.7, 0.1, 0], halfExtents: [0.1, 0.01, 0.4] },
    { type: "box", center: [0.45, 0.6, 0], halfExtents: [0.1, 0.01, 0.4] },
  ],
});

/** A layer of water, one particle thick, that floats before the page. */
const FILM = JSON.stringify({
  version: 1,
  title: "Film",
  gravity: [0, 0, 0],
  camera: { position: [0, 0, 1.2], target: [0, 0, 0] },
  bodies: [
    {
      name: "film",
      kind: "points",
      mesh: { type: "lattice", arrangement: "cubic", cells: [16, 12, 1], spacing: 0.03 },
      material: { density: 1000, friction: 0 },
      method: { type: "position-based-fluid" },
      look: { color: "#2878b5" },
    },
  ],
});

describe.skipIf(noBrowser)("drawing", () => {
  let stage: E2e;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "pliant-looks-"));
    await writeFile(join(folder, "folded.obj"), folded());
    const flat = { type: "grid", size: [1, 1], cells: [20, 20] };
    const beside = { position: [1.1, 0.3, 1.5], target: [0, 0.3, 0] };
    const above = { position: [0, 2, 0.1], target: [0, 0, 0] };
    await writeFile(join(folder, "folds.json"), scene({ type: "file", path: "folded.obj" }, beside));
    await writeFile(join(folder, "top.json"), scene(flat, above));
    await writeFile(
      join(folder, "measured.json"),
      JSON.stringify({ ...(JSON.parse(scene(flat, above)) as object), showStrain: "principal" }),
    );
    await writeFile(join(folder, "jelly.json"), jelly({ color: "#2060c0" }));
    await writeFile(join(folder, "cloudy.json"), jelly({ color: "#d1495b", roughness: 0.4 }));
    await writeFile(join(folder, "plates.json"), PLATES);
    await writeFile(join(folder, "film.json"), FILM);
    stage = await openStage({ scenesDir: folder }, { fewPictures: true });
  });
  afterAll(async () => {
    await stage?.close();
    await rm(folder, { recursive: true });
  });
  afterEach(() => expect(stage.takeErrors()).toEqual([]));

  /** The page of one scene at a time: each open page draws all the time, which costs the next test much of a core. */
  let opened: { name: string; page: Page } | undefined;
  const shots = new Map<string, Promise<Picture>>();
  /** Taken once, by the first test that needs it. */
  function picture(name: string, quality: number): Promise<Picture> {
    const key = `${name} ${quality}`;
    return shots.get(key) ?? shots.set(key, take(name, quality)).get(key)!;
  }

  async function open(name: string, quality: number): Promise<Page> {
    await stage.leave();
    const { path } = await stage.room(name);
    const page = await drawn(await stage.visit(`${path}?ui=none&quality=${quality}`));
    await page.waitForFunction(() => window.pliant.view!.stage.ready);
    await page.evaluate(() => {
      document.body.style.visibility = "hidden";
      document.querySelector<HTMLElement>("canvas.view")!.style.visibility = "visible";
    });
    opened = { name, page };
    return page;
  }

  const pageOf = async (name: string, quality: number): Promise<Page> =>
    opened?.name === name ? opened.page : open(name, quality);

  async function take(name: string, quality: number): Promise<Picture> {
    const page = await pageOf(name, quality);
    await setQuality(page, quality);
    const png = await page.screenshot({ path: `artifacts/e2e/looks-${name}-${quality}.png` });
    const { width, height, channels, data } = decode(png);
    const at: Picture["at"] = (x, y) => {
      const first = channels * (y * width + x);
      return [data[first]!, data[first + 1]!, data[first + 2]!];
    };
    return { width, height, at };
  }

  const blue = ([r, , b]: [number, number, number]): boolean => b > r + 30;

  test.each(inLong([0, 3, 4], [0, 4]))(
    "folds seen from the front show nothing of the back, level %i",
    async (quality) => {
      const shot = await picture("folds", quality);
      expect(pixels(shot, (x, y) => blue(shot.at(x, y))).length).toBeGreaterThan(20_000);
      // The page's floor is warm but pale: nothing else here is as red.
      expect(pixels(shot, (x, y) => shot.at(x, y)[0] > shot.at(x, y)[1] + 60)).toEqual([]);
    },
  );

  test.each(inLong([0, 3, 4], [0, 4]))("no pixel is brighter than all its neighbors, level %i", async (quality) => {
    const shot = await picture("folds", quality);
    const around = [-1, 0, 1].flatMap((dx) => [-1, 0, 1].map((dy) => [dx, dy] as const)).filter(([x, y]) => x || y);
    const light = (x: number, y: number): number => shot.at(x, y)[0] + shot.at(x, y)[1] + shot.at(x, y)[2];
    const specks = pixels(shot, (x, y) => around.every(([dx, dy]) => light(x, y) > light(x + dx, y + dy) + 30));
    expect(specks).toEqual([]);
  });

  test("a surface facing the light keeps its color, and stays within one stop of brightness without the image-based light", async () => {
    const blues = [];
    for (const quality of [1, 2]) {
      const shot = await picture("top", quality);
      // Between the printed lines, which cross in the middle.
      const [red, , blue] = shot.at(shot.width / 2 + 20, shot.height / 2 + 20);
      // Reflected light is white: at most 1 % of the visible light, in addition to the cloth's own red.
      expect(linear(red) / linear(blue)).toBeLessThan(linear(0x20) / linear(0xc0) + 0.01);
      blues.push(linear(blue));
    }
    expect(blues[0]! / blues[1]!).toBeGreaterThan(0.5);
    expect(blues[0]! / blues[1]!).toBeLessThan(2);
  });

  test("the strain view shows a sheet at rest in the middle color of its legend, and ends with a second press", async () => {
    const middle = (shot: Picture): [number, number, number] => shot.at(shot.width / 2 + 20, shot.height / 2 + 20);
    expect(blue(middle(await picture("top", 2)))).toBe(true);
    const page = await pageOf("top", 2);
    await page.keyboard.press("s");
    await page.waitForSelector(".strain-legend:not([hidden])", { state: "attached" });
    expect(await page.locator(".strain-legend .ends").first().textContent()).toBe("-1 %0 %1 %");
    const [red, green, blueness] = middle(await take("top", 2));
    expect(Math.abs(red - blueness)).toBeLessThan(60);
    expect(Math.min(red, green, blueness)).toBeGreaterThan(100);
    await page.keyboard.press("s");
    await page.waitForSelector(".strain-legend[hidden]", { state: "attached" });
    expect(blue(middle(await take("top", 2)))).toBe(true);
  });

  test("woven cloth has fine wrinkles in its shading, which the strain view leaves out", async () => {
    /** Standard deviation of light between printed lines, over its mean. */
    const spread = (shot: Picture): number => {
      const light: number[] = [];
      for (let y = 8; y < 32; y++)
        for (let x = 8; x < 32; x++) light.push(linear(shot.at(shot.width / 2 + x, shot.height / 2 + y)[2]));
      const mean = light.reduce((a, b) => a + b) / light.length;
      return Math.sqrt(light.reduce((sum, value) => sum + (value - mean) ** 2, 0) / light.length) / mean;
    };
    const own = spread(await picture("top", 2));
    const page = await pageOf("top", 2);
    await page.keyboard.press("s");
    await page.waitForSelector(".strain-legend:not([hidden])", { state: "attached" });
    const strained = spread(await take("top", 2));
    await page.keyboard.press("s");
    await page.waitForSelector(".strain-legend[hidden]", { state: "attached" });
    expect(own).toBeGreaterThan(0.016);
    expect(strained).toBeLessThan(0.5 * own);
  });

  test("a scene that compares strains begins in the strain view; the key S ends it", async () => {
    const middle = (shot: Picture): [number, number, number] => shot.at(shot.width / 2 + 20, shot.height / 2 + 20);
    expect(blue(middle(await picture("measured", 2)))).toBe(false);
    const page = await pageOf("measured", 2);
    await page.waitForSelector(".strain-legend:not([hidden])", { state: "attached" });
    expect(await page.getAttribute('[data-tool="strain"]', "aria-pressed")).toBe("true");
    await page.keyboard.press("s");
    await page.waitForSelector(".strain-legend[hidden]", { state: "attached" });
    expect(blue(middle(await take("measured", 2)))).toBe(true);
  });

  test.each(inLong([1, 4], [1]))(
    "jelly is darker and more colorful where light has a longer way through it, level %i",
    async (quality) => {
      const shot = await picture("jelly", quality);
      const [left, right] = [0, 1].map((end) => {
        const row = pixels(shot, (x, y) => y === shot.height / 2 && blue(shot.at(x, y))).map(([x]) => x);
        return row.at(-end)!;
      }) as [number, number];
      expect(right - left).toBeGreaterThan(200);
      const color = (share: number): { light: number; saturation: number } => {
        const [r, g, b] = shot.at(Math.round(left + share * (right - left)), shot.height / 2).map(linear) as [
          number,
          number,
          number,
        ];
        return { light: r + g + b, saturation: b / (r + g + b) };
      };
      // The edge towards the eye is in the middle; at a quarter of the width the way to the other side is long. Round
      // edges at the outline turn away from the light, least at the outline itself.
      for (const [deep, thin] of [
        [0.3, 0.02],
        [0.7, 0.98],
      ] as const) {
        expect(color(deep).light).toBeLessThan(0.8 * color(thin).light);
        expect(color(deep).saturation).toBeGreaterThan(color(thin).saturation);
      }
    },
  );

  test.each(inLong([1, 4], [4]))(
    "cloudy red jelly is deeper in color in its middle than at its edges, level %i",
    async (quality) => {
      const shot = await picture("cloudy", quality);
      const row = pixels(shot, (x, y) => y === shot.height / 2 && shot.at(x, y)[0] > shot.at(x, y)[1] + 40);
      expect(row.length).toBeGreaterThan(200);
      const greenAt = (share: number): number =>
        linear(shot.at(row[Math.round(share * (row.length - 1))]![0], row[0]![1])[1]);
      // Paint has one color on each face.
      expect(greenAt(0.3)).toBeLessThan(0.6 * greenAt(0.05));
      expect(greenAt(0.7)).toBeLessThan(0.8 * greenAt(0.95));
    },
  );

  test("thin water is not brighter than the page behind it", async () => {
    const shot = await picture("film", 4);
    const page = Math.max(...[2, shot.width - 3].map((x) => shot.at(x, 2)[2]), shot.at(shot.width / 2, 2)[2]);
    const middle = shot.at(shot.width / 2, shot.height / 2);
    expect(middle[2]).toBeGreaterThan(middle[0]);
    expect(pixels(shot, (x, y) => shot.at(x, y)[2] > page + 8)).toEqual([]);
  });

  test("the edge of a shadow is wider the farther it is from the plate that casts it", async () => {
    const edges = async (quality: number): Promise<[number, number]> => {
      const shot = await picture("plates", quality);
      const row = Array.from({ length: shot.width }, (_, x) => linear(shot.at(x, shot.height / 2)[1]));
      // The plates hide the right ends of their shadows: the left edges are on the free floor.
      return [
        [0, 0.5],
        [0.5, 0.7],
      ].map(([from, to]) => {
        const part = row.slice(Math.round(from! * shot.width), Math.round(to! * shot.width));
        const dark = part.indexOf(Math.min(...part));
        const light = part[Math.max(0, dark - 60)]!;
        const between = (value: number): number => (value - part[dark]!) / (light - part[dark]!);
        return part
          .slice(Math.max(0, dark - 60), dark)
          .filter((value) => between(value) > 0.15 && between(value) < 0.85).length;
      }) as [number, number];
    };
    const [near, far] = await edges(1);
    expect(far).toBeGreaterThan(2 * near);
    // Plain shadows are sharp, also the far one. The sky's shade beside the near plate counts for some pixels.
    const plain = await edges(3);
    expect(Math.max(...plain)).toBeLessThan(10);
  });
});
