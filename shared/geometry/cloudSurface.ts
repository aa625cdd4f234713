/**
 * Surface of a cloud of points that form one solid (a crystal, wax): where the sum of a smooth kernel around each point
 * (Blinn 1982) has one value. Its mesh has a vertex in each grid cell that the surface meets (surface nets,
 * Gibson 1998). A lone point is a ball.
 */

/** Reach of a kernel, in spacings of the cloud, and the sum on the surface; a kernel is 1 in its middle. */
const REACH = 1.12;
const LEVEL = 0.37;
/** Grid cells in a spacing, and most cells: a cloud that has flown apart has a coarser grid and wider kernels. */
const FINE = 2.5;
const MOST_CELLS = 200_000;
/** Least reach, in cells: a narrower ball could be between grid points. */
const LEAST_REACH = 2;

/** Places in the field of the corners of a cell; the bits of a corner's number are its places along x, y and z. */
const around = new Int32Array(8);

export class CloudSurface {
  /** float32[3*vertices...]: m; only the first `vertices` of them are valid. */
  positions = new Float32Array(3 * 1024);
  /** Unit vectors out of the cloud. */
  normals = new Float32Array(3 * 1024);
  vertices = 0;
  /** uint32[corners...]: counterclockwise from outside; only the first `corners` of them are valid. */
  triangles = new Uint32Array(6 * 1024);
  corners = 0;
  private readonly spacing: number;
  private readonly low = [0, 0, 0];
  private readonly cells = [0, 0, 0];
  private cell = 1;
  private reach = 1;
  /** float32[4*cells]: gradient of the sum, and the sum, at each grid point. */
  private field = new Float32Array();
  /** Vertex of each cell that has one. A cell has the index of its lowest grid point. */
  private vertexOf = new Int32Array();

  /** @param spacing of the points at rest, m */
  constructor(spacing: number) {
    this.spacing = spacing;
  }

  /** @param points float32[3*n] m. @returns this, with the surface around these points */
  update(points: Float32Array): this {
    this.vertices = 0;
    this.corners = 0;
    if (points.length === 0) return this;
    this.place(points);
    for (let p = 0; p < points.length; p += 3) this.add(points[p]!, points[p + 1]!, points[p + 2]!);
    this.cut();
    return this;
  }

  /** Lays an empty grid around the points. */
  private place(points: Float32Array): void {
    const { low, cells, spacing } = this;
    const high = [-Infinity, -Infinity, -Infinity];
    low.fill(Infinity);
    for (let p = 0; p < points.length; p++) {
      const r = p % 3;
      if (points[p]! < low[r]!) low[r] = points[p]!;
      if (points[p]! > high[r]!) high[r] = points[p]!;
    }
    this.cell = spacing / FINE;
    for (;;) {
      this.reach = Math.max(REACH * spacing, LEAST_REACH * this.cell);
      // One more cell on each side: the outermost grid points are outside of the surface.
      for (let r = 0; r < 3; r++) cells[r] = Math.ceil((high[r]! - low[r]! + 2 * this.reach) / this.cell) + 3;
      const over = (cells[0]! * cells[1]! * cells[2]!) / MOST_CELLS;
      // Also without a size, as of points that are nowhere.
      if (!(over > 1)) break;
      this.cell *= 1.01 * Math.cbrt(over);
    }
    for (let r = 0; r < 3; r++) low[r]! -= this.reach + this.cell;
    const count = cells[0]! * cells[1]! * cells[2]!;
    if (this.vertexOf.length < count) {
      this.field = new Float32Array(4 * count);
      this.vertexOf = new Int32Array(count);
    } else this.field.fill(0, 0, 4 * count);
  }

  /** Adds the kernel (1 - r^2)^3 of a point, and its gradient. */
  private add(x: number, y: number, z: number): void {
    const { field, low, cells, cell, reach } = this;
    const scale = 1 / (reach * reach);
    const x0 = x - low[0]!;
    const y0 = y - low[1]!;
    const z0 = z - low[2]!;
    const end = (at: number): number => Math.floor((at + reach) / cell);
    const begin = (at: number): number => Math.ceil((at - reach) / cell);
    for (let k = begin(z0); k <= end(z0); k++)
      for (let j = begin(y0); j <= end(y0); j++) {
        const dy = j * cell - y0;
        const dz = k * cell - z0;
        const beside = 1 - scale * (dy * dy + dz * dz);
        if (beside <= 0) continue;
        const half = reach * Math.sqrt(beside);
        const last = Math.floor((x0 + half) / cell);
        for (let i = Math.ceil((x0 - half) / cell); i <= last; i++) {
          const dx = i * cell - x0;
          const rest = beside - scale * dx * dx;
          const slope = -6 * scale * rest * rest;
          const at = 4 * (i + cells[0]! * (j + cells[1]! * k));
          field[at]! += slope * dx;
          field[at + 1]! += slope * dy;
          field[at + 2]! += slope * dz;
          field[at + 3]! += rest * rest * rest;
        }
      }
  }

  private cut(): void {
    const { field, cells } = this;
    const [nx, ny, nz] = cells as [number, number, number];
    const up = nx;
    const deep = nx * ny;
    /** Which of the four grid points of a cell's side are inside. */
    const side = (at: number): number =>
      (field[4 * at + 3]! > LEVEL ? 1 : 0) |
      (field[4 * (at + up) + 3]! > LEVEL ? 2 : 0) |
      (field[4 * (at + deep) + 3]! > LEVEL ? 4 : 0) |
      (field[4 * (at + deep + up) + 3]! > LEVEL ? 8 : 0);
    for (let k = 0; k < nz - 1; k++)
      for (let j = 0; j < ny - 1; j++) {
        let at = nx * (j + ny * k);
        let before = side(at);
        for (let i = 0; i < nx - 1; i++, at++) {
          const after = side(at + 1);
          const inside = before | (after << 4);
          before = after;
          if (inside === 0 || inside === 255) continue;
          this.putVertex(at, i, j, k);
          // Edges from the cell's lowest grid point; its other edges belong to later cells.
          const first = (inside & 1) === 1;
          if (first !== ((inside & 16) !== 0)) this.putQuad(at, up, deep, first);
          if (first !== ((inside & 2) !== 0)) this.putQuad(at, deep, 1, first);
          if (first !== ((inside & 4) !== 0)) this.putQuad(at, 1, up, first);
        }
      }
  }

  /** Puts a vertex into the mean of the points where edges of the cell meet the surface. */
  private putVertex(at: number, i: number, j: number, k: number): void {
    const { field, cells, cell, low } = this;
    for (let c = 0; c < 8; c++) around[c] = 4 * (at + (c & 1) + cells[0]! * (((c >> 1) & 1) + cells[1]! * (c >> 2)));
    let u = 0;
    let v = 0;
    let w = 0;
    let met = 0;
    for (let r = 0; r < 3; r++)
      for (let c = 0; c < 8; c++) {
        if (c & (1 << r)) continue;
        const from = field[around[c]! + 3]!;
        const to = field[around[c | (1 << r)]! + 3]!;
        if (from > LEVEL === to > LEVEL) continue;
        const along = (LEVEL - from) / (to - from);
        met++;
        u += r === 0 ? along : c & 1;
        v += r === 1 ? along : (c >> 1) & 1;
        w += r === 2 ? along : c >> 2;
      }
    u /= met;
    v /= met;
    w /= met;
    let x = 0;
    let y = 0;
    let z = 0;
    for (let c = 0; c < 8; c++) {
      const share = (c & 1 ? u : 1 - u) * (c & 2 ? v : 1 - v) * (c & 4 ? w : 1 - w);
      x -= share * field[around[c]!]!;
      y -= share * field[around[c]! + 1]!;
      z -= share * field[around[c]! + 2]!;
    }
    const scale = 1 / Math.max(1e-12, Math.sqrt(x * x + y * y + z * z));
    const out = 3 * this.vertices;
    if (out + 3 > this.positions.length) {
      this.positions = grown(this.positions, new Float32Array(2 * this.positions.length));
      this.normals = grown(this.normals, new Float32Array(2 * this.normals.length));
    }
    const { positions, normals } = this;
    positions[out] = low[0]! + cell * (i + u);
    positions[out + 1] = low[1]! + cell * (j + v);
    positions[out + 2] = low[2]! + cell * (k + w);
    normals[out] = scale * x;
    normals[out + 1] = scale * y;
    normals[out + 2] = scale * z;
    this.vertexOf[at] = this.vertices++;
  }

  /** Joins the vertices of the four cells around an edge. @param p, q steps along the other two axes, in order */
  private putQuad(at: number, p: number, q: number, outward: boolean): void {
    const { vertexOf, corners } = this;
    if (corners + 6 > this.triangles.length)
      this.triangles = grown(this.triangles, new Uint32Array(2 * this.triangles.length));
    const a = vertexOf[at - p - q]!;
    const b = vertexOf[at - q]!;
    const c = vertexOf[at]!;
    const d = vertexOf[at - p]!;
    const { triangles } = this;
    triangles[corners] = triangles[corners + 3] = a;
    triangles[corners + 1] = outward ? b : c;
    triangles[corners + 2] = outward ? c : b;
    triangles[corners + 4] = outward ? c : d;
    triangles[corners + 5] = outward ? d : c;
    this.corners += 6;
  }
}

function grown<T extends Float32Array | Uint32Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
