/**
 * Bounding volume tree over a list of primitives: median splits along the longest side, leaves of four. Nodes are
 * stored in depth-first order with the node to continue at after a miss, so a query needs no stack. Boxes are
 * float64[6]: lowest x y z, highest x y z; touching boxes overlap.
 */

const LEAF = 4;
/**
 * A refitted tree is too slow if its boxes, relative to those of its primitives, have grown by more than this factor.
 */
const SLACK = 2;

export class Tree {
  /** Primitives in the order of the leaves. */
  private readonly order: Uint32Array;
  /** Per node: its box, the node after its subtree, its first primitive and the one after its last. */
  private boxes: Float64Array;
  private readonly after: Int32Array;
  private readonly first: Int32Array;
  private readonly last: Int32Array;
  private nodes = 0;
  private items: Float64Array;
  /** Total sides of all nodes over those of all primitives, when the tree was built. */
  private readonly tightness: number;

  /** @param items float64[6 n] */
  constructor(items: Float64Array) {
    const n = items.length / 6;
    const most = Math.max(1, 2 * n);
    this.order = Uint32Array.from({ length: n }, (_, i) => i);
    [this.after, this.first, this.last] = [new Int32Array(most), new Int32Array(most), new Int32Array(most)];
    this.boxes = new Float64Array(6 * most);
    this.items = items;
    if (n > 0) this.split(0, n);
    this.tightness = this.enclose(items);
  }

  /**
   * Refits the tree to other boxes of the same primitives.
   * @returns false: it is valid, but a new tree would be faster
   */
  fit(items: Float64Array): boolean {
    return this.enclose(items) <= SLACK * this.tightness;
  }

  /** @returns as `tightness`; NaN if all boxes are points */
  private enclose(items: Float64Array): number {
    this.items = items;
    const { boxes, order } = this;
    for (let node = this.nodes - 1; node >= 0; node--) {
      const at = 6 * node;
      for (let r = 0; r < 3; r++) [boxes[at + r], boxes[at + 3 + r]] = [Infinity, -Infinity];
      if (this.after[node] === node + 1)
        for (let i = this.first[node]!; i < this.last[node]!; i++) widen(boxes, at, items, 6 * order[i]!);
      else {
        widen(boxes, at, boxes, at + 6);
        widen(boxes, at, boxes, 6 * this.after[node + 1]!);
      }
    }
    return sides(boxes, this.nodes) / sides(items, order.length);
  }

  /** Writes the primitives whose boxes overlap the box at offset `at` of `box` to `out`. Returns their number. */
  query(box: Float64Array, at: number, out: number[]): number {
    const { boxes, items, order, after, nodes } = this;
    const x0 = box[at]!;
    const y0 = box[at + 1]!;
    const z0 = box[at + 2]!;
    const x1 = box[at + 3]!;
    const y1 = box[at + 4]!;
    const z1 = box[at + 5]!;
    let found = 0;
    let node = 0;
    while (node < nodes) {
      const b = 6 * node;
      if (
        boxes[b]! > x1 ||
        boxes[b + 3]! < x0 ||
        boxes[b + 1]! > y1 ||
        boxes[b + 4]! < y0 ||
        boxes[b + 2]! > z1 ||
        boxes[b + 5]! < z0
      ) {
        node = after[node]!;
        continue;
      }
      if (after[node] === node + 1) {
        for (let i = this.first[node]!; i < this.last[node]!; i++) {
          const primitive = order[i]!;
          const c = 6 * primitive;
          if (
            items[c]! <= x1 &&
            items[c + 3]! >= x0 &&
            items[c + 1]! <= y1 &&
            items[c + 4]! >= y0 &&
            items[c + 2]! <= z1 &&
            items[c + 5]! >= z0
          )
            out[found++] = primitive;
        }
      }
      node++;
    }
    return found;
  }

  private split(first: number, last: number): void {
    const node = this.nodes++;
    this.first[node] = first;
    this.last[node] = last;
    if (last - first > LEAF) {
      const axis = this.longest(first, last);
      const middle = (first + last) >> 1;
      this.select(first, last - 1, middle, axis);
      this.split(first, middle);
      this.split(middle, last);
    }
    this.after[node] = this.nodes;
  }

  /** Axis along which the centers of the primitives are spread most. */
  private longest(first: number, last: number): number {
    let longest = 0;
    let most = -1;
    for (let r = 0; r < 3; r++) {
      let low = Infinity;
      let high = -Infinity;
      for (let i = first; i < last; i++) {
        const middle = this.middle(this.order[i]!, r);
        if (middle < low) low = middle;
        if (middle > high) high = middle;
      }
      if (high - low > most) [longest, most] = [r, high - low];
    }
    return longest;
  }

  private middle(primitive: number, axis: number): number {
    return this.items[6 * primitive + axis]! + this.items[6 * primitive + 3 + axis]!;
  }

  /** Hoare's selection: moves the k-th smallest center to index k, smaller ones before it. */
  private select(low: number, high: number, k: number, axis: number): void {
    const { order } = this;
    while (low < high) {
      const pivot = this.middle(order[(low + high) >> 1]!, axis);
      let i = low;
      let j = high;
      while (i <= j) {
        while (this.middle(order[i]!, axis) < pivot) i++;
        while (this.middle(order[j]!, axis) > pivot) j--;
        if (i > j) break;
        const swap = order[i]!;
        order[i++] = order[j]!;
        order[j--] = swap;
      }
      if (k <= j) high = j;
      else if (k >= i) low = i;
      else return;
    }
  }
}

function widen(box: Float64Array, at: number, other: Float64Array, from: number): void {
  for (let r = 0; r < 3; r++) {
    if (other[from + r]! < box[at + r]!) box[at + r] = other[from + r]!;
    if (other[from + 3 + r]! > box[at + 3 + r]!) box[at + 3 + r] = other[from + 3 + r]!;
  }
}

/** @returns the sum of all sides of the first n boxes */
function sides(boxes: Float64Array, n: number): number {
  let sum = 0;
  for (let at = 0; at < 6 * n; at += 6) for (let r = 0; r < 3; r++) sum += boxes[at + 3 + r]! - boxes[at + r]!;
  return sum;
}
