/**
 * Rewrites the constraint rows of a body whose material differs from the scene's. Every row is made from the scene's
 * row, in the template that the room's memory began as, by the same writers (constraints/). So a row depends only on
 * the current material, not on earlier changes, and with the scene's material it has the scene's bits.
 *
 *   modulus, Poisson's ratio, rigidity, yield   compliances and flow; remembered stress stays, because under the same
 *                                               forces stress at rest is the same
 *   density    inverse masses, and K and W of the rows, which are sums of them; velocities stay, so momentum changes
 *              with the mass, as if matter was added at the body's velocity
 *   pins       inverse masses of pinned particles: off, they become free where they are; on, they stay where they are
 *   pressure   the target volume, which follows within PRESSURE_RATE
 * A change of masses makes the body forget its remembered stress, whose unit contains them (constraints/tetrahedra.ts).
 */
import * as L from "../../kernel/assembly/layout/layout.ts";
import type { Material } from "../constraints/constraint.ts";
import { CONSTRAINTS, ELEMENT_KINDS } from "../constraints/kinds.ts";
import { laterPart } from "../scene/laterPart.ts";
import { volumetric } from "../scene/sound.ts";
import type { MaterialRun } from "../memory/writeBlocks.ts";
import { MaterialWriter } from "./materialWriter.ts";
import type { TunableBody } from "./tunable.ts";

/** Largest change of a balloon's pressure in a second, rest volumes. */
const PRESSURE_RATE = 6;

export class BodyMaterials extends MaterialWriter {
  private readonly rows = new DataView(this.views.f32.buffer);

  /**
   * Writes the rows of body b.
   * @param masses whether its masses, or the set of its particles with mass, have changed
   */
  write(b: number, now: Material, masses: boolean): void {
    const tunable = this.layout.tunable[b]!;
    const asScene = Object.entries(now).every(([field, value]) => value === tunable.scene[field as keyof Material]);
    if (masses) this.writeMasses(b, now);
    for (const run of runsOf(this.layout.materialRuns)) {
      if (run.body !== b) continue;
      if (asScene) this.copyRun(run);
      else this.writeRun(run, tunable, now);
      if (masses && run.memory) this.forget(run);
    }
    const row = this.layout.bodyRows + b * L.BODY_BYTES;
    this.rows.setFloat32(row + L.BODY_SHARE, 0, true);
    if (tunable.size > 0) this.writeDrift(row, tunable, now, asScene);
  }

  private writeDrift(row: number, tunable: TunableBody, now: Material, asScene: boolean): void {
    const speed = speedOf(tunable, now);
    const scene = (field: number): number => this.template()[(row + field) / 4]!;
    const later = asScene ? scene(L.BODY_LATER) : laterPart(tunable, speed, this.layout);
    this.rows.setFloat32(row + L.BODY_LATER, later, true);
    // the scene's is that of the stiffest axis
    const calm = scene(L.BODY_CALM) * (speed / speedOf(tunable, tunable.scene));
    this.rows.setFloat32(row + L.BODY_CALM, calm, true);
  }

  /** Writes inverse masses of the particles, and of their copies for reset and roll-back. */
  private writeMasses(b: number, { density, pins = true }: Material): void {
    const { layout, views } = this;
    const { first } = layout.bodies[b]!;
    const { scene, pinned, pinnedMass } = layout.tunable[b]!;
    const heavier = density! / scene.density!;
    const unpinned = Array.from(pinned, (i, n): [number, number] => [i, layout.massUnit / (pinnedMass[n]! * heavier)]);
    this.writeInverseMasses(b, heavier, new Map(pins ? [] : unpinned));
    if (!pins) return;
    for (const i of pinned)
      for (const v of [layout.v, layout.good + this.savedBytes])
        views.f32.fill(0, v / 4 + 4 * (first + i), v / 4 + 4 * (first + i) + 3);
  }

  private get savedBytes(): number {
    return 16 * this.views.i32[(L.HEADER + L.H_PARTICLES) / 4]!;
  }

  private copyRun(run: MaterialRun): void {
    const from = this.template();
    const { f32 } = this.views;
    const { bytes, state } = CONSTRAINTS[run.kind];
    eachLane(run, (at) => {
      for (let row = 0; row < bytes / 16; row++) {
        const kept = state && 16 * row >= state.offset && row < state.offset / 16 + state.rows;
        if (!kept) f32[at + 4 * row] = from[at + 4 * row]!;
      }
    });
  }

  private writeRun(run: MaterialRun, { scene, elasticity }: TunableBody, now: Material): void {
    const { f32, i32 } = this.views;
    const { layout } = this;
    const from = this.template();
    const { compliance, remade, write, state } = CONSTRAINTS[run.kind];
    const strain = new Float32Array(6);
    const { tickHz, substeps, iterations } = layout;
    const visits = { seconds: 1 / (tickHz * substeps), iterations };
    // the scene's inverse mass: inactive and held bodies have none now
    const toInitial = (layout.initial - layout.x) / 4;
    eachLane(run, (at) => {
      if (compliance !== undefined && elasticity)
        f32[at + compliance / 4] = (from[at + compliance / 4]! * scene.youngsModulus!) / now.youngsModulus!;
      if (!remade) return;
      const read = (offset: number, row = 0): number => from[at + offset / 4 + 4 * row]!;
      const made = remade({ read, scene, now, elasticity, massUnit: layout.massUnit });
      for (let k = 0; k < (state?.rows ?? 0); k++) strain[k] = f32[at + state!.offset / 4 + 4 * k]!;
      write(f32, at, made, 0, (corner) => f32[i32[at + 4 * corner]! / 4 + toInitial + 3]!, visits);
      for (let k = 0; k < (state?.rows ?? 0); k++) f32[at + state!.offset / 4 + 4 * k] = strain[k]!;
    });
  }

  /** Clears remembered stress, lane by lane. */
  private forget(run: MaterialRun): void {
    const { i32 } = this.views;
    for (let lane = run.firstLane; lane < run.lastLane; lane++) {
      const at = (run.memory + Math.floor(lane / 4) * L.WARM_START_BYTES) / 4 + (lane % 4);
      for (let row = 0; row < L.WARM_START_BODY / 16; row++) i32[at + 4 * row] = 0;
    }
  }

  /**
   * Moves the target volumes of balloons towards their pressure, by at most PRESSURE_RATE. A balloon that collapses in
   * one substep would fold into itself.
   * @param pressure current value of a body
   */
  inflate(pressure: (body: number) => number): void {
    const { enclosed, tunable, tickHz } = this.layout;
    for (const { body, row, rest } of enclosed) {
      const scene = tunable[body]!.scene.pressure;
      if (scene === undefined) continue;
      const now = this.rows.getFloat64(row + L.ENCLOSED_REST, true);
      const target = rest * (pressure(body) / scene);
      const most = Math.abs(rest / scene) * (PRESSURE_RATE / tickHz);
      const next = Math.min(Math.max(target, now - most), now + most);
      if (next !== now) this.rows.setFloat64(row + L.ENCLOSED_REST, next, true);
    }
  }
}

/** Speed of sound, m/s, along the first axis of the material. */
const speedOf = ({ elasticity }: TunableBody, now: Material): number =>
  Math.sqrt((now.youngsModulus! * volumetric(elasticity, now.poissonsRatio)) / now.density!);

/** @param each called with the float32 index of a lane in its block's first row */
function eachLane(run: MaterialRun, each: (at: number) => void): void {
  const { bytes } = CONSTRAINTS[run.kind];
  for (let lane = run.firstLane; lane < run.lastLane; lane++)
    each((run.address + Math.floor(lane / 4) * bytes) / 4 + (lane % 4));
}

/** Integers of a run in `SimLayout.materialRuns`: body, kind, address, first and last lane, address of its memory. */
const RUN_INTEGERS = 6;

export function packRuns(runs: readonly MaterialRun[]): Int32Array {
  return Int32Array.from(
    runs.flatMap(({ body, kind, address, firstLane, lastLane, memory }) => [
      body,
      ELEMENT_KINDS.indexOf(kind),
      address,
      firstLane,
      lastLane,
      memory,
    ]),
  );
}

function* runsOf(packed: Int32Array): Generator<MaterialRun> {
  for (let n = 0; n < packed.length; n += RUN_INTEGERS) {
    const [body, kind, address, firstLane, lastLane, memory] = packed.subarray(n, n + RUN_INTEGERS) as unknown as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    yield { body, kind: ELEMENT_KINDS[kind]!, address, firstLane, lastLane, memory };
  }
}
