/**
 * Memory of a room with the constraints of one body, and the same particles for the float64 twins: input of the parity
 * tests.
 *
 * Both sides get exactly the same float32 numbers (positions, inverse masses, D_m^-1, volumes, compliances), so only
 * the kernel's float32 arithmetic differs. Float32 results are the exact results of inputs that are wrong by a few
 * units in the last place. `conditioned` therefore perturbs the twin's inputs at random by one unit (2^-24, relative to
 * the element's size), several times, and takes the largest change as the unit of tolerance: eps times the measured
 * condition number.
 */
import { CONSTRAINTS, type Elements } from "../../server/sim/constraints/kinds.ts";
import { inPrincipalAxes } from "../../server/sim/constraints/tetrahedra.ts";
import type { TetElements } from "../../server/sim/constraints/elements.ts";
import * as L from "../../server/kernel/assembly/layout/layout.ts";
import { colorConstraints } from "../../server/sim/constraints/color.ts";
import type { Kernel } from "../../server/sim/world/kernelModule.ts";
import { openMemory } from "./kernelMemory.ts";
import { Allocator } from "../../server/sim/memory/memoryMap.ts";
import { visitsOf, type Visits } from "../../server/sim/constraints/overRelaxation.ts";
import { planBlocks, type ColorRange } from "../../server/sim/memory/writeBlocks.ts";
import type { Form } from "../../server/sim/constraints/constraint.ts";
import { makeParticles, type Particles } from "../../server/sim/reference/particles.ts";
import { solveConstraint, solvePaperConstraint } from "../../server/sim/reference/twins.ts";

/** Half a unit in the last place of float32, relative. */
export const UNIT = 2 ** -24;

/** Repeatable pseudo-random numbers in [-1, 1) (xorshift32): every test gives its seed. */
export function randomStream(seed: number): () => number {
  let s = (seed * 2654435761) >>> 0 || 1;
  return () => {
    s ^= s << 13;
    s >>>= 0;
    s ^= s >>> 17;
    s ^= s << 5;
    s >>>= 0;
    return s / 2 ** 31 - 1;
  };
}

const rounded = (a: Float64Array): Float64Array => Float64Array.from(Float32Array.from(a));

/** Arrays of stored numbers that elements of any kind may have. */
const ARRAYS = ["dmInverse", "volume", "K", "alpha", "rest", "direction", "plasticStrain", "past"] as const;
type Arrays = Partial<Record<(typeof ARRAYS)[number], Float64Array>>;

/** A copy of elements, with each of these arrays replaced if the kind has it. */
function withArrays<E extends Elements>(
  e: E,
  fields: (typeof ARRAYS)[number][],
  change: (a: Float64Array) => Float64Array,
) {
  const arrays: Arrays = e;
  return {
    ...e,
    ...Object.fromEntries(fields.flatMap((field) => (arrays[field] ? [[field, change(arrays[field])]] : []))),
  };
}

/** The kernel's elements: rounded to float32. */
export function roundElements<E extends Elements>(e: E): E {
  const all = withArrays(e, [...ARRAYS], rounded);
  return "stiffness" in e ? { ...all, stiffness: Math.fround(e.stiffness) } : all;
}

/**
 * One step of element i by the twin.
 * @returns the possible loss by float32 elimination: product of the system's diagonal over its determinant (Hadamard's
 * ratio), 1 if diagonal
 */
function solveTwin(
  p: Particles,
  e: Elements,
  i: number,
  memory: Float64Array,
  h: number,
  form: Form = "compliant",
): number {
  const system = form === "paper" ? solvePaperConstraint(p, e, i) : solveConstraint(p, e, i, memory, h);
  return system ? hadamardRatio(system) : 1;
}

function hadamardRatio(A: number[][]): number {
  const rows = A.map((row) => [...row]);
  const n = rows.length;
  // pivots without row exchange: the matrix is symmetric and positive definite
  let ratio = 1;
  for (let k = 0; k < n; k++) {
    ratio *= A[k]![k]! / rows[k]![k]!;
    for (let i = k + 1; i < n; i++)
      for (let j = n - 1; j >= k; j--) rows[i]![j]! -= (rows[i]![k]! / rows[k]![k]!) * rows[k]![j]!;
  }
  return ratio;
}

export interface Kit {
  kernel: Kernel;
  particles: Particles;
  /** The kernel's elements: rounded to float32. */
  elements: Elements;
  form: Form;
  /** The kernel's substep: from its float32 1/h^2, s. */
  h: number;
  /** The twin's memory between iterations. */
  memory: Float64Array;
  colors: number[][];
  /** Results of `solveTwin` for each element in the last iteration. */
  loss: Float64Array;
  /** Current positions in the kernel, float64[3N]. */
  kernelPositions(): Float64Array;
  /**
   * Runs one iteration over all colors on both sides. The kernel keeps its multipliers, because no iteration is the
   * last.
   */
  iterate(first: boolean): void;
  /** Copies the kernel's positions and memory to the twin, so that the next iteration is compared alone. */
  align(): void;
  /** Runs the kernel's stage for these elements at the end of a substep. */
  endSubstep(h: number): void;
  /** The kernel's rows that outlive the substep: plastic strains, dashpot strains. */
  state(): Float64Array;
  /** Writes positions to both sides. */
  place(x: Float64Array): void;
}

/** Memory of a room with one body of these elements; particles have no positions yet. */
function openRoom(e: Elements, w: Float64Array, form: Form, visits: Visits | undefined) {
  const N = w.length;
  const allocator = new Allocator();
  const rows = Math.ceil((N + L.DUMMIES) / 4) * 4;
  const X = allocator.take(16 * rows);
  const xPrev = allocator.take(16 * rows);
  const v = allocator.take(16 * rows);
  const acc = allocator.take(16 * rows);
  const low = allocator.take(16 * rows);
  const bodyRows = allocator.take(2 * L.BODY_BYTES);
  const planned = planBlocks([{ elements: [e], first: 0, particleCount: N, form }], allocator, visits);
  const scratch = allocator.take(L.SCRATCH_BYTES);
  const { kernel, memory, f32, i32 } = openMemory(allocator, {
    [L.H_X]: X,
    [L.H_XPREV]: xPrev,
    [L.H_V]: v,
    [L.H_ACC]: acc,
    [L.H_LOW]: low,
    [L.H_PARTICLES]: rows,
    [L.H_BODIES]: bodyRows,
    [L.H_BODY_COUNT]: 1,
  });
  for (let d = 0; d < 3; d++) f32[X / 4 + 4 * (N + d) + d] = 1;
  // the body was tangled in the previous substep
  if ((e.kind === "neo-hookean" || e.kind === "stable-neo-hookean") && e.tangled)
    i32[(bodyRows + L.BODY_WAS_INVERTED) / 4] = 1;
  for (let i = 0; i < N; i++) f32[X / 4 + 4 * i + 3] = w[i]!;
  planned.write(f32, new Uint32Array(memory.buffer), X, N); // after the inverse masses, because blocks hold sums of them
  return { kernel, f32, x: X / 4, low: low / 4, ranges: planned.ranges, scratch };
}

/** Runs the kernel over one color. @param kind KIND_*; pass PASS_FIRST or 0; h s */
function runRange(kernel: Kernel, range: ColorRange, kind: number, pass: number, h: number, scratch: number): void {
  const { address, blocks, remembered } = range;
  if (!kernel.solveBlocks(kind, address, remembered.address, 0, blocks, pass, h, scratch, 0))
    throw new Error(`kind ${kind} of ${range.kind}: the kernel does not solve such blocks`);
}

/**
 * @param x float64[3N] m, current positions; w float64[N] 1/kg; h s; form of the constraint; iterations of an
 *   over-relaxed sweep
 */
export function makeKit(
  elements: Elements,
  x: Float64Array,
  w: Float64Array,
  h: number,
  form: Form = "compliant",
  iterations?: number,
): Kit {
  const e = roundElements(elements);
  const N = w.length;
  // rounded as in the kernel
  const twinH = 1 / Math.sqrt(Math.fround(1 / Math.fround(Math.fround(h) * Math.fround(h))));
  const particles = { ...makeParticles(N), iterations };
  particles.w.set(Float32Array.from(w));
  const { kernel, f32, x: X, low, ranges, scratch } = openRoom(e, w, form, visitsOf(particles, twinH));
  const { corners: size, twin, phase, paperPhase, after, bytes } = CONSTRAINTS[e.kind];
  const count = twin.memory;
  const remembered = new Float64Array((count * e.particles.length) / size);
  const colors = colorConstraints(e.particles, size, N);
  /** Visits the elements: element i is lane `lane` of block number `block` of its color. */
  const forEachLane = (visit: (i: number, range: ColorRange, block: number, lane: number) => void): void =>
    colors.forEach((color, c) => color.forEach((i, n) => visit(i, ranges[c]!, Math.floor(n / 4), n % 4)));
  const kit: Kit = {
    kernel,
    particles,
    elements: e,
    form,
    h: twinH,
    memory: remembered,
    colors,
    loss: new Float64Array(e.particles.length / size),
    kernelPositions: () =>
      Float64Array.from({ length: 3 * N }, (_, k) => {
        const lane = 4 * Math.floor(k / 3) + (k % 3);
        return f32[X + lane]! + f32[low + lane]!;
      }),
    iterate(first) {
      for (const range of ranges)
        runRange(kernel, range, form === "paper" ? paperPhase! : phase, first ? L.PASS_FIRST : 0, h, scratch);
      if (first) remembered.fill(0);
      for (const i of colors.flat()) kit.loss[i] = solveTwin(particles, e, i, remembered, twinH, form);
    },
    align() {
      particles.x.set(kit.kernelPositions());
      forEachLane((i, { remembered: { address, stride } }, block, lane) => {
        const at = (address + block * stride) / 4 + lane;
        const rows = Array.from({ length: count }, (_, m) => f32[at + 4 * m]!);
        const weight = (corner: number): number => particles.w[e.particles[4 * i + corner]!]!;
        remembered.set(e.kind === "tet" ? outOfPrincipalAxes(rows, e, i, weight) : rows, count * i);
      });
    },
    endSubstep: (seconds) => ranges.forEach((range) => runRange(kernel, range, after!, 0, seconds, scratch)),
    state() {
      const { offset, rows } = CONSTRAINTS[e.kind].state!;
      const out = new Float64Array(rows * kit.loss.length);
      forEachLane((i, { address }, block, lane) => {
        const at = (address + block * bytes + offset) / 4 + lane;
        for (let k = 0; k < rows; k++) out[rows * i + k] = f32[at + 4 * k]!;
      });
      return out;
    },
    place(positions) {
      for (let k = 0; k < 3 * N; k++) f32[X + 4 * Math.floor(k / 3) + (k % 3)] = positions[k]!;
      f32.fill(0, low, low + 4 * N);
      kit.align();
    },
  };
  kit.place(x);
  return kit;
}

/**
 * Multipliers (6) and applied values (9) of an isotropic tetrahedron, converted from the kernel's axes and unit
 * (sim/constraints/tetrahedra.ts) to the twin's: L = unit R [L'] R^T, A = unit A' R^T.
 */
export function outOfPrincipalAxes(
  rows: readonly number[],
  e: TetElements,
  i: number,
  w: (corner: number) => number,
): number[] {
  const { axes: R, unit } = inPrincipalAxes(e, i, w);
  const at = (r: number, c: number): number => R[3 * r + c]!;
  const L = [
    [0, 5, 4],
    [5, 1, 3],
    [4, 3, 2],
  ].map((row) => row.map((k) => unit * rows[k]!));
  const turned = (a: number, b: number): number =>
    L.reduce((sum, row, j) => sum + row.reduce((s, l, k) => s + at(a, j) * l * at(b, k), 0), 0);
  const applied = rows
    .slice(6)
    .map((_, k) => unit * [0, 1, 2].reduce((sum, j) => sum + rows[6 + 3 * Math.floor(k / 3) + j]! * at(k % 3, j), 0));
  return [turned(0, 0), turned(1, 1), turned(2, 2), turned(1, 2), turned(0, 2), turned(0, 1), ...applied];
}

/** Deviation between kernel and twin for one of several disjoint elements. */
export interface Deviation {
  /** Largest distance of a particle between kernel and twin, m. */
  distance: number;
  /** Effect of one unit in the last place: sensitivity + (position + loss * correction) * UNIT, m. */
  unit: number;
  /** Largest correction of a particle by the twin, m. */
  correction: number;
}

/**
 * Runs one iteration of disjoint elements on both sides and compares each element; both start from the kernel's
 * positions.
 * @param random for the perturbations, @param samples their number
 */
export function conditioned(kit: Kit, first: boolean, h: number, random: () => number, samples = 6): Deviation[] {
  const { elements: e, particles } = kit;
  const k = CONSTRAINTS[e.kind].corners;
  const n = e.particles.length / k;
  const cornersOf = (i: number): number[] => [...e.particles.subarray(k * i, k * i + k)];
  kit.align();
  const before = Float64Array.from(particles.x);
  const memory = first ? kit.memory.map(() => 0) : Float64Array.from(kit.memory);
  kit.iterate(first);
  const exact = Float64Array.from(particles.x);
  const kernel = kit.kernelPositions();

  const sensitivity = new Float64Array(n);
  for (let s = 0; s < samples; s++) {
    const moved = { ...particles, x: Float64Array.from(before) };
    for (let i = 0; i < n; i++) {
      const size = sizeOf(before, cornersOf(i));
      for (const c of cornersOf(i)) for (let r = 0; r < 3; r++) moved.x[3 * c + r]! += UNIT * size * random();
    }
    const again = memory.map((l) => l * (1 + UNIT * random()));
    const other = perturbed(e, random);
    for (let i = 0; i < n; i++) {
      solveTwin(moved, other, i, again, h, kit.form);
      for (const c of cornersOf(i)) sensitivity[i] = Math.max(sensitivity[i]!, distanceAt(moved.x, exact, c));
    }
  }
  return Array.from({ length: n }, (_, i) => {
    const most = (f: (c: number) => number): number => Math.max(...cornersOf(i).map(f));
    const place = most((c) =>
      Math.max(...[0, 1, 2].map((r) => Math.max(Math.abs(exact[3 * c + r]!), Math.abs(before[3 * c + r]!)))),
    );
    const correction = most((c) => distanceAt(exact, before, c));
    return {
      distance: most((c) => distanceAt(kernel, exact, c)),
      unit: sensitivity[i]! + UNIT * (place + kit.loss[i]! * correction),
      correction,
    };
  });
}

/** Perturbs every stored number of the elements by up to one unit. */
export function perturbed<E extends Elements>(e: E, random: () => number): E {
  const shaken = (value: number): number => value * (1 + UNIT * random());
  const shake = (a: Float64Array): Float64Array => a.map(shaken);
  // the kernel stores compliances with rounded entries -nu/(k V): near nu = 1/2 the difference 1 - 2 nu loses digits
  const nu = e.kind === "tet" ? shaken(e.lambda / (2 * (e.lambda + e.mu))) : 0;
  const shapes = withArrays(e, ["dmInverse", "volume"], shake);
  const moduli =
    "compliance" in e && Array.isArray(e.compliance)
      ? { compliance: e.compliance.map(shaken) }
      : e.kind === "tet"
        ? { lambda: (2 * e.mu * nu) / (1 - 2 * nu) }
        : e.kind === "neo-hookean" || e.kind === "stable-neo-hookean"
          ? { mu: shaken(e.mu), lambda: shaken(e.lambda) }
          : {};
  return { ...withArrays(shapes, ["K", "alpha", "rest", "plasticStrain", "past"], shake), ...moduli };
}

export function distanceAt(a: Float64Array, b: Float64Array, i: number): number {
  const d = [0, 1, 2].map((r) => a[3 * i + r]! - b[3 * i + r]!);
  return Math.sqrt(d[0]! ** 2 + d[1]! ** 2 + d[2]! ** 2);
}

/** Longest distance between two of the particles, m. */
export function sizeOf(x: Float64Array, particles: readonly number[]): number {
  let size = 0;
  for (const a of particles)
    for (const b of particles)
      size = Math.max(size, Math.sqrt([0, 1, 2].reduce((s, r) => s + (x[3 * a + r]! - x[3 * b + r]!) ** 2, 0)));
  return size;
}
