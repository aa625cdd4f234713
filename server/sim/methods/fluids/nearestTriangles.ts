/**
 * Finds the triangle of a surface nearest to each nearby point, and the place on it. If the surface has an inside,
 * finds also the side that the point is on. Like pairs of points (neighbors.ts), candidates are listed until a
 * displacement exceeds the skin; displacements also rule out candidates that cannot be the nearest yet.
 */
import type { Surface } from "../method.ts";
import { ALONG, DISTANCE, HEIGHT, NEAREST, nearestOn } from "./nearestOn.ts";
import { mostMoved, type Neighbors } from "./neighbors.ts";

/** Relative tolerance of distances that count as equal: triangles that share the nearest place. */
const TIE = 1e-9;

export class NearestTriangles {
  readonly surface: Surface;
  /**
   * Points near the surface: number, triangle, and result of nearestOn. Distances inside are negative; normals point
   * outward.
   */
  count = 0;
  readonly point: Uint32Array;
  readonly triangle: Uint32Array;
  readonly found: Float64Array;
  /** Positions of the surface when it was listed. */
  private readonly listed: Float64Array;
  /** For each point: first index of its candidates in `triangles`, and their distances when they were listed, m. */
  private readonly begin: Uint32Array;
  private triangles = new Uint32Array(0);
  private distances = new Float64Array(0);
  /** Candidates sorted by triangle, during listing; and the distance of the nearest one of each point. */
  private candidates = { point: new Uint32Array(0), triangle: new Uint32Array(0), distance: new Float64Array(0) };
  private readonly nearest: Float64Array;
  private readonly ball: Uint32Array;
  private readonly out = new Float64Array(NEAREST);

  /** @param count number of points */
  constructor(surface: Surface, count: number) {
    this.surface = surface;
    this.point = new Uint32Array(count);
    this.triangle = new Uint32Array(count);
    this.found = new Float64Array(NEAREST * count);
    this.listed = new Float64Array(surface.x.length);
    this.begin = new Uint32Array(count + 1);
    this.nearest = new Float64Array(count);
    this.ball = new Uint32Array(count + 1);
  }

  /**
   * Lists candidates, valid until two of the particles have moved by `skin` together.
   * @param reach m
   * @param skin m
   */
  list(x: Float64Array, neighbors: Neighbors, reach: number, skin: number): void {
    const { surface, begin, nearest } = this;
    this.listed.set(surface.x);
    const count = this.pairUp(x, neighbors, reach, skin);
    const { point, triangle, distance } = this.candidates;
    const may = (n: number): boolean => distance[n]! <= nearest[point[n]!]! + 2 * skin;
    begin.fill(0);
    for (let n = 0; n < count; n++) if (may(n)) begin[point[n]!]!++;
    for (let k = 1; k < begin.length; k++) begin[k]! += begin[k - 1]!;
    // backward, so that triangles ascend and `begin` ends at the points' beginnings
    for (let n = count - 1; n >= 0; n--) {
      if (!may(n)) continue;
      const at = --begin[point[n]!]!;
      this.triangles[at] = triangle[n]!;
      this.distances[at] = distance[n]!;
    }
  }

  /**
   * Collects pairs of points and triangles that are close and may be nearest.
   * @returns number of candidates
   */
  private pairUp(x: Float64Array, neighbors: Neighbors, reach: number, skin: number): number {
    const { surface, nearest, ball, out } = this;
    nearest.fill(Infinity);
    let count = 0;
    for (let t = 0; t < surface.triangles.length / 3; t++) {
      const { center, radius } = ballOf(surface, t);
      const near = neighbors.near(center, (radius + reach + skin) * (1 + TIE), ball);
      if (count + near > this.triangles.length) this.grow(2 * (count + near));
      const { point, triangle, distance } = this.candidates;
      for (let n = 0; n < near; n++) {
        const k = ball[n]!;
        const limit = Math.min(reach, nearest[k]! + skin) + skin;
        if (!nearestOn(surface, t, x, 3 * k, limit, out)) continue;
        point[count] = k;
        triangle[count] = t;
        distance[count++] = out[DISTANCE]!;
        if (out[DISTANCE]! < nearest[k]!) nearest[k] = out[DISTANCE]!;
      }
    }
    return count;
  }

  private grow(length: number): void {
    const { point, triangle, distance } = this.candidates;
    this.candidates = {
      point: new Uint32Array(length),
      triangle: new Uint32Array(length),
      distance: new Float64Array(length),
    };
    this.candidates.point.set(point);
    this.candidates.triangle.set(triangle);
    this.candidates.distance.set(distance);
    [this.triangles, this.distances] = [new Uint32Array(length), new Float64Array(length)];
  }

  /** Largest displacement of a surface particle since it was listed, m. */
  moved(): number {
    return mostMoved(this.surface.x, this.listed)[0];
  }

  /**
   * Finds the nearest triangles of all points.
   * @param from float64[3N] positions of the points when they were listed, m
   * @param reach m
   */
  find(x: Float64Array, from: Float64Array, reach: number): void {
    const { surface, begin, triangles, distances, out } = this;
    const moved = this.moved();
    this.count = 0;
    for (let k = 0; k + 1 < begin.length; k++) {
      if (begin[k] === begin[k + 1]) continue;
      const way = moved + distanceOf(x, from, 3 * k);
      let limit = reach;
      let any = false;
      for (let p = begin[k]!; p < begin[k + 1]!; p++) {
        // its distance fell by at most both displacements
        if (distances[p]! - way > limit) continue;
        if (!nearestOn(surface, triangles[p]!, x, 3 * k, limit, out)) continue;
        if (any && !this.better(this.count)) continue;
        any = true;
        limit = out[DISTANCE]! * (1 + TIE);
        this.triangle[this.count] = triangles[p]!;
        for (let r = 0; r < NEAREST; r++) this.found[NEAREST * this.count + r] = out[r]!;
      }
      if (any) this.point[this.count++] = k;
    }
    if (surface.closed) this.turn();
  }

  /** Behind the surface, makes distances negative and normals point outward. */
  private turn(): void {
    const { found } = this;
    for (let at = 0; at < NEAREST * this.count; at += NEAREST) {
      if (found[at + HEIGHT]! >= 0) continue;
      found[at + DISTANCE]! *= -1;
      for (let r = 0; r < 3; r++) found[at + ALONG + r]! *= -1;
    }
  }

  /** Compares two equally near triangles: the one whose plane is farther from the point decides the side. */
  private better(n: number): boolean {
    const { found, out } = this;
    const at = NEAREST * n;
    if (out[DISTANCE]! < found[at + DISTANCE]! * (1 - TIE)) return true;
    return Math.abs(out[HEIGHT]!) > Math.abs(found[at + HEIGHT]!);
  }
}

function distanceOf(x: Float64Array, from: Float64Array, k: number): number {
  const dx = x[k]! - from[k]!;
  const dy = x[k + 1]! - from[k + 1]!;
  const dz = x[k + 2]! - from[k + 2]!;
  return Math.sqrt(dx * dx + dy * dy + dz * dz);
}

/** Ball around a triangle: center is the mean of its corners, radius the distance of the farthest one. */
function ballOf({ x, triangles }: Surface, t: number): { center: [number, number, number]; radius: number } {
  const [a, b, c] = [3 * triangles[3 * t]!, 3 * triangles[3 * t + 1]!, 3 * triangles[3 * t + 2]!];
  const center: [number, number, number] = [0, 0, 0];
  for (let r = 0; r < 3; r++) center[r] = (x[a + r]! + x[b + r]! + x[c + r]!) / 3;
  let square = 0;
  for (const corner of [a, b, c]) {
    let sum = 0;
    for (let r = 0; r < 3; r++) sum += (x[corner + r]! - center[r]!) ** 2;
    square = Math.max(square, sum);
  }
  return { center, radius: Math.sqrt(square) };
}
