/** Definition of an act of the matrix: a scene of two bodies, and the laws that it must obey. */
import type { Body, Collider, Scene, Vec3 } from "../../../shared/scene/scene.ts";
import { crossings } from "../contact/crossings.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";
import { add, cross, norm, scale, subtract, ZERO, type Vector } from "../../../server/sim/reference/vector.ts";
import { vectorAt } from "../../../server/sim/reference/particles.ts";

/** A measured value and the limit of its law. */
export interface Measure {
  law: string;
  value: number;
  limit: number;
  unit: string;
}

export const G = 9.81;
/** A gap that no contact distance reaches, m. */
export const CLEAR = 0.006;
/** Largest creep of bodies at rest, m/s. */
export const CREEP = 1e-4;
/** Largest relative error of a distance or speed of Coulomb's law. */
export const EXACT = 0.02;
/** Largest drift of momentum relative to the moving momentum. */
export const MOMENTUM = 1e-5;
/** Largest relative excess of energy over the start: rounding of float32. */
const ENERGY = 1e-6;
/** Ticks between two checks for intersections. */
const EVERY = 10;
export const HZ = 60;

export const crossed = (value: number): Measure => ({ law: "intersections", value, limit: 0, unit: "pairs" });

/** A world whose bodies are named a and b. */
export class Stage {
  readonly lab: Laboratory;
  /** Largest number of intersecting triangle pairs so far. */
  crossed = 0;
  /** Highest sum of kinetic and potential energy so far, J. */
  highest = -Infinity;
  readonly #gravity: number;
  readonly #hasSurfaces: boolean;

  private constructor(lab: Laboratory, gravity: number) {
    this.lab = lab;
    this.#gravity = gravity;
    this.#hasSurfaces = lab.created.bodies.some(({ triangles }) => triangles.length > 0);
  }

  /** @param rests bodies may fall asleep, as in rooms */
  static async open(
    bodies: readonly Body[],
    { gravity = 0, rests = false, ...more }: { gravity?: number; rests?: boolean } & Partial<Omit<Scene, "gravity">>,
  ): Promise<Stage> {
    const lab = await laboratory({
      refine: true,
      worldRadius: 1000,
      gravity: [0, -gravity, 0],
      bodies: [...bodies],
      ...more,
    });
    lab.world.mayRest = rests;
    return new Stage(lab, gravity);
  }

  run(seconds: number, each: (tick: number) => void = () => {}): void {
    for (let tick = 1; tick <= Math.round(seconds * HZ); tick++) {
      this.lab.run(1);
      this.highest = Math.max(this.highest, this.energy());
      if (this.#hasSurfaces && tick % EVERY === 0) this.crossed = Math.max(this.crossed, crossings(this.lab, true));
      each(tick);
    }
  }

  center(body: number): Vec3 {
    const { mass } = this.lab.created.bodies[body]!;
    const x = this.lab.positions(body);
    return averageOf(x, mass);
  }

  velocity(body: number): Vec3 {
    return averageOf(this.lab.velocities(body), this.lab.created.bodies[body]!.mass);
  }

  mass(body: number): number {
    return this.lab.created.bodies[body]!.mass.reduce((sum, m) => sum + m, 0);
  }

  /** Kinetic and potential energy, J. */
  energy(): number {
    return this.lab.created.bodies.reduce((sum, { mass }, body) => {
      const [x, v] = [this.lab.positions(body), this.lab.velocities(body)];
      return mass.reduce((all, m, i) => {
        const square = v[3 * i]! ** 2 + v[3 * i + 1]! ** 2 + v[3 * i + 2]! ** 2;
        return all + m * (this.#gravity * x[3 * i + 1]! + square / 2);
      }, sum);
    }, 0);
  }

  /** Momentum, kg m/s, and angular momentum about the origin, kg m²/s. */
  momentum(): { linear: Vector; angular: Vector } {
    let [linear, angular]: [Vector, Vector] = [ZERO, ZERO];
    this.lab.created.bodies.forEach(({ mass }, body) => {
      const [x, v] = [this.lab.positions(body), this.lab.velocities(body)];
      mass.forEach((m, i) => {
        const p = scale(m, vectorAt(v, i));
        linear = add(linear, p);
        angular = add(angular, cross(vectorAt(x, i), p));
      });
    });
    return { linear, angular };
  }

  /** Adds a velocity and a spin about the body's center, rad/s. */
  push(body: number, velocity: Vec3, spin: Vec3 = [0, 0, 0]): void {
    const v = this.lab.velocities(body);
    const c = this.center(body);
    this.lab.put(
      body,
      (x) => x,
      (x, i) => {
        const d = x.map((e, r) => e - c[r]!) as Vec3;
        const turn = [
          spin[1] * d[2] - spin[2] * d[1],
          spin[2] * d[0] - spin[0] * d[2],
          spin[0] * d[1] - spin[1] * d[0],
        ];
        return [0, 1, 2].map((r) => v[3 * i + r]! + velocity[r]! + turn[r]!) as Vec3;
      },
    );
  }

  /** Runs on. @returns speed at which the fastest center moves on average, m/s */
  creep(seconds: number): Measure {
    const bodies = this.lab.created.bodies.map((_, body) => body);
    const before = bodies.map((body) => this.center(body));
    this.run(seconds);
    const ways = bodies.map((body) => norm(subtract(this.center(body), before[body]!)));
    return { law: "creep", value: Math.max(...ways) / seconds, limit: CREEP, unit: "m/s" };
  }

  /** Follows momentum and kinetic energy of a collision in free flight. */
  collide(seconds: number, angular: boolean): Measure[] {
    const before = this.momentum();
    const moving = [0, 1].reduce((sum, body) => sum + this.mass(body) * norm(this.velocity(body)), 0);
    const energy = this.energy();
    this.highest = -Infinity;
    const drift = { linear: 0, angular: 0 };
    this.run(seconds, () => {
      const now = this.momentum();
      drift.linear = Math.max(drift.linear, norm(subtract(now.linear, before.linear)) / moving);
      drift.angular = Math.max(drift.angular, norm(subtract(now.angular, before.angular)) / (0.1 * moving));
    });
    return [
      { law: "momentum", value: drift.linear, limit: MOMENTUM, unit: "" },
      ...(angular ? [{ law: "angular momentum", value: drift.angular, limit: MOMENTUM, unit: "" }] : []),
      { law: "energy gained", value: this.highest / energy - 1, limit: ENERGY, unit: "" },
      crossed(this.crossed),
    ];
  }
}

/** Mean of the rows, weighted by mass. */
function averageOf(rows: Float64Array, mass: Float64Array | readonly number[]): Vec3 {
  const sum: Vec3 = [0, 0, 0];
  let total = 0;
  mass.forEach((m, i) => {
    total += m;
    for (let r = 0; r < 3; r++) sum[r]! += m * rows[3 * i + r]!;
  });
  return sum.map((s) => s / total) as Vec3;
}

export const floor = (friction: number): Collider => ({ type: "plane", normal: [0, 1, 0], offset: 0, friction });

/** Four smooth walls around the axis x = z = 0. @param half distance of the walls from the axis, m */
export const chimney = (half: number): Collider[] =>
  [[1, 0], [-1, 0], [0, 1], [0, -1]].map(([x, z]) => ({ type: "plane", normal: [x!, 0, z!], offset: -half, friction: 0 })); // biome-ignore format: one line
