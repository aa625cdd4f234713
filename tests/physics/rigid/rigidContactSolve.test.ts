/**
 * One iteration of the kernel over all contacts of two rigid boxes, and of a rigid and a soft one, that have moved and
 * turned into each other: pushes are equal, opposite and at one point. They never pull, stay within Coulomb's cone,
 * separate pairs that are too near, and add no energy. Positions are float32, everything else is float64.
 */
import { expect, test } from "vitest";
import * as L from "../../../server/kernel/assembly/layout/layout.ts";
import { instantiateKernel, type Kernel } from "../../../server/sim/world/kernelModule.ts";
import { edgesDistance, vertexTriangleDistance, type Closest } from "../../../server/sim/reference/closestPoints.ts";
import { add, combine, cross, dot, norm, scale, subtract, type Vector } from "../../../server/sim/reference/vector.ts";
import type { Body } from "../../../shared/scene/scene.ts";
import { packedPairs, type PackedPair } from "../../parity/contact/contactLists.ts";
import { UNIT } from "../../parity/kit.ts";
import { laboratory } from "../laboratory.ts";

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

/** Moves a body's x by `shift` and turns it by `turn` about its middle, xPrev stays. */
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

/** A laboratory's memory by the names of its header. */
function wordsOf({ created: { memory, layout } }: Lab) {
  const i32 = new Int32Array(memory.buffer);
  const f32 = new Float32Array(memory.buffer);
  const word = (offset: number): number => i32[(L.HEADER + offset) / 4]!;
  const xPrev = f32.subarray(word(L.H_XPREV) / 4, word(L.H_XPREV) / 4 + 4 * layout.particleCount);
  return { i32, f32, word, xPrev };
}

/** The kernel's iteration over all pairs of contact. @param first 1: in the substep */
function solveKernel(kernel: Kernel, word: (offset: number) => number, first: 0 | 1, scratch: number): void {
  kernel.beginRigidContacts();
  const edges = word(L.H_EDGE_CONTACT_BLOCKS);
  const blocks = word(L.H_CONTACT_BLOCKS);
  kernel.solveContacts(blocks, word(L.H_VERTEX_CONTACT_BLOCKS), 0);
  kernel.solveContacts(blocks + (word(L.H_CONTACT_BLOCK_CAPACITY) - edges) * L.CONTACT_BLOCK_BYTES, edges, 0);
  kernel.solveRigidContacts(first, scratch);
}

const at = (rows: Float32Array, i: number): Vector => [rows[4 * i]!, rows[4 * i + 1]!, rows[4 * i + 2]!];

/** Push and twist (about the origin) on particles first .. end - 1, kg m and kg m^2, and their sum m |x - xPrev|^2. */
function motionOf(
  { x, w }: { x: Float32Array; w: readonly number[] },
  prev: Float32Array,
  from: { x: Float32Array; prev: Float32Array },
  [first, end]: readonly [number, number],
): { push: Vector; twist: Vector; energy: number } {
  let push: Vector = [0, 0, 0];
  let twist: Vector = [0, 0, 0];
  let energy = 0;
  for (let i = first; i < end; i++) {
    // a displacement of both x and xPrev makes no velocity
    const moved = subtract(subtract(at(x, i), at(from.x, i)), subtract(at(prev, i), at(from.prev, i)));
    const p = scale(1 / w[i]!, moved);
    push = add(push, p);
    twist = add(twist, cross(at(from.x, i), p));
    const way = subtract(at(x, i), at(prev, i));
    energy += dot(way, way) / w[i]!;
  }
  return { push, twist, energy };
}

/**
 * No pair is nearer than its thickness or, if that is less, than it was where the substep began.
 * @param residue m: sweeps end at a thousandth of the largest correction, here of 5 mm; soft particles are set apart
 *   one by one
 * @returns how many pairs touch, and how far they have slid at most, m
 */
function expectApart(
  pairs: readonly PackedPair[],
  x: Float32Array,
  xPrev: Float32Array,
  from: Float32Array,
  residue: number,
): { touching: number; slid: number } {
  const closest = (rows: Float32Array, { kind, particles }: PackedPair): Closest =>
    (kind === "vertex" ? vertexTriangleDistance : edgesDistance)(
      ...(particles.map((i) => at(rows, i)) as [Vector, Vector, Vector, Vector]),
    );
  let [touching, slid] = [0, 0];
  for (const pair of pairs) {
    const { distance, difference, weights } = closest(x, pair);
    const wanted = Math.min(pair.thickness, closest(from, pair).distance);
    expect(distance - wanted).toBeGreaterThan(-residue);
    if (distance > wanted + 5e-6) continue;
    touching++;
    const moved = combine(
      weights,
      pair.particles.map((i) => subtract(at(x, i), at(xPrev, i))),
    );
    const along = dot(moved, difference) / distance ** 2;
    slid = Math.max(slid, norm(subtract(moved, scale(along, difference))));
  }
  return { touching, slid };
}

/** Two boxes that have moved and turned into each other, b on the side of +x, and the kernel's iteration over them. */
async function meeting(
  other: object,
  restitution: number,
  rotate: Vector,
): Promise<{ lab: Lab; xPrev: Float32Array; solve: () => void }> {
  const reach = (SIZE / 2) * (rotate[2] ? 1 + Math.SQRT2 : 2) + 0.0028;
  const lab = await laboratory({
    substeps: 20,
    iterations: 1,
    gravity: [0, -9.81, 0],
    bodies: [box("a", -reach / 2, RIGID, restitution, [0, 0, 0]), box("b", reach / 2, other, restitution, rotate)],
  });
  const { memory, layout } = lab.created;
  const kernel = instantiateKernel(memory);
  const { word, xPrev } = wordsOf(lab);
  // near pairs as a substep leaves them, and everything where it was
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
  return { lab, xPrev, solve: () => solveKernel(kernel, word, 0, layout.scratch) };
}

test.each([
  ["two rigid boxes, inelastic", RIGID, 0, [0, 0, 0]],
  ["two rigid boxes that bounce", RIGID, 0.7, [0, 0, 0]],
  ["two rigid boxes, one on its edge", RIGID, 0.5, [0, 0, 45]],
  ["a rigid box and a soft one", SOFT, 0, [0, 0, 0]],
  ["a rigid box and a soft one that bounce", SOFT, 0.5, [0, 0, 0]],
] as [string, object, number, Vector][])("%s", async (_, other, restitution, rotate) => {
  const { lab, xPrev, solve } = await meeting(other, restitution, rotate);
  const { memory, layout } = lab.created;
  const n = layout.particleCount;
  const start = { x: Float32Array.from(lab.x), prev: Float32Array.from(xPrev) };
  const w = Array.from({ length: n }, (_, i) => lab.x[4 * i + 3]!);
  const second = layout.bodies[1]!.first;
  const pairs = packedPairs(memory).filter(
    ({ particles }) => particles.some((i) => i < second) && particles.some((i) => i >= second),
  );
  solve();
  const [a, b] = [
    [0, second],
    [second, n],
  ].map((range) => motionOf({ x: lab.x, w }, xPrev, start, range as [number, number])) as [
    ReturnType<typeof motionOf>,
    ReturnType<typeof motionOf>,
  ];
  const before = motionOf({ x: start.x, w }, start.prev, start, [0, n]).energy;
  const size = norm(a.push);
  // positions are rounded at 0.2 m, four times
  const rounding = 4 * UNIT * SIZE * w.reduce((sum, inverse) => sum + 1 / inverse, 0);
  expect(size).toBeGreaterThan(1e-3);
  expect(norm(add(a.push, b.push))).toBeLessThan(rounding);
  // twists are opposite to first order in the bodies' rotation, 0.005
  expect(norm(add(a.twist, b.twist))).toBeLessThan(rounding * SIZE + 1e-4 * size * SIZE);
  // b is on the side of +x: it pushes a away, and friction is within the cone of 0.8
  expect(a.push[0]).toBeLessThan(0);
  expect(Math.hypot(a.push[1], a.push[2])).toBeLessThan(0.8 * -a.push[0]);
  expect(a.energy + b.energy).toBeLessThan(before);
  const { touching, slid } = expectApart(pairs, lab.x, xPrev, start.prev, other === RIGID ? 5e-6 : 2e-5);
  // friction holds all that still touch, to the same residue
  if (restitution === 0) expect(touching).toBeGreaterThan(20);
  expect(slid).toBeLessThan(2e-5);
});

/** Sum of the pushes that contacts keep of a substep, kg m: of those on colliders, or of those between bodies. */
function carried(memory: WebAssembly.Memory, substep: number, onCollider: boolean): Vector {
  const view = new DataView(memory.buffer);
  const word = (offset: number): number => view.getInt32(L.HEADER + offset, true);
  let sum: Vector = [0, 0, 0];
  for (let n = 0; n < word(L.H_RIGID_KEPT_CAPACITY); n++) {
    const row = word(L.H_RIGID_KEPT) + n * L.RIGID_KEPT_BYTES;
    if (view.getInt32(row + L.RIGID_KEPT_SUBSTEP, true) !== substep) continue;
    if (view.getInt32(row + L.RIGID_KEPT_SECOND, true) < 0 !== onCollider) continue;
    const push = [0, 8, 16].map((r) => view.getFloat64(row + L.RIGID_KEPT_PUSH + r, true));
    sum = add(sum, push as unknown as Vector);
  }
  return sum;
}

/** Two boxes at rest on each other and on a plane, without stored pushes of their contacts. */
async function stack(): Promise<Lab> {
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
  const { f32, word } = wordsOf(lab);
  const n = layout.particleCount;
  new Uint8Array(memory.buffer).fill(
    0,
    word(L.H_RIGID_KEPT),
    word(L.H_RIGID_KEPT) + L.RIGID_KEPT_BYTES * word(L.H_RIGID_KEPT_CAPACITY),
  );
  for (const low of [L.H_LOW, L.H_LOW_PREV]) f32.fill(0, word(low) / 4, word(low) / 4 + 4 * n);
  return lab;
}

// moved as gravity and a push aside would in a substep: cold, then again with the pushes of the first time
test("a stack stays where it is and its contacts carry its weight, with and without warm start", async () => {
  const lab = await stack();
  const { memory, layout } = lab.created;
  const kernel = instantiateKernel(memory);
  const { i32, word, xPrev } = wordsOf(lab);
  const n = layout.particleCount;
  const began = Float32Array.from(lab.x);
  const mass = Array.from({ length: n / 2 }, (_, i) => 1 / began[4 * i + 3]!).reduce((sum, m) => sum + m, 0);
  const fall = 9.81 * (1 / 1200) ** 2;
  const aside = 2e-6;
  const works: number[] = [];
  for (const substep of [0, 1]) {
    i32[(L.HEADER + L.H_SUBSTEP) / 4] = substep;
    lab.x.set(began);
    for (let i = 0; i < n; i++) {
      for (let k = 0; k < 3; k++) xPrev[4 * i + k] = began[4 * i + k]!;
      lab.x[4 * i]! += aside;
      lab.x[4 * i + 1]! -= fall;
    }
    const before = word(L.H_WORK);
    solveKernel(kernel, word, 1, layout.scratch);
    works.push(word(L.H_WORK) - before);
    // rounding of positions at 0.4 m, and two thousandths of a fall
    const bound = UNIT * 4 * SIZE + 2e-3 * fall;
    for (let i = 0; i < n; i++)
      for (let k = 0; k < 3; k++)
        expect(Math.abs(lab.x[4 * i + k]! - began[4 * i + k]!), `particle ${i}, substep ${substep}`).toBeLessThan(
          bound,
        );
    const now = (word(L.H_TICK) - word(L.H_PAUSED_TICKS)) * word(L.H_SUBSTEPS) + substep + 1;
    // the push on the first of two bodies, here the lower one
    for (const [found, bodies] of [
      [carried(memory, now, true), 2],
      [scale(-1, carried(memory, now, false)), 1],
    ] as const) {
      expect(Math.abs(found[1] / (bodies * mass * fall) - 1)).toBeLessThan(4e-3);
      expect(Math.abs(found[0] / (bodies * mass * -aside) - 1)).toBeLessThan(4e-3 * (fall / aside));
    }
  }
  // with the right pushes from the start, the solver ends after two sweeps; a solve measures both bodies (rigidBody.ts)
  const measured = 2 * 100 + 5 * n;
  expect(works[1]! - measured).toBeLessThan((works[0]! - measured) / 8);
});
