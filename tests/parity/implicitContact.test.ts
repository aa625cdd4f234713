/**
 * Kernel and twin of implicit bodies that touch each other, themselves and a mesh collider have the same bits for the
 * same near pairs.
 */
import { expect, test } from "vitest";
import type { Body, Scene } from "../../shared/scene.ts";
import * as L from "../../server/kernel/assembly/layout/layout.ts";
import { createWorld, type CreatedWorld } from "../../server/sim/createWorld.ts";
import { implicitModel } from "../../server/sim/implicit/model.ts";
import { Contacts, type Kept, type NearPair, type Who } from "../../server/sim/reference/implicit/contacts.ts";
import { ImplicitBody, initialState, stepTogether } from "../../server/sim/reference/implicit/step.ts";
import { openWorld } from "../../server/sim/world.ts";

type Numbers = readonly [number, number, number];

/** Reads the room's memory for the twin's surroundings. */
class Reader {
  private readonly created: CreatedWorld;
  private readonly f32: Float32Array;
  private readonly i32: Int32Array;

  constructor(created: CreatedWorld) {
    this.created = created;
    this.f32 = new Float32Array(created.memory.buffer);
    this.i32 = new Int32Array(created.memory.buffer);
  }

  header(field: number): number {
    return this.i32[(L.HEADER + field) / 4]!;
  }

  at(address: number): Numbers {
    return [0, 1, 2].map((r) => this.f32[address / 4 + r]!) as unknown as Numbers;
  }

  /** float64[3n] of a body in an array of particles. */
  of(body: number, array: number): Float64Array {
    const { first, count } = this.created.layout.bodies[body]!;
    return Float64Array.from({ length: 3 * count }, (_, k) => {
      return this.f32[array / 4 + 4 * (first + Math.floor(k / 3)) + (k % 3)]!;
    });
  }

  /** Body and local number of a free particle; -1: no body. */
  owner(address: number): { body: number; particle: number } {
    const { layout } = this.created;
    const particle = (address - layout.x) / 16;
    const free = this.f32[address / 4 + 3]! !== 0;
    const body = layout.bodies.findIndex(({ first, count }) => particle >= first && particle < first + count);
    return free && body >= 0 ? { body, particle: particle - layout.bodies[body]!.first } : { body: -1, particle: -1 };
  }

  /** Pairs of the last step, and the bodies in each. */
  pairs(): { pair: NearPair; bodies: number[] }[] {
    const together = this.header(L.H_TOGETHER);
    const [rows, count] = [L.TOGETHER_ROWS, L.TOGETHER_ROW_COUNT].map((field) => this.i32[(together + field) / 4]!);
    return Array.from({ length: count! }, (_, n) => this.pair(rows! + n * L.ROW_BYTES));
  }

  private pair(row: number): { pair: NearPair; bodies: number[] } {
    const f64 = new Float64Array(this.created.memory.buffer);
    const number = (field: number): number => f64[(row + field) / 8]!;
    const corners = [0, 1, 2, 3];
    const addresses = corners.map((k) => this.i32[(row + L.ROW_PARTICLES) / 4 + k]!);
    const owners = addresses.map((address) => this.owner(address));
    const { x } = this.created.layout;
    const acc = this.header(L.H_ACC) - x;
    const safe = this.header(L.H_SAFE) - x;
    const squares = addresses.map((address) => {
      const [a, b, c] = this.at(address + acc);
      return a * a + b * b + c * c;
    });
    return {
      bodies: [...new Set(owners.map(({ body }) => body).filter((body) => body >= 0))],
      pair: {
        key: addresses.join(),
        first: addresses.slice(0, number(L.ROW_WEIGHT + 8) > 0 ? 2 : 1).join(),
        who: addresses.map(
          (address, k): Who =>
            owners[k]!.body >= 0 ? owners[k]! : { start: this.at(address + safe), end: this.at(address) },
        ),
        normal: [0, 8, 16].map((r) => number(L.ROW_NORMAL + r)) as unknown as Numbers,
        weights: corners.map((k) => number(L.ROW_WEIGHT + 8 * k)),
        thickness: number(L.ROW_THICKNESS),
        mu: { static: number(L.ROW_STATIC), dynamic: number(L.ROW_DYNAMIC) },
        acceleration2: Math.max(...squares),
      },
    };
  }
}

/** Groups of bodies connected by near pairs, each sorted, ordered by their first body. */
function groups(bodies: number, pairs: readonly { bodies: number[] }[]): number[][] {
  const leader = Array.from({ length: bodies }, (_, n) => n);
  const of = (n: number): number => (leader[n] === n ? n : of(leader[n]!));
  for (const { bodies: both } of pairs) {
    const ends = both.map(of);
    for (const end of ends) leader[end] = Math.min(...ends);
  }
  const all = leader.map((_, n) => n);
  return all.filter((n) => leader[n] === n).map((n) => all.filter((m) => of(m) === n));
}

/** Runs both. @returns the number of pairs that the twin solved, and of steps that solved several bodies together */
async function compare(scene: Partial<Scene> & Pick<Scene, "bodies">, ticks: number): Promise<[number, number]> {
  const created = await createWorld({ version: 1, title: "parity", ...scene }, { baseDir: "." });
  const { memory, layout } = created;
  const reader = new Reader(created);
  const acc = reader.header(L.H_ACC);
  const twins = created.bodies.map((body, b) => {
    const model = implicitModel(body, layout.tickHz, layout.substeps);
    const a = reader.of(b, acc);
    return new ImplicitBody(model, initialState(model, reader.of(b, layout.x), reader.of(b, layout.v), a), a);
  });
  const world = openWorld(memory, layout);
  world.mayRest = false;
  const phases = Array.from({ length: reader.header(L.H_PHASES) }, (_, n) => n);
  const kindOf = (n: number): number =>
    new Int32Array(memory.buffer)[(reader.header(L.H_PROGRAM) + n * L.PHASE_BYTES + L.PHASE_KIND) / 4]!;
  const contacts = phases.find((n) => kindOf(n) === L.KIND_IMPLICIT_TOGETHER);
  let before = new Map<string, Kept>();
  let [solved, together] = [0, 0];
  world.watchPhases((phase) => {
    if (phase !== contacts) return;
    const pairs = reader.pairs();
    const after = new Map<string, Kept>();
    for (const group of groups(twins.length, pairs)) {
      const mine = pairs.filter(({ bodies }) => group.includes(bodies[0]!)).map(({ pair }) => pair);
      const local = mine.map((pair) => ({
        ...pair,
        who: pair.who.map((w) => ("body" in w ? { ...w, body: group.indexOf(w.body) } : w)),
      }));
      stepTogether(
        group.map((b) => twins[b]!),
        [],
        new Contacts(before, after),
        local,
      );
      solved += local.length;
      if (group.length > 1) together++;
    }
    before = after;
  });
  for (let t = 0; t < ticks; t++) {
    world.step([]);
    twins.forEach(({ state }, b) => {
      const size = state.x.length;
      const kernel = new Float64Array(memory.buffer, layout.states[b]!.address, 4 * size);
      [state.x, state.v, state.x1, state.v1].forEach((values, n) =>
        expect(kernel.subarray(n * size, (n + 1) * size), `tick ${t}, body ${b}, part ${n}`).toEqual(values),
      );
    });
  }
  // the twin does not model the exact response
  expect(reader.header(L.H_COUNT_IMPULSES)).toBe(0);
  return [solved, together];
}

const block = (name: string, height: number, more: Partial<Body> = {}): Body =>
  ({
    name,
    kind: "soft",
    solver: "implicit",
    mesh: { type: "box", size: [0.2, 0.1, 0.2], cells: [2, 1, 2] },
    transform: { translate: [0, height, 0] },
    material: { density: 1000, youngsModulus: 1e6, poissonsRatio: 0.3, friction: 0.3 },
    ...more,
  }) as Body;

test("blocks that fall on each other and on a mesh collider, and slide, have the twin's bits", async () => {
  const [solved, together] = await compare(
    {
      bodies: [
        block("low", 0.052, { velocity: [0.5, 0, 0] }),
        block("high", 0.16, {
          velocity: [-0.5, -1, 0.2],
          transform: { translate: [0.02, 0.16, 0.01], rotate: [0, 20, 0] },
        }),
      ],
      colliders: [
        {
          type: "mesh",
          mesh: { type: "box", size: [2, 0.2, 2], cells: [2, 1, 2] },
          transform: { translate: [0, -0.1, 0] },
          friction: 0.3,
        },
      ],
    },
    15,
  );
  expect(solved).toBeGreaterThan(0);
  expect(together).toBeGreaterThan(0);
});

test("two blocks that collide in free flight have the twin's bits", async () => {
  const [, together] = await compare(
    {
      gravity: [0, 0, 0],
      bodies: [
        block("still", 0),
        block("comes", 0.12, {
          velocity: [0.1, -1, 0],
          transform: { translate: [0.03, 0.12, 0.05], rotate: [5, 10, 0] },
        }),
      ],
    },
    10,
  );
  expect(together).toBeGreaterThan(0);
});

test("a sheet that settles on another has the twin's bits", async () => {
  const sheet = (name: string, height: number, velocity: [number, number, number]): Body => ({
    name,
    kind: "cloth",
    solver: "implicit",
    mesh: { type: "grid", size: [0.5, 0.5], cells: [5, 5] },
    transform: { translate: [0.02, height, 0.03], rotate: [0, 10 * height, 0] },
    velocity,
    material: {
      density: 200,
      thickness: 1e-3,
      youngsModulus: 1e5,
      poissonsRatio: 0.3,
      bendingStiffness: 1e-4,
      friction: 0.4,
    },
  });
  const [, together] = await compare(
    { gravity: [0, 0, 0], bodies: [sheet("low", 0, [0, 0.2, 0]), sheet("high", 0.012, [0.1, -0.2, 0])] },
    10,
  );
  expect(together).toBeGreaterThan(0);
});
