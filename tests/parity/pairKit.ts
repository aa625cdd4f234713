/** What tests of the broad phase share: the comparison with everything against everything, and shapes. */
import { expect } from "vitest";
import { everyPair, type ListedPair } from "../../server/sim/reference/pairs.ts";
import { add, norm, scale, subtract, type Vector } from "../../server/sim/reference/vector.ts";
import { UNIT } from "./kit.ts";
import { grid, type Row, type Sheet, type SurfaceRoom } from "./surfaces.ts";

const key = (p: { kind: string; particles: readonly number[]; surfaces: readonly number[] }): string => {
  // which edge of one surface comes first is the tree's choice
  const edges = [p.particles.slice(0, 2), p.particles.slice(2)];
  const particles =
    p.kind === "edges" && p.surfaces[0] === p.surfaces[1]
      ? edges.sort((a, b) => a[0]! - b[0]! || a[1]! - b[1]!).flat()
      : p.particles;
  return `${p.kind} ${p.surfaces.join("/")} ${particles.join(" ")}`;
};

/**
 * Lists and compares. Both sides measure differences of the same float32 numbers in float64: a list may differ from
 * what comes within reach only by 1e-12 of lengths and trajectories, and may hold more only up to the bound g - a
 * (kernel/assembly/broadPhase/trajectories.ts); gaps and thicknesses are float32, two units (2^-24) of the value.
 * @returns the rows
 */
export function check(room: SurfaceRoom): Row[] {
  const count = room.kernel.listPairs(room.x, room.trajectories);
  const rows = room.rows();
  const byKey = new Map(rows.map((row) => [key(row), row]));
  expect(count).toBe(rows.length);
  const twins = everyPair(room.twins, room.positions, room.rest, room.w, 1 + 1e-6, room.displacements);
  const wanted = new Map(twins.map((t) => [key(t), t]));
  // each once; a triangle that the mesh has twice is two
  const times = (
    list: readonly { kind: "vertex" | "edges"; particles: readonly number[]; surfaces: readonly number[] }[],
  ): Map<string, number> => list.reduce((n, p) => n.set(key(p), (n.get(key(p)) ?? 0) + 1), new Map<string, number>());
  const once = times(twins);
  for (const [name, n] of times(rows)) expect(n, name).toBe(once.get(name));
  const sizeOf = (t: ListedPair): number =>
    t.relative +
    Math.max(...t.particles.map((p) => norm(subtract(room.positions[p]!, room.positions[t.particles[0]]!))));
  for (const t of twins) {
    const rounding = 1e-12 * sizeOf(t);
    const listed = byKey.has(key(t));
    if (t.bound > t.reach + rounding)
      expect(
        listed,
        `${key(t)} at ${t.distance} m, never below ${t.bound} m, beyond ${t.reach} m, is in the list`,
      ).toBe(false);
    else if (!listed)
      expect(
        t.comesWithin(t.reach - rounding),
        `${key(t)} at ${t.distance} m comes within ${t.reach} m and is not in the list`,
      ).toBe(false);
  }
  for (const row of rows) {
    const t = wanted.get(key(row));
    expect(t, `${key(row)} is in the list at ${row.gap} m`).toBeDefined();
    const size = sizeOf(t!);
    expect(Math.abs(row.gap - t!.distance)).toBeLessThanOrEqual(2 * UNIT * t!.distance + 1e-12 * size);
    expect(Math.abs(row.thickness - t!.thickness)).toBeLessThanOrEqual(2 * UNIT * t!.thickness + 1e-12 * size);
    if (t!.distance <= 1e-6 * size) continue;
    expect(Math.abs(norm(row.normal) - 1)).toBeLessThan(4 * UNIT);
    // parallel edges have many closest points, but a vertex has one of a triangle
    if (row.kind === "vertex")
      expect(norm(subtract(row.normal, scale(1 / t!.distance, t!.difference)))).toBeLessThan(1e-5);
  }
  return rows;
}

/** Triangles of random corners among random points: shared corners, crossings, needles. */
export function soup(
  random: () => number,
  points: number,
  triangles: number,
  size: number,
): { x: Vector[]; triangles: number[][] } {
  const x = Array.from({ length: points }, (): Vector => [random(), random(), random()]);
  const near = (n: number): number => Math.floor((n / 4) * points + ((random() + 1) / 8) * points) % points;
  const tri = Array.from({ length: triangles }, () => {
    const n = Math.floor(2 * (random() + 1));
    const a = near(n);
    let b = near(n);
    let c = near(n);
    while (b === a) b = (b + 1) % points;
    while (c === a || c === b) c = (c + 1) % points;
    const shrink = (i: number): void => void (x[i] = add(x[a]!, scale(size, subtract(x[i]!, x[a]!))));
    if (random() > 0.5) {
      shrink(b);
      shrink(c);
    }
    return [a, b, c];
  });
  return { x, triangles: tri };
}

/** A sheet of n x n squares folded along a line, its halves `gap` apart, its radius half of that. */
export const folded = (n: number, side: number, gap: number): Sheet => {
  const sheet = grid(n, n, side);
  const middle = (n * side) / 2 + 0.13 * side;
  return {
    ...sheet,
    rest: sheet.x,
    x: sheet.x.map(([x, , z]) => [
      Math.abs(x - middle),
      x > middle ? gap : 0.1 * gap * Math.sin((40 * z) / (n * side)),
      z,
    ]),
    radius: gap / 2,
  };
};
