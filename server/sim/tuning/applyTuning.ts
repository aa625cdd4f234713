/**
 * Values that a room's owner may change while it runs: gravity, wind, time scale, and each body's damping, friction and
 * material. The memory holds them where the kernel reads them. It also holds them in float64 in a block of their own,
 * from which all code here reads. Both are part of a checkpoint's state, so undo, restart and replay keep them. A reset
 * moves bodies back but does not change these values; `asScene` restores the scene's values.
 *
 *   block   gravity x, y, z, and 1 where anything was changed; wind; time scale; then the fields of each body; last the
 *           phases of the wind's waves
 *   gravity   the acceleration rows, which contain gravity and loads, and the wind's copy of them
 *   wind      the WIND row (windRow.ts)
 *   time      0: paused ticks, in which simulated time does not advance (world.ts); else the room's clock uses it
 *   damping   the fourth lane of the velocity rows, also of the copies for reset and roll-back
 *   friction  fourth lane of the acceleration rows, and two roots in the surface; pairs read it when they are listed
 *   material  rows of constraints, inverse masses (retune.ts)
 *   steps, modes  nothing else: methods are opened again with the values of the block (methods/methodBodies.ts)
 *
 * A room tuned before its first tick behaves like a scene with those values. Values that are not the material's agree
 * to the bit, values of the material to the rounding of float32. An implicit step agrees to its tolerance
 * (retuneImplicit.ts). A prefactored sheet is factored again (retunePrefactored.ts). A body with a `method` has a
 * tunable friction, and tunable steps per tick if its constants do not depend on them.
 */
import * as L from "../../kernel/assembly/layout/layout.ts";
import {
  BODY_FIELDS,
  type BodyField,
  type BodyTuning,
  type Tuning,
  type Wind,
  WIND_FIELDS,
} from "../../../shared/members/tuningLimits.ts";
import type { BodyTemplate } from "../body/template.ts";
import type { Views } from "../world/views.ts";
import type { SimLayout } from "../world/worldLayout.ts";
import { mostStrain, weightStrain } from "./materialLimits.ts";
import { BodyMaterials } from "./retune.ts";
import { ImplicitMaterials, refuseFar } from "./retuneImplicit.ts";
import { PrefactoredMaterials, refuseBending } from "./retunePrefactored.ts";
import { volumetric } from "../scene/sound.ts";
import { MOST_EDGES } from "../scene/substeps.ts";
import type { TunableBody } from "./tunable.ts";
import type { Input, Refusal } from "../types.ts";
import { isFelt, MODES, RoomWind } from "./windRow.ts";

type Tune = Extract<Input, { type: "tune" }>;

/** 0, or flags of these two. */
const CHANGED = 3;
const ANYTHING = 1;
const MATERIALS = 2;
const WIND = 4;
const TIME_SCALE = WIND + 3 + WIND_FIELDS.length;
const STOOD = TIME_SCALE + 1;
const HEAD = STOOD + 1;
const PINS = BODY_FIELDS.length;
const PER_BODY = PINS + 1;
const MASS_FIELDS: readonly (keyof BodyTuning)[] = ["density", "pins"];
const MATERIAL_FIELDS: readonly (keyof BodyTuning)[] = [
  ...MASS_FIELDS,
  "youngsModulus",
  "poissonsRatio",
  "bendingStiffness",
  "pressure",
  "yield",
];

export function tuningBytes(bodies: number): number {
  return 8 * (HEAD + PER_BODY * bodies + MODES);
}

/** Accelerations by a body's loads, float64[3N] m/s^2, 0 for fixed particles; undefined: no loads. */
export function loadsOf({ force, mass, pinned }: BodyTemplate): Float64Array | undefined {
  if (force.every((f) => f === 0)) return undefined;
  return Float64Array.from(force, (f, k) => {
    const i = Math.floor(k / 3);
    return pinned[i] || !mass[i] ? 0 : f * (1 / mass[i]!);
  });
}

/** The tunable values, as the scene sets them. */
export function tunedAs(room: Omit<Tuning, "bodies" | "pausedTicks">, tunable: readonly TunableBody[]): Tuning {
  return { ...room, pausedTicks: 0, bodies: tunable.map(({ scene }, body) => ({ body, ...scene })) };
}

/** Time scale of a body's own motion under gravity, s: sqrt(size/g), at least 1. */
function paceOf(size: number, gravity: readonly number[]): number {
  const g = Math.sqrt(gravity.reduce((sum, c) => sum + c * c, 0));
  return g > 0 ? Math.max(1, Math.sqrt(size / g)) : 1;
}

export class RoomTuning {
  private readonly views: Views;
  private readonly layout: SimLayout;
  private readonly block: Float64Array;
  private readonly materials: BodyMaterials;
  private readonly implicit: ImplicitMaterials;
  private readonly prefactored: PrefactoredMaterials;
  private readonly air: RoomWind;

  private template: Float32Array | undefined;

  /** @param template the memory image that the room began as; absent: a copy is made before materials change */
  constructor(views: Views, layout: SimLayout, template?: WebAssembly.Memory) {
    this.views = views;
    this.layout = layout;
    this.block = new Float64Array(views.f32.buffer, layout.tuning, tuningBytes(layout.bodyCount) / 8);
    this.template = template && new Float32Array(template.buffer);
    const before = (): Float32Array => (this.template ??= this.copyBefore());
    this.materials = new BodyMaterials(views, layout, before);
    this.implicit = new ImplicitMaterials(views, layout, before);
    this.prefactored = new PrefactoredMaterials(views, layout, before);
    this.air = new RoomWind(views, layout, this.block.subarray(HEAD + PER_BODY * layout.bodyCount));
  }

  /** Sets the scene's values in a newly made memory. */
  begin(): void {
    const { tuned } = this.layout;
    this.block.set(tuned.gravity);
    this.setWind(tuned.wind);
    this.block[TIME_SCALE] = tuned.timeScale;
    for (const body of tuned.bodies) this.note(body);
    // damping of a body with its own step cannot be changed, but code that judges rest reads it
    this.layout.bodies.forEach(({ damping }, b) => (this.block[this.at(b)] = damping));
  }

  get gravity(): [number, number, number] {
    return [this.block[0]!, this.block[1]!, this.block[2]!];
  }

  get wind(): Wind {
    const [x, y, z, ...rest] = this.block.subarray(WIND, TIME_SCALE) as unknown as [number, number, number];
    const fields = Object.fromEntries(WIND_FIELDS.map((field, n) => [field, rest[n]])) as unknown as Wind;
    return { ...fields, velocity: [x, y, z] };
  }

  /** Simulated time over wall time; 0: paused. */
  get timeScale(): number {
    return this.block[TIME_SCALE]!;
  }

  /** Current damping of a body, 1/s. */
  damping(body: number): number {
    return this.block[this.at(body)]!;
  }

  /** Number of ticks in which simulated time did not advance: paused or unfinished. */
  get pausedTicks(): number {
    return this.block[STOOD]!;
  }

  /** Counts a tick that did not advance simulated time. */
  stand(): void {
    this.block[STOOD]! += 1;
    this.views.i32[(L.HEADER + L.H_PAUSED_TICKS) / 4] = this.pausedTicks;
  }

  /** True if the wind has gusts: bodies that feel it then never rest for good. */
  get gusts(): boolean {
    // asked in every tick: without wind, its fields are not read
    if (!this.block.subarray(WIND, WIND + 3).some((part) => part !== 0)) return false;
    const { wind } = this;
    return isFelt(wind) && wind.intensity > 0;
  }

  /** True if the air that bodies feel keeps changing, by gusts or a fluid: no body then rests for good. */
  get stirred(): boolean {
    return this.gusts || (this.layout.methods.some(({ spec }) => spec.type === "eulerian-fluid") && isFelt(this.wind));
  }

  /**
   * Factor on the times of falling asleep: the time sqrt(size/g) of a fall through the body's own size, s, at least 1.
   */
  pace(body: number): number {
    return paceOf(this.layout.bodies[body]!.size, this.gravity);
  }

  /**
   * Number of 4-byte words that the state hash includes: none while all values are the scene's, there is no wind, and
   * no tick was paused or unfinished.
   */
  get hashedWords(): number {
    return this.block[CHANGED] === 0 && this.pausedTicks === 0 && !isFelt(this.wind) ? 0 : 2 * this.block.length;
  }

  /** Current values, between two ticks. */
  get current(): Tuning {
    const { gravity, wind, timeScale, pausedTicks } = this;
    return {
      gravity,
      wind,
      timeScale,
      pausedTicks,
      bodies: this.layout.tuned.bodies.map(({ body }) => this.ofBody(body)),
    };
  }

  /**
   * @param input within its ranges (rooms/inputs/requestRanges.ts)
   * @returns the first field that conflicts with other values; undefined: the input can be applied
   */
  refuse({ body, ...change }: Tune): Refusal | undefined {
    if (change.asScene) return undefined;
    const crushed = this.refuseWeight({ ...(body !== undefined && { body }), ...change });
    if (crushed || body === undefined) return crushed;
    const tunable = this.layout.tunable[body]!;
    const { mostStrain, mostSteps } = tunable;
    if (change.steps !== undefined && change.steps > mostSteps!)
      return { field: "steps", value: change.steps, limit: `<= ${mostSteps} for its number of particles` };
    if (change.yield !== undefined && !(change.yield < mostStrain!))
      return { field: "yield", value: change.yield, limit: `< ${mostStrain}, which is max` };
    if (tunable.implicit) return refuseFar(tunable, this.ofBody(body), change);
    return tunable.prefactored ? refuseBending(tunable, this.ofBody(body), change) : this.refuseStiff(body, change);
  }

  /**
   * @param input accepted by `refuse`
   * @returns whether pairs have to be listed again
   */
  apply({ gravity, wind, timeScale, asScene, ...change }: Tune): boolean {
    const { tuned } = this.layout;
    if (asScene) {
      this.setWind(tuned.wind);
      this.block[TIME_SCALE] = tuned.timeScale;
      for (const body of tuned.bodies) this.setBody(body.body, body);
      this.setGravity(tuned.gravity);
      this.block[CHANGED] = 0;
      return true;
    }
    if (wind) this.setWind({ ...this.wind, ...wind });
    if (timeScale !== undefined) this.block[TIME_SCALE] = timeScale;
    const moved = change.body === undefined ? [] : this.setBody(change.body, change);
    if (gravity || moved.some((field) => MASS_FIELDS.includes(field))) this.setGravity(gravity ?? this.gravity);
    this.block[CHANGED] = this.block[CHANGED]! | ANYTHING;
    return change.friction !== undefined || moved.includes("pins");
  }

  /** Called at the start of a tick in which simulated time advances. */
  beginTick(): void {
    if (this.gusts) this.air.beginTick(this.wind);
    this.materials.inflate((body) => this.value(body, "pressure")!);
  }

  /** External acceleration of a particle without wind, component r, m/s^2. */
  steady(particle: number, r: number): number {
    return this.air.base(particle, r);
  }

  /**
   * Refuses a value if sound would cross more edges in a substep than the room's step allows (substeps.ts) and than the
   * scene's own material.
   */
  private refuseStiff(body: number, change: BodyMaterialChange): Refusal | undefined {
    const { scene, edges, elasticity } = this.layout.tunable[body]!;
    if (
      edges === 0 ||
      scene.youngsModulus === undefined ||
      !(change.youngsModulus ?? change.density ?? change.poissonsRatio)
    )
      return undefined;
    const now = { ...this.ofBody(body), ...change };
    const { tickHz, substeps } = this.layout;
    const speed2 = (m: BodyMaterialChange): number =>
      (m.youngsModulus! * volumetric(elasticity, m.poissonsRatio)) / m.density!;
    const most = Math.max(speed2(scene), ((MOST_EDGES * tickHz * substeps) / edges) ** 2);
    if (speed2(now) <= most * (1 + 1e-9)) return undefined;
    const field = (["youngsModulus", "density", "poissonsRatio"] as const).find((name) => change[name] !== undefined)!;
    const limit =
      field === "youngsModulus"
        ? `<= ${Number(((now.youngsModulus! * most) / speed2(now)).toPrecision(4))} for this density and this room's steps`
        : field === "density"
          ? `>= ${Number(((now.density! * speed2(now)) / most).toPrecision(4))} for this stiffness and this room's steps`
          : "less: sound would be too fast for this room's steps";
    return { field, value: change[field]!, limit };
  }

  /**
   * Refuses a change if a body's weight would crush it, with all other tuned values. A change that crushes the body
   * less is accepted.
   */
  private refuseWeight(change: Omit<Tune, "type" | "member">): Refusal | undefined {
    const { bodies, limits, tunable } = this.layout;
    const field = change.gravity ? "gravity" : (["density", "youngsModulus"] as const).find((name) => change[name]);
    if (!field) return undefined;
    const norm = (a: readonly number[]): number => Math.sqrt(a.reduce((sum, part) => sum + part * part, 0));
    const [before, g] = [norm(this.gravity), norm(change.gravity ?? this.gravity)];
    for (const [b, { size }] of bodies.entries()) {
      const was = this.ofBody(b);
      const strain = weightStrain(size, g, b === change.body ? { ...was, ...change } : was);
      const most = Math.max(mostStrain(size, limits.gravity, tunable[b]!.scene), weightStrain(size, before, was));
      if (strain <= most * (1 + 1e-9)) continue;
      const value = field === "gravity" ? g : change[field]!;
      const limit = field === "youngsModulus" ? (value * strain) / most : (value * most) / strain;
      const side = field === "youngsModulus" ? ">=" : "<=";
      return { field, value, limit: `${side} ${Number(limit.toPrecision(4))}: more weight would crush body ${b}` };
    }
    return undefined;
  }

  private ofBody(body: number): BodyTuning {
    const { scene } = this.layout.tunable[body]!;
    const now: BodyTuning = { body };
    for (const field of BODY_FIELDS) if (scene[field] !== undefined) now[field] = this.value(body, field)!;
    if (scene.pins !== undefined) now.pins = this.block[this.at(body) + PINS] === 1;
    return now;
  }

  private at(body: number): number {
    return HEAD + PER_BODY * body;
  }

  /** Current value; undefined: not tunable for this body. */
  value(body: number, field: BodyField): number | undefined {
    return this.layout.tunable[body]!.scene[field] === undefined
      ? undefined
      : this.block[this.at(body) + BODY_FIELDS.indexOf(field)]!;
  }

  private note({ body, pins, ...values }: BodyTuning): void {
    BODY_FIELDS.forEach((field, n) => {
      if (values[field] !== undefined) this.block[this.at(body) + n] = values[field];
    });
    if (pins !== undefined) this.block[this.at(body) + PINS] = pins ? 1 : 0;
  }

  /** @returns fields whose values have changed */
  private setBody(body: number, change: Omit<BodyTuning, "body">): (keyof BodyTuning)[] {
    const before = this.ofBody(body);
    this.note({ ...change, body });
    const now = this.ofBody(body);
    const moved = ([...BODY_FIELDS, "pins"] as const).filter((field) => now[field] !== before[field]);
    const { implicit, prefactored } = this.layout.tunable[body]!;
    if (change.damping !== undefined && !implicit) this.setDamping(body, change.damping);
    if (change.friction !== undefined) this.setFriction(body, change.friction);
    if (implicit && moved.some((field) => field !== "friction")) {
      this.implicit.write(body, now);
      this.block[CHANGED] = this.block[CHANGED]! | MATERIALS;
    } else if (moved.some((field) => MATERIAL_FIELDS.includes(field))) {
      const { body: _, damping: __, friction: ___, ...material } = now;
      const masses = moved.some((field) => MASS_FIELDS.includes(field));
      if (prefactored) this.prefactored.write(body, material);
      else this.materials.write(body, material, masses);
      this.block[CHANGED] = this.block[CHANGED]! | MATERIALS;
    }
    return moved;
  }

  /** Copies the memory. Ticks do not change the parts that rows are made from. */
  private copyBefore(): Float32Array {
    if (this.block[CHANGED]! & MATERIALS)
      throw new Error("tuning: a room whose materials have changed needs the template of its scene");
    return this.views.f32.slice();
  }

  private setWind(wind: Wind): void {
    this.block.set([...wind.velocity, ...WIND_FIELDS.map((field) => wind[field])], WIND);
    this.air.set(wind);
  }

  private get accelerations(): number {
    return this.views.i32[(L.HEADER + L.H_ACC) / 4]! / 4;
  }

  private setGravity(gravity: readonly number[]): void {
    const { f32 } = this.views;
    this.block.set(gravity);
    const acc = this.accelerations;
    this.layout.bodies.forEach(({ first, count, loads }, b) => {
      const lighter = (this.layout.tunable[b]!.scene.density ?? 1) / (this.value(b, "density") ?? 1);
      for (let i = 0; i < count; i++) {
        // the scene's inverse mass: inactive and held bodies have none now
        if (f32[this.layout.initial / 4 + 4 * (first + i) + 3] === 0) continue;
        for (let r = 0; r < 3; r++) {
          const a = gravity[r]! + (loads ? loads[3 * i + r]! * lighter : 0);
          f32[acc + 4 * (first + i) + r] = a;
          this.air.setBase(first + i, r, a);
        }
      }
    });
  }

  private setDamping(body: number, damping: number): void {
    const { layout, views } = this;
    const { first, count } = layout.bodies[body]!;
    const saved = 16 * views.i32[(L.HEADER + L.H_PARTICLES) / 4]!;
    for (const rows of [layout.v, layout.initial + saved, layout.good + saved])
      for (let i = first; i < first + count; i++) views.f32[rows / 4 + 4 * i + 3] = damping;
  }

  private setFriction(body: number, friction: number): void {
    const { first, count, surface, staticFriction } = this.layout.bodies[body]!;
    const { f32 } = this.views;
    const root = Math.sqrt(friction);
    const acc = this.accelerations;
    for (let i = first; i < first + count; i++) f32[acc + 4 * i + 3] = root;
    f32[(surface + L.SURFACE_DYNAMIC) / 4] = root;
    // keeps the scene's friction at rest, but never less than sliding friction
    f32[(surface + L.SURFACE_STATIC) / 4] = Math.sqrt(Math.max(friction, staticFriction ?? 0));
  }
}

type BodyMaterialChange = Omit<BodyTuning, "body">;
