/**
 * Puts islands to sleep while other bodies move. An island is a set of bodies in contact with or attached to each
 * other; it sleeps once all of them are at rest. A sleeping island has zero velocities and inverse masses, and the
 * phases leave out its blocks and particles (BODY_INACTIVE). Its surfaces have no contact with each other or with
 * colliders (MEETS_ASLEEP). An awake body meets it like a collider. A room that sleeps as a whole steps nothing at all
 * (findResting.ts).
 *
 *   begin   once a tick, before its first substep: islands wake and fall asleep
 *   sleep   every body is at rest (findResting.ts), no grab holds one, and there is no reason to wake
 *   wake    a collider moves beside it or carries it; a moving body touches it, or may reach it within the tick, so
 *           that the island is awake when hit; an input concerns one of its bodies, or all bodies
 *
 * A calm body does not wake an island: it joins the island beside it after the same time at rest. The sleep of an
 * island is part of the room's state. It consists of one word per body after the counts of findResting.ts,
 * BODY_INACTIVE, the tables of surfaces that may meet, and the inverse masses, which the state hash includes. Each
 * change makes the pair list invalid, so islands fall asleep only in every TICKS-th tick.
 */
import * as L from "../../kernel/assembly/layout/layout.ts";
import type { GrabInput } from "../grabs/applyGrabs.ts";
import type { Views } from "../world/views.ts";
import type { PinInput } from "../grabs/pins.ts";
import { slotAddress, slotsOf, slotsOfMember } from "../grabs/grabSlots.ts";
import { statusAt } from "../spawn/spawnableBodies.ts";
import { forgetPairList } from "./keptPushes.ts";
import type { Kernel } from "../world/kernelModule.ts";
import type { SimLayout } from "../world/worldLayout.ts";

const TICKS = 15;
/** A body slower than this many sizes a second wakes an island by contact only. */
const SLOW = 0.01;
/**
 * Safety factor on a body's displacement in a tick as predicted from speed, external acceleration and grabs: contact
 * adds to it.
 */
const CAUTION = 2;
/** Largest distance of a ball's sphere outside of the boxes of its leaves, in sizes (diagonal of its box). */
const BULGE = 0.1;

/** Queries and commands about the room's bodies. */
export interface Bodies {
  /** Whether the body has been at rest long enough to sleep. */
  rests: (body: number) => boolean;
  /** Whether the body has been still for some time. */
  isCalm: (body: number) => boolean;
  /** Makes the body come to rest again before it may sleep. */
  forget: (body: number) => void;
  /** Pairs of touching bodies, one after the other. */
  touching: () => number[];
}

export class SleepingIslands {
  readonly #memory: WebAssembly.Memory;
  readonly #views: Views;
  readonly #bytes: Uint8Array;
  readonly #layout: SimLayout;
  readonly #kernel: Kernel;
  readonly #bodies: Bodies;

  constructor(memory: WebAssembly.Memory, views: Views, layout: SimLayout, kernel: Kernel, bodies: Bodies) {
    this.#memory = memory;
    this.#bytes = new Uint8Array(memory.buffer);
    this.#views = views;
    this.#layout = layout;
    this.#kernel = kernel;
    this.#bodies = bodies;
  }

  sleeps(body: number): boolean {
    return this.#views.i32[this.#wordAt(body)] !== 0;
  }

  get any(): boolean {
    const { i32 } = this.#views;
    return i32.subarray(this.#wordAt(0), this.#wordAt(this.#layout.bodyCount)).some((word) => word !== 0);
  }

  /** Wakes the islands of these bodies, which then have to come to rest again. */
  wake(bodies: readonly number[]): void {
    if (bodies.length === 0) return;
    const islands = this.#islands();
    const roots = new Set(bodies.map((b) => islands[b]!));
    const does = (b: number): boolean => roots.has(islands[b]!);
    this.#rouse(does);
    for (const b of this.#numbers.filter(does)) this.#bodies.forget(b);
  }

  /** Bodies that a grab or impulse concerns. */
  concernedBy(input: GrabInput | PinInput): number[] {
    const { layout, views } = { layout: this.#layout, views: this.#views };
    const { i32 } = views;
    const held = (slots: number[]): number[] =>
      slots.map((slot) => this.#ownerOf(i32[(slotAddress(layout, slot) + L.POINT_ADDRESS) / 4]!));
    switch (input.type) {
      case "impulse":
        return this.#numbers.filter((b) => b === input.body);
      case "grab": {
        const also = input.together ? layout.interaction.together : [];
        const before = held(slotsOf(views, layout, input.member, input.grab));
        return [...this.#numbers.filter((b) => b === input.body || also.includes(b)), ...before];
      }
      case "pin":
        return this.#numbers.filter((b) => b === input.body);
      case "unpin":
        return held(slotsOf(views, layout, 0, input.pin));
      case "releaseAll":
        return held(slotsOfMember(views, layout, input.member));
      default:
        return held(slotsOf(views, layout, input.member, input.grab));
    }
  }

  wakeAll(): void {
    if (this.any) this.#rouse(() => true);
  }

  /**
   * @param inTheWay bodies beside which a collider moves in this tick
   * @param due whether islands may fall asleep in any tick
   */
  begin(tick: number, inTheWay: readonly number[], due: boolean): void {
    const { any } = this;
    const numbers = this.#numbers.filter((b) => !this.#isLeftOut(b));
    const mayBegin = numbers.length > 1 && (due || tick % TICKS === 0) && numbers.some((b) => this.#bodies.rests(b));
    if (!any && !mayBegin) return;
    const islands = this.#islands();
    const rootOf = (b: number): number => islands[b]!;
    const awake = numbers.filter((b) => !this.sleeps(b));
    const moving = awake.filter((b) => !this.#bodies.isCalm(b));
    const disturbed = new Set([...inTheWay, ...moving].map(rootOf));
    const restless = new Set([...awake.filter((b) => !this.#bodies.rests(b)), ...this.#held()].map(rootOf));
    const mayWait = mayBegin ? numbers.filter((b) => !restless.has(rootOf(b))) : numbers.filter((b) => this.sleeps(b));
    this.#findReached(
      moving,
      numbers.filter((b) => this.sleeps(b) || mayWait.includes(b)),
      islands,
      disturbed,
    );
    this.#rouse((b) => disturbed.has(rootOf(b)));
    if (mayBegin) this.#rest(mayWait.filter((b) => !this.sleeps(b) && !disturbed.has(rootOf(b))));
  }

  /** Marks the islands that a body may reach within the tick as disturbed. */
  #findReached(
    moving: readonly number[],
    resting: readonly number[],
    islands: Int32Array,
    disturbed: Set<number>,
  ): void {
    let fitted = false;
    for (const a of moving) {
      const way = this.#wayOf(a);
      if (!(way > 0)) continue;
      for (const b of resting) {
        if (disturbed.has(islands[b]!) || !this.#mayMeet(a, b)) continue;
        if (!fitted) this.#kernel.refitHere();
        fitted = true;
        if (this.#kernel.reachesSurface(a, b, way + this.#rimOf(a) + this.#rimOf(b))) disturbed.add(islands[b]!);
      }
    }
  }

  /** Largest displacement of a body within the tick, m; 0: it is slow and not grabbed. */
  #wayOf(b: number): number {
    const { bodies, tickHz, v } = this.#layout;
    const speed = this.#longest(v, b);
    const pulled = this.#pullOf(b);
    if (speed <= SLOW * bodies[b]!.size && pulled === 0) return 0;
    const gained = this.#longest(this.#views.i32[(L.HEADER + L.H_ACC) / 4]!, b) / tickHz;
    return CAUTION * Math.max((speed + gained) / tickHz, pulled);
  }

  /** Length of the longest of a body's vectors in the array at this address. */
  #longest(array: number, b: number): number {
    const { f32 } = this.#views;
    const { first, count } = this.#layout.bodies[b]!;
    let most = 0;
    for (let at = array / 4 + 4 * first, end = at + 4 * count; at < end; at += 4)
      most = Math.max(most, f32[at]! * f32[at]! + f32[at + 1]! * f32[at + 1]! + f32[at + 2]! * f32[at + 2]!);
    return Math.sqrt(most);
  }

  /** Largest displacement of a body's grab targets in this tick, m. */
  #pullOf(b: number): number {
    const { layout, f32 } = { layout: this.#layout, ...this.#views };
    const { grabSpeed } = layout.interaction;
    return this.#grabSlots(b).reduce((most, slot) => {
      const target = (slotAddress(layout, slot) + L.POINT_TARGET) / 4;
      const goal = layout.grabGoals / 4 + 3 * slot;
      const way = [0, 1, 2].map((r) => f32[goal + r]! - f32[target + r]!);
      return Math.max(most, Math.min(grabSpeed / layout.tickHz, Math.sqrt(way.reduce((sum, d) => sum + d * d, 0))));
    }, 0);
  }

  /** Distance from its leaves' boxes within which a surface has contact, m. */
  #rimOf(b: number): number {
    const { kind, size, surface } = this.#layout.bodies[b]!;
    return this.#views.f32[(surface + L.SURFACE_RADIUS) / 4]! + (kind === "ball" ? BULGE * size : 0);
  }

  #mayMeet(a: number, b: number): boolean {
    const may = this.#bytes[this.#tableOf(a) + b]! & (L.MEETS_ASLEEP - 1);
    return may === L.MEETS || may === L.MEETS_MARKED;
  }

  /** Slots of the grabs that hold a body. */
  #grabSlots(b: number): number[] {
    const { grabCount, x, bodies } = this.#layout;
    const { i32 } = this.#views;
    const { first, count } = bodies[b]!;
    return Array.from({ length: grabCount }, (_, slot) => slot).filter((slot) => {
      const point = slotAddress(this.#layout, slot);
      const particle = (i32[(point + L.POINT_ADDRESS) / 4]! - x) / 16 - first;
      return i32[(point + L.POINT_ACTIVE) / 4] !== 0 && particle >= 0 && particle < count;
    });
  }

  #held(): number[] {
    return this.#numbers.filter((b) => this.#grabSlots(b).length > 0);
  }

  /** For every body, the number of the body that represents its island. */
  #islands(): Int32Array {
    const { bodyCount, bodyRows, points, attachmentCount } = this.#layout;
    const { i32 } = this.#views;
    const roots = Int32Array.from({ length: bodyCount }, (_, b) => b);
    const rootOf = (b: number): number => (roots[b] === b ? b : (roots[b] = rootOf(roots[b]!)));
    const join = (a: number, b: number): void => {
      const [first, second] = [rootOf(a), rootOf(b)];
      roots[Math.max(first, second)] = Math.min(first, second);
    };
    for (let b = 0; b < bodyCount; b++) {
      join(b, i32[(bodyRows + b * L.BODY_BYTES + L.BODY_ISLAND) / 4]!);
      if (this.sleeps(b)) join(b, i32[this.#wordAt(b)]! - 1);
    }
    for (let n = 0; n < attachmentCount; n++) {
      const point = (points + n * L.POINT_BYTES) / 4;
      const owner = (k: number): number => this.#ownerOf(i32[point + L.POINT_ADDRESS / 4 + k]!);
      for (let k = 1; k < i32[point + L.POINT_COUNT / 4]!; k++) join(owner(0), owner(k));
    }
    return roots.map((_, b) => rootOf(b));
  }

  /** Body of the particle at this address. */
  #ownerOf(address: number): number {
    const particle = (address - this.#layout.x) / 16;
    return this.#layout.bodies.findIndex(({ first, count }) => particle >= first && particle < first + count);
  }

  /** Puts bodies to sleep. */
  #rest(resting: readonly number[]): void {
    if (resting.length === 0) return;
    const { i32 } = this.#views;
    const islands = this.#islands();
    const touch = this.#bodies.touching();
    for (const b of resting) {
      i32[this.#wordAt(b)] = 1 + islands[b]!;
      this.#stop(b);
    }
    const { bodyCount, cores } = this.#layout;
    for (const b of resting)
      for (let n = 0; n < bodyCount + cores.length; n++)
        if (n >= bodyCount || this.sleeps(n)) this.#mark(b, n, (may) => may | L.MEETS_ASLEEP);
    for (let k = 0; k < touch.length; k += 2)
      this.#mark(touch[k]!, touch[k + 1]!, (may) => (may & L.MEETS_ASLEEP ? may | L.MEETS_TOUCHING : may));
    this.#relist();
  }

  /** Stops a body, as if it had not moved in the last substep either. */
  #stop(b: number): void {
    const { f32, i32 } = this.#views;
    const { x, xPrev, v, bodies, bodyRows } = this.#layout;
    const { first, count } = bodies[b]!;
    const [low, lowPrev] = [L.H_LOW, L.H_LOW_PREV].map((pointer) => i32[(L.HEADER + pointer) / 4]! / 4) as [
      number,
      number,
    ];
    for (let at = 4 * first; at < 4 * (first + count); at += 4) {
      f32.copyWithin(xPrev / 4 + at, x / 4 + at, x / 4 + at + 3);
      f32.fill(0, v / 4 + at, v / 4 + at + 3);
      f32[x / 4 + at + 3] = 0;
    }
    f32.copyWithin(lowPrev + 4 * first, low + 4 * first, low + 4 * (first + count));
    const row = (bodyRows + b * L.BODY_BYTES) / 4;
    i32[row + L.BODY_INACTIVE / 4] = 1;
    // remembered stress stays as it is
    f32[row + L.BODY_GAIN / 4] = 0;
    f32[row + L.BODY_KEEP / 4] = 1;
  }

  /** Wakes sleeping bodies, which then have to come to rest again. */
  #rouse(does: (body: number) => boolean): void {
    const { f32, i32 } = this.#views;
    const { x, initial, bodies, bodyRows, bodyCount, cores } = this.#layout;
    const woken = this.#numbers.filter((b) => does(b) && this.sleeps(b));
    for (const b of woken) {
      i32[this.#wordAt(b)] = 0;
      this.#bodies.forget(b);
      if (this.#isLeftOut(b)) continue;
      const { first, count } = bodies[b]!;
      for (let at = 4 * first + 3; at < 4 * (first + count); at += 4) f32[x / 4 + at] = f32[initial / 4 + at]!;
      i32[(bodyRows + b * L.BODY_BYTES + L.BODY_INACTIVE) / 4] = 0;
    }
    for (const b of woken)
      for (let n = 0; n < bodyCount + cores.length; n++) this.#mark(b, n, (may) => may & (L.MEETS_ASLEEP - 1));
    if (woken.length > 0) this.#relist();
  }

  /** Changes the entry of two surfaces in both of their tables. */
  #mark(a: number, b: number, change: (may: number) => number): void {
    const [one, other] = [this.#tableOf(a) + b, this.#tableOf(b) + a];
    this.#bytes[one] = change(this.#bytes[one]!);
    if (a !== b) this.#bytes[other] = change(this.#bytes[other]!);
  }

  /** Address of the bytes that say which surfaces a surface may touch. */
  #tableOf(surface: number): number {
    const { i32 } = this.#views;
    const rows = i32[(L.HEADER + L.H_SURFACE) / 4]!;
    return i32[(rows + surface * L.SURFACE_BYTES + L.SURFACE_MEETS) / 4]!;
  }

  #relist(): void {
    forgetPairList(this.#memory);
  }

  /** True if the body is inactive, or held until a reset. */
  #isLeftOut(b: number): boolean {
    return this.#views.i32[statusAt(this.#layout, b)] !== 0;
  }

  #wordAt(b: number): number {
    return statusAt(this.#layout, 3 * this.#layout.bodyCount) + b;
  }

  get #numbers(): number[] {
    return Array.from({ length: this.#layout.bodyCount }, (_, b) => b);
  }
}
