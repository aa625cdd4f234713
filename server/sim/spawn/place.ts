/**
 * Finds a place for a spawned body: the requested one, or the nearest free one straight above.
 *
 * A place is free under three conditions, for the body with the bits to be stored. It is nowhere nearer to an obstacle
 * than the contact distance (both radii); no solid encloses any of its parts; and it encloses nothing. On the way up,
 * each pair of triangles, and each particle with a convex collider, blocks one interval of heights: the distance of
 * convex shapes is a convex function of the height. So from a blocked height, the next candidate is the end of any
 * interval that contains it; from inside of a solid, it is where its surface is met. The search goes from end to end
 * until a complete check finds no obstacle, and skips no lower free place (except gaps in a funnel's wall).
 * Tried: steps of the contact distance: 400 checks of the whole body to climb a tower of 2 m. The highest end of all
 * intervals at one height, then a check from there: measures each pair twice and needs one check per layer.
 */
import type { SurfaceName } from "../types.ts";
import { buildTriangleTree, type TriangleTree } from "../../meshing/tetrahedra/triangleTree.ts";
import { boxOf, encloses, wayOut } from "./inside.ts";
import type { Obstacle, Wall } from "./obstacles.ts";
import { separation } from "./separation.ts";

/**
 * Extra distance of a raised body, relative to the farthest coordinate: four units in the last place of float32. With
 * it, rounding does not take the body below the contact distance. It is also the accuracy of heights.
 */
const ROUNDING = 2 ** -21;
/** Largest number of layers that a body is raised through; each needs one check. */
const MOST_LOOKS = 512;

/** An obstacle: its distance (0: it intersects, or one is inside the other) and the required distance, m. */
export interface Taken {
  by: SurfaceName;
  distance: number;
  need: number;
}

/** The body to be spawned, posed. */
export interface Comer {
  surface: Obstacle;
}

/**
 * Adds `height` and rounds as memory will.
 * @param out inout
 */
export function raise(x: Float64Array, height: number, out: Float64Array = new Float64Array(x.length)): Float64Array {
  for (let i = 0; i < x.length; i++) out[i] = Math.fround(i % 3 === 1 ? x[i]! + height : x[i]!);
  return out;
}

/** A blocked height. `clearAt`: whether this obstacle leaves another height free; `step`: suitable first step, m. */
interface Hit extends Taken {
  clearAt: (height: number) => boolean;
  step: number;
}

class Look {
  /** Height of the body above the requested place, m. */
  height = 0;
  private readonly comer: Comer;
  private readonly obstacles: readonly Obstacle[];
  private readonly walls: readonly Wall[];
  private readonly tree: TriangleTree;
  private readonly far: number;
  private readonly own = new Float64Array(9);
  private readonly other = new Float64Array(9);

  constructor(comer: Comer, obstacles: readonly Obstacle[], walls: readonly Wall[]) {
    this.comer = comer;
    this.walls = walls;
    const { x, triangles, box, radius } = comer.surface;
    this.far = Math.max(...box.map(Math.abs));
    this.tree = buildTriangleTree(raise(x, 0), Uint32Array.from(triangles));
    // obstacles outside of the column above never block the body
    this.obstacles = obstacles.filter((o) =>
      [0, 2].every(
        (r) =>
          o.box[r]! - box[3 + r]! < this.reach(o.radius + radius, 0) &&
          box[r]! - o.box[3 + r]! < this.reach(o.radius + radius, 0),
      ),
    );
  }

  /** Rounding of positions at a height, m. */
  rounding(height: number): number {
    return ROUNDING * (this.far + height);
  }

  private reach(need: number, height: number): number {
    return need + this.rounding(height);
  }

  /** Required distance at this height, with a margin if the body was raised. */
  private keep(need: number): number {
    return this.height > 0 ? this.reach(need, this.height) : need;
  }

  /**
   * Calls back for every obstacle in the way; `hit` may raise the height.
   * @param enough called between surfaces: true ends the check
   */
  look(hit: (found: Hit) => void, enough: () => boolean): void {
    const {
      surface: { x, radius, box },
    } = this.comer;
    for (const o of this.obstacles) {
      if (enough()) return;
      const need = o.radius + radius;
      const wide = this.reach(need, this.height);
      const up = [0, this.height, 0];
      const apart = up.some((h, r) => o.box[r]! - (box[3 + r]! + h) > wide || box[r]! + h - o.box[3 + r]! > wide);
      if (!apart) this.pairs(o, need, hit);
    }
    for (const { name, distanceTo } of this.walls) {
      for (let i = 0; i < x.length; i += 3) {
        const at = (h: number): number =>
          distanceTo(Math.fround(x[i]!), Math.fround(x[i + 1]! + h), Math.fround(x[i + 2]!));
        const distance = at(this.height);
        const keep = this.keep(radius);
        if (distance < keep)
          hit({
            by: name,
            distance: Math.max(0, distance),
            need: radius,
            step: Math.max(keep - distance, this.rounding(this.height)),
            clearAt: (h) => at(h) >= this.reach(radius, h),
          });
      }
    }
  }

  /** Checks the body's triangles near triangles of one obstacle. */
  private pairs(o: Obstacle, need: number, hit: (found: Hit) => void): void {
    const { own, other } = this;
    for (let t = 0; t < o.triangles.length; t += 3) {
      for (let k = 0; k < 3; k++) for (let r = 0; r < 3; r++) other[3 * k + r] = o.x[3 * o.triangles[t + k]! + r]!;
      forEachNear(this.tree, other, this.height, this.reach(need, this.height), (u) => {
        this.corners(u, this.height);
        const keep = this.keep(need);
        const distance = separation(own, other, keep);
        if (!(distance < keep)) return;
        const corners = Float64Array.from(other);
        hit({
          by: o.name,
          distance,
          need,
          step: keep,
          clearAt: (h) => {
            this.corners(u, h);
            return separation(own, corners, this.reach(need, h)) >= this.reach(need, h);
          },
        });
      });
    }
  }

  /** Writes triangle t of the tree at a height to `own`. */
  private corners(t: number, height: number): void {
    const { x } = this.comer.surface;
    const { triangles } = this.tree;
    for (let k = 0; k < 3; k++) {
      const p = 3 * triangles[3 * t + k]!;
      this.own[3 * k] = Math.fround(x[p]!);
      this.own[3 * k + 1] = Math.fround(x[p + 1]! + height);
      this.own[3 * k + 2] = Math.fround(x[p + 2]!);
    }
  }

  /**
   * If no surface is near: finds whether the body is inside a solid, or encloses an obstacle.
   * @returns that obstacle, and the distance up to its end, m
   */
  inside(): { by: SurfaceName; out: number } | undefined {
    const { surface } = this.comer;
    const here = { x: raise(surface.x, this.height), triangles: surface.triangles };
    const box = boxOf(here.x);
    for (const o of this.obstacles) {
      const held = (p: number, x: Float64Array, of: Float64Array): boolean =>
        [0, 1, 2].every((r) => x[3 * p + r]! >= of[r]! && x[3 * p + r]! <= of[3 + r]!);
      for (const p of o.solid ? surface.parts : []) {
        const [a, b, c] = [here.x[3 * p]!, here.x[3 * p + 1]!, here.x[3 * p + 2]!] as const;
        if (held(p, here.x, o.box) && encloses(o, a, b, c))
          return { by: o.name, out: finite(wayOut(o, a, b, c, 1), o.box[4]! - box[1]!) };
      }
      for (const p of surface.solid ? o.parts : []) {
        const [a, b, c] = [o.x[3 * p]!, o.x[3 * p + 1]!, o.x[3 * p + 2]!] as const;
        if (held(p, o.x, box) && encloses(here, a, b, c))
          return { by: o.name, out: finite(wayOut(here, a, b, c, -1), o.box[4]! - box[1]!) };
      }
    }
    return undefined;
  }
}

/** A ray may pass between two triangles by rounding: then returns the whole distance. */
const finite = (out: number, all: number): number => (out < Infinity ? out : all);

/** Visits triangles of the tree, raised by `height`, whose box is within `wide` of that of `corners`. */
function forEachNear(
  { bounds, right, first, count }: TriangleTree,
  corners: Float64Array,
  height: number,
  wide: number,
  visit: (t: number) => void,
): void {
  const low = [0, 1, 2].map((r) => Math.min(corners[r]!, corners[3 + r]!, corners[6 + r]!) - wide);
  const high = [0, 1, 2].map((r) => Math.max(corners[r]!, corners[3 + r]!, corners[6 + r]!) + wide);
  low[1]! -= height;
  high[1]! -= height;
  const stack = [0];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    const at = 6 * node;
    if (
      bounds[at]! > high[0]! ||
      bounds[at + 1]! > high[1]! ||
      bounds[at + 2]! > high[2]! ||
      bounds[at + 3]! < low[0]! ||
      bounds[at + 4]! < low[1]! ||
      bounds[at + 5]! < low[2]!
    )
      continue;
    if (right[node]) stack.push(right[node]!, node + 1);
    else for (let t = first[node]!; t < first[node]! + count[node]!; t++) visit(t);
  }
}

/**
 * End of an interval of blocked heights; Infinity above `most`.
 * @param exactly accuracy, m
 */
function endOf({ clearAt, step }: Hit, from: number, most: number, exactly: number): number {
  let low = from;
  let wide = step;
  while (!clearAt(low + wide)) {
    low += wide;
    wide *= 2;
    if (low > most) return Infinity;
  }
  let high = low + wide;
  for (let n = 0; n < 64 && high - low > exactly; n++) {
    const middle = 0.5 * (low + high);
    if (clearAt(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/**
 * @param lift whether the nearest free place above is acceptable
 * @param most largest height to raise the body, m
 * @returns height above the requested place, m, or the obstacle there
 */
export function findHeight(
  comer: Comer,
  obstacles: readonly Obstacle[],
  walls: readonly Wall[],
  lift: boolean,
  most: number,
): { height: number } | Taken {
  const look = new Look(comer, obstacles, walls);
  let worst: Taken | undefined;
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    const from = look.height;
    look.look(
      (hit) => {
        if (!worst || (from === 0 && look.height === 0 && hit.distance - hit.need < worst.distance - worst.need))
          worst = { by: hit.by, distance: hit.distance, need: hit.need };
        if (lift) look.height = endOf(hit, look.height, most, look.rounding(look.height));
      },
      () => look.height > most || (!lift && worst?.distance === 0),
    );
    if (look.height > most) break;
    if (look.height > from) continue;
    if (worst && !lift) return worst;
    const within = look.inside();
    if (!within) return { height: from };
    worst ??= { by: within.by, distance: 0, need: comer.surface.radius };
    if (!lift) return worst;
    look.height = from + Math.max(within.out, look.rounding(from));
  }
  return worst!;
}
