/** Kernel and twin of the implicit step: the same operations in the same order, so the same bits. */
import { expect, test } from "vitest";
import type { Body, Scene } from "../../shared/scene.ts";
import * as L from "../../server/kernel/assembly/layout/layout.ts";
import { createWorld, type CreatedWorld } from "../../server/sim/createWorld.ts";
import { implicitModel } from "../../server/sim/implicit/model.ts";
import type { HeldPoint } from "../../server/sim/reference/implicit/points.ts";
import { ImplicitBody, initialState } from "../../server/sim/reference/implicit/step.ts";
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

async function compare(body: Body, more: Partial<Scene>, hands: boolean): Promise<ImplicitBody> {
  const created = await createWorld({ version: 1, title: "parity", bodies: [body], ...more }, { baseDir: "." });
  const { memory, layout, bodies } = created;
  const acceleration = numbers(created, new Int32Array(memory.buffer)[(L.HEADER + L.H_ACC) / 4]!);
  const model = implicitModel(bodies[0]!, layout.tickHz);
  const state = initialState(model, numbers(created, layout.x), numbers(created, layout.v), acceleration);
  const twin = new ImplicitBody(model, state, acceleration);
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

test("a sheet whose factor leaves bending out, and one whose factor has it", async () => {
  await compare(sheet(1e-4), {}, false);
  await compare(sheet(10), {}, true);
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
