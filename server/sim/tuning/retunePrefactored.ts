/**
 * Rewrites a prefactored body whose material differs from the scene's: stiffness of its elements, masses, and the
 * factor of both (prefactored/refactor.ts). Stiffness and masses are made from those in the template that the room's
 * memory began as, and the factor is copied with the scene's material. So with that the body has the scene's bits.
 *
 * Between two ticks, once for each change, ms of CPU time for 1,024, 4,096, 16,384 particles: 10, 25, 120; 11, 65, 460
 * with stiff bending. Weak bending has no entries in the factor: the membrane bounds it (prefactored/model.ts). So its
 * share of the stiffness is limited there.
 */
import * as L from "../../kernel/assembly/layout/layout.ts";
import { LANES } from "../../kernel/assembly/layout/sizes.ts";
import { WEAK_BENDING } from "../prefactored/model.ts";
import { refactor } from "../prefactored/refactor.ts";
import { confined, MaterialWriter } from "./materialWriter.ts";
import type { TunableBody } from "./tunable.ts";
import type { Refusal } from "../types.ts";

/** Largest share of bending in the stiffness that the membrane has to bound: it is then 1.6 times too stiff. */
const MOST_SHARE = 0.2;

type Material = Omit<TunableBody["scene"], "friction">;

/** Bound of a sheet's stiffness over Young's modulus (prefactored/model.ts). */
const bound = (nu: number): number => Math.max(1 / (1 - Math.abs(nu)), 1 / (1 + nu));

/** Refuses a change with too much bending for a factor without it. */
export function refuseBending(body: TunableBody, was: Material, change: Partial<Material>): Refusal | undefined {
  const { scene, prefactored } = body;
  const { share } = prefactored!;
  if (!(share > 0) || share > WEAK_BENDING) return undefined;
  const shareOf = (m: Material): number =>
    ((share * (m.bendingStiffness! / scene.bendingStiffness!)) / stifferThan(body, m)) *
    (scene.poissonsRatio === undefined ? 1 : bound(scene.poissonsRatio) / bound(m.poissonsRatio!));
  const now = shareOf({ ...was, ...change });
  if (now <= Math.max(MOST_SHARE, shareOf(was)) * (1 + 1e-9)) return undefined;
  const field = (["bendingStiffness", "youngsModulus", "poissonsRatio"] as const).find((f) => change[f] !== undefined)!;
  const value = change[field]!;
  const most = MOST_SHARE / now;
  const limit =
    field === "bendingStiffness"
      ? `<= ${Number((value * most).toPrecision(4))} for this modulus`
      : field === "youngsModulus"
        ? `>= ${Number((value / most).toPrecision(4))} for this bending stiffness`
        : "nearer to 1 for this bending stiffness";
  return { field, value, limit };
}

const stifferThan = ({ scene }: TunableBody, now: Material): number =>
  scene.youngsModulus ? now.youngsModulus! / scene.youngsModulus : 1;

export class PrefactoredMaterials extends MaterialWriter {
  /** Writes the values that the next substep of body b reads. */
  write(b: number, now: Material): void {
    const { layout, views } = this;
    const live = new DataView(views.f32.buffer);
    const row = live.getInt32(layout.bodyRows + b * L.BODY_BYTES + L.BODY_PREFACTORED, true);
    const tunable = layout.tunable[b]!;
    const { scene, prefactored } = tunable;
    const heavier = now.density! / scene.density!;
    this.writeStiffness(live, row, tunable, now);
    this.scale(live, row, L.PREFACTORED_INERTIA, live.getInt32(row + L.PREFACTORED_COLUMNS, true), heavier);
    this.writeInverseMasses(b, heavier);
    const asScene = Object.entries(now).every(([field, value]) => value === scene[field as keyof Material]);
    if (asScene) this.copyFactor(live, row);
    else {
      const columns = live.getInt32(row + L.PREFACTORED_COLUMN, true);
      const anchors = prefactored!.anchors.map((i) => live.getUint32(columns + 4 * i, true) / LANES);
      refactor(live, row, prefactored!.share <= WEAK_BENDING, anchors);
    }
    this.forgetResponses(live);
  }

  /** Writes the template's values times a factor. @param pointer field of the row, to `count` numbers */
  private scale(live: DataView, row: number, pointer: number, count: number, factor: number): void {
    const at = live.getInt32(row + pointer, true) / 4;
    const from = this.template();
    for (let i = at; i < at + count; i++) this.views.f32[i] = from[i]! * factor;
  }

  private writeStiffness(live: DataView, row: number, tunable: TunableBody, now: Material): void {
    const { scene } = tunable;
    const same = now.youngsModulus === scene.youngsModulus && now.poissonsRatio === scene.poissonsRatio;
    const stiffer = stifferThan(tunable, now);
    const [nu0, nu] = [scene.poissonsRatio, now.poissonsRatio];
    // over C00 of the scene: C00, C01, C11, C22 of an isotropic sheet
    const across = nu === undefined ? 1 : (stiffer * confined(true, nu)) / confined(true, nu0!);
    const isotropic = nu === undefined ? undefined : [across, nu * across, across, ((1 - nu) / 2) * across];
    const from = this.template();
    const { f32 } = this.views;
    const triangles = live.getInt32(row + L.PREFACTORED_TRIANGLES, true);
    for (let n = 0; n < live.getInt32(row + L.PREFACTORED_TRIANGLE_ROWS, true); n++) {
      const at = (triangles + n * L.PREFACTORED_TRIANGLE_BYTES + L.PREFACTORED_TRIANGLE_C) / 4;
      for (let lane = at; lane < at + 4; lane++)
        for (let k = 0; k < 4; k++) {
          const before = from[lane + 4 * k]!;
          f32[lane + 4 * k] = same ? before : isotropic ? from[lane]! * isotropic[k]! : before * stiffer;
        }
    }
    const bending = scene.bendingStiffness ? now.bendingStiffness! / scene.bendingStiffness : 1;
    this.writeTetrahedra(live, row, stiffer, [nu0, nu]);
    const bends = live.getInt32(row + L.PREFACTORED_BENDS, true);
    for (let n = 0; n < live.getInt32(row + L.PREFACTORED_BEND_ROWS, true); n++) {
      const at = (bends + n * L.PREFACTORED_BEND_BYTES + L.PREFACTORED_BEND_STIFFNESS) / 4;
      for (let lane = at; lane < at + 4; lane++) f32[lane] = from[lane]! * bending;
    }
    const pairs = live.getInt32(row + L.PREFACTORED_PAIRS, true);
    const columns = pairs ? live.getInt32(row + L.PREFACTORED_COLUMNS, true) : 0;
    const counts = live.getInt32(row + L.PREFACTORED_PAIR_COUNTS, true);
    for (let k = 0, at = pairs; k < columns; k++)
      for (let n = live.getInt32(counts + 4 * k, true); n > 0; n--, at += L.PREFACTORED_PAIR_BYTES) {
        const stiffness = (at + L.PREFACTORED_PAIR_STIFFNESS) / 4;
        f32[stiffness] = from[stiffness]! * bending;
      }
  }

  /** @param nus Poisson's ratio of the scene, and now; undefined: not changeable */
  private writeTetrahedra(live: DataView, row: number, stiffer: number, [nu0, nu]: [number?, number?]): void {
    const lambda = (nu: number): number => nu / (1 + nu) / (1 - 2 * nu);
    const mu = (nu: number): number => 0.5 / (1 + nu);
    const ratios = [lambda, mu].map((of) => (nu === nu0 ? stiffer : (stiffer * of(nu!)) / of(nu0!)));
    const from = this.template();
    const tets = live.getInt32(row + L.PREFACTORED_TETS, true);
    for (let n = 0; n < live.getInt32(row + L.PREFACTORED_TET_ROWS, true); n++)
      [L.PREFACTORED_TET_LAMBDA, L.PREFACTORED_TET_MU].forEach((offset, k) => {
        const at = (tets + n * L.PREFACTORED_TET_BYTES + offset) / 4;
        for (let lane = at; lane < at + 4; lane++) this.views.f32[lane] = from[lane]! * ratios[k]!;
      });
  }

  private copyFactor(live: DataView, row: number): void {
    this.scale(
      live,
      row,
      L.PREFACTORED_FACTOR + L.FACTOR_ENTRIES,
      4 * live.getInt32(row + L.PREFACTORED_FACTOR + L.FACTOR_ENTRY_COUNT, true),
      1,
    );
    const groups = live.getInt32(row + L.PREFACTORED_FACTOR + L.FACTOR_GROUPS, true) / 4;
    const { i32 } = this.views;
    const from = new Int32Array(this.template().buffer);
    const end = groups + (L.GROUP_BYTES / 4) * live.getInt32(row + L.PREFACTORED_FACTOR + L.FACTOR_GROUP_COUNT, true);
    i32.set(from.subarray(groups, end), groups);
  }

  /** Invalidates the stored responses of bodies to points: the kernel then computes them again. */
  private forgetResponses(live: DataView): void {
    const points = live.getInt32(L.HEADER + L.H_POINTS, true);
    for (let n = 0; n < live.getInt32(L.HEADER + L.H_POINT_COUNT, true); n++) {
      const response = live.getInt32(points + n * L.POINT_BYTES + L.POINT_RESPONSE, true);
      if (response) live.setInt32(response + L.RESPONSE_VALID, 0, true);
    }
  }
}
