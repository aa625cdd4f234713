/**
 * Scenes rebuilt from public reports against other physics engines, each at default settings, with the value that
 * physics gives. The comment of each test names the report.
 */
import { describe, expect, test } from "vitest";
import type { Vec3 } from "../../../shared/scene/scene.ts";
import { inLong } from "../../support/run/long.ts";
import {
  G,
  RUBBER,
  RIGID,
  SHEET,
  floor,
  wall,
  box,
  ball,
  sheet,
  balloon,
  hung,
  inclined,
  open,
  add,
  distance,
  farthest,
  heights,
  peaks,
} from "./play.ts";
import type { Play } from "./play.ts";

describe("rebound", () => {
  // Rapier #97, Jolt #1286
  test("of a ball with restitution 1 has the same height at every bounce", async () => {
    const play = await open({
      bodies: [ball("ball", 0.1, [0, 1.1, 0], { contact: { restitution: 1 } })],
      colliders: [{ ...floor, restitution: 1 }],
    });
    const ys: number[] = [];
    play.run(8, () => ys.push(play.middle()[1] - 0.1));
    expect(peaks(ys).length).toBeGreaterThanOrEqual(8);
    for (const peak of peaks(ys)) expect(Math.abs(peak - 1)).toBeLessThan(0.003);
  });

  // Rapier #615
  test("between smooth walls without gravity keeps each component of the velocity", async () => {
    const normals = [0, 1, 2].flatMap((k) => [1, -1].map((s) => [0, 1, 2].map((r) => (r === k ? s : 0))));
    const play = await open({
      gravity: [0, 0, 0],
      damping: 0,
      bodies: [ball("ball", 0.1, [0, 0, 0], { velocity: [2, 1.3, 0.7], contact: { restitution: 1 } })],
      colliders: normals.map((normal) => ({ type: "plane", normal, offset: -1, restitution: 1, friction: 0 })),
    });
    const way: Vec3 = [0, 0, 0];
    let last = play.middle();
    play.run(inLong(20, 8), () => {
      const now = play.middle();
      for (const k of [0, 1, 2] as const) way[k] = Math.max(way[k], Math.abs(now[k] - last[k]));
      last = now;
    });
    const before = last;
    play.run(1 / 60);
    const speeds = add(play.middle(), before, -1).map((d) => Math.abs(60 * d));
    [2, 1.3, 0.7].forEach((speed, k) => {
      expect(Math.abs(60 * way[k]! - speed)).toBeLessThan(0.002);
      expect(speeds[k]).toBeGreaterThan(0);
    });
  });
});

// Newton's cradle with gaps; unequal masses
describe("an elastic impact in a row", () => {
  const elastic = { contact: { restitution: 1 } };
  const speeds = async (bodies: object[]): Promise<number[]> => {
    const play = await open({ gravity: [0, 0, 0], damping: 0, bodies });
    play.run(1);
    const before = bodies.map((_, b) => play.middle(b)[0]);
    play.run(1);
    return bodies.map((_, b) => play.middle(b)[0] - before[b]!);
  };
  test("of equal balls passes the whole speed to the last one", async () => {
    const row = [1, 2, 3].map((i) => ball(`ball ${i}`, 0.1, [0.3 + 0.2005 * i, 0, 0], elastic));
    const found = await speeds([ball("first", 0.1, [0, 0, 0], { velocity: [1, 0, 0], ...elastic }), ...row]);
    [0, 0, 0, 1].forEach((speed, i) => expect(Math.abs(found[i]! - speed)).toBeLessThan(0.002));
  });
  test("of a ball and one of eight times its mass has the textbook's speeds", async () => {
    const large = ball("large", 0.2, [0.5, 0, 0], elastic);
    const found = await speeds([ball("small", 0.1, [0, 0, 0], { velocity: [1, 0, 0], ...elastic }), large]);
    [-7 / 9, 2 / 9].forEach((speed, i) => expect(Math.abs(found[i]! - speed)).toBeLessThan(0.002));
  });
});

describe("friction", () => {
  test.each([
    [0.5, 5 / 7],
    [0, 1],
  ])(
    "of %f on a slope of 20 degrees gives a ball %f of the acceleration of gravity along it",
    async (friction, share) => {
      const play = await open({
        damping: 0,
        gravity: inclined(20),
        bodies: [ball("ball", 0.2, [0, 0.2, 0], { material: { density: 1000, friction } })],
        colliders: [{ ...floor, friction }],
      });
      play.run(1);
      expect(play.middle()[0] / (0.5 * share * inclined(20)[0])).toBeCloseTo(1, 2);
    },
  );

  // Creep of resting bodies on slopes: reports against PhysX, Bullet and MuJoCo (#1649)
  test.each([
    ["sheet", sheet(0.5, 10, [0, 0.003, 0])],
    ["soft box", box("box", [0.3, 0.1, 0.3], [0, 0.05, 0], RUBBER)],
  ])("of 0.5 keeps a %s in place on a slope of 20 degrees, also without sleep", async (_, body) => {
    const play = await open({ gravity: inclined(20), bodies: [body], colliders: [floor] }, false);
    play.run(2);
    const [x] = play.middle();
    play.run(inLong(10, 4));
    expect(Math.abs(play.middle()[0] - x)).toBeLessThan(1e-5);
  });

  // FUDGE #340, Godot #16450
  test.each([
    [0.5, true],
    [1.5, false],
  ])("of 0.5 on a turntable of 2 rad/s: at %f m a block stays: %s", async (radius, stays) => {
    const keys = Array.from({ length: 401 }, (_, i) => ({ time: (i * Math.PI) / 40, rotate: [0, 9 * i, 0] }));
    const table = { type: "cylinder", a: [0, -0.1, 0], b: [0, 0.1, 0], radius: 3, motion: { keys } };
    const play = await open({ bodies: [box("block", [0.1, 0.1, 0.1], [radius, 0.152, 0])], colliders: [table] });
    play.run(10);
    const [x, , z] = play.middle();
    if (stays) expect(Math.abs(Math.hypot(x, z) - radius)).toBeLessThan(0.015);
    else expect(Math.hypot(x, z)).toBeGreaterThan(3);
  });

  // Box2D #906
  test("lets a ball that was thrown up a slope roll back: its slow apex is no rest", async () => {
    const [slope, speed] = [(10 * Math.PI) / 180, 0.3];
    const bodies = [ball("ball", 0.2, [0, 0.2, 0], { velocity: [speed, 0, 0] })];
    const gravity = [-Math.sin(slope), -Math.cos(slope), 0];
    const play = await open({ damping: 0, gravity, bodies, colliders: [floor] });
    let top = 0;
    play.run(12, () => (top = Math.max(top, play.middle()[0])));
    // The ball slides until its spin matches its speed (friction 0.5), then rolls.
    const [down, rub] = [Math.sin(slope), 0.5 * Math.cos(slope)];
    const seconds = speed / (down + 3.5 * rub);
    const rolling = speed - (down + rub) * seconds;
    const highest = ((speed + rolling) / 2) * seconds + rolling ** 2 / ((10 / 7) * down);
    expect(top / highest).toBeCloseTo(1, 1);
    expect(play.middle()[0]).toBeLessThan(-5);
  });
});

describe("a body", () => {
  // bepuphysics2 #371
  describe.each([5, 20, 60])("of 10 cm at %i m/s", (speed) => {
    const velocity = [speed, 0, 0];
    test.each([
      ["ball", ball("body", 0.05, [-1, 0, 0], { velocity })],
      ["rigid box", box("body", [0.1, 0.1, 0.1], [-1, 0, 0], RIGID, { velocity })],
      ["soft box", box("body", [0.1, 0.1, 0.1], [-1, 0, 0], RUBBER, { velocity })],
    ])("does not pass through a wall of 1 cm: %s", async (_, body) => {
      const play = await open({ gravity: [0, 0, 0], bodies: [body], colliders: [wall] });
      let most = -1;
      play.run(1, () => (most = Math.max(most, ...play.places().map(([x]) => x))));
      expect(most).toBeLessThan(-0.004);
      expect(most).toBeGreaterThan(-0.03);
    });
  });
});

describe("a sheet", () => {
  // SoftGym #43, Modeling Cloth #17
  test("over a sharp box is pierced by no corner and not stretched over its edges", async () => {
    const pillar = { type: "box", center: [0, 0.25, 0], halfExtents: [0.2, 0.25, 0.2] };
    const play = await open({ bodies: [sheet(1, 24, [0, 0.55, 0])], colliders: [floor, pillar], damping: 1 });
    play.run(6);
    const places = play.places();
    for (const [x, y, z] of places) expect(Math.max(Math.abs(x), Math.abs(z), y - 0.3)).toBeGreaterThan(0.199);
    for (let i = 0; i < 25; i++)
      for (let k = 0; k < 24; k++) {
        expect(distance(places[25 * i + k]!, places[25 * i + k + 1]!) * 24).toBeLessThan(1.1);
        expect(distance(places[25 * k + i]!, places[25 * k + i + 25]!) * 24).toBeLessThan(1.1);
      }
  });

  // ppf-contact-solver #111
  test("moves by the same bits beside a distant moving ball", async () => {
    // the same steps: those of scenes without substeps depend on all bodies
    const scene = (more: object[]): object => ({
      substeps: 10,
      bodies: [sheet(1, inLong(16, 8), [0, 1, 0], hung), ...more],
      colliders: [floor],
    });
    const [alone, beside] = [await open(scene([])), await open(scene([ball("far", 0.1, [6, 90, 0])]))];
    for (const play of [alone, beside]) play.run(3);
    expect(beside.places()).toEqual(alone.places());
  });

  // FleX #139
  test("that is made twice as stiff contracts to its new length without a jump", async () => {
    const soft = { ...hung, material: { ...SHEET, youngsModulus: 2e4 } };
    const play = await open({ bodies: [sheet(1, 20, [0, 1, 0], soft)], damping: 2 });
    play.run(8);
    const stretch = (youngsModulus: number): number => (SHEET.density * G) / (2 * youngsModulus);
    expect(-Math.min(...heights(play.places())) / stretch(2e4)).toBeCloseTo(0.9, 0);
    let [most, last] = [0, play.places()];
    const look = (): void => {
      const now = play.places();
      most = Math.max(most, farthest(now, last));
      last = now;
    };
    play.run(6, look, [{ type: "tune", member: 1, body: 0, youngsModulus: 4e4 }]);
    expect(most).toBeLessThan(0.02);
    expect(-Math.min(...heights(last)) / stretch(4e4)).toBeCloseTo(0.95, 1);
  });

  // Unreal: teleported attachments of cloth
  test("on a pole that jumps by a meter hangs below it again", async () => {
    const keys = [{ time: 0 }, { time: 2 }, { time: 2.0001, translate: [1, 0, 0] }, { time: 10, translate: [1, 0, 0] }];
    const pole = { type: "box", name: "pole", center: [0, 1.35, 0], halfExtents: [0.3, 0.05, 0.05], motion: { keys } };
    const upright = { transform: { translate: [0, 1, 0], rotate: [90, 0, 0] } };
    const attachments = [-0.25, 0, 0.25].map((x) => ({
      ...{ from: { body: "sheet", near: [x, 1.25, 0] }, to: { collider: "pole" } },
    }));
    const bodies = [sheet(0.5, 12, [0, 0, 0], upright)];
    const play = await open({ bodies, colliders: [pole], attachments, damping: 1 });
    play.run(7);
    expect(distance(play.middle(), [1, 1, 0])).toBeLessThan(0.03);
  });
});

describe("a balloon", () => {
  const radii = (play: Play): number[] => play.places().map((place) => distance(place, play.middle()));

  // Godot #112348
  test("at (100, 26, -100) has the shape that it has at the origin", async () => {
    const found: number[][] = [];
    for (const place of [
      [0, 5, 0],
      [100, 26, -100],
    ] as Vec3[]) {
      const play = await open({ worldRadius: 200, gravity: [0, 0, 0], bodies: [balloon(place)] });
      play.run(4);
      found.push(radii(play));
      expect(distance(play.middle(), place)).toBeLessThan(1e-3);
    }
    found[0]!.forEach((radius, i) => expect(Math.abs(found[1]![i]! - radius)).toBeLessThan(1e-5));
  });

  test("that inflates in free space does not turn", async () => {
    const play = await open({ gravity: [0, 0, 0], bodies: [balloon([0, 5, 0])] }, false);
    const arms = (): Vec3[] => play.places().map((place) => add(place, play.middle(), -1));
    const before = arms();
    play.run(4);
    // The sum of r x s over |r| |s| is two thirds of a small turn.
    let [sum, size] = [[0, 0, 0] as Vec3, 0];
    arms().forEach((s, i) => {
      const r = before[i]!;
      sum = add(sum, [r[1] * s[2] - r[2] * s[1], r[2] * s[0] - r[0] * s[2], r[0] * s[1] - r[1] * s[0]]);
      size += Math.hypot(...r) * Math.hypot(...s);
    });
    expect((1.5 * Math.hypot(...sum)) / size).toBeLessThan(0.002);
  });

  // Godot #123661
  test("keeps its size through forty pauses", async () => {
    const play = await open({ gravity: [0, 0, 0], bodies: [balloon([0, 1, 0])] });
    play.run(4);
    const before = radii(play);
    for (let i = 0; i < 40; i++) {
      play.run(0.1, undefined, [{ type: "tune", member: 1, timeScale: 0 }]);
      play.run(0.1, undefined, [{ type: "tune", member: 1, timeScale: 1 }]);
    }
    radii(play).forEach((radius, i) => expect(Math.abs(radius - before[i]!)).toBeLessThan(1e-4));
  });
});

describe("a soft body", () => {
  // Bullet #3210, Libbulletjme #2
  test("of any stiffness lies on the floor, the stiffer the higher", async () => {
    const tops: number[] = [];
    for (const youngsModulus of [600, 1200, 1e4, 1e6]) {
      const body = {
        ...{ name: "ball", kind: "soft", mesh: { type: "ball", radius: 0.25, subdivisions: 3 } },
        ...{ tetrahedralize: { spacing: 0.1 }, transform: { translate: [0, 0.6, 0] } },
        // undamped, the stiffest keeps 95 % of its height in a bounce, as an explicit reference does
        material: { density: 61, youngsModulus, poissonsRatio: 0.3, damping: 1 },
      };
      const play = await open({ bodies: [body], colliders: [floor] });
      play.run(5);
      const ys = heights(play.places());
      expect(Math.abs(Math.min(...ys))).toBeLessThan(0.005);
      tops.push(Math.max(...ys));
    }
    expect(tops).toEqual(tops.toSorted((a, b) => a - b));
    expect(tops[0]).toBeGreaterThan(0.2);
    expect(tops[3]).toBeLessThan(0.5);
    expect(tops[3]).toBeGreaterThan(0.475);
  });

  test("pressed to half its height by a plate has its shape again afterwards", async () => {
    const keys = [
      { time: 0 },
      { time: 1, translate: [0, -0.15, 0] },
      { time: 1.5, translate: [0, -0.15, 0] },
      { time: 2, translate: [0, 0.3, 0] },
    ];
    const plate = { type: "box", center: [0, 0.41, 0], halfExtents: [0.5, 0.1, 0.5], motion: { keys } };
    const play = await open({ bodies: [box("box", [0.3, 0.3, 0.3], [0, 0.15, 0], RUBBER)], colliders: [floor, plate] });
    let least = 1;
    play.run(4.5, () => (least = Math.min(least, Math.max(...heights(play.places())))));
    expect(least).toBeLessThan(0.16);
    const ys = heights(play.places());
    expect(Math.max(...ys) - Math.min(...ys)).toBeGreaterThan(0.29);
    expect(distance(play.middle(), [0, 0.15, 0])).toBeLessThan(0.01);
  });

  // Bullet #4070
  test("that is attached to a rigid one, and ignores it, comes to rest", async () => {
    const soft = { ...RUBBER, youngsModulus: 1e4, model: "neo-hookean" };
    const bodies = [
      box("soft", [0.25, 0.25, 0.25], [0, 1, 0], soft, { contact: { ignore: ["rigid"] } }),
      box("rigid", [0.25, 0.25, 0.25], [0, 1.3, 0]),
    ];
    const corners = [-0.125, 0.125].flatMap((x) => [-0.125, 0.125].map((z) => [x, z] as const));
    const attachments = corners.map(([x, z]) => ({
      from: { body: "soft", near: [x, 1.125, z] },
      to: { body: "rigid", near: [x, 1.175, z] },
    }));
    const play = await open({ bodies, attachments, colliders: [floor] });
    play.run(14);
    const before = play.places();
    play.run(0.5);
    expect(farthest(play.places(), before)).toBeLessThan(0.01);
  });
});
