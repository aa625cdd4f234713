/** Kernel and twin of the implicit step: the same operations in the same order, so the same bits. */
import { expect, test } from "vitest";
import type { Body, Scene } from "../../shared/scene.ts";
import * as L from "../../server/kernel/assembly/layout/layout.ts";
import { createWorld, type CreatedWorld } from "../../server/sim/createWorld.ts";
import { implicitModel } from "../../server/sim/implicit/model.ts";
import type { HeldPoint } from "../../server/sim/reference/implicit/points.ts";
import {
  ImplicitBody,
  type ImplicitState,
  initialState,
  type Surroundings,
} from "../../server/sim/reference/implicit/step.ts";
import type { Place } from "../../server/sim/reference/implicit/colliderContacts.ts";
import type { Input } from "../../server/sim/types.ts";
import { openWorld } from "../../server/sim/world.ts";

const edge: NonNullable<Body["pins"]> = [{ select: { box: { min: [-1, -1, -1], max: [1e-3, 1, 1] } } }];
const beam = (pins: Body["pins"]): Body => ({
  name: "body",
  kind: "soft",
  solver: "implicit",
  contact: { self: false },
  mesh: { type: "box", size: [1, 0.1, 0.1], cells: [8, 2, 2] },
  transform: { translate: [0.5, 0, 0], rotate: [pins ? 0 : 70, 0, 0] },
  material: { density: 1000, youngsModulus: 2e5, poissonsRatio: 0.3, damping: 0.5 },
  ...(pins && { pins }),
});
const sheet = (bendingStiffness: number): Body => ({
  name: "body",
  kind: "cloth",
  solver: "implicit",
  contact: { self: false },
  mesh: { type: "grid", size: [1, 1], cells: [8, 8] },
  transform: { translate: [0.5, 0, 0] },
  material: { density: 200, thickness: 1e-3, youngsModulus: 1e6, poissonsRatio: 0.3, bendingStiffness },
  pins: edge,
});

const GRAB: Input = { type: "grab", member: 1, grab: 0, body: 0, triangle: 5, u: 0.3, v: 0.3, target: [0.4, 0.3, 0.2] };

/** Particle data of one body as the memory has it. */
function numbers({ memory, layout }: CreatedWorld, address: number): Float64Array {
  const f32 = new Float32Array(memory.buffer, address, 4 * layout.particleCount);
  return Float64Array.from({ length: 3 * layout.particleCount }, (_, k) => f32[4 * Math.floor(k / 3) + (k % 3)]!);
}

function heldPoints({ memory, layout }: CreatedWorld): HeldPoint[] {
  const f32 = new Float32Array(memory.buffer);
  const i32 = new Int32Array(memory.buffer);
  const slots = Array.from({ length: layout.attachmentCount + layout.grabCount }, (_, n) => n);
  return slots.flatMap((n) => {
    const at = (layout.points + n * L.POINT_BYTES) / 4;
    if (i32[at + L.POINT_ACTIVE / 4] !== L.POINT_IMPLICIT) return [];
    const indices = Array.from({ length: i32[at + L.POINT_COUNT / 4]! }, (_, i) => i);
    return [
      {
        particles: indices.map((i) => (i32[at + L.POINT_ADDRESS / 4 + i]! - layout.x) / 16),
        weights: indices.map((i) => f32[at + L.POINT_WEIGHT / 4 + i]!),
        target: [0, 1, 2].map((r) => f32[at + L.POINT_TARGET / 4 + r]!) as [number, number, number],
        compliance: f32[at + L.POINT_ALPHA / 4]!,
        maxForce: f32[at + L.POINT_MAX_FORCE / 4]! * f32[at + L.POINT_SHARE / 4]!,
      },
    ];
  });
}

/** The plane y = 0 as the kernel has it, in float32. @returns what lies on it */
function onFloor({ memory, layout }: CreatedWorld, mass: Float64Array, h: number): Surroundings {
  const [NEAR, SKIN] = [Math.fround(0.002), Math.fround(0.001)];
  const twoSteps = Math.fround(2 * Math.fround(h));
  const f32 = new Float32Array(memory.buffer);
  const i32 = new Int32Array(memory.buffer);
  const header = (field: number): number => i32[(L.HEADER + field) / 4]!;
  const collider = (field: number): number => f32[(header(L.H_COLLIDERS) + field) / 4]!;
  const lane = (address: number, i: number): number => f32[address / 4 + 4 * i + 3]!;
  const accelerationOf = (i: number): number[] => [0, 1, 2].map((k) => f32[header(L.H_ACC) / 4 + 4 * i + k]!);
  const rootStatic = f32[(header(L.H_SURFACE) + L.SURFACE_STATIC) / 4]!;
  const places = (x: Float64Array, end?: Float64Array): Place[] =>
    Array.from(mass, (_, i) => i).flatMap((i) => {
      const r = lane(layout.xPrev, i);
      const gapAt = (y: Float64Array): number => Math.fround(Math.fround(y[3 * i + 1]!) - r);
      const lies = gapAt(x) <= Math.fround(NEAR * r);
      if (!(mass[i]! > 0) || (!lies && !(end && gapAt(end) < 0))) return [];
      const at = lies ? x : end!;
      const out = Math.fround(Math.fround(SKIN * r) - gapAt(at));
      const [px, py, pz] = [0, 1, 2].map((k) => Math.fround(at[3 * i + k]!)) as [number, number, number];
      return {
        particle: i,
        normal: [0, 1, 0],
        place: [px, py + (lies && gapAt(at) < 0 ? 0 : out), pz],
        mu: {
          static: Math.fround(rootStatic * collider(L.COLLIDER_STATIC)),
          dynamic: Math.fround(lane(header(L.H_ACC), i) * collider(L.COLLIDER_FRICTION)),
        },
        least: 1e-4 * r,
        resting: 2 * h * h * Math.sqrt(accelerationOf(i).reduce((sum, a) => sum + a * a, 0)),
      };
    });
  return {
    places,
    hits: (x, v) =>
      places(x).some(({ particle: i }) => {
        const approach = -(h * v[3 * i + 1]! - (Math.fround(x[3 * i + 1]!) - x[3 * i + 1]!));
        const g = Math.abs(f32[header(L.H_ACC) / 4 + 4 * i + 1]!);
        return Math.fround(approach) > Math.fround(Math.fround(twoSteps * Math.fround(h)) * g);
      }),
  };
}

/** Velocities that turn what is at x about the z axis through its middle. @param speed 1/s */
function turning(x: Float64Array, speed: number): Float64Array {
  const middle = [0, 1].map((r) => x.reduce((sum, p, k) => sum + (k % 3 === r ? p : 0), 0) / (x.length / 3));
  const rate = [-speed, speed];
  return x.map((_, k) =>
    k % 3 === 2 ? 0 : Math.fround(rate[k % 3]! * (x[k + (k % 3 === 0 ? 1 : -1)]! - middle[1 - (k % 3)]!)),
  );
}

/** Puts the state of its only body into a room. */
function putState({ memory, layout }: CreatedWorld, { x, v, x1, v1 }: ImplicitState): void {
  const f32 = new Float32Array(memory.buffer);
  v.forEach((value, k) => (f32[layout.v / 4 + 4 * Math.floor(k / 3) + (k % 3)] = value));
  [x, v, x1, v1].forEach((values, n) =>
    new Float64Array(memory.buffer, layout.states[0]!.address, 4 * x.length).set(values, n * x.length),
  );
}

async function compare(body: Body, more: Partial<Scene>, hands: boolean, speed = 0): Promise<ImplicitBody> {
  const created = await createWorld({ version: 1, title: "parity", bodies: [body], ...more }, { baseDir: "." });
  const { memory, layout, bodies } = created;
  const acceleration = numbers(created, new Int32Array(memory.buffer)[(L.HEADER + L.H_ACC) / 4]!);
  const model = implicitModel(bodies[0]!, layout.tickHz);
  const x = numbers(created, layout.x);
  const v = speed === 0 ? numbers(created, layout.v) : turning(x, speed);
  const state = initialState(model, x, v, acceleration);
  if (speed !== 0) putState(created, state);
  const around = more.colliders && onFloor(created, model.mass, model.h);
  const twin = new ImplicitBody(model, state, acceleration, around);
  const world = openWorld(memory, layout);
  world.mayRest = false;
  const size = 3 * layout.particleCount;
  for (let t = 0; t < 12; t++) {
    world.step(hands && t === 4 ? [GRAB] : []);
    const held = heldPoints(created);
    for (let n = 0; n < model.steps; n++) twin.step(held);
    const kernel = new Float64Array(memory.buffer, layout.states[0]!.address, 4 * size);
    const { x, v, x1, v1 } = twin.state;
    [x, v, x1, v1].forEach((values, n) =>
      expect(kernel.subarray(n * size, (n + 1) * size), `tick ${t}, part ${n}`).toEqual(values),
    );
    expect(numbers(created, layout.x)).toEqual(Float64Array.from(x, Math.fround));
  }
  return twin;
}

test("a clamped solid", async () => {
  const { counts } = await compare(beam(edge), {}, false);
  expect(counts).toMatchObject({ steps: 48, halvings: 0 });
});

test("a free solid that begins to move, and a hand takes", () =>
  compare({ ...beam(undefined), velocity: [1, 2, 3] }, {}, true));

/** It turns so far between two steps that what they would share does not fit. */
test("a free solid that turns, and one that spins", async () => {
  const slow = await compare(beam(undefined), {}, false, 2);
  expect(slow.counts).toMatchObject({ steps: 48, reused: 36 });
  const fast = await compare(beam(undefined), {}, false, 60);
  expect(fast.counts.reused).toBeLessThan(36);
});

test("a sheet whose factor leaves bending out, and one whose factor has it", async () => {
  await compare(sheet(1e-4), {}, false);
  await compare(sheet(10), {}, true);
});

test("a sheet that is curved at rest", () =>
  compare({ ...sheet(1e-2), mesh: { type: "ball", radius: 0.5, subdivisions: 1 }, pins: edge.slice(1) }, {}, true));

/** The same body of a viscous material. */
const viscous = (body: Body, retardationTime: number): Body =>
  ({ ...body, material: { ...body.material, retardationTime } }) as Body;

test("viscous solids: clamped, turning, and let go of by a hand that crushes", async () => {
  await compare(viscous(beam(edge), 0.02), {}, true);
  await compare(viscous(beam(undefined), 0.005), {}, false, 8);
});

test("viscous sheets: in their plane and out of it, flat and curved at rest", async () => {
  await compare(viscous(sheet(1e-4), 0.01), {}, true);
  await compare(viscous(sheet(10), 0.003), {}, true);
  const ball: Body = { ...sheet(1e-2), mesh: { type: "ball", radius: 0.5, subdivisions: 1 }, pins: edge.slice(1) };
  await compare(viscous(ball, 0.01), {}, true);
});

test("a viscous solid that slides on a floor", async () => {
  const solid = {
    ...viscous(beam(undefined), 1e-3),
    velocity: [0.3, 0, 0.1],
    material: { density: 1000, youngsModulus: 1e8, poissonsRatio: 0.3, damping: 0.5, retardationTime: 1e-3 },
  } as Body;
  const still = await compare(
    { ...solid, transform: { translate: [0.5, 0.05 + (await radius(solid)) * 1.001, 0] } },
    { colliders: FLOOR },
    false,
  );
  expect(still.counts.rounds).toBeGreaterThan(0);
});

test("attachments without compliance, and one that slips", () =>
  compare(
    beam(undefined),
    {
      attachments: [
        { from: { body: "body", near: [0, 0, 0] }, to: { world: [0, 0.1, 0] } },
        { from: { body: "body", near: [1, 0, 0] }, to: { world: [1, 1, 0] }, maxForce: 2 },
      ],
    },
    false,
  ));

test("a solid whose attachments crush it", async () => {
  const body = beam(undefined);
  const twin = await compare(
    { ...body, transform: { translate: [0.5, 0, 0] } },
    {
      attachments: [
        { from: { body: "body", near: [0, 0, 0] }, to: { world: [0.3, 0, 0] } },
        { from: { body: "body", near: [1, 0, 0] }, to: { world: [0.7, 0, 0] } },
      ],
    },
    false,
  );
  const x = twin.state.x;
  const { bodies } = await createWorld({ version: 1, title: "rest", bodies: [body] }, { baseDir: "." });
  const tets = bodies[0]!.elements.find((e) => e.kind === "tet")!;
  const parts = Array.from(tets.volume, (volume, e) => {
    const [a, b, c, d] = [0, 1, 2, 3].map((k) => x.subarray(3 * tets.particles[4 * e + k]!).subarray(0, 3));
    const [u, v, w] = [a!, b!, c!].map((p) => [0, 1, 2].map((r) => p[r]! - d![r]!)) as [number[], number[], number[]];
    const six =
      u[0]! * (v[1]! * w[2]! - v[2]! * w[1]!) -
      u[1]! * (v[0]! * w[2]! - v[2]! * w[0]!) +
      u[2]! * (v[0]! * w[1]! - v[1]! * w[0]!);
    return Math.abs(six) / 6 / volume;
  });
  expect(Math.min(...parts)).toBeLessThan(0.5);
});

const FLOOR: Scene["colliders"] = [{ type: "plane", normal: [0, 1, 0], offset: 0, friction: 0.05 }];

/** Contact radius of a particle of the body, m. */
async function radius(body: Body): Promise<number> {
  const { memory, layout } = await createWorld({ version: 1, title: "radius", bodies: [body] }, { baseDir: "." });
  return new Float32Array(memory.buffer)[layout.xPrev / 4 + 3]!;
}

test("a solid that slides on a floor and comes to rest, and one that a hand takes up", async () => {
  const lying = (height: number): Body =>
    ({
      ...beam(undefined),
      transform: { translate: [0.5, height, 0] },
      velocity: [0.3, 0, 0.1],
      // so stiff that nothing of it leaves the floor: what comes down there is not the twin's
      material: { density: 1000, youngsModulus: 1e8, poissonsRatio: 0.3, damping: 0.5 },
    }) as Body;
  const body = lying(0.05 + (await radius(lying(1))) * 1.001);
  const still = await compare(body, { colliders: FLOOR }, false);
  expect(still.counts.rounds).toBeGreaterThan(0);
  await compare({ ...body, velocity: [0, 0, 0] }, { colliders: FLOOR }, true);
});
