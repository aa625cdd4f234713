/**
 * Finds, reports and resolves intersections that contact cannot prevent. Contact keeps separated surfaces apart. It
 * cannot handle surfaces that intersected before it checked them: after a start, a reset, a roll-back of a body, or a
 * jump of a collider's path. They are moved apart, or held.
 *
 *   start of a tick, while H_RESOLUTION requests it
 *   |- sunk      bodies below a plane: moved above it as a whole (sunk.ts)
 *   |- search    all edges against all triangles (kernel/assembly/intersections/intersections.ts), and surfaces wholly
 *   |            inside a solid (enclosed.ts)
 *   |- whole     too many to list, a solid body inside out, or one surface inside the other: contact between the two
 *   |            is off (MEETS_INTERSECTING) until they are clear
 *   |- report    the first time: `tangled`, with the first pairs
 *   |- ways      the rest: separation directions (separationDirections.ts) become rows for
 *   |            kernel/assembly/intersections/resolution.ts; contact between the marked particles is off
 *   '- none left: `untangled`, and contact is on again for all surfaces
 *
 * All state that outlives the tick is in the room's memory, so any thread may continue; results are plain arithmetic on
 * it, the same on any machine.
 */
import * as L from "../../kernel/assembly/layout/layout.ts";
import type { Vec3 } from "../../../shared/scene/scene.ts";
import type { Views } from "../world/views.ts";
import type { Kernel } from "../world/kernelModule.ts";
import type { SimLayout } from "../world/worldLayout.ts";
import { SOLID } from "../memory/contact/surfaceRows.ts";
import type { SimEvent, IntersectingPair } from "../types.ts";
import { type Drive, drivesOf, writeDrives } from "./drives.ts";
import { across, EnclosedSearch, type Enclosed } from "./enclosed.ts";
import { grazes, partGrazing, playOf, type GrazingBody } from "./grazing.ts";
import { findSunk, raiseSunk, type Sunk } from "./sunk.ts";
import { enclosedVolume, readSurface, type IntersectingSurface } from "./surface.ts";
import { readIntersections, times, type Intersection } from "./intersection.ts";
import { findWays, type Ways } from "./separationDirections.ts";
import { marksIn } from "../world/marks.ts";

/** Time that a common direction is kept, s. */
const SECONDS_TO_KEEP = 1;
/**
 * If a solid body's intersections with itself exceed this many times its particles, it intersects itself all over:
 * elasticity unfolds it, contact cannot.
 */
const ALL_OVER = 0.25;
/** Ticks between searches of surfaces that intersect themselves all over. */
const WHOLE_EVERY = 6;
/** Largest number of intersections in a report. */
const REPORTED = 8;

interface Way {
  way: Vec3;
  tick: number;
  /** The surface that the other one is moved out of. */
  outer?: number;
}

/** Key of a pair of surfaces, lower number first. */
const pairKey = (a: number, b: number): string => (a < b ? `${a} ${b}` : `${b} ${a}`);

/** The two surfaces of a key. */
const numbersOf = (key: string): [number, number] => key.split(" ").map(Number) as [number, number];

/** Groups intersections by pair of surfaces. */
function groupByPair(intersections: readonly Intersection[]): Map<string, Intersection[]> {
  const groups = new Map<string, Intersection[]>();
  for (const t of intersections) {
    const key = pairKey(t.edgeOf, t.triangleOf);
    const group = groups.get(key);
    if (group) group.push(t);
    else groups.set(key, [t]);
  }
  return groups;
}

/** Result of a search, by pair of surfaces. */
interface Found {
  groups: ReadonlyMap<string, readonly Intersection[]>;
  /** Pairs without contact. */
  wholes: ReadonlySet<string>;
  /** Pairs of `wholes` in which one surface is moved out of the other. */
  drawn: ReadonlySet<string>;
  enclosed: readonly Enclosed[];
  /** Common directions of earlier ticks. */
  kept: ReadonlyMap<string, Way>;
}

export class IntersectionWatch {
  private readonly views: Views;
  private readonly layout: SimLayout;
  private readonly kernel: Kernel;
  private readonly bytes: Uint8Array;
  private readonly surfaces = new Map<number, IntersectingSurface>();
  private readonly parts = new Map<number, number[]>();
  private readonly jumpers: number[];

  constructor(memory: WebAssembly.Memory, views: Views, layout: SimLayout, kernel: Kernel) {
    this.views = views;
    this.layout = layout;
    this.kernel = kernel;
    this.bytes = new Uint8Array(memory.buffer);
    const rows = this.header(L.H_MOTIONS);
    this.jumpers = Array.from({ length: this.header(L.H_MOTION_COUNT) }, (_, n) => rows + n * L.MOTION_BYTES).filter(
      (row) =>
        views.i32[(row + L.MOTION_LOOP) / 4] === L.MOTION_JUMPS && views.i32[(row + L.MOTION_CORE_COUNT) / 4]! > 0,
    );
  }

  /** Requests a search: particles are at unchecked positions. */
  request(): void {
    this.state |= L.RESOLUTION_SEARCH | L.RESOLUTION_ANEW;
  }

  /** True while surfaces intersect, or a search is due. */
  get active(): boolean {
    return this.state !== 0;
  }

  /**
   * Called before the kernel's tick.
   * @param hold takes a body out of the simulation until a reset
   */
  beginTick(tick: number, events: SimEvent[], hold: (body: number) => void): void {
    if (!this.state && !this.jumpers.length) return;
    // colliders move to the tick's start, and contact between pairs may change: the pair list becomes invalid
    this.kernel.placeCoreMeshes();
    this.views.i32[(L.HEADER + L.H_LIST_VALID) / 4] = 0;
    if (this.state) this.search(tick, events, hold);
    for (const row of this.jumpers) if (this.views.f32[(row + L.MOTION_TRAVEL) / 4] === Infinity) this.jump(row);
  }

  private get state(): number {
    return this.header(L.H_RESOLUTION);
  }

  private set state(value: number) {
    this.views.i32[(L.HEADER + L.H_RESOLUTION) / 4] = value;
  }

  private header(offset: number): number {
    return this.views.i32[(L.HEADER + offset) / 4]!;
  }

  private search(tick: number, events: SimEvent[], hold: (body: number) => void): void {
    const { layout, views } = this;
    const anew = (this.state & L.RESOLUTION_ANEW) !== 0;
    this.clearMarks();
    const sunk = anew ? findSunk(views, layout, this.kernel) : [];
    if (layout.intersections === "untangle") for (const one of sunk) raiseSunk(views, layout, one);
    const everything = anew || tick % WHOLE_EVERY === 0;
    const { unfolding, skipped } = this.switchOn(everything);
    if (anew) this.partGrazing();
    const { intersections, found, full } = this.findAll();
    const groups = groupByPair(intersections);
    const wholes = new Set([...skipped, ...full]);
    if (everything) for (const b of this.insideOut()) wholes.add(pairKey(b, b));
    const kept = anew ? new Map<string, Way>() : this.readWays(tick);
    const enclosed = this.findEnclosed(groups, wholes, kept);
    const drawn = new Set(enclosed.map(({ outer, inner }) => pairKey(outer, inner)));
    for (const key of drawn) wholes.add(key);
    for (const key of this.tangledAllOver(groups, unfolding)) wholes.add(key);
    for (const key of wholes) this.setMeets(...numbersOf(key), L.MEETS_INTERSECTING);
    views.i32[(L.HEADER + L.H_DRIVE_COUNT) / 4] = 0;
    const reported = this.state & L.RESOLUTION_REPORTED;
    if (!intersections.length && !wholes.size && !sunk.length) {
      if (reported) events.push({ type: "untangled", tick });
      this.state = 0;
      return;
    }
    this.state = reported | L.RESOLUTION_SEARCH;
    const held = layout.intersections === "hold" ? this.holdAll(groups, enclosed, sunk, hold) : [];
    const any = intersections.length > 0 || enclosed.length > 0 || sunk.length > 0;
    if ((any && !reported) || held.length) events.push(this.report(tick, groups, enclosed, sunk, found, held));
    if (any) this.state |= L.RESOLUTION_REPORTED;
    this.part(tick, { groups, wholes, drawn, enclosed, kept });
  }

  /** Gives surfaces that touch exactly a first gap. */
  private partGrazing(): void {
    const { views, layout } = this;
    const { f32 } = views;
    const x = layout.x / 4;
    const previous = this.header(L.H_XPREV) / 4;
    const at = (p: number): Vec3 => [f32[x + 4 * p]!, f32[x + 4 * p + 1]!, f32[x + 4 * p + 2]!];
    const move = (p: number, by: Vec3): void => {
      if (f32[x + 4 * p + 3] === 0) return;
      for (let r = 0; r < 3; r++) f32[previous + 4 * p + r] = f32[x + 4 * p + r] = f32[x + 4 * p + r]! + by[r]!;
    };
    const rows = this.header(L.H_SURFACE);
    const graze = layout.bodies.map(
      ({ size }, n): GrazingBody => ({
        surface: this.surface(n),
        play: playOf(f32[(rows + n * L.SURFACE_BYTES + L.SURFACE_RADIUS) / 4]!, size),
      }),
    );
    const pairs = [...groupByPair(this.findAll().intersections)]
      .filter(([key, group]) => {
        const [a, b] = numbersOf(key);
        return a !== b && grazes(group, [graze[a], graze[b]], at);
      })
      .map(([key]) => numbersOf(key).map((n) => graze[n]));
    if (pairs.length > 0) partGrazing(pairs, { at, move });
    // pairs that did not fit into the list are searched again
    for (const [a, b] of this.off()) if (this.meets(a, b) === L.MEETS_SKIPPED) this.setMeets(a, b, L.MEETS);
  }

  /**
   * Switches contact on for pairs that have it off, so that the search sees them. Surfaces that intersect themselves
   * all over are included only when everything is searched.
   * @returns the surfaces that intersect themselves all over, and the keys of pairs that stay off
   */
  private switchOn(everything: boolean): { unfolding: ReadonlySet<number>; skipped: ReadonlySet<string> } {
    const before = this.off();
    const all = before.filter(([a, b]) => a === b && this.meets(a, b) === L.MEETS_INTERSECTING);
    const unfolding = new Set(all.map(([a]) => a));
    const skipped = new Set(everything ? [] : all.map(([a, b]) => pairKey(a, b)));
    for (const [a, b] of before) this.setMeets(a, b, skipped.has(pairKey(a, b)) ? L.MEETS_SKIPPED : L.MEETS);
    return { unfolding, skipped };
  }

  /**
   * Solid bodies and colliders that elasticity has to unfold: those already unfolding, and those with too many
   * intersections.
   */
  private tangledAllOver(
    groups: ReadonlyMap<string, readonly Intersection[]>,
    unfolding: ReadonlySet<number>,
  ): string[] {
    return [...groups].flatMap(([key, group]) => {
      const [a, b] = numbersOf(key);
      const { solid, count } = this.surface(a);
      if (a !== b || solid === SOLID.cloth) return [];
      const allOver = unfolding.has(a) || this.layout.bodies[a]?.startsDegenerate || group.length > ALL_OVER * count;
      return allOver ? [key] : [];
    });
  }

  /** Sets directions for all intersections that are not left to elasticity: marks, and rows for the kernel. */
  private part(tick: number, { groups, wholes, drawn, enclosed, kept }: Found): void {
    const common = new Map<string, Way>();
    const drives: Drive[] = [];
    for (const [key, group] of groups) {
      const [a, b] = numbersOf(key);
      if ((a === b && wholes.has(key)) || drawn.has(key)) continue;
      const before = kept.get(key);
      const apart = this.findWays(a, b, group, before?.way);
      if (apart.common) common.set(key, before ?? { way: apart.common, tick });
      if (!wholes.has(key)) {
        this.mark(a, b, group, apart.wrong);
        this.setMeets(a, b, L.MEETS_MARKED);
      }
      if (a !== b && b < this.layout.bodies.length) for (const n of [a, b]) this.markAll(n, L.MARK_GLIDES);
      drives.push(...drivesOf([a, b], group, apart));
    }
    for (const one of enclosed) {
      const way = times(one.inner < one.outer ? 1 : -1, one.way);
      common.set(pairKey(one.outer, one.inner), { way, tick, outer: one.outer });
      drives.push(...this.drawOut(one));
    }
    this.writeWays(common);
    writeDrives(this.views, this.layout, drives);
  }

  private findWays(a: number, b: number, group: readonly Intersection[], before: Vec3 | undefined): Ways {
    const { f32 } = this.views;
    const x = this.layout.x / 4;
    const at = (p: number): Vec3 => [f32[x + 4 * p]!, f32[x + 4 * p + 1]!, f32[x + 4 * p + 2]!];
    const surfaces = new Map([a, b].map((n) => [n, this.surface(n)]));
    return findWays(group, surfaces, at, before);
  }

  /**
   * Pairs of surfaces in which one is inside the other or on its way out. A ball with its center in a solid body
   * counts, too: as a sphere it would keep itself inside.
   */
  private findEnclosed(
    groups: ReadonlyMap<string, readonly Intersection[]>,
    wholes: ReadonlySet<string>,
    kept: ReadonlyMap<string, Way>,
  ): Enclosed[] {
    const search = new EnclosedSearch(this.views, this.layout.x, (n) => this.surface(n), this.parts);
    const { bodies } = this.layout;
    const count = this.header(L.H_SURFACE_COUNT);
    const found: Enclosed[] = [];
    for (let a = 0; a < bodies.length; a++) {
      for (let b = a + 1; b < count; b++) {
        const key = pairKey(a, b);
        const before = kept.get(key);
        const meet = groups.has(key);
        if (this.meets(a, b) === L.MEETS_NEVER || wholes.has(key)) continue;
        const inside = meet ? undefined : search.between(a, b);
        const ball = meet
          ? [
              [a, b],
              [b, a],
            ].find(([ball, other]) => this.surface(ball!).solid === SOLID.ball && search.holdsMiddle(other!, ball!))
          : undefined;
        if (before?.outer !== undefined && (meet || inside))
          found.push(search.out(before.outer, a + b - before.outer, times(before.outer === a ? -1 : 1, before.way)));
        else if (inside) found.push(inside);
        else if (ball) found.push(search.out(ball[1]!, ball[0]!));
      }
    }
    return found;
  }

  /**
   * Drives for a pair in which one is inside: both move undeformed, the inner one out against the outer one, and not
   * sideways.
   */
  private drawOut({ outer, inner, way, size }: Enclosed): Drive[] {
    const weights = new Map<number, number>();
    for (const [n, sign] of [
      [inner, 1],
      [outer, -1],
    ] as const) {
      const { first, count } = this.surface(n);
      for (let p = first; p < first + count; p++) weights.set(p, sign / count);
    }
    const { bodies } = this.layout;
    // only the drive moves the body: its contact with the collider is off
    if (inner >= bodies.length || outer >= bodies.length) this.markAll(Math.min(inner, outer), L.MARK_WITHIN);
    const surfaces: [number, number] = [inner, outer];
    return [
      { surfaces, way, weights, size },
      ...across(way)
        .flatMap((side) => [side, times(-1, side)])
        .map((side) => ({ surfaces, way: side, weights, stands: true })),
    ];
  }

  /**
   * Reads the common directions that were found within the last SECONDS_TO_KEEP: older ones no longer fit, because
   * surfaces turn. A direction out of a solid is kept until the surfaces are clear.
   */
  private readWays(tick: number): Map<string, Way> {
    const { f32, i32 } = this.views;
    const rows = this.header(L.H_SEPARATIONS) / 4;
    const ways = new Map<string, Way>();
    for (let n = 0, at = rows; n < L.SEPARATION_COUNT; n++, at += L.SEPARATION_BYTES / 4) {
      const both = i32[at]!;
      const way = {
        way: Array.from(f32.subarray(at + L.SEPARATION_DIRECTION / 4, at + L.SEPARATION_DIRECTION / 4 + 3)) as Vec3,
        tick: i32[at + L.SEPARATION_TICK / 4]!,
        ...(i32[at + L.SEPARATION_OUTER / 4] && { outer: i32[at + L.SEPARATION_OUTER / 4]! - 1 }),
      };
      if (both && (way.outer !== undefined || tick - way.tick < SECONDS_TO_KEEP * this.layout.tickHz))
        ways.set(pairKey(both >>> 16, both & 0xffff), way);
    }
    return ways;
  }

  private writeWays(ways: ReadonlyMap<string, Way>): void {
    const { f32, i32 } = this.views;
    const rows = this.header(L.H_SEPARATIONS) / 4;
    i32.fill(0, rows, rows + (L.SEPARATION_COUNT * L.SEPARATION_BYTES) / 4);
    [...ways].slice(0, L.SEPARATION_COUNT).forEach(([key, { way, tick, outer }], n) => {
      const [a, b] = numbersOf(key);
      const at = rows + (n * L.SEPARATION_BYTES) / 4;
      i32[at] = (a << 16) | b;
      i32[at + L.SEPARATION_TICK / 4] = tick;
      i32[at + L.SEPARATION_OUTER / 4] = outer === undefined ? 0 : outer + 1;
      f32.set(way, at + L.SEPARATION_DIRECTION / 4);
    });
  }

  /**
   * Finds all intersections. If they do not fit into the list, skips the listed pairs of surfaces and searches again.
   */
  private findAll(): { intersections: Intersection[]; found: number; full: Set<string> } {
    const x = this.layout.x;
    const full = new Set<string>();
    const intersections: Intersection[] = [];
    let total = 0;
    for (;;) {
      const found = this.kernel.findIntersections(x);
      const listed = readIntersections(this.views, x);
      total ||= found;
      for (const t of listed) intersections.push(t);
      if (found <= listed.length) break;
      for (const t of listed) {
        full.add(pairKey(t.edgeOf, t.triangleOf));
        this.setMeets(t.edgeOf, t.triangleOf, L.MEETS_SKIPPED);
      }
    }
    return { intersections, found: total, full };
  }

  /** Solid bodies whose surface encloses no volume, or is inside out. */
  private insideOut(): number[] {
    const { bodies, x } = this.layout;
    return bodies.flatMap((_, b) =>
      this.surface(b).solid !== SOLID.cloth &&
      this.meets(b, b) !== L.MEETS_NEVER &&
      !(enclosedVolume(this.surface(b), this.views.f32, x / 4) > 0)
        ? [b]
        : [],
    );
  }

  /** Holds the bodies of all intersections, except those that the scene starts degenerate. */
  private holdAll(
    groups: ReadonlyMap<string, readonly Intersection[]>,
    enclosed: readonly Enclosed[],
    sunk: readonly Sunk[],
    hold: (body: number) => void,
  ): number[] {
    const { bodies } = this.layout;
    const held = [
      ...new Set([
        ...[...groups.keys()].flatMap(numbersOf),
        ...enclosed.flatMap(({ outer, inner }) => [outer, inner]),
        ...sunk.map(({ body }) => body),
      ]),
    ]
      .filter((b) => b < bodies.length && !bodies[b]!.startsDegenerate)
      .sort((a, b) => a - b);
    held.forEach(hold);
    return held;
  }

  private report(
    tick: number,
    groups: ReadonlyMap<string, readonly Intersection[]>,
    enclosed: readonly Enclosed[],
    sunk: readonly Sunk[],
    count: number,
    held: number[],
  ): SimEvent {
    const { bodies, cores } = this.layout;
    const name = (n: number): IntersectingPair["between"][0] =>
      n < bodies.length ? { body: n } : { collider: cores[n - bodies.length]!.collider };
    const own = (n: number, particles: number[]): number[] => particles.map((p) => p - this.surface(n).first);
    return {
      type: "tangled",
      tick,
      count,
      held,
      pairs: [
        ...[...groups].map(([key, group]): IntersectingPair => {
          const [a, b] = numbersOf(key);
          return {
            between: [name(a), name(b)],
            edges: new Set(group.map((t) => t.particles.slice(0, 2).join(" "))).size,
            triangles: new Set(group.map((t) => t.particles.slice(2).join(" "))).size,
          };
        }),
        ...enclosed
          .filter(({ outer, inner }) => !groups.has(pairKey(outer, inner)))
          .map(
            ({ outer, inner }): IntersectingPair => ({
              between: [name(Math.min(outer, inner)), name(Math.max(outer, inner))],
              edges: 0,
              triangles: 0,
              inside: name(inner),
            }),
          ),
        ...sunk.map(
          ({ body, collider }): IntersectingPair => ({
            between: [{ body }, { collider }],
            edges: 0,
            triangles: 0,
            inside: { body },
          }),
        ),
      ],
      first: [...groups.values()]
        .flat()
        .slice(0, REPORTED)
        .map((t) => ({
          edgeOf: name(t.edgeOf),
          edge: own(t.edgeOf, t.particles.slice(0, 2)),
          triangleOf: name(t.triangleOf),
          triangle: own(t.triangleOf, t.particles.slice(2)),
        })),
    };
  }

  /** Marks the particles of the intersections, those on a wrong side, and all their neighbors. */
  private mark(a: number, b: number, group: readonly Intersection[], wrong: readonly number[]): void {
    const marks = marksIn(this.views.i32);
    const near = new Set([...group.flatMap((t) => t.particles), ...wrong]);
    const bits =
      this.surface(a).solid === SOLID.collider || this.surface(b).solid === SOLID.collider
        ? L.MARK_INTERSECTING | L.MARK_WITHIN
        : L.MARK_INTERSECTING;
    if (bits & L.MARK_WITHIN) this.markAll(a < this.layout.bodies.length ? a : b, L.MARK_SLOW);
    const set = (p: number): void => void (marks[p]! |= bits);
    near.forEach(set);
    for (const n of new Set([a, b])) {
      const { first, edges } = this.surface(n);
      for (let k = 0; k < edges.length; k += 2) {
        if (near.has(first + edges[k]!)) set(first + edges[k + 1]!);
        else if (near.has(first + edges[k + 1]!)) set(first + edges[k]!);
      }
    }
  }

  private markAll(body: number, mark: number): void {
    const { first, count } = this.layout.bodies[body]!;
    const marks = marksIn(this.views.i32);
    for (let p = first; p < first + count; p++) marks[p]! |= mark;
  }

  private clearMarks(): void {
    const marks = marksIn(this.views.i32);
    const kept = ~(L.MARK_INTERSECTING | L.MARK_WITHIN | L.MARK_SLOW | L.MARK_GLIDES);
    for (let p = 0; p < marks.length; p++) marks[p]! &= kept;
  }

  /**
   * Handles a collider whose path restarts elsewhere: it has no contact in this tick, and the next one checks it like
   * at a start.
   */
  private jump(row: number): void {
    const core = this.views.i32[(row + L.MOTION_CORE) / 4]!;
    const { bodies, cores, x } = this.layout;
    const n = bodies.length + cores.findIndex((c) => x + 16 * c.first === core);
    for (let other = 0; other < this.header(L.H_SURFACE_COUNT); other++)
      if (this.meets(n, other) === L.MEETS) this.setMeets(n, other, L.MEETS_INTERSECTING);
    bodies.forEach((_, b) => this.markAll(b, L.MARK_SLOW));
    this.request();
  }

  private surface(n: number): IntersectingSurface {
    let surface = this.surfaces.get(n);
    if (!surface) this.surfaces.set(n, (surface = readSurface(this.views, this.layout.x, n)));
    return surface;
  }

  private meetsAt(a: number, b: number): number {
    return this.views.i32[(this.header(L.H_SURFACE) + a * L.SURFACE_BYTES + L.SURFACE_MEETS) / 4]! + b;
  }

  private meets(a: number, b: number): number {
    return this.bytes[this.meetsAt(a, b)]!;
  }

  /** Sets an entry of the table, which is symmetric. */
  private setMeets(a: number, b: number, value: number): void {
    this.bytes[this.meetsAt(a, b)] = value;
    this.bytes[this.meetsAt(b, a)] = value;
  }

  /** Pairs of surfaces with contact off, for some or all of their particles. */
  private off(): [number, number][] {
    const count = this.header(L.H_SURFACE_COUNT);
    const found: [number, number][] = [];
    for (let a = 0; a < count; a++) for (let b = a; b < count; b++) if (this.meets(a, b) > L.MEETS) found.push([a, b]);
    return found;
  }
}
