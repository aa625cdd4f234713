/**
 * Contacts of rigid bodies, kernel against the float64 twin: one iteration over all near pairs of two bodies that have
 * moved and turned into each other. The bodies are two rigid boxes, or a rigid and a soft one. Positions are float32 on
 * both sides, the rest is float64; directions of sliding pairs are the kernel's in float32.
 *
 * Rounding: positions of rigid bodies are rounded once, of soft ones some tens of times (in every push). Directions are
 * known to 2^-24 of an edge over a gap, 0.07 m over 1.3 mm, and turn pushes of up to 5 mm by that.
 */
import { expect, test } from "vitest";
import * as L from "../../server/kernel/assembly/layout/layout.ts";
import { instantiateKernel, type Kernel } from "../../server/sim/kernelModule.ts";
import { makeParticles, type Particles } from "../../server/sim/reference/particles.ts";
import type { ReferenceCollider } from "../../server/sim/reference/collide.ts";
import { solveRigidContacts, type ReferenceKept } from "../../server/sim/reference/rigidContact.ts";
import { add, cross, scale, subtract, type Vector } from "../../server/sim/reference/vector.ts";
import type { Body } from "../../shared/scene.ts";
import { laboratory } from "../physics/laboratory.ts";
import { UNIT } from "./kit.ts";
import { packedContacts } from "./contactLists.ts";

const SIZE = 0.2;
const RIGID = { density: 800, model: "shape-matching", mode: "rigid", friction: 0.6 };
const SOFT = { density: 500, youngsModulus: 1e5, poissonsRatio: 0.3, friction: 0.6 };
const box = (name: string, x: number, material: object, restitution: number, rotate: Vector): Body =>
  ({
    name,
    kind: "soft",
    mesh: { type: "box", size: [SIZE, SIZE, SIZE], cells: [3, 3, 3] },
    transform: { translate: [x, 0.02 * (x > 0 ? 1 : -1), 0], rotate },
    material,
    contact: { restitution, staticFriction: 0.8 },
  }) as Body;

/** Shifts a body's x by `shift` and turns it by `turn` about its middle; xPrev does not change. */
function displace(x: Float32Array, first: number, count: number, middle: Vector, shift: Vector, turn: Vector): void {
  for (let i = first; i < first + count; i++) {
    const at: Vector = [x[4 * i]!, x[4 * i + 1]!, x[4 * i + 2]!];
    const r = subtract(at, middle);
    const a = scale(0.5, turn);
    const ar = cross(a, r);
    add(add(at, shift), scale(2 / (1 + a[0] ** 2 + a[1] ** 2 + a[2] ** 2), add(ar, cross(a, ar)))).forEach(
      (c, k) => (x[4 * i + k] = c),
    );
  }
}

type Lab = Awaited<ReturnType<typeof laboratory>>;

/** Accessors of a laboratory's memory by header field. */
function wordsOf({ created: { memory, layout } }: Lab) {
  const i32 = new Int32Array(memory.buffer);
  const f32 = new Float32Array(memory.buffer);
  const word = (offset: number): number => i32[(L.HEADER + offset) / 4]!;
  const xPrev = f32.subarray(word(L.H_XPREV) / 4, word(L.H_XPREV) / 4 + 4 * layout.particleCount);
  return { i32, f32, word, xPrev };
}

/** The twin's particles. */
function twinOf(lab: Lab, xPrev: Float32Array): Particles {
  const p = makeParticles(lab.created.layout.particleCount);
  for (let i = 0; i < p.count; i++) {
    p.w[i] = lab.x[4 * i + 3]!;
    for (let k = 0; k < 3; k++) {
      p.x[3 * i + k] = lab.x[4 * i + k]!;
      p.xPrev[3 * i + k] = xPrev[4 * i + k]!;
      p.acceleration[3 * i + k] = lab.acceleration[4 * i + k]!;
    }
  }
  return p;
}

/** Runs the kernel's iteration over all pairs of contact. @param first 1: first iteration of the substep */
function solveKernel(kernel: Kernel, word: (offset: number) => number, first: 0 | 1, scratch: number): void {
  kernel.beginRigidContacts();
  const edges = word(L.H_EDGE_CONTACT_BLOCKS);
  const blocks = word(L.H_CONTACT_BLOCKS);
  kernel.solveContacts(blocks, word(L.H_VERTEX_CONTACT_BLOCKS), 0);
  kernel.solveContacts(blocks + (word(L.H_CONTACT_BLOCK_CAPACITY) - edges) * L.CONTACT_BLOCK_BYTES, edges, 0);
  kernel.solveRigidContacts(first, scratch);
}

test.each([
  ["two rigid boxes, inelastic", RIGID, 0, [0, 0, 0]],
  ["two rigid boxes that bounce", RIGID, 0.7, [0, 0, 0]],
  ["two rigid boxes, one on its edge", RIGID, 0.5, [0, 0, 45]],
  ["a rigid box and a soft one", SOFT, 0, [0, 0, 0]],
  ["a rigid box and a soft one that bounce", SOFT, 0.5, [0, 0, 0]],
] as [string, object, number, Vector][])(
  "%s: one iteration agrees with the twin",
  async (_, other, restitution, rotate) => {
    const reach = (SIZE / 2) * (rotate[2] ? 1 + Math.SQRT2 : 2) + 0.0028;
    const lab = await laboratory({
      substeps: 20,
      iterations: 1,
      gravity: [0, -9.81, 0],
      bodies: [box("a", -reach / 2, RIGID, restitution, [0, 0, 0]), box("b", reach / 2, other, restitution, rotate)],
    });
    const { memory, layout } = lab.created;
    const kernel = instantiateKernel(memory);
    const { f32, word, xPrev } = wordsOf(lab);
    // near pairs as after a substep, with every particle at its start
    lab.run(1);
    const n = layout.particleCount;
    for (let i = 0; i < n; i++) for (let k = 0; k < 3; k++) xPrev[4 * i + k] = lab.x[4 * i + k]!;
    layout.bodies.forEach(({ first, count }, b) => {
      const middle: Vector = [0, 1, 2].map(
        (k) => Array.from({ length: count }, (_, i) => lab.x[4 * (first + i) + k]!).reduce((s, c) => s + c, 0) / count,
      ) as unknown as Vector;
      displace(
        lab.x,
        first,
        count,
        middle,
        b ? [-0.002, 0.0005, 0.0003] : [0.0025, -0.0007, 0.0002],
        b ? [0.001, -0.002, 0.004] : [-0.002, 0.001, 0.003],
      );
    });
    const p = twinOf(lab, xPrev);
    const start = Float64Array.from(p.x);
    const touches = packedContacts(memory);
    const rigid = layout.bodies.filter((_, b) => b === 0 || other === RIGID);
    expect(touches.filter((t) => t.near && t.surfaces[0] !== t.surfaces[1]).length).toBeGreaterThan(3);
    // none of the soft body's own pairs is near
    for (const touch of touches) if (touch.surfaces[0] === touch.surfaces[1]) touch.near = false;
    solveKernel(kernel, word, 0, layout.scratch);
    solveRigidContacts(p, rigid, touches, f32[(L.HEADER + L.H_SUBSTEP_SECONDS) / 4]!);
    const bound = UNIT * (30 * SIZE + (0.005 * 0.07 * 24) / 0.0013);
    let moved = 0;
    for (let i = 0; i < n; i++) {
      for (const [twin, rows, what] of [
        [p.x, lab.x, "x"],
        [p.xPrev, xPrev, "xPrev"],
      ] as const) {
        const off = Math.max(...[0, 1, 2].map((k) => Math.abs(twin[3 * i + k]! - rows[4 * i + k]!)));
        expect(off, `${what} of particle ${i}`).toBeLessThan(bound);
      }
      moved = Math.max(moved, Math.abs(p.x[3 * i]! - start[3 * i]!));
    }
    expect(moved).toBeGreaterThan(1e-4);
  },
);

/**
 * Two boxes at rest on a plane, moved as by gravity and a sideways push in a substep: cold, then with the impulses of
 * the first run. An impulse converges to a thousandth of the motion at rest, and is rounded with the positions; the
 * second run begins where the first ended.
 */
test("boxes on a plane agree with the twin, cold and with the impulses of the last substep", async () => {
  const h = 1 / 1200;
  const friction = 0.6;
  const lab = await laboratory({
    substeps: 20,
    iterations: 1,
    gravity: [0, -9.81, 0],
    colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0, friction }],
    bodies: [0, 1].map(
      (n): Body =>
        ({
          ...box(`box ${n}`, 0, { ...RIGID, friction }, 0, [0, 0, 0]),
          transform: { translate: [0.01 * n, SIZE / 2 + 0.002 + n * (SIZE + 0.0045), 0] },
          contact: { staticFriction: friction },
        }) as Body,
    ),
  });
  lab.run(60);
  const { memory, layout } = lab.created;
  const kernel = instantiateKernel(memory);
  const { i32, f32, word, xPrev } = wordsOf(lab);
  const n = layout.particleCount;
  new Uint8Array(memory.buffer).fill(
    0,
    word(L.H_RIGID_KEPT),
    word(L.H_RIGID_KEPT) + L.RIGID_KEPT_BYTES * word(L.H_RIGID_KEPT_CAPACITY),
  );
  for (const low of [L.H_LOW, L.H_ROUNDING]) if (word(low)) f32.fill(0, word(low) / 4, word(low) / 4 + 4 * n);
  const began = Float32Array.from(lab.x);
  let kept: ReferenceKept[] = [];
  for (const substep of [0, 1]) {
    i32[(L.HEADER + L.H_SUBSTEP) / 4] = substep;
    lab.x.set(began);
    for (let i = 0; i < n; i++) {
      for (let k = 0; k < 3; k++) xPrev[4 * i + k] = began[4 * i + k]!;
      lab.x[4 * i]! += 2e-6;
      lab.x[4 * i + 1]! -= 9.81 * h * h;
    }
    const p = twinOf(lab, xPrev);
    p.radius.forEach((_, i) => (p.radius[i] = xPrev[4 * i + 3]!));
    p.rootFriction.fill(Math.sqrt(friction));
    const predicted = Float64Array.from(p.x);
    const touches = packedContacts(memory);
    solveKernel(kernel, word, 1, layout.scratch);
    const floor: ReferenceCollider = {
      type: "plane",
      normal: [0, 1, 0],
      offset: -layout.origin[1],
      rootFriction: Math.sqrt(friction),
    };
    kept = solveRigidContacts(p, layout.bodies, touches, h, [floor], kept);
    expect(kept.filter(({ collider }) => collider < 0).length).toBeGreaterThan(2);
    expect(kept.filter(({ collider }) => collider === 0).length).toBeGreaterThan(2);
    // rounding of positions at 0.4 m, and two thousandths of a fall
    const bound = UNIT * 4 * SIZE + 2e-3 * 9.81 * h * h;
    let moved = 0;
    for (let i = 0; i < n; i++)
      for (let k = 0; k < 3; k++) {
        expect(Math.abs(p.x[3 * i + k]! - lab.x[4 * i + k]!), `particle ${i}, substep ${substep}`).toBeLessThan(bound);
        moved = Math.max(moved, Math.abs(p.x[3 * i + k]! - predicted[3 * i + k]!));
      }
    expect(moved).toBeGreaterThan(0.9 * 9.81 * h * h);
  }
});
