/**
 * Energy ledger of a room: the energy and momentum of every body after a tick, and the flows that changed them. Float64
 * from the float32 state, read between the kernel's phases (SimWorld.watchPhases). It changes nothing, and costs no
 * time unless a ledger is kept.
 *
 * A body has kinetic energy 1/2 sum m v^2, elastic energy (elastic.ts), and the potentials -sum m g.x and -sum f.x of
 * gravity and constant loads. In a substep impulses change the velocity of every particle from v to v'. A phase of the
 * solve that moves a particle by d gives it m d/h; a later phase that changes its velocity by dv gives it m dv. For any
 * impulses, their works with the mean velocity of the substep add up to the change of kinetic energy:
 *   W_p = sum_i J_pi . (v_i + v'_i)/2,   sum_p W_p = 1/2 sum_i m_i (v'_i^2 - v_i^2)
 *   attachments, contacts, colliders   W of their phases: the work of the forces that they represent. A body that rests
 *                 on the floor gets none from it. Rigid bodies meet colliders in the phase that makes their velocities
 *                 rigid: rigid.ts separates the two
 *   drivers       of moving colliders, where particles meet their shape: sum J . V, V the collider's own velocity
 *                 there; the loss by friction remains with `colliders`. Contact of triangles and edges with a core mesh
 *                 counts as contacts
 *   viscosity     W of the dashpots' phases; less than the material damps if iterations do not carry its full stress
 *   wind          W of h times the wind's part of the external acceleration
 *   damping       W of v = u/(1 + h d)
 *   momentum      W of the momentum correction, and of making rigid bodies' velocities rigid
 *   plasticity    change of elastic energy while no particle moves
 *   solver        W of the rest, including gravity and loads, plus the change of elastic energy and potentials: the
 *                 loss by the time step (implicit Euler), the error of unconverged iterations, and rounding to float32
 * Outside of the kernel, inputs (impulses, a reset), guard (roll-back) and rest (calming and sleep) count the change
 * that they make. Springs of attachments and grabs are outside of the body: their stored energy counts as their work.
 * Tried: the change of the whole energy over each phase. Phases undo each other (the solve lets a body sink, the
 * collider lifts it), so a body at rest seemed heated by the floor and cooled by the solver with a hundred times its
 * energy.
 */
import * as L from "../../kernel/assembly/layout/layout.ts";
import type { Vec3 } from "../../../shared/scene/scene.ts";
import type { CreatedWorld } from "../world/createWorld.ts";
import { HOST_STAGES, type SimWorld } from "../world.ts";
import { colliderVelocities } from "./drivers.ts";
import { elasticEnergyOf } from "./elastic.ts";
import { PlasticStrains } from "./plastic.ts";
import { colliderPushes, colliderSupports } from "./rigid.ts";

/** Flows of energy, see above; positive flows go to the body. */
export const FLOWS = [
  "inputs",
  "attachments",
  "contacts",
  "colliders",
  "drivers",
  "wind",
  "damping",
  "viscosity",
  "plasticity",
  "momentum",
  "solver",
  "guard",
  "rest",
] as const;
export type Flow = (typeof FLOWS)[number];

/** Energies of a body, J. */
export interface Holdings {
  kinetic: number;
  elastic: number;
  gravity: number;
  loads: number;
}

export interface BodyEntry extends Holdings {
  total: number;
  /** sum m v, kg m/s, and sum m x x v about the world's origin, kg m^2/s; of free particles */
  momentum: Vec3;
  angularMomentum: Vec3;
  /** Flows since the previous entry, J. */
  flows: Record<Flow, number>;
  /** Change of the total since the previous entry, minus all flows, J: float64 rounding. */
  unexplained: number;
}

export interface TickEntry {
  tick: number;
  /** Entry of each body, in the order of the scene. */
  bodies: BodyEntry[];
}

const total = (h: Holdings): number => h.kinetic + h.elastic + h.gravity + h.loads;
const noFlows = (): Record<Flow, number> => Object.fromEntries(FLOWS.map((f) => [f, 0])) as Record<Flow, number>;

/** Flows made of impulses. */
const IMPULSES = ["attachments", "contacts", "colliders", "viscosity", "wind", "damping", "momentum"] as const;
type Impulse = (typeof IMPULSES)[number];
/** Flow that counts the change by a stage outside of the kernel. */
const HOST_FLOWS: Readonly<Record<number, Flow>> = {
  [HOST_STAGES.inputs]: "inputs",
  [HOST_STAGES.methods]: "solver",
  [HOST_STAGES.guard]: "guard",
  [HOST_STAGES.rest]: "rest",
};
/** Kinds of phases before velocities change. */
const BEFORE_PREDICTION: ReadonlySet<number> = new Set([
  L.KIND_MOVE,
  L.KIND_CORE_MESHES,
  L.KIND_WIND_FORCES,
  L.KIND_WIND_ACCELERATIONS,
]);
/** Flows whose phases move particles between prediction and velocity update; all other phases count as solver. */
type Mover = "attachments" | "contacts" | "viscosity";
const MOVER: Readonly<Record<number, Mover>> = {
  [L.KIND_TET_DASHPOT]: "viscosity",
  [L.KIND_TRIANGLE_DASHPOT]: "viscosity",
  [L.KIND_BEND_DASHPOT]: "viscosity",
  [L.KIND_POINTS]: "attachments",
  [L.KIND_CONTACTS]: "contacts",
};
/** Flows of phases that change velocities; all others count as momentum. */
const CHANGER: Readonly<Record<number, "attachments" | "colliders" | "contacts">> = {
  [L.KIND_COLLIDE]: "colliders",
  [L.KIND_POINT_SPEEDS]: "attachments",
  [L.KIND_VERIFY]: "contacts",
};

export class EnergyLedger {
  /** One entry at the scene's start, then one for each tick. */
  readonly entries: TickEntry[] = [];
  private readonly world: SimWorld;
  private readonly created: CreatedWorld;
  private readonly f32: Float32Array;
  private readonly i32: Int32Array;
  private readonly h: number;
  /** Kind of every phase of a substep. */
  private readonly kinds: number[];
  /** float64[3N] at the last boundary: positions from the room's origin, velocities. */
  private readonly x: Float64Array;
  private readonly v: Float64Array;
  /** float64[3N] positions before the next phase, if it moves particles for another flow than the solver. */
  private readonly before: Float64Array;
  private readonly now: Float64Array;
  /** float64[3N] change of velocity in this substep by each flow, m/s. */
  private readonly given: Record<Impulse, Float64Array>;
  /** float64[3N] velocities after the last finished phase that follows the solve. */
  private readonly latest: Float64Array;
  /** J, by body, in this substep: work of moving colliders, elastic energy lost to plastic flow. */
  private readonly driven: Float64Array;
  private readonly flowed: Float64Array;
  private readonly plastic: PlasticStrains;
  private acting: Partial<Record<Mover, boolean>> = {};
  private solving = false;
  private held: Holdings[];
  /** Inactive bodies at the last boundary: a spawned body gains its mass at once. */
  private absent = "";
  /** Tuned values at the last boundary. */
  private tuning = "";
  private flows: Record<Flow, number>[];

  /** Begins to watch the world. */
  constructor(created: CreatedWorld, world: SimWorld) {
    this.created = created;
    this.world = world;
    const { memory, layout } = created;
    const n = layout.particleCount;
    this.f32 = new Float32Array(memory.buffer);
    this.i32 = new Int32Array(memory.buffer);
    this.h = this.f32[(L.HEADER + L.H_SUBSTEP_SECONDS) / 4]!;
    const program = this.i32[(L.HEADER + L.H_PROGRAM) / 4]!;
    this.kinds = Array.from(
      { length: this.i32[(L.HEADER + L.H_PHASES) / 4]! },
      (_, p) => this.i32[(program + p * L.PHASE_BYTES + L.PHASE_KIND) / 4]!,
    );
    this.x = new Float64Array(3 * n);
    this.v = new Float64Array(3 * n);
    this.before = new Float64Array(3 * n);
    this.now = new Float64Array(3 * n);
    this.given = Object.fromEntries(IMPULSES.map((f) => [f, new Float64Array(3 * n)])) as Record<Impulse, Float64Array>;
    this.latest = new Float64Array(3 * n);
    this.driven = new Float64Array(layout.bodyCount);
    this.flowed = new Float64Array(layout.bodyCount);
    this.plastic = new PlasticStrains(created);
    this.tuning = JSON.stringify(world.tuning());
    this.plastic.tune(world.tuning());
    this.readPositions(this.x);
    this.readVelocities(this.v);
    this.held = layout.bodies.map((_, b) => this.holdings(b));
    this.flows = layout.bodies.map(noFlows);
    this.entries.push(this.entry(this.held.map(total)));
    this.flows = layout.bodies.map(noFlows);
    world.watchPhases((phase) => (phase < 0 ? this.hostDone(HOST_FLOWS[phase]!) : this.phaseDone(phase)));
  }

  /** Closes a tick; called after every `step` of the world. */
  closeTick(): TickEntry {
    const before = this.entries.at(-1)!.bodies.map((b) => b.total);
    const entry = this.entry(before);
    this.entries.push(entry);
    this.flows = this.flows.map(noFlows);
    return entry;
  }

  private entry(before: readonly number[]): TickEntry {
    const bodies = this.held.map((h, b): BodyEntry => {
      const flows = this.flows[b]!;
      const now = total(h);
      return {
        ...h,
        total: now,
        ...this.momenta(b),
        flows,
        unexplained: now - before[b]! - FLOWS.reduce((sum, f) => sum + flows[f], 0),
      };
    });
    return { tick: this.world.tickNumber, bodies };
  }

  private readPositions(out: Float64Array): void {
    const low = this.i32[(L.HEADER + L.H_LOW) / 4]! / 4;
    const x = this.created.layout.x / 4;
    for (let k = 0; k < out.length; k++) {
      const at = 4 * Math.floor(k / 3) + (k % 3);
      out[k] = this.f32[x + at]! + this.f32[low + at]!;
    }
  }

  private readVelocities(out: Float64Array): void {
    const v = this.created.layout.v / 4;
    for (let k = 0; k < out.length; k++) out[k] = this.f32[v + 4 * Math.floor(k / 3) + (k % 3)]!;
  }

  /** Mass of a particle, kg; 0 if it does not move. */
  private mass(i: number): number {
    const w = this.f32[this.created.layout.x / 4 + 4 * i + 3]!;
    return w > 0 ? this.created.layout.massUnit / w : 0;
  }

  private get accelerations(): number {
    return this.i32[(L.HEADER + L.H_ACC) / 4]! / 4;
  }

  /** Energies of body b with x and v. */
  private holdings(b: number): Holdings {
    const { layout } = this.created;
    const { first, count } = layout.bodies[b]!;
    const now = this.world.tuning().gravity.map(Math.fround); // rounded as in memory
    let kinetic = 0;
    let gravity = 0;
    let loads = 0;
    for (let i = first; i < first + count; i++) {
      const m = this.mass(i);
      if (m === 0) continue;
      for (let r = 0; r < 3; r++) {
        const v = this.v[3 * i + r]!;
        const g = now[r]!;
        const x = this.x[3 * i + r]! + layout.origin[r]!;
        kinetic += (m / 2) * v * v;
        gravity -= m * g * x;
        loads -= m * (this.world.steady(i, r) - g) * x;
      }
    }
    return { kinetic, elastic: this.elastic(b, this.x), gravity, loads };
  }

  private elastic(b: number, x: Float64Array): number {
    const own = this.world.methodEnergy(b);
    if (own !== undefined) return own;
    const { first, count } = this.created.layout.bodies[b]!;
    return elasticEnergyOf(this.plastic.bodies[b]!, x.subarray(3 * first, 3 * (first + count)));
  }

  private momenta(b: number): { momentum: Vec3; angularMomentum: Vec3 } {
    const { layout } = this.created;
    const { first, count } = layout.bodies[b]!;
    const P: Vec3 = [0, 0, 0];
    const A: Vec3 = [0, 0, 0];
    for (let i = first; i < first + count; i++) {
      const m = this.mass(i);
      const x = [0, 1, 2].map((r) => this.x[3 * i + r]! + layout.origin[r]!);
      const v = [0, 1, 2].map((r) => this.v[3 * i + r]!);
      for (let r = 0; r < 3; r++) {
        const s = (r + 1) % 3;
        const t = (r + 2) % 3;
        P[r]! += m * v[r]!;
        A[r]! += m * (x[s]! * v[t]! - x[t]! * v[s]!);
      }
    }
    return { momentum: P, angularMomentum: A };
  }

  private phaseDone(phase: number): void {
    const kind = this.kinds[phase]!;
    const mover = MOVER[kind];
    const next = MOVER[this.kinds[phase + 1] ?? -1];
    if (kind === L.KIND_PREDICT) this.beginSubstep();
    else if (kind === L.KIND_VELOCITY) this.velocityMade();
    else if (kind === L.KIND_PLASTIC) this.strainsFlowed();
    else if (this.solving && mover) {
      const given = this.given[mover];
      if (this.acting[mover]) {
        this.readPositions(this.now);
        for (let k = 0; k < given.length; k++) given[k]! += (this.now[k]! - this.before[k]!) / this.h;
      }
      if (kind === L.KIND_CONTACTS) this.rigidSupported();
    } else if (kind === L.KIND_RIGID) this.rigidMoved(phase);
    else if (!this.solving && !BEFORE_PREDICTION.has(kind)) this.velocityChanged(CHANGER[kind] ?? "momentum");
    if (next && this.acting[next]) this.readPositions(this.before);
    if (phase === this.kinds.length - 1) this.closeSubstep();
  }

  private beginSubstep(): void {
    const { layout } = this.created;
    const slots = layout.attachmentCount + layout.grabCount;
    this.solving = true;
    const contacts = this.i32[(L.HEADER + L.H_CONTACT_BLOCK_COUNT) / 4]! > 0;
    // sweeps of Jacobi and Chebyshev move all particles again after all constraints: that belongs to no single flow
    const viscosity = !this.kinds.includes(L.KIND_SWEEP_BEGIN);
    this.acting = { contacts, attachments: false, viscosity };
    for (let slot = 0; slot < slots; slot++)
      this.acting.attachments ||= this.i32[(layout.points + slot * L.POINT_BYTES + L.POINT_ACTIVE) / 4] !== 0;
    for (const given of Object.values(this.given)) given.fill(0);
    const acc = this.accelerations;
    const { wind } = this.given;
    for (let k = 0; k < wind.length; k++) {
      const [i, r] = [Math.floor(k / 3), k % 3];
      wind[k] = this.h * (this.f32[acc + 4 * i + r]! - this.world.steady(i, r));
    }
    this.driven.fill(0);
    this.flowed.fill(0);
  }

  private strainsFlowed(): void {
    const x = new Float64Array(this.x.length);
    const { flowing } = this.plastic;
    this.readPositions(x);
    for (const b of flowing) this.flowed[b]! -= this.elastic(b, x);
    this.plastic.refresh();
    for (const b of flowing) this.flowed[b]! += this.elastic(b, x);
  }

  /** v = u/(1 + h d), u = (x - xPrev)/h: displacements are the solve's, and the lost part is damping. */
  private velocityMade(): void {
    this.solving = false;
    const { layout } = this.created;
    const { h } = this;
    const vs = layout.v / 4;
    const previous = this.i32[(L.HEADER + L.H_XPREV) / 4]! / 4;
    const low = this.i32[(L.HEADER + L.H_LOW_PREV) / 4]! / 4;
    const given = this.given.damping;
    this.readPositions(this.now);
    for (let i = 0; i < layout.particleCount; i++) {
      const lost = 1 / (1 + h * this.f32[vs + 4 * i + 3]!) - 1;
      for (let r = 0; r < 3; r++) {
        const at = 4 * i + r;
        given[3 * i + r] = (lost * (this.now[3 * i + r]! - this.f32[previous + at]! - this.f32[low + at]!)) / h;
      }
    }
    this.readVelocities(this.latest);
  }

  /** Books the impulses of colliders that support rigid bodies under colliders instead of contacts. */
  private rigidSupported(): void {
    const { layout } = this.created;
    const velocities = colliderVelocities(this.created, this.world.kernel);
    colliderSupports(this.f32.buffer, layout.x, this.h, (i, dv) => {
      this.giveByCollider(i, dv, velocities);
      if (this.acting.contacts) for (let r = 0; r < 3; r++) this.given.contacts[3 * i + r]! -= dv[r]!;
    });
  }

  private giveByCollider(i: number, dv: Readonly<Vec3>, velocities: ReturnType<typeof colliderVelocities>): void {
    const { layout } = this.created;
    const xs = layout.x / 4;
    const V = velocities?.([0, 1, 2].map((r) => this.f32[xs + 4 * i + r]!) as Vec3);
    const b = layout.bodies.findIndex(({ first, count }) => i >= first && i < first + count);
    for (let r = 0; r < 3; r++) {
      this.given.colliders[3 * i + r]! += dv[r]!;
      // a collider's motion is rigid: summed over all particles this is its force at the contact point times its
      // velocity there
      if (V) this.driven[b]! += this.mass(i) * dv[r]! * V[r]!;
    }
  }

  /** Counts the impulses of colliders on rigid bodies, then the energy lost when their velocities become rigid. */
  private rigidMoved(phase: number): void {
    const { layout } = this.created;
    const rows = this.i32[(this.i32[(L.HEADER + L.H_PROGRAM) / 4]! + phase * L.PHASE_BYTES + L.PHASE_COUNT) / 4]!;
    const velocities = colliderVelocities(this.created, this.world.kernel);
    colliderPushes(this.f32.buffer, rows, layout.x, this.h, (i, dv) => {
      this.giveByCollider(i, dv, velocities);
      for (let r = 0; r < 3; r++) this.latest[3 * i + r]! += dv[r]!;
    });
    this.velocityChanged("momentum");
  }

  /** Counts the velocity change of a phase after the velocity update. */
  private velocityChanged(flow: "attachments" | "colliders" | "contacts" | "momentum"): void {
    const { layout } = this.created;
    const xs = layout.x / 4;
    const vs = layout.v / 4;
    const given = this.given[flow];
    const velocities = flow === "colliders" ? colliderVelocities(this.created, this.world.kernel) : undefined;
    layout.bodies.forEach(({ first, count }, b) => {
      for (let i = first; i < first + count; i++) {
        const dv = [0, 1, 2].map((r) => this.f32[vs + 4 * i + r]! - this.latest[3 * i + r]!);
        if (dv.every((d) => d === 0)) continue;
        const V = velocities?.([0, 1, 2].map((r) => this.f32[xs + 4 * i + r]!) as Vec3);
        for (let r = 0; r < 3; r++) {
          given[3 * i + r]! += dv[r]!;
          this.latest[3 * i + r]! += dv[r]!;
          if (V) this.driven[b]! += this.mass(i) * dv[r]! * V[r]!;
        }
      }
    });
  }

  /** Closes a substep; x and v are still those of its start. */
  private closeSubstep(): void {
    const { layout } = this.created;
    const vs = layout.v / 4;
    layout.bodies.forEach(({ first, count }, b) => {
      const flows = this.flows[b]!;
      const work = Object.fromEntries(IMPULSES.map((f) => [f, 0])) as Record<Impulse, number>;
      let all = 0;
      let named = 0;
      for (let i = first; i < first + count; i++) {
        const m = this.mass(i);
        if (m === 0) continue;
        for (let r = 0; r < 3; r++) {
          const k = 3 * i + r;
          const v = this.v[k]!;
          const now = this.f32[vs + 4 * i + r]!;
          const mean = (m * (v + now)) / 2;
          for (const f of IMPULSES) work[f] += mean * this.given[f][k]!;
          all += mean * (now - v);
        }
      }
      for (const f of IMPULSES) {
        flows[f] += work[f];
        named += work[f];
      }
      flows.drivers += this.driven[b]!;
      flows.colliders -= this.driven[b]!;
      flows.solver += all - named;
    });
    this.readPositions(this.x);
    this.readVelocities(this.v);
    this.held = this.held.map((was, b) => {
      const now = this.holdings(b);
      const stored = (h: Holdings): number => h.elastic + h.gravity + h.loads;
      this.flows[b]!.plasticity += this.flowed[b]!;
      this.flows[b]!.solver += stored(now) - stored(was) - this.flowed[b]!;
      return now;
    });
  }

  /** Counts changes made outside of the kernel as `flow`. */
  private hostDone(flow: Flow): void {
    const x = Float64Array.from(this.x);
    const v = Float64Array.from(this.v);
    this.readPositions(this.x);
    this.readVelocities(this.v);
    this.plastic.refresh();
    const same = (a: Float64Array, b: Float64Array): boolean => a.every((value, k) => value === b[k]);
    // a body that was rolled back has no masses, and its velocities are zero
    const tuning = JSON.stringify(this.world.tuning());
    const absent = this.world.absent().join("");
    if (same(x, this.x) && same(v, this.v) && absent === this.absent && tuning === this.tuning) return;
    if (tuning !== this.tuning) this.plastic.tune(this.world.tuning());
    this.tuning = tuning;
    this.absent = absent;
    this.held = this.held.map((was, b) => {
      const now = this.holdings(b);
      this.flows[b]![flow] += total(now) - total(was);
      return now;
    });
  }
}
