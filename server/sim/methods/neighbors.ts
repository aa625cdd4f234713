/**
 * Pairs of points that are nearer than a distance, by cells as large as that. Points are sorted by cell, then by
 * number: the same pairs in the same order on any machine. Every pair comes once, the lower number first.
 *
 * Cells are a grid around the points' mean; what lies beyond belongs to the cell at its rim, which keeps neighbors
 * neighbors, and what has flown far away costs nothing. Tried: a hash of cells (Teschner et al. 2003) needs no rim, and
 * took 2.3 times as long, since it has to ask each candidate for its cell.
 */

/** Pairs per point that are listed at most: a step costs no more, whatever falls together. */
const MOST_PER_POINT = 192;
/** Cells along an axis at most. */
const MOST_CELLS = 48;
/** Rows of three cells that come behind a cell's own: the others find it from their side. y, z */
const ROWS = Int8Array.of(1, 0, -1, 1, 0, 1, 1, 1);

/** Square of a cell's edge, with what rounding may take. */
const NEAR = 1 + 1e-9;
/** Of a distance to a cell that is not negative. */
const squareOf = (distance: number): number => (distance > 0 ? distance * distance : 0);

export class Neighbors {
  /** Pair p: points i[p] < j[p]. */
  i: Uint32Array;
  j: Uint32Array;
  pairs = 0;
  /** Points by cell; where the pairs begin that were found from order[n], one more than points; and p's other's n. */
  readonly order: Uint32Array;
  readonly group: Uint32Array;
  second: Uint32Array;
  private readonly count: number;
  /** Where a cell begins in `order`. */
  private readonly begin = new Uint32Array(MOST_CELLS ** 3 + 1);
  private readonly cell: Uint32Array;
  /** float64[3N]: in the order of `order`. */
  private readonly sorted: Float64Array;
  private readonly size = [1, 1, 1];
  private readonly low = new Float64Array(3);
  /** 1/m */
  private perCell = 0;

  constructor(count: number) {
    this.count = count;
    this.order = new Uint32Array(count);
    this.group = new Uint32Array(count + 1);
    this.cell = new Uint32Array(count);
    this.sorted = new Float64Array(3 * count);
    this.i = new Uint32Array(16 * count);
    this.j = new Uint32Array(16 * count);
    this.second = new Uint32Array(16 * count);
  }

  /** @param x float64[3N] m. @param reach m */
  find(x: Float64Array, reach: number): void {
    this.perCell = 1 / reach;
    this.frame(x, reach);
    this.sort(x, this.perCell);
    this.pairs = 0;
    const { order, cell, begin, size, sorted, low, perCell } = this;
    const [nx, ny, nz] = size as [number, number, number];
    const square = reach * reach;
    for (let at = 0; at < this.count; at++) {
      this.group[at] = this.pairs;
      const c = cell[order[at]!]!;
      const cx = c % nx;
      const cy = Math.floor(c / nx) % ny;
      const cz = Math.floor(c / (nx * ny));
      // how far it is, in cells, from the ones before and behind its own: what is too far holds nothing near
      const left = (sorted[3 * at]! - low[0]!) * perCell - cx;
      const below = (sorted[3 * at + 1]! - low[1]!) * perCell - cy;
      const behind = cz + 1 - (sorted[3 * at + 2]! - low[2]!) * perCell;
      // the rest of its own cell and the next one, then the rows behind
      this.pairUp(at, at + 1, begin[c + (cx + 1 < nx ? 2 : 1)]!, square);
      for (let r = 0; r < ROWS.length; r += 2) {
        const dy = ROWS[r]!;
        const dz = ROWS[r + 1]!;
        const y = cy + dy;
        const z = cz + dz;
        if (y < 0 || y >= ny || z >= nz) continue;
        const across = squareOf(dy < 0 ? below : dy > 0 ? 1 - below : 0) + squareOf(dz > 0 ? behind : 0);
        if (across > NEAR) continue;
        const row = nx * (y + ny * z);
        const from = cx > 0 && across + squareOf(left) <= NEAR ? cx - 1 : cx;
        const to = cx + 1 < nx && across + squareOf(1 - left) <= NEAR ? cx + 2 : cx + 1;
        this.pairUp(at, begin[row + from]!, begin[row + to]!, square);
      }
    }
    this.group[this.count] = this.pairs;
  }

  /** Visits the points in a box as `find` saw them, in the order of their cells. @param low, high m */
  eachIn(low: readonly number[], high: readonly number[], visit: (point: number) => void): void {
    const { order, begin, sorted, size, perCell } = this;
    const [lx, ly, lz] = low as [number, number, number];
    const [hx, hy, hz] = high as [number, number, number];
    const cell = (x: number, r: number): number => within((x - this.low[r]!) * perCell, size[r]!);
    const [first, last] = [cell(lx, 0), cell(hx, 0)];
    for (let z = cell(lz, 2); z <= cell(hz, 2); z++)
      for (let y = cell(ly, 1); y <= cell(hy, 1); y++) {
        const row = size[0]! * (y + size[1]! * z);
        for (let at = begin[row + first]!; at < begin[row + last + 1]!; at++) {
          const px = sorted[3 * at]!;
          if (px < lx || px > hx) continue;
          const py = sorted[3 * at + 1]!;
          const pz = sorted[3 * at + 2]!;
          if (py >= ly && py <= hy && pz >= lz && pz <= hz) visit(order[at]!);
        }
      }
  }

  /** Pairs the point at order[at] with those at order[from..to) that are near. */
  private pairUp(at: number, from: number, to: number, square: number): void {
    const { order, sorted } = this;
    const a = order[at]!;
    const x = sorted[3 * at]!;
    const y = sorted[3 * at + 1]!;
    const z = sorted[3 * at + 2]!;
    for (let other = from; other < to; other++) {
      const dx = x - sorted[3 * other]!;
      const dy = y - sorted[3 * other + 1]!;
      const dz = z - sorted[3 * other + 2]!;
      if (!(dx * dx + dy * dy + dz * dz < square)) continue;
      if (this.pairs >= MOST_PER_POINT * this.count) return;
      if (this.pairs === this.i.length) this.grow();
      const b = order[other]!;
      this.second[this.pairs] = other;
      this.i[this.pairs] = a < b ? a : b;
      this.j[this.pairs++] = a < b ? b : a;
    }
  }

  /** Which cells there are. */
  private frame(x: Float64Array, reach: number): void {
    for (let r = 0; r < 3; r++) {
      let low = Infinity;
      let high = -Infinity;
      let sum = 0;
      for (let k = r; k < x.length; k += 3) {
        const value = x[k]!;
        if (value < low) low = value;
        if (value > high) high = value;
        sum += value;
      }
      const half = 0.5 * MOST_CELLS * reach;
      const mean = sum / this.count;
      this.low[r] = Math.max(low, mean - half);
      const cells = Math.ceil((Math.min(high, mean + half) - this.low[r]!) / reach);
      this.size[r] = cells > 1 ? Math.min(MOST_CELLS, cells) : 1;
    }
  }

  /** Counting sort by cell. */
  private sort(x: Float64Array, perCell: number): void {
    const { begin, cell, order, sorted, count, low } = this;
    const [nx, ny, nz] = this.size as [number, number, number];
    const cells = nx * ny * nz;
    begin.fill(0, 0, cells + 1);
    for (let a = 0; a < count; a++) {
      const cx = within((x[3 * a]! - low[0]!) * perCell, nx);
      const cy = within((x[3 * a + 1]! - low[1]!) * perCell, ny);
      const cz = within((x[3 * a + 2]! - low[2]!) * perCell, nz);
      cell[a] = cx + nx * (cy + ny * cz);
      begin[cell[a]! + 1]!++;
    }
    for (let c = 0; c < cells; c++) begin[c + 1]! += begin[c]!;
    // from behind, so that numbers ascend within a cell and `begin` ends where cells begin
    for (let a = count - 1; a >= 0; a--) {
      const at = --begin[cell[a]! + 1]!;
      order[at] = a;
      for (let r = 0; r < 3; r++) sorted[3 * at + r] = x[3 * a + r]!;
    }
    begin.copyWithin(0, 1, cells + 1);
    begin[cells] = count;
  }

  private grow(): void {
    const longer = (from: Uint32Array): Uint32Array => {
      const to = new Uint32Array(2 * from.length);
      to.set(from);
      return to;
    };
    [this.i, this.j, this.second] = [longer(this.i), longer(this.j), longer(this.second)];
  }
}

/** The whole part, from 0 to n - 1; what is no number is 0. */
function within(cell: number, n: number): number {
  return cell > 0 ? (cell < n ? Math.floor(cell) : n - 1) : 0;
}
