/**
 * Runs of frames against brute force: every pair, no boxes, no filter, exact. Coordinates are small integers, so that
 * primitives often touch, are coplanar or have no extent; other scenes have arbitrary floats.
 */
import { describe, expect, test } from "vitest";
import { edgeEdge, vertexTriangle } from "../../../../server/tools/check/exact/swept.ts";
import { noFindings, type FrameFindings } from "../../../../server/tools/check/findings.ts";
import { FrameReader, openRecording, type Recording } from "../../../../server/tools/check/recording.ts";
import { Run } from "../../../../server/tools/check/run.ts";
import { recordings } from "./recordings.ts";

const { makeRecording } = recordings();

/** Deterministic numbers in [0, 1): a linear congruential generator (Numerical Recipes). */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => (state = (Math.imul(1664525, state) + 1013904223) >>> 0) / 2 ** 32;
}

const judged = (recording: Recording, chunk: number): Map<number, FrameFindings> => {
  const reader = new FrameReader(recording);
  const all = new Map<number, FrameFindings>();
  for (let from = 0; from === 0 || from < recording.frames - 1; from += chunk) {
    const to = Math.min(from + chunk, recording.frames - 1);
    for (const findings of new Run(recording, reader.read(from, to), from, 1000).judge())
      all.set(findings.frame, findings);
  }
  reader.close();
  return all;
};

function bruteForce(recording: Recording): Map<number, FrameFindings["counts"]> {
  const reader = new FrameReader(recording);
  const x = reader.read(0, recording.frames - 1);
  const n = recording.particles;
  const all = new Map<number, FrameFindings["counts"]>();
  reader.close();
  const point = (f: number, p: number): number[] => [...x.subarray(3 * (f * n + p), 3 * (f * n + p) + 3)];
  const moving = (f: number, ids: number[]): number[] => [
    ...ids.flatMap((p) => point(f - 1, p)),
    ...ids.flatMap((p) => point(f, p)),
  ];
  /** Tests whether a segment meets a triangle, as a vertex that moves from one end to the other. */
  const cuts = (f: number, p: number, q: number, t: number[]): boolean => {
    const corners = t.flatMap((c) => point(f, c));
    return vertexTriangle([...point(f, p), ...corners, ...point(f, q), ...corners]) >= 0;
  };
  const rows = (list: Uint32Array, size: number): number[][] =>
    Array.from({ length: list.length / size }, (_, i) => [...list.subarray(size * i, size * i + size)]);
  for (let f = 0; f < recording.frames; f++) {
    const { counts } = noFindings(f);
    for (const [a, b] of recording.pairs) {
      const A = recording.surfaces[a]!;
      const B = recording.surfaces[b]!;
      const once = <T>(first: T[], second: T[], each: (p: T, q: T) => void): void =>
        first.forEach((p, i) => second.forEach((q, j) => (a === b && j <= i ? undefined : each(p, q))));
      once(rows(A.triangles, 3), rows(B.triangles, 3), (t, u) => {
        const shared = t.filter((p) => u.includes(p));
        const meets = [0, 1, 2].some(
          (k) => shared.length === 0 && (cuts(f, t[k]!, t[(k + 1) % 3]!, u) || cuts(f, u[k]!, u[(k + 1) % 3]!, t)),
        );
        if (meets) counts.crossing++; // including those that only touch
      });
      if (f === 0) continue;
      once(rows(A.edges, 2), rows(B.edges, 2), (e, g) => {
        if (!e.some((p) => g.includes(p)) && edgeEdge(moving(f, [...e, ...g])) >= 0) counts.edge++;
      });
      for (const [V, T] of a === b
        ? [[A, B]]
        : [
            [A, B],
            [B, A],
          ]) {
        for (const v of V!.vertices)
          for (const t of rows(T!.triangles, 3))
            if (!t.includes(v) && vertexTriangle(moving(f, [v, ...t])) >= 0) counts.vertex++;
      }
    }
    if (Object.values(counts).some((count) => count > 0)) all.set(f, counts);
  }
  return all;
}

/** Two bodies of loose and connected triangles in random motion. */
function soup(
  seed: number,
  coordinate: (random: () => number) => number,
  step: (random: () => number) => number,
  frames: number,
): Recording {
  const random = generator(seed);
  const body = (count: number, triangles: number): { count: number; surface: number[] } => ({
    count,
    surface: Array.from({ length: triangles }, () => {
      const corners = new Set<number>();
      while (corners.size < 3) corners.add(Math.floor(random() * count));
      return [...corners];
    }).flat(),
  });
  const bodies = [body(9, 7), body(8, 5)];
  const x = Array.from({ length: 3 * 17 }, () => coordinate(random));
  const all = [[...x]];
  for (let f = 1; f < frames; f++) {
    x.forEach((_, i) => (x[i] = Math.fround(x[i]! + step(random))));
    all.push([...x]);
  }
  return openRecording(makeRecording({ bodies, frames: all }));
}

const whole =
  (n: number) =>
  (random: () => number): number =>
    Math.floor(n * random());

describe.each([
  ["integers that seldom change", whole(7), (random: () => number) => (random() < 0.15 ? whole(3)(random) - 1 : 0)],
  ["integers in one plane or two", whole(2), (random: () => number) => (random() < 0.3 ? whole(3)(random) - 1 : 0)],
  ["any floats, slow", (random: () => number) => 4 * random(), (random: () => number) => 0.02 * (random() - 0.5)],
  ["any floats, fast", (random: () => number) => 4 * random(), (random: () => number) => 3 * (random() - 0.5)],
] as const)("%s", (_, coordinate, step) => {
  test.each([1, 2])("seed %i: the same pairs as brute force, for any division into runs", (seed) => {
    const recording = soup(seed, coordinate, step, 7);
    const truth = bruteForce(recording);
    expect(truth.size).toBeGreaterThan(0);
    for (const chunk of [1, 4, 6]) {
      const found = judged(recording, chunk);
      for (let f = 0; f < recording.frames; f++) {
        const { crossing = 0, touching = 0, vertex = 0, edge = 0 } = found.get(f)?.counts ?? {};
        const wanted = truth.get(f);
        expect([f, crossing + touching, vertex, edge]).toEqual([
          f,
          wanted?.crossing ?? 0,
          wanted?.vertex ?? 0,
          wanted?.edge ?? 0,
        ]);
      }
    }
  });
});

test("without brute force: a scene a million times as large, or as small, has the same findings", () => {
  const counts = (scale: number): unknown[] => {
    const recording = soup(
      5,
      (random) => 4 * scale * random(),
      (random) => scale * (random() - 0.5),
      6,
    );
    return [...judged(recording, 3)].map(([frame, { counts }]) => [frame, counts]);
  };
  const ordinary = counts(1);
  expect(ordinary.length).toBeGreaterThan(0);
  expect(counts(2 ** 20)).toEqual(ordinary);
  expect(counts(2 ** -20)).toEqual(ordinary);
});
