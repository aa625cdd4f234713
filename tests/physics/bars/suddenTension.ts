/**
 * Free bars under sudden, opposite loads at both ends: their stretch and width relative to the law's (pulledBar.ts),
 * and their energy, at any settings of a scene.
 */
import type { Scene } from "../../../shared/scene/scene.ts";
import type { IsotropicMaterial } from "../../../shared/scene/sceneMaterials.ts";
import { densityOf } from "../../statics/materials.ts";
import { elasticEnergy, solidMesh } from "../../statics/solidMesh.ts";
import { lumpedMass } from "../materials/explicit.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";
import { stretches, uniaxialLaw } from "./pulledBar.ts";

/** Samples of stretch and energy a second. */
export const SAMPLES = 12;

export interface Bar {
  model: NonNullable<IsotropicMaterial["model"]>;
  /** Pa */
  k: number;
  nu: number;
  /** kg/m^3 */
  rho: number;
  /** m */
  size: [number, number, number];
  cells: [number, number, number];
  /** the stretch that the load is computed for */
  s: number;
  /** Damping relative to the critical damping of the lowest mode, 2 pi c/L: dv/dt = -damping v. */
  damping: number;
}

export interface Pulled {
  bar: Bar;
  implicit: boolean;
  /** s and t relative to the law's, minus 1 */
  errors: { s: number; t: number };
  /** s after which the stretch stays within `limit` of the law's; infinite: never */
  settled: number;
  /** Largest energy after the start, relative to the work of the loads; at the start it is 0. */
  energy: number;
  /** Samples of time and stretch relative to the law's. */
  trace: [number, number][];
  lab: Laboratory;
}

/** How often sound crosses the bar in a second, 1/s. */
export const pace = ({ k, rho, size }: Bar): number => Math.sqrt(k / rho) / size[0];

export function sceneOf(bar: Bar, settings: Partial<Scene>): Partial<Scene> & Pick<Scene, "bodies"> {
  const { model, k, nu, rho, size, cells, s } = bar;
  const force = uniaxialLaw(model, k, nu, s).P * size[1] * size[2];
  const end = 0.4999 * size[0];
  return {
    refine: true,
    worldRadius: 1000,
    ...settings,
    bodies: [
      {
        name: "bar",
        kind: "soft",
        mesh: { type: "box", size, cells },
        material: {
          model,
          density: rho,
          youngsModulus: k,
          poissonsRatio: nu,
          damping: Math.min(10000, bar.damping * 2 * Math.PI * pace(bar)),
        },
        loads: [
          { select: { box: { min: [end, -10, -10], max: [10, 10, 10] } }, force: [force, 0, 0] },
          { select: { box: { min: [-10, -10, -10], max: [-end, 10, 10] } }, force: [-force, 0, 0] },
        ],
      },
    ],
  };
}

/**
 * @param limit relative error of the stretch below which it counts as settled
 * @param settings settings besides the defaults of a scene
 */
export async function pull(bar: Bar, seconds: number, limit: number, settings: Partial<Scene> = {}): Promise<Pulled> {
  const { model, k, nu, rho, size, s } = bar;
  const lab = await laboratory(sceneOf(bar, settings));
  const law = uniaxialLaw(model, k, nu, s);
  const X = lab.positions();
  const mesh = solidMesh(X, lab.created.bodies[0]!.tets);
  const mass = lumpedMass(mesh, rho);
  const load = X.map((_, i) => mass[Math.floor(i / 3)]! * lab.acceleration[4 * Math.floor(i / 3) + (i % 3)]!);
  const density = densityOf(model, k, nu);
  const free = law.P * size[0] * size[1] * size[2] * (s - 1);
  const trace: [number, number][] = [[0, 1 / s]];
  let energy = -Infinity;
  let at = stretches(X, X);
  for (let n = 1; n <= seconds * SAMPLES; n++) {
    lab.run(60 / SAMPLES);
    const x = lab.positions();
    const v = lab.velocities();
    const moving = v.reduce((sum, c, i) => sum + (mass[Math.floor(i / 3)]! * c * c) / 2, 0);
    const work = x.reduce((sum, c, i) => sum + load[i]! * (c - X[i]!), 0);
    energy = Math.max(energy, (moving + elasticEnergy(mesh, density, x) - work) / free);
    at = stretches(X, x);
    trace.push([n / SAMPLES, at.s / s]);
  }
  const off = trace.findLastIndex(([, r]) => !(Math.abs(r - 1) <= limit));
  const settled = trace[off + 1]?.[0] ?? Infinity;
  const errors = { s: at.s / s - 1, t: at.t / law.t - 1 };
  return { bar, implicit: lab.created.layout.bodies[0]!.implicit, errors, settled, energy, trace, lab };
}

/**
 * Pseudo-random bars of Saint Venant-Kirchhoff material, the same every time. Bars with c/L below 1/s cannot rest
 * within ten seconds, because the strain's error falls with exp(-damping pi c/L t). Those are drawn again.
 */
export function randomBars(count: number): Bar[] {
  let seed = 1;
  const random = (low: number, high: number): number => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return low + ((high - low) * seed) / 2 ** 32;
  };
  const whole = (low: number, high: number): number => Math.floor(random(low, high + 1));
  const bars: Bar[] = [];
  while (bars.length < count) {
    const k = 10 ** random(3, 9);
    const length = 10 ** random(-2, 1);
    const bar: Bar = {
      model: "stvk",
      k,
      nu: random(0, 0.45),
      rho: 10 ** random(2.3, 3.7),
      size: [length, length * random(0.15, 0.4), length * random(0.15, 0.4)],
      cells: [whole(2, 6), whole(1, 2), whole(1, 2)],
      s: 1 + random(0.05, 0.3),
      damping: random(0.3, 1),
    };
    if (pace(bar) >= 1) bars.push(bar);
  }
  return bars;
}
