/** Counts self-intersections of a sheet, from any solver: exact (server/tools/check). */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FORMAT, openRecording } from "../../server/tools/check/recording.ts";
import { standingFindings } from "../hands/standing.ts";

/** @param x float32[3*V] m @param triangles uint32[3*T]; @returns number of intersecting pairs of triangles */
export function selfIntersections(x: Float32Array, triangles: Uint32Array): number {
  const dir = mkdtempSync(join(tmpdir(), "pliant-sheet-"));
  const particles = x.length / 3;
  try {
    const body = { name: "sheet", kind: "cloth", firstParticle: 0, particleCount: particles, surface: [...triangles] };
    writeFileSync(join(dir, "positions.f32"), x);
    writeFileSync(
      join(dir, "manifest.json"),
      JSON.stringify({
        format: FORMAT,
        title: "sheet",
        every: "tick",
        frames: 1,
        particles,
        bodies: [body],
        colliders: [],
      }),
    );
    return standingFindings(openRecording(dir))[0]!;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
