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
const CELLS = 42;
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
const SHADING = 0.32;

/** uint8[]: light left after an optical depth, in steps of 1 / LIGHT_STEPS. */
const LIGHT_STEPS = 256;
const LIGHT_LEFT = Uint8Array.from({ length: 8 * LIGHT_STEPS }, (_, n) => 255 * Math.exp(-n / LIGHT_STEPS));

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
  /** float32[3*cells] displacement of the gas in a step, in cells. */
  private readonly ways: Float32Array;
  /** Nodes of the velocity, m/s, and the weight of the tracers around each. */
  private readonly nodes: Triple;
  private readonly velocity: Float32Array;
  private readonly stirred: Float32Array;
  /** Blocks with smoke, and a list of these and their neighbors. */
  private readonly smoky: Uint8Array;
  private readonly blocks: Int32Array;
  private readonly weights: Float32Array;
  /** Rates of uptake and loss, 1/s. */
  private readonly gains: Float32Array;
  private readonly losses: Float32Array;
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
    this.blocks = new Int32Array(coarse);
    this.gains = new Float32Array(count);
    this.losses = new Float32Array(count);
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
      const first = locate(nodes, x * scale, y * scale, z * scale);
      for (let c = 0; c < 8; c++) {
        const node = first + (c & 1) + (c & 2 ? nodes[0] : 0) + (c & 4 ? nodes[0] * nodes[1] : 0);
        const [u, v, w] = [part[0]!, part[1]!, part[2]!];
        const share = (c & 1 ? u : 1 - u) * (c & 2 ? v : 1 - v) * (c & 4 ? w : 1 - w);
        weights[node]! += share;
        for (let r = 0; r < 3; r++) sums[3 * node + r]! += (share * (now[p + r]! - before[p + r]!)) / passed;
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
    const { blocks, density, ahead, next } = this;
    const count = this.mark();
    ahead.fill(0);
    next.fill(0);
    for (let n = 0; n < count; n++) {
      this.aim(blocks[n]!, h);
      this.carry(blocks[n]!);
    }
    for (let n = 0; n < count; n++) this.correct(blocks[n]!, h);
    [this.density, this.next] = [next, density];
  }

  /**
   * Lists the blocks into which a step may bring smoke. A block is the cells from a node to the next ones; it has the
   * number of its node. @returns their number
   */
  private mark(): number {
    const { cells, nodes, density, gains, smoky, blocks } = this;
    const [nx, ny, nz] = cells;
    const [across, up, deep] = nodes;
    smoky.fill(0);
    for (let k = 0, at = 0; k < nz; k++)
      for (let j = 0; j < ny; j++) {
        const row = across * (((j / COARSE) | 0) + up * ((k / COARSE) | 0));
        for (let i = 0; i < nx; i++, at++) if (density[at]! > 0 || gains[at]! > 0) smoky[row + ((i / COARSE) | 0)] = 1;
      }
    let count = 0;
    each(nodes, (at, a, b, c) => {
      for (let z = Math.max(0, c - 1); z <= Math.min(deep - 1, c + 1); z++)
        for (let y = Math.max(0, b - 1); y <= Math.min(up - 1, b + 1); y++)
          for (let x = Math.max(0, a - 1); x <= Math.min(across - 1, a + 1); x++)
            if (smoky[x + across * (y + up * z)] === 1) {
              blocks[count++] = at;
              return;
            }
    });
    return count;
  }

  /** Sets `ways` in the cells of a block. @param h s */
  private aim(block: number, h: number): void {
    const { cells, nodes, ways, stirred, cell } = this;
    const [nx, ny, nz] = cells;
    const [a, b, c] = this.placeOf(block);
    const up = 3 * nodes[0];
    const deep = up * nodes[1];
    const scale = h / cell;
    for (let r = 0; r < 3; r++)
      for (let k = COARSE * c; k < Math.min(nz, COARSE * (c + 1)); k++)
        for (let j = COARSE * b; j < Math.min(ny, COARSE * (b + 1)); j++) {
          const v = j / COARSE - b;
          const w = k / COARSE - c;
          const first = 3 * block + r;
          const near = mix(stirred[first]!, stirred[first + up]!, v);
          const far = mix(stirred[first + deep]!, stirred[first + deep + up]!, v);
          const next = mix(stirred[first + 3]!, stirred[first + 3 + up]!, v);
          const last = mix(stirred[first + 3 + deep]!, stirred[first + 3 + deep + up]!, v);
          const start = scale * mix(near, far, w);
          const change = (scale * mix(next, last, w) - start) / COARSE;
          let at = 3 * (COARSE * a + nx * (j + ny * k)) + r;
          for (let i = 0; i < Math.min(nx - COARSE * a, COARSE); i++, at += 3) ways[at] = start + i * change;
        }
  }

  /** Density that the gas brings into the cells of a block. */
  private carry(block: number): void {
    const { cells, ways, density, ahead } = this;
    const [nx, ny, nz] = cells;
    const [a, b, c] = this.placeOf(block);
    for (let k = COARSE * c; k < Math.min(nz, COARSE * (c + 1)); k++)
      for (let j = COARSE * b; j < Math.min(ny, COARSE * (b + 1)); j++) {
        let at = COARSE * a + nx * (j + ny * k);
        for (let i = COARSE * a; i < Math.min(nx, COARSE * (a + 1)); i++, at++)
          ahead[at] = valueAt(density, cells, i - ways[3 * at]!, j - ways[3 * at + 1]!, k - ways[3 * at + 2]!);
      }
  }

  /** Density of a block's cells after the step: corrected, lost and taken up. @param h s */
  private correct(block: number, h: number): void {
    const { cells, ways, density, ahead, next, gains, losses } = this;
    const [nx, ny, nz] = cells;
    const [a, b, c] = this.placeOf(block);
    for (let k = COARSE * c; k < Math.min(nz, COARSE * (c + 1)); k++)
      for (let j = COARSE * b; j < Math.min(ny, COARSE * (b + 1)); j++) {
        let at = COARSE * a + nx * (j + ny * k);
        for (let i = COARSE * a; i < Math.min(nx, COARSE * (a + 1)); i++, at++) {
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
        }
      }
  }

  private placeOf(node: number): Triple {
    const [across, up] = this.nodes;
    return [node % across, ((node / across) | 0) % up, (node / (across * up)) | 0];
  }

  /** Light comes down layer by layer, along its own direction. */
  private shade(): void {
    const { cells, light, density, texels } = this;
    const [nx, ny, nz] = cells;
    const [x, y, z] = light;
    const opacity = SHADING / y;
    const i0 = Math.floor(x / y);
    const k0 = Math.floor(z / y);
    const u = x / y - i0;
    const w = z / y - k0;
    // Depths below the cells of the layer above; none in a margin around it.
    const margin = Math.max(...[i0, i0 + 1, k0, k0 + 1].map(Math.abs));
    const wide = nx + 2 * margin;
    let above = new Float32Array(wide * (nz + 2 * margin));
    let below = above.slice();
    for (let j = ny - 1; j >= 0; j--) {
      for (let k = 0; k < nz; k++) {
        let at = nx * (j + ny * k);
        let own = margin + wide * (k + margin);
        let over = own + i0 + wide * k0;
        for (let i = 0; i < nx; i++, at++, own++, over++) {
          const depth = mix(
            mix(above[over]!, above[over + 1]!, u),
            mix(above[over + wide]!, above[over + wide + 1]!, u),
            w,
          );
          below[own] = depth + opacity * density[at]!;
          texels[2 * at] = 255 * density[at]!;
          texels[2 * at + 1] = LIGHT_LEFT[Math.min(LIGHT_LEFT.length - 1, LIGHT_STEPS * depth) | 0]!;
        }
      }
      [above, below] = [below, above];
    }
  }
}

function each(cells: Triple, visit: (at: number, i: number, j: number, k: number) => void): void {
  let at = 0;
  for (let k = 0; k < cells[2]; k++)
    for (let j = 0; j < cells[1]; j++) for (let i = 0; i < cells[0]; i++) visit(at++, i, j, k);
}

/** Shares, along the axes, of the next grid points in the value at the place of the last `locate`. */
const part = new Float64Array(3);

/** @returns the grid point before a place, in the directions of all axes */
function locate(cells: Triple, x: number, y: number, z: number): number {
  x = Math.min(cells[0] - 1.001, Math.max(0, x));
  y = Math.min(cells[1] - 1.001, Math.max(0, y));
  z = Math.min(cells[2] - 1.001, Math.max(0, z));
  const i = x | 0;
  const j = y | 0;
  const k = z | 0;
  part[0] = x - i;
  part[1] = y - j;
  part[2] = z - k;
  return i + cells[0] * (j + cells[1] * k);
}

/** The value, or the nearest one in the range of the eight around a place. */
function limited(values: Float32Array, cells: Triple, x: number, y: number, z: number, value: number): number {
  const nx = cells[0];
  const a = locate(cells, x, y, z);
  const b = a + nx * cells[1];
  const [c, d] = [a + nx, b + nx];
  const least = Math.min(values[a]!, values[a + 1]!, values[b]!, values[b + 1]!);
  const most = Math.max(values[a]!, values[a + 1]!, values[b]!, values[b + 1]!);
  return Math.min(
    Math.max(most, values[c]!, values[c + 1]!, values[d]!, values[d + 1]!),
    Math.max(Math.min(least, values[c]!, values[c + 1]!, values[d]!, values[d + 1]!), value),
  );
}

/** Value at a place between grid points. */
function valueAt(values: Float32Array, cells: Triple, x: number, y: number, z: number): number {
  const nx = cells[0];
  const a = locate(cells, x, y, z);
  const b = a + nx * cells[1];
  const u = part[0]!;
  const v = part[1]!;
  const near = mix(mix(values[a]!, values[a + 1]!, u), mix(values[a + nx]!, values[a + nx + 1]!, u), v);
  const far = mix(mix(values[b]!, values[b + 1]!, u), mix(values[b + nx]!, values[b + nx + 1]!, u), v);
  return mix(near, far, part[2]!);
}

const mix = (a: number, b: number, share: number): number => a + share * (b - a);
