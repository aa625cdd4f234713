/**
 * Which points are near the surfaces of bodies, and where on them: of each point and surface the nearest place, with
 * the side that the point is on where the surface has an inside.
 */
import type { Surface } from "./method.ts";
import { ALONG, DISTANCE, HEIGHT, NEAREST, nearestOn, WEIGHT_B, WEIGHT_C } from "./nearestOn.ts";
import type { Neighbors } from "./neighbors.ts";

/** What is as near but for rounding is equally near: triangles that share the nearest place. */
const TIE = 1e-9;

export class Wetting {
  readonly surface: Surface;
  /** Points near it: number, triangle, what nearestOn found; distances are negative within, normals lead outside. */
  count = 0;
  readonly point: Uint32Array;
  readonly triangle: Uint32Array;
  readonly found: Float64Array;
  /** Where the surface was when it was listed, and pairs of points and triangles that may come near. */
  private readonly listed: Float64Array;
  private points = new Uint32Array(0);
  private triangles = new Uint32Array(0);
  private pairs = 0;
  /** By point, m, while they are listed. */
  private readonly nearest: Float64Array;
  /** By point: its place among the near ones, -1: none. */
  private readonly slot: Int32Array;
  private readonly out = new Float64Array(NEAREST);
  /** By particle of the surface. */
  private readonly shares: Float64Array;

  /** @param count of points */
  constructor(surface: Surface, count: number) {
    this.surface = surface;
    this.point = new Uint32Array(count);
    this.triangle = new Uint32Array(count);
    this.found = new Float64Array(NEAREST * count);
    this.listed = new Float64Array(surface.x.length);
    this.nearest = new Float64Array(count);
    this.slot = new Int32Array(count).fill(-1);
    this.shares = new Float64Array(surface.w.length);
  }

  /** Lists what may be nearest until two have moved by `skin` together. @param reach, skin m */
  list(x: Float64Array, neighbors: Neighbors, reach: number, skin: number): void {
    const { surface, out } = this;
    this.listed.set(surface.x);
    const near: number[] = [];
    const { nearest } = this;
    nearest.fill(Infinity);
    const [low, high] = [
      [0, 0, 0],
      [0, 0, 0],
    ];
    for (let t = 0; t < surface.triangles.length / 3; t++) {
      boxOf(surface, t, reach + skin, low, high);
      neighbors.eachIn(low, high, (point) => {
        if (!nearestOn(surface, t, x, 3 * point, reach + skin, out)) return;
        const distance = out[DISTANCE]!;
        near.push(point, t, distance);
        if (distance < nearest[point]!) nearest[point] = distance;
      });
    }
    if (this.points.length < near.length / 3)
      [this.points, this.triangles] = [new Uint32Array(near.length), new Uint32Array(near.length)];
    this.pairs = 0;
    for (let n = 0; n < near.length; n += 3) {
      if (near[n + 2]! > nearest[near[n]!]! + 2 * skin) continue;
      this.points[this.pairs] = near[n]!;
      this.triangles[this.pairs++] = near[n + 1]!;
    }
  }

  /** How far a particle of the surface has moved since it was listed, at most, m. */
  moved(): number {
    return mostMoved(this.surface.x, this.listed)[0];
  }

  /** @param reach m */
  find(x: Float64Array, reach: number): void {
    const { surface, points, triangles, slot, point, triangle, found, out } = this;
    for (let n = 0; n < this.count; n++) slot[point[n]!] = -1;
    this.count = 0;
    for (let p = 0; p < this.pairs; p++) {
      const k = points[p]!;
      const n = slot[k]!;
      const limit = n < 0 ? reach : found[NEAREST * n + DISTANCE]! * (1 + TIE);
      if (!nearestOn(surface, triangles[p]!, x, 3 * k, limit, out)) continue;
      if (n >= 0 && !this.better(n)) continue;
      const at = n < 0 ? this.count++ : n;
      slot[k] = at;
      point[at] = k;
      triangle[at] = triangles[p]!;
      found.set(out, NEAREST * at);
    }
    if (!surface.closed) return;
    for (let at = 0; at < NEAREST * this.count; at += NEAREST) {
      if (found[at + HEIGHT]! >= 0) continue;
      found[at + DISTANCE]! *= -1;
      for (let r = 0; r < 3; r++) found[at + ALONG + r]! *= -1;
    }
  }

  /** Of those equally near the one that the point is highest over or under says on which side it is. */
  private better(n: number): boolean {
    const { found, out } = this;
    const at = NEAREST * n;
    if (out[DISTANCE]! < found[at + DISTANCE]! * (1 - TIE)) return true;
    return Math.abs(out[HEIGHT]!) > Math.abs(found[at + HEIGHT]!);
  }

  /** Relative velocity of near point n along its normal, m/s. @param v float64[3N] of points */
  rate(n: number, v: Float64Array): number {
    const { found, point, surface } = this;
    const at = NEAREST * n + ALONG;
    let rate = 0;
    for (let r = 0; r < 3; r++) rate += v[3 * point[n]! + r]! * found[at + r]!;
    this.eachCorner(n, (corner, weight) => {
      for (let r = 0; r < 3; r++) rate -= weight * surface.v[3 * corner + r]! * found[at + r]!;
    });
    return rate;
  }

  /** An impulse on the surface at near point n, against its normal. @param impulse N s */
  push(n: number, impulse: number): void {
    const { found, surface } = this;
    const at = NEAREST * n + ALONG;
    this.eachCorner(n, (corner, weight) => {
      const part = impulse * weight * surface.w[corner]!;
      for (let r = 0; r < 3; r++) surface.v[3 * corner + r]! -= part * found[at + r]!;
    });
  }

  /** Sums weights of points within a distance at each particle of the surface: what `light` asks. @param within m */
  share(within: number): void {
    this.shares.fill(0);
    for (let n = 0; n < this.count; n++)
      if (this.found[NEAREST * n + DISTANCE]! < within)
        this.eachCorner(n, (corner, weight) => (this.shares[corner]! += weight));
  }

  /** How much a push at near point n and the same ones at all others move the surface there, 1/kg. */
  light(n: number): number {
    let sum = 0;
    this.eachCorner(n, (corner, weight) => (sum += weight * this.surface.w[corner]! * this.shares[corner]!));
    return sum;
  }

  private eachCorner(n: number, visit: (corner: number, weight: number) => void): void {
    const { triangles } = this.surface;
    const [b, c] = [this.found[NEAREST * n + WEIGHT_B]!, this.found[NEAREST * n + WEIGHT_C]!];
    const t = 3 * this.triangle[n]!;
    visit(triangles[t]!, 1 - b - c);
    visit(triangles[t + 1]!, b);
    visit(triangles[t + 2]!, c);
  }
}

/** How far points have moved, m: the one that has most, and the next. Not finite: anywhere. */
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

function boxOf({ x, triangles }: Surface, t: number, reach: number, low: number[], high: number[]): void {
  for (let r = 0; r < 3; r++) {
    const a = x[3 * triangles[3 * t]! + r]!;
    const b = x[3 * triangles[3 * t + 1]! + r]!;
    const c = x[3 * triangles[3 * t + 2]! + r]!;
    low[r] = Math.min(a, b, c) - reach;
    high[r] = Math.max(a, b, c) + reach;
  }
}
