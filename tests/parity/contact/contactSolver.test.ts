/**
 * Surface contacts, kernel against the float64 twin and against exact arithmetic: the force pass (contactSolver.ts),
 * closest points in lanes (contactLanes.ts), clearance by the check (contactCheck.ts), and packing of a list
 * (contactList.ts).
 *
 * Rounding: coordinates are differences within a pair, so errors are units (2^-24) of its size, times about a dozen
 * dependent steps. A difference divided by a gap errs by size/gap more. A position that moves is rounded again, at its
 * own place.
 */
import { describe, expect, test } from "vitest";
import * as L from "../../../server/kernel/assembly/layout/layout.ts";
import { edgeEdge, vertexTriangle } from "../../../server/tools/check/exact/swept.ts";
import type { Scene } from "../../../shared/scene/scene.ts";
import { validateScene } from "../../../shared/scene/sceneValidator.ts";
import { createWorld } from "../../../server/sim/world/createWorld.ts";
import { instantiateKernel } from "../../../server/sim/world/kernelModule.ts";
import {
  closestOf,
  separation,
  solveContacts,
  type ReferenceContactPair,
} from "../../../server/sim/reference/contacts.ts";
import { add, combine, cross, dot, norm, scale, subtract, type Vector } from "../../../server/sim/reference/vector.ts";
import { randomStream, UNIT } from "../kit.ts";
import { contactKit, type ContactKit, cornersOf, type PairCase, SECONDS, SUBSTEPS } from "./contactKit.ts";
import { packedPairs, solvedPairs } from "./contactLists.ts";
import { clothGrid } from "../../support/bodies.ts";

type Kind = ReferenceContactPair["kind"];
const KINDS: Kind[] = ["vertex", "edges"];
const PLACES: [string, Vector, number][] = [
  ["around zero", [0, 0, 0], 1],
  ["1 mm at 8 m", [8, -5, 3], 0.001],
  ["1e-9 m", [0, 0, 0], 1e-9],
  ["1e6 m", [0, 0, 0], 1e6],
];

/** Coefficients of a pair without friction and restitution that is not marked as near. */
const SMOOTH = { near: false, staticFriction: 0, dynamicFriction: 0, restitution: 0 };

const unit = (a: Vector): Vector => scale(1 / norm(a), a);
const vector = (random: () => number): Vector => [random(), random(), random()];

/** Two primitives of size about 1, with closest points inside both, `gap` apart along n. */
function apart(
  kind: Kind,
  gap: number,
  random: () => number,
): { points: Vector[]; n: Vector; weights: ReferenceContactPair["weights"] } {
  const n = unit(vector(random));
  const u = unit(cross(n, vector(random)));
  const v = cross(n, u);
  const share = (): number => 0.5 + 0.4 * random();
  if (kind === "vertex") {
    const [a, b] = [0.6 * share(), 0.6 * share()] as const;
    const corners = [
      [1, 0],
      [-0.5, 0.9],
      [-0.5, -0.9],
    ].map(([s, t]) => add(scale(s!, u), scale(t!, v)));
    const weights: ReferenceContactPair["weights"] = [1, -a, -b * (1 - a), -(1 - a) * (1 - b)];
    const foot = scale(-1, combine(weights.slice(1), corners));
    return { points: [add(foot, scale(gap, n)), ...corners], n, weights };
  }
  const s = share();
  const t = share();
  const turn = unit(add(u, scale(0.3 + share(), v)));
  return {
    points: [
      add(scale(gap, n), scale(-s, u)),
      add(scale(gap, n), scale(1 - s, u)),
      scale(-t, turn),
      scale(1 - t, turn),
    ],
    n,
    weights: [1 - s, s, t - 1, -t],
  };
}

/** Motions from safe positions and coefficients that cycle through all cases of the pass. */
function forceCase(kind: Kind, n: number, at: Vector, size: number, random: () => number): PairCase {
  const r = 0.05;
  const put = (p: Vector): Vector => add(at, scale(size, p));
  const before = r * (n % 4 === 0 ? 0.5 + 0.4 * random() : 1.2 + 0.5 * random());
  const { points, n: normal, weights } = apart(kind, before, random);
  const moves = points.map((_, k) =>
    add(
      scale(0.04 * random() + (k === 0 || (kind === "edges" && k === 1) ? -0.05 : 0.02), normal),
      scale(0.05, vector(random)),
    ),
  );
  return {
    safe: points.map(put),
    x: points.map((p, k) => put(add(p, moves[k]!))),
    w: points.map((_, k) => (n % 7 === k ? 0 : 1 + 0.9 * random())),
    touch: {
      thickness: r * size,
      keep: (r * size) / 8,
      gap: before * size,
      normal,
      weights,
      near: n % 11 !== 0,
      staticFriction: n % 3 === 0 ? 0 : 0.6,
      dynamicFriction: n % 3 === 0 ? 0 : 0.3,
      restitution: n % 5 === 0 ? 0.7 : 0,
    },
  };
}

/** Displacement of each pair's closest points in the substep, and its part along the surface. */
const movesOf = (kit: ContactKit): { moved: number; slide: number; distance: number }[] =>
  kit.touches.map(({ normal: n, weights: b }, pair) => {
    const end = combine(b, cornersOf(kit.particles.x, pair));
    const moved = subtract(end, combine(b, cornersOf(kit.particles.xPrev, pair)));
    return { moved: norm(moved), slide: norm(subtract(moved, scale(dot(moved, n), n))), distance: dot(n, end) };
  });

/** Number of pairs in each case of the pass. */
function casesFelt(kit: ContactKit): Record<string, number> {
  const felt = { pushed: 0, free: 0, stuck: 0, slipped: 0, bounced: 0, released: 0 };
  const moves = movesOf(kit);
  kit.touches.forEach(({ thickness, gap, near, staticFriction, restitution }, pair) => {
    const { slide, distance } = moves[pair]!;
    const hold = Math.min(thickness, gap);
    if (!near || distance > hold + 0.25 * (thickness - hold)) {
      felt.free++;
      return;
    }
    felt.pushed++;
    if (gap < thickness) felt.released++;
    if (restitution > 0) felt.bounced++;
    if (staticFriction > 0) felt[slide <= staticFriction * (hold - distance) ? "stuck" : "slipped"]++;
  });
  return felt;
}

describe.each(KINDS)("the force pass, %s", (kind) => {
  test.each(PLACES)(
    "%s: pushes, sticking and slipping friction, restitution, release of overlap; fixed particles",
    (_, at, size) => {
      const random = randomStream(kind === "vertex" ? 31 : 32);
      const cases = Array.from({ length: 400 }, (_, n) => forceCase(kind, n, at, size, random));
      const kit = contactKit(kind, cases);
      const start = Float64Array.from(kit.particles.x);
      const startPrevious = Float64Array.from(kit.particles.xPrev);
      for (const [what, n] of Object.entries(casesFelt(kit))) expect(n, what).toBeGreaterThan(5);
      const moves = movesOf(kit);
      const gaps = kit.touches.map((touch) => closestOf(touch, start).distance);
      kit.kernel.solveContacts(kit.blocks, kit.count, 0);
      solveContacts(kit.particles, kit.touches, SECONDS, SUBSTEPS);
      const x = kit.positions();
      const previous = kit.previous();
      const far = Math.max(...start.map(Math.abs));
      cases.forEach(({ w, touch }, pair) => {
        // Coulomb's law jumps at the end of static friction: rounding decides the side in float32
        const { moved, slide, distance } = moves[pair]!;
        const limit = touch.staticFriction * (Math.min(touch.thickness, touch.gap) - distance);
        if (Math.abs(slide - limit) < 100 * UNIT * size) return;
        // A sliding pair is solved along the direction of the closest points at x. Its error (units times size/gap)
        // turns the pair's displacement.
        const turned = moved / gaps[pair]!;
        for (const [kernel, twin, from] of [
          [x, kit.particles.x, start],
          [previous, kit.particles.xPrev, startPrevious],
        ] as const) {
          cornersOf(kernel, pair).forEach((p, k) => {
            expect(norm(subtract(p, cornersOf(twin, pair)[k]!)), `pair ${pair}, particle ${k}`).toBeLessThan(
              UNIT * (2 * far + 24 * size * (1 + turned)),
            );
            if (w[k] === 0 || !touch.near)
              expect(p, `pair ${pair}, particle ${k} does not move`).toEqual(cornersOf(from, pair)[k]);
          });
        }
      });
    },
  );
});

/** Runs the check on pairs that are neither cleared before nor too near: it measures all of them. */
function measured(kind: Kind, points: readonly (readonly Vector[])[]): ContactKit {
  const kit = contactKit(
    kind,
    points.map(
      (x): PairCase => ({
        safe: x,
        x,
        w: [1, 1, 1, 1],
        touch: { ...SMOOTH, thickness: 1e9, keep: 0, gap: 1, normal: [1, 0, 0], weights: [0, 0, 0, 0] },
      }),
    ),
  );
  kit.kernel.checkContacts(kit.blocks, kit.count, kind === "vertex" ? 1 : 0);
  return kit;
}

describe.each(KINDS)("closest points in lanes, %s", (kind) => {
  test.each(PLACES)(
    "%s: closest points of any pair, flattened, on grids where points coincide, without area or length",
    (_, at, size) => {
      const random = randomStream(kind === "vertex" ? 41 : 42);
      const points = Array.from({ length: 4000 }, (_, n) => {
        const flat = [1, 10 ** (3 * random() - 3), n % 3 === 0 ? 0 : 1];
        const grid = n % 5 === 0 ? 2 : 0;
        return Array.from({ length: 4 }, () =>
          add(
            at,
            scale(
              size,
              [0, 1, 2].map((r) => (grid ? Math.round(grid * random()) : random()) * flat[r]!) as unknown as Vector,
            ),
          ),
        );
      });
      const kit = measured(kind, points);
      let judged = 0;
      let uncleared = 0;
      points.forEach((_, pair) => {
        const x = cornersOf(kit.particles.x, pair);
        const extent = Math.max(...x.map((p) => norm(subtract(p, x[3]!))));
        const truth = closestOf(kit.touches[pair]!, kit.particles.x).distance;
        const gap = kit.row(pair, L.CONTACT_BLOCK_GAP);
        const b = [0, 16, 32, 48].map((k) => kit.row(pair, L.CONTACT_BLOCK_WEIGHT + k));
        const first = kind === "vertex" ? 1 : 2;
        // touching: no separation direction exists, and the check does not clear the pair
        if (!(truth > 1e-3 * extent)) return;
        judged++;
        // for almost flat triangles or edges the direction may be off by the bound of the last line: the response then
        // handles the pair
        if (kit.bits(pair, L.CONTACT_BLOCK_BAD) !== 0) {
          uncleared++;
          return;
        }
        // the closest points lie in the primitives: weights in [0, 1] with sum 1
        for (const w of b.slice(0, first)) expect(w).toBeGreaterThanOrEqual(-2 * UNIT);
        for (const w of b.slice(first)) expect(w).toBeLessThanOrEqual(2 * UNIT);
        expect(Math.abs(b.slice(0, first).reduce((s, w) => s + w, 0) - 1)).toBeLessThan(4 * UNIT);
        expect(Math.abs(b.slice(first).reduce((s, w) => s + w, 0) + 1)).toBeLessThan(4 * UNIT);
        expect(
          Math.abs(
            norm(
              combine(
                b,
                x.map((p) => subtract(p, x[3]!)),
              ),
            ) - gap,
          ),
          `pair ${pair}: closest points`,
        ).toBeLessThan(16 * UNIT * extent);
        // The gap is never too small. It is too large only if a determinant below 1e-5 of its terms counts as 0: lines
        // 0.003 rad apart count as parallel.
        expect(gap).toBeGreaterThan(truth - 16 * UNIT * extent);
        expect(gap, `pair ${pair}`).toBeLessThan(truth + (Math.sqrt(1e-5) + 16 * UNIT) * extent);
      });
      expect(judged).toBeGreaterThan(1000);
      expect(uncleared / judged).toBeLessThan(0.01);
    },
  );

  test("well away from degenerate cases they agree with float64 up to rounding", () => {
    const random = randomStream(43);
    const kit = measured(
      kind,
      Array.from({ length: 1000 }, () => apart(kind, 0.01 + 0.2 * Math.abs(random()), random).points),
    );
    kit.touches.forEach((touch, pair) => {
      const { distance, difference, weights } = closestOf(touch, kit.particles.x);
      expect(Math.abs(kit.row(pair, L.CONTACT_BLOCK_GAP) - distance)).toBeLessThan(16 * UNIT);
      [0, 1, 2].forEach((r) =>
        expect(Math.abs(kit.row(pair, L.CONTACT_BLOCK_NORMAL + 16 * r) - difference[r]! / distance)).toBeLessThan(
          (16 * UNIT) / distance,
        ),
      );
      // their determinants are at least a twentieth of their terms
      weights.forEach((w, k) =>
        expect(Math.abs(kit.row(pair, L.CONTACT_BLOCK_WEIGHT + 16 * k) - w)).toBeLessThan(400 * UNIT),
      );
    });
  });
});

/** A pair that may touch. Every fourth approaches by the gap and a thousandth more or less, so some just touch. */
function wayCase(kind: Kind, n: number, at: Vector, size: number, keep: number, random: () => number): PairCase {
  const gap = 0.01 + 0.1 * Math.abs(random());
  const { points, n: normal, weights } = apart(kind, gap, random);
  const speed = [0.05, 0.3, 2][n % 3]!;
  const put = (p: Vector): Vector => add(at, scale(size, p));
  const moves = points.map(
    (_, k): Vector =>
      n % 4 === 0
        ? scale(k === 0 || (kind === "edges" && k === 1) ? -gap * (1 + 1e-3 * random()) : 0, normal)
        : scale(speed, vector(random)),
  );
  return {
    safe: points.map(put),
    x: points.map((p, k) => put(add(p, moves[k]!))),
    w: [1, 1, 1, 1],
    touch: { ...SMOOTH, thickness: 0.02 * size, keep: keep * size, gap: gap * size, normal, weights },
  };
}

describe.each(KINDS)("clearance by the check, %s", (kind) => {
  test.each(PLACES)("%s: by exact arithmetic no pair that touches on its path is cleared", (_, at, size) => {
    const random = randomStream(kind === "vertex" ? 51 : 52);
    const keep = 1e-3;
    const detect = kind === "vertex" ? vertexTriangle : edgeEdge;
    const cases = Array.from({ length: 3000 }, (_, n) => wayCase(kind, n, at, size, keep, random));
    const kit = contactKit(kind, cases);
    const marked = kit.kernel.checkContacts(kit.blocks, kit.count, kind === "vertex" ? 1 : 0);
    let hits = 0;
    let misses = 0;
    let cleared = 0;
    let blocks = 0;
    for (let block = 0; block < kit.count; block++)
      if ([0, 1, 2, 3].some((lane) => kit.bits(4 * block + lane, L.CONTACT_BLOCK_BAD) !== 0)) blocks++;
    expect(marked).toBe(blocks);
    kit.touches.forEach((touch, pair) => {
      const hit =
        detect(
          Float64Array.from([
            ...kit.safe.subarray(12 * pair, 12 * pair + 12),
            ...kit.particles.x.subarray(12 * pair, 12 * pair + 12),
          ]),
        ) >= 0;
      const bad = kit.bits(pair, L.CONTACT_BLOCK_BAD) !== 0;
      if (hit) {
        hits++;
        expect(bad, `pair ${pair} touches`).toBe(true);
        return;
      }
      misses++;
      if (bad) return;
      cleared++;
      // One direction separates a cleared pair at both ends, by a share of its thickness: the pair's stored direction,
      // or that of the closest points at x.
      const now = [0, 1, 2].map((r) => kit.row(pair, L.CONTACT_BLOCK_NORMAL + 16 * r)) as unknown as Vector;
      const least = keep * size;
      const rounding = 16 * UNIT * 3 * size;
      expect(
        [touch.normal, now].some(
          (n) =>
            separation(touch, kit.particles.x, n) > least - rounding &&
            separation(touch, kit.safe, n) > 0.5 * least - rounding,
        ),
        `pair ${pair} is separated`,
      ).toBe(true);
      expect(kit.row(pair, L.CONTACT_BLOCK_GAP)).toBeLessThan(
        closestOf(touch, kit.particles.x).distance * (1 + 1e-4) + rounding + Math.sqrt(1e-5) * size,
      );
    });
    expect(hits).toBeGreaterThan(300);
    expect(misses).toBeGreaterThan(300);
    // a third moves by twice its size, and many others end nearer than allowed
    expect(cleared / misses).toBeGreaterThan(0.4);
  });

  test("a pair with NaN is never cleared", () => {
    const { points, n, weights } = apart(kind, 0.1, randomStream(53));
    const touch = { ...SMOOTH, thickness: 0.01, keep: 0.001, gap: 0.1, normal: n, weights };
    const kit = contactKit(
      kind,
      [0, 1, 2, 3].map(
        (k): PairCase => ({
          safe: points,
          x: points.map((p, i): Vector => (i === k ? [NaN, p[1], p[2]] : [...p])),
          w: [1, 1, 1, 1],
          touch,
        }),
      ),
    );
    kit.kernel.checkContacts(kit.blocks, kit.count, kind === "vertex" ? 1 : 0);
    for (let pair = 0; pair < 4; pair++) expect(kit.bits(pair, L.CONTACT_BLOCK_BAD), `particle ${pair}`).not.toBe(0);
  });
});

describe("packing", () => {
  const cloth = { density: 300, thickness: 0.002, youngsModulus: 1e5, poissonsRatio: 0.3 };
  const SCENES: Record<string, Scene["bodies"]> = {
    "a folded pair of sheets": [0, 1].map((n) =>
      clothGrid(`s${n}`, [0.2, 0.2], [9 - n, 7 + n], {
        solver: "compliant",
        transform: { translate: [0.003 * n, 0.0015 * n, 0] },
        material: cloth,
      }),
    ),
    "a fine sheet in a coarse triangle": [
      clothGrid("coarse", [0.5, 0.5], [1, 1], { solver: "compliant", material: cloth }),
      clothGrid("fine", [0.2, 0.2], [16, 16], {
        solver: "compliant",
        transform: { translate: [0.1, 0.003, 0.05] },
        material: cloth,
      }),
    ],
  };

  test.each(Object.entries(SCENES))(
    "%s: every pair once, no free particle twice in a color, leftover pairs alone",
    async (name, bodies) => {
      const created = await createWorld(validateScene({ version: 1, title: "packing", gravity: [0, 0, 0], bodies }), {
        baseDir: ".",
      });
      const { memory } = created;
      const kernel = instantiateKernel(memory);
      kernel.beginPairList();
      const i32 = new Int32Array(memory.buffer);
      const f32 = new Float32Array(memory.buffer);
      const header = (offset: number): number => i32[(L.HEADER + offset) / 4]!;
      const x = header(L.H_X);
      kernel.saveSafePositions();
      kernel.updatePredictedContacts();
      const packed = solvedPairs(memory);
      const key = (kind: string, particles: readonly number[]): string => `${kind} ${particles.join(" ")}`;
      const near = packedPairs(memory).filter(
        ({ block, lane }) =>
          i32[(header(L.H_CONTACT_BLOCKS) + block * L.CONTACT_BLOCK_BYTES + L.CONTACT_BLOCK_NEAR) / 4 + lane],
      );
      // of 842 and 464 rows 615 and 363 are near, and only those are packed
      expect(near.length).toBeGreaterThan(300);
      expect(packed.map((p) => key(p.kind, p.particles)).sort()).toEqual(
        near.map((p) => key(p.kind, p.particles)).sort(),
      );
      const used = new Set<string>();
      const blocks = new Map<number, number>();
      for (const { kind, color, particles, block } of packed) {
        blocks.set(block, (blocks.get(block) ?? 0) + 1);
        if (color === L.CONTACT_COLORS) continue;
        for (const p of particles) {
          if (f32[x / 4 + 4 * p + 3] === 0) continue;
          expect(used.has(`${kind} ${color} ${p}`), `particle ${p} twice in color ${color} of ${kind}`).toBe(false);
          used.add(`${kind} ${color} ${p}`);
        }
      }
      const alone = packed.filter(({ color }) => color === L.CONTACT_COLORS);
      for (const { block } of alone) expect(blocks.get(block)).toBe(1);
      // three corners for hundreds of vertices: too few colors
      if (name.startsWith("a fine")) expect(alone.length).toBeGreaterThan(0);
      // a pair has its lowest possible color: in each lower color one of its particles has another pair
      for (const { kind, color, particles } of packed)
        for (let c = 0; c < color; c++) expect(particles.some((p) => used.has(`${kind} ${c} ${p}`))).toBe(true);
    },
  );
});
