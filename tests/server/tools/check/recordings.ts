/** Recordings made by hand, in temporary folders. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

export interface Made {
  /** For each body: number of particles, its triangles by index in the body, and other properties of its entry. */
  bodies: { count: number; surface: number[]; more?: object }[];
  colliders?: object[];
  /** [frame] = x y z of all particles. */
  frames: number[][];
  more?: object;
}

/** @returns a folder of the calling test file, which is removed with it: one process runs several files. */
export function recordings(): { root: string; makeRecording: (made: Made) => string } {
  const root = mkdtempSync(join(tmpdir(), "pliant-check-"));
  afterAll(() => rmSync(root, { recursive: true }));
  return { root, makeRecording: (made) => writeRecording(mkdtempSync(join(root, "recording-")), made) };
}

function writeRecording(dir: string, { bodies, colliders, frames, more }: Made): string {
  let first = 0;
  const entries = bodies.map(({ count, surface, more: rest }, b) => {
    const entry = {
      name: `b${b}`,
      kind: "cloth",
      firstParticle: first,
      particleCount: count,
      surface: surface.map((p) => first + p),
      pinned: [],
      ...rest,
    };
    first += count;
    return entry;
  });
  writeFileSync(
    join(dir, "manifest.json"),
    JSON.stringify({
      format: "pliant-recording-1",
      title: "made",
      every: "substep",
      frames: frames.length,
      particles: frames[0]!.length / 3,
      bodies: entries,
      ...(colliders && { colliders }),
      ...more,
    }),
  );
  writeFileSync(join(dir, "positions.f32"), Float32Array.from(frames.flat()));
  return dir;
}
