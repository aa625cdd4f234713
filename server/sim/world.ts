/**
 * View of a room's memory: steps one tick and reads the state. All state that outlives a tick is in the memory, so any
 * thread may step the next tick.
 *
 *   step
 *   |- inputs    grabs, pins, impulses, reset, spawns, tuning, looks   invalid ones -> inputRejected, nothing changes
 *   |- intersections   after a start, reset or roll-back: reports intersecting surfaces, then separates or holds them
 *   |                  (intersections/watch.ts)
 *   |- speeds    limits each body to a few of its sizes per substep (motionLimits.ts)
 *   |- kernel    broad phase, substeps (kernel/assembly/step)
 *   |- methods   bodies with their own method (methods/methodBodies.ts)
 *   |- guard     each body finite and inside the world           else rolled back and held -> bodyHeld
 *   '- rest      still -> calmed, then asleep; all asleep -> the next ticks do no work (findResting.ts)
 */
import * as L from "../kernel/assembly/layout/layout.ts";
import { tellCrowding } from "./rest/crowding.ts";
import { easeGrabs } from "./grabs/grabLimits.ts";
import { applyInput, grab, type GrabInput, moveGrabTargets, refuse } from "./grabs/applyGrabs.ts";
import { drawAttachments, resetAttachments } from "./world/attachments.ts";
import type { Views } from "./world/views.ts";
import { RoomPins } from "./grabs/pins.ts";
import { freeSlot } from "./grabs/grabSlots.ts";
import { SchedulerWords } from "./threads/schedulerWords.ts";
import { instantiateKernel, type Kernel } from "./world/kernelModule.ts";
import { stirs } from "../../shared/geometry/colliderMotion.ts";
import type { Pin } from "../../shared/members/pin.ts";
import type { BodyLook } from "../../shared/scene/bodyLook.ts";
import type { Tuning } from "../../shared/members/tuningLimits.ts";
import { carry, comesNear } from "./colliders/movers.ts";
import { yieldingMovers } from "./colliders/moverYields.ts";
import { IntersectionWatch } from "./intersections/watch.ts";
import { forgetPairList, forgetPushes } from "./rest/keptPushes.ts";
import type { SimLayout } from "./world/worldLayout.ts";
import { limitSpeeds } from "./tuning/motionLimits.ts";
import { MethodBodies } from "./methods/methodBodies.ts";
import { ReferenceBodies } from "./methods/references/referenceBodies.ts";
import { clearLowWords } from "./memory/lowWords.ts";
import type { StateRun } from "./memory/writeBlocks.ts";
import { HELD, withdrawAll, statusAt, InactiveBodies } from "./spawn/spawnableBodies.ts";
import { Rest } from "./rest/findResting.ts";
import { SleepingIslands } from "./rest/sleepingIslands.ts";
import { Touching } from "./rest/touching.ts";
import { RoomTuning } from "./tuning/applyTuning.ts";
import {
  type ContactCounts,
  type Input,
  KERNEL_STAGES,
  type MethodError,
  type MethodSeconds,
  noSeconds,
  type SimEvent,
  type StageSeconds,
  type World,
  type WorldLayout,
} from "./types.ts";
import { RoomLooks } from "./spawn/bodyLooks.ts";
import { marksIn } from "./world/marks.ts";

/**
 * Time that frames continue after a collider has stopped, s. Clients draw colliders at the tick of their newest frame,
 * and frames are sent more often than this.
 */
const LOOK_BACK = 0.5;

/** Stages outside of the kernel that change the state, as numbered for watchPhases. */
export const HOST_STAGES = { inputs: -1, guard: -2, rest: -3, methods: -4 } as const;

export function openWorld(memory: WebAssembly.Memory, layout: WorldLayout, template?: WebAssembly.Memory): SimWorld {
  return new SimWorld(memory, layout as unknown as SimLayout, template);
}

export class SimWorld implements World {
  readonly layout: SimLayout & WorldLayout;
  readonly kernel: Kernel;
  private watcher: (() => void) | undefined;
  private phaseWatcher: ((phase: number) => void) | undefined;
  /** True if helpers exist: other threads may claim chunks of this tick. */
  helpers = false;
  /**
   * Called during `step` between two phases; may do other work.
   * @returns how long that took, s
   */
  preempt: (() => number) | undefined;
  /** If false, bodies never rest or sleep: for measurements of slow settling. */
  mayRest = true;
  private readonly memory: WebAssembly.Memory;
  private readonly views: Views;
  private readonly intersections: IntersectionWatch;
  private readonly inactiveBodies: InactiveBodies;
  private readonly tuned: RoomTuning;
  private readonly dressed: RoomLooks;
  private readonly pinned: RoomPins;
  private readonly rest: Rest;
  private readonly islands: SleepingIslands;
  private readonly methods: MethodBodies;
  private readonly reference: ReferenceBodies | undefined;
  /** Kernel time of the last tick, by this thread's clock, s. */
  private kernelSeconds = 0;
  /** Time that methods took between the kernel's substeps, s. */
  private meanwhileSeconds = 0;
  private readonly contacts: Touching;

  constructor(memory: WebAssembly.Memory, layout: SimLayout, template?: WebAssembly.Memory) {
    this.memory = memory;
    this.layout = layout;
    this.kernel = instantiateKernel(
      memory,
      () => this.betweenSubsteps(),
      () => this.beforeSubstep(),
      (phase) => this.phaseWatcher?.(phase),
      () => this.preempt?.() ?? 0,
    );
    this.views = { f32: new Float32Array(memory.buffer), i32: new Int32Array(memory.buffer) };
    this.intersections = new IntersectionWatch(memory, this.views, layout, this.kernel);
    this.inactiveBodies = new InactiveBodies(this.views, layout, this.kernel);
    this.tuned = new RoomTuning(this.views, layout, template);
    this.dressed = new RoomLooks(this.views, layout);
    this.pinned = new RoomPins(this.views, layout, {
      refuse: (input) => refuse(this.views, layout, input, (body) => this.inactiveBodies.isAbsent(body)),
      begin: (input) => grab(this.views, layout, this.kernel, input),
    });
    this.rest = new Rest(
      memory,
      this.views,
      layout,
      this.kernel,
      this.tuned,
      (body) => this.inactiveBodies.isAbsent(body),
      (body) => this.islands.sleeps(body),
    );
    this.islands = new SleepingIslands(memory, this.views, layout, this.kernel, {
      rests: (body) => this.rest.sleeps(body),
      isCalm: (body) => this.rest.calmed(body),
      forget: (body) => this.rest.forgetBody(body),
      touching: () => this.touching(),
    });
    this.methods = new MethodBodies(
      this.views,
      layout,
      this.kernel,
      this.tuned,
      (body) => this.views.i32[this.heldAt(body)] === HELD,
    );
    this.setWatch(L.WATCH_SUBSTEPS, this.methods.meets);
    this.reference = layout.reference && new ReferenceBodies(this.views, layout, layout.reference, this.tuned);
    this.contacts = new Touching(memory, this.views, layout);
  }

  /** Calls `watcher` after every substep (not while resting), in the middle of `step`. */
  watchSubsteps(watcher: () => void): void {
    this.watcher = watcher;
    this.setWatch(L.WATCH_SUBSTEPS, true);
  }

  /**
   * Calls `watcher` after everything in `step` that changes the state. It gets the number of the phase (its index in
   * the kernel's program), or one of HOST_STAGES for a stage outside of the kernel.
   */
  watchPhases(watcher: (phase: number) => void): void {
    this.phaseWatcher = watcher;
    this.setWatch(L.WATCH_PHASES, true);
  }

  get tickNumber(): number {
    return this.views.i32[(L.HEADER + L.H_TICK) / 4]! >>> 0;
  }

  /** Number of ticks in which simulated time advanced. */
  get stepped(): number {
    return this.tickNumber - this.tuned.pausedTicks;
  }

  /** External acceleration of a particle without wind, component r, m/s^2. */
  steady(particle: number, r: number): number {
    return this.tuned.steady(particle, r);
  }

  /** True if the current tick of simulated time needs more calls of `step`, because a call's work is bounded. */
  get isUnfinished(): boolean {
    return this.views.i32[(L.HEADER + L.H_NEXT_SUBSTEP) / 4]! !== 0;
  }

  /** True while every body rests: ticks then only increment the tick number. */
  get resting(): boolean {
    return this.views.i32[this.stillAt(this.layout.bodyCount)] === 1;
  }

  /** True while surfaces intersect that did so before contact checked them, and until the first check. */
  get tangled(): boolean {
    return this.intersections.active;
  }

  step(inputs: readonly Input[]): { seconds: StageSeconds; events: SimEvent[] } {
    const started = performance.now();
    const events: SimEvent[] = [];
    const tick = this.tickNumber + 1;
    const rested = this.resting;
    const yielded = yieldingMovers(this.views.i32).length > 0;
    this.takeInputs(inputs, tick, events);
    const applied = performance.now();
    const seconds = noSeconds();
    seconds.inputs = (applied - started) / 1000;
    if (this.tuned.timeScale === 0) {
      this.views.i32[(L.HEADER + L.H_TICK) / 4]! = tick;
      this.tuned.stand();
      this.tellYields(tick, yielded, events);
      return { seconds, events };
    }
    const goesOn = this.isUnfinished;
    if (!goesOn) this.tuned.beginTick();
    if (this.resting && this.mayRest && !this.disturbed()) {
      this.views.i32[(L.HEADER + L.H_TICK) / 4]! = tick;
      // frames still contain the positions of moving colliders
      if (this.collidersMove()) this.kernel.placeCoreMeshes();
      this.tellYields(tick, yielded, events);
      return { seconds, events };
    }
    if (!goesOn) this.beginIslands(tick, rested);
    if (!goesOn) this.intersections.beginTick(tick, events, (body) => this.hold(body));
    const looked = performance.now();
    if (!goesOn) this.moveTargets();
    limitSpeeds(this.views, this.layout, this.kernel);
    seconds.inputs += (performance.now() - looked) / 1000;
    this.setWatch(L.WATCH_PREEMPTION, this.preempt !== undefined);
    const begun = performance.now();
    this.methods.begin(this.views.i32[(L.HEADER + L.H_NEXT_SUBSTEP) / 4]!);
    this.meanwhileSeconds = 0;
    this.kernel.step(this.helpers ? 1 : 0, this.layout.scratch);
    const solved = performance.now();
    this.kernelSeconds = (solved - begun) / 1000 - this.meanwhileSeconds;
    const finished = !this.isUnfinished;
    if (finished) this.stepMethods();
    const stepped = performance.now();
    this.guard(tick, events);
    tellCrowding(this.views, this.layout, tick, events);
    this.tellYields(tick, yielded, events);
    this.phaseWatcher?.(HOST_STAGES.guard);
    // no body is calmed while it rides on a slow collider, directly or on top of another body
    if (finished) this.rest.count(this.mayRest, this.inTheWay(this.stepped - 1).length > 0);
    else this.standAfter(tick, events);
    this.phaseWatcher?.(HOST_STAGES.rest);
    const spent = new Float64Array(this.memory.buffer, L.HEADER + L.H_STAGE, L.STAGES);
    for (const [s, stage] of KERNEL_STAGES.entries()) seconds[stage] = spent[s]!;
    seconds.intersections += (looked - applied) / 1000;
    seconds.methods = (stepped - solved) / 1000 + this.meanwhileSeconds;
    seconds.guard = (performance.now() - stepped) / 1000;
    return { seconds, events };
  }

  /** Tells each tick's displacements while there are any, and the first tick without. @param before this tick */
  private tellYields(tick: number, before: boolean, events: SimEvent[]): void {
    const movers = yieldingMovers(this.views.i32);
    if (before || movers.length > 0) events.push({ type: "yielded", tick, movers });
  }

  private takeInputs(inputs: readonly Input[], tick: number, events: SimEvent[]): void {
    /** Member of the last tuning change: a tick sends one event for all of its changes. */
    let tunedBy: number | null = null;
    for (const [place, input] of inputs.entries()) {
      if (input.type === "dress") {
        events.push(this.dressed.apply(input, tick, place));
        continue; // a look wakes no body
      }
      if (input.type === "spawn" || input.type === "remove") {
        const event = this.comeOrGo(input, tick);
        events.push(event.type === "inputRejected" ? { ...event, input: place } : event);
        if (event.type === "inputRejected") continue; // a rejected input wakes no body
        if (event.type === "removed")
          events.push(...this.dressed.undress(tick, event.body), ...this.pinned.removeOf(tick, event.body));
      }
      const refusal = input.type === "tune" && this.tuned.refuse(input);
      if (refusal) {
        events.push({ type: "inputRejected", tick, member: input.member, input: place, ...refusal });
        continue;
      }
      this.wakeFor(input);
      if (input.type === "reset") {
        this.reset();
        events.push({ type: "reset", tick, member: input.member }, ...this.dressed.undress(tick));
        events.push(...this.pinned.removeOf(tick));
      } else if (input.type === "tune") {
        if (this.tuned.apply(input)) this.relist();
        tunedBy = input.member;
      } else if (input.type === "pin" || input.type === "unpin") {
        events.push(...this.pinned.apply(input, tick, place));
      } else if (input.type !== "spawn" && input.type !== "remove") {
        this.applyGrab(input, tick, events);
      }
    }
    if (tunedBy !== null) events.push({ type: "tuned", tick, member: tunedBy, tuning: this.tuning() });
    if (inputs.length > 0) this.phaseWatcher?.(HOST_STAGES.inputs);
  }

  /**
   * Helps another thread's `step` of the tick `generation` until that step ends.
   * @param slot this helper's own row of the scheduler's words
   * @returns number of chunks done
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
    return Uint8Array.from(this.layout.bodies, (_, b) =>
      this.inactiveBodies.isAbsent(b) || this.rest.sleeps(b) ? 1 : 0,
    );
  }

  held(): Uint8Array {
    return Uint8Array.from(this.layout.bodies, (_, b) => (this.views.i32[this.heldAt(b)] === HELD ? 1 : 0));
  }

  absent(): Uint8Array {
    return Uint8Array.from(this.layout.bodies, (_, b) => (this.inactiveBodies.isAbsent(b) ? 1 : 0));
  }

  stateHash(): string {
    const { kernel, layout } = this;
    let hash = kernel.stateHash(layout.particleCount);
    for (const s of layout.states)
      hash = kernel.hashState(hash, s.address, s.stride, s.offset, s.rows, s.firstLane, s.lastLane);
    hash = kernel.hashState(hash, layout.tuning, 16, 0, 1, 0, this.tuned.hashedWords);
    hash = kernel.hashState(hash, layout.looks, 16, 0, 1, 0, this.dressed.hashedWords);
    hash = kernel.hashState(hash, layout.pins, 16, 0, 1, 0, this.pinned.hashedWords);
    return BigInt.asUintN(64, hash).toString(16).padStart(16, "0");
  }

  takeMethodSeconds(): MethodSeconds[] {
    const taken = this.methods.takeSeconds();
    // a single body of the kernel takes the whole kernel time; report it if the scene compares that body, too
    const { bodies, reference, substeps } = this.layout;
    const compliant = bodies.flatMap(({ implicit }, body) => (implicit ? [] : [body]));
    if (compliant.length === 1 && reference?.bodies.includes(compliant[0]!) && this.kernelSeconds > 0)
      taken.push({ body: compliant[0]!, stepSeconds: this.kernelSeconds / substeps });
    this.kernelSeconds = 0;
    return taken;
  }

  methodErrors(): MethodError[] {
    return this.reference?.errors() ?? [];
  }

  tuning(): Tuning {
    return this.tuned.current;
  }

  looks(): [body: number, look: BodyLook][] {
    return this.dressed.current;
  }

  pins(): [pin: number, at: Pin][] {
    return this.pinned.current;
  }

  contactCounts(): ContactCounts {
    const count = (offset: number): number => this.views.i32[(L.HEADER + offset) / 4]! >>> 0;
    return {
      lists: count(L.H_COUNT_LISTS),
      checks: count(L.H_COUNT_CHECKS),
      impulses: count(L.H_COUNT_IMPULSES),
      zones: count(L.H_COUNT_ZONES),
      stops: count(L.H_COUNT_STOPS),
      full: count(L.H_COUNT_FULL),
    };
  }

  touching(): number[] {
    return this.contacts.pairs();
  }

  collidersMove(): boolean {
    if (this.tuned.timeScale === 0) return false;
    const seconds = this.stepped / this.layout.tickHz;
    return this.layout.movers.some(({ path }) => stirs(path, seconds - LOOK_BACK, seconds + 1 / this.layout.tickHz));
  }

  /** @returns time by which the kernel's clock pauses, s */
  private beforeSubstep(): number {
    const seconds = this.methods.move();
    this.meanwhileSeconds += seconds;
    if (seconds > 0) this.phaseWatcher?.(HOST_STAGES.methods);
    return seconds;
  }

  /** @returns time by which the kernel's clock pauses, s */
  private betweenSubsteps(): number {
    const seconds = this.methods.between();
    this.meanwhileSeconds += seconds;
    this.watcher?.();
    return seconds;
  }

  private setWatch(flag: number, on: boolean): void {
    const word = (L.HEADER + L.H_WATCH) / 4;
    this.views.i32[word] = on ? this.views.i32[word]! | flag : this.views.i32[word]! & ~flag;
  }

  /** Bodies that a collider carries, or moves near, in the tick after number `tick`. */
  private inTheWay(tick: number): number[] {
    const {
      layout,
      views: { f32 },
    } = this;
    const from = tick / layout.tickHz;
    const to = (tick + 1) / layout.tickHz;
    const movers = layout.movers.filter(({ path }) => stirs(path, from, to));
    if (movers.length === 0) return [];
    return layout.bodies.flatMap((body, b) => {
      if (this.inactiveBodies.isAbsent(b)) return [];
      const x = f32.subarray(layout.x / 4 + 4 * body.first, layout.x / 4 + 4 * (body.first + body.streamedCount));
      const carried = body.carrier !== undefined && movers.includes(layout.movers[body.carrier]!);
      return carried || movers.some((mover) => comesNear(mover, from, to, x, 0.05 * body.size)) ? [b] : [];
    });
  }

  /** Wakes bodies in the way of a moving collider. Returns true if the next tick has any. */
  private disturbed(): boolean {
    const bodies = this.inTheWay(this.stepped);
    if (bodies.length === 0) return false;
    this.rest.rouse();
    this.islands.wake(bodies);
    return true;
  }

  private comeOrGo(input: Extract<Input, { type: "spawn" | "remove" }>, tick: number): SimEvent {
    const event = this.inactiveBodies.apply(input, tick);
    if (event.type !== "inputRejected") {
      this.relist();
      this.intersections.request();
    }
    return event;
  }

  /** Wakes the bodies that an input concerns: the body's island for a grab, everything for a reset, tuning or spawn. */
  private wakeFor(input: Exclude<Input, { type: "dress" }>): void {
    if (input.type === "reset" || input.type === "tune" || input.type === "spawn" || input.type === "remove") {
      this.islands.wakeAll();
      this.rest.wake();
      return;
    }
    const bodies = this.islands.concernedBy(input);
    if (bodies.length === 0) return;
    this.rest.rouse();
    this.islands.wake(bodies);
  }

  /** @param rested whether the whole room slept before this tick */
  private beginIslands(tick: number, rested: boolean): void {
    // methods read bodies outside of the kernel, and intersections are searched among all bodies
    if (!this.mayRest || this.tuned.stirred || this.methods.any || this.tangled) this.islands.wakeAll();
    else this.islands.begin(tick, this.inTheWay(this.stepped), rested);
  }

  private applyGrab(input: GrabInput, tick: number, events: SimEvent[]): void {
    const isAbsent = (body: number): boolean => this.inactiveBodies.isAbsent(body);
    const event = applyInput(this.views, this.layout, this.kernel, input, tick, isAbsent);
    if (event) events.push(event);
    else if (input.type === "impulse") this.reference?.push(input);
  }

  private moveTargets(): void {
    drawAttachments(this.views, this.layout);
    moveGrabTargets(this.views, this.layout);
    easeGrabs(this.views, this.layout, this.kernel);
  }

  /**
   * Ends an unfinished tick: simulated time continues with the next one. Clients draw moving colliders by simulated
   * time.
   */
  private standAfter(tick: number, events: SimEvent[]): void {
    this.tuned.stand();
    if (this.layout.movers.length > 0) events.push({ type: "tuned", tick: tick + 1, member: 0, tuning: this.tuning() });
  }

  private stillAt(body: number): number {
    return this.layout.still / 4 + body;
  }

  private heldAt(body: number): number {
    return statusAt(this.layout, body);
  }

  private stepMethods(): void {
    if (!this.methods.any) return;
    this.methods.step();
    this.reference?.step();
    this.phaseWatcher?.(HOST_STAGES.methods);
  }

  /** Elastic energy of a body with its own method, J; undefined for other bodies. */
  methodEnergy(body: number): number | undefined {
    return this.methods.energy(body);
  }

  /** Settlement of a body's stress; @see Rest.settlement */
  settlement(body: number): { share: number; error: number } {
    return this.rest.settlement(body);
  }

  private reset(): void {
    const { layout, views } = this;
    this.copyState(layout.initial, 0, layout.particleCount);
    for (const { carrier, first, count } of layout.bodies) {
      const rows = (address: number): Float32Array =>
        views.f32.subarray(address / 4 + 4 * first, address / 4 + 4 * (first + count));
      if (carrier !== undefined)
        carry(layout.movers[carrier]!, this.stepped / layout.tickHz, rows(layout.x), rows(layout.v));
    }
    for (const s of layout.states) this.copyRows(s, s.initial, true);
    this.rest.wake();
    views.i32.fill(0, this.heldAt(0), this.heldAt(layout.bodyCount));
    withdrawAll(views, layout);
    for (let slot = 0; slot < layout.grabCount; slot++) freeSlot(views, layout, slot);
    resetAttachments(views, layout);
    this.views.i32[(L.HEADER + L.H_NEXT_SUBSTEP) / 4] = 0;
    this.relist();
    forgetPushes(this.memory);
    this.rest.forget();
    for (let b = 0; b < layout.bodyCount; b++)
      views.i32.fill(
        0,
        (layout.bodyRows + b * L.BODY_BYTES + L.BODY_GAIN) / 4,
        (layout.bodyRows + b * L.BODY_BYTES + L.BODY_MEETS) / 4,
      );
    views.i32[(L.HEADER + L.H_WARM_START) / 4] = 0;
    this.forgetPushes();
    // after a reset no body is in the way of a collider
    const marks = marksIn(views.i32);
    for (const { first, count } of layout.cores) for (let p = first; p < first + count; p++) marks[p]! &= ~L.MARK_LAGS;
    const motions = views.i32[(L.HEADER + L.H_MOTIONS) / 4]!;
    for (let n = 0; n < views.i32[(L.HEADER + L.H_MOTION_COUNT) / 4]!; n++) {
      const at = (motions + n * L.MOTION_BYTES + L.MOTION_YIELD) / 4;
      views.i32.fill(0, at, at + 6);
    }
    views.i32[(L.HEADER + L.H_RESOLUTION) / 4] = 0;
    this.intersections.request();
  }

  /** Invalidates the pair list: positions have changed other than by a step. */
  private relist(): void {
    forgetPairList(this.memory);
  }

  /** Forgets the impulses on rigid bodies of the last substep (kernel/assembly/contact/solve/rigidWarmStart.ts). */
  private forgetPushes(): void {
    const { i32 } = this.views;
    const kept = i32[(L.HEADER + L.H_RIGID_KEPT) / 4]!;
    i32.fill(0, kept / 4, (kept + i32[(L.HEADER + L.H_RIGID_KEPT_CAPACITY) / 4]! * L.RIGID_KEPT_BYTES) / 4);
  }

  /** Copies saved positions (with inverse masses) and velocities to the particles first .. first + count. */
  private copyState(saved: number, first: number, count: number): void {
    const { f32 } = this.views;
    const { x, v } = this.layout;
    const velocities = saved + this.savedBytes;
    f32.copyWithin(x / 4 + 4 * first, saved / 4 + 4 * first, saved / 4 + 4 * (first + count));
    f32.copyWithin(v / 4 + 4 * first, velocities / 4 + 4 * first, velocities / 4 + 4 * (first + count));
    clearLowWords(f32.buffer, first, count);
  }

  /** Copies rows of constraint blocks to their saved copy, or back. */
  private copyRows(s: StateRun, saved: number, back: boolean): void {
    this.kernel.copyState(s.address, s.stride, s.offset, s.rows, s.firstLane, s.lastLane, saved, back ? 1 : 0);
  }

  /** Bytes of a saved position array: the header's particle count, including padding. */
  private get savedBytes(): number {
    return 16 * this.views.i32[(L.HEADER + L.H_PARTICLES) / 4]!;
  }

  private guard(tick: number, events: SimEvent[]): void {
    const { layout, views } = this;
    layout.bodies.forEach((body, b) => {
      if (views.i32[this.heldAt(b)] || this.islands.sleeps(b)) return;
      const { first, count } = body;
      const places = layout.good + L.PARTICLE_BYTES * first;
      const velocities = places + this.savedBytes;
      if (this.kernel.keepIfSound(first, count, layout.worldRadius, ...layout.origin, places, velocities)) {
        for (const s of layout.states) if (s.body === b) this.copyRows(s, s.good, false);
        return;
      }
      this.copyState(layout.good, body.first, body.count);
      this.relist();
      this.forgetPushes();
      for (const s of layout.states) if (s.body === b) this.copyRows(s, s.good, true);
      this.islands.wakeAll();
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

  /** Holds a body in place until a reset: inverse mass 0. */
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
}
