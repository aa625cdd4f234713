/**
 * Creates the codec's other kind of input: the surface of a soft body that tumbles, bounces, wobbles and comes to rest,
 * with several centimeters of strain. The motion is prescribed, not simulated, so that the figure depends on no solver;
 * the mesh is the npm package `bunny`.
 */
import { createRequire } from "node:module";
import type { Trajectory } from "./trajectory.ts";

const HEIGHT = 0.5;
const QUANTUM = 0.0005;
const SEND_HZ = 30;
/** Decay of bounce, spin and wobble, 1/s. */
const DECAY = 0.7;

export function wobbleTrajectory(seconds = 8): Trajectory {
  const mesh = createRequire(import.meta.url)("bunny") as { positions: number[][]; cells: number[][] };
  const count = mesh.positions.length;
  const heights = mesh.positions.map((p) => p[1]);
  const low = Math.min(...heights);
  const scale = HEIGHT / (Math.max(...heights) - low);
  const rest = mesh.positions.map(([x, y, z]) => [scale * x, scale * (y - low) - HEIGHT / 2, scale * z]);
  const frames: Float32Array[] = [];
  for (let f = 0; f < seconds * SEND_HZ; f++) frames.push(pose(rest, f / SEND_HZ));
  const half = Math.floor(frames.length / 2);
  return {
    name: `bunny surface, ${HEIGHT} m, tumbling and wobbling, ${QUANTUM * 1000} mm`,
    sendHz: SEND_HZ,
    bodies: [{ name: "bunny", count, triangles: Uint32Array.from(mesh.cells.flat()), quantum: QUANTUM }],
    frames,
    phases: [
      { name: "lively", first: 1, end: half },
      { name: "calming", first: half, end: frames.length },
    ],
  };
}

/** Squash and a shear wave in the body's frame, then a rotation about a slanted axis, then a bounce. */
function pose(rest: readonly number[][], t: number): Float32Array {
  const calm = Math.exp(-DECAY * t);
  const squash = 1 + 0.12 * calm * Math.sin(18 * t);
  // The angular speed is 4 rad/s at first and decays.
  const angle = (4 / DECAY) * (1 - calm);
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  const rise = 0.6 * calm * Math.abs(Math.sin(3.5 * t));
  const drift = (0.8 / DECAY) * (1 - calm);
  const out = new Float32Array(3 * rest.length);
  rest.forEach(([x0, y0, z0], i) => {
    const x = x0 / Math.sqrt(squash) + 0.03 * calm * Math.sin(9 * y0 - 14 * t);
    const y = y0 * squash;
    const z = z0 / Math.sqrt(squash) + 0.02 * calm * Math.sin(7 * x0 + 11 * t);
    // Rodrigues' rotation about k = (0.6, 0.8, 0).
    const dot = (0.6 * x + 0.8 * y) * (1 - c);
    out[3 * i] = x * c + 0.8 * z * s + 0.6 * dot + drift;
    out[3 * i + 1] = y * c - 0.6 * z * s + 0.8 * dot + rise + HEIGHT / 2;
    out[3 * i + 2] = z * c + (0.6 * y - 0.8 * x) * s;
  });
  return out;
}
