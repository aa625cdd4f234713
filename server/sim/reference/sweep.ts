/**
 * Twin of kernel/assembly/constraints/sweep.ts and sim/memory/program.ts: one iteration of the bodies of one schedule.
 * Gauss-Seidel by colors, forward or back and forth; Jacobi with split masses; Chebyshev's combination of positions and
 * of the constraints' memories.
 */
import type { Form } from "../memory/writeBlocks.ts";
import { CONSTRAINTS, countOf, type Elements } from "../constraints/kinds.ts";
import { chebyshevFactors, type Schedule } from "../memory/sweeps.ts";
import { addAt, setAt, vectorAt, type Particles } from "./particles.ts";
import { solveConstraint, solvePaperConstraint } from "./twins.ts";
import { scale, subtract } from "./vector.ts";

/** Constraints of one kind in the room's particle numbers, and their solving order. */
interface ReferenceConstraints {
  elements: Elements;
  form: Form;
  /** Constraint numbers, color by color. */
  colors: readonly (readonly number[])[];
}

export interface ReferenceGroup {
  schedule: Schedule;
  /** All of one kind before all of the next. */
  constraints: ReferenceConstraints[];
  /** Particles of the group's bodies. */
  particles: number[];
}

/** State of a group over the iterations of a substep. */
export interface SweepState {
  memories: Float64Array[];
  /** Memories of iterations k and k - 1. */
  kept: Float64Array[];
  older: Float64Array[];
  /** float64[3N] x after the group's last iteration, and x_(k-1) */
  x: Float64Array;
  xOlder: Float64Array;
  /** Constraints on each particle over the relaxation. */
  parts: Float64Array;
}

/** State at the start of a substep: all memories are zero. */
export function startSweep(p: Particles, group: ReferenceGroup): SweepState {
  const blank = (): Float64Array[] =>
    group.constraints.map(({ elements: e }) => new Float64Array(countOf(e) * CONSTRAINTS[e.kind].twin.memory));
  const parts = new Float64Array(p.count);
  for (const { elements } of group.constraints)
    for (const particle of elements.particles) parts[particle]! += 1 / group.schedule.relaxation;
  return {
    memories: blank(),
    kept: blank(),
    older: blank(),
    x: Float64Array.from(p.x),
    xOlder: Float64Array.from(p.x),
    parts,
  };
}

export function iterateGroup(
  p: Particles,
  group: ReferenceGroup,
  state: SweepState,
  iteration: number,
  h: number,
): void {
  const { schedule, constraints, particles } = group;
  const omega = chebyshevFactors(schedule.rho, iteration + 1)[iteration]!;
  // changes by other groups since this group's last iteration must not be multiplied
  for (const i of particles) addAt(state.xOlder, i, subtract(vectorAt(p.x, i), vectorAt(state.x, i)));
  state.x.set(p.x);

  const order = constraints.flatMap(({ elements, form, colors }, n) =>
    colors.map((color) => ({ elements, form, color, memory: state.memories[n]! })),
  );
  if (schedule.order === "symmetric" && iteration % 2 === 1) order.reverse();
  const solve = (q: Particles, { elements, form, memory }: (typeof order)[number], i: number): unknown =>
    form === "paper" ? solvePaperConstraint(q, elements, i) : solveConstraint(q, elements, i, memory, h);
  if (schedule.order !== "jacobi") for (const step of order) for (const i of step.color) solve(p, step, i);
  else {
    const split: Particles = { ...p, w: p.w.map((w, i) => w * state.parts[i]!) };
    const sum = new Float64Array(3 * p.count);
    for (const step of order) {
      const k = CONSTRAINTS[step.elements.kind].corners;
      for (const i of step.color) {
        solve(split, step, i);
        for (const c of step.elements.particles.subarray(k * i, k * i + k)) {
          addAt(sum, c, subtract(vectorAt(p.x, c), vectorAt(state.x, c)));
          setAt(p.x, c, vectorAt(state.x, c));
        }
      }
    }
    for (const i of particles) if (state.parts[i]! > 0) addAt(p.x, i, scale(1 / state.parts[i]!, vectorAt(sum, i)));
  }

  if (schedule.rho > 0) {
    combine(
      p.x,
      state.x,
      state.xOlder,
      omega,
      particles.flatMap((i) => [3 * i, 3 * i + 1, 3 * i + 2]),
    );
    constraints.forEach(({ elements: e }, n) => {
      const size = CONSTRAINTS[e.kind].twin.memory;
      const memory = state.memories[n]!;
      for (let i = 0; i < memory.length; i += size) {
        const own = Array.from({ length: size }, (_, m) => i + m);
        // a constraint without memory stays so
        if (own.some((m) => memory[m] !== 0)) combine(memory, state.kept[n]!, state.older[n]!, omega, own);
        else for (const m of own) state.older[n]![m] = state.kept[n]![m]!;
        for (const m of own) state.kept[n]![m] = memory[m]!;
      }
    });
  }
  state.x.set(p.x);
}

/** found := omega (found - older) + older; older := kept, the value of `found` before this iteration. */
function combine(
  found: Float64Array,
  kept: Float64Array,
  older: Float64Array,
  omega: number,
  entries: readonly number[],
): void {
  for (const k of entries) {
    const before = older[k]!;
    older[k] = kept[k]!;
    found[k] = before + omega * (found[k]! - before);
  }
}
