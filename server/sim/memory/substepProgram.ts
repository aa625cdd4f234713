/** Builds the program of one substep: its phases, in the order of the stages in the kernel's step.ts. */
import * as L from "../../kernel/assembly/layout/layout.ts";
import { CONSTRAINTS } from "../constraints/kinds.ts";
import { chebyshevFactors } from "./sweeps.ts";
import type { ColorRange, SweepArrays, SweepGroup, SpawnableRun } from "./writeBlocks.ts";

export interface Phase {
  kind: number;
  data: number;
  /** Number of blocks or particles. */
  count: number;
  /** Blocks or particles that one thread takes at a time. */
  chunk: number;
  /** Sum of PASS_FIRST and PASS_LAST. */
  pass: number;
  stage: number;
  /** Address of the blocks' remembered stress; absent: none. */
  memory?: number;
  /** Address of values that the blocks keep between iterations. */
  own?: number;
  /** Address of a table of the colliders that these particles may touch; absent: all. */
  meets?: number;
  /** Blocks left out while their body is inactive or asleep, in ascending order. */
  runs?: readonly SpawnableRun[];
  /** Fields of a schedule's phases: PHASE_FIRST to PHASE_OMEGA (layout/program.ts). */
  sweep?: { first: number; corners: number; kept: number; sum: number; older: number; omega: number };
}

/**
 * Blocks in a chunk: a 64th of the range, so that many threads finish together. At least 16 (64 elements, about a
 * microsecond of work: several times the cost of a claim); at most 64, so that a helper can leave soon.
 * Tried: 64 for all. Ranges of small bodies were one chunk, and more than eight threads had no work on 50,000
 * tetrahedra.
 */
const blockChunk = (blocks: number): number => Math.min(64, Math.max(16, Math.ceil(blocks / 64)));
/** Particles in a chunk: about 5 us. */
const PARTICLE_CHUNK = 1024;

/** The kernel's KIND_ of a range. */
function phaseOf(range: ColorRange): number {
  const { phase, paperPhase } = CONSTRAINTS[range.kind];
  return range.form === "paper" ? paperPhase! : phase;
}

/** Phases of one iteration of a group. */
function iterate(group: SweepGroup, iteration: number, omega: number, pass: number, arrays: SweepArrays): Phase[] {
  const { schedule, ranges, runs } = group;
  const split = schedule.order === "jacobi";
  const stage = L.STAGE_SWEEPS;
  const phases: Phase[] = [];
  const everyRun = (kind: number): void =>
    runs.forEach(({ first, count }) =>
      phases.push({
        kind,
        data: 0,
        count,
        chunk: PARTICLE_CHUNK,
        pass,
        stage,
        sweep: { first, corners: 0, ...arrays, sum: split ? arrays.sum : 0, omega },
      }),
    );
  const carries = split || schedule.rho > 0;
  if (carries) everyRun(L.KIND_SWEEP_BEGIN);
  const backward = schedule.order === "symmetric" && iteration % 2 === 1;
  for (const r of backward ? [...ranges].reverse() : ranges) {
    phases.push({
      kind: phaseOf(r),
      data: r.address,
      count: r.blocks,
      chunk: blockChunk(r.blocks),
      pass,
      stage: CONSTRAINTS[r.kind].stage,
      memory: r.memory,
      own: r.remembered.address,
      runs: r.runs,
    });
    if (split)
      phases.push({
        kind: L.KIND_SWEEP_COLLECT,
        data: r.address,
        count: r.blocks,
        chunk: blockChunk(r.blocks),
        pass,
        stage,
        runs: r.runs,
        sweep: { first: CONSTRAINTS[r.kind].bytes, corners: CONSTRAINTS[r.kind].corners, ...arrays, omega },
      });
  }
  if (carries) everyRun(L.KIND_SWEEP_END);
  for (const { remembered, blocks, memory, kept, older, runs } of ranges) {
    if (!kept) continue;
    const sweep = { first: remembered.stride, corners: remembered.rows, kept, sum: 0, older, omega };
    phases.push({
      kind: L.KIND_SWEEP_MEMORY,
      data: remembered.address,
      count: blocks,
      chunk: blockChunk(blocks),
      pass,
      stage,
      memory,
      runs,
      sweep,
    });
  }
  return phases;
}

/** Particles that may touch the same colliders: all, or those in the table at address `meets`. */
export interface LooseRun {
  first: number;
  count: number;
  meets: number;
}

/** Contents of a room besides colored blocks. */
export interface ProgramSizes {
  bodies: number;
  /** Particles of bodies that may be left out, ascending. */
  leftOut: readonly SpawnableRun[];
  /** Whether a body keeps an enclosed volume. */
  encloses: boolean;
  /** Number of shape-matched bodies. */
  shapes: number;
  shapeRuns: readonly SpawnableRun[];
  /** Number of balls. */
  balls: number;
  /** Particles that meet colliders one by one. */
  loose: readonly LooseRun[];
  /** Particles with the common substep: all except those of implicit bodies; `joined`: those that methods move. */
  stepped: readonly { first: number; count: number }[];
  /** Whether a part of bodies' way may follow their elastic solve. */
  drifts: boolean;
  joined: readonly { first: number; count: number }[];
  /** Address of the implicit bodies' rows, their number, and the number of those that may touch surfaces. */
  implicit: { rows: number; count: number; together: number };
  /**
   * Address of the prefactored bodies' rows, their number, and whether they may meet other bodies, or touch anything.
   */
  prefactored: { rows: number; count: number; meets: boolean; touches: boolean };
  /** Number of moving colliders. */
  motions: number;
  /** Core meshes of moving colliders: address of the MOTION row, and number of particles. */
  cores: readonly { motion: number; count: number }[];
  /** First phases of a substep while there is wind (memory/bodies/windRows.ts). */
  wind: readonly Phase[];
}

const one = (kind: number, stage: number, pass = 0): Phase => ({ kind, data: 0, count: 1, chunk: 1, pass, stage });

/** A phase over a run of particles. */
const particles = (
  { first, count }: { first: number; count: number },
  kind: number,
  leftOut: readonly SpawnableRun[],
): Phase => ({
  kind,
  data: first,
  count,
  chunk: PARTICLE_CHUNK,
  pass: 0,
  stage: L.STAGE_INTEGRATE,
  runs: runsWithin(leftOut, first, count),
});

/** A phase over every particle with the common substep. */
function everyParticle({ stepped, joined, leftOut }: ProgramSizes, kind: number): Phase[] {
  const own = stepped.length + joined.length > 0 ? stepped : [{ first: 0, count: 0 }];
  const pass = kind === L.KIND_PREDICT ? L.UNFORCED : 0;
  return [
    ...own.map((run) => particles(run, kind, leftOut)),
    ...joined.map((run) => ({ ...particles(run, kind, leftOut), pass })),
  ];
}

/** Runs within a phase's range, counted from its first particle. */
function runsWithin(runs: readonly SpawnableRun[], from: number, count: number): SpawnableRun[] {
  return runs
    .filter(({ first, end }) => first >= from && end <= from + count)
    .map(({ body, first, end }) => ({ body, first: first - from, end: end - from }));
}

/** @param wholeBodies phases of constraints over whole bodies */
export function buildProgram(
  groups: readonly SweepGroup[],
  arrays: SweepArrays,
  wholeBodies: (pass: number) => Phase[],
  sizes: ProgramSizes,
  iterations: number,
): Phase[] {
  const phases = beforeSolve(sizes);
  const omegas = groups.map((g) => chebyshevFactors(g.schedule.rho, iterations));
  for (let iteration = 0; iteration < iterations; iteration++) {
    const pass = (iteration === 0 ? L.PASS_FIRST : 0) + (iteration === iterations - 1 ? L.PASS_LAST : 0);
    const inner = (data: number): Phase[] =>
      sizes.encloses ? [{ ...one(L.KIND_INNER, L.STAGE_MOMENTUM), data, count: sizes.bodies }] : [];
    phases.push(...inner(0));
    groups.forEach((group, g) => phases.push(...iterate(group, iteration, omegas[g]![iteration]!, pass, arrays)));
    phases.push(
      ...drift(sizes),
      ...prefactoredSolve(sizes, pass),
      ...wholeBodies(pass),
      ...inner(1),
      ...endOfIteration(sizes, pass),
    );
  }
  phases.push(...implicitSteps(sizes), ...afterSolve(sizes), ...endOfSubstep(groups));
  return [...phases, ...everyPrefactored(sizes, L.KIND_PREFACTORED_FORCES)];
}

/** Phases before the solve: colliders move, then positions are predicted. */
function beforeSolve(sizes: ProgramSizes): Phase[] {
  const phases: Phase[] = [...sizes.wind];
  if (sizes.motions) phases.push(one(L.KIND_MOVE, L.STAGE_INTEGRATE));
  phases.push(one(L.KIND_SAFE, L.STAGE_BROAD_PHASE));
  for (const { motion, count } of sizes.cores)
    phases.push({
      kind: L.KIND_CORE_MESHES,
      data: motion,
      count,
      chunk: PARTICLE_CHUNK,
      pass: 0,
      stage: L.STAGE_BROAD_PHASE,
    });
  if (sizes.implicit.together > 0) phases.push(one(L.KIND_IMPLICIT_AIM, L.STAGE_IMPLICIT));
  phases.push(...everyParticle(sizes, L.KIND_PREDICT));
  return phases;
}

/** Moves bodies by the part of their way that follows their elastic solve. */
const drift = ({ stepped, leftOut, drifts }: ProgramSizes): Phase[] =>
  drifts ? stepped.map((run) => particles(run, L.KIND_DRIFT, leftOut)) : [];

function prefactoredSolve({ prefactored: { rows, count } }: ProgramSizes, pass: number): Phase[] {
  return count ? [{ ...one(L.KIND_PREFACTORED, L.STAGE_TRIANGLES, pass), data: rows, count }] : [];
}

/** A phase over every prefactored body, for contact. */
function everyPrefactored({ prefactored: { rows, count, touches } }: ProgramSizes, kind: number, pass = 0): Phase[] {
  return count && touches ? [{ ...one(kind, L.STAGE_CONTACTS, pass), data: rows, count }] : [];
}

/** Phases of constraints without colors. */
function endOfIteration(sizes: ProgramSizes, pass: number): Phase[] {
  // serial and last, so that an iteration ends with grabs and contacts satisfied
  const phases = [one(L.KIND_POINTS, L.STAGE_POINTS, pass), ...everyParticle(sizes, L.KIND_CARRY)];
  const { meets } = sizes.prefactored;
  if (meets || pass & L.PASS_LAST) phases.push(...everyPrefactored(sizes, L.KIND_PREFACTORED_PLACES));
  phases.push(one(L.KIND_CONTACTS, L.STAGE_CONTACTS, pass));
  if (sizes.balls) phases.push(one(L.KIND_BALLS, L.STAGE_RIGID, pass));
  if (meets || pass & L.PASS_LAST) phases.push(...everyPrefactored(sizes, L.KIND_PREFACTORED_ANSWER, pass));
  return phases;
}

function implicitSteps({ implicit: { rows, count, together } }: ProgramSizes): Phase[] {
  const phases: Phase[] = [];
  if (together > 0) phases.push(one(L.KIND_IMPLICIT_TOGETHER, L.STAGE_IMPLICIT));
  // bodies without contact to other bodies: whenever their steps are due
  if (count > together) phases.push({ ...one(L.KIND_IMPLICIT, L.STAGE_IMPLICIT), data: rows, count });
  return phases;
}

/** Phases after the solve: velocities, momentum, colliders. */
function afterSolve(sizes: ProgramSizes): Phase[] {
  const everyBody = (kind: number): Phase => ({ ...one(kind, L.STAGE_MOMENTUM), count: sizes.bodies });
  const phases = [
    everyBody(L.KIND_BALANCE),
    ...everyParticle(sizes, L.KIND_VELOCITY),
    everyBody(L.KIND_RESTORE),
    ...sizes.loose.map(
      ({ first, count, meets }): Phase => ({
        kind: L.KIND_COLLIDE,
        data: first,
        count,
        chunk: PARTICLE_CHUNK,
        pass: 0,
        stage: L.STAGE_COLLIDE,
        meets,
        runs: runsWithin(sizes.leftOut, first, count),
      }),
    ),
  ];
  if (sizes.shapes)
    phases.push(
      { ...one(L.KIND_RIGID, L.STAGE_RIGID), count: sizes.shapes, runs: sizes.shapeRuns },
      one(L.KIND_POINT_SPEEDS, L.STAGE_POINTS),
    );
  phases.push(one(L.KIND_VERIFY, L.STAGE_MOMENTUM));
  return phases;
}

/** Phases at the end of a substep, after contact: plastic flow, dashpots. */
function endOfSubstep(groups: readonly SweepGroup[]): Phase[] {
  const phases: Phase[] = [];
  for (const r of groups.flatMap((g) => g.ranges)) {
    const { after } = CONSTRAINTS[r.kind];
    if (after === undefined) continue;
    phases.push({
      kind: after,
      data: r.address,
      count: r.blocks,
      chunk: blockChunk(r.blocks),
      pass: 0,
      stage: after === L.KIND_PLASTIC ? L.STAGE_PLASTICITY : CONSTRAINTS[r.kind].stage,
      runs: r.runs,
    });
  }
  return phases;
}

/** Rows after the program's own, in the order of SHARED_ROWS. */
export function sharedRows(): Phase[] {
  const kinds = [L.KIND_SHARED_CONTACTS, L.KIND_SHARED_CHECK, L.KIND_SHARED_REFIT, L.KIND_SHARED_CLOSE];
  return kinds.map((kind) => ({ ...one(kind, L.STAGE_CONTACTS), count: L.SHARED_PARTS }));
}

/** Bytes that `writeProgram` needs: the phases, then the rows of blocks that may be left out. */
export function programBytes(phases: readonly Phase[]): number {
  return phases.length * L.PHASE_BYTES + phases.reduce((n, p) => n + (p.runs?.length ?? 0), 0) * L.RUN_BYTES;
}

/** @param bodyRows address of the BODY rows */
export function writeProgram(
  i32: Int32Array,
  f32: Float32Array,
  address: number,
  phases: readonly Phase[],
  bodyRows: number,
): void {
  let runs = address + phases.length * L.PHASE_BYTES;
  phases.forEach((p, n) => {
    const at = (address + n * L.PHASE_BYTES) / 4;
    i32[at + L.PHASE_KIND / 4] = p.kind;
    i32[at + L.PHASE_DATA / 4] = p.data;
    i32[at + L.PHASE_COUNT / 4] = p.count;
    i32[at + L.PHASE_CHUNK / 4] = p.chunk;
    i32[at + L.PHASE_CHUNKS / 4] = Math.ceil(p.count / p.chunk);
    i32[at + L.PHASE_PASS / 4] = p.pass;
    i32[at + L.PHASE_STAGE / 4] = p.stage;
    i32[at + L.PHASE_WARM_START / 4] = p.memory ?? 0;
    i32[at + L.PHASE_KEPT / 4] = p.meets ?? 0;
    i32[at + L.PHASE_OWN / 4] = p.own ?? 0;
    if (p.runs?.length) {
      i32.set([runs, p.runs.length], at + L.PHASE_RUNS / 4);
      for (const { first, end, body } of p.runs) {
        i32.set([first, end, bodyRows + body * L.BODY_BYTES], runs / 4);
        runs += L.RUN_BYTES;
      }
    }
    if (!p.sweep) return;
    i32[at + L.PHASE_FIRST / 4] = p.sweep.first;
    i32[at + L.PHASE_CORNERS / 4] = p.sweep.corners;
    i32[at + L.PHASE_KEPT / 4] = p.sweep.kept;
    i32[at + L.PHASE_SUM / 4] = p.sweep.sum;
    i32[at + L.PHASE_OLDER / 4] = p.sweep.older;
    f32[at + L.PHASE_OMEGA / 4] = p.sweep.omega;
  });
}
