/** Scripted grabs: inputs of members that depend only on the tick and the state, so that a run can be repeated. */
import type { Vec3 } from "../../../shared/scene/scene.ts";
import type { CreatedWorld } from "../../../server/sim/world/createWorld.ts";
import type { Input } from "../../../server/sim/types.ts";
import type { SimWorld } from "../../../server/sim/world.ts";

/** One pull: grabs a body's surface in tick `from`, moves as `by` says and lets go in tick `until`. */
export interface Pull {
  body: string;
  /**
   * Grabs the triangle whose middle is nearest to this point, m; or the triangle with this number, modulo their count.
   */
  at: Vec3 | number;
  from: number;
  until: number;
  /** Displacements from the start, m, reached at equal intervals, the last at the release. */
  by: Vec3[];
}

/** An impulse, N s, on a triangle chosen as for a pull. */
interface Blow {
  body: string;
  at: Vec3 | number;
  tick: number;
  impulse: Vec3;
}

export interface Script {
  pulls: Pull[];
  blows?: Blow[];
  /** Ticks that begin with a reset of the room. */
  resets?: number[];
}

/** @returns a function that returns the inputs of a tick (from 1); call it for every tick, in order, before the step */
export function handsOf(
  created: CreatedWorld,
  world: SimWorld,
  { pulls, blows = [], resets = [] }: Script,
): (tick: number) => Input[] {
  const numberOf = (name: string): number => created.layout.bodies.findIndex((b) => b.name === name);
  const anew = new Set(resets);
  const held = new Map<Pull, Vec3>();
  const middleOf = (body: number, triangle: number): Vec3 => {
    const corners = [0, 1, 2].map((k) => world.position(body, created.bodies[body]!.triangles[3 * triangle + k]!));
    return [0, 1, 2].map((r) => corners.reduce((sum, c) => sum + c[r]! / 3, 0)) as Vec3;
  };
  const pick = (body: number, at: Vec3 | number): number => {
    const count = created.bodies[body]!.triangles.length / 3;
    if (typeof at === "number") return at % count;
    let best = 0;
    let least = Infinity;
    for (let t = 0; t < count; t++) {
      const distance = middleOf(body, t).reduce((sum, c, r) => sum + (c - at[r]!) ** 2, 0);
      if (distance < least) [best, least] = [t, distance];
    }
    return best;
  };
  return (tick) => {
    const inputs: Input[] = anew.has(tick) ? [{ type: "reset", member: 1 }] : [];
    if (anew.has(tick)) held.clear();
    for (const blow of blows) {
      if (blow.tick !== tick) continue;
      const body = numberOf(blow.body);
      inputs.push({
        type: "impulse",
        member: 1,
        body,
        triangle: pick(body, blow.at),
        u: 1 / 3,
        v: 1 / 3,
        impulse: blow.impulse,
      });
    }
    pulls.forEach((pull, n) => {
      const member = n + 1;
      const { from, until, by } = pull;
      if (tick === from) {
        const body = numberOf(pull.body);
        const triangle = pick(body, pull.at);
        const target = middleOf(body, triangle);
        held.set(pull, target);
        inputs.push({ type: "grab", member, grab: 0, body, triangle, u: 1 / 3, v: 1 / 3, target });
      }
      const start = held.get(pull);
      if (!start || tick <= from) return;
      if (tick >= until) {
        held.delete(pull);
        return void inputs.push({ type: "release", member, grab: 0 });
      }
      // straight from place to place
      const s = ((tick - from) / (until - from)) * by.length;
      const k = Math.floor(s);
      const a = k === 0 ? [0, 0, 0] : by[k - 1]!;
      const b = by[k]!;
      inputs.push({
        type: "move",
        member,
        grab: 0,
        target: start.map((c, r) => c + a[r]! + (s - k) * (b[r]! - a[r]!)) as Vec3,
      });
    });
    return inputs;
  };
}

/**
 * Random pulls: `hands` at a time, each grabs a place, wanders by up to `reach` m through a few places, and grabs
 * elsewhere.
 * @param seed selects other pulls
 */
export function wander(
  bodies: readonly string[],
  { hands, from, until, reach, seed }: { hands: number; from: number; until: number; reach: number; seed: number },
): Pull[] {
  const random = stream(seed);
  const pulls: Pull[] = [];
  const between = (low: number, high: number): number => low + Math.floor(random() * (high - low + 1));
  for (let hand = 0; hand < hands; hand++) {
    for (let tick = from + between(0, 20); tick < until - 10; ) {
      const ticks = between(40, 120);
      const places = between(2, 4);
      pulls.push({
        body: bodies[between(0, bodies.length - 1)]!,
        at: between(0, 2 ** 30),
        from: tick,
        until: Math.min(tick + ticks, until),
        by: Array.from(
          { length: places },
          () => [reach * (2 * random() - 1), reach * (1.2 * random() - 0.4), reach * (2 * random() - 1)] as Vec3,
        ),
      });
      tick += ticks + between(5, 40);
    }
  }
  return pulls;
}

/**
 * Pseudo-random numbers in [0, 1) of 32 bits: a linear congruence (Numerical Recipes), mixed so that low bits are as
 * good as high ones.
 */
export function stream(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const mixed = Math.imul(state ^ (state >>> 16), 0x45d9f3b);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
}
