/**
 * Rewrites an implicit body whose material differs from the scene's: constants of its row, masses, bending. All are
 * made from those in the template that the room's memory began as. So with the scene's material the body has the
 * scene's bits.
 *
 * Its factor stays that of the scene's material: it preconditions a step and does not change the step's result. Let A0
 * be the factored matrix and A the current one. The eigenvalues of A0^-1 A lie between the smallest and the largest
 * ratio of their masses and moduli. Conjugate gradients then need at most sqrt(largest / smallest) times as many
 * iterations (Saad, Iterative Methods for Sparse Linear Systems, 2003, eq 6.128). So that quotient is bounded: a body
 * costs at most four times as much, and ten iterations are still enough.
 */
import * as L from "../../kernel/assembly/layout/layout.ts";
import type { Refusal } from "../types.ts";
import { stepConstants } from "../implicit/model.ts";
import { lameCoefficients } from "../scene/materialConstants.ts";
import { confined, MaterialWriter } from "./materialWriter.ts";
import type { TunableBody } from "./tunable.ts";

/** Largest quotient of the largest to the smallest ratio of current to factored values. */
export const MOST_QUOTIENT = 16;

type Material = Omit<TunableBody["scene"], "friction">;
type Field = "youngsModulus" | "poissonsRatio" | "bendingStiffness" | "density";
const FIELDS: readonly Field[] = ["youngsModulus", "poissonsRatio", "bendingStiffness", "density"];

/** Ratio of the current to the scene's value, for every part of the matrix. */
function ratios({ implicit, scene }: TunableBody, now: Material): Map<Field, number> {
  const of = new Map<Field, number>();
  if (scene.density) of.set("density", now.density! / scene.density);
  if (scene.bendingStiffness) of.set("bendingStiffness", now.bendingStiffness! / scene.bendingStiffness);
  if (!scene.youngsModulus) return of;
  const stiffer = now.youngsModulus! / scene.youngsModulus;
  of.set("youngsModulus", stiffer);
  if (scene.poissonsRatio === undefined) return of;
  const nu = confined(implicit!.flat, now.poissonsRatio!) / confined(implicit!.flat, scene.poissonsRatio);
  return of.set("poissonsRatio", stiffer * nu);
}

/**
 * @param change of the material
 * @returns the field that is too far from the factored value
 */
export function refuseFar(body: TunableBody, was: Material, change: Partial<Material>): Refusal | undefined {
  const now = { ...was, ...change };
  const of = ratios(body, now);
  const all = [...of.values()];
  if (!(Math.max(...all) > MOST_QUOTIENT * (1 + 1e-9) * Math.min(...all))) return undefined;
  const field = FIELDS.find((name) => change[name] !== undefined)!;
  // the modulus without confinement
  const confining = field === "youngsModulus" ? (of.get("poissonsRatio") ?? of.get(field)!) / of.get(field)! : 1;
  if (field === "youngsModulus") of.delete("poissonsRatio");
  of.delete(field);
  const least = Math.max(...of.values()) / (MOST_QUOTIENT * Math.min(1, confining));
  const most = (Math.min(...of.values()) * MOST_QUOTIENT) / Math.max(1, confining);
  const scene = body.scene[field]!;
  const value = (ratio: number): number => Number((scene * ratio).toPrecision(4));
  const limit =
    field === "poissonsRatio"
      ? `nearer to the scene's ${scene}: its implicit step was prepared for that`
      : `${value(least)} to ${value(most)}: its implicit step was prepared for ${value(1)}`;
  return { field, value: change[field]!, limit };
}

/** The row of a body, in memory and in the template. */
interface Place {
  row: number;
  live: DataView;
  from: DataView;
}

export class ImplicitMaterials extends MaterialWriter {
  /** Writes the values that the next step of body b reads. */
  write(b: number, now: Material): void {
    const live = new DataView(this.views.f32.buffer);
    const from = new DataView(this.template().buffer);
    const row = live.getInt32(this.layout.bodyRows + b * L.BODY_BYTES + L.BODY_IMPLICIT, true);
    const at = { row, live, from };
    const tunable = this.layout.tunable[b]!;
    const { scene } = tunable;
    const heavier = scene.density ? now.density! / scene.density : 1;
    this.writeStep(at, scene.damping!, now.damping!);
    this.writeModuli(at, tunable, now);
    this.writeMasses(b, at, heavier);
    const bending = scene.bendingStiffness ? now.bendingStiffness! / scene.bendingStiffness : 1;
    writeBending(at, bending);
    this.writeResistance(at, tunable, heavier, bending);
    this.forgetEnergy(at);
  }

  private writeStep({ row, live, from }: Place, was: number, now: number): void {
    const h = from.getFloat64(row + L.IMPLICIT_STEP_SECONDS, true);
    const { keep, coefficient, euler } = stepConstants(h, now);
    for (const [field, value] of [
      [L.IMPLICIT_KEEP, keep],
      [L.IMPLICIT_COEFFICIENT, coefficient],
      [L.IMPLICIT_EULER, euler],
    ] as const)
      live.setFloat64(row + field, now === was ? from.getFloat64(row + field, true) : value, true);
  }

  private writeModuli({ row, live, from }: Place, { implicit, scene }: TunableBody, now: Material): void {
    const same = now.youngsModulus === scene.youngsModulus && now.poissonsRatio === scene.poissonsRatio;
    const stiffer = (now.youngsModulus ?? 1) / (scene.youngsModulus ?? 1);
    const isotropic = scene.poissonsRatio !== undefined;
    const material = { youngsModulus: now.youngsModulus! / this.layout.massUnit, poissonsRatio: now.poissonsRatio! };
    const { mu, lambda } = lameCoefficients(material);
    const across = material.youngsModulus * confined(true, material.poissonsRatio);
    const written: [number, number][] = implicit!.flat
      ? [
          [L.IMPLICIT_C00, across],
          [L.IMPLICIT_C01, material.poissonsRatio * across],
          [L.IMPLICIT_C11, across],
          [L.IMPLICIT_C22, mu],
        ]
      : [
          [L.IMPLICIT_MU, mu],
          [L.IMPLICIT_LAMBDA, lambda],
        ];
    for (const [field, value] of written) {
      const before = from.getFloat64(row + field, true);
      live.setFloat64(row + field, same ? before : isotropic ? value : before * stiffer, true);
    }
  }

  /** Writes masses of the step, and inverse masses of the particles. */
  private writeMasses(b: number, { row, live, from }: Place, heavier: number): void {
    const mass = live.getInt32(row + L.IMPLICIT_MASS, true);
    for (let at = mass; at < mass + 8 * this.layout.bodies[b]!.count; at += 8)
      live.setFloat64(at, from.getFloat64(at, true) * heavier, true);
    this.writeInverseMasses(b, heavier);
  }

  /** Scales the initial stiffness of contact in proportion to its parts, c M and the trace of the stiffness. */
  private writeResistance(
    { row, live, from }: Place,
    { implicit }: TunableBody,
    heavier: number,
    bending: number,
  ): void {
    const address = live.getInt32(row + L.IMPLICIT_STIFFNESS, true);
    if (!address) return;
    const number = (view: DataView, field: number): number => view.getFloat64(row + field, true);
    const trace = (view: DataView): number => 4 * number(view, L.IMPLICIT_MU) + number(view, L.IMPLICIT_LAMBDA);
    const stiffer = implicit!.flat ? bending : trace(live) / trace(from);
    const mass = live.getInt32(row + L.IMPLICIT_MASS, true);
    const c = number(live, L.IMPLICIT_COEFFICIENT);
    const same = c === number(from, L.IMPLICIT_COEFFICIENT) && heavier === 1 && stiffer === 1;
    for (let i = 0, at = address; i < live.getInt32(row + L.IMPLICIT_COUNT, true); i++, at += 8) {
      const m = from.getFloat64(mass + 8 * i, true);
      const before = from.getFloat64(at, true);
      const elastic = before - number(from, L.IMPLICIT_COEFFICIENT) * m;
      live.setFloat64(at, same ? before : c * m * heavier + stiffer * elastic, true);
    }
  }

  /** Invalidates the energy, current and saved: it was computed with other moduli. */
  private forgetEnergy({ row, live }: Place): void {
    const state = live.getInt32(row + L.IMPLICIT_STATE, true);
    const end = 96 * live.getInt32(row + L.IMPLICIT_COUNT, true);
    const run = this.layout.states.find(({ address }) => address === state)!;
    for (const address of [run.address, run.initial, run.good]) live.setFloat64(address + end, -1, true);
  }
}

/** Scales the stiffnesses of the energy and the rows of the product. */
function writeBending({ row, live, from }: Place, stiffer: number): void {
  const bends = live.getInt32(row + L.IMPLICIT_BENDS, true);
  for (let e = 0; e < live.getInt32(row + L.IMPLICIT_BEND_COUNT, true); e++) {
    const at = bends + e * L.IMPLICIT_BEND_BYTES + L.IMPLICIT_BEND_STIFFNESS;
    live.setFloat64(at, from.getFloat64(at, true) * stiffer, true);
  }
  const ends = live.getInt32(row + L.IMPLICIT_STENCIL_START, true);
  if (!ends) return;
  const last = ends + 4 * (live.getInt32(row + L.IMPLICIT_COUNT, true) - 1);
  for (let at = live.getInt32(row + L.IMPLICIT_STENCILS, true); at < live.getInt32(last, true); at += 8)
    live.setFloat32(at + 4, from.getFloat32(at + 4, true) * stiffer, true);
}
