/**
 * Prefactored sheets: they hang at the right length for any stiffness and mesh, conserve momentum, and rest on
 * colliders without crossings. Weights: autoSheets.test.ts.
 */
import { expect, test } from "vitest";
import type { Body, ClothBody } from "../../../shared/scene/scene.ts";
import type { Input } from "../../../server/sim/types.ts";
import { crossings } from "../contact/crossings.ts";
import { laboratory } from "../laboratory.ts";
import { momentum } from "../laws/worldMomentum.ts";
import { elongation, hangs, heightOf } from "../measures.ts";

const G = 9.81;

const sheet = (more: Omit<ClothBody, "name" | "kind" | "solver">): Body => ({
  name: "sheet",
  kind: "cloth",
  solver: "prefactored",
  ...more,
});

test.each([
  [10, 1e5],
  [40, 1e7],
  [20, 1e8],
])("a sheet of %d cells a meter and %d Pa hangs as far down as its weight requires", async (cells, youngsModulus) => {
  const [density, width] = [200, Math.round(0.3 * cells)];
  const lab = await laboratory({
    substeps: 20,
    iterations: 1,
    gravity: [0, -G, 0],
    bodies: [
      sheet({
        mesh: { type: "grid", size: [width / cells, 1], cells: [width, cells] },
        transform: { rotate: [90, 0, 0] },
        material: { density, thickness: 1e-3, youngsModulus, poissonsRatio: 0, damping: 4 },
        pins: [{ select: { box: { min: [-1, 0.4999, -1], max: [1, 1, 1] } } }],
      }),
    ],
  });
  lab.run(120);
  expect(Math.abs(elongation(lab) / hangs(cells, density, youngsModulus) - 1)).toBeLessThan(0.02);
});

test("a free sheet keeps its momentum and its spin", async () => {
  const lab = await laboratory({
    substeps: 10,
    iterations: 1,
    bodies: [
      sheet({
        contact: { self: false },
        mesh: { type: "grid", size: [1, 1], cells: [12, 12] },
        material: { density: 200, thickness: 1e-3, youngsModulus: 1e6, poissonsRatio: 0.3, damping: 0 },
      }),
    ],
  });
  lab.put(
    0,
    (at) => at,
    ([x, , z]) => [2 * z + 1, 0.3, -2 * x],
  );
  const before = momentum(lab);
  lab.run(120);
  const after = momentum(lab);
  for (let r = 0; r < 3; r++) expect(Math.abs(after.linear[r]! - before.linear[r]!)).toBeLessThan(1e-5 * before.mass);
  expect(Math.abs(after.angular[1] / before.angular[1] - 1)).toBeLessThan(1e-4);
});

test("a sheet over a sphere comes to rest at its length, without crossings and without gaining energy", async () => {
  const lab = await laboratory({
    substeps: 10,
    iterations: 1,
    gravity: [0, -G, 0],
    damping: 2,
    bodies: [
      sheet({
        mesh: { type: "grid", size: [0.8, 0.8], cells: [20, 20] },
        transform: { translate: [0.02, 0.6, 0.01], rotate: [0, 20, 0] },
        material: {
          density: 300,
          thickness: 1e-3,
          youngsModulus: 1e6,
          poissonsRatio: 0.3,
          bendingStiffness: 1e-4,
          friction: 0.5,
        },
      }),
    ],
    colliders: [
      { type: "plane", normal: [0, 1, 0], offset: 0, friction: 0.5 },
      { type: "sphere", center: [0, 0.3, 0], radius: 0.2, friction: 0.5 },
    ],
  });
  const { mass, triangles, own } = lab.created.bodies[0]!;
  const energy = (): number => {
    const [x, v] = [lab.positions(), lab.velocities()];
    return mass.reduce(
      (sum, m, i) => sum + m * (G * x[3 * i + 1]! + 0.5 * (v[3 * i]! ** 2 + v[3 * i + 1]! ** 2 + v[3 * i + 2]! ** 2)),
      0,
    );
  };
  const start = energy();
  for (let t = 0; t < 16; t++) {
    lab.run(15);
    expect(energy()).toBeLessThan(start);
    expect(crossings(lab)).toBe(0);
  }
  const [x, v] = [lab.positions(), lab.velocities()];
  let longest = 0;
  for (let k = 0; k < triangles.length; k++) {
    const [i, j] = [triangles[k]!, triangles[k - (k % 3) + ((k + 1) % 3)]!];
    const length = (at: Float64Array): number => Math.hypot(...[0, 1, 2].map((r) => at[3 * i + r]! - at[3 * j + r]!));
    longest = Math.max(longest, length(x) / length(own!));
  }
  // the weight of the whole sheet on one row of its edges stretches it by 0.3 %
  expect(longest).toBeLessThan(1.02);
  expect(Math.sqrt(v.reduce((sum, c) => sum + c * c, 0) / mass.length)).toBeLessThan(0.02);
});

test("a sheet that can touch nothing swings with few substeps, and gains no energy", async () => {
  const lab = await laboratory({
    substeps: 5,
    iterations: 1,
    gravity: [0, -G, 0],
    damping: 0,
    bodies: [
      sheet({
        contact: { self: false },
        mesh: { type: "grid", size: [1, 1], cells: [20, 20] },
        material: { density: 300, thickness: 1e-3, youngsModulus: 1e5, poissonsRatio: 0.3, bendingStiffness: 1e-5 },
        pins: [{ select: { box: { min: [-9, -9, -9], max: [-0.499, 9, 9] } } }],
      }),
    ],
  });
  const { mass, pinned } = lab.created.bodies[0]!;
  // elastic energy is never below 0
  const energy = (): number => {
    const [x, v] = [lab.positions(), lab.velocities()];
    return mass.reduce((sum, m, i) => {
      if (pinned[i]) return sum;
      return sum + m * (G * x[3 * i + 1]! + 0.5 * (v[3 * i]! ** 2 + v[3 * i + 1]! ** 2 + v[3 * i + 2]! ** 2));
    }, 0);
  };
  let lowest = 0;
  for (let tick = 0; tick < 300; tick++) {
    lab.run(1);
    expect(energy()).toBeLessThan(0);
    lowest = Math.min(lowest, heightOf(lab, 0));
  }
  // it hangs 0.5 m below its pins at rest, and swings through there
  expect(lowest).toBeLessThan(-0.45);
});

test("three hands that pull a soft sheet to twice its length neither blow it up nor hold it", async () => {
  const lab = await laboratory({
    substeps: 10,
    iterations: 1,
    gravity: [0, -G, 0],
    damping: 1,
    interaction: { grabCompliance: 0.001, grabMaxForce: 40, grabRadius: 0.06 },
    bodies: [
      sheet({
        contact: { self: false },
        mesh: { type: "grid", size: [0.9, 0.9], cells: [30, 30] },
        transform: { rotate: [90, 0, 0] },
        material: { density: 300, thickness: 1e-3, youngsModulus: 2e5, poissonsRatio: 0.3, bendingStiffness: 2e-5 },
        pins: [{ select: { box: { min: [-9, 0.4499, -9], max: [9, 9, 9] } } }],
      }),
    ],
  });
  const { triangles } = lab.created.bodies[0]!;
  const hands = (tick: number): Input[] =>
    [0, 1, 2].map((h) => {
      const a = 0.05 * tick + 2 * h;
      const target = [0.8 * Math.cos(a), 0.6 * Math.sin(1.7 * a), 0.8 * Math.sin(a)] as [number, number, number];
      const triangle = Math.floor((triangles.length / 3) * ((h + 0.5) / 3.2));
      return tick === 30
        ? { type: "grab", member: h + 1, grab: 0, body: 0, triangle, u: 0.3, v: 0.3, target }
        : { type: "move", member: h + 1, grab: 0, target };
    });
  let farthest = 0;
  for (let tick = 1; tick <= 150; tick++) {
    const events = lab.run(1, tick < 30 ? [] : hands(tick));
    expect(events).toEqual([]);
    farthest = lab.positions().reduce((most, c) => Math.max(most, Math.abs(c)), farthest);
  }
  // the hands reach 0.8 m; the sheet hangs 0.45 m below its middle, and may be stretched to twice its length
  expect(farthest).toBeGreaterThan(0.6);
  expect(farthest).toBeLessThan(2);
});
