/** Recordings made by hand, in temporary folders. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

export const root = mkdtempSync(join(tmpdir(), "pliant-check-"));
afterAll(() => rmSync(root, { recursive: true }));

export interface Made {
  /** By body: how many particles, its triangles by place in the body, and what else its entry says. */
  bodies: { count: number; surface: number[]; more?: object }[];
  colliders?: object[];
  /** [frame] = x y z of all particles. */
  frames: number[][];
  more?: object;
}

let made = 0;

/** @returns the folder */
export function makeRecording({ bodies, colliders, frames, more }: Made): string {
  const dir = join(root, `r${made++}`);
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
  mkdirSync(dir);
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
