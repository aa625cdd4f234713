/**
 * Calming and sleep do not change motion that physics keeps up. A body that moves slowly but steadily has the same bits
 * with and without them. Calming keeps the momentum of a body without external forces.
 */
import { expect, test } from "vitest";
import type { Scene } from "../../../shared/scene/scene.ts";
import { calmDeformation } from "../../../server/sim/rest/calm.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";
import { clothGrid, softBox } from "../../support/bodies.ts";

type Vec = readonly [number, number, number];

interface Motion {
  scene: Partial<Scene> & Pick<Scene, "bodies">;
  velocity: (x: Vec) => Vec;
}

const SECONDS = 8;

const motions: Record<string, Motion> = {
  "a cube of 1 m that drifts at 2 cm/s": {
    scene: {
      bodies: [
        softBox("cube", [1, 1, 1], [3, 3, 3], { material: { density: 1000, youngsModulus: 2e4, poissonsRatio: 0.3 } }),
      ],
    },
    velocity: () => [0.02, 0, 0],
  },
  "a cube that turns once in ten minutes": {
    scene: {
      bodies: [
        softBox("cube", [1, 1, 1], [3, 3, 3], { material: { density: 1000, youngsModulus: 1e5, poissonsRatio: 0.3 } }),
      ],
    },
    velocity: (x) => [-0.01 * x[1], 0.01 * x[0], 0.003],
  },
  "a bar that swings by 3 mm": {
    scene: {
      gravity: [0, -9.81, 0],
      bodies: [
        softBox("bar", [0.2, 1, 0.2], [2, 6, 2], {
          transform: { translate: [0, 2, 0] },
          material: { density: 500, youngsModulus: 1e6, poissonsRatio: 0.3 },
        }),
      ],
      attachments: [{ from: { body: "bar", near: [0, 2.5, 0] }, to: { world: [0, 2.5, 0] } }],
    },
    velocity: (x) => [0.003 * 3.8 * (2.5 - x[1]), 0, 0],
  },
  "a wave of 1 cm/s along a bar": {
    scene: {
      bodies: [
        softBox("bar", [4, 0.1, 0.1], [40, 1, 1], {
          material: { density: 1000, youngsModulus: 4e3, poissonsRatio: 0 },
        }),
      ],
    },
    velocity: (x) => [0.01 * Math.cos((Math.PI * (x[0] + 2)) / 4), 0, 0],
  },
  "a curtain that sways at 3 cm/s": {
    scene: {
      gravity: [0, -9.81, 0],
      bodies: [
        clothGrid("curtain", [1, 1], [8, 8], {
          transform: { translate: [0, 2, 0], rotate: [90, 0, 0] },
          material: { density: 350, thickness: 0.001, youngsModulus: 2e5, poissonsRatio: 0.3 },
          pins: [{ select: { box: { min: [-1, 2.49, -1], max: [1, 2.6, 1] } } }],
        }),
      ],
    },
    velocity: (x) => [0, 0, 0.03 * (2.5 - x[1])],
  },
};

async function begin({ scene, velocity }: Motion, mayRest: boolean): Promise<Laboratory> {
  const lab = await laboratory({ refine: true, ...scene });
  lab.world.mayRest = mayRest;
  lab.put(0, (x) => x, velocity);
  return lab;
}

test.each(Object.entries(motions))("%s moves with the same bits as without calming and sleep", async (_, motion) => {
  const lab = await begin(motion, true);
  const free = await begin(motion, false);
  for (let second = 0; second < SECONDS; second++) {
    lab.run(60);
    free.run(60);
    expect(lab.world.resting).toBe(false);
    expect(lab.positions()).toEqual(free.positions());
  }
});

test("calming damps deformation and keeps momentum and angular momentum", () => {
  const count = 20;
  const random = (n: number): number => ((Math.imul(n + 1, 2654435761) >>> 8) & 0xffff) / 0xffff - 0.5;
  const f32 = Float32Array.from({ length: 8 * count }, (_, n) =>
    n % 4 === 3 && n < 4 * count ? 1 + random(n) : random(n),
  );
  const momenta = (): number[] => {
    const sums = [0, 0, 0, 0, 0, 0, 0];
    for (let p = 0, v = 4 * count; p < 4 * count; p += 4, v += 4) {
      const m = 1 / f32[p + 3]!;
      for (let r = 0; r < 3; r++) {
        const [a, b] = [(r + 1) % 3, (r + 2) % 3];
        sums[r]! += m * f32[v + r]!;
        sums[3 + r]! += m * (f32[p + a]! * f32[v + b]! - f32[p + b]! * f32[v + a]!);
        sums[6]! += m * f32[v + r]! ** 2;
      }
    }
    return sums;
  };
  const before = momenta();
  for (let n = 0; n < 100; n++) calmDeformation(f32, 0, 4 * count, count, 0.9);
  const after = momenta();
  // 100 roundings of 20 velocities below 0.5 m/s, each at most 2^-25 of that times 2 kg
  for (let k = 0; k < 6; k++) expect(Math.abs(after[k]! - before[k]!)).toBeLessThan(100 * count * 2 ** -25);
  // 0.9^100 of the deformation is left: a rigid motion, whose energy does not change any more
  expect(after[6]).toBeLessThan(0.5 * before[6]!);
  calmDeformation(f32, 0, 4 * count, count, 0);
  expect(Math.abs(momenta()[6]! / after[6]! - 1)).toBeLessThan(1e-4);
});
