/**
 * A staggered grid (Harlow and Welch 1965): the velocity's components on the faces of cells, pressure in their middles.
 *
 *   advect    semi-Lagrangian (Stam 1999): from where a face's fluid was h ago, by a midpoint step, linear between
 *             faces. MacCormack (Selle et al. 2008): and half of what going there and back loses, without a limiter;
 *             order 2. There what is carried is cubic between faces (Lagrange's polynomial, one-sided at walls)
 *   diffuse   explicit, in as many parts as are stable
 *   project   div grad p = div u, by conjugate gradients with modified incomplete Cholesky (Bridson, Fluid Simulation
 *             for Computer Graphics, section 5.3); obstacles are whole cells. Then u -= grad p: no divergence is left
 *
 * Every component has a rim of one value beyond the box: of what slips the value within, of what sticks what a parabola
 * through the wall's own velocity and two values within says. A box of one cell's depth is flat: it slips there. Serial
 * sums, + - * / sqrt and floor: the same bits on any machine.
 *
 * A lid at Re 400 (Ghia et al. 1982), largest error in the lid's speed once nothing changes, 64 cells a side, h = 3/4
 * of a cell: linear and mirror images at walls 2.53 %, parabolas 2.23 %, and cubic 1.78 %. With 32 cells 7.15, 6.12,
 * 4.50 %, and 3.55 % with a third of the step: splitting projection from the rest is what is left, of order 1 in h.
 */

/** Residual that the projection leaves, of the largest divergence before. */
const TOLERANCE = 1e-9;
const MOST_ITERATIONS = 400;
/** Of MIC(0): Bridson's tau, and what falls back to plain incomplete Cholesky. */
const MODIFIED = 0.97;
const SAFE = 0.25;

export interface GridSpec {
  /** Cells along each axis. */
  cells: readonly [number, number, number];
  /** Edge of a cell, m. */
  edge: number;
  /** m^2/s */
  viscosity: number;
  /** Walls hold what is at them. */
  sticks: boolean;
  /** Velocity of the top wall along x, m/s. */
  lid: number;
  maccormack: boolean;
}

/** Values with a rim: place (i, j, k) from 0 is at i + 1 + X (j + 1 + Y (k + 1)). */
interface Field {
  values: Float64Array;
  /** Places along each axis, without the rim. */
  n: readonly [number, number, number];
  /** Steps to the next along each axis. */
  step: readonly [number, number, number];
}

const sizeOf = (n: readonly number[]): number => (n[0]! + 2) * (n[1]! + 2) * (n[2]! + 2);
const placesOf = ([nx, ny, nz]: GridSpec["cells"], axis: number): [number, number, number] => [
  nx + (axis === 0 ? 1 : 0),
  ny + (axis === 1 ? 1 : 0),
  nz + (axis === 2 ? 1 : 0),
];

/** Numbers that a grid's velocity takes. */
export function gridLength(cells: GridSpec["cells"]): number {
  return [0, 1, 2].reduce((sum, axis) => sum + sizeOf(placesOf(cells, axis)), 0);
}

export class MacGrid {
  readonly spec: GridSpec;
  /** u, v, w. */
  private readonly fields: Field[];
  private readonly spare: Float64Array[];
  private readonly back: Float64Array[];
  /** uint8 by cell with a rim: 1 where fluid is. */
  private readonly fluid: Uint8Array;
  /** Cells with fluid, in order, and by axis each one's lower face. */
  private readonly cells: Uint32Array;
  private readonly lower: readonly Uint32Array[];
  private readonly cellStep: readonly [number, number, number];
  private readonly p: Float64Array;
  private readonly r: Float64Array;
  private readonly z: Float64Array;
  private readonly s: Float64Array;
  private readonly factor: Float64Array;
  private readonly degrees: Float64Array;
  private readonly at = new Float64Array(3);
  private readonly velocity = new Float64Array(3);
  /** By axis: weights of four values in a row. */
  private readonly weights = [new Float64Array(4), new Float64Array(4), new Float64Array(4)] as const;

  /** @param memory float64[gridLength]: the velocity. @param solid whether a cell is inside of an obstacle */
  constructor(spec: GridSpec, memory: Float64Array, solid: (i: number, j: number, k: number) => boolean) {
    this.spec = spec;
    let from = 0;
    this.fields = [0, 1, 2].map((axis) => {
      const n = placesOf(spec.cells, axis);
      const values = memory.subarray(from, (from += sizeOf(n)));
      return { values, n, step: [1, n[0] + 2, (n[0] + 2) * (n[1] + 2)] };
    });
    const copies = (): Float64Array[] => this.fields.map(({ values }) => new Float64Array(values.length));
    [this.spare, this.back] = [copies(), copies()];
    const [nx, ny, nz] = spec.cells;
    this.cellStep = [1, nx + 2, (nx + 2) * (ny + 2)];
    const cells = sizeOf(spec.cells);
    this.fluid = new Uint8Array(cells);
    for (let k = 0; k < nz; k++)
      for (let j = 0; j < ny; j++) for (let i = 0; i < nx; i++) this.fluid[this.cell(i, j, k)] = solid(i, j, k) ? 0 : 1;
    const listed: [number, number, number, number][] = [];
    for (let k = 0; k < nz; k++)
      for (let j = 0; j < ny; j++)
        for (let i = 0; i < nx; i++) if (this.fluid[this.cell(i, j, k)]) listed.push([this.cell(i, j, k), i, j, k]);
    this.cells = Uint32Array.from(listed, ([c]) => c);
    this.lower = this.fields.map(({ step }) =>
      Uint32Array.from(listed, ([, i, j, k]) => i + 1 + step[1] * (j + 1) + step[2] * (k + 1)),
    );
    const vector = (): Float64Array => new Float64Array(cells);
    [this.p, this.r, this.z, this.s, this.factor] = [vector(), vector(), vector(), vector(), vector()];
    this.degrees = vector();
    for (const c of this.cells) this.degrees[c] = this.degree(c);
    this.factorize();
  }

  private cell(i: number, j: number, k: number): number {
    return i + 1 + this.cellStep[1] * (j + 1) + this.cellStep[2] * (k + 1);
  }

  /** One step; forces come before. */
  step(h: number): void {
    this.closeFaces();
    this.fillRims();
    this.advect(h);
    this.closeFaces();
    this.diffuse(h);
    this.project();
    this.fillRims();
  }

  /** Velocity at a place, m from the box's corner. @param out m/s */
  sample(x: number, y: number, z: number, out: Float64Array): void {
    for (let axis = 0; axis < 3; axis++) out[axis] = this.component(this.fields[axis]!, axis, x, y, z);
  }

  /** Visits the faces across an axis: index into the velocity's component, and the face's middle, m. */
  eachFace(axis: number, visit: (values: Float64Array, at: number, place: Float64Array) => void): void {
    const { values, n, step } = this.fields[axis]!;
    const { edge } = this.spec;
    const place = new Float64Array(3);
    for (let k = 0; k < n[2]; k++)
      for (let j = 0; j < n[1]; j++)
        for (let i = 0; i < n[0]; i++) {
          place[0] = (axis === 0 ? i : i + 0.5) * edge;
          place[1] = (axis === 1 ? j : j + 0.5) * edge;
          place[2] = (axis === 2 ? k : k + 0.5) * edge;
          visit(values, i + 1 + step[1] * (j + 1) + step[2] * (k + 1), place);
        }
  }

  /** Adds to the face across an axis that is nearest to a place, m from the corner. @param change m/s */
  addAt(axis: number, place: readonly [number, number, number], change: number): void {
    const { values, n, step } = this.fields[axis]!;
    let at = 0;
    for (let r = 0; r < 3; r++) {
      const along = Math.floor(place[r]! / this.spec.edge + (r === axis ? 0.5 : 0));
      at += step[r]! * (1 + Math.min(n[r]! - 1, Math.max(0, along)));
    }
    values[at]! += change;
  }

  /** Largest divergence of a cell with fluid, 1/s. */
  divergence(): number {
    let most = 0;
    for (let m = 0; m < this.cells.length; m++) most = Math.max(most, Math.abs(this.outflow(m)));
    return most / this.spec.edge;
  }

  /** Of the listed cell m: the sum over its faces, m/s. */
  private outflow(m: number): number {
    let sum = 0;
    for (let axis = 0; axis < 3; axis++) {
      const { values, step } = this.fields[axis]!;
      const at = this.lower[axis]![m]!;
      sum += values[at + step[axis]!]! - values[at]!;
    }
    return sum;
  }

  private component({ values, n, step }: Field, axis: number, x: number, y: number, z: number): number {
    const scale = 1 / this.spec.edge;
    // places between the rim's values
    const fx = within(x * scale + (axis === 0 ? 1 : 0.5), n[0]);
    const fy = within(y * scale + (axis === 1 ? 1 : 0.5), n[1]);
    const fz = within(z * scale + (axis === 2 ? 1 : 0.5), n[2]);
    const i = Math.floor(fx);
    const j = Math.floor(fy);
    const k = Math.floor(fz);
    const at = i + step[1] * j + step[2] * k;
    const near = bilinear(values, at, step[1], fx - i, fy - j);
    return near + (fz - k) * (bilinear(values, at + step[2], step[1], fx - i, fy - j) - near);
  }

  /** The same, cubic along each axis that has four values. */
  private cubic({ values, n, step }: Field, axis: number, x: number, y: number, z: number): number {
    const scale = 1 / this.spec.edge;
    const [a, b, c] = this.weights;
    let at = lagrange(within(x * scale + (axis === 0 ? 1 : 0.5), n[0]), n[0], a);
    at += step[1] * lagrange(within(y * scale + (axis === 1 ? 1 : 0.5), n[1]), n[1], b);
    at += step[2] * lagrange(within(z * scale + (axis === 2 ? 1 : 0.5), n[2]), n[2], c);
    let sum = 0;
    for (let k = 0; k < tapsOf(n[2]); k++)
      for (let j = 0; j < tapsOf(n[1]); j++) {
        const row = at + step[1] * j + step[2] * k;
        let along = 0;
        for (let i = 0; i < tapsOf(n[0]); i++) along += a[i]! * values[row + i]!;
        sum += b[j]! * c[k]! * along;
      }
    return sum;
  }

  /** Nothing flows through walls and obstacles. */
  private closeFaces(): void {
    const { fluid, cellStep } = this;
    this.fields.forEach(({ values, n, step }, axis) => {
      for (let k = 0; k < n[2]; k++)
        for (let j = 0; j < n[1]; j++)
          for (let i = 0; i < n[0]; i++) {
            const c = this.cell(i, j, k);
            if (!fluid[c] || !fluid[c - cellStep[axis]!]) values[i + 1 + step[1] * (j + 1) + step[2] * (k + 1)] = 0;
          }
    });
  }

  /** What is beyond the box. */
  private fillRims(): void {
    this.fields.forEach((field, axis) => {
      for (let across = 0; across < 3; across++) this.fillRim(field, axis, across);
    });
  }

  private fillRim({ values, n, step }: Field, axis: number, across: number): void {
    const { sticks, lid } = this.spec;
    const u = (across + 1) % 3;
    const v = (across + 2) % 3;
    const stick = sticks && this.spec.cells[across]! > 1;
    const to = step[across]!;
    const end = (n[across]! + 1) * to;
    // faces on a wall are 0: beyond it is the other sign of the next one's
    const on = axis === across;
    const inner = on ? 2 * to : to;
    const near = on ? -1 : stick ? -2 : 1;
    const next = !on && stick ? 1 / 3 : 0;
    const top = stick && axis === 0 && across === 1 ? (8 / 3) * lid : 0;
    for (let a = 0; a < n[u]! + 2; a++)
      for (let b = 0; b < n[v]! + 2; b++) {
        const row = a * step[u]! + b * step[v]!;
        values[row] = near * values[row + inner]! + next * values[row + inner + to]!;
        values[row + end] = near * values[row + end - inner]! + next * values[row + end - inner - to]! + top;
      }
  }

  private advect(h: number): void {
    const { maccormack } = this.spec;
    const { fields, spare, back } = this;
    fields.forEach((_, axis) => this.carry(axis, h, spare[axis]!));
    if (maccormack) {
      // there and back again: what that changes is twice the error
      const before = fields.map(({ values }) => values.slice());
      const gone = fields.map((field, axis) => ({ ...field, values: spare[axis]! }));
      gone.forEach((field, axis) => {
        for (let across = 0; across < 3; across++) this.fillRim(field, axis, across);
      });
      gone.forEach((field, axis) => this.carry(axis, -h, back[axis]!, field));
      fields.forEach((_, axis) => {
        const [there, again, start] = [spare[axis]!, back[axis]!, before[axis]!];
        for (let k = 0; k < there.length; k++) there[k]! += 0.5 * (start[k]! - again[k]!);
      });
    }
    fields.forEach(({ values }, axis) => values.set(spare[axis]!));
  }

  /** A component from where it was h ago. @param of what is carried; default: the velocity itself */
  private carry(axis: number, h: number, out: Float64Array, of = this.fields[axis]!): void {
    const { at, velocity } = this;
    const { maccormack } = this.spec;
    this.eachFace(axis, (_values, index, place) => {
      this.sample(place[0]!, place[1]!, place[2]!, velocity);
      for (let r = 0; r < 3; r++) at[r] = place[r]! - 0.5 * h * velocity[r]!;
      this.sample(at[0]!, at[1]!, at[2]!, velocity);
      const x = place[0]! - h * velocity[0]!;
      const y = place[1]! - h * velocity[1]!;
      const z = place[2]! - h * velocity[2]!;
      out[index] = maccormack ? this.cubic(of, axis, x, y, z) : this.component(of, axis, x, y, z);
    });
  }

  private diffuse(h: number): void {
    const { viscosity, edge } = this.spec;
    if (viscosity === 0) return;
    const parts = diffusions(this.spec, h);
    const rate = ((h / parts) * viscosity) / (edge * edge);
    for (let part = 0; part < parts; part++) {
      this.fillRims();
      this.fields.forEach(({ values, step }, axis) => {
        const out = this.spare[axis]!;
        this.eachFace(axis, (_, at) => {
          let sum = -6 * values[at]!;
          for (let r = 0; r < 3; r++) sum += values[at - step[r]!]! + values[at + step[r]!]!;
          out[at] = values[at]! + rate * sum;
        });
      });
      this.fields.forEach(({ values }, axis) => this.eachFace(axis, (_, at) => (values[at] = this.spare[axis]![at]!)));
      this.closeFaces();
    }
  }

  /** Of the fluid cells around a cell. */
  private degree(c: number): number {
    const { fluid, cellStep } = this;
    let n = 0;
    for (let r = 0; r < 3; r++) n += fluid[c - cellStep[r]!]! + fluid[c + cellStep[r]!]!;
    return n;
  }

  /** MIC(0) of the Laplacian, whose entries beside the diagonal are -1. */
  private factorize(): void {
    const { factor, cellStep, fluid } = this;
    for (const c of this.cells) {
      const diagonal = this.degree(c);
      let e = diagonal;
      for (let r = 0; r < 3; r++) {
        const behind = c - cellStep[r]!;
        if (!fluid[behind]) continue;
        const f = factor[behind]!;
        e -= f * f;
        let others = 0;
        for (let q = 0; q < 3; q++) if (q !== r) others += fluid[behind + cellStep[q]!]!;
        e -= MODIFIED * others * f * f;
      }
      if (e < SAFE * diagonal) e = diagonal;
      factor[c] = e > 0 ? 1 / Math.sqrt(e) : 0;
    }
  }

  /** z = M^-1 r */
  private precondition(): void {
    const { r, z, factor, cells } = this;
    const [a, b, d] = this.cellStep;
    // where no fluid is, factors and z are 0
    for (let m = 0; m < cells.length; m++) {
      const c = cells[m]!;
      z[c] =
        (r[c]! + factor[c - a]! * z[c - a]! + factor[c - b]! * z[c - b]! + factor[c - d]! * z[c - d]!) * factor[c]!;
    }
    for (let m = cells.length - 1; m >= 0; m--) {
      const c = cells[m]!;
      z[c] = (z[c]! + factor[c]! * (z[c + a]! + z[c + b]! + z[c + d]!)) * factor[c]!;
    }
  }

  /** Pressure times h over density and edge, so that u -= its differences. */
  private project(): void {
    const { p, r, z, s, cells } = this;
    for (const array of [p, r, z, s]) array.fill(0);
    let most = 0;
    for (let m = 0; m < cells.length; m++) {
      r[cells[m]!] = -this.outflow(m);
      most = Math.max(most, Math.abs(r[cells[m]!]!));
    }
    const enough = TOLERANCE * most;
    this.precondition();
    s.set(z);
    let rz = dot(r, z);
    for (let n = 0; n < MOST_ITERATIONS && most > enough; n++) {
      for (let m = 0; m < cells.length; m++) z[cells[m]!] = this.laplacian(s, cells[m]!);
      const curvature = dot(s, z);
      if (!(curvature > 0)) break;
      const alpha = rz / curvature;
      most = 0;
      for (let c = 0; c < p.length; c++) {
        p[c]! += alpha * s[c]!;
        r[c]! -= alpha * z[c]!;
        const size = Math.abs(r[c]!);
        if (size > most) most = size;
      }
      this.precondition();
      const next = dot(r, z);
      const beta = next / rz;
      for (let c = 0; c < s.length; c++) s[c] = z[c]! + beta * s[c]!;
      rz = next;
    }
    this.subtractGradient();
  }

  private laplacian(x: Float64Array, c: number): number {
    const [a, b, d] = this.cellStep;
    // where no fluid is, x is 0
    return this.degrees[c]! * x[c]! - x[c - a]! - x[c + a]! - x[c - b]! - x[c + b]! - x[c - d]! - x[c + d]!;
  }

  private subtractGradient(): void {
    const { p, fluid, cellStep, cells } = this;
    this.fields.forEach(({ values }, axis) => {
      const faces = this.lower[axis]!;
      for (let m = 0; m < cells.length; m++) {
        const before = cells[m]! - cellStep[axis]!;
        if (fluid[before]) values[faces[m]!]! -= p[cells[m]!]! - p[before]!;
      }
    });
  }
}

/** Parts that a step of diffusion has to be cut into: a third of what is stable. */
export function diffusions({ viscosity, edge }: Pick<GridSpec, "viscosity" | "edge">, h: number): number {
  return Math.max(1, Math.ceil((12 * viscosity * h) / (edge * edge)));
}

function bilinear(values: Float64Array, at: number, up: number, a: number, b: number): number {
  const near = values[at]! + a * (values[at + 1]! - values[at]!);
  const far = values[at + up]! + a * (values[at + up + 1]! - values[at + up]!);
  return near + b * (far - near);
}

/** How many values of a row weigh. @param n without the rim */
const tapsOf = (n: number): number => (n < 2 ? 2 : 4);

/**
 * Weights of the four values around a place (Lagrange's cubic), of two where there are no more. @param place from 0 to
 * n + 1
 * @returns the first
 */
function lagrange(place: number, n: number, out: Float64Array): number {
  if (tapsOf(n) === 2) {
    const first = Math.floor(place);
    out[0] = first + 1 - place;
    out[1] = place - first;
    return first;
  }
  const first = Math.min(Math.max(Math.floor(place) - 1, 0), n - 2);
  const t = place - first;
  out[0] = -((t - 1) * (t - 2) * (t - 3)) / 6;
  out[1] = (t * (t - 2) * (t - 3)) / 2;
  out[2] = -(t * (t - 1) * (t - 3)) / 2;
  out[3] = (t * (t - 1) * (t - 2)) / 6;
  return first;
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let k = 0; k < a.length; k++) sum += a[k]! * b[k]!;
  return sum;
}

/** From 0 to n, the place of the last cell of values with a rim of n + 2. */
function within(place: number, n: number): number {
  const most = n + 1 - 1e-9;
  return place > 0 ? (place < most ? place : most) : 0;
}
