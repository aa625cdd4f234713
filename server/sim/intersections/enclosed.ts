/**
 * Finds surfaces that begin wholly inside a solid one: no edges intersect, so the search of edges misses them. Soft
 * bodies, balls and analytic colliders are solid. Sheets are not, closed or open (a body in a bag is where it belongs).
 * Neither are mesh colliders: both sides of their triangles are solid, but not the space inside. If a part of a surface
 * crosses nothing, one of its particles decides by winding number whether the whole part is inside (spawn/inside.ts).
 *
 * The direction out is chosen among a few: along the axes, from center to center, and to the outer surface's nearest
 * particle. The one along which the two boxes separate first is taken.
 */
import * as L from "../../kernel/assembly/layout/layout.ts";
import type { Vec3 } from "../../../shared/scene/scene.ts";
import type { Views } from "../world/views.ts";
import { SOLID } from "../memory/contact/surfaceRows.ts";
import { boxOf, encloses, partsOf, type Shell } from "../spawn/inside.ts";
import type { IntersectingSurface } from "./surface.ts";
import { dot, length, minus, plus, times, unit } from "./intersection.ts";

export interface Enclosed {
  /** Numbers of surfaces. */
  outer: number;
  inner: number;
  /** Unit vector: direction out for the inner surface. */
  way: Vec3;
  /** Diagonal of the larger body's box, m. */
  size: number;
}

interface Here extends Shell {
  box: Float64Array;
  parts: number[];
  /** `solid`: the surface can enclose others; `fixed`: none of its particles moves. */
  solid: boolean;
  fixed: boolean;
}

/** One search. Surfaces are read at first use. */
export class EnclosedSearch {
  private readonly views: Views;
  private readonly x: number;
  private readonly surface: (n: number) => IntersectingSurface;
  private readonly parts: Map<number, number[]>;
  private readonly read = new Map<number, Here>();

  /**
   * @param x address of the room's positions
   * @param parts of surfaces, by number; they never change: inout
   */
  constructor(views: Views, x: number, surface: (n: number) => IntersectingSurface, parts: Map<number, number[]>) {
    this.views = views;
    this.x = x;
    this.surface = surface;
    this.parts = parts;
  }

  /** Finds whether one of two surfaces that do not intersect is inside the other. */
  between(a: number, b: number): Enclosed | undefined {
    return this.inside(a, b) ? this.out(a, b) : this.inside(b, a) ? this.out(b, a) : undefined;
  }

  /** @param kept the direction that was found before; default: a new one */
  out(outer: number, inner: number, kept?: Vec3): Enclosed {
    const O = this.at(outer);
    const I = this.at(inner);
    return { outer, inner, way: kept ?? this.wayOut(O, I), size: Math.max(diagonal(O.box), diagonal(I.box)) };
  }

  /** Whether one of the inner surface's parts is inside the outer one. */
  private inside(outer: number, inner: number): boolean {
    const O = this.at(outer);
    const I = this.at(inner);
    if (!O.solid || (O.fixed && I.fixed)) return false;
    return I.parts.some((p) => {
      const [x, y, z] = [I.x[3 * p]!, I.x[3 * p + 1]!, I.x[3 * p + 2]!];
      return [x, y, z].every((c, r) => c >= O.box[r]! && c <= O.box[3 + r]!) && encloses(O, x, y, z);
    });
  }

  /** Whether the center of the inner surface's box (of a ball, its center) is inside the outer one. */
  holdsMiddle(outer: number, inner: number): boolean {
    const O = this.at(outer);
    const [x, y, z] = middle(this.at(inner).box);
    return O.solid && encloses(O, x, y, z);
  }

  private at(n: number): Here {
    const known = this.read.get(n);
    if (known) return known;
    const { first, count, triangles, solid } = this.surface(n);
    const { f32, i32 } = this.views;
    const x = new Float64Array(3 * count);
    const from = this.x / 4 + 4 * first;
    let fixed = true;
    for (let i = 0; i < count; i++) {
      for (let r = 0; r < 3; r++) x[3 * i + r] = f32[from + 4 * i + r]!;
      fixed &&= f32[from + 4 * i + 3] === 0;
    }
    const row = i32[(L.HEADER + L.H_SURFACE) / 4]! + n * L.SURFACE_BYTES;
    const shaped = i32[(row + L.SURFACE_SHAPED) / 4] !== 0;
    const parts = this.parts.get(n) ?? partsOf(triangles, count);
    this.parts.set(n, parts);
    const here: Here = {
      x,
      triangles,
      box: boxOf(x),
      parts,
      solid: solid === SOLID.collider ? shaped : solid !== SOLID.cloth,
      fixed,
    };
    this.read.set(n, here);
    return here;
  }

  private wayOut(outer: Here, inner: Here): Vec3 {
    const from = middle(inner.box);
    const candidates: Vec3[] = [
      [0, 1, 0],
      [1, 0, 0],
      [-1, 0, 0],
      [0, 0, 1],
      [0, 0, -1],
      [0, -1, 0],
    ];
    let nearest: Vec3 = [Infinity, Infinity, Infinity];
    for (let i = 0; i < outer.x.length; i += 3) {
      const to = minus([outer.x[i]!, outer.x[i + 1]!, outer.x[i + 2]!], from);
      if (dot(to, to) < dot(nearest, nearest)) nearest = to;
    }
    candidates.push(unit(minus(from, middle(outer.box))), unit(nearest));
    const far = (x: Float64Array, way: Vec3): number => {
      let most = -Infinity;
      for (let i = 0; i < x.length; i += 3)
        most = Math.max(most, x[i]! * way[0] + x[i + 1]! * way[1] + x[i + 2]! * way[2]);
      return most;
    };
    const needs = candidates.map((way) =>
      length(way) > 0 ? far(outer.x, way) + far(inner.x, times(-1, way)) : Infinity,
    );
    return candidates[needs.indexOf(Math.min(...needs))]!;
  }
}

const diagonal = (box: Float64Array): number => length([box[3]! - box[0]!, box[4]! - box[1]!, box[5]! - box[2]!]);
const middle = (box: Float64Array): Vec3 => times(0.5, plus([box[0]!, box[1]!, box[2]!], [box[3]!, box[4]!, box[5]!]));

/** Two unit vectors perpendicular to `way` and to each other. */
export function across(way: Vec3): [Vec3, Vec3] {
  const least = way.map(Math.abs).indexOf(Math.min(...way.map(Math.abs)));
  const axis = [0, 1, 2].map((r) => (r === least ? 1 : 0)) as Vec3;
  const first = unit(minus(axis, times(dot(axis, way), way)));
  return [
    first,
    [
      way[1] * first[2] - way[2] * first[1],
      way[2] * first[0] - way[0] * first[2],
      way[0] * first[1] - way[1] * first[0],
    ],
  ];
}
