/**
 * Where a body can be put in: at the place asked for, or at the nearest free one straight above.
 *
 * A place is free if the body, with the bits that would be stored, is nowhere nearer to anything than contact keeps it
 * (radii of both), nothing solid goes around any part of it, and it goes around nothing. On the way up each pair of
 * triangles, and each particle with a convex collider, is in the way for one stretch of heights, because the distance
 * of convex things is a convex function of the height. So from a height that is taken, the next that may be free is the
 * end of any stretch that holds it; from one inside of something, where its surface is met. One goes up from end to end
 * until a whole look finds nothing in the way, and nothing below is skipped (but for gaps of a funnel's wall). Tried
 * and lost: steps of the contact distance, 400 looks at the whole body to climb over a tower of 2 m; the highest of all
 * ends at one height, then a look from there, which measures each pair twice and looks once for every layer.
 */
import type { SurfaceName } from "../types.ts";
import { buildTriangleTree, type TriangleTree } from "../../meshing/triangleTree.ts";
import { boxOf, encloses, wayOut } from "./inside.ts";
import type { Obstacle, Wall } from "./obstacles.ts";
import { separation } from "./separation.ts";

/**
 * A body that was raised keeps more than the contact distance by this part of the farthest coordinate, so that rounding
 * does not take it below: four units in the last place of float32. Heights are found so exactly, too.
 */
const ROUNDING = 2 ** -21;
/** Layers that a body is raised through; each is one look. */
const MOST_LOOKS = 512;

/**
 * What is in the way: how far it is (0: it intersects, or one is inside the other), and how far it would have to be, m.
 */
export interface Taken {
  by: SurfaceName;
  distance: number;
  need: number;
}

/** The body that comes, posed. */
export interface Comer {
  surface: Obstacle;
}

/** Adds `height` and rounds as memory will. @param out inout */
export function raise(x: Float64Array, height: number, out: Float64Array = new Float64Array(x.length)): Float64Array {
  for (let i = 0; i < x.length; i++) out[i] = Math.fround(i % 3 === 1 ? x[i]! + height : x[i]!);
  return out;
}

/**
 * A height that is taken.
 * @param clearAt whether what is in the way there leaves another height free; `step` m, a sensible first one
 */
interface Hit extends Taken {
  clearAt: (height: number) => boolean;
  step: number;
}

class Look {
  /** Where the comer is now, above the place asked for, m. */
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
    // what the column above does not meet never comes into the way
    this.obstacles = obstacles.filter((o) =>
      [0, 2].every(
        (r) =>
          o.box[r]! - box[3 + r]! < this.reach(o.radius + radius, 0) &&
          box[r]! - o.box[3 + r]! < this.reach(o.radius + radius, 0),
      ),
    );
  }

  /** What positions at a height may be rounded by, m. */
  rounding(height: number): number {
    return ROUNDING * (this.far + height);
  }

  private reach(need: number, height: number): number {
    return need + this.rounding(height);
  }

  /** What has to be kept at this height: where it was raised, headroom besides. */
  private keep(need: number): number {
    return this.height > 0 ? this.reach(need, this.height) : need;
  }

  /**
   * Calls back with everything that is in the way; `hit` may raise the height.
   * @param enough asked between surfaces: no more is wanted
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

  /** Triangles of the comer near triangles of one obstacle. */
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

  /** Triangle number t of the tree at a height -> own. */
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
   * Where nothing is near: is the comer inside something solid, or something inside of it?
   * @returns by whom, and m up to the end of that
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

/** A ray may pass between two triangles by rounding: then all of it is passed. */
const finite = (out: number, all: number): number => (out < Infinity ? out : all);

/** Triangles of the tree, raised by `height`, whose box is within `wide` of that of `corners`. */
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

/** The end of a stretch of heights that are taken; Infinity above `most`. @param exactly m */
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
 * @param lift whether the nearest free place above will do
 * @param most m that it may be raised at most
 * @returns the height above the place asked for, m, or what is in the way there
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
