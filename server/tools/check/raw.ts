/** Exports a recording as bare arrays for other intersection checkers. */
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Recording } from "./recording.ts";

/**
 * Writes positions.f32, triangles.u32 and groups.u32 into `dir`, which is created if missing. Bodies are groups 0, 1,
 * ...; all colliders are the group after them.
 */
export function writeRaw(recording: Recording, dir: string): void {
  const { surfaces, bodies, particles } = recording;
  const groups = new Uint32Array(particles).fill(bodies.length);
  bodies.forEach(({ first, count }, b) => groups.fill(b, first, first + count));
  mkdirSync(dir, { recursive: true });
  copyFileSync(recording.file, join(dir, "positions.f32"));
  writeFileSync(join(dir, "triangles.u32"), Uint32Array.from(surfaces.flatMap(({ triangles }) => [...triangles])));
  writeFileSync(join(dir, "groups.u32"), groups);
}
