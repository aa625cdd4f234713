/** The phases of one substep in execution order: what `step` in the kernel walks through. */
import * as L from "../../kernel/assembly/layout.ts";
import { BLOCK_KINDS } from "./blocks/kinds.ts";
import type { ColorRange } from "./writeBlocks.ts";

export interface Phase {
  kind: number;
  data: number;
  /** Blocks or particles. */
  count: number;
  /** Blocks or particles that one thread takes at a time. */
  chunk: number;
  /** PASS_FIRST and PASS_LAST, added. */
  pass: number;
  stage: number;
  /** Address of the blocks' remembered stress; absent: none. */
  memory?: number;
}

/** 64 blocks = 256 elements: about 5 us of work, so that claiming (two atomics) stays below 2 %. */
const BLOCK_CHUNK = 64;
/** 1,024 particles: about 5 us. */
const PARTICLE_CHUNK = 1024;

export function buildProgram(ranges: readonly ColorRange[], particles: number, bodies: number, iterations: number): Phase[] {
  const everyParticle = (kind: number, stage: number): Phase => ({ kind, data: 0, count: particles, chunk: PARTICLE_CHUNK, pass: 0, stage });
  const phases: Phase[] = [everyParticle(L.KIND_PREDICT, L.STAGE_PREDICT)];
  for (let iteration = 0; iteration < iterations; iteration++) {
    const pass = (iteration === 0 ? L.PASS_FIRST : 0) + (iteration === iterations - 1 ? L.PASS_LAST : 0);
    for (const r of ranges) phases.push({ kind: BLOCK_KINDS[r.kind].phase, data: r.address, count: r.blocks, chunk: BLOCK_CHUNK, pass, stage: L.STAGE_SOLVE, memory: r.memory });
    // serial and last, so that what a hand or a neighbor demands is what the iteration ends with
    phases.push({ kind: L.KIND_POINTS, data: 0, count: 1, chunk: 1, pass, stage: L.STAGE_SOLVE });
    phases.push({ kind: L.KIND_CONTACTS, data: 0, count: 1, chunk: 1, pass, stage: L.STAGE_SOLVE });
  }
  const everyBody = (kind: number): Phase => ({ kind, data: 0, count: bodies, chunk: 1, pass: 0, stage: L.STAGE_VELOCITY });
  phases.push(everyBody(L.KIND_BALANCE), everyParticle(L.KIND_VELOCITY, L.STAGE_VELOCITY), everyBody(L.KIND_RESTORE), everyParticle(L.KIND_COLLIDE, L.STAGE_COLLIDE));
  return phases;
}

export function writeProgram(i32: Int32Array, address: number, phases: readonly Phase[]): void {
  phases.forEach((p, n) => {
    const at = (address + n * L.PHASE_BYTES) / 4;
    i32[at + L.PHASE_KIND / 4] = p.kind;
    i32[at + L.PHASE_DATA / 4] = p.data;
    i32[at + L.PHASE_COUNT / 4] = p.count;
    i32[at + L.PHASE_CHUNK / 4] = p.chunk;
    i32[at + L.PHASE_CHUNKS / 4] = Math.ceil(p.count / p.chunk);
    i32[at + L.PHASE_PASS / 4] = p.pass;
    i32[at + L.PHASE_STAGE / 4] = p.stage;
    i32[at + L.PHASE_MEMORY / 4] = p.memory ?? 0;
  });
}
