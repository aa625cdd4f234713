/** Smoke in a gas: it comes from the source, goes with the tracers, fades in time and near walls, and shades itself. */
import { Box3, Vector3 } from "three";
import { expect, test } from "vitest";
import { Smoke } from "../../../../client/view/fluids/smoke.ts";

const BOX = new Box3(new Vector3(-0.5, 0, -0.5), new Vector3(0.5, 1, 0.5));
const SOURCE = { center: [0, 0.3, 0], radius: 0.1 } as const;
const UP = new Vector3(0, 1, 0);
/** s */
const FRAME = 1 / 30;

const smokeAt = (source: typeof SOURCE | undefined): Smoke =>
  new Smoke(BOX, source && { center: [...source.center], radius: source.radius }, UP);

/** Tracers on a lattice, moved along x. */
function tracers(x = 0): Float32Array {
  const places: number[] = [];
  for (let i = -5; i <= 5; i++)
    for (let j = 0; j <= 10; j++) for (let k = -5; k <= 5; k++) places.push(i / 10 + x, j / 10, k / 10);
  return Float32Array.from(places);
}

function texelAt({ texels, cells, cell }: Smoke, x: number, y: number, z: number): { density: number; light: number } {
  const [i, j, k] = [x + 0.5, y, z + 0.5].map((away) => Math.round(away / cell)) as [number, number, number];
  const at = 2 * (i + cells[0] * (j + cells[1] * k));
  return { density: texels[at]! / 255, light: texels[at + 1]! / 255 };
}
const densityAt = (smoke: Smoke, x: number, y: number, z: number): number => texelAt(smoke, x, y, z).density;

/** Time of the tracers, s, from `from`; they move at `speed`, m/s. */
function run(smoke: Smoke, from: number, to: number, every: number, speed = 0): void {
  for (let n = 0; from + n * every <= to + 1e-9; n++) smoke.update(tracers(speed * n * every), from + n * every);
}

test("smoke stays at its source in still gas", () => {
  const smoke = smokeAt(SOURCE);
  run(smoke, 0, 1, FRAME);
  expect(densityAt(smoke, 0, 0.3, 0)).toBeGreaterThan(0.9);
  expect(densityAt(smoke, 0.15, 0.3, 0)).toBeLessThan(0.05);
});

test("smoke goes with the gas, and keeps 1/e of its density after 4.5 s", () => {
  const smoke = smokeAt(SOURCE);
  // The first known velocity counts as if it had been there before: all of the wake is there at once.
  run(smoke, 0, FRAME, FRAME, 0.25);
  const [near, far] = [0.1, 0.25].map((x) => densityAt(smoke, x, 0.3, 0)) as [number, number];
  expect(near).toBeGreaterThan(0.5);
  expect(far / near).toBeCloseTo(Math.exp(-0.15 / 0.25 / 4.5), 1);
  expect(densityAt(smoke, -0.15, 0.3, 0)).toBeLessThan(0.05);
});

test("a page that draws twice a second shows the same smoke as one that draws at each frame", () => {
  const [often, seldom] = [smokeAt(SOURCE), smokeAt(SOURCE)];
  run(often, 0, 2, FRAME, 0.1);
  run(seldom, 0, 2, 0.5, 0.1);
  for (const x of [0, 0.1, 0.2]) expect(densityAt(seldom, x, 0.3, 0)).toBeCloseTo(densityAt(often, x, 0.3, 0), 1);
});

test("a jump of time, as in a replay, moves no smoke", () => {
  const smoke = smokeAt(SOURCE);
  run(smoke, 0, 1, FRAME);
  const before = smoke.texels.slice();
  expect(smoke.update(tracers(0.4), 500)).toBe(false);
  expect(smoke.update(tracers(0.1), 2)).toBe(false);
  expect(smoke.texels).toEqual(before);
});

test("smoke fades near the walls of its box, so that it does not show their shape", () => {
  const smoke = smokeAt(SOURCE);
  run(smoke, 0, FRAME, FRAME, 0.25);
  expect(densityAt(smoke, 0.35, 0.3, 0)).toBeGreaterThan(0.5);
  expect(densityAt(smoke, 0.5, 0.3, 0)).toBeLessThan(0.5 * densityAt(smoke, 0.35, 0.3, 0));
});

test("gas without a source is smoke everywhere", () => {
  const smoke = smokeAt(undefined);
  run(smoke, 0, 1, FRAME, 0.1);
  expect(densityAt(smoke, -0.4, 0.1, 0.2)).toBeCloseTo(0.3, 1);
  expect(densityAt(smoke, 0.4, 0.9, -0.2)).toBeCloseTo(0.3, 1);
});

test("smoke is darker under other smoke", () => {
  const smoke = smokeAt(SOURCE);
  run(smoke, 0, 1, FRAME);
  expect(texelAt(smoke, 0, 0.5, 0).light).toBe(1);
  expect(texelAt(smoke, 0, 0.3, 0).light).toBeLessThan(0.8);
  expect(texelAt(smoke, 0, 0.1, 0).light).toBeLessThan(texelAt(smoke, 0, 0.3, 0).light);
});
