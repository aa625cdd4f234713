/**
 * The unit for comparing figures of different machines: the time of one fixed loop in plain JavaScript, measured in the
 * same process and within the same minute as the figure. All rows of results/releases.csv depend on it, so this file
 * must not change: another loop is another unit, and needs another name.
 *
 * The loop projects the distances of a closed chain of 4,096 particles, Gauss-Seidel, in float32 arrays of 64 KB:
 * dependent arithmetic, a square root and a division per link, from the first two cache levels. This resembles a solver
 * without depending on one of this project.
 */

/** Hexadecimal FNV-1a of the chain's bits at the end; another hash means that another computation was timed. */
export const YARDSTICK_HASH = "72eeb65a";

const PARTICLES = 4096;
const SWEEPS = 40;
const PASSES = 40;

export interface Yardstick {
  /** Time of the fastest pass, ms. */
  ms: number;
  hash: string;
}

/**
 * Takes about 0.3 s. The first passes warm up the code; they are slower and so do not count.
 * @param now clock, ms
 */
export function measureYardstick(passes = PASSES, now = (): number => performance.now()): Yardstick {
  let ms = Infinity;
  let hash = "";
  for (let pass = 0; pass < passes; pass++) {
    const x = new Float32Array(3 * PARTICLES);
    for (let i = 0; i < PARTICLES; i++) x.set([i % 64, (i * 7) % 64, (i * 13) % 64], 3 * i);
    const start = now();
    for (let sweep = 0; sweep < SWEEPS; sweep++) project(x);
    ms = Math.min(ms, now() - start);
    hash = fnv(new Uint8Array(x.buffer));
  }
  return { ms, hash };
}

/** One sweep: projects every link to length 1. */
function project(x: Float32Array): void {
  for (let i = 0; i < PARTICLES; i++) {
    const a = 3 * i;
    const b = 3 * ((i + 1) % PARTICLES);
    const dx = x[b]! - x[a]!;
    const dy = x[b + 1]! - x[a + 1]!;
    const dz = x[b + 2]! - x[a + 2]!;
    const length = Math.sqrt(dx * dx + dy * dy + dz * dz);
    if (length === 0) continue;
    const s = (0.5 * (length - 1)) / length;
    x[a]! += s * dx;
    x[a + 1]! += s * dy;
    x[a + 2]! += s * dz;
    x[b]! -= s * dx;
    x[b + 1]! -= s * dy;
    x[b + 2]! -= s * dz;
  }
}

function fnv(bytes: Uint8Array): string {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, "0");
}
