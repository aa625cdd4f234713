/**
 * Rigid impact zones (kernel/assembly/contact/verify/rigidImpactZones.ts). A zone keeps its linear and angular
 * momentum. It moves from S to x by an affine map 1 + t [w] whose determinant 1 + t^2 |w|^2 is never 0, so no two of
 * its points come nearer to each other. Rounding: the motion is float64 and its end is rounded once, UNIT of each
 * coordinate; momenta are sums of that.
 */
import { describe, expect, test } from "vitest";
import * as L from "../../../server/kernel/assembly/layout/layout.ts";
import { instantiateKernel } from "../../../server/sim/world/kernelModule.ts";
import { Allocator } from "../../../server/sim/memory/memoryMap.ts";
import { planContactArrays } from "../../../server/sim/memory/contact/contactArrays.ts";
import {
  add,
  cross,
  dot,
  norm,
  scale,
  solveLinear,
  subtract,
  type Vector,
} from "../../../server/sim/reference/vector.ts";
import { randomStream, UNIT } from "../kit.ts";
import { marksIn } from "../../../server/sim/world/marks.ts";

interface Cloud {
  safe: Vector[];
  x: Vector[];
  w: number[];
}

/** Moves the joined particles, four at a time. @returns positions of all particles */
function move({ safe, x, w }: Cloud, joins: readonly (readonly [number, number, number, number])[]): Vector[] {
  const n = x.length;
  const rows = Math.ceil((n + L.DUMMIES) / 4) * 4;
  const allocator = new Allocator();
  const [X, S, v] = [0, 1, 2].map(() => allocator.take(16 * rows)) as [number, number, number];
  const touches = planContactArrays(rows, true, 1, allocator);
  const memory = new WebAssembly.Memory({ initial: allocator.pages, maximum: allocator.pages, shared: true });
  const f32 = new Float32Array(memory.buffer);
  const i32 = new Int32Array(memory.buffer);
  touches.write(memory.buffer, 0, [], [], X + 16 * n);
  for (const [offset, value] of [
    [L.H_X, X],
    [L.H_SAFE, S],
    [L.H_V, v],
    [L.H_PARTICLES, rows],
  ] as const)
    i32[(L.HEADER + offset) / 4] = value;
  // H_SAFE points to the test's safe positions, not to those that planContactArrays has allocated
  x.forEach((p, i) => {
    f32.set([...p, w[i]!], X / 4 + 4 * i);
    f32.set([...safe[i]!, w[i]!], S / 4 + 4 * i);
  });
  const kernel = instantiateKernel(memory);
  const at = (i: number): number => X + 16 * i;
  kernel.beginZones();
  for (const [a, b, c, d] of joins) kernel.joinZone(at(a), at(b), at(c), at(d));
  kernel.moveZones();
  kernel.endZones();
  kernel.endChanges();
  // no marks remain for the next substep
  expect(marksIn(i32).every((m) => (m & ~L.MARK_LAGS) === 0)).toBe(true);
  return x.map((_, i) => [f32[X / 4 + 4 * i]!, f32[X / 4 + 4 * i + 1]!, f32[X / 4 + 4 * i + 2]!]);
}

const round = (p: Vector): Vector => p.map(Math.fround) as unknown as Vector;
const vector = (random: () => number): Vector => [random(), random(), random()];

/** Particles around `at` with random displacements of up to `speed` sizes. */
function cloud(random: () => number, n: number, at: Vector, size: number, speed: number): Cloud {
  const safe = Array.from({ length: n }, () => round(add(at, scale(size, vector(random)))));
  return {
    safe,
    x: safe.map((p) => round(add(p, scale(speed * size, vector(random))))),
    w: safe.map(() => Math.fround(1 / (1 + 0.9 * random()))),
  };
}

/** Joins particles 0 .. n - 1 into one zone. */
const chain = (n: number): [number, number, number, number][] =>
  Array.from({ length: n - 3 }, (_, i) => [i, i + 1, i + 2, i + 3]);

const mean = (m: readonly number[], of: readonly Vector[]): Vector =>
  scale(
    1 / m.reduce((a, b) => a + b, 0),
    of.reduce<Vector>((sum, p, i) => add(sum, scale(m[i]!, p)), [0, 0, 0]),
  );

/** Linear momentum times h, and angular momentum about the center of mass at S. */
function momenta(
  { safe, w }: Cloud,
  x: readonly Vector[],
): { linear: Vector; angular: Vector; center: Vector; m: number[] } {
  const m = w.map((value) => 1 / value);
  const center = mean(m, safe);
  const u = x.map((p, i) => subtract(p, safe[i]!));
  return {
    m,
    center,
    linear: u.reduce<Vector>((sum, d, i) => add(sum, scale(m[i]!, d)), [0, 0, 0]),
    angular: u.reduce<Vector>((sum, d, i) => add(sum, scale(m[i]!, cross(subtract(safe[i]!, center), d))), [0, 0, 0]),
  };
}

describe.each([
  ["around zero", [0, 0, 0], 1],
  ["1 mm at 8 m", [8, -5, 3], 0.001],
  ["1e-6 m", [0, 0, 0], 1e-6],
] as [string, Vector, number][])("%s", (_, at, size) => {
  test.each([0.001, 0.3, 5])(
    "thrown about by %d sizes, a zone keeps its momentum and its points do not approach",
    (speed) => {
      const random = randomStream(61);
      for (let trial = 0; trial < 50; trial++) {
        const before = cloud(random, 4 + (trial % 9), at, size, speed);
        const after = move(before, chain(before.x.length));
        const { linear, angular, center, m } = momenta(before, before.x);
        const now = momenta(before, after);
        const mass = m.reduce((a, b) => a + b, 0);
        const ulp = UNIT * Math.max(...after.flat().map(Math.abs)) * 2;
        expect(norm(subtract(now.linear, linear))).toBeLessThan(ulp * mass);
        expect(norm(subtract(now.angular, angular))).toBeLessThan(2 * ulp * mass * size);
        // the motion with those momenta: V and w, by the inertia at S
        const inertia = [0, 1, 2].map((a) =>
          [0, 1, 2].map((b) =>
            before.safe.reduce((sum, p, i) => {
              const r = subtract(p, center);
              return sum + m[i]! * ((a === b ? dot(r, r) : 0) - r[a]! * r[b]!);
            }, 0),
          ),
        );
        const V = scale(1 / mass, linear);
        const spin = solveLinear(inertia, angular) as unknown as Vector;
        after.forEach((p, i) =>
          expect(
            norm(subtract(p, add(before.safe[i]!, add(V, cross(spin, subtract(before.safe[i]!, center)))))),
          ).toBeLessThan(2 * ulp),
        );
        for (let i = 0; i < after.length; i++)
          for (let j = 0; j < i; j++)
            expect(norm(subtract(after[i]!, after[j]!))).toBeGreaterThan(
              norm(subtract(before.safe[i]!, before.safe[j]!)) - 2 * ulp,
            );
        // volumes grow by the determinant
        const volume = (x: readonly Vector[]): number =>
          dot(subtract(x[1]!, x[0]!), cross(subtract(x[2]!, x[0]!), subtract(x[3]!, x[0]!)));
        const sides = 4 * size * Math.sqrt(1 + dot(spin, spin));
        expect(Math.abs(volume(after) - (1 + dot(spin, spin)) * volume(before.safe))).toBeLessThan(
          3 * 2 * ulp * sides * sides,
        );
      }
    },
  );
});

test("two zones move independently; the order of joining changes no bit; other particles stay", () => {
  const before = cloud(randomStream(62), 13, [1, 2, 3], 1, 0.5);
  const first = chain(6);
  const second = chain(5).map((four) => four.map((i) => i + 6) as [number, number, number, number]);
  const after = move(before, [...first, ...second]);
  const part = (from: number, to: number): Cloud => ({
    safe: before.safe.slice(from, to),
    x: before.x.slice(from, to),
    w: before.w.slice(from, to),
  });
  for (const [from, to] of [
    [0, 6],
    [6, 11],
  ] as const)
    expect(
      norm(
        subtract(
          momenta(part(from, to), after.slice(from, to)).linear,
          momenta(part(from, to), before.x.slice(from, to)).linear,
        ),
      ),
    ).toBeLessThan(40 * UNIT * 8);
  expect(after.slice(11)).toEqual(before.x.slice(11));
  // Places are relative to the first member, which is the same. The order of sums differs, so float64 sums may differ
  // in their last bit, but positions do not.
  expect(move(before, [first[0]!, ...second, ...first.slice(1)])).toEqual(after);
});

test("a zone with a fixed particle follows it; with two that separate it stays at the start of the substep", () => {
  const before = cloud(randomStream(63), 8, [0, 0, 0], 1, 0.3);
  const way: Vector = [0.25, -0.5, 0.125];
  before.w[2] = 0;
  before.x[2] = round(add(before.safe[2]!, way));
  const along = subtract(before.x[2]!, before.safe[2]!);
  move(before, chain(8)).forEach((p, i) =>
    expect(norm(subtract(p, add(before.safe[i]!, along)))).toBeLessThan(4 * UNIT),
  );
  before.w[5] = 0;
  before.x[5] = before.safe[5]!;
  expect(move(before, chain(8))).toEqual(before.safe);
});

test("particles on a line do not rotate about it, and their momentum is kept", () => {
  const random = randomStream(64);
  const line = Array.from({ length: 6 }, (): Vector => [random(), 0, 0].map(Math.fround) as unknown as Vector);
  const before: Cloud = {
    safe: line,
    x: line.map((p) => round(add(p, scale(0.2, vector(random))))),
    w: line.map(() => 1),
  };
  const after = move(before, chain(6));
  expect(norm(subtract(momenta(before, after).linear, momenta(before, before.x).linear))).toBeLessThan(12 * UNIT);
  for (let i = 0; i < 6; i++)
    for (let j = 0; j < i; j++)
      expect(norm(subtract(after[i]!, after[j]!))).toBeGreaterThan(norm(subtract(line[i]!, line[j]!)) - 4 * UNIT);
});
