/**
 * Plans WIND rows for surfaces exposed to wind (kernel/assembly/wind/wind.ts). They contain all bodies' triangles one
 * after another, and each surface particle with its triangles in their order. Points feel no wind.
 */
import * as L from "../../../kernel/assembly/layout/layout.ts";
import type { BodyTemplate } from "../../body/template.ts";
import { leftOutOf } from "../../body/template.ts";
import type { StepInertia } from "./implicitRows.ts";
import type { Allocator } from "../memoryMap.ts";
import type { Phase } from "../substepProgram.ts";
import type { SpawnableRun } from "../writeBlocks.ts";

/** Triangles in a chunk: about as long as a chunk of particles. */
const TRIANGLE_CHUNK = 256;
const PARTICLE_CHUNK = 1024;

/** One body's exposed surface. */
interface Exposed {
  body: BodyTemplate;
  index: number;
  triangles: number;
  /** Triangles of each particle, in their order. */
  incident: number[][];
  closed: boolean;
}

export interface PlannedWind {
  /** Address of the WIND row. */
  row: number;
  /** WIND_TRIANGLE rows. */
  triangles: { address: number; count: number };
  /** First phases of a substep while there is wind. */
  phases: Phase[];
  /**
   * Called once the particles and their accelerations are written.
   * @param at addresses of the room's arrays
   */
  write: (buffer: ArrayBufferLike, at: { x: number; acc: number }, firsts: readonly number[]) => void;
}

/** True if every edge has a triangle on either side. */
export function isClosed(triangles: Uint32Array): boolean {
  const open = new Set<number>();
  const key = (a: number, b: number): number => a * 2 ** 26 + b; // fewer than 2^26 particles fit in a room
  for (let t = 0; t < triangles.length; t += 3) {
    for (let k = 0; k < 3; k++) {
      const a = triangles[t + k]!;
      const b = triangles[t + ((k + 1) % 3)]!;
      if (!open.delete(key(b, a))) open.add(key(a, b));
    }
  }
  return open.size === 0;
}

function exposedPart(body: BodyTemplate, index: number): Exposed {
  const { triangles } = body;
  const incident = Array.from({ length: body.streamedCount }, (): number[] => []);
  triangles.forEach((p, k) => incident[p]!.push(Math.floor(k / 3)));
  return { body, index, triangles: triangles.length / 3, incident, closed: isClosed(triangles) };
}

/** Undeformed areas of the triangles, m^2. */
function areasOf({ positions, triangles }: BodyTemplate): Float64Array {
  return Float64Array.from({ length: triangles.length / 3 }, (_, t) => {
    const edge = (k: number): number[] =>
      [0, 1, 2].map((r) => positions[3 * triangles[3 * t + k]! + r]! - positions[3 * triangles[3 * t]! + r]!);
    const [u, v] = [edge(1), edge(2)] as [number[], number[]];
    const n = [u[1]! * v[2]! - u[2]! * v[1]!, u[2]! * v[0]! - u[0]! * v[2]!, u[0]! * v[1]! - u[1]! * v[0]!];
    return Math.sqrt(n[0]! * n[0]! + n[1]! * n[1]! + n[2]! * n[2]!) / 2;
  });
}

/** Smallest share of each triangle in the area around one of its corners; 1 for an empty triangle. */
function leastShares({ body, incident }: Exposed): Float64Array {
  const areas = areasOf(body);
  const around = incident.map((list) => list.reduce((sum, t) => sum + areas[t]!, 0));
  return areas.map((area, t) =>
    area > 0 ? [0, 1, 2].reduce((least, k) => Math.min(least, area / around[body.triangles[3 * t + k]!]!), 1) : 1,
  );
}

function runsOf(
  parts: readonly Exposed[],
  leftOut: (body: BodyTemplate) => boolean,
  size: (part: Exposed) => number,
): SpawnableRun[] {
  let first = 0;
  return parts.flatMap((part) => {
    const run = { body: part.index, first, end: first + size(part) };
    first = run.end;
    return leftOut(part.body) && run.first < run.end ? [run] : [];
  });
}

/**
 * Allocates memory for all exposed surfaces; the result's `write` fills it later.
 * @param particles number in the room, padding included
 * @param inertias of implicit bodies, by body: the force on a light corner also moves the material around it, so the
 * limit allows more than for its mass alone
 */
export function planWind(
  bodies: readonly BodyTemplate[],
  { tickHz, substeps }: { tickHz: number; substeps: number },
  particles: number,
  allocator: Allocator,
  inertias: ReadonlyMap<number, StepInertia>,
): PlannedWind {
  const parts = bodies.flatMap((body, index) => (body.triangles.length === 0 ? [] : [exposedPart(body, index)]));
  const count = (size: (part: Exposed) => number): number => parts.reduce((sum, part) => sum + size(part), 0);
  const triangles = count((part) => part.triangles);
  const surface = count((part) => part.incident.length);
  const leftOut = leftOutOf(bodies);
  const row = allocator.take(L.WIND_BYTES);
  const triangleRows = allocator.take(triangles * L.WIND_TRIANGLE_BYTES);
  const particleRows = allocator.take(surface * L.WIND_PARTICLE_BYTES);
  const incidences = allocator.take(4 * 3 * triangles);
  const base = allocator.take(16 * particles);
  const phase = { pass: 0, stage: L.STAGE_WIND };
  const phases: Phase[] =
    triangles === 0
      ? []
      : [
          {
            ...phase,
            kind: L.KIND_WIND_FORCES,
            data: triangleRows,
            count: triangles,
            chunk: TRIANGLE_CHUNK,
            runs: runsOf(parts, leftOut, (part) => part.triangles),
          },
          {
            ...phase,
            kind: L.KIND_WIND_ACCELERATIONS,
            data: particleRows,
            count: surface,
            chunk: PARTICLE_CHUNK,
            runs: runsOf(parts, leftOut, (part) => part.incident.length),
          },
        ];
  return {
    row,
    triangles: { address: triangleRows, count: triangles },
    phases,
    write(buffer, { x, acc }, firsts) {
      const i32 = new Int32Array(buffer);
      const f32 = new Float32Array(buffer);
      i32[(L.HEADER + L.H_WIND) / 4] = row;
      i32[(row + L.WIND_PHASES) / 4] = phases.length;
      i32[(row + L.WIND_BASE) / 4] = base;
      f32.copyWithin(base / 4, acc / 4, acc / 4 + 4 * particles);
      let at = { triangle: triangleRows, particle: particleRows, incidence: incidences };
      for (const part of parts) {
        const inertia = inertias.get(part.index) ??
          methodInertia(part.body, 1 / tickHz) ?? { seconds: 1 / (tickHz * substeps) };
        at = writePart(i32, f32, part, at, x + 16 * firsts[part.index]!, inertia);
      }
    },
  };
}

/**
 * Inertia of a body with a method, which reads the air once a tick: a surface particle of a solid moves the material
 * within one edge, of stiffness modulus times edge.
 */
function methodInertia(
  { form, material, mass, meanEdge, tets }: BodyTemplate,
  seconds: number,
): StepInertia | undefined {
  if (form !== "method") return undefined;
  const modulus = tets.length > 0 && material && "youngsModulus" in material ? (material.youngsModulus ?? 0) : 0;
  const stiffness = modulus * meanEdge * seconds * seconds;
  return { seconds, share: mass.map((m) => m / (m + stiffness)) };
}

interface Cursor {
  triangle: number;
  particle: number;
  incidence: number;
}

/**
 * @param first address of the body's first particle
 * @param inertia `seconds`: time that a force acts before it is computed again; `share`: absent for masses alone
 */
function writePart(
  i32: Int32Array,
  f32: Float32Array,
  part: Exposed,
  at: Cursor,
  first: number,
  { seconds, share }: Pick<StepInertia, "seconds"> & Partial<StepInertia>,
): Cursor {
  const { body, incident, closed } = part;
  leastShares(part).forEach((least, t) => {
    const row = (at.triangle + t * L.WIND_TRIANGLE_BYTES) / 4;
    const corners = body.triangles.subarray(3 * t, 3 * t + 3);
    for (let k = 0; k < 3; k++) i32[row + k] = first + 16 * corners[k]!;
    const yielding = share ? Math.max(...Array.from(corners, (p) => share[p]!)) : 1;
    i32[row + L.WIND_TRIANGLE_CLOSED / 4] = closed ? 1 : 0;
    f32[row + L.WIND_TRIANGLE_REACH / 4] = (seconds * yielding) / (3 * least);
  });
  let incidence = at.incidence;
  incident.forEach((list, p) => {
    const row = (at.particle + p * L.WIND_PARTICLE_BYTES) / 4;
    i32.set([first + 16 * p, incidence, list.length], row);
    for (const t of list) {
      i32[incidence / 4] = at.triangle + t * L.WIND_TRIANGLE_BYTES;
      incidence += 4;
    }
  });
  return {
    triangle: at.triangle + part.triangles * L.WIND_TRIANGLE_BYTES,
    particle: at.particle + incident.length * L.WIND_PARTICLE_BYTES,
    incidence,
  };
}
