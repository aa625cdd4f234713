/**
 * No threshold is in meters: the same scene in millimeters and at ten times its size behaves
 * alike. With lengths times s, gravity and speeds times s, moduli times s^2 and the rest as their units require, the
 * motion is the same up to the factor. If s is a power of two, even rounding is the same, so the motions must agree to
 * the last bit. Bodies touch the floor, colliders and each other, and are grabbed and hit.
 *
 * The lower limit: elements of about 0.05 mm, where products of two entries of an element's system (w/edge^2, squared)
 * exceed float32's 3e38.
 */
import { describe, expect, test } from "vitest";
import { inLong } from "../../support/run/long.ts";
import { laboratory } from "../laboratory.ts";
import { run } from "./scaled.ts";
import { softBox } from "../../support/bodies.ts";

const whole = run(1);

describe("the same motion to the last bit", () => {
  test.each(inLong([2 ** -17, 2 ** -12, 1 / 1024, 1 / 64, 1 / 16, 1 / 2, 4, 16, 64], [2 ** -17, 1 / 1024, 1 / 2, 64]))(
    "%f times as large",
    async (s) => {
      const [{ x, events }, { x: base, events: none }] = await Promise.all([run(s), whole]);
      expect([...events, ...none]).toEqual([]);
      x.forEach((body, b) => expect(body.map((v) => v / s)).toEqual(base[b]));
    },
  );

  test("the compared motion moves everything", async () => {
    const { x } = await whole;
    const still = await laboratory({
      bodies: [
        softBox("a", [0.25, 0.25, 0.25], [3, 3, 3], {
          transform: { translate: [0, 0.375, 0], rotate: [20, 10, 0] },
          material: { density: 500, youngsModulus: 2e4, poissonsRatio: 0.4 },
        }),
      ],
    });
    expect(Math.max(...still.positions().map((v, k) => Math.abs(v - x[0]![k]!)))).toBeGreaterThan(0.1);
  });
});

test("ordinary rubber in millimeters: a cube of 5 mm of 1e5 Pa rests on the floor and holds its shape", async () => {
  const lab = await laboratory({
    // Sound crosses two elements in a substep, and colliders push by g h^2 (0.8 um of 1.25 mm) after each. Coarser
    // steps crush the lowest row.
    gravity: [0, -9.81, 0],
    damping: 5,
    substeps: 60,
    iterations: 10,
    bodies: [
      softBox("c", [0.005, 0.005, 0.005], [4, 4, 4], {
        transform: { translate: [0, 0.003, 0] },
        material: { density: 1000, youngsModulus: 1e5, poissonsRatio: 0.4 },
      }),
    ],
    colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0 }],
  });
  expect(lab.run(120)).toEqual([]);
  const x = lab.positions();
  const size = (r: number): number =>
    Math.max(...x.filter((_, k) => k % 3 === r)) - Math.min(...x.filter((_, k) => k % 3 === r));
  expect(Math.min(...x.filter((_, k) => k % 3 === 1))).toBeGreaterThan(0);
  // its own weight is 50 Pa of 1e5
  for (const r of [0, 1, 2]) expect(size(r) / 0.005).toBeCloseTo(1, 2);
});

test.each([
  [200, 9.81],
  [1, 0.01],
])(
  "a body of %f m that begins to fall under %f m/s^2 is slow for its size, but does not count as coming to rest",
  async (size, g) => {
    const fall = async (mayRest: boolean): Promise<Float64Array> => {
      const lab = await laboratory({
        gravity: [0, -g, 0],
        worldRadius: 1e5,
        bodies: [
          softBox("b", [size, size, size], [2, 2, 2], {
            material: { density: 500, youngsModulus: 1e7, poissonsRatio: 0.3 },
          }),
        ],
      });
      lab.world.mayRest = mayRest;
      expect(lab.run(300)).toEqual([]);
      return lab.positions();
    };
    expect(await fall(true)).toEqual(await fall(false));
  },
);
