/**
 * Creates realistic trajectories as input of the codec: a square cloth that falls over spheres, settles, and is then
 * pulled by a corner; or a cloth that hangs in the wind.
 *
 * Float64 XPBD (Macklin, Müller, Chentanez 2016) with distance constraints (structural, shear, and soft ones over two
 * edges for bending) in Gauss-Seidel order. It is independent of the real solver on purpose, so that changes of the
 * solver do not change a codec figure. Same input, same output, on every machine: + - * / sqrt only.
 */
import type { Trajectory } from "./trajectory.ts";

export interface ClothOptions {
  /** Particles per side; 61 gives the 3,721 of the target. */
  side?: number;
  /** Edge length of the cloth, m. */
  size?: number;
  /** Simulated time, s. The corner is pulled in the last third. */
  seconds?: number;
  /** Grid of the codec, m. */
  quantum?: number;
  /** Spheres under the cloth: x, y, z, radius, m. */
  spheres?: readonly Sphere[];
  /** Pull the corner in the last third of the time; true by default. */
  pulled?: boolean;
  /** Damping of the velocity by the air, 1/s. */
  damping?: number;
  /**
   * Hang the cloth upright from its upper edge, pinned at five points, in gusts of wind, instead of letting it fall.
   */
  wind?: boolean;
}

/** x, y, z, radius, m. */
type Sphere = readonly [number, number, number, number];

const TICK_HZ = 60;
const TICKS_PER_FRAME = 2;
const SUBSTEPS = 4;
const ITERATIONS = 4;
const GRAVITY = -9.81;
const FRICTION = 0.3;
/** Distance kept from colliders, m. */
const MARGIN = 0.005;
/**
 * Force of the air per area and normal speed, N s/m^3: accelerates the cloth of 0.2 kg/m^2 to the wind's speed in about
 * half a second.
 */
const DRAG = 0.8;
/** Off center, so that the drape is not symmetric. */
const SPHERES: readonly Sphere[] = [
  [-0.25, 0.45, 0.18, 0.28],
  [0.31, 0.38, -0.12, 0.24],
  [0.02, 0.3, 0.47, 0.16],
];

/** Triangles of a side x side grid with alternating diagonals, like scene meshes of type "grid". */
export function gridTriangles(side: number): Uint32Array {
  const out: number[] = [];
  for (let j = 0; j + 1 < side; j++) {
    for (let i = 0; i + 1 < side; i++) {
      const a = j * side + i;
      const [b, c, d] = [a + 1, a + side + 1, a + side];
      if ((i + j) % 2 === 0) out.push(a, d, c, a, c, b);
      else out.push(a, d, b, b, d, c);
    }
  }
  return Uint32Array.from(out);
}

interface Links {
  a: Int32Array;
  b: Int32Array;
  rest: Float64Array;
  /** m/N */
  compliance: Float64Array;
}

function makeLinks(side: number, x: Float64Array): Links {
  const pairs: number[] = [];
  const compliance: number[] = [];
  const link = (i: number, j: number, i2: number, j2: number, c: number): void => {
    if (i2 < 0 || i2 >= side || j2 >= side) return;
    pairs.push(j * side + i, j2 * side + i2);
    compliance.push(c);
  };
  for (let j = 0; j < side; j++) {
    for (let i = 0; i < side; i++) {
      link(i, j, i + 1, j, 1e-6);
      link(i, j, i, j + 1, 1e-6);
      link(i, j, i + 1, j + 1, 1e-4);
      link(i, j, i - 1, j + 1, 1e-4);
      link(i, j, i + 2, j, 2e-2);
      link(i, j, i, j + 2, 2e-2);
    }
  }
  const n = compliance.length;
  const links: Links = {
    a: new Int32Array(n),
    b: new Int32Array(n),
    rest: new Float64Array(n),
    compliance: Float64Array.from(compliance),
  };
  for (let k = 0; k < n; k++) {
    const a = pairs[2 * k];
    const b = pairs[2 * k + 1];
    links.a[k] = a;
    links.b[k] = b;
    links.rest[k] = Math.sqrt(
      (x[3 * a] - x[3 * b]) ** 2 + (x[3 * a + 1] - x[3 * b + 1]) ** 2 + (x[3 * a + 2] - x[3 * b + 2]) ** 2,
    );
  }
  return links;
}

function solveLinks(x: Float64Array, w: Float64Array, links: Links, lambda: Float64Array, h: number): void {
  for (let k = 0; k < lambda.length; k++) {
    const a = 3 * links.a[k];
    const b = 3 * links.b[k];
    const wa = w[links.a[k]];
    const wb = w[links.b[k]];
    const dx = x[a] - x[b];
    const dy = x[a + 1] - x[b + 1];
    const dz = x[a + 2] - x[b + 2];
    const length = Math.sqrt(dx * dx + dy * dy + dz * dz);
    if (length < 1e-9 || wa + wb === 0) continue;
    const alphaTilde = links.compliance[k] / (h * h);
    const dLambda = (-(length - links.rest[k]) - alphaTilde * lambda[k]) / (wa + wb + alphaTilde);
    lambda[k] += dLambda;
    const s = dLambda / length;
    x[a] += wa * s * dx;
    x[a + 1] += wa * s * dy;
    x[a + 2] += wa * s * dz;
    x[b] -= wb * s * dx;
    x[b + 1] -= wb * s * dy;
    x[b + 2] -= wb * s * dz;
  }
}

/** Moves a particle by `depth` along the unit normal and applies friction to its tangential motion of this substep. */
function push(x: Float64Array, old: Float64Array, p: number, nx: number, ny: number, nz: number, depth: number): void {
  x[p] += depth * nx;
  x[p + 1] += depth * ny;
  x[p + 2] += depth * nz;
  const dx = x[p] - old[p];
  const dy = x[p + 1] - old[p + 1];
  const dz = x[p + 2] - old[p + 2];
  const dn = dx * nx + dy * ny + dz * nz;
  const tx = dx - dn * nx;
  const ty = dy - dn * ny;
  const tz = dz - dn * nz;
  const slide = Math.sqrt(tx * tx + ty * ty + tz * tz);
  const keep = slide > 1e-12 ? Math.max(0, 1 - (FRICTION * depth) / slide) : 0;
  x[p] -= (1 - keep) * tx;
  x[p + 1] -= (1 - keep) * ty;
  x[p + 2] -= (1 - keep) * tz;
}

function collide(x: Float64Array, old: Float64Array, w: Float64Array, spheres: readonly Sphere[]): void {
  for (let i = 0; i < w.length; i++) {
    if (w[i] === 0) continue;
    const p = 3 * i;
    for (const [cx, cy, cz, r] of spheres) {
      const dx = x[p] - cx;
      const dy = x[p + 1] - cy;
      const dz = x[p + 2] - cz;
      const d2 = dx * dx + dy * dy + dz * dz;
      const reach = r + MARGIN;
      if (d2 >= reach * reach || d2 < 1e-12) continue;
      const d = Math.sqrt(d2);
      push(x, old, p, dx / d, dy / d, dz / d, reach - d);
    }
    if (x[p + 1] < MARGIN) push(x, old, p, 0, 1, 0, MARGIN - x[p + 1]);
  }
}

/** A smooth wave of period 1 between -1 and 1, from + - * / only: two parabolas. */
function wave(t: number): number {
  const u = 2 * (t - Math.floor(t)) - 1;
  return 4 * u * (1 - Math.abs(u));
}

/** Wind along z in gusts and along x in a slower swell, acting on each triangle's normal: v += h w F. */
function blow(x: Float64Array, v: Float64Array, w: Float64Array, triangles: Uint32Array, t: number, h: number): void {
  for (let k = 0; k < triangles.length; k += 3) {
    const [a, b, c] = [3 * triangles[k], 3 * triangles[k + 1], 3 * triangles[k + 2]];
    const [ax, ay, az] = [x[b] - x[a], x[b + 1] - x[a + 1], x[b + 2] - x[a + 2]];
    const [bx, by, bz] = [x[c] - x[a], x[c + 1] - x[a + 1], x[c + 2] - x[a + 2]];
    const [nx, ny, nz] = [ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx];
    const area2 = Math.sqrt(nx * nx + ny * ny + nz * nz);
    if (area2 < 1e-12) continue;
    // Gusts travel along x, so that the cloth flutters and does not swing as a board.
    const wx = 1 + wave(t / 5) - (v[a] + v[b] + v[c]) / 3;
    const wy = 0.5 * wave(t / 3 + x[a]) - (v[a + 1] + v[b + 1] + v[c + 1]) / 3;
    const wz =
      3 + 2 * wave(t / 2.3 - 0.5 * x[a]) + wave(t / 0.7 - x[a] + 0.5 * x[a + 1]) - (v[a + 2] + v[b + 2] + v[c + 2]) / 3;
    const s = (h * DRAG * (wx * nx + wy * ny + wz * nz)) / (6 * area2);
    for (const p of [a, b, c]) {
      v[p] += w[p / 3] * s * nx;
      v[p + 1] += w[p / 3] * s * ny;
      v[p + 2] += w[p / 3] * s * nz;
    }
  }
}

/** Initial positions: upright in wind, otherwise horizontal at 1 m. */
function flatSheet(side: number, size: number, upright: boolean): Float64Array {
  const x = new Float64Array(3 * side * side);
  for (let j = 0; j < side; j++) {
    for (let i = 0; i < side; i++) {
      const p = 3 * (j * side + i);
      x[p] = size * (i / (side - 1) - 0.5);
      x[p + 1] = upright ? size * (1.5 - j / (side - 1)) : 1;
      x[p + 2] = upright ? 0 : size * (j / (side - 1) - 0.5);
    }
  }
  return x;
}

/** Lifts the corner and pulls it over the cloth; it rests in the last fifth of the phase. */
function pullCorner(x: Float64Array, w: Float64Array, moving: boolean, h: number): void {
  w[w.length - 1] = 0;
  if (!moving) return;
  const corner = x.length - 3;
  x[corner] -= h * 0.35;
  x[corner + 1] += h * 0.3;
  x[corner + 2] -= h * 0.25;
}

/**
 * Simulates the cloth of `side` x `side` particles.
 *
 * @returns frames at 30 Hz and the phases "fall" (first sixth), "settle" and "pull" (last third); no phases in wind
 */
export function clothTrajectory(options: ClothOptions = {}): Trajectory {
  const {
    side = 61,
    size = 1.4,
    seconds = 12,
    quantum = 0.0005,
    spheres = SPHERES,
    wind = false,
    pulled = !wind,
    damping = 0.6,
  } = options;
  const count = side * side;
  const x = flatSheet(side, size, wind);
  const links = makeLinks(side, x);
  const lambda = new Float64Array(links.rest.length);
  const old = new Float64Array(x);
  const v = new Float64Array(3 * count);
  // 0.2 kg/m^2, distributed evenly over all particles.
  const w = new Float64Array(count).fill(count / (0.2 * size * size));
  if (wind) for (let k = 0; k < 5; k++) w[Math.round((k * (side - 1)) / 4)] = 0;
  const triangles = gridTriangles(side);
  const h = 1 / (TICK_HZ * SUBSTEPS);
  const frames: Float32Array[] = [Float32Array.from(x)];
  const total = Math.floor(seconds * (TICK_HZ / TICKS_PER_FRAME));
  const pullFrom = pulled ? Math.floor((2 * total) / 3) : total;
  for (let tick = 1; tick <= total * TICKS_PER_FRAME; tick++) {
    const frame = tick / TICKS_PER_FRAME;
    for (let s = 0; s < SUBSTEPS; s++) {
      old.set(x);
      if (wind) blow(x, v, w, triangles, (tick - 1) / TICK_HZ + s * h, h);
      for (let i = 0; i < 3 * count; i++) {
        if (i % 3 === 1) v[i] += h * GRAVITY;
        v[i] *= 1 - damping * h;
        if (w[(i / 3) | 0] !== 0) x[i] += h * v[i];
      }
      if (frame > pullFrom) pullCorner(x, w, frame < pullFrom + 0.8 * (total - pullFrom), h);
      lambda.fill(0);
      for (let iteration = 0; iteration < ITERATIONS; iteration++) {
        solveLinks(x, w, links, lambda, h);
        collide(x, old, w, spheres);
      }
      for (let i = 0; i < 3 * count; i++) v[i] = (x[i] - old[i]) / h;
    }
    if (tick % TICKS_PER_FRAME === 0) frames.push(Float32Array.from(x));
  }
  const fallEnd = Math.floor(total / 6);
  return {
    name: `cloth ${side}x${side}, ${size} m, ${wind ? "in wind" : `over ${spheres.length} sphere${spheres.length === 1 ? "" : "s"}`}, ${quantum * 1000} mm`,
    sendHz: TICK_HZ / TICKS_PER_FRAME,
    bodies: [{ name: "cloth", count, triangles, quantum }],
    frames,
    phases: wind
      ? []
      : [
          { name: "fall", first: 1, end: fallEnd },
          { name: "settle", first: fallEnd, end: pulled ? pullFrom : frames.length },
          ...(pulled ? [{ name: "pull", first: pullFrom, end: frames.length }] : []),
        ],
  };
}
