/**
 * kernel/assembly/broadPhase/pairs.ts on particles that follow their trajectories p + t d, t from 0 to 1, against
 * everything with everything in float64: whether two primitives come within reach is found by halving time as often as
 * their speed demands (sim/reference/pairs.ts), which shares nothing with the kernel's directions that part them.
 */
import { expect, test } from "vitest";
import { everyPair } from "../../server/sim/reference/pairs.ts";
import { add, cross, scale, subtract, type Vector } from "../../server/sim/reference/vector.ts";
import { randomStream } from "./kit.ts";
import { check, folded, soup } from "./pairKit.ts";
import { grid, surfaceRoom, type Row, type Sheet, type SurfaceRoom } from "./surfaces.ts";

const list = (room: SurfaceRoom): Row[] => {
  room.kernel.listPairs(room.x, room.trajectories);
  return room.rows();
};
const vector = (random: () => number): Vector => [random(), random(), random()];

for (const [at, unit] of [
  [[0, 0, 0], 1],
  [[1000, -700, 300], 0.01],
  [[3, 5, 1], 1e4],
] as [Vector, number][]) {
  for (const speed of [0.01, 0.1, 1, 20]) {
    test(`soups of triangles, unit ${unit} m at ${at.join(" ")} m, every particle ${speed} units somewhere`, () => {
      const random = randomStream(5);
      const sheet = (points: number, triangles: number): Sheet => {
        const s = soup(random, points, triangles, 0.1);
        const whole = vector(random);
        return {
          // halfway in the midst of the others
          triangles: s.triangles,
          x: s.x.map((p) => add(at, scale(unit, subtract(p, scale(0.5 * speed, whole))))),
          radius: 0.02 * unit,
          margin: 0.01 * unit,
          trajectories: s.x.map(() =>
            scale(unit * speed, add(whole, scale((random() > 0.3 ? 0.1 : 1) / Math.max(1, speed), vector(random)))),
          ),
        };
      };
      expect(check(surfaceRoom([sheet(24, 31), sheet(15, 16), sheet(9, 6)])).length).toBeGreaterThan(50);
    });
  }
}

test("a cloth folded onto itself at 1 mm, swinging: folds meet, neighbors do not", () => {
  const side = 0.01;
  const n = 14;
  const sheet = folded(n, side, 0.001);
  const trajectories = sheet.x.map(
    ([x, , z]): Vector => [0.004 * Math.sin(30 * z), 0.012 * Math.sin(25 * x + 10 * z), 0.004 * Math.cos(20 * x)],
  );
  const still = list(surfaceRoom([{ ...sheet, margin: 0.0005 }])).length;
  const rows = check(surfaceRoom([{ ...sheet, margin: 0.0005, trajectories }]));
  expect(rows.length).toBeGreaterThan(still / 2);
  expect(rows.length).toBeLessThan(2 * still);
});

/** Everything of a sheet moved by p -> place(p). */
const moved = (x: readonly Vector[], place: (p: Vector) => Vector): Vector[] => x.map((p) => subtract(place(p), p));
const turned =
  (axis: Vector, angle: number) =>
  (p: Vector): Vector => {
    const k = scale(1 / Math.hypot(...axis), axis);
    const c = Math.cos(angle);
    const s = Math.sin(angle);
    const along = k[0] * p[0] + k[1] * p[1] + k[2] * p[2];
    return add(add(scale(c, p), scale(s, cross(k, p))), scale(along * (1 - c), k));
  };

test.each<[string, (p: Vector) => Vector]>([
  ["flies 100 m", (p) => add(p, [60, -80, 0.3])],
  ["turns by 40 degrees about an axis 3 m away", (p) => add(turned([1, 2, 3], 0.7)(add(p, [2, -1, 2])), [-2, 1, -2])],
  ["turns by 40 degrees in its plane", turned([0, 1, 0], 0.7)],
  ["is sheared by a third, in its plane and out of it", ([x, , z]) => [x + z / 3, x / 3, z]],
])("a sheet that %s meets nothing of itself", (_, place) => {
  const sheet = grid(24, 24, 0.01);
  expect(
    list(surfaceRoom([{ ...sheet, radius: 0.0005, margin: 0.0005, trajectories: moved(sheet.x, place) }])),
  ).toEqual([]);
});

test("two sheets that fly through each other at 100 m/s, seen within a sixtieth of a second", () => {
  const side = 0.05;
  const n = 6;
  const sheet = grid(n, n, side);
  const tilt = turned([1, 0.3, 0.2], 0.4);
  const way: Vector = tilt([0.3, -100 / 60, 0.1]);
  const still: Sheet = { triangles: sheet.triangles, x: sheet.x.map(tilt), radius: 0.002, margin: 0.001 };
  const flying: Sheet = {
    ...still,
    x: sheet.x.map((p) => tilt(add(p, [0.013, 0.8, -0.021]))),
    trajectories: sheet.x.map(() => way),
  };
  const room = surfaceRoom([still, flying]);
  const rows = check(room);
  expect(rows.every((r) => r.surfaces[0] !== r.surfaces[1])).toBe(true);
  expect(rows.length).toBeGreaterThan(100);
  // neither turns: the direction that parts two primitives best is found, and nothing is listed that stays apart
  const meeting = everyPair(room.twins, room.positions, room.rest, room.w, 1, room.displacements).filter((t) =>
    t.comesWithin(t.reach * (1 + 1e-6)),
  );
  expect(rows.length).toBeLessThanOrEqual(meeting.length);
});

test("everything with the same trajectory: the list of what stands still", () => {
  const sheet = folded(12, 0.01, 0.001);
  const still = surfaceRoom([{ ...sheet, margin: 0.0005 }]);
  const rows = list(still);
  expect(rows.length).toBeGreaterThan(500);
  for (const way of [
    [1, 2, -3],
    [0, 1e-30, 0],
    [1e4, 0, 0],
  ] as Vector[])
    expect(list(surfaceRoom([{ ...sheet, margin: 0.0005, trajectories: sheet.x.map(() => way) }]))).toEqual(rows);
});

test("scaled by a power of two: the same list, lengths scaled", () => {
  const random = randomStream(9);
  const s = folded(12, 0.01, 0.001);
  const ways = s.x.map(([x, , z]) => add([0.02 * z, 0.01 * Math.sin(20 * x), 0.003], scale(0.0005, vector(random))));
  const at = (factor: number): Row[] => {
    const by = (x: readonly Vector[]): Vector[] => x.map((p) => scale(factor, p));
    return list(
      surfaceRoom([
        {
          triangles: s.triangles,
          x: by(s.x),
          rest: by(s.rest!),
          radius: factor * s.radius,
          margin: factor * 0.0007,
          trajectories: by(ways),
        },
        {
          x: by([
            [0.02, 0.03, 0],
            [0.05, 0.02, 0],
            [0.03, 0.02, 0.05],
          ]),
          triangles: [[0, 1, 2]],
          radius: factor * 0.001,
          trajectories: by([
            [0, -0.04, 0.01],
            [0, -0.03, 0],
            [0.02, -0.05, 0],
          ]),
        },
      ]),
    );
  };
  const one = at(1);
  expect(one.filter((r) => r.surfaces[0] !== r.surfaces[1]).length).toBeGreaterThan(10);
  for (const power of [-10, 7])
    expect(at(2 ** power)).toEqual(
      one.map((row) => ({ ...row, gap: row.gap * 2 ** power, thickness: row.thickness * 2 ** power })),
    );
});

test("a trajectory that is no number meets nothing; an infinite one leaves the surface to the guard", () => {
  const sheet = folded(8, 0.01, 0.001);
  const broken = 40;
  const trajectories = sheet.x.map((_, i): Vector => [0, 1e-5 * Math.sin(i), 0]);
  const room = surfaceRoom([{ ...sheet, radius: 0, margin: 0.0004, trajectories }]);
  const f32 = new Float32Array(room.memory.buffer);
  f32[room.trajectories / 4 + 4 * broken + 1] = NaN;
  expect(list(room).some((r) => r.particles.includes(broken))).toBe(false);
  f32[room.trajectories / 4 + 4 * broken + 1] = Infinity;
  expect(room.kernel.listPairs(room.x, room.trajectories)).toBe(0);
});
