/**
 * Sheets with default settings, which touch themselves and name no solver: they hang at the right length, and strips
 * swing as beams do, for any stiffness and mesh.
 */
import { expect, test } from "vitest";
import type { ClothBody } from "../../../shared/scene/scene.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";
import { elongation, hangs } from "../measures.ts";

const G = 9.81;

async function room(body: Omit<ClothBody, "name" | "kind">, gravity: number): Promise<Laboratory> {
  return laboratory({ gravity: [0, -gravity, 0], refine: true, bodies: [{ name: "sheet", kind: "cloth", ...body }] });
}

test.each([
  [10, 1e5],
  [20, 1e7],
  [20, 1e8],
])(
  "a sheet of %d cells a meter and %d Pa hangs as far down as the weight of its rows requires",
  async (cells, youngsModulus) => {
    const [density, thickness] = [200, 1e-3];
    const lab = await room(
      {
        mesh: { type: "grid", size: [1, 1], cells: [cells, cells] },
        transform: { rotate: [90, 0, 0] },
        material: { density, thickness, youngsModulus, poissonsRatio: 0, damping: 4 },
        pins: [{ select: { box: { min: [-1, 0.4999, -1], max: [1, 1, 1] } } }],
      },
      G,
    );
    lab.run(240);
    const exact = hangs(cells, density, youngsModulus);
    // float32 resolves 3e-8 m here
    expect(Math.abs(elongation(lab) / exact - 1)).toBeLessThan(0.001 + 6e-8 / exact);
  },
);

test.each([20, 40, 80])("a clamped strip of %d cells swings in the first mode of a beam", async (cells) => {
  const d = 1 / cells;
  const [B, mass] = [1, 1];
  const size = 1 + d;
  // two columns are fixed: the hinge at the second stands for half a cell of the strip on both sides
  const [clamp, length] = [-size / 2 + d / 2, size - d / 2];
  const lab = await room(
    {
      mesh: { type: "grid", size: [size, 2 * d], cells: [cells + 1, 2] },
      pins: [{ select: { box: { min: [-1, -1, -1], max: [-size / 2 + d + 1e-6, 1, 1] } } }],
      material: {
        density: 1000 * mass,
        thickness: 1e-3,
        youngsModulus: 2e7,
        poissonsRatio: 0,
        bendingStiffness: B,
        damping: 0,
      },
    },
    0,
  );
  // cos b cosh b = -1
  const b = 1.8751;
  const r = (Math.sinh(b) - Math.sin(b)) / (Math.cosh(b) + Math.cos(b));
  const mode = (s: number): number => Math.cosh(b * s) - Math.cos(b * s) - r * (Math.sinh(b * s) - Math.sin(b * s));
  const along = (x: number): number => Math.max(0, (x - clamp - d / 2) / (length - d / 2));
  lab.put(0, ([x, y, z]) => [x, y + 1e-3 * mode(along(x)), z]);
  const end = lab.created.bodies[0]!.positions.findIndex((x, k) => k % 3 === 0 && x > size / 2 - 1e-6);
  // a quarter of a period: from its release until it lies flat
  let [before, now, ticks] = [0, lab.positions()[end + 1]!, 0];
  for (; now > 0 && ticks < 600; ticks++) {
    lab.run(1);
    [before, now] = [now, lab.positions()[end + 1]!];
  }
  const quarter = (ticks - 1 + before / (before - now)) / 60;
  const exact = (b * b * Math.sqrt(B / mass)) / (2 * Math.PI * length ** 2);
  expect(Math.abs(1 / (4 * quarter) / exact - 1)).toBeLessThan(0.03);
});
