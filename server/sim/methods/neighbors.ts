/**
 * Pairs of points that are nearer than a distance: cells as large as that, in a hash table (Teschner et al. 2003, section
 * 3), so that what flies far away costs nothing. Points are sorted by bucket, then by number: the same pairs in the same
 * order on any machine. Every pair comes once, the lower number first.
 */

/** Pairs per point that are listed at most: a step costs no more, whatever falls together. */
const MOST_PER_POINT = 192;
/** Half of the 26 cells around one: the others find it from their side. */
const AHEAD = [
  [1, 0, 0],
  [-1, 1, 0],
  [0, 1, 0],
  [1, 1, 0],
  [-1, -1, 1],
  [0, -1, 1],
  [1, -1, 1],
  [-1, 0, 1],
  [0, 0, 1],
  [1, 0, 1],
  [-1, 1, 1],
  [0, 1, 1],
  [1, 1, 1],
] as const;

export class Neighbors {
  /** Pair p: points i[p] < j[p]. */
  i: Uint32Array;
  j: Uint32Array;
  pairs = 0;
  private readonly count: number;
  private readonly mask: number;
  /** Where a bucket begins in `order`. */
  private readonly begin: Uint32Array;
  private readonly order: Uint32Array;
  private readonly cell: Int32Array;

  constructor(count: number) {
    this.count = count;
    let buckets = 16;
    while (buckets < 2 * count) buckets *= 2;
    this.mask = buckets - 1;
    this.begin = new Uint32Array(buckets + 1);
    this.order = new Uint32Array(count);
    this.cell = new Int32Array(3 * count);
    this.i = new Uint32Array(16 * count);
    this.j = new Uint32Array(16 * count);
  }

  /** @param x float64[3N] m. @param reach m */
  find(x: Float64Array, reach: number): void {
    this.sort(x, 1 / reach);
    this.pairs = 0;
    const { order, cell, begin } = this;
    const square = reach * reach;
    for (let at = 0; at < this.count; at++) {
      const a = order[at]!;
      const [cx, cy, cz] = [cell[3 * a]!, cell[3 * a + 1]!, cell[3 * a + 2]!];
      // the rest of its own cell, then those ahead
      this.pairUp(x, a, at + 1, begin[this.bucketOf(cx, cy, cz) + 1]!, cx, cy, cz, square);
      for (const [dx, dy, dz] of AHEAD) {
        const bucket = this.bucketOf(cx + dx, cy + dy, cz + dz);
        this.pairUp(x, a, begin[bucket]!, begin[bucket + 1]!, cx + dx, cy + dy, cz + dz, square);
      }
    }
  }

  /** Pairs `a` with those at order[from..to) that are in the cell and near. */
  private pairUp(
    x: Float64Array,
    a: number,
    from: number,
    to: number,
    cx: number,
    cy: number,
    cz: number,
    square: number,
  ): void {
    const { order, cell } = this;
    for (let at = from; at < to; at++) {
      const b = order[at]!;
      if (cell[3 * b] !== cx || cell[3 * b + 1] !== cy || cell[3 * b + 2] !== cz) continue;
      const dx = x[3 * a]! - x[3 * b]!;
      const dy = x[3 * a + 1]! - x[3 * b + 1]!;
      const dz = x[3 * a + 2]! - x[3 * b + 2]!;
      if (!(dx * dx + dy * dy + dz * dz < square) || this.pairs >= MOST_PER_POINT * this.count) continue;
      if (this.pairs === this.i.length) this.grow();
      this.i[this.pairs] = a < b ? a : b;
      this.j[this.pairs++] = a < b ? b : a;
    }
  }

  /** Counting sort by bucket. */
  private sort(x: Float64Array, perCell: number): void {
    const { begin, cell, order, count } = this;
    begin.fill(0);
    for (let k = 0; k < 3 * count; k++) cell[k] = Math.floor(x[k]! * perCell);
    for (let a = 0; a < count; a++) begin[this.bucketAt(a) + 1]!++;
    for (let b = 0; b < begin.length - 1; b++) begin[b + 1]! += begin[b]!;
    // from behind, so that numbers ascend within a bucket and `begin` ends where buckets begin
    for (let a = count - 1; a >= 0; a--) order[--begin[this.bucketAt(a) + 1]!] = a;
    begin.copyWithin(0, 1);
    begin[begin.length - 1] = count;
  }

  private bucketAt(a: number): number {
    return this.bucketOf(this.cell[3 * a]!, this.cell[3 * a + 1]!, this.cell[3 * a + 2]!);
  }

  private bucketOf(cx: number, cy: number, cz: number): number {
    return (Math.imul(cx, 73856093) ^ Math.imul(cy, 19349663) ^ Math.imul(cz, 83492791)) & this.mask;
  }

  private grow(): void {
    const longer = (from: Uint32Array): Uint32Array => {
      const to = new Uint32Array(2 * from.length);
      to.set(from);
      return to;
    };
    [this.i, this.j] = [longer(this.i), longer(this.j)];
  }
}
