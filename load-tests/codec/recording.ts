/**
 * Reads a recording of `npm run simulate -- scene.json --record dir` as the stream that a room would send: the surface
 * particles of each body, at send rate.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Trajectory, TrajectoryBody } from "./trajectory.ts";

interface Manifest {
  title: string;
  tickHz: number;
  substeps: number;
  every: "tick" | "substep";
  particles: number;
  frames: number;
  bodies: { name: string; surface: number[] }[];
}

/**
 * @param dir folder with manifest.json and positions.f32
 * @param quantum grid of the codec, m
 * @param sendHz frames per second to take; must divide the recording's rate
 * @throws Error if the files do not match each other or the rate
 */
export function readRecording(dir: string, quantum: number, sendHz = 30): Trajectory {
  const manifest = JSON.parse(readFileSync(join(dir, "manifest.json"), "utf8")) as Manifest;
  const file = readFileSync(join(dir, "positions.f32"));
  const frameBytes = 12 * manifest.particles;
  if (file.length !== frameBytes * manifest.frames) {
    throw new Error(
      `${dir}: positions.f32 has ${file.length} bytes, ${manifest.frames} frames of ${manifest.particles} particles need ${frameBytes * manifest.frames}`,
    );
  }
  const stride = (manifest.tickHz * (manifest.every === "substep" ? manifest.substeps : 1)) / sendHz;
  if (!Number.isInteger(stride))
    throw new Error(`${dir}: the recording's frames per second (${stride * sendHz}) are not a multiple of ${sendHz}`);
  const streamed: number[] = [];
  const bodies = manifest.bodies.map(({ name, surface }): TrajectoryBody => {
    const particles = [...new Set(surface)].sort((a, b) => a - b);
    const local = new Map(particles.map((particle, i) => [particle, i]));
    streamed.push(...particles);
    return {
      name,
      count: particles.length,
      triangles: Uint32Array.from(surface, (particle) => local.get(particle) ?? 0),
      quantum,
    };
  });
  const frames: Float32Array[] = [];
  for (let f = 0; f < manifest.frames; f += stride) {
    const at = frameBytes * f;
    frames.push(
      Float32Array.from({ length: 3 * streamed.length }, (_, i) =>
        file.readFloatLE(at + 12 * streamed[Math.floor(i / 3)] + 4 * (i % 3)),
      ),
    );
  }
  return { name: `${manifest.title}, recorded, ${quantum * 1000} mm`, sendHz, bodies, frames, phases: [] };
}
