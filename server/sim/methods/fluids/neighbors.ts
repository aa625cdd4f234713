/**
 * Pairs of points nearer than a distance, found with cells of that size. Points are sorted by cell, then by number: the
 * same pairs in the same order on any machine. Every pair is listed once, the lower number first.
 *
 * Cells are a grid around the points' mean. Points beyond it belong to the cell at its rim, so neighbors stay
 * neighbors, and points that have flown far away cost nothing.
 * Tried: a hash of cells (Teschner et al. 2003) needs no rim, but took 2.3 times as long, since each candidate's cell
 * has to be checked.
 */

/** Largest number of listed pairs per point: bounds the cost of a step when many points fall together. */
const MOST_PER_POINT = 192;
/** Largest number of cells along an axis. */
const MOST_CELLS = 48;

/** Square of a cell's edge, with a margin for rounding. */
const NEAR = 1 + 1e-9;
/** Square of a distance to a cell, 0 if negative. */
const squareOf = (distance: number): number => (distance > 0 ? distance * distance : 0);

export class Neighbors {
  /** Pair p: points i[p] < j[p]. */
  i = new Uint32Array(0);
  j = new Uint32Array(0);
  pairs = 0;
  /** Points by cell. */
  readonly order: Uint32Array;
  /** Place of the first pair of order[n]; one entry more than points. */
  readonly group: Uint32Array;
  /** Place in `order` of each pair's second point. */
  second: Uint32Array;
  private readonly count: number;
  /** Start of each cell in `order`. */
  private readonly begin = new Uint32Array(MOST_CELLS ** 3 + 1);
  private readonly cell: Uint32Array;
  /** float64[3N] positions, in the order of `order`. */
  private readonly sorted: Float64Array;
  private readonly size = [1, 1, 1];
  private readonly low = new Float64Array(3);
  /** Inverse of a cell's edge, 1/m. */
  private perCell = 0;

  constructor(count: number) {
    this.count = count;
    this.order = new Uint32Array(count);
    this.group = new Uint32Array(count + 1);
    this.cell = new Uint32Array(count);
    this.sorted = new Float64Array(3 * count);
    this.second = new Uint32Array(16 * count);
  }

  /**
   * Finds the pairs by point numbers.
   * @param x float64[3N] m
   * @param reach m
   */
  find(x: Float64Array, reach: number): void {
    this.findInOrder(x, reach);
    const { order, group, second, pairs } = this;
    if (this.i.length < pairs) [this.i, this.j] = [new Uint32Array(second.length), new Uint32Array(second.length)];
    const { i, j } = this;
    for (let at = 0; at < order.length; at++) {
      const a = order[at]!;
      for (let p = group[at]!; p < group[at + 1]!; p++) {
        const b = order[second[p]!]!;
        i[p] = a < b ? a : b;
        j[p] = a < b ? b : a;
      }
    }
  }

  /**
   * Finds the pairs by places in `order` only: `group` and `second`.
   * @param x float64[3N] m
   * @param reach m
   */
  findInOrder(x: Float64Array, reach: number): void {
    this.perCell = 1 / reach;
    this.frame(x, reach);
    this.sort(x, this.perCell);
    const { order, group, cell, begin, size, sorted, low, perCell, count } = this;
    const [nx, ny, nz] = size as [number, number, number];
    const square = reach * reach;
    const most = MOST_PER_POINT * count;
    let { second } = this;
    let pairs = 0;
    for (let at = 0; at < count; at++) {
      group[at] = pairs;
      const c = cell[order[at]!]!;
      const cx = c % nx;
      const cy = Math.floor(c / nx) % ny;
      const cz = Math.floor(c / (nx * ny));
      const px = sorted[3 * at]!;
      const py = sorted[3 * at + 1]!;
      const pz = sorted[3 * at + 2]!;
      const fx = (px - low[0]!) * perCell;
      const fy = (py - low[1]!) * perCell;
      const fz = (pz - low[2]!) * perCell;
      // its own row from itself on, then later rows that may contain near points
      for (let z = cz; z <= cz + 1 && z < nz; z++)
        for (let y = z > cz && cy > 0 ? cy - 1 : cy; y <= cy + 1 && y < ny; y++) {
          const far = squareOf(z > cz ? z - fz : 0) + squareOf(y > cy ? y - fy : y < cy ? fy - cy : 0);
          if (far > NEAR) continue;
          const along = Math.sqrt(NEAR - far);
          const row = nx * (y + ny * z);
          const from = y === cy && z === cz ? at + 1 : begin[row + (cx > 0 && fx - along < cx ? cx - 1 : cx)]!;
          const to = begin[row + (cx + 1 < nx && fx + along >= cx + 1 ? cx + 2 : cx + 1)]!;
          if (second.length < pairs + to - from) second = this.grow();
          for (let other = from; other < to; other++) {
            const dx = px - sorted[3 * other]!;
            const dy = py - sorted[3 * other + 1]!;
            const dz = pz - sorted[3 * other + 2]!;
            // pairs that are too far are overwritten: a mispredicted branch costs more than a pair
            second[pairs] = other;
            pairs += Number(dx * dx + dy * dy + dz * dz < square);
          }
          if (pairs > most) pairs = most;
        }
    }
    group[count] = pairs;
    this.pairs = pairs;
  }

  /**
   * Finds the points nearer to a place than a radius, at the positions of the last `find`, in the order of their cells.
   * @param radius m
   * @param found uint32[N + 1] out
   * @returns number of points
   */
  near([x, y, z]: readonly [number, number, number], radius: number, found: Uint32Array): number {
    const { order, begin, sorted, size, low, perCell } = this;
    const cell = (at: number, r: number): number => within((at - low[r]!) * perCell, size[r]!);
    const first = cell(x - radius, 0);
    const last = cell(x + radius, 0);
    let count = 0;
    for (let cz = cell(z - radius, 2); cz <= cell(z + radius, 2); cz++)
      for (let cy = cell(y - radius, 1); cy <= cell(y + radius, 1); cy++) {
        const row = size[0]! * (cy + size[1]! * cz);
        const end = begin[row + last + 1]!;
        for (let at = begin[row + first]!; at < end; at++) {
          const dx = sorted[3 * at]! - x;
          const dy = sorted[3 * at + 1]! - y;
          const dz = sorted[3 * at + 2]! - z;
          found[count] = order[at]!;
          count += Number(dx * dx + dy * dy + dz * dz < radius * radius);
        }
      }
    return count;
  }

  /** Chooses the grid of cells. */
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
    // backward, so that numbers ascend within a cell and `begin` ends at the cells' beginnings
    for (let a = count - 1; a >= 0; a--) {
      const at = --begin[cell[a]! + 1]!;
      order[at] = a;
      for (let r = 0; r < 3; r++) sorted[3 * at + r] = x[3 * a + r]!;
    }
    begin.copyWithin(0, 1, cells + 1);
    begin[cells] = count;
  }

  private grow(): Uint32Array {
    const longer = new Uint32Array(2 * this.second.length + this.count);
    longer.set(this.second);
    this.second = longer;
    return longer;
  }
}

/** Integer part, clamped to 0 .. n - 1; NaN gives 0. */
function within(cell: number, n: number): number {
  return cell > 0 ? (cell < n ? Math.floor(cell) : n - 1) : 0;
}

/** The two largest displacements of points, m. Points that are not finite may be anywhere. */
export function mostMoved(x: Float64Array, from: Float64Array): [first: number, second: number] {
  let first = 0;
  let second = 0;
  for (let k = 0; k < x.length; k += 3) {
    const dx = x[k]! - from[k]!;
    const dy = x[k + 1]! - from[k + 1]!;
    const dz = x[k + 2]! - from[k + 2]!;
    const square = dx * dx + dy * dy + dz * dz;
    if (square <= second) continue;
    second = square > first ? first : square;
    if (!(square <= first)) first = square;
  }
  return [Math.sqrt(first), Math.sqrt(second)];
}
