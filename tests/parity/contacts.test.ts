/**
 * The broad phase against everything-with-everything, and kernel/assembly/contacts.ts against its float64 twin.
 * Broad phase: the same triangles, nearest first, but for those whose distance is within 1e-5 of the reach or of each other (float32 ties).
 * Solve: 256 units (2^-24) of the largest coordinate for a sweep over up to some hundred contacts in sequence.
 */
import { expect, test } from "vitest";
import type { Scene } from "../../shared/scene.ts";
import { validateScene } from "../../shared/sceneValidator.ts";
import * as L from "../../server/kernel/assembly/layout.ts";
import { createWorld, type CreatedWorld } from "../../server/sim/createWorld.ts";
import { closestWeights, findContacts, reachOf, solveContacts, CONTACT_TRIANGLES } from "../../server/sim/reference/contacts.ts";
import type { ReferenceWorld } from "../../server/sim/reference/step.ts";
import { combine, norm, subtract, type Vector } from "../../server/sim/reference/vector.ts";
import { openWorld, type SimWorld } from "../../server/sim/world.ts";
import { distanceAt, randomStream, UNIT } from "./kit.ts";
import { copyParticles, referenceRoom } from "./room.ts";

const material = { density: 400, youngsModulus: 3e4, poissonsRatio: 0.3, friction: 0.6 };
const SCENE: Scene = {
  version: 1, title: "touching", gravity: [0, 0, 0],
  bodies: [
    { name: "low", kind: "soft", mesh: { type: "box", size: [0.3, 0.2, 0.3], cells: [5, 3, 5] }, material },
    { name: "high", kind: "soft", mesh: { type: "box", size: [0.22, 0.2, 0.22], cells: [4, 3, 4] }, transform: { translate: [0.02, 0.2005, 0.01], rotate: [0, 20, 0] }, material },
    { name: "sheet", kind: "cloth", mesh: { type: "grid", size: [0.5, 0.5], cells: [12, 12] }, transform: { translate: [0, 0.302, 0], rotate: [3, 10, 2] }, material: { density: 300, thickness: 0.004, youngsModulus: 1e5, poissonsRatio: 0.3, friction: 0.3 } },
    { name: "far", kind: "soft", mesh: { type: "box", size: [0.1, 0.1, 0.1], cells: [2, 2, 2] }, transform: { translate: [3, 0, 0] }, material },
  ],
};

interface Room { created: CreatedWorld; world: SimWorld; twin: ReferenceWorld }

async function room(speed: number, squeeze: number, seed: number): Promise<Room> {
  const scene = validateScene(structuredClone(SCENE)), created = await createWorld(scene, { baseDir: "." }), random = randomStream(seed);
  const { layout } = created, f32 = new Float32Array(created.memory.buffer);
  for (let i = 0; i < layout.particleCount; i++) {
    const x = layout.x / 4 + 4 * i, xPrev = layout.xPrev / 4 + 4 * i, v = layout.v / 4 + 4 * i;
    for (let r = 0; r < 3; r++) {
      f32[xPrev + r] = f32[x + r]!;
      f32[x + r]! += 0.003 * random() - (r === 1 && f32[x + 1]! > 0.1 ? squeeze : 0);
      f32[v + r] = speed * random();
    }
  }
  return { created, world: openWorld(created.memory, layout), twin: referenceRoom(scene, created, [], []) };
}

/** The kernel's list: particle and triangles as particle numbers. */
function listOf({ created: { layout, memory } }: Room): { particle: number; triangles: { corners: number[]; side: number }[] }[] {
  const i32 = new Int32Array(memory.buffer), f32 = new Float32Array(memory.buffer), start = i32[(L.HEADER + L.H_CONTACTS) / 4]!;
  const particle = (address: number): number => (address - layout.x) / 16;
  return Array.from({ length: i32[(L.HEADER + L.H_CONTACT_COUNT) / 4]! }, (_, n) => {
    const at = (start + n * L.CONTACT_BYTES) / 4, count = i32[at + L.CONTACT_COUNT / 4]!;
    return {
      particle: particle(i32[at + L.CONTACT_PARTICLE / 4]!),
      triangles: Array.from({ length: count }, (_, t) => ({ corners: [0, 1, 2].map((c) => particle(i32[at + L.CONTACT_CORNERS / 4 + 3 * t + c]!)), side: f32[at + L.CONTACT_SIDE / 4 + t]! })),
    };
  });
}

for (const [speed, squeeze] of [[0, 0], [0.3, 0], [2, 0.02], [20, 0]] as const) {
  test(`broad phase at ${speed} m/s, pressed together by ${squeeze} m`, async () => {
    const r = await room(speed, squeeze, 5);
    r.world.kernel.findContacts();
    const kernel = listOf(r), twin = findContacts(r.twin.particles, r.twin.surfaces, r.twin.tickSeconds);
    expect(r.world.contactOverflow()).toBe(0);
    expect(twin.length).toBeGreaterThan(50);
    const key = (c: { particle: number; triangles: { corners: number[] }[] }): string => `${c.particle} ${r.twin.surfaces.findIndex((s) => c.triangles[0]!.corners[0]! >= s.first && c.triangles[0]!.corners[0]! < s.first + s.count)}`;
    const byKey = new Map(kernel.map((c) => [key(c), c]));
    expect(byKey.size).toBe(kernel.length);
    const bodyOf = (particle: number): number => r.twin.surfaces.findIndex((s) => particle >= s.first && particle < s.first + s.count);
    for (const c of twin) {
      const mine = byKey.get(key(c)), reach = reachOf(r.twin.particles, r.twin.surfaces[bodyOf(c.particle)]!, r.twin.surfaces[bodyOf(c.triangles[0]!.corners[0])]!, r.twin.tickSeconds);
      const limit = Math.min(reach, c.triangles.length === CONTACT_TRIANGLES ? c.triangles.at(-1)!.distance : Infinity) * (1 - 1e-5);
      for (const t of c.triangles.filter((t) => t.distance < limit)) {
        const found = mine?.triangles.find((m) => m.corners.join() === t.corners.join());
        expect(found, `particle ${c.particle}, triangle ${t.corners.join()} at ${t.distance} m of ${reach} m`).toBeDefined();
        if (t.distance > 1e-6) expect(found!.side).toBe(t.side);
      }
    }
    // and nothing beyond reach
    const places = r.twin.particles.x;
    for (const c of kernel) {
      const at = (i: number): Vector => [places[3 * i]!, places[3 * i + 1]!, places[3 * i + 2]!], x = at(c.particle);
      const reach = reachOf(r.twin.particles, r.twin.surfaces[bodyOf(c.particle)]!, r.twin.surfaces[bodyOf(c.triangles[0]!.corners[0]!)]!, r.twin.tickSeconds);
      const distances = c.triangles.map(({ corners }) => {
        const [A, B, C] = corners.map(at) as [Vector, Vector, Vector];
        return norm(subtract(x, combine(closestWeights(x, A, B, C), [A, B, C])));
      });
      expect(Math.max(...distances)).toBeLessThan(reach * (1 + 1e-5));
      distances.forEach((d, i) => i > 0 && expect(d).toBeGreaterThan(distances[i - 1]! - 1e-6));
    }
  });
}

test("bodies that are far from each other, or alone, have no contacts", async () => {
  const r = await room(0, 0, 5);
  r.world.kernel.findContacts();
  const far = r.twin.surfaces[3]!;
  expect(listOf(r).filter((c) => c.particle >= far.first || c.triangles[0]!.corners[0]! >= far.first)).toEqual([]);
});

for (const squeeze of [0.0005, 0.004]) {
  test(`three sweeps over contacts pressed ${squeeze} m into each other`, async () => {
    const r = await room(0.2, squeeze, 7);
    r.world.kernel.findContacts();
    const contacts = findContacts(r.twin.particles, r.twin.surfaces, r.twin.tickSeconds), { layout, memory } = r.created, f32 = new Float32Array(memory.buffer);
    let moved = 0, undecided = 0;
    for (let sweep = 0; sweep < 3; sweep++) {
      copyParticles(r.created, r.twin.particles);
      const before = Float64Array.from(r.twin.particles.x);
      r.world.kernel.solveContacts();
      solveContacts(r.twin.particles, contacts);
      for (let i = 0; i < layout.particleCount; i++) {
        const kernel = Float64Array.from(f32.subarray(layout.x / 4 + 4 * i, layout.x / 4 + 4 * i + 3));
        const apart = norm([0, 1, 2].map((k) => kernel[k]! - r.twin.particles.x[3 * i + k]!) as unknown as Vector);
        if (distanceAt(r.twin.particles.x, before, i) > 0) moved++;
        if (apart > 256 * UNIT * 0.5) undecided++;
      }
    }
    expect(moved).toBeGreaterThan(100);
    // one float32 tie between two faces of an edge turns a normal, and all that follows at its particles
    expect(undecided / moved).toBeLessThan(0.03);
  });
}
