/**
 * What a room's owner may change while it runs: gravity, and each body's damping and friction. The memory holds them
 * where the kernel reads them, and in float64 in a block of their own, from which everything else here is read: both are
 * part of the state that a checkpoint takes, so an undo, a restart and a replay have them, too. A reset leaves them as
 * they are: it puts bodies back, and `asScene` takes back what was changed.
 *
 *   block   gravity x, y, z, and 1 where anything was changed; then damping and friction, body after body
 *   gravity   the acceleration rows, which hold gravity and loads
 *   damping   the velocity rows' fourth lane, also of the copies for reset and roll-back
 *   friction  the acceleration rows' fourth lane, and the surface's two roots; pairs take theirs when they are listed
 *
 * A room that was tuned before its first tick goes on with the bits of a scene that says so itself. Where a body has a
 * step of its own (`solver: "implicit"`, `method`), its damping is part of a factored matrix, and a method's contact
 * knows no friction or its own: those two are not to be changed.
 */
import * as L from "../kernel/assembly/layout/layout.ts";
import type { Tuning } from "../../shared/protocol.ts";
import type { BodyTemplate } from "./body/template.ts";
import type { Views } from "./grabs.ts";
import type { SimLayout } from "./layout.ts";
import type { Input } from "./types.ts";

type Tune = Extract<Input, { type: "tune" }>;

const HEAD = 4;
const PER_BODY = 2;

export function tuningBytes(bodies: number): number {
  return 8 * (HEAD + PER_BODY * bodies);
}

/** Accelerations by a body's loads, float64[3N] m/s^2, 0 where it is fixed; undefined: it has none. */
export function loadsOf({ force, mass, pinned }: BodyTemplate): Float64Array | undefined {
  if (force.every((f) => f === 0)) return undefined;
  return Float64Array.from(force, (f, k) => {
    const i = Math.floor(k / 3);
    return pinned[i] || !mass[i] ? 0 : f * (1 / mass[i]!);
  });
}

/** What may be changed, with the values of the scene. */
export function tunedAs(gravity: Tuning["gravity"], bodies: SimLayout["bodies"]): Tuning {
  return {
    gravity,
    bodies: bodies.flatMap(({ implicit, damping, friction }, body) => (implicit ? [] : [{ body, damping, friction }])),
  };
}

/** How slowly a body's own motion under gravity goes, s: sqrt(size/g), at least 1. */
function paceOf(size: number, gravity: readonly number[]): number {
  const g = Math.sqrt(gravity.reduce((sum, c) => sum + c * c, 0));
  return g > 0 ? Math.max(1, Math.sqrt(size / g)) : 1;
}

export class RoomTuning {
  private readonly views: Views;
  private readonly layout: SimLayout;
  private readonly block: Float64Array;

  constructor(views: Views, layout: SimLayout) {
    this.views = views;
    this.layout = layout;
    this.block = new Float64Array(views.f32.buffer, layout.tuning, tuningBytes(layout.bodyCount) / 8);
  }

  /** As the scene says: for a memory that is being made. */
  begin(): void {
    const { gravity, bodies } = this.layout;
    this.block.set([...gravity, 0, ...bodies.flatMap(({ damping, friction }) => [damping, friction])]);
  }

  get gravity(): [number, number, number] {
    return [this.block[0]!, this.block[1]!, this.block[2]!];
  }

  /** 1/s */
  damping(body: number): number {
    return this.block[HEAD + PER_BODY * body]!;
  }

  /**
   * Seconds that count as one for falling asleep: the time scale sqrt(size/g) of a fall through its own size, at least
   * 1.
   */
  pace(body: number): number {
    return paceOf(this.layout.bodies[body]!.size, this.gravity);
  }

  /** 4-byte words that the state's hash takes in: none as long as everything is as the scene says. */
  get hashedWords(): number {
    return this.block[3] === 0 ? 0 : 2 * this.block.length;
  }

  /** Between two ticks. */
  get current(): Tuning {
    return {
      gravity: this.gravity,
      bodies: this.layout.tuned.bodies.map(({ body }) => ({
        body,
        damping: this.damping(body),
        friction: this.friction(body),
      })),
    };
  }

  /** @param input in its ranges (rooms/clientMessages.ts). @returns whether pairs have to be listed anew */
  apply({ gravity, body, damping, friction, asScene }: Tune): boolean {
    const { layout } = this;
    if (asScene) {
      this.setGravity(layout.gravity);
      for (const [n, body] of layout.bodies.entries()) {
        if (body.implicit) continue;
        this.setDamping(n, body.damping);
        this.setFriction(n, body.friction);
      }
      this.block[3] = 0;
      return true;
    }
    if (gravity) this.setGravity(gravity);
    if (body !== undefined && damping !== undefined) this.setDamping(body, damping);
    if (body !== undefined && friction !== undefined) this.setFriction(body, friction);
    this.block[3] = 1;
    return friction !== undefined;
  }

  private friction(body: number): number {
    return this.block[HEAD + PER_BODY * body + 1]!;
  }

  private get accelerations(): number {
    return this.views.i32[(L.HEADER + L.H_ACC) / 4]! / 4;
  }

  private setGravity(gravity: readonly number[]): void {
    const { f32 } = this.views;
    this.block.set(gravity);
    const acc = this.accelerations;
    for (const { first, count, loads } of this.layout.bodies) {
      for (let i = 0; i < count; i++) {
        // as the scene has it: who waits or is held has no inverse mass now
        if (f32[this.layout.initial / 4 + 4 * (first + i) + 3] === 0) continue;
        for (let r = 0; r < 3; r++) f32[acc + 4 * (first + i) + r] = gravity[r]! + (loads ? loads[3 * i + r]! : 0);
      }
    }
  }

  private setDamping(body: number, damping: number): void {
    const { layout, views } = this;
    const { first, count } = layout.bodies[body]!;
    const saved = 16 * views.i32[(L.HEADER + L.H_PARTICLES) / 4]!;
    this.block[HEAD + PER_BODY * body] = damping;
    for (const rows of [layout.v, layout.initial + saved, layout.good + saved])
      for (let i = first; i < first + count; i++) views.f32[rows / 4 + 4 * i + 3] = damping;
  }

  private setFriction(body: number, friction: number): void {
    const { first, count, surface, staticFriction } = this.layout.bodies[body]!;
    const { f32 } = this.views;
    this.block[HEAD + PER_BODY * body + 1] = friction;
    const root = Math.sqrt(friction);
    const acc = this.accelerations;
    for (let i = first; i < first + count; i++) f32[acc + 4 * i + 3] = root;
    f32[(surface + L.SURFACE_DYNAMIC) / 4] = root;
    // what the scene says of rest it keeps, but it never holds less than what slides
    f32[(surface + L.SURFACE_STATIC) / 4] = Math.sqrt(Math.max(friction, staticFriction ?? 0));
  }
}
