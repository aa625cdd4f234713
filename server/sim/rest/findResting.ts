/**
 * Finds bodies at rest; the last stage of a tick. It counts how long each body has stayed in place, calms those that
 * do, lets stress settle, and marks sleeping bodies.
 *
 *   stays within STILL (STILL_LYING) of one place for SECONDS_TO_CALM   calmed: damped, and its missing stress is
 *                                                                       remembered
 *   the same for SECONDS_TO_SLEEP, its stress settled                   asleep: with its island (sleepingIslands.ts);
 *                                                                       all asleep: velocities are zero, ticks only
 *                                                                       count
 *
 * The criterion is where a body is, not how fast. A solver that is not converged never stops trembling, at centimeters
 * a second but within a fraction of a millimeter. A slow drift, a pendulum or a wave may be slower, but it goes
 * somewhere. A calmed body rises while its stress settles, so it counts as calm while it is slow. Calming never changes
 * the momentum of a body without outer forces.
 * Tried: calming all bodies slower than a twentieth of their size a second. A cube that drifted at 2 cm/s without
 * gravity stopped after 1.2 cm.
 */
import * as L from "../../kernel/assembly/layout/layout.ts";
import type { Kernel } from "../world/kernelModule.ts";
import type { Views } from "../world/views.ts";
import { statusAt } from "../spawn/spawnableBodies.ts";
import type { BodyLayout, SimLayout } from "../world/worldLayout.ts";
import { calmDeformation } from "./calm.ts";
import { norm } from "../reference/vector.ts";
import type { RoomTuning } from "../tuning/applyTuning.ts";

/**
 * Times that suit a human observer, s. If a body is so large, or gravity so weak, that a fall through its own size
 * takes longer than 1 s, times scale with that (RoomTuning.pace). So a body that begins to fall does not count as
 * still.
 */
const SECONDS_TO_CALM = 1;
const SECONDS_TO_SLEEP = 1.25;
/**
 * Root mean square distance of the surface, in sizes of the body (diagonal of its rest box). So the same scene in
 * millimetres rests alike, and one trembling corner does not keep a room awake. STILL times 1/s is the slowest drift
 * that counts as motion.
 */
const STILL = 0.0002;
/**
 * STILL for bodies that lie on something: unconverged contact lets layers tremble and creep. Five sheets on a floor
 * creep by 0.0008 to 0.0004 sizes in a second, a strip that has fallen into a coil by 0.0004. With STILL the sheets
 * were awake after 14 s and the coil after 40 s; with STILL_LYING they sleep after 6 s and 7 s.
 */
const STILL_LYING = 0.0005;
/**
 * A pile of balls rolls on for ever at 2 to 10 mm/s: contact is not converged, and the model has no rolling resistance.
 * Real resistance is at least ROLLING of the weight (steel on steel). It stops a ball that begins with ROLLING g T and
 * rolls by ROLLING g T^2/2, T the time to sleep. So a ball of a pile (at least PILE balls in its island) is still while
 * its center stays that near, at most NEAR of its size. The bag around them follows: STILL_AROUND.
 */
const ROLLING = 0.001;
const PILE = 4;
const NEAR = 0.1;
const STILL_AROUND = 0.004;
/** Damping of calm bodies, 1/s. */
const CALMING = 10;
/** A calm body stays calm up to this many times the distance. */
const CREEPING = 4;
/**
 * A calm body may rise while its stress settles: at most the share FEW of its surface moves faster than RISING sizes a
 * second.
 */
const RISING = 0.2;
const FEW = 0.25;
/**
 * Remembered stress (kernel/assembly/warmStart/warmStart.ts). In a second the memory of a calm body takes over GAIN d
 * of the stress, where d is its damping in 1/s; stable below 1. If half of a body moves faster than FAST sizes a
 * second, it forgets FORGETTING of the memory in a second.
 */
const GAIN = 0.5;
/** Bodies with at least this damping in the scene remember stress while they move, too, 1/s. */
const MUCH_DAMPING = 2;
const FAST = 0.5;
const FORGETTING = 2;
/** If iterations alone build up this share of the stress, the body needs no remembered stress. */
const CONVERGED = 0.995;
/** The share is measured only while iterations add at least this part of the stress. */
const MEASURED = 0.5;
/**
 * Strains that rounding of float32 positions causes: a few units in the last place of the body's size, over the length
 * of an edge.
 */
const ROUNDING = 2 ** -21;
/**
 * A body settles until its stress is this close to its limit (relative). It settles for at most SECONDS_TO_SETTLE s,
 * and for at most twice the time that its share predicts. Where contact trembles, the estimate of the missing stress
 * stays above SETTLED (0.02 in a pile of jellies).
 */
const SETTLED = 0.005;
const SECONDS_TO_SETTLE = 60;

export class Rest {
  private readonly memory: WebAssembly.Memory;
  private readonly views: Views;
  private readonly layout: SimLayout;
  private readonly kernel: Kernel;
  private readonly tuning: RoomTuning;
  private readonly isAbsent: (body: number) => boolean;
  private readonly asleep: (body: number) => boolean;

  constructor(
    memory: WebAssembly.Memory,
    views: Views,
    layout: SimLayout,
    kernel: Kernel,
    tuning: RoomTuning,
    isAbsent: (body: number) => boolean,
    asleep: (body: number) => boolean,
  ) {
    this.memory = memory;
    this.views = views;
    this.layout = layout;
    this.kernel = kernel;
    this.tuning = tuning;
    this.isAbsent = isAbsent;
    this.asleep = asleep;
  }

  sleeps(b: number): boolean {
    return this.views.i32[this.stillAt(b)]! >= this.ticks(SECONDS_TO_SLEEP, b);
  }

  calmed(b: number): boolean {
    return this.views.i32[this.calmAt(b)]! > 0;
  }

  /** Marks the room as not sleeping. */
  rouse(): void {
    this.views.i32[this.stillAt(this.layout.bodyCount)] = 0;
  }

  /** Restarts a body's counts: it has to come to rest again. */
  forgetBody(b: number): void {
    const { i32 } = this.views;
    i32[this.stillAt(b)] = i32[this.nearAt(b)] = i32[this.calmAt(b)] = 0;
  }

  wake(): void {
    const { bodyCount } = this.layout;
    this.views.i32.fill(0, this.stillAt(0), this.stillAt(bodyCount) + 1);
    this.views.i32.fill(0, this.nearAt(0), this.calmAt(bodyCount));
  }

  /**
   * Updates counts after a tick.
   * @param mayRest whether bodies may be calmed or fall asleep
   * @param riding whether a collider moves beside a body
   */
  count(mayRest: boolean, riding: boolean): void {
    const {
      layout,
      views: { i32 },
    } = this;
    let all = true;
    let settling = false;
    const piles = this.pilesOfBalls();
    layout.bodies.forEach((body, b) => {
      if (this.isAbsent(b)) return;
      if (this.asleep(b)) {
        settling ||= this.remembers(b);
        return;
      }
      const slow = this.isCalm(body, b, piles.has(this.islandOf(b)));
      // bodies with an implicit step need no calming
      if (mayRest && slow && !riding && !body.implicit) this.calm(body, b);
      if (this.remember(b, slow, mayRest)) settling = true;
      this.countStill(b);
      all &&= this.sleeps(b);
    });
    // a gust may come
    if (this.tuning.stirred) all = false;
    if (all && mayRest && !i32[this.stillAt(layout.bodyCount)]) this.halt();
    i32[this.stillAt(layout.bodyCount)] = all ? 1 : 0;
    const at = (L.HEADER + L.H_WARM_START) / 4;
    if (i32[at] && !settling) this.forget();
    i32[at] = settling ? 1 : 0;
  }

  /**
   * Settlement of a body's stress. `share`: the part that iterations alone build up (1 until measured); `error`:
   * estimate of the missing part, relative.
   */
  settlement(body: number): { share: number; error: number } {
    const row = this.rowOf(body);
    const measured = row.getFloat32(L.BODY_SHARE, true);
    const share = measured || 1;
    const strain = row.getFloat64(L.BODY_STRAIN, true);
    if (measured >= CONVERGED || strain <= this.roundingOf(body, row)) return { share, error: 1 - share };
    return { share, error: Math.sqrt(row.getFloat64(L.BODY_CHANGE, true) / strain) / share };
  }

  /** Clears all remembered stress. */
  forget(): void {
    const {
      layout,
      views: { i32 },
    } = this;
    for (const { address, bytes } of layout.memories)
      for (let at = address; at < address + bytes; at += L.WARM_START_BYTES)
        i32.fill(0, at / 4, (at + L.WARM_START_BODY) / 4);
  }

  private stillAt(body: number): number {
    return this.layout.still / 4 + body;
  }

  /** Index of the count of ticks that a body has stayed near its anchor. */
  private nearAt(body: number): number {
    return statusAt(this.layout, this.layout.bodyCount) + body;
  }

  /** Index of the count of ticks that it has been calm. */
  private calmAt(body: number): number {
    return this.nearAt(this.layout.bodyCount) + body;
  }

  private rowOf(body: number): DataView {
    return new DataView(this.memory.buffer, this.layout.bodyRows + body * L.BODY_BYTES, L.BODY_BYTES);
  }

  private ticks(seconds: number, body: number): number {
    return seconds * this.tuning.pace(body) * this.layout.tickHz;
  }

  /** Updates the counts. Returns true if the body has stayed in place, or was calm and still settles. */
  private isCalm(body: BodyLayout, b: number, inPile: boolean): boolean {
    const { i32 } = this.views;
    const near = this.nearAt(b);
    const before = i32[near]!;
    const lies = !body.hangs && !this.isFree(b);
    const still = this.nearAnchor(body, lies ? STILL_LYING : STILL);
    if (still || (lies && inPile && this.nearInPile(body, b))) i32[near] = before + 1;
    else {
      // A body that needed this long to leave its place creeps, and is still at rest: in a pile of 40 sheets some body
      // leaves its place in every second.
      if (before < this.ticks(SECONDS_TO_SLEEP, b)) i32[this.stillAt(b)] = 0;
      i32[near] = 0;
      this.setAnchor(body);
    }
    const longest = Math.max(before, i32[near]!);
    const stays =
      i32[this.calmAt(b)]! > 0 &&
      (i32[near]! > 0 ||
        before * CREEPING >= this.ticks(SECONDS_TO_CALM, b) ||
        (!this.hasSettled(b) && !this.moves(b, RISING, FEW)));
    const calm = stays || longest >= this.ticks(SECONDS_TO_CALM, b);
    i32[this.calmAt(b)] = calm ? i32[this.calmAt(b)]! + 1 : 0;
    return calm;
  }

  /**
   * Counts ticks at rest. The estimate of missing stress is noisy when little is missing, so a nearly settled body
   * neither counts nor starts again.
   */
  private countStill(b: number): void {
    const { i32 } = this.views;
    const still = this.stillAt(b);
    if (i32[this.nearAt(b)] === 0) return;
    if (this.hasSettled(b)) i32[still]!++;
    else if (this.settlement(b).error > 2 * SETTLED) i32[still] = 0;
  }

  private hasSettled(b: number): boolean {
    const { error, share } = this.settlement(b);
    return error < SETTLED || this.views.i32[this.calmAt(b)]! >= this.ticks(this.secondsToSettle(b, share), b);
  }

  /** Missing stress decays by GAIN CALMING share a second; SECONDS_TO_SETTLE if the share is not known. */
  private secondsToSettle(b: number, share: number): number {
    if (this.rowOf(b).getFloat32(L.BODY_SHARE, true) === 0) return SECONDS_TO_SETTLE;
    return Math.min(SECONDS_TO_SETTLE, (2 * Math.log(1 / SETTLED)) / (GAIN * CALMING * share));
  }

  /**
   * Sets how much a body's memory takes over and keeps in the next tick. @returns true if the body uses remembered
   * stress
   */
  private remember(b: number, slow: boolean, mayRest: boolean): boolean {
    const {
      layout: { tickHz, bodyRows },
      views: { f32 },
    } = this;
    const at = bodyRows + b * L.BODY_BYTES;
    const row = this.rowOf(b);
    const pace = this.tuning.pace(b);
    const scene = this.tuning.damping(b);
    const damping = scene + (mayRest && slow ? CALMING / pace : 0);
    const useful = slow || scene * pace >= MUCH_DAMPING;
    f32[(at + L.BODY_GAIN) / 4] = useful ? Math.min(1, (GAIN * damping) / tickHz) : 0;
    f32[(at + L.BODY_KEEP) / 4] = !slow && this.moves(b, FAST, 0.5) ? 1 / (1 + FORGETTING / (pace * tickHz)) : 1;
    const share = row.getFloat32(L.BODY_SHARE, true);
    // Measured only while iterations still change the strain: with all stress remembered, they change it by rounding.
    const change = row.getFloat64(L.BODY_CHANGE, true);
    if (slow && change > Math.max(MEASURED ** 2 * row.getFloat64(L.BODY_STRAIN, true), this.roundingOf(b, row))) {
      const measured = 1 / (1 + Math.sqrt(row.getFloat64(L.BODY_MISMATCH, true) / change));
      if (share === 0 || measured < share) row.setFloat32(L.BODY_SHARE, measured, true);
    }
    return useful ? share < CONVERGED : share > 0 && share < CONVERGED;
  }

  /** Whether the body uses remembered stress. */
  private remembers(b: number): boolean {
    const share = this.rowOf(b).getFloat32(L.BODY_SHARE, true);
    return share > 0 && share < CONVERGED;
  }

  /** Threshold of the sum over the body's elements: smaller strains are rounding of positions. */
  private roundingOf(body: number, row: DataView): number {
    const { size, meanEdge } = this.layout.bodies[body]!;
    return ((ROUNDING * size) / meanEdge) ** 2 * row.getFloat64(L.BODY_WEIGHT, true);
  }

  /** Sets all velocities to zero, so that none is left when the room wakes. */
  private halt(): void {
    const {
      layout,
      views: { f32 },
    } = this;
    for (let i = 0, v = layout.v / 4; i < layout.particleCount; i++, v += 4) f32.fill(0, v, v + 3);
  }

  /** Whether more than a share of a body's streamed particles moves faster than `limit` sizes in its pace. */
  private moves(b: number, limit: number, share: number): boolean {
    const { first, size, streamedCount } = this.layout.bodies[b]!;
    const most = ((limit * size) / this.tuning.pace(b)) ** 2;
    return this.kernel.moreMove(first, streamedCount, most, share * streamedCount) === 1;
  }

  private calm(body: BodyLayout, b: number): void {
    const { f32 } = this.views;
    const { x, v, tickHz } = this.layout;
    const keep = 1 / (1 + CALMING / (this.tuning.pace(b) * tickHz));
    if (this.isFree(b)) return calmDeformation(f32, x / 4 + 4 * body.first, v / 4 + 4 * body.first, body.count, keep);
    for (let i = 0, at = v / 4 + 4 * body.first; i < body.count; i++, at += 4)
      for (let r = 0; r < 3; r++) f32[at + r]! *= keep;
  }

  /** Whether nothing outside exchanges momentum with the body's island, now or in the last tick. */
  private isFree(b: number): boolean {
    const held = this.rowOf(this.islandOf(b)).getInt32(L.BODY_HELD, true);
    return (held & ~L.HELD_RIGID) === 0;
  }

  private islandOf(b: number): number {
    return this.rowOf(b).getInt32(L.BODY_ISLAND, true);
  }

  /** Islands with at least PILE balls. */
  private pilesOfBalls(): Set<number> {
    const balls = new Map<number, number>();
    this.layout.bodies.forEach(({ kind }, b) => {
      if (kind === "ball") balls.set(this.islandOf(b), 1 + (balls.get(this.islandOf(b)) ?? 0));
    });
    return new Set([...balls].flatMap(([island, count]) => (count >= PILE ? [island] : [])));
  }

  /** Whether a ball of a pile, or a sheet around it, has stayed near its anchor. */
  private nearInPile(body: BodyLayout, b: number): boolean {
    if (body.kind !== "ball") return body.kind === "cloth" && this.nearAnchor(body, STILL_AROUND);
    const { f32 } = this.views;
    const { first, streamedCount, size } = body;
    const [x, anchor] = [this.layout.x / 4 + 4 * first, this.anchorOf(body) / 4];
    const way: [number, number, number] = [0, 0, 0];
    for (let i = 0; i < streamedCount; i++)
      for (let r = 0; r < 3; r++) way[r]! += f32[x + 4 * i + r]! - f32[anchor + 3 * i + r]!;
    const rolled = (ROLLING * norm(this.tuning.gravity) * (SECONDS_TO_SLEEP * this.tuning.pace(b)) ** 2) / 2;
    return norm(way) <= Math.min(NEAR * size, rolled) * streamedCount;
  }

  private nearAnchor(body: BodyLayout, still: number): boolean {
    const most = (still * body.size) ** 2 * body.streamedCount;
    return this.kernel.distancesFromAnchor(body.first, body.streamedCount, this.anchorOf(body), most) <= most;
  }

  private setAnchor(body: BodyLayout): void {
    this.kernel.setAnchor(body.first, body.streamedCount, this.anchorOf(body));
  }

  private anchorOf(body: BodyLayout): number {
    return this.layout.anchor + 12 * body.streamedFirst;
  }
}
