/**
 * Runs methods (method.ts) in a room, the same way for every method. After the kernel's substeps, on the thread that
 * orchestrates the tick:
 *
 *   take over   external changes of the particles (an impulse, a reset, a collider) -> the float64 state
 *   hold        grabs and attachments, with their current targets
 *   step        of the method
 *   collide     particles, rounded to float32, against colliders that have a signed distance: swept, friction,
 *               restitution, as for any other particle (kernel/assembly/colliders/collide.ts)
 *
 * Methods that meet bodies step between the kernel's substeps instead, with the surfaces of its constraints' bodies
 * (coupledSurface.ts) and with each other. No other code uses their particles at that time. Those that meet moving
 * shapes collide once a substep, with their whole motion in it: the kernel knows the shapes' poses at its ends.
 *
 * Bodies that join the substeps (joins.ts) meet everything through the kernel's contact. Free motion and correction, as
 * in SOFA (FreeMotionAnimationLoop):
 *   move        before a substep: the method steps from x0, v0 to x1, v1; the particles get the velocity (x1 - x0)/h
 *   substep     contact, attachments to bodies and colliders correct the motion to x, v; a particle answers with its
 *               own mass, and constraints of the method in its next step
 *   take back   x1 := x,  v1 += v - (x1 - x0)/h
 *
 * Only the room's memory outlives a tick.
 */
import type { Views } from "../world/views.ts";
import * as L from "../../kernel/assembly/layout/layout.ts";
import type { Kernel } from "../world/kernelModule.ts";
import type { SimLayout } from "../world/worldLayout.ts";
import type { RoomTuning } from "../tuning/applyTuning.ts";
import { RigidGrabs, type HeldPoint } from "../reference/implicit/heldPoints.ts";
import { METHOD_KINDS } from "./kinds.ts";
import { wallsFor } from "../spawn/obstacles.ts";
import type { Method, MethodBody, MethodState, OtherBody, Wall } from "./method.ts";
import { constantsIn, type MethodLayout, stepsWith } from "./planMethods.ts";
import type { MethodSeconds } from "../types.ts";
import { isFelt } from "../tuning/windRow.ts";
import { statusAt, ABSENT } from "../spawn/spawnableBodies.ts";
import { CoupledSurface } from "./fluids/coupledSurface.ts";

/** Stiffness of holding points without compliance, relative to the inertia of the held particles. */
export const HOLDING = 1e4;

interface OpenBody {
  layout: MethodLayout;
  /** Steps per tick, and number of kept modes if it has any: the values it was opened with. */
  steps: number;
  modes: number | undefined;
  known: MethodBody;
  method: Method;
  state: MethodState;
  points: RigidGrabs;
  /** float64[3N] N */
  force: Float64Array;
  /** Time per step in its last tick, by this thread's clock, s; 0: none since the last query. */
  stepSeconds: number;
  walls: readonly Wall[];
  /** Surfaces that it meets; `surfaces`: those in the scene in this tick. */
  coupled: readonly CoupledSurface[];
  surfaces: readonly CoupledSurface[];
  /** Other bodies of methods that it meets, unless they are held in this tick. */
  others: readonly OtherBody[];
  /** Steps done in this tick. */
  done: number;
  /** float32[3N] velocity of its free motion in a substep, m/s; empty unless it joins the substeps. */
  free: Float32Array;
}

export class MethodBodies {
  private readonly views: Views;
  private readonly layout: SimLayout;
  private readonly kernel: Kernel;
  private readonly bodies: OpenBody[];
  private readonly tuning: RoomTuning;
  /** Whether a body is held in place until a reset. */
  private readonly held: (body: number) => boolean;
  private substep = 0;

  constructor(views: Views, layout: SimLayout, kernel: Kernel, tuning: RoomTuning, held: (body: number) => boolean) {
    this.views = views;
    this.layout = layout;
    this.kernel = kernel;
    this.tuning = tuning;
    this.held = held;
    this.bodies = layout.methods.map((own) => ({
      ...open(views.f32.buffer, layout, own, tuning),
      walls: wallsFor({ views, layout, kernel }, own.body),
      coupled: own.meets.map((surface) => new CoupledSurface(views, layout, surface)),
      surfaces: [],
      others: [],
      done: 0,
      free: new Float32Array(own.joins ? 3 * layout.bodies[own.body]!.count : 0),
    }));
  }

  get any(): boolean {
    return this.bodies.length > 0;
  }

  /** Whether any method steps between the kernel's substeps. */
  get meets(): boolean {
    return this.bodies.some((body) => isInSubsteps(body));
  }

  /**
   * Called before the kernel's substeps.
   * @param substep number of the next substep: not 0 if an unfinished tick continues
   */
  begin(substep: number): void {
    this.substep = substep;
    for (let n = 0; n < this.bodies.length; n++) this.current(n);
    for (const body of this.bodies) if (isInSubsteps(body)) this.open(body);
    this.blow();
  }

  /**
   * Called before each of the kernel's substeps: the free motion of bodies that join it.
   * @returns time taken, s
   */
  move(): number {
    if (this.joined().length === 0) return 0;
    const started = performance.now();
    for (const body of this.joined()) {
      const begun = performance.now();
      this.takeOver(body);
      const { x } = body.state;
      const from = x.slice();
      const steps = body.steps / this.layout.substeps;
      for (let s = 0; s < steps; s++) body.method.step(body.state, body);
      const rate = this.layout.tickHz * this.layout.substeps;
      for (let k = 0; k < x.length; k++) body.free[k] = rate * (x[k]! - from[k]!);
      this.write(body, from, body.free);
      body.stepSeconds += (performance.now() - begun) / 1000 / body.steps;
    }
    return (performance.now() - started) / 1000;
  }

  /** Takes the corrected motion of a substep back into the states of bodies that joined it. */
  private takeBack(): void {
    const { f32 } = this.views;
    for (const body of this.joined()) {
      const { x, v } = body.state;
      const { places, speeds, lows } = this.addressesOf(body);
      for (let k = 0, at = 0; k < x.length; k += 3, at += 4)
        for (let r = 0; r < 3; r++) {
          x[k + r] = f32[places + at + r]! + f32[lows + at + r]!;
          v[k + r]! += f32[speeds + at + r]! - body.free[k + r]!;
        }
      this.write(body, x, v);
    }
  }

  /** Bodies that take part in the substeps. */
  private joined(): OpenBody[] {
    return this.bodies.filter((body) => body.layout.joins && !this.held(body.layout.body));
  }

  /**
   * Called after each of the kernel's substeps: takes the due steps of methods that meet its bodies.
   * @returns time taken, s
   */
  between(): number {
    if (!this.meets) return 0;
    const started = performance.now();
    this.substep++;
    this.takeBack();
    for (const body of this.bodies) {
      if (!isInSubsteps(body) || body.layout.joins || this.held(body.layout.body)) continue;
      const due = this.due(body) - body.done;
      if (due === 0) continue;
      const begun = performance.now();
      for (const surface of body.surfaces) surface.read();
      for (let s = 0; s < due; s++) {
        body.method.step(body.state, body);
        if (!body.layout.paced) this.finish(body, 1);
        if (s + 1 < due) for (const surface of body.surfaces) surface.advance(body.known.h);
      }
      if (body.layout.paced) this.finish(body, due);
      for (const surface of body.surfaces) surface.write();
      for (const { state } of body.others) this.publishSpeeds(this.bodies.find((other) => other.state === state)!);
      body.done += due;
      body.stepSeconds += (performance.now() - begun) / 1000 / body.steps;
    }
    return (performance.now() - started) / 1000;
  }

  /** Steps one tick of all bodies that meet no others and are not held. */
  step(): void {
    this.substep = 0;
    for (let n = 0; n < this.bodies.length; n++) {
      const body = this.current(n);
      if (isInSubsteps(body) || this.held(body.layout.body)) continue;
      const started = performance.now();
      this.open(body);
      for (let s = 0; s < body.steps; s++) {
        body.method.step(body.state, body);
        this.finish(body, 1);
      }
      body.stepSeconds = (performance.now() - started) / 1000 / body.steps;
    }
  }

  /** Begins a tick of a body. */
  private open(body: OpenBody): void {
    this.takeOver(body);
    this.sumForces(body);
    body.points.hold(this.pointsOf(body));
    const isAbsent = (b: number): boolean =>
      b < this.layout.bodyCount && this.views.i32[statusAt(this.layout, b)] === ABSENT;
    body.surfaces = body.coupled.filter(({ number }) => !isAbsent(number));
    body.others = this.bodies.filter(
      ({ layout }) => body.layout.others.includes(layout.body) && !this.held(layout.body),
    );
    body.done = this.due(body);
    body.stepSeconds = 0;
    body.method.begin?.();
  }

  /** Number of steps due after the kernel's substeps so far. */
  private due({ steps }: OpenBody): number {
    return Math.floor((this.substep * steps) / this.layout.substeps);
  }

  /** Collides the motion of the last `steps` steps. */
  private finish(body: OpenBody, steps: number): void {
    this.publish(body);
    this.collide(body, steps * body.known.h);
    this.takeOver(body);
  }

  /** Writes the fluids' velocity at the triangles exposed to wind, before the kernel's step reads it. */
  private blow(): void {
    const { i32, f32 } = this.views;
    const { address, count } = this.layout.blown;
    const fluids = this.bodies.flatMap((_, n) => (this.bodies[n]!.method.velocityAt ? [this.current(n)] : []));
    if (fluids.length === 0 || !isFelt(this.tuning.wind)) return;
    const [center, u] = [new Float64Array(3), new Float64Array(3)];
    for (let t = 0, row = address / 4; t < count; t++, row += L.WIND_TRIANGLE_BYTES / 4) {
      const [a, b, c] = [i32[row]! / 4, i32[row + 1]! / 4, i32[row + 2]! / 4];
      for (let r = 0; r < 3; r++) center[r] = (f32[a + r]! + f32[b + r]! + f32[c + r]!) / 3;
      const flow = row + L.WIND_TRIANGLE_FLOW / 4;
      f32.fill(0, flow, flow + 3);
      for (const { method, state, walls } of fluids)
        if (method.velocityAt!(state, walls, center, u)) for (let r = 0; r < 3; r++) f32[flow + r]! += u[r]!;
    }
  }

  /** Step time of each body since the last query, s: for display, not part of the state. */
  takeSeconds(): MethodSeconds[] {
    return this.bodies.flatMap((body) => {
      const { stepSeconds } = body;
      body.stepSeconds = 0;
      return stepSeconds > 0 ? [{ body: body.layout.body, stepSeconds }] : [];
    });
  }

  /** Elastic energy, J; undefined: the body has no method. */
  energy(b: number): number | undefined {
    const n = this.bodies.findIndex(({ layout }) => layout.body === b);
    if (n < 0) return undefined;
    const { method, state } = this.current(n);
    return method.energy(state);
  }

  /** The body. If its owner has changed the values that it was opened with, opens it again; the state stays. */
  private current(n: number): OpenBody {
    const { layout: own, walls, coupled, steps, modes } = this.bodies[n]!;
    const now = countsOf(own, this.tuning);
    if (now.steps !== steps || now.modes !== modes)
      this.bodies[n] = {
        ...open(this.views.f32.buffer, this.layout, own, this.tuning),
        walls,
        coupled,
        surfaces: [],
        others: [],
        done: 0,
        free: this.bodies[n]!.free,
      };
    return this.bodies[n]!;
  }

  private first({ layout }: OpenBody): number {
    return this.layout.bodies[layout.body]!.first;
  }

  /** Takes over external changes: a particle was moved if it differs from the rounded state. */
  private takeOver(body: OpenBody): void {
    const { f32 } = this.views;
    const { x, v } = body.state;
    const { places, speeds } = this.addressesOf(body);
    for (let k = 0, at = 0; k < x.length; k += 3, at += 4) {
      for (let r = 0; r < 3; r++) {
        const place = f32[places + at + r]!;
        const speed = f32[speeds + at + r]!;
        if (place !== Math.fround(x[k + r]!)) x[k + r] = place;
        if (speed !== Math.fround(v[k + r]!)) v[k + r] = speed;
      }
    }
  }

  /** Places of a body's first particle, in words: positions, velocities and low words. */
  private addressesOf(body: OpenBody): { places: number; speeds: number; lows: number } {
    const first = 4 * this.first(body);
    const lows = this.views.i32[(L.HEADER + L.H_LOW) / 4]! / 4;
    return { places: this.layout.x / 4 + first, speeds: this.layout.v / 4 + first, lows: lows + first };
  }

  /** Sets the particles, with low words. */
  private write(body: OpenBody, x: Float64Array, v: ArrayLike<number>): void {
    const { f32 } = this.views;
    const { places, speeds, lows } = this.addressesOf(body);
    for (let k = 0, at = 0; k < x.length; k += 3, at += 4)
      for (let r = 0; r < 3; r++) {
        f32[places + at + r] = x[k + r]!;
        f32[lows + at + r] = x[k + r]! - f32[places + at + r]!;
        f32[speeds + at + r] = v[k + r]!;
      }
  }

  private publish(body: OpenBody): void {
    const { f32, i32 } = this.views;
    const { x, v } = body.state;
    const { places, speeds } = this.addressesOf(body);
    const previous = i32[(L.HEADER + L.H_XPREV) / 4]! / 4 + 4 * this.first(body);
    for (let k = 0, at = 0; k < x.length; k += 3, at += 4) {
      for (let r = 0; r < 3; r++) {
        f32[previous + at + r] = f32[places + at + r]!;
        f32[places + at + r] = x[k + r]!;
        f32[speeds + at + r] = v[k + r]!;
      }
    }
  }

  private publishSpeeds(body: OpenBody): void {
    const { speeds } = this.addressesOf(body);
    const { v } = body.state;
    for (let k = 0, at = speeds; k < v.length; k += 3, at += 4)
      for (let r = 0; r < 3; r++) this.views.f32[at + r] = v[k + r]!;
  }

  /** @param h duration of the motion, s */
  private collide(body: OpenBody, h: number): void {
    const first = this.first(body);
    const row = this.layout.bodyRows + body.layout.body * L.BODY_BYTES;
    const table = this.views.i32[(row + L.BODY_MEETS) / 4]!;
    this.kernel.collide(first, first + body.known.count, h, table);
  }

  /** Forces m a, with the room's acceleration by gravity and loads. */
  private sumForces(body: OpenBody): void {
    const { f32, i32 } = this.views;
    const acc = i32[(L.HEADER + L.H_ACC) / 4]! / 4 + 4 * this.first(body);
    body.known.mass.forEach((m, i) => {
      for (let r = 0; r < 3; r++) body.force[3 * i + r] = m * f32[acc + 4 * i + r]!;
    });
  }

  private pointsOf(body: OpenBody): HeldPoint[] {
    const { f32, i32 } = this.views;
    const { points, attachmentCount, grabCount, x } = this.layout;
    const from = x + 16 * this.first(body);
    const end = from + 16 * body.known.count;
    const held: HeldPoint[] = [];
    for (let slot = 0; slot < attachmentCount + grabCount; slot++) {
      const at = (points + slot * L.POINT_BYTES) / 4;
      const address = i32[at + L.POINT_ADDRESS / 4]!;
      if (i32[at + L.POINT_ACTIVE / 4] !== L.POINT_IMPLICIT || address < from || address >= end) continue;
      const count = i32[at + L.POINT_COUNT / 4]!;
      const rows = Array.from({ length: count }, (_, i) => i);
      held.push({
        particles: rows.map((i) => (i32[at + L.POINT_ADDRESS / 4 + i]! - from) / 16),
        weights: rows.map((i) => f32[at + L.POINT_WEIGHT / 4 + i]!),
        target: this.targetOf(at),
        compliance: f32[at + L.POINT_ALPHA / 4]!,
        maxForce: f32[at + L.POINT_MAX_FORCE / 4]! * f32[at + L.POINT_SHARE / 4]!,
      });
    }
    return held;
  }

  /**
   * Position of a target on a moving collider at the end of the tick: s + R (target - center).
   * @param at word of the slot
   */
  private targetOf(at: number): [number, number, number] {
    const { f32, i32 } = this.views;
    const target = [0, 1, 2].map((r) => f32[at + L.POINT_TARGET / 4 + r]!) as [number, number, number];
    const motion = i32[at + L.POINT_MOTION / 4]! / 4;
    if (motion === 0) return target;
    const from = target.map((t, r) => t - f32[motion + L.MOTION_CENTER / 4 + r]!);
    const R = motion + L.MOTION_R1 / 4;
    return [0, 1, 2].map(
      (r) =>
        f32[motion + L.MOTION_S1 / 4 + r]! +
        (f32[R + 3 * r]! * from[0]! + f32[R + 3 * r + 1]! * from[1]! + f32[R + 3 * r + 2]! * from[2]!),
    ) as [number, number, number];
  }
}

/** Whether its method steps between the kernel's substeps, or before each of them. */
const isInSubsteps = ({ coupled, layout }: OpenBody): boolean =>
  coupled.length + layout.others.length + layout.paced > 0;

function countsOf({ body, steps, paced }: MethodLayout, tuning: RoomTuning): Pick<OpenBody, "steps" | "modes"> {
  return { steps: stepsWith(paced, tuning.value(body, "steps") ?? steps), modes: tuning.value(body, "modes") };
}

function open(
  buffer: ArrayBufferLike,
  room: SimLayout,
  layout: MethodLayout,
  tuning: RoomTuning,
): Omit<OpenBody, "walls" | "coupled" | "surfaces" | "others" | "done" | "free"> {
  const { count } = room.bodies[layout.body]!;
  const { steps, modes } = countsOf(layout, tuning);
  const spec = modes === undefined ? layout.spec : { ...layout.spec, modes };
  const known: MethodBody = {
    count,
    mass: new Float64Array(buffer, layout.mass, count),
    h: 1 / (room.tickHz * steps),
    alpha: layout.alpha,
    beta: layout.beta,
  };
  const kind = METHOD_KINDS[spec.type];
  return {
    layout,
    steps,
    modes,
    known,
    method: kind.open(constantsIn(buffer, layout.constants), spec, known),
    state: {
      x: new Float64Array(buffer, layout.state, 3 * count),
      v: new Float64Array(buffer, layout.state + 24 * count, 3 * count),
      more: new Float64Array(buffer, layout.state + 48 * count, layout.more),
    },
    points: new RigidGrabs({ mass: known.mass, coefficient: kind.grab(spec) / (HOLDING * known.h * known.h) }),
    force: new Float64Array(3 * count),
    stepSeconds: 0,
  };
}
