/**
 * Spawnable bodies. A room's memory has their place from the start. An inactive one takes no part: its inverse masses
 * are 0 and its surface meets nothing. The phases leave out its blocks (PHASE_RUNS). It is not drawn, and it keeps no
 * room awake.
 *
 *   spawn    place and heading -> is it free (spawn/place.ts)? -> undeformed, with the scene's velocity, turned with it
 *   remove   -> inactive again
 *   reset    -> all spawnable bodies are inactive, as at the scene's start
 *
 * A refused input changes nothing, and only its sender is told. Everything is plain arithmetic on the room's memory, at
 * the start of the tick that the input belongs to. So the same inputs give the same bits on any machine and with any
 * number of threads.
 */
import { refuseHeading, refuseNotSpawnable } from "../../../shared/members/inputRanges.ts";
import * as L from "../../kernel/assembly/layout/layout.ts";
import type { Views } from "../world/views.ts";
import { freeSlot } from "../grabs/grabSlots.ts";
import type { Kernel } from "../world/kernelModule.ts";
import type { SimLayout } from "../world/worldLayout.ts";
import { clearLowWords } from "../memory/lowWords.ts";
import { boxOf } from "./inside.ts";
import { obstacleOf, obstaclesFor, wallsFor } from "./obstacles.ts";
import { findHeight, raise, type Comer } from "./place.ts";
import type { Input, Pose, Refusal, SimEvent } from "../types.ts";
import { marksIn } from "../world/marks.ts";

/** Status of a body in layout.still, besides 0. */
export const HELD = 1;
export const ABSENT = 2;

type Spawn = Extract<Input, { type: "spawn" }>;
type Remove = Extract<Input, { type: "remove" }>;

export function statusAt(layout: SimLayout, body: number): number {
  return layout.still / 4 + layout.bodyCount + 1 + body;
}

/** Copies the table of surfaces that may touch, as the scene defines it, before any body is inactive. */
export function sceneMeets(memory: WebAssembly.Memory, layout: SimLayout): Uint8Array {
  const count = layout.bodyCount + layout.cores.length;
  const bytes = new Uint8Array(memory.buffer);
  const i32 = new Int32Array(memory.buffer);
  const copy = new Uint8Array(new SharedArrayBuffer(count * count));
  for (let n = 0; n < count; n++) copy.set(bytes.subarray(meetsTable(i32, n), meetsTable(i32, n) + count), n * count);
  return copy;
}

/** Address of the bytes that say which surfaces surface n may touch. */
function meetsTable(i32: Int32Array, n: number): number {
  return i32[(i32[(L.HEADER + L.H_SURFACE) / 4]! + n * L.SURFACE_BYTES + L.SURFACE_MEETS) / 4]!;
}

/** Deactivates all spawnable bodies: at the start, and after a reset has moved them to their places. */
export function withdrawAll(views: Views, layout: SimLayout): void {
  layout.bodies.forEach(({ spawnable }, b) => spawnable && withdraw(views, layout, b));
}

function withdraw(views: Views, layout: SimLayout, b: number): void {
  const { f32, i32 } = views;
  const { first, count } = layout.bodies[b]!;
  for (let i = first; i < first + count; i++) {
    f32[layout.x / 4 + 4 * i + 3] = 0;
    f32.fill(0, layout.v / 4 + 4 * i, layout.v / 4 + 4 * i + 3);
  }
  i32[statusAt(layout, b)] = ABSENT;
  i32[(layout.bodyRows + b * L.BODY_BYTES + L.BODY_INACTIVE) / 4] = 1;
  setMeets(views, layout, b, () => L.MEETS_NEVER);
}

/** Sets both the row and the column of a body in the table. */
function setMeets({ i32 }: Views, layout: SimLayout, b: number, value: (other: number) => number): void {
  const count = layout.bodyCount + layout.cores.length;
  const bytes = new Uint8Array(i32.buffer);
  for (let n = 0; n < count; n++) bytes[meetsTable(i32, b) + n] = bytes[meetsTable(i32, n) + b] = value(n);
}

export class InactiveBodies {
  private readonly views: Views;
  private readonly layout: SimLayout;
  private readonly kernel: Kernel;

  constructor(views: Views, layout: SimLayout, kernel: Kernel) {
    this.views = views;
    this.layout = layout;
    this.kernel = kernel;
  }

  isAbsent(body: number): boolean {
    return this.views.i32[statusAt(this.layout, body)] === ABSENT;
  }

  /** Puts a body into the scene or takes it out. If the event is inputRejected, nothing has changed. */
  apply(input: Spawn | Remove, tick: number): SimEvent {
    const { member, body } = input;
    const refusal = this.refuse(input) ?? (input.type === "spawn" ? this.spawn(input) : undefined);
    if (refusal) return { type: "inputRejected", tick, member, ...refusal };
    return input.type === "spawn"
      ? { type: "spawned", tick, member, body }
      : { type: "removed", tick, member, body, ...this.remove(input) };
  }

  private refuse(input: Spawn | Remove): Refusal | undefined {
    const spawnable = this.layout.bodies.flatMap(({ spawnable }, n) => (spawnable ? [n] : []));
    const refusal =
      refuseNotSpawnable(input.body, spawnable) ?? (input.type === "spawn" ? refuseHeading(input.heading) : null);
    const { body, type } = input;
    if (refusal || this.isAbsent(body) === (type === "spawn")) return refusal ?? undefined;
    return {
      field: "body",
      value: body,
      limit:
        type === "spawn"
          ? "a body that is absent: this one is in the scene"
          : "a body in the scene: this one is absent",
    };
  }

  private spawn({ body: b, position, heading, occupied }: Spawn): Refusal | undefined {
    const { views, layout, kernel } = this;
    const { f32 } = views;
    const { first, count } = layout.bodies[b]!;
    const turned = this.pose(b, position, heading);
    const room = { views, layout, kernel, present: (n: number) => !this.isAbsent(n) };
    // the highest position at which the whole body is still inside the world
    const most = 2 * layout.worldRadius;
    const found = findHeight(
      this.comer(b, turned.x),
      obstaclesFor(room, b),
      wallsFor(room, b),
      occupied === "lift",
      most,
    );
    if (!("height" in found)) {
      const what = "body" in found.by ? `body ${found.by.body}` : `collider ${found.by.collider}`;
      return {
        field: "position",
        value: found.distance,
        limit: `at least ${found.need} m from ${what}${occupied === "lift" ? ", and no free place above" : ""}`,
        by: found.by,
      };
    }
    const x = raise(turned.x, found.height);
    let far = 0;
    for (let i = 0; i < x.length; i += 3)
      far = Math.max(far, Math.sqrt([0, 1, 2].reduce((sum, r) => sum + (x[i + r]! + layout.origin[r]!) ** 2, 0)));
    if (!(far <= layout.worldRadius))
      return {
        field: "position",
        value: far,
        limit: `all of the body within ${layout.worldRadius} m of the world's origin`,
      };

    this.begin(b);
    for (let i = 0; i < count; i++) {
      const at = 4 * (first + i);
      for (let r = 0; r < 3; r++) {
        f32[layout.x / 4 + at + r] = f32[this.previous + at + r] = x[3 * i + r]!;
        f32[layout.v / 4 + at + r] = turned.v[3 * i + r]!;
      }
    }
    this.keepGood(b);
    views.i32[statusAt(layout, b)] = 0;
    views.i32[(layout.bodyRows + b * L.BODY_BYTES + L.BODY_INACTIVE) / 4] = 0;
    const surfaces = layout.bodyCount + layout.cores.length;
    setMeets(views, layout, b, (n) =>
      n < layout.bodyCount && n !== b && this.isAbsent(n) ? L.MEETS_NEVER : layout.sceneMeets![b * surfaces + n]!,
    );
    return undefined;
  }

  private remove({ body: b }: Remove): Pose {
    const { views, layout } = this;
    const { first, count } = layout.bodies[b]!;
    const pose = this.standing(b);
    const from = layout.x + 16 * first;
    for (let slot = 0; slot < layout.grabCount; slot++) {
      const point = layout.grabFirst + slot * L.POINT_BYTES;
      const held = views.i32[(point + L.POINT_ADDRESS) / 4]!;
      if (views.i32[(point + L.POINT_ACTIVE) / 4] && held >= from && held < from + 16 * count)
        freeSlot(views, layout, slot);
    }
    this.begin(b);
    withdraw(views, layout, b);
    return pose;
  }

  /** The body's place now. Its heading is the turn about the vertical that fits its undeformed surface best. */
  private standing(b: number): Pose {
    const { layout } = this;
    const surface = 3 * layout.bodies[b]!.streamedCount;
    const rest = this.read(layout.initial, b).subarray(0, surface);
    const now = this.read(layout.x, b).subarray(0, surface);
    const [from, to] = [underside(rest), underside(now)];
    let c = 0;
    let s = 0;
    for (let i = 0; i < surface; i += 3) {
      const [x, z] = [rest[i]! - from[0], rest[i + 2]! - from[2]];
      const [toX, toZ] = [now[i]! - to[0], now[i + 2]! - to[2]];
      c += x * toX + z * toZ;
      s += x * toZ - z * toX;
    }
    return { position: to, heading: c === 0 && s === 0 ? [1, 0] : [c, s] };
  }

  /**
   * Sets the body to its state at the scene's start: positions, masses, velocities and the state of its constraints.
   */
  private begin(b: number): void {
    const {
      views: { f32, i32 },
      layout,
      kernel,
    } = this;
    const { first, count } = layout.bodies[b]!;
    const rows = 4 * first;
    const end = 4 * (first + count);
    const saved = this.savedBytes;
    f32.copyWithin(layout.x / 4 + rows, layout.initial / 4 + rows, layout.initial / 4 + end);
    f32.copyWithin(layout.v / 4 + rows, (layout.initial + saved) / 4 + rows, (layout.initial + saved) / 4 + end);
    clearLowWords(f32.buffer, first, count);
    f32.fill(0, i32[(L.HEADER + L.H_SUPPORT) / 4]! / 4 + rows, i32[(L.HEADER + L.H_SUPPORT) / 4]! / 4 + end);
    for (const s of layout.states)
      if (s.body === b) kernel.copyState(s.address, s.stride, s.offset, s.rows, s.firstLane, s.lastLane, s.initial, 1);
    for (const { address, bytes } of layout.memories) {
      for (let at = address; at < address + bytes; at += L.WARM_START_BYTES) {
        for (let lane = 0; lane < 4; lane++) {
          if (i32[(at + L.WARM_START_BODY) / 4 + lane] !== b) continue;
          for (let row = 0; row < L.WARM_START_BODY; row += 16) i32[(at + row) / 4 + lane] = 0;
        }
      }
    }
    const row = layout.bodyRows + b * L.BODY_BYTES;
    const still = layout.still / 4;
    i32.fill(0, (row + L.BODY_GAIN) / 4, (row + L.BODY_MEETS) / 4);
    i32[still + b] = 0;
    i32[statusAt(layout, layout.bodyCount) + b] = 0;
    i32[statusAt(layout, 2 * layout.bodyCount) + b] = 0;
    const marks = marksIn(i32).subarray(first, first + count);
    marks.forEach((bits, p) => (marks[p] = bits & L.MARK_RIGID));
  }

  /** Saves the state for a roll-back of the body's first tick. */
  private keepGood(b: number): void {
    const {
      views: { f32 },
      layout,
      kernel,
    } = this;
    const { first, count } = layout.bodies[b]!;
    const good = layout.good / 4 + 4 * first;
    f32.copyWithin(good, layout.x / 4 + 4 * first, layout.x / 4 + 4 * (first + count));
    f32.copyWithin(good + this.savedBytes / 4, layout.v / 4 + 4 * first, layout.v / 4 + 4 * (first + count));
    for (const s of layout.states)
      if (s.body === b) kernel.copyState(s.address, s.stride, s.offset, s.rows, s.firstLane, s.lastLane, s.good, 0);
  }

  /**
   * Positions and velocities, float64[3N]. The middle of the underside of the body's box, as the scene places it, moves
   * to `position`. Its x axis is turned about the vertical into the direction `heading` (x, z).
   */
  private pose(
    b: number,
    position: readonly number[],
    heading: readonly [number, number],
  ): { x: Float64Array; v: Float64Array } {
    const { layout } = this;
    const { streamedCount } = layout.bodies[b]!;
    const length = Math.sqrt(heading[0] ** 2 + heading[1] ** 2);
    const c = heading[0] / length;
    const s = heading[1] / length;
    const rest = this.read(layout.initial, b);
    const under = underside(rest.subarray(0, 3 * streamedCount));
    const turn = (a: Float64Array, from: readonly number[], to: readonly number[]): Float64Array => {
      const out = new Float64Array(a.length);
      for (let i = 0; i < a.length; i += 3) {
        const x = a[i]! - from[0]!;
        const z = a[i + 2]! - from[2]!;
        out[i] = to[0]! + c * x - s * z;
        out[i + 1] = to[1]! + (a[i + 1]! - from[1]!);
        out[i + 2] = to[2]! + s * x + c * z;
      }
      return out;
    };
    const v = this.read(layout.initial + this.savedBytes, b);
    return { x: turn(rest, under, position), v: turn(v, [0, 0, 0], [0, 0, 0]) };
  }

  /** Vectors of a body's particles in an array at this address, float64[3N]. */
  private read(address: number, b: number): Float64Array {
    const { f32 } = this.views;
    const { first, count } = this.layout.bodies[b]!;
    const at = (k: number): number => address / 4 + 4 * (first + Math.floor(k / 3)) + (k % 3);
    return Float64Array.from({ length: 3 * count }, (_, k) => f32[at(k)]!);
  }

  /** The body's surface, posed like its particles. */
  private comer(b: number, particles: Float64Array): Comer {
    const { views, layout } = this;
    const surface = obstacleOf({ views, layout }, b, layout.initial / 4);
    const { streamedCount } = layout.bodies[b]!;
    // a ball is its center, which is the particle after those of its surface
    const x =
      layout.bodies[b]!.kind === "ball"
        ? particles.slice(3 * streamedCount, 3 * streamedCount + 3)
        : particles.slice(0, 3 * streamedCount);
    return { surface: { ...surface, x, box: boxOf(x) } };
  }

  private get previous(): number {
    return this.views.i32[(L.HEADER + L.H_XPREV) / 4]! / 4;
  }

  /** Bytes of a saved position array: particles padded as in the header. */
  private get savedBytes(): number {
    return 16 * this.views.i32[(L.HEADER + L.H_PARTICLES) / 4]!;
  }
}

/** Middle of the underside of the points' box. */
function underside(points: Float64Array): [number, number, number] {
  const box = boxOf(points);
  return [0.5 * (box[0]! + box[3]!), box[1]!, 0.5 * (box[2]! + box[5]!)];
}
