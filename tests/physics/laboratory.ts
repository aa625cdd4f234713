/** Shared by the physics tests: worlds from scenes written in place, with access to the particles of their bodies. */
import * as L from "../../server/kernel/assembly/layout/layout.ts";
import type { Scene } from "../../shared/scene/scene.ts";
import { validateScene } from "../../shared/scene/sceneValidator.ts";
import { createWorld, type CreatedWorld } from "../../server/sim/world/createWorld.ts";
import { openWorld, type SimWorld } from "../../server/sim/world.ts";
import type { Input, SimEvent } from "../../server/sim/types.ts";

/** A world under observation. */
export interface Laboratory {
  created: CreatedWorld;
  world: SimWorld;
  /**
   * float32 views of particle rows: x y z (from the room's origin) and w; velocity and damping rate; external
   * acceleration and root of the friction.
   */
  x: Float32Array;
  v: Float32Array;
  acceleration: Float32Array;
  /** Low words of positions, m: a coordinate is x plus its low word, also within a substep. */
  low: Float32Array;
  /** Steps `ticks` ticks; `inputs` apply to the first. Returns the events. */
  run(ticks: number, inputs?: readonly Input[]): SimEvent[];
  /** float64[3N] copy of a body's positions in the world, m. */
  positions(body?: number): Float64Array;
  /** float64[3N] copy of a body's velocities, m/s. */
  velocities(body?: number): Float64Array;
  /** Moves the particles of a body to `place`, at rest unless `velocity` is given. */
  put(
    body: number,
    place: (x: readonly [number, number, number], i: number) => readonly [number, number, number],
    velocity?: (x: readonly [number, number, number], i: number) => readonly [number, number, number],
  ): void;
}

/**
 * Creates the world of a test scene. Everything but the bodies has a default: no gravity, exactly the given substeps,
 * no sleep. @param baseDir folder of mesh files
 */
export async function laboratory(scene: Partial<Scene> & Pick<Scene, "bodies">, baseDir = "."): Promise<Laboratory> {
  const whole = validateScene({ version: 1, title: "test", gravity: [0, 0, 0], refine: false, ...scene });
  const created = await createWorld(whole, { baseDir });
  const world = openWorld(created.memory, created.layout);
  world.mayRest = false;
  const { layout } = created;
  const buffer = created.memory.buffer;
  const rows = (address: number): Float32Array => new Float32Array(buffer, address, 4 * layout.particleCount);
  const x = rows(layout.x);
  const v = rows(layout.v);
  const acceleration = rows(new Int32Array(buffer)[(L.HEADER + L.H_ACC) / 4]!);
  const low = rows(new Int32Array(buffer)[(L.HEADER + L.H_LOW) / 4]!);
  const copy = (rows: Float32Array, body: number, from: readonly number[]): Float64Array => {
    const { first, count } = layout.bodies[body]!;
    return Float64Array.from(
      { length: 3 * count },
      (_, k) => rows[4 * (first + Math.floor(k / 3)) + (k % 3)]! + from[k % 3]!,
    );
  };
  const { origin } = layout;
  return {
    created,
    world,
    x,
    v,
    acceleration,
    low,
    run(ticks, inputs = []) {
      const events: SimEvent[] = [];
      for (let t = 0; t < ticks; t++) events.push(...world.step(t === 0 ? inputs : []).events);
      return events;
    },
    positions: (body = 0) => copy(x, body, origin),
    velocities: (body = 0) => copy(v, body, [0, 0, 0]),
    put(body, place, velocity = () => [0, 0, 0]) {
      const { first, count } = layout.bodies[body]!;
      for (let i = 0; i < count; i++) {
        const at = 4 * (first + i);
        const here: [number, number, number] = [x[at]! + origin[0], x[at + 1]! + origin[1], x[at + 2]! + origin[2]];
        x.set(
          place(here, i).map((c, r) => c - origin[r]!),
          at,
        );
        v.set(velocity(here, i), at);
        low.fill(0, at, at + 4);
      }
    },
  };
}

/** Total volume of a soft body's tetrahedra, and the number of inverted ones. */
export function volumeOf(positions: Float64Array, tets: Uint32Array): { volume: number; inverted: number } {
  let volume = 0;
  let inverted = 0;
  for (let e = 0; e < tets.length; e += 4) {
    const p = [0, 1, 2, 3].map((k) => 3 * tets[e + k]!) as [number, number, number, number];
    const [a, b, c] = [0, 1, 2].map((k) => [0, 1, 2].map((r) => positions[p[k]! + r]! - positions[p[3]! + r]!)) as [
      number[],
      number[],
      number[],
    ];
    const six =
      a[0]! * (b[1]! * c[2]! - b[2]! * c[1]!) -
      a[1]! * (b[0]! * c[2]! - b[2]! * c[0]!) +
      a[2]! * (b[0]! * c[1]! - b[1]! * c[0]!);
    volume += six / 6;
    if (!(six > 0)) inverted++;
  }
  return { volume, inverted };
}
