/**
 * A room's memory seen from a thread: one tick, and what others want to know about the state. Everything that outlives
 * a tick is in the memory, so any thread may step the next one.
 *
 *   step
 *   |- inputs    grabs, moves, impulses, reset, spawns      bad ones -> inputRejected, nothing changes
 *   |- intersections   at a start, a reset, after a roll-back: what intersects is reported, and driven apart or held
 *   (intersections/watch.ts)
 *   |- kernel    broad phase, substeps (kernel/assembly/step)
 *   |- guard     finite and inside the world, per body      else rolled back and held -> bodyHeld
 *   '- rest      slow for half a second -> calmed; still for a second -> asleep; all asleep -> the next ticks cost
 *   nothing
 */
import * as L from "../kernel/assembly/layout/layout.ts";
import { easeHands } from "./grabLimits.ts";
import { applyInput, freeSlot, moveHands, type Views } from "./grabs.ts";
import { SchedulerWords } from "./schedulerWords.ts";
import { instantiateKernel, type Kernel } from "./kernelModule.ts";
import { stirs } from "../../shared/motion.ts";
import { carry, comesNear } from "./movers.ts";
import { IntersectionWatch } from "./intersections/watch.ts";
import type { BodyLayout, SimLayout } from "./layout.ts";
import type { StateRun } from "./memory/writeBlocks.ts";
import { HELD, parkAll, statusAt, InactiveBodies } from "./inactive.ts";
import type { ContactCounts, Input, SimEvent, StageSeconds, World, WorldLayout } from "./types.ts";

/**
 * A body that stays within STILL of where it was for this long is asleep: long enough for the slow end of a swing, s.
 * This and the times below are those of people who watch; a body so large, or gravity so weak, that a fall through its
 * own size takes longer than 1 s has that much longer (BodyLayout.pace), so that what begins to fall is not taken for
 * slow.
 */
const SECONDS_TO_SLEEP = 1;
/**
 * Root mean square distance of the surface, in sizes of the body (diagonal of its rest box): the same scene in
 * millimetres rests alike, and one corner that quivers does not keep a room awake.
 */
const STILL = 0.0002;
/**
 * A solver that is not converged never stops moving: the dragon at 20 substeps x 1 iteration keeps 2 cm/s at its horns,
 * a corner of a stiff body shakes. A body of which no more than FEW of the surface is faster than SLOW sizes a second
 * for SECONDS_TO_CALM is damped with CALMING 1/s until it is still.
 */
const FEW = 0.25;
const SLOW = 0.05;
const SECONDS_TO_CALM = 0.5;
const CALMING = 10;
/**
 * A body that is calm may move this many times as fast before it counts as moving: it is when stress is remembered that
 * it rises.
 */
const STILL_CALM = 4;
/**
 * Remembered stress (kernel/assembly/warmStart/warmStart.ts): the memory of a slow body takes over GAIN d of the stress
 * in a second, d being its damping in 1/s; stable below 1. A body of which half is faster than FAST sizes a second
 * forgets FORGETTING of it in a second.
 */
const GAIN = 0.5;
/** A body that the scene damps with so much, 1/s, remembers while it moves, too. */
const MUCH_DAMPING = 2;
const FAST = 0.5;
const FORGETTING = 2;
/** Share of the stress that iterations must build up alone for memory to be of no use. */
const CONVERGED = 0.995;
/** Part of the stress that the iterations must add for their share to be measured by it. */
const MEASURED = 0.5;
/**
 * Strains that float32 positions may have for no reason: some units in the last place of the body's size, over the
 * length of an edge.
 */
const ROUNDING = 2 ** -21;
/** A body settles until its stress is this close to where it is going, relative, or this long, s. */
const SETTLED = 0.005;
const SECONDS_TO_SETTLE = 60;
/**
 * Clients draw colliders by the tick that they have: frames go on this long after one has stopped, s; frames are sent
 * more often than that.
 */
const LOOK_BACK = 0.5;

/** What changes the state outside of the kernel; watchPhases. */
export const HOST_STAGES = { inputs: -1, guard: -2, rest: -3 } as const;

export function openWorld(memory: WebAssembly.Memory, layout: WorldLayout): SimWorld {
  return new SimWorld(memory, layout as unknown as SimLayout);
}

export class SimWorld implements World {
  readonly layout: SimLayout & WorldLayout;
  readonly kernel: Kernel;
  private watcher: (() => void) | undefined;
  private phaseWatcher: ((phase: number) => void) | undefined;
  /** Set where helpers are: other threads may be claiming chunks of this tick. */
  helpers = false;
  /** False keeps stepping bodies that no longer visibly move: for measurements of slow settling. */
  mayRest = true;
  private readonly memory: WebAssembly.Memory;
  private readonly views: Views;
  private readonly intersections: IntersectionWatch;
  private readonly waitingBodies: InactiveBodies;

  constructor(memory: WebAssembly.Memory, layout: SimLayout) {
    this.memory = memory;
    this.layout = layout;
    this.kernel = instantiateKernel(
      memory,
      () => this.watcher?.(),
      (phase) => this.phaseWatcher?.(phase),
    );
    this.views = { f32: new Float32Array(memory.buffer), i32: new Int32Array(memory.buffer) };
    this.intersections = new IntersectionWatch(memory, this.views, layout, this.kernel);
    this.waitingBodies = new InactiveBodies(this.views, layout, this.kernel);
  }

  /** Calls back after every substep (not while resting), in the middle of `step`. */
  watchSubsteps(watcher: () => void): void {
    this.watcher = watcher;
    this.views.i32[(L.HEADER + L.H_WATCH) / 4]! |= L.WATCH_SUBSTEPS;
  }

  /**
   * Calls back between all that changes the state in `step`: with the number of a phase (its place in the kernel's
   * program) after it, and with one of HOST_STAGES after what happens outside of the kernel.
   */
  watchPhases(watcher: (phase: number) => void): void {
    this.phaseWatcher = watcher;
    this.views.i32[(L.HEADER + L.H_WATCH) / 4]! |= L.WATCH_PHASES;
  }

  get tickNumber(): number {
    return this.views.i32[(L.HEADER + L.H_TICK) / 4]! >>> 0;
  }

  /** True while every body rests: ticks then only count. */
  get resting(): boolean {
    return this.views.i32[this.stillAt(this.layout.bodyCount)] === 1;
  }

  /** True while surfaces intersect that contact never saw apart, or nobody has looked yet. */
  get tangled(): boolean {
    return this.intersections.active;
  }

  step(inputs: readonly Input[]): { seconds: StageSeconds; events: SimEvent[] } {
    const started = performance.now();
    const events: SimEvent[] = [];
    const tick = this.tickNumber + 1;
    for (const input of inputs) {
      if (input.type === "spawn" || input.type === "remove") {
        events.push(this.waitingBodies.apply(input, tick));
        if (events.at(-1)!.type === "inputRejected") continue; // it wakes nobody
        this.relist();
        this.intersections.request();
      }
      this.wake();
      if (input.type === "reset") {
        this.reset();
        events.push({ type: "reset", tick, member: input.member });
      } else if (input.type !== "spawn" && input.type !== "remove") {
        const event = applyInput(this.views, this.layout, this.kernel, input, tick, (body) =>
          this.waitingBodies.waits(body),
        );
        if (event) events.push(event);
      }
    }
    if (inputs.length > 0) this.phaseWatcher?.(HOST_STAGES.inputs);
    const applied = performance.now();
    const seconds: StageSeconds = {
      inputs: (applied - started) / 1000,
      predict: 0,
      solve: 0,
      collide: 0,
      velocity: 0,
      guard: 0,
      encode: 0,
    };
    if (this.resting && this.mayRest && !this.disturbed()) {
      this.views.i32[(L.HEADER + L.H_TICK) / 4]! = tick;
      // frames still say where the colliders are that go on
      if (this.collidersMove()) this.kernel.placeCoreMeshes();
      return { seconds, events };
    }
    this.intersections.beginTick(tick, events, (body) => this.hold(body));
    moveHands(this.views, this.layout);
    easeHands(this.views, this.layout, this.kernel);
    this.kernel.step(this.helpers ? 1 : 0, this.layout.scratch);
    const stepped = performance.now();
    this.guard(tick, events);
    this.phaseWatcher?.(HOST_STAGES.guard);
    this.countStillness();
    this.phaseWatcher?.(HOST_STAGES.rest);
    const stage = (s: number): number => new Float64Array(this.memory.buffer, L.HEADER + L.H_STAGE, L.STAGES)[s]!;
    seconds.predict = stage(L.STAGE_PREDICT);
    seconds.solve = stage(L.STAGE_SOLVE);
    seconds.velocity = stage(L.STAGE_VELOCITY);
    seconds.collide = stage(L.STAGE_COLLIDE) + stage(L.STAGE_BROAD);
    seconds.guard = (performance.now() - stepped) / 1000;
    return { seconds, events };
  }

  /**
   * Helps another thread's `step` of the tick `generation` until it ends.
   * @param slot this helper's own row of the scheduler's words;
   * @returns chunks done
   */
  help(generation: number, slot: number): number {
    return this.kernel.help(generation, slot, SchedulerWords.scratch(this.layout, slot));
  }

  readStreamed(out: Float32Array): void {
    const { f32 } = this.views;
    for (const body of this.layout.bodies) {
      let from = this.layout.x / 4 + 4 * body.first;
      let to = 3 * body.streamedFirst;
      for (let i = 0; i < body.streamedCount; i++, from += 4, to += 3) {
        out[to] = f32[from]!;
        out[to + 1] = f32[from + 1]!;
        out[to + 2] = f32[from + 2]!;
      }
    }
  }

  /** Positions of the particles `source` (room numbers) -> out float32[3*source.length], m from the room's origin. */
  readParticles(source: Uint32Array, out: Float32Array): void {
    const { f32 } = this.views;
    const x = this.layout.x / 4;
    source.forEach((particle, i) => {
      for (let r = 0; r < 3; r++) out[3 * i + r] = f32[x + 4 * particle + r]!;
    });
  }

  /** float32[3] position of any particle of a body, m from the room's origin. */
  position(body: number, particle: number): [number, number, number] {
    const at = this.layout.x / 4 + 4 * (this.layout.bodies[body]!.first + particle);
    const { f32 } = this.views;
    return [f32[at]!, f32[at + 1]!, f32[at + 2]!];
  }

  asleep(): Uint8Array {
    const { bodies, tickHz } = this.layout;
    return Uint8Array.from(bodies, (body, b) =>
      this.waitingBodies.waits(b) || this.views.i32[this.stillAt(b)]! >= SECONDS_TO_SLEEP * body.pace * tickHz ? 1 : 0,
    );
  }

  held(): Uint8Array {
    return Uint8Array.from(this.layout.bodies, (_, b) => (this.views.i32[this.heldAt(b)] === HELD ? 1 : 0));
  }

  waiting(): Uint8Array {
    return Uint8Array.from(this.layout.bodies, (_, b) => (this.waitingBodies.waits(b) ? 1 : 0));
  }

  stateHash(): string {
    const { kernel, layout } = this;
    let hash = kernel.stateHash(layout.particleCount);
    for (const s of layout.states)
      hash = kernel.hashState(hash, s.address, s.stride, s.offset, s.rows, s.firstLane, s.lastLane);
    return BigInt.asUintN(64, hash).toString(16).padStart(16, "0");
  }

  contactCounts(): ContactCounts {
    const count = (offset: number): number => this.views.i32[(L.HEADER + offset) / 4]! >>> 0;
    return {
      lists: count(L.H_COUNT_LISTS),
      checks: count(L.H_COUNT_CHECKS),
      impulses: count(L.H_COUNT_IMPULSES),
      zones: count(L.H_COUNT_ZONES),
      stops: count(L.H_COUNT_STOPS),
    };
  }

  collidersMove(): boolean {
    const seconds = this.tickNumber / this.layout.tickHz;
    return this.layout.movers.some(({ path }) => stirs(path, seconds - LOOK_BACK, seconds + 1 / this.layout.tickHz));
  }

  /** Does a collider move near one of the bodies in the tick after number `tick`? */
  private inTheWay(tick: number): boolean {
    const {
      layout,
      views: { f32 },
    } = this;
    const from = tick / layout.tickHz;
    const to = (tick + 1) / layout.tickHz;
    const movers = layout.movers.filter(({ path }) => stirs(path, from, to));
    return (
      movers.length > 0 &&
      layout.bodies.some((body, b) => {
        if (this.waitingBodies.waits(b)) return false;
        const x = f32.subarray(layout.x / 4 + 4 * body.first, layout.x / 4 + 4 * (body.first + body.streamedCount));
        return movers.some((mover) => comesNear(mover, from, to, x, 0.05 * body.size));
      })
    );
  }

  /** Does a collider come in the tick that comes? Then the room wakes. */
  private disturbed(): boolean {
    if (!this.inTheWay(this.tickNumber)) return false;
    this.wake();
    return true;
  }

  private stillAt(body: number): number {
    return this.layout.still / 4 + body;
  }

  private heldAt(body: number): number {
    return statusAt(this.layout, body);
  }

  private calmAt(body: number): number {
    return this.heldAt(this.layout.bodyCount) + body;
  }

  private wake(): void {
    this.views.i32.fill(0, this.stillAt(0), this.stillAt(this.layout.bodyCount) + 1);
    this.views.i32.fill(0, this.calmAt(0), this.calmAt(this.layout.bodyCount));
  }

  private reset(): void {
    const { layout, views } = this;
    this.copyState(layout.initial, 0, layout.particleCount);
    for (const { carrier, first, count } of layout.bodies) {
      const rows = (address: number): Float32Array =>
        views.f32.subarray(address / 4 + 4 * first, address / 4 + 4 * (first + count));
      if (carrier !== undefined)
        carry(layout.movers[carrier]!, this.tickNumber / layout.tickHz, rows(layout.x), rows(layout.v));
    }
    for (const s of layout.states) this.copyRows(s, s.initial, true);
    views.i32.fill(0, this.stillAt(0), this.calmAt(layout.bodyCount));
    parkAll(views, layout);
    for (let slot = 0; slot < layout.grabCount; slot++) freeSlot(views, layout, slot);
    this.relist();
    this.forget();
    for (let b = 0; b < layout.bodyCount; b++)
      views.i32.fill(
        0,
        (layout.bodyRows + b * L.BODY_BYTES + L.BODY_GAIN) / 4,
        (layout.bodyRows + b * L.BODY_BYTES + L.BODY_MEETS) / 4,
      );
    views.i32[(L.HEADER + L.H_WARM_START) / 4] = 0;
    // nothing is in the way of colliders any more
    const marks = views.i32[(L.HEADER + L.H_MARKS) / 4]!;
    const bytes = new Uint8Array(views.i32.buffer);
    for (const { first, count } of layout.cores)
      for (let p = marks + first; p < marks + first + count; p++) bytes[p]! &= ~L.MARK_LAGS;
    views.i32[(L.HEADER + L.H_RESOLUTION) / 4] = 0;
    this.intersections.request();
  }

  /** Positions have changed otherwise than by a step: the list of pairs has to be made anew. */
  private relist(): void {
    this.views.i32[(L.HEADER + L.H_LIST_VALID) / 4] = 0;
  }

  /** Saved positions (with inverse masses) and velocities -> the particles first .. first + count. */
  private copyState(saved: number, first: number, count: number): void {
    const { f32 } = this.views;
    const { x, v } = this.layout;
    const velocities = saved + this.savedBytes;
    f32.copyWithin(x / 4 + 4 * first, saved / 4 + 4 * first, saved / 4 + 4 * (first + count));
    f32.copyWithin(v / 4 + 4 * first, velocities / 4 + 4 * first, velocities / 4 + 4 * (first + count));
  }

  /** Rows of constraint blocks -> their saved copy, or back. */
  private copyRows(s: StateRun, saved: number, back: boolean): void {
    this.kernel.copyState(s.address, s.stride, s.offset, s.rows, s.firstLane, s.lastLane, saved, back ? 1 : 0);
  }

  /** Bytes of a saved position array: particles padded as in the header. */
  private get savedBytes(): number {
    return 16 * this.views.i32[(L.HEADER + L.H_PARTICLES) / 4]!;
  }

  private guard(tick: number, events: SimEvent[]): void {
    const { layout, views } = this;
    const { f32 } = views;
    layout.bodies.forEach((body, b) => {
      if (views.i32[this.heldAt(b)]) return;
      if (this.kernel.bodyIsSound(body.first, body.count, layout.worldRadius, ...layout.origin)) {
        f32.copyWithin(
          layout.good / 4 + 4 * body.first,
          layout.x / 4 + 4 * body.first,
          layout.x / 4 + 4 * (body.first + body.count),
        );
        const velocities = (layout.good + this.savedBytes) / 4 + 4 * body.first;
        f32.copyWithin(velocities, layout.v / 4 + 4 * body.first, layout.v / 4 + 4 * (body.first + body.count));
        for (const s of layout.states) if (s.body === b) this.copyRows(s, s.good, false);
        return;
      }
      this.copyState(layout.good, body.first, body.count);
      this.relist();
      for (const s of layout.states) if (s.body === b) this.copyRows(s, s.good, true);
      this.hold(b);
      this.intersections.request();
      events.push({
        type: "bodyHeld",
        tick,
        body: b,
        reason: `a particle was not finite or beyond ${layout.worldRadius} m from the origin; rolled back one tick and held until a reset`,
      });
    });
  }

  /** A body stays where it is until a reset: inverse mass 0. */
  private hold(b: number): void {
    const {
      layout,
      views: { f32, i32 },
    } = this;
    const body = layout.bodies[b]!;
    for (let i = body.first; i < body.first + body.count; i++) {
      f32[layout.x / 4 + 4 * i + 3] = 0;
      f32.fill(0, layout.v / 4 + 4 * i, layout.v / 4 + 4 * i + 3);
    }
    i32[this.heldAt(b)] = HELD;
  }

  /** Counts each body's quiet ticks; calms the slow, lets their stress settle, notes who sleeps. */
  private countStillness(): void {
    const {
      layout,
      views: { i32 },
    } = this;
    // what rides on a slow collider is not to be held back, nor what lies on something that does
    const riding = this.inTheWay(this.tickNumber - 1);
    let all = true;
    let settling = false;
    layout.bodies.forEach((body, b) => {
      if (this.waitingBodies.waits(b)) return;
      const calm = this.calmAt(b);
      const enough = SECONDS_TO_CALM * body.pace * layout.tickHz;
      i32[calm] = this.moves(body, (i32[calm]! >= enough ? STILL_CALM : 1) * SLOW, FEW) ? 0 : i32[calm]! + 1;
      const slow = i32[calm]! >= enough;
      // what its own step solves needs no calming
      if (this.mayRest && slow && !riding && !body.implicit) this.calm(body);
      if (this.remember(body, b, slow)) settling = true;
      const settled = this.settlement(b).error < SETTLED || i32[calm]! >= SECONDS_TO_SETTLE * body.pace * layout.tickHz;
      if (this.nearAnchor(body) && settled) i32[this.stillAt(b)]!++;
      else {
        i32[this.stillAt(b)] = 0;
        this.setAnchor(body);
      }
      all &&= i32[this.stillAt(b)]! >= SECONDS_TO_SLEEP * body.pace * layout.tickHz;
    });
    if (all && this.mayRest && !i32[this.stillAt(layout.bodyCount)]) this.halt();
    i32[this.stillAt(layout.bodyCount)] = all ? 1 : 0;
    const at = (L.HEADER + L.H_WARM_START) / 4;
    if (i32[at] && !settling) this.forget();
    i32[at] = settling ? 1 : 0;
  }

  /**
   * How far a body's stress has settled. `share`: what the iterations alone build up of it (1 before it is measured);
   * `error`: estimate of what is missing, relative.
   */
  settlement(body: number): { share: number; error: number } {
    const row = new DataView(this.memory.buffer, this.layout.bodyRows + body * L.BODY_BYTES, L.BODY_BYTES);
    const measured = row.getFloat32(L.BODY_SHARE, true);
    const share = measured || 1;
    const strain = row.getFloat64(L.BODY_STRAIN, true);
    if (measured >= CONVERGED || strain <= this.roundingOf(body, row)) return { share, error: 1 - share };
    return { share, error: Math.sqrt(row.getFloat64(L.BODY_CHANGE, true) / strain) / share };
  }

  /** Sets what a body's memory takes over and keeps in the next tick. @returns true if it has any use for memory */
  private remember(body: BodyLayout, b: number, slow: boolean): boolean {
    const {
      layout: { tickHz, bodyRows },
      views: { f32 },
    } = this;
    const at = bodyRows + b * L.BODY_BYTES;
    const row = new DataView(this.memory.buffer, at, L.BODY_BYTES);
    const damping = body.damping + (this.mayRest && slow ? CALMING / body.pace : 0);
    const useful = slow || body.damping * body.pace >= MUCH_DAMPING;
    f32[(at + L.BODY_GAIN) / 4] = useful ? Math.min(1, (GAIN * damping) / tickHz) : 0;
    f32[(at + L.BODY_KEEP) / 4] =
      !slow && this.moves(body, FAST, 0.5) ? 1 / (1 + FORGETTING / (body.pace * tickHz)) : 1;
    const share = row.getFloat32(L.BODY_SHARE, true);
    // of what the iterations added to what they began with, as long as that is much: a memory that is full hides what
    // they cannot do
    const change = row.getFloat64(L.BODY_CHANGE, true);
    if (slow && change > Math.max(MEASURED ** 2 * row.getFloat64(L.BODY_STRAIN, true), this.roundingOf(b, row))) {
      const measured = 1 / (1 + Math.sqrt(row.getFloat64(L.BODY_MISMATCH, true) / change));
      if (share === 0 || measured < share) row.setFloat32(L.BODY_SHARE, measured, true);
    }
    return useful ? share < CONVERGED : share > 0 && share < CONVERGED;
  }

  /** Sum over the body's elements below which strains are the rounding of positions. */
  private roundingOf(body: number, row: DataView): number {
    const { size, meanEdge } = this.layout.bodies[body]!;
    return ((ROUNDING * size) / meanEdge) ** 2 * row.getFloat64(L.BODY_WEIGHT, true);
  }

  /** Asleep is at rest: no velocity is left to wake up with. */
  private halt(): void {
    const {
      layout,
      views: { f32 },
    } = this;
    for (let i = 0, v = layout.v / 4; i < layout.particleCount; i++, v += 4) f32.fill(0, v, v + 3);
  }

  private forget(): void {
    const {
      layout,
      views: { i32 },
    } = this;
    for (const { address, bytes } of layout.memories)
      for (let at = address; at < address + bytes; at += L.WARM_START_BYTES)
        i32.fill(0, at / 4, (at + L.WARM_START_BODY) / 4);
  }

  /** Whether more than a share of a body's streamed particles is faster than `limit` sizes in its pace. */
  private moves(body: BodyLayout, limit: number, share: number): boolean {
    const { f32 } = this.views;
    const most = ((limit * body.size) / body.pace) ** 2;
    let left = share * body.streamedCount;
    for (let i = 0, v = this.layout.v / 4 + 4 * body.first; i < body.streamedCount; i++, v += 4) {
      if (f32[v]! * f32[v]! + f32[v + 1]! * f32[v + 1]! + f32[v + 2]! * f32[v + 2]! > most && --left < 0) return true;
    }
    return false;
  }

  private calm(body: BodyLayout): void {
    const { f32 } = this.views;
    const keep = 1 / (1 + CALMING / (body.pace * this.layout.tickHz));
    for (let i = 0, v = this.layout.v / 4 + 4 * body.first; i < body.count; i++, v += 4)
      for (let r = 0; r < 3; r++) f32[v + r]! *= keep;
  }

  private nearAnchor(body: BodyLayout): boolean {
    const { f32 } = this.views;
    let sum = 0;
    for (
      let i = 0, x = this.layout.x / 4 + 4 * body.first, a = this.layout.anchor / 4 + 3 * body.streamedFirst;
      i < body.streamedCount;
      i++, x += 4, a += 3
    ) {
      const dx = f32[x]! - f32[a]!;
      const dy = f32[x + 1]! - f32[a + 1]!;
      const dz = f32[x + 2]! - f32[a + 2]!;
      sum += dx * dx + dy * dy + dz * dz;
    }
    return sum <= (STILL * body.size) ** 2 * body.streamedCount;
  }

  private setAnchor(body: BodyLayout): void {
    const { f32 } = this.views;
    for (
      let i = 0, x = this.layout.x / 4 + 4 * body.first, a = this.layout.anchor / 4 + 3 * body.streamedFirst;
      i < body.streamedCount;
      i++, x += 4, a += 3
    ) {
      f32[a] = f32[x]!;
      f32[a + 1] = f32[x + 1]!;
      f32[a + 2] = f32[x + 2]!;
    }
  }
}
