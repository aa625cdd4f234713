/**
 * Density of smoke in a gas, on a grid finer than its tracers. The displacements of the tracers are the velocity, which
 * carries the density (semi-Lagrangian with the correction of Selle et al. 2008). Smoke comes from the source and fades
 * with time, and near the walls. All of it is picture only.
 */
import type { Box3, Vector3 } from "three";
import type { SmokeSource } from "../../../shared/topology.ts";

/** Time in which smoke fades to 1/e, s. */
const FADE_S = 4.5;
/** Density in a gas without a source. */
const HAZE = 0.3;
/** Rate of the uptake in the middle of the source, 1/s; none at its edge. */
const UPTAKE = 9;
/** Cells along the longest side, and the width of a cell of the velocity's grid in these. */
const CELLS = 48;
const COARSE = 3;
/** Least weight of tracers around a node that give it a velocity; otherwise it keeps the one that it had. */
const LEAST_WEIGHT = 0.1;
/** Density that does not show; errors of a step below this are not corrected. */
const LEAST = 0.004;
/** Time of a step, s; most steps between two pictures. */
const STEP_S = 1 / 30;
const MOST_STEPS = 60;
/** Time between two pictures that is a jump, s. */
const JUMP_S = 5;
/** Steps with the first known velocity: a visitor sees a plume that has risen, and not one that begins. */
const BEFORE = 45;
/** Part of the longest side over which smoke fades near walls and the top, where it would show the shape of its box. */
const MARGIN = 0.1;
const MARGIN_RATE = 9;
/**
 * Eddies finer than the tracers, where layers of gas slide along each other: waves of velocity across their own
 * direction, so that they neither press nor tear. Wavelengths, in distances of nodes; speed relative to the change of
 * the gas's own in one of these; turns of their phases, rad/s.
 */
const WAVES = [5.3, 4.6, 3.8, 3.2, 2.7, 2.4];
const TURBULENCE = 0.6;
const TURNS = 2.5;
/** Optical depth of a cell of full smoke toward the light. */
const SHADING = 0.28;

type Triple = readonly [number, number, number];

/** Wave vector over distances of nodes, unit vector across, angular frequency in 1/s; spread by the golden angle. */
const EDDIES = WAVES.map((length, n): { along: Triple; across: Triple; turn: number } => {
  const [up, angle] = [0.7 * Math.cos(2.1 * n), 2.4 * n];
  const level = Math.sqrt(1 - up * up);
  const [x, z] = [Math.cos(angle), Math.sin(angle)];
  const scale = (2 * Math.PI) / length;
  const along: Triple = [scale * level * x, scale * up, scale * level * z];
  const across: Triple = n % 2 ? [-z, 0, x] : [-up * x, level, -up * z];
  return { along, across, turn: n % 2 ? TURNS : -TURNS };
});

export class Smoke {
  readonly box: Box3;
  /** Numbers of cells along the axes, and their width, m. The middle of the first one is the box's lowest corner. */
  readonly cells: Triple;
  readonly cell: number;
  /** uint8[2*cells]: density, and the light that reaches it. */
  readonly texels: Uint8Array<ArrayBuffer>;
  private density: Float32Array;
  private readonly ahead: Float32Array;
  private next: Float32Array;
  /** float32[3*cells] way of the gas in a step, in cells. */
  private readonly ways: Float32Array;
  /** Nodes of the velocity, m/s, and the weight of the tracers around each. */
  private readonly nodes: Triple;
  private readonly velocity: Float32Array;
  private readonly stirred: Float32Array;
  /** Nodes with smoke, and these with their neighbors. */
  private readonly smoky: Uint8Array;
  private readonly near: Uint8Array;
  private readonly weights: Float32Array;
  /** Rates of uptake and loss, 1/s. */
  private readonly gains: Float32Array;
  private readonly losses: Float32Array;
  /** Optical depth between a cell and the light. */
  private readonly depths: Float32Array;
  private readonly light: Triple;
  private last: { positions: Float32Array; seconds: number } | undefined;
  private begun = false;

  /** @param box around the gas, m. @param light direction to the light: a unit vector that points upward */
  constructor(box: Box3, source: SmokeSource | undefined, light: Vector3) {
    const sides = [0, 1, 2].map((r) => box.max.getComponent(r) - box.min.getComponent(r)) as unknown as Triple;
    const cell = Math.max(1e-6, ...sides) / CELLS;
    const cells = sides.map((side) => Math.ceil(side / cell) + 1) as unknown as Triple;
    const nodes = cells.map((n) => Math.ceil(n / COARSE) + 1) as unknown as Triple;
    const count = cells[0] * cells[1] * cells[2];
    const coarse = nodes[0] * nodes[1] * nodes[2];
    this.cell = cell;
    this.cells = cells;
    this.nodes = nodes;
    this.box = box;
    this.light = light.toArray();
    this.density = new Float32Array(count).fill(source ? 0 : HAZE);
    this.ahead = new Float32Array(count);
    this.next = new Float32Array(count);
    this.ways = new Float32Array(3 * count);
    this.velocity = new Float32Array(3 * coarse);
    this.stirred = new Float32Array(3 * coarse);
    this.weights = new Float32Array(coarse);
    this.smoky = new Uint8Array(coarse);
    this.near = new Uint8Array(coarse);
    this.gains = new Float32Array(count);
    this.losses = new Float32Array(count);
    this.depths = new Float32Array(count);
    this.texels = new Uint8Array(2 * count);
    if (source) this.place(source);
    this.shade();
  }

  /**
   * @param positions of the tracers, m. @param seconds simulated time of the positions
   * @returns true if the texels have changed
   */
  update(positions: Float32Array, seconds: number): boolean {
    const { last } = this;
    const passed = seconds - (last?.seconds ?? -Infinity);
    if (passed >= 0 && passed < STEP_S) return false;
    this.last = { positions: positions.slice(), seconds };
    // After a jump, as in a replay, the flow is another one.
    if (!last || passed < 0 || passed > JUMP_S) {
      this.begun = false;
      return false;
    }
    this.follow(last.positions, positions, passed);
    const steps = Math.min(MOST_STEPS, Math.round(passed / STEP_S));
    this.stir(seconds);
    for (let n = this.begun ? 0 : -BEFORE; n < steps; n++) this.step(passed / steps);
    this.begun = true;
    this.shade();
    return true;
  }

  private place({ center, radius }: SmokeSource): void {
    const { cells, cell, gains, losses } = this;
    const low = this.box.min.toArray();
    const margin = MARGIN * CELLS;
    each(cells, (at, i, j, k) => {
      const nearest = Math.min(i, cells[0] - 1 - i, cells[1] - 1 - j, k, cells[2] - 1 - k);
      const near = Math.max(0, 1 - nearest / margin);
      losses[at] = 1 / FADE_S + MARGIN_RATE * near * near;
      const away = Math.hypot(...[i, j, k].map((n, r) => (n * cell + low[r]! - center[r]!) / radius));
      gains[at] = UPTAKE * Math.max(0, 1 - away * away);
    });
  }

  /** Takes the velocity over from the tracers. */
  private follow(before: Float32Array, now: Float32Array, passed: number): void {
    const { nodes, weights, velocity, cell } = this;
    const low = this.box.min;
    const scale = 1 / (cell * COARSE);
    const sums = new Float32Array(velocity.length);
    weights.fill(0);
    for (let p = 0; p < now.length; p += 3) {
      const x = 0.5 * (before[p]! + now[p]!) - low.x;
      const y = 0.5 * (before[p + 1]! + now[p + 1]!) - low.y;
      const z = 0.5 * (before[p + 2]! + now[p + 2]!) - low.z;
      around(nodes, x * scale, y * scale, z * scale);
      for (let c = 0; c < 8; c++) {
        const node = corners[c]!;
        weights[node]! += shares[c]!;
        for (let r = 0; r < 3; r++) sums[3 * node + r]! += (shares[c]! * (now[p + r]! - before[p + r]!)) / passed;
      }
    }
    for (let n = 0; n < weights.length; n++)
      if (weights[n]! > LEAST_WEIGHT) for (let r = 3 * n; r < 3 * n + 3; r++) velocity[r] = sums[r]! / weights[n]!;
  }

  /** Adds eddies to the velocity. */
  private stir(seconds: number): void {
    const { nodes, velocity, stirred } = this;
    const [nx, ny, nz] = nodes;
    /** Difference of a component between the neighbors of a node. */
    const change = (at: number, step: number, component: number): number =>
      velocity[3 * (at + step) + component]! - velocity[3 * (at - step) + component]!;
    each(nodes, (at, i, j, k) => {
      let turning = 0;
      if (i > 0 && j > 0 && k > 0 && i < nx - 1 && j < ny - 1 && k < nz - 1)
        turning = Math.hypot(
          change(at, nx, 2) - change(at, nx * ny, 1),
          change(at, nx * ny, 0) - change(at, 1, 2),
          change(at, 1, 1) - change(at, nx, 0),
        );
      for (let r = 0; r < 3; r++) stirred[3 * at + r] = velocity[3 * at + r]!;
      if (turning === 0) return;
      for (const { along, across, turn } of EDDIES) {
        const way = along[0] * i + along[1] * j + along[2] * k;
        const part = 0.5 * TURBULENCE * turning * Math.cos(way + turn * seconds);
        for (let r = 0; r < 3; r++) stirred[3 * at + r]! += part * across[r]!;
      }
    });
  }

  /** @param h time of a step, s */
  private step(h: number): void {
    const { cells, ways, density, ahead, next, gains, losses } = this;
    this.mark();
    ahead.fill(0);
    next.fill(0);
    this.eachNear((at, i, j, k) => {
      this.aim(at, i, j, k, h);
      ahead[at] = valueAt(density, cells, i - ways[3 * at]!, j - ways[3 * at + 1]!, k - ways[3 * at + 2]!);
    });
    this.eachNear((at, i, j, k) => {
      let carried = ahead[at]!;
      if (carried > LEAST) {
        const x = ways[3 * at]!;
        const y = ways[3 * at + 1]!;
        const z = ways[3 * at + 2]!;
        const error = valueAt(ahead, cells, i + x, j + y, k + z) - density[at]!;
        // The corrected value stays among those that it comes from.
        if (Math.abs(error) > LEAST) carried = limited(density, cells, i - x, j - y, k - z, carried - 0.5 * error);
      }
      carried /= 1 + h * losses[at]!;
      carried += (1 - carried) * Math.min(1, h * gains[at]!);
      if (carried > LEAST) next[at] = carried;
    });
    [this.density, this.next] = [next, density];
  }

  /** Marks the nodes around which a step may bring smoke. */
  private mark(): void {
    const { cells, nodes, density, gains, smoky, near } = this;
    smoky.fill(0);
    near.fill(0);
    each(cells, (at, i, j, k) => {
      if (density[at]! > 0 || gains[at]! > 0)
        smoky[((i / COARSE) | 0) + nodes[0] * (((j / COARSE) | 0) + nodes[1] * ((k / COARSE) | 0))] = 1;
    });
    each(nodes, (at, i, j, k) => {
      if (smoky[at] === 0) return;
      for (let z = Math.max(0, k - 1); z <= Math.min(nodes[2] - 1, k + 1); z++)
        for (let y = Math.max(0, j - 1); y <= Math.min(nodes[1] - 1, j + 1); y++)
          for (let x = Math.max(0, i - 1); x <= Math.min(nodes[0] - 1, i + 1); x++)
            near[x + nodes[0] * (y + nodes[1] * z)] = 1;
    });
  }

  /** Visits the cells of the marked nodes. */
  private eachNear(visit: (at: number, i: number, j: number, k: number) => void): void {
    const { cells, nodes, near } = this;
    const [nx, ny, nz] = cells;
    each(nodes, (node, a, b, c) => {
      if (near[node] === 0) return;
      for (let k = COARSE * c; k < Math.min(nz, COARSE * (c + 1)); k++)
        for (let j = COARSE * b; j < Math.min(ny, COARSE * (b + 1)); j++)
          for (let i = COARSE * a; i < Math.min(nx, COARSE * (a + 1)); i++) visit(i + nx * (j + ny * k), i, j, k);
    });
  }

  private aim(at: number, i: number, j: number, k: number, h: number): void {
    const { nodes, ways, stirred, cell } = this;
    around(nodes, i / COARSE, j / COARSE, k / COARSE);
    let x = 0;
    let y = 0;
    let z = 0;
    for (let c = 0; c < 8; c++) {
      const node = 3 * corners[c]!;
      x += shares[c]! * stirred[node]!;
      y += shares[c]! * stirred[node + 1]!;
      z += shares[c]! * stirred[node + 2]!;
    }
    ways[3 * at] = (x * h) / cell;
    ways[3 * at + 1] = (y * h) / cell;
    ways[3 * at + 2] = (z * h) / cell;
  }

  /** Light comes down layer by layer, along its own direction. */
  private shade(): void {
    const { cells, light, density, depths, texels } = this;
    const [nx, ny, nz] = cells;
    const [x, y, z] = light;
    const opacity = SHADING / y;
    const i0 = Math.floor(x / y);
    const k0 = Math.floor(z / y);
    const u = x / y - i0;
    const w = z / y - k0;
    /** Depth below a cell of the layer above; none outside. */
    const below = (i: number, j: number, k: number): number => {
      if (i >= nx || k >= nz || i < 0 || k < 0) return 0;
      const at = i + nx * (j + ny * k);
      return depths[at]! + opacity * density[at]!;
    };
    for (let j = ny - 1; j >= 0; j--)
      for (let k = 0; k < nz; k++)
        for (let i = 0; i < nx; i++) {
          const at = i + nx * (j + ny * k);
          let depth = 0;
          if (j + 1 < ny) {
            const [p, q, l] = [i + i0, k + k0, j + 1];
            depth = mix(
              mix(below(p, l, q), below(p + 1, l, q), u),
              mix(below(p, l, q + 1), below(p + 1, l, q + 1), u),
              w,
            );
          }
          depths[at] = depth;
          texels[2 * at] = 255 * density[at]!;
          texels[2 * at + 1] = depth === 0 ? 255 : 255 * Math.exp(-depth);
        }
  }
}

function each(cells: Triple, visit: (at: number, i: number, j: number, k: number) => void): void {
  let at = 0;
  for (let k = 0; k < cells[2]; k++)
    for (let j = 0; j < cells[1]; j++) for (let i = 0; i < cells[0]; i++) visit(at++, i, j, k);
}

/** The eight grid points around the place of the last `around`, and their shares in its value. */
const corners = new Int32Array(8);
const shares = new Float64Array(8);

function around(cells: Triple, x: number, y: number, z: number): void {
  const nx = cells[0];
  const ny = cells[1];
  x = Math.min(nx - 1.001, Math.max(0, x));
  y = Math.min(ny - 1.001, Math.max(0, y));
  z = Math.min(cells[2] - 1.001, Math.max(0, z));
  const i = x | 0;
  const j = y | 0;
  const k = z | 0;
  const u = x - i;
  const v = y - j;
  const w = z - k;
  const first = i + nx * (j + ny * k);
  for (let c = 0; c < 8; c++) {
    corners[c] = first + (c & 1) + (c & 2 ? nx : 0) + (c & 4 ? nx * ny : 0);
    shares[c] = (c & 1 ? u : 1 - u) * (c & 2 ? v : 1 - v) * (c & 4 ? w : 1 - w);
  }
}

/** The value, or the nearest one in the range of the eight around a place. */
function limited(values: Float32Array, cells: Triple, x: number, y: number, z: number, value: number): number {
  around(cells, x, y, z);
  let least = Infinity;
  let most = -Infinity;
  for (let c = 0; c < 8; c++) {
    const own = values[corners[c]!]!;
    if (own < least) least = own;
    if (own > most) most = own;
  }
  return Math.min(most, Math.max(least, value));
}

/** Value at a place between grid points. It is called most, so that it does without `around`. */
function valueAt(values: Float32Array, cells: Triple, x: number, y: number, z: number): number {
  const nx = cells[0];
  const ny = cells[1];
  x = Math.min(nx - 1.001, Math.max(0, x));
  y = Math.min(ny - 1.001, Math.max(0, y));
  z = Math.min(cells[2] - 1.001, Math.max(0, z));
  const i = x | 0;
  const j = y | 0;
  const k = z | 0;
  const u = x - i;
  const v = y - j;
  const w = z - k;
  const a = i + nx * (j + ny * k);
  const b = a + nx * ny;
  const near = (1 - v) * mix(values[a]!, values[a + 1]!, u) + v * mix(values[a + nx]!, values[a + nx + 1]!, u);
  const far = (1 - v) * mix(values[b]!, values[b + 1]!, u) + v * mix(values[b + nx]!, values[b + nx + 1]!, u);
  return mix(near, far, w);
}

const mix = (a: number, b: number, share: number): number => a + share * (b - a);
