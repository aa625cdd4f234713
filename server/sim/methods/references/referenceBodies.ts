/**
 * Measures the errors of bodies, live, against the reference of a scene (shared/scene/scene.ts, Reference), which gets
 * the same grabs. A reference is the same solid of warped elements on two meshes, the second twice as coarse, by
 * symplectic Euler. Its result is extrapolated to infinitely fine meshes (Richardson):
 *
 *   u = u_1 + (u_1 - u_2)/(2^p - 1),   error = sqrt(mean_i |x_i - X_i - u(X_i)|^2)/(largest side), over drawn particles
 *
 * p is 2 for a smooth solution. Where a clamped face meets a free one, as in every body with a fixed face, it is twice
 * Williams' exponent: 1.42 for nu = 0.3 (M. L. Williams 1952).
 *
 * Reference 0 has no grabs. A body that is grabbed or pushed gets its own reference (one of APART), which begins as a
 * copy of reference 0. The body gives it back once it has been left alone until its motion has faded by e^-5. If no
 * reference is free, the one of the body left alone the longest goes to the next grab. A body without a reference has
 * no known error until then. References feel gravity and loads, but no wind and no collider.
 *
 * Bodies of one mesh with grabs at the same places (grabNeighborhood.ts) follow one reference. Once their grabs differ,
 * the largest group keeps it, and the other groups continue with copies.
 */
import * as L from "../../../kernel/assembly/layout/layout.ts";
import type { Views } from "../../world/views.ts";
import { areAlike, neighborhood } from "../../grabs/grabNeighborhood.ts";
import { slotsByGrab, slotAddress } from "../../grabs/grabSlots.ts";
import type { SimLayout } from "../../world/worldLayout.ts";
import { RigidGrabs, type HeldPoint } from "../../reference/implicit/heldPoints.ts";
import type { RoomTuning } from "../../tuning/applyTuning.ts";
import type { Input, MethodError } from "../../types.ts";
import { isFelt } from "../../tuning/windRow.ts";
import { finiteVolumes } from "../elements/finiteVolumes.ts";
import { GRABS } from "../elements/integrators.ts";
import { HOLDING } from "../methodBodies.ts";
import type { Constants, Method, MethodBody, MethodState } from "../method.ts";
import { constantsIn } from "../planMethods.ts";
import { APART, headOf, type ReferenceLayout } from "./planReference.ts";

/** 1/(2^p - 1) with p = 1.42. */
const BEYOND = 0.597;
/**
 * Time until motion has faded, in inverse rates of damping. Amplitudes fall at half the rate, so they have then faded
 * by e^-5.
 */
const FADED = 10;
/** Speed below which a reference is at rest, m/s. */
const STILL = 1e-5;
/** Speed above which a reference has exploded, m/s. */
const LOST_SPEED = 1e3;
/** Reference of a body whose error is unknown. */
const NONE = -1;

interface Mesh {
  constants: Constants;
  known: MethodBody;
  method: Method;
  /** State of each reference, by its number. */
  states: MethodState[];
  points: RigidGrabs;
  force: Float64Array;
}

export class ReferenceBodies {
  private readonly views: Views;
  private readonly layout: SimLayout;
  private readonly own: ReferenceLayout;
  private readonly tuning: RoomTuning;
  /** Reference of each body and the remaining ticks; then gravity x, y, z, and 1 if reference 0 rests under it. */
  private readonly head: Float64Array;
  private readonly meshes: Mesh[];
  /** Current grabs of each body; and their names: equal names mean equal grabs. */
  private readonly held: HeldPoint[][];
  private readonly grabs: string[];
  /** For each body, the first body with the same mesh. */
  private readonly alike: number[];

  constructor(views: Views, layout: SimLayout, own: ReferenceLayout, tuning: RoomTuning) {
    [this.views, this.layout, this.own, this.tuning] = [views, layout, own, tuning];
    const { buffer } = views.f32;
    this.held = own.bodies.map(() => []);
    this.grabs = own.bodies.map(() => "");
    const bodies = own.bodies.map((body) => layout.bodies[body]!);
    this.alike = bodies.map((body) => bodies.findIndex((other) => areAlike(views, layout, other, body)));
    const head = headOf(own.bodies.length);
    this.head = new Float64Array(buffer, own.state, head);
    this.meshes = own.meshes.map(({ count, constants: layouts }, m) => {
      const constants = constantsIn(buffer, layouts);
      const h = 1 / (layout.tickHz * own.steps);
      const known: MethodBody = { count, mass: constants.mass as Float64Array, h, alpha: own.alpha, beta: 0 };
      const before = own.meshes.slice(0, m).reduce((sum, mesh) => sum + 6 * mesh.count, 0);
      const all = own.meshes.reduce((sum, mesh) => sum + 6 * mesh.count, 0);
      return {
        constants,
        known,
        method: finiteVolumes.open(constants, own.spec, known),
        states: Array.from({ length: 1 + APART }, (_, number) => {
          const at = own.state + 8 * (head + number * all + before);
          const vector = (from: number): Float64Array => new Float64Array(buffer, from, 3 * count);
          return { x: vector(at), v: vector(at + 24 * count), more: new Float64Array(0) };
        }),
        points: new RigidGrabs({ mass: known.mass, coefficient: GRABS.symplectic / (HOLDING * h * h) }),
        force: new Float64Array(3 * count),
      };
    });
  }

  /** Steps one tick, after that of the bodies: grab targets are those of its end. */
  step(): void {
    const { held } = this;
    this.seeGrabs();
    held.forEach((points, n) => (points.length > 0 ? this.touch(n) : this.leave(n)));
    this.part();
    const gravity = this.tuning.gravity;
    for (const { constants, known, force } of this.meshes)
      for (let k = 0; k < force.length; k++)
        force[k] = known.mass[(k / 3) | 0]! * gravity[k % 3]! + constants.force![k]!;
    const rest = this.head.subarray(2 * held.length);
    const sleeps = rest[3] === 1 && gravity.every((g, r) => g === rest[r]);
    if (!sleeps) rest.set([...gravity, this.advance(0, undefined, []) < STILL ? 1 : 0]);
    for (let number = 1; number <= APART; number++) {
      const followers = this.following(number);
      // a slipping target (kernel, points.ts) lags behind the pointer
      const n = followers.find((f) => this.layout.bodies[this.own.bodies[f]!]!.implicit) ?? followers[0];
      if (n !== undefined && !(this.advance(number, n, held[n]!) < LOST_SPEED)) this.giveUp(number);
    }
  }

  /** Applies an impulse that a body has received: the same momentum to its reference. */
  push(input: Extract<Input, { type: "impulse" }>): void {
    const n = this.own.bodies.indexOf(input.body);
    if (n < 0) return;
    this.touch(n);
    const followed = this.head[2 * n]!;
    if (followed === NONE) return;
    const alone = followed > 0 && this.following(followed).length === 1;
    const number = (this.head[2 * n] = alone ? followed : this.fork(followed));
    if (number === NONE) return;
    const body = this.layout.bodies[input.body]!;
    const { addresses, weights } = neighborhood(this.views, this.layout, body, input).point;
    const particles = addresses.map((address) => (address - this.layout.x) / 16 - body.first);
    for (const mesh of this.meshes) {
      const { v } = mesh.states[number]!;
      const there = embedded(mesh, n, particles, weights);
      there.particles.forEach((j, i) => {
        const m = mesh.known.mass[j]!;
        for (let r = 0; r < 3 && m > 0; r++)
          v[3 * j + r]! += (there.weights[i]! * (input.impulse[r]! / this.layout.massUnit)) / m;
      });
    }
  }

  /** Error of each compared body. */
  errors(): MethodError[] {
    const blown = isFelt(this.tuning.wind);
    return this.own.bodies.map((body, n) => {
      const number = this.head[2 * n]!;
      return { body, error: number === NONE || blown ? null : this.errorOf(n, number) };
    });
  }

  private errorOf(n: number, number: number): number {
    const { first, streamedCount } = this.layout.bodies[this.own.bodies[n]!]!;
    const [fine, coarse] = this.meshes as [Mesh, Mesh];
    const offset = this.own.offsets[n]!;
    let sum = 0;
    for (let i = 0; i < streamedCount; i++) {
      for (let r = 0; r < 3; r++) {
        const there = at(fine, n, i, number, r);
        const exact = there + BEYOND * (there - at(coarse, n, i, number, r)) + offset[r]!;
        const d = this.views.f32[this.layout.x / 4 + 4 * (first + i) + r]! - exact;
        sum += d * d;
      }
    }
    return Math.sqrt(sum / streamedCount) / this.own.edge;
  }

  private following(number: number): number[] {
    return this.own.bodies.flatMap((_, n) => (this.head[2 * n] === number ? [n] : []));
  }

  /** Number of ticks that a body keeps its own reference after its last grab or push. */
  private get fading(): number {
    return Math.ceil((FADED * this.layout.tickHz) / this.own.alpha);
  }

  private touch(n: number): void {
    if (this.head[2 * n + 1] !== Infinity) this.head[2 * n + 1] = this.fading;
  }

  private leave(n: number): void {
    const { head } = this;
    if (head[2 * n] !== 0 && --head[2 * n + 1]! <= 0) head[2 * n] = 0;
  }

  /** Bodies with equal grabs share a reference. Grabbed bodies never use reference 0. */
  private part(): void {
    const { head, grabs } = this;
    const parts = new Map<string, number[]>();
    grabs.forEach((grip, n) => {
      const number = head[2 * n]!;
      if (number === NONE || (number === 0 && grip === "")) return;
      const name = `${number} ${grip}`;
      parts.set(name, [...(parts.get(name) ?? []), n]);
    });
    const kept = new Set([0]);
    for (const bodies of [...parts.values()].sort((a, b) => b.length - a.length)) {
      const number = head[2 * bodies[0]!]!;
      if (kept.has(number)) {
        const copy = this.fork(number);
        for (const n of bodies) head[2 * n] = copy;
      }
      kept.add(number);
    }
  }

  /** @returns a copy of this reference, or NONE */
  private fork(number: number): number {
    const copy = this.free(number);
    if (copy === undefined) return NONE;
    for (const { states } of this.meshes) {
      states[copy]!.x.set(states[number]!.x);
      states[copy]!.v.set(states[number]!.v);
    }
    return copy;
  }

  /**
   * Number of a reference without followers; else, apart from the copied one, that of the body left alone the longest.
   */
  private free(copied: number): number | undefined {
    const { head } = this;
    for (let number = 1; number <= APART; number++) if (this.following(number).length === 0) return number;
    let longest: number | undefined;
    this.own.bodies.forEach((_, n) => {
      const left = head[2 * n + 1]!;
      const others = head[2 * n]! > 0 && head[2 * n] !== copied;
      if (others && left < (longest === undefined ? this.fading : head[2 * longest + 1]!)) longest = n;
    });
    if (longest === undefined) return undefined;
    const number = head[2 * longest]!;
    for (const n of this.following(number)) head[2 * n] = NONE;
    return number;
  }

  /** Drops an exploded reference until a reset, and restarts it for other bodies. */
  private giveUp(number: number): void {
    for (const { states } of this.meshes) {
      states[number]!.x.set(states[0]!.x);
      states[number]!.v.fill(0);
    }
    for (const n of this.following(number)) {
      this.head[2 * n] = NONE;
      this.head[2 * n + 1] = Infinity;
    }
  }

  /**
   * Steps one tick of a reference.
   * @returns its largest velocity along an axis, m/s; NaN if not finite
   */
  private advance(number: number, n: number | undefined, held: readonly HeldPoint[]): number {
    let most = 0;
    for (const mesh of this.meshes) {
      const state = mesh.states[number]!;
      mesh.points.hold(held.map((point) => ({ ...point, ...embedded(mesh, n!, point.particles, point.weights) })));
      const outside = { force: mesh.force, points: mesh.points, walls: [] };
      for (let s = 0; s < this.own.steps; s++) mesh.method.step(state, outside);
      for (const v of state.v) most = Math.abs(v) <= most ? most : Math.abs(v);
    }
    return most;
  }

  /** Reads all current grabs of each body, by its own particles, relative to the reference. */
  private seeGrabs(): void {
    const { own, layout, views } = this;
    for (const points of this.held) points.length = 0;
    this.grabs.fill("");
    for (const [grab, slots] of slotsByGrab(views, layout)) {
      for (const slot of slots) {
        const point = slotAddress(layout, slot) / 4;
        const n = own.bodies.indexOf(views.i32[point + L.POINT_BODY / 4]!);
        if (n < 0) continue;
        this.held[n]!.push(this.heldPoint(n, point));
        this.grabs[n] ||= `of ${this.alike[n]}`;
        this.grabs[n] += ` by ${grab}`;
      }
    }
  }

  /** @param point of a grab on body n, as a word index in memory */
  private heldPoint(n: number, point: number): HeldPoint {
    const { f32, i32 } = this.views;
    const { bodies, interaction, massUnit, x } = this.layout;
    const { first } = bodies[this.own.bodies[n]!]!;
    const rows = Array.from({ length: i32[point + L.POINT_COUNT / 4]! }, (_, i) => i);
    return {
      particles: rows.map((i) => (i32[point + L.POINT_ADDRESS / 4 + i]! - x) / 16 - first),
      weights: rows.map((i) => f32[point + L.POINT_WEIGHT / 4 + i]!),
      target: this.own.offsets[n]!.map((o, r) => f32[point + L.POINT_TARGET / 4 + r]! - o) as [number, number, number],
      compliance: interaction.grabCompliance * massUnit,
      maxForce: f32[point + L.POINT_MAX_FORCE / 4]! * f32[point + L.POINT_SHARE / 4]!,
    };
  }
}

/** Coordinate r of particle i of body n in a reference. */
function at({ constants, states }: Mesh, n: number, i: number, number: number, r: number): number {
  const corners = constants[`corners${n}`]!;
  const shares = constants[`shares${n}`]!;
  const { x } = states[number]!;
  let sum = 0;
  for (let c = 4 * i; c < 4 * i + 4; c++) sum += shares[c]! * x[3 * corners[c]! + r]!;
  return sum;
}

/** A weighted point of body n as one of a mesh: particles in ascending order. */
function embedded(
  { constants }: Mesh,
  n: number,
  particles: readonly number[],
  weights: readonly number[],
): Pick<HeldPoint, "particles" | "weights"> {
  const corners = constants[`corners${n}`]!;
  const shares = constants[`shares${n}`]!;
  const sums = new Map<number, number>();
  particles.forEach((i, k) => {
    for (let c = 4 * i; c < 4 * i + 4; c++)
      sums.set(corners[c]!, (sums.get(corners[c]!) ?? 0) + weights[k]! * shares[c]!);
  });
  const there = [...sums].sort(([a], [b]) => a - b);
  return { particles: there.map(([j]) => j), weights: there.map(([, w]) => w) };
}
