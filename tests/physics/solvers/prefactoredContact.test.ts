/**
 * Contact of prefactored sheets with other bodies: they carry many times their mass at their material's length,
 * exchange momentum, gain no energy, and are not crossed.
 */
import { expect, test } from "vitest";
import type { Body, ClothBody } from "../../../shared/scene/scene.ts";
import { crossings } from "../contact/crossings.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";
import { lowest, topSpeed } from "../measures.ts";
import { ballBody, softBox } from "../../support/bodies.ts";

const G = 9.81;

const sheet = (more: Omit<ClothBody, "name" | "kind" | "solver">, name = "sheet"): Body => ({
  name,
  kind: "cloth",
  solver: "prefactored",
  ...more,
});

const steps = { substeps: 10, iterations: 1 };

/** Longest edge of a sheet over its length at rest. */
function longest(lab: Laboratory, body: number): number {
  const { triangles, own } = lab.created.bodies[body]!;
  const x = lab.positions(body);
  let most = 0;
  for (let k = 0; k < triangles.length; k++) {
    const [i, j] = [triangles[k]!, triangles[k - (k % 3) + ((k + 1) % 3)]!];
    const length = (at: Float64Array): number => Math.hypot(...[0, 1, 2].map((r) => at[3 * i + r]! - at[3 * j + r]!));
    most = Math.max(most, length(x) / length(own!));
  }
  return most;
}

/** Linear and angular momentum of all bodies, and their kinetic and potential energy. */
function totals(lab: Laboratory, gravity: number): { momentum: number[]; spin: number[]; energy: number } {
  const momentum = [0, 0, 0];
  const spin = [0, 0, 0];
  let energy = 0;
  lab.created.bodies.forEach(({ mass, pinned }, b) => {
    const [x, v] = [lab.positions(b), lab.velocities(b)];
    mass.forEach((m, i) => {
      if (pinned[i]) return;
      for (let r = 0; r < 3; r++) {
        const [s, t] = [3 * i + ((r + 1) % 3), 3 * i + ((r + 2) % 3)];
        momentum[r]! += m * v[3 * i + r]!;
        spin[r]! += m * (x[s]! * v[t]! - x[t]! * v[s]!);
        energy += 0.5 * m * v[3 * i + r]! ** 2;
      }
      energy += m * gravity * x[3 * i + 1]!;
    });
  });
  return { momentum, spin, energy };
}

test("a ball of 20 kg hangs on a strip of 30 g and touches it: the strip has its material's length", async () => {
  const lab = await laboratory({
    ...steps,
    gravity: [0, -G, 0],
    damping: 3,
    bodies: [
      sheet({
        mesh: { type: "grid", size: [0.1, 1], cells: [2, 20] },
        transform: { rotate: [90, 0, 0], translate: [0, 2, 0] },
        material: { density: 300, thickness: 1e-3, youngsModulus: 1e9, poissonsRatio: 0.3, bendingStiffness: 2e-5 },
        pins: [{ select: { box: { min: [-1, 2.49, -1], max: [1, 2.51, 1] } } }],
      }),
      ballBody("ball", 0.1, { transform: { translate: [0, 1.38, 0] }, material: { density: 4775 } }),
    ],
    attachments: [-0.05, 0, 0.05].map((x) => ({
      from: { body: "sheet", near: [x, 1.5, 0] as [number, number, number] },
      to: { body: "ball", near: [0, 1.48, 0] as [number, number, number] },
    })),
  });
  lab.run(120);
  expect(Math.abs(2.5 - lowest(lab, 0) - 1.002)).toBeLessThan(1e-3);
  expect(longest(lab, 0)).toBeLessThan(1.01);
});

/**
 * Sag of a strip of length 1 between two places that carries a flat weight of the given width in its middle: the
 * tension beside the weight is T = A k s (s^2 - 1)/2, and 2 T sin = the weight.
 * @param sticks whether friction keeps the part under the weight at its length; otherwise T is the same there
 */
function sagOf(weight: number, area: number, k: number, width: number, sticks: boolean): number {
  const a = (1 - width) / 2;
  let [low, high] = [0, 1];
  for (let n = 0; n < 60; n++) {
    const d = (low + high) / 2;
    const side = Math.hypot(a, d);
    const s = sticks ? side / a : 2 * side + width;
    if (((2 * d) / side) * ((area * k * s * (s * s - 1)) / 2) < weight) low = d;
    else high = d;
  }
  return low;
}

test("a box of 50 times a strip's mass lies in it as deep as the material allows", async () => {
  const lab = await laboratory({
    ...steps,
    gravity: [0, -G, 0],
    damping: 4,
    bodies: [
      sheet({
        mesh: { type: "grid", size: [1, 0.3], cells: [30, 9] },
        material: { density: 300, thickness: 1e-3, youngsModulus: 1e7, poissonsRatio: 0, friction: 0.5 },
        pins: [
          { select: { box: { min: [-1, -1, -1], max: [-0.499, 1, 1] } } },
          { select: { box: { min: [0.499, -1, -1], max: [1, 1, 1] } } },
        ],
      }),
      softBox("box", [0.2, 0.02, 0.3], [2, 1, 3], {
        transform: { translate: [0, 0.012, 0] },
        material: { model: "shape-matching", mode: "rigid", density: 4000, friction: 0.5 },
      }),
    ],
  });
  lab.run(160);
  const x = lab.positions(0);
  const under = x.filter((_, k) => k % 3 === 1 && Math.abs(x[k - 1]!) < 0.07);
  const sag = -under.reduce((sum, y) => sum + y, 0) / under.length;
  const weight = (4000 * 1.2e-3 + 0.045) * G;
  expect(sag).toBeGreaterThan(0.98 * sagOf(weight, 3e-4, 1e7, 0.2, true));
  expect(sag).toBeLessThan(1.02 * sagOf(weight, 3e-4, 1e7, 0.2, false));
  expect(topSpeed(lab, 1)).toBeLessThan(0.1);
  expect(crossings(lab, true)).toBe(0);
});

const met: [string, Body][] = [
  ["a ball", { name: "other", kind: "ball", mesh: { type: "ball", radius: 0.1 }, material: { density: 300 } }],
  [
    "a rigid box",
    softBox("other", [0.2, 0.2, 0.2], [2, 2, 2], {
      material: { model: "shape-matching", mode: "rigid", density: 300 },
    }),
  ],
  [
    "a soft cube",
    softBox("other", [0.2, 0.2, 0.2], [2, 2, 2], {
      material: { density: 300, youngsModulus: 1e5, poissonsRatio: 0.3, damping: 0 },
    }),
  ],
  [
    "another sheet",
    sheet(
      {
        contact: { self: false },
        mesh: { type: "grid", size: [0.3, 0.3], cells: [8, 8] },
        material: { density: 300, thickness: 1e-3, youngsModulus: 1e6, poissonsRatio: 0.3, damping: 0 },
      },
      "other",
    ),
  ],
];

test.each(met)("%s that meets a free sheet exchanges momentum with it, and no energy is gained", async (_, other) => {
  const lab = await laboratory({
    ...steps,
    bodies: [
      sheet({
        contact: { self: false },
        mesh: { type: "grid", size: [0.6, 0.6], cells: [12, 12] },
        material: { density: 300, thickness: 1e-3, youngsModulus: 1e6, poissonsRatio: 0.3, damping: 0 },
      }),
      { ...other, transform: { translate: [0.05, 0.13, 0.02] } } as Body,
    ],
  });
  lab.put(
    1,
    (at) => at,
    () => [0.3, -2, 0.1],
  );
  const before = totals(lab, 0);
  for (let t = 0; t < 8; t++) {
    lab.run(3);
    expect(totals(lab, 0).energy).toBeLessThan(before.energy * (1 + 1e-5));
    // self-contact is off: a sheet may cross itself
    expect(crossings(lab, true)).toBe(0);
  }
  const after = totals(lab, 0);
  const moving = Math.hypot(...before.momentum);
  for (let r = 0; r < 3; r++) {
    expect(Math.abs(after.momentum[r]! - before.momentum[r]!)).toBeLessThan(1e-5 * moving);
    expect(Math.abs(after.spin[r]! - before.spin[r]!)).toBeLessThan(1e-5 * moving);
  }
  // the sheet has taken over a part of the motion
  const speed = lab.velocities(0).filter((_v, k) => k % 3 === 1);
  expect(speed.reduce((sum, v) => sum + v, 0) / speed.length).toBeLessThan(-0.2);
});

test("a ball thrown at a hanging sheet is slowed down, and the sheet keeps its length", async () => {
  const lab = await laboratory({
    ...steps,
    gravity: [0, -G, 0],
    bodies: [
      sheet({
        mesh: { type: "grid", size: [1, 1], cells: [20, 20] },
        transform: { rotate: [90, 0, 0] },
        material: { density: 300, thickness: 1e-3, youngsModulus: 1e6, poissonsRatio: 0.3, bendingStiffness: 2e-5 },
        pins: [{ select: { box: { min: [-9, 0.499, -9], max: [9, 9, 9] } } }],
      }),
      ballBody("ball", 0.12, { transform: { translate: [0.02, 0, 0.2] }, material: { density: 100 } }),
    ],
  });
  lab.put(
    1,
    (at) => at,
    () => [0, 0, -4],
  );
  const start = totals(lab, G).energy;
  for (let t = 0; t < 12; t++) {
    lab.run(3);
    expect(totals(lab, G).energy).toBeLessThan(start + 1e-3);
    expect(crossings(lab)).toBe(0);
    expect(longest(lab, 0)).toBeLessThan(1.3);
  }
  const v = lab.velocities(1);
  expect(v[2]!).toBeGreaterThan(-3);
});

test("sheets on each other lie on a floor at their length, in their order", async () => {
  const lab = await laboratory({
    ...steps,
    gravity: [0, -G, 0],
    damping: 2,
    colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0, friction: 0.5 }],
    bodies: [0, 1, 2].map((n) =>
      sheet(
        {
          mesh: { type: "grid", size: [0.4, 0.4], cells: [8, 8] },
          transform: { translate: [0.01 * n, 0.01 + 0.01 * n, 0], rotate: [0, 15 * n, 0] },
          material: { density: 300, thickness: 1e-3, youngsModulus: 1e6, poissonsRatio: 0.3, friction: 0.5 },
        },
        `sheet ${n}`,
      ),
    ),
  });
  lab.run(60);
  expect(crossings(lab)).toBe(0);
  const heights = [0, 1, 2].map((n) => {
    const y = lab.positions(n).filter((_, k) => k % 3 === 1);
    return y.reduce((sum, c) => sum + c, 0) / y.length;
  });
  expect(heights[1]!).toBeGreaterThan(heights[0]!);
  expect(heights[2]!).toBeGreaterThan(heights[1]!);
  for (let n = 0; n < 3; n++) {
    expect(longest(lab, n)).toBeLessThan(1.02);
    expect(topSpeed(lab, n)).toBeLessThan(0.1);
  }
});
