/**
 * The response to contacts that the check could not clear, its stage of impulses:
 * kernel/assembly/contact/contactResponse.ts against the float64 twin, on sheets of a few triangles that are thrown
 * through each other in one substep. Both push the same pairs in the same order; afterwards nothing meets, by exact
 * arithmetic. Rounding: a direction is a difference of coordinates over a gap, so it is off by UNIT size/gap; pushes as
 * long as the motion carry that on, a few times over.
 */
import { describe, expect, test } from "vitest";
import * as L from "../../server/kernel/assembly/layout/layout.ts";
import { edgeEdge, vertexTriangle } from "../../server/tools/check/exact/swept.ts";
import * as ccd from "../../server/sim/ccd.ts";
import type { Scene, Vec3 } from "../../shared/scene.ts";
import { validateScene } from "../../shared/sceneValidator.ts";
import { createWorld } from "../../server/sim/createWorld.ts";
import { instantiateKernel } from "../../server/sim/kernelModule.ts";
import { keepMomentum, wholeMomentum } from "../../server/sim/reference/momentum.ts";
import { makeParticles } from "../../server/sim/reference/particles.ts";
import {
  checkContacts,
  closestOf,
  listContacts,
  type ReferenceContactPair,
} from "../../server/sim/reference/contacts.ts";
import { pushAllApart, updatePushed } from "../../server/sim/reference/contactResponse.ts";
import { distanceAt, randomStream, UNIT } from "./kit.ts";
import { namedPairs, surfaceRows } from "./contactLists.ts";

const SIZE = 0.2;
const GAP = 0.02;

/** Two sheets, face to face, as long as nothing moves. */
function twoSheets(friction: number, restitution: number, turn: Vec3): Scene {
  const sheet = (name: string, y: number, rotate: Vec3): object => ({
    name,
    kind: "cloth",
    mesh: { type: "grid", size: [SIZE, SIZE], cells: [1, 1] },
    transform: { translate: [0.01, y, 0.02], rotate },
    material: { density: 300, thickness: 0.004, youngsModulus: 1e5, poissonsRatio: 0.3, friction },
    contact: { restitution, thickness: 0.004 },
  });
  return validateScene({
    version: 1,
    title: "clash",
    gravity: [0, 0, 0],
    substeps: 20,
    iterations: 1,
    refine: false,
    bodies: [sheet("upper", GAP, turn), sheet("lower", 0, [0, 0, 0])],
  });
}

/** By exact arithmetic nothing meets on its way, nor has come nearer than it may. */
function expectClear(
  touches: readonly ReferenceContactPair[],
  safe: Float64Array,
  x: Float64Array,
  seed: number,
): void {
  for (const touch of touches) {
    const q = Float64Array.from(
      [safe, x].flatMap((from) => touch.particles.flatMap((i) => [...from.subarray(3 * i, 3 * i + 3)])),
    );
    expect(
      (touch.kind === "vertex" ? vertexTriangle : edgeEdge)(q),
      `seed ${seed}: ${touch.kind} ${touch.particles.join(" ")}`,
    ).toBe(-1);
    expect(closestOf(touch, x).distance).toBeGreaterThan(
      0.99 * Math.min(touch.keep, closestOf(touch, safe).distance) - 4 * UNIT * SIZE,
    );
  }
}

/** The first sheet is thrown through the second. @returns impulses of the kernel */
async function clash(
  seed: number,
  friction: number,
  restitution: number,
  turn: Vec3,
): Promise<{ impulses: number; zones: number; stops: number; bad: number }> {
  const random = randomStream(seed);
  const { memory, layout } = await createWorld(twoSheets(friction, restitution, turn), { baseDir: "." });
  const kernel = instantiateKernel(memory);
  const n = layout.particleCount;
  const f32 = new Float32Array(memory.buffer);
  const u32 = new Uint32Array(memory.buffer);
  const word = (offset: number): number => u32[(L.HEADER + offset) / 4]!;
  const at = (array: number, i: number): number => array / 4 + 4 * i;
  const h = f32[(L.HEADER + L.H_SUBSTEP_SECONDS) / 4]!;
  const read = (array: number): Float64Array =>
    Float64Array.from({ length: 3 * n }, (_, k) => f32[at(array, Math.floor(k / 3)) + (k % 3)]!);
  const safe = read(layout.x);
  const p = makeParticles(n);
  const end = safe.slice();
  for (let i = 0; i < n; i++) {
    const down = i < layout.bodies[1]!.first ? -2.5 * GAP : 0;
    for (const [r, base] of [0, down, 0].entries()) {
      end[3 * i + r] = Math.fround(end[3 * i + r]! + base + 0.2 * GAP * random());
      f32[at(layout.v, i) + r] = (end[3 * i + r]! - safe[3 * i + r]!) / h;
    }
    p.w[i] = f32[at(layout.x, i) + 3]!;
    p.damping[i] = f32[at(layout.v, i) + 3]!;
  }
  kernel.beginPairList();
  kernel.findFreeBodies();
  kernel.saveSafePositions();
  end.forEach((value, k) => (f32[at(layout.x, Math.floor(k / 3)) + (k % 3)] = value));
  p.x.set(end);
  p.v.set(read(layout.v));
  // the rows of what comes, which are those that are answered
  kernel.updatePredictedContacts();
  const names = namedPairs(memory);
  kernel.verifyContacts(h);
  const touches = listContacts(names, surfaceRows(memory), safe, read(word(L.H_REST)));
  checkContacts(touches, safe, safe);
  const bad = checkContacts(touches, safe, p.x);
  const counts = {
    impulses: word(L.H_COUNT_IMPULSES),
    zones: word(L.H_COUNT_ZONES),
    stops: word(L.H_COUNT_STOPS),
    bad: bad.length,
  };
  const x = read(layout.x);
  expectClear(touches, safe, x, seed);
  if (counts.zones > 0 || counts.stops > 0) return counts;
  const momentum = wholeMomentum(p, 0, n);
  updatePushed(p, pushAllApart(p, safe, bad, touches, ccd), touches, h);
  // both sheets are an island
  keepMomentum(p, 0, n, momentum);
  const way = 3 * GAP;
  const tolerance = 16 * counts.impulses * UNIT * (SIZE + (way * SIZE) / 0.001);
  const v = read(layout.v);
  for (let i = 0; i < n; i++) {
    expect(distanceAt(x, p.x, i), `seed ${seed}, particle ${i}, ${JSON.stringify(counts)}`).toBeLessThan(tolerance);
    expect(distanceAt(v, p.v, i) * h, `seed ${seed}, velocity of particle ${i}`).toBeLessThan(tolerance);
  }
  return counts;
}

describe.each([
  ["flat on each other", [0, 17, 0]],
  ["edge first", [35, 10, 5]],
  ["corner first", [30, 20, -30]],
] as [string, Vec3][])("%s", (_, turn) => {
  test.each([
    [0, 0],
    [0.5, 0],
    [0, 0.6],
    [0.4, 1],
  ])("friction %d, restitution %d", async (friction, restitution) => {
    let impulses = 0;
    let compared = 0;
    for (let seed = 1; seed <= 8; seed++) {
      const counts = await clash(100 * seed, friction, restitution, turn);
      expect(counts.bad).toBeGreaterThan(0);
      impulses += counts.impulses;
      if (counts.zones === 0 && counts.stops === 0) compared++;
    }
    expect(impulses).toBeGreaterThan(8);
    expect(compared).toBeGreaterThan(3);
  });
});
