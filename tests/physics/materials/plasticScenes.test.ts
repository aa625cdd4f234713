/**
 * The gallery's statements about its plastic scenes: scenes/twisted-beams.json and scenes/dented-dragons.json, as rooms
 * run them.
 */
import { expect, test } from "vitest";
import { readScene } from "../../../server/sim/scene/readScene.ts";
import { dentOf } from "./dent.ts";
import { laboratory, volumeOf, type Laboratory } from "../laboratory.ts";
import { turnOf } from "../bars/twist.ts";

const open = async (name: string): Promise<Laboratory> =>
  laboratory({ gravity: [0, -9.81, 0], ...(await readScene(`scenes/${name}.json`)) }, "scenes");

test("jaws twist four beams by half a turn; (b) keeps more than (a), (c) less, and (d) springs back", async () => {
  const lab = await open("twisted-beams");
  const bodies = [0, 1, 2, 3];
  // the beams stand along y: permute axes so that their heads lie along x
  const along = (x: Float64Array): Float64Array => x.map((_, k) => x[3 * Math.floor(k / 3) + [1, 2, 0][k % 3]!]!);
  const rest = bodies.map((b) => along(lab.positions(b)));
  const heads = rest.map((x) => Array.from({ length: x.length / 3 }, (_, i) => i).filter((i) => x[3 * i]! > 0.999));
  const turns = bodies.map(() => 0);
  const most = bodies.map(() => 0);
  // they turn for 1 s: 15 degrees in 5 ticks, so the branch of the angle is known
  for (let n = 0; n < 48; n++) {
    expect(lab.run(5)).toEqual([]);
    for (const b of bodies)
      most[b] = Math.max(most[b]!, (turns[b] = turnOf(rest[b]!, along(lab.positions(b)), heads[b]!, turns[b]!)));
  }
  const [a, b, c, d] = turns as [number, number, number, number];
  // half a turn, minus the slip of the jaws
  for (const m of most) expect(Math.abs(m / Math.PI - 1)).toBeLessThan(0.1);
  expect(b).toBeGreaterThan(1.1 * a);
  expect(c).toBeLessThan(0.9 * a);
  expect(d).toBeLessThan(0.6 * a);
});

test("a sphere leaves a dent in the plastic dragon, and the elastic one springs back", async () => {
  const lab = await open("dented-dragons");
  const names = lab.created.bodies.map((b) => b.name);
  const [plastic, elastic] = [names.indexOf("plastic"), names.indexOf("elastic")];
  const rest = lab.positions(plastic);
  const elasticRest = lab.positions(elastic);
  lab.run(150);
  for (const [b, name] of names.entries()) if (name.startsWith("sphere")) lab.put(b, ([x, y, z]) => [x, y, z + 3]);
  lab.run(60);
  // 2 % of the size is visible
  expect(dentOf(lab.positions(plastic), rest)).toBeGreaterThan(0.02);
  // its own weight and the remaining swing: not visible
  expect(dentOf(lab.positions(elastic), elasticRest)).toBeLessThan(0.02);
  expect(volumeOf(lab.positions(plastic), lab.created.bodies[plastic]!.tets).inverted).toBe(0);
});
