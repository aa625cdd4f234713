/**
 * Additive plasticity with von Mises yield (Bender et al. 2014, section 4.2), in cases with a closed solution.
 *   fixed at a strain:       |eps'| = max(yield, |eps'_0| exp(-creep t)), the rest is plastic
 *   under a dead load:       flow until |eps_pl| = max; loaded eps_x = P/(s k) + eps_pl_x, unloaded eps = eps_pl
 * Tolerances for a fixed strain: the quotient that approximates exp errs by z^3/12 a step with z = creep h, which is
 * z^2/12 of the flow, plus float32 rounding. Dead load: 1 %.
 */
import { describe, expect, test } from "vitest";
import type { SoftBody } from "../../../shared/scene/scene.ts";
import type {
  IsotropicMaterial,
  OrthotropicMaterial,
  Plasticity,
  SoftMaterial,
} from "../../../shared/scene/sceneMaterials.ts";
import { strainNorm } from "../../../server/sim/reference/orthotropic.ts";
import { laboratory, volumeOf, type Laboratory } from "../laboratory.ts";
import { fittedStrains } from "../bars/orthotropicBar.ts";
import { meanPlasticStrain, plasticStrains } from "./plasticStrains.ts";
import { softBox } from "../../support/bodies.ts";

const ISOTROPIC: IsotropicMaterial = { density: 1000, youngsModulus: 1e5, poissonsRatio: 0.3 };
const WOOD: OrthotropicMaterial = {
  model: "orthotropic",
  density: 1000,
  youngsModuli: [4e5, 1e5, 6e4],
  poissonsRatios: [0.4, 0.3, 0.5],
  shearModuli: [4e4, 2e4, 5e4],
  axes: [10, 40, -20],
};
const MATERIALS: [string, IsotropicMaterial | OrthotropicMaterial][] = [
  ["isotropic", ISOTROPIC],
  ["orthotropic", WOOD],
];

async function held(
  material: SoftMaterial,
  plasticity: Plasticity,
  steps: { substeps: number; iterations?: number },
): Promise<Laboratory> {
  const lab = await laboratory({
    ...steps,
    bodies: [
      softBox("bar", [0.2, 0.1, 0.1], [2, 1, 1], {
        material: { ...material, plasticity } as SoftMaterial,
        pins: [{ select: { box: { min: [-1, -1, -1], max: [1, 1, 1] } } }],
      }),
    ],
  });
  lab.put(0, ([x, y, z]) => [1.2 * x + 0.1 * y, 0.9 * y, z + 0.05 * x]);
  return lab;
}

/** The norm |eps'| of this map. */
const F = [
  [1.2, 0.1, 0],
  [0, 0.9, 0],
  [0.05, 0, 1],
];
const T = (i: number, j: number): number => F.reduce((sum, row) => sum + row[i]! * row[j]!, 0);
const NORMAL = [0, 1, 2].map((i) => (T(i, i) - 1) / 2);
const MEAN = (NORMAL[0]! + NORMAL[1]! + NORMAL[2]!) / 3;
const DEVIATOR = strainNorm([...NORMAL.map((e) => e - MEAN), T(1, 2), T(0, 2), T(0, 1)]);

describe.each(MATERIALS)("%s", (_, material) => {
  test("fixed at a strain: creep depends on time, not on substeps or iterations", async () => {
    for (const creep of [2, 30]) {
      for (const substeps of [1, 5, 20, 80]) {
        for (const iterations of substeps === 5 ? [1, 4] : [1]) {
          const lab = await held(material, { yield: 0.02, creep, max: 1 }, { substeps, iterations });
          const z = creep / 60 / substeps;
          for (const ticks of [6, 24]) {
            lab.run(ticks);
            const time = lab.world.tickNumber / 60;
            const flowed = DEVIATOR - Math.max(0.02, DEVIATOR * Math.exp(-creep * time));
            for (const s of plasticStrains(lab))
              expect(
                Math.abs(strainNorm(s) / flowed - 1),
                `${substeps} substeps, creep ${creep}, ${time} s`,
              ).toBeLessThan((z * z) / 12 + 1e-4);
          }
        }
      }
    }
  });

  test("flow stops exactly at yield and exactly at max, and does not begin below yield", async () => {
    const lab = await held(material, { yield: 0.05, creep: 1e6, max: 1 }, { substeps: 2 });
    lab.run(30);
    for (const s of plasticStrains(lab)) expect(strainNorm(s)).toBeCloseTo(DEVIATOR - 0.05, 5);
    const limited = await held(material, { yield: 0.001, creep: 50, max: 0.06 }, { substeps: 2 });
    limited.run(30);
    for (const s of plasticStrains(limited)) expect(strainNorm(s)).toBeCloseTo(0.06, 5);
    const stiff = await held(material, { yield: 1.0001 * DEVIATOR, creep: 50, max: 1 }, { substeps: 2 });
    stiff.run(30);
    for (const s of plasticStrains(stiff)) expect(s).toEqual([0, 0, 0, 0, 0, 0]);
  });
});

/**
 * A bar under a dead load P along x for `seconds`, then without it until it rests. Overdamped, so that it does not
 * overshoot and flow on the way back.
 */
async function loadAndUnload(
  plasticity: Plasticity,
  P: number,
  seconds: number,
  steps: { substeps: number; iterations: number },
  damping = 200,
): Promise<{ loaded: readonly number[]; unloaded: readonly number[] }> {
  const end = 0.1499;
  const lab = await laboratory({
    ...steps,
    bodies: [
      softBox("bar", [0.3, 0.1, 0.1], [6, 2, 2], {
        material: { ...ISOTROPIC, damping, plasticity },
        loads: [1, -1].map((side) => ({
          select: {
            box: {
              min: [side > 0 ? end : -10, -10, -10] as [number, number, number],
              max: [side > 0 ? 10 : -end, 10, 10] as [number, number, number],
            },
          },
          force: [side * P * 0.01, 0, 0] as [number, number, number],
        })),
      }),
    ],
  });
  const X = lab.positions();
  lab.run(Math.round(seconds * 60));
  const loaded = fittedStrains(X, lab.positions());
  for (let i = 0; i < lab.acceleration.length; i += 4) lab.acceleration.fill(0, i, i + 3);
  lab.run(90);
  return { loaded, unloaded: fittedStrains(X, lab.positions()) };
}

describe("a bar loaded and unloaded", () => {
  test("keeps a plastic strain of max", async () => {
    const max = 0.1;
    const P = 8e3;
    const plastic = Math.sqrt(2 / 3) * max;
    for (const steps of [
      { substeps: 20, iterations: 2 },
      { substeps: 5, iterations: 10 },
    ]) {
      const { loaded, unloaded } = await loadAndUnload({ yield: 0.01, creep: 10, max }, P, 3, steps);
      // s: P/(s k) + plastic = (s^2 - 1)/2
      let s = 1;
      for (let i = 0; i < 50; i++) s = Math.sqrt(1 + 2 * (P / (s * 1e5) + plastic));
      expect(Math.abs(loaded[0]! / ((s * s - 1) / 2) - 1)).toBeLessThan(0.01);
      expect(Math.abs(unloaded[0]! / plastic - 1)).toBeLessThan(0.01);
      for (const k of [1, 2]) expect(Math.abs(unloaded[k]! / (-plastic / 2) - 1)).toBeLessThan(0.01);
    }
  });

  test("has no plastic strain below yield", async () => {
    // the norm |eps'| of uniaxial eps_x is sqrt(2/3) (1 + nu) eps_x
    const { loaded, unloaded } = await loadAndUnload({ yield: 0.09, creep: 10, max: 1 }, 8e3, 1.5, {
      substeps: 20,
      iterations: 2,
    });
    expect(loaded[0]).toBeGreaterThan(0.07);
    expect(Math.abs(unloaded[0]!)).toBeLessThan(1e-4);
  });

  test("creeps the same way with 5, 20 and 80 substeps", async () => {
    const at = async (substeps: number): Promise<number> =>
      (await loadAndUnload({ yield: 0.01, creep: 3, max: 0.5 }, 4e3, 0.5, { substeps, iterations: 5 }, 20))
        .unloaded[0]!;
    const [coarse, middle, fine] = [await at(5), await at(20), await at(80)] as [number, number, number];
    expect(fine).toBeGreaterThan(0.02);
    // the creep of one step, creep h; for the finest also float32: x moves by about 100 units in the last place in a
    // substep
    expect(Math.abs(coarse / fine - 1)).toBeLessThan(3 / 300);
    expect(Math.abs(middle / fine - 1)).toBeLessThan(3 / 1200);
  });
});

test("a box thrown onto the floor stays dented, its elastic twin does not", async () => {
  const drop = async (plasticity?: Plasticity): Promise<number> => {
    const lab = await laboratory({
      gravity: [0, -9.81, 0],
      colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0 }],
      bodies: [
        softBox("box", [0.2, 0.2, 0.2], [3, 3, 3], {
          transform: { translate: [0, 0.11, 0] },
          velocity: [0, -5, 0],
          material: { ...ISOTROPIC, youngsModulus: 2e5, damping: 3, ...(plasticity && { plasticity }) },
        }),
      ],
    });
    lab.run(180);
    const x = lab.positions();
    const y = x.filter((_, i) => i % 3 === 1);
    if (plasticity) expect(meanPlasticStrain(lab)).toBeGreaterThan(0.02);
    return Math.max(...y) - Math.min(...y);
  };
  const elastic = await drop();
  const plastic = await drop({ yield: 0.03, creep: 100, max: 0.3 });
  expect(elastic).toBeGreaterThan(0.195);
  expect(plastic).toBeLessThan(0.185);
});

// 3 % of 320 elements are 9.6; all particles are fixed, so the same elements are inverted in every iteration
test.each<[string, Pick<SoftBody, "solver" | "sweep">]>([
  ["gauss-seidel", {}],
  ["symmetric", { sweep: { order: "symmetric" } }],
  ["jacobi", { sweep: { order: "jacobi" } }],
  ["chebyshev", { sweep: { order: "jacobi", rho: 0.9 } }],
  ["paper", { solver: "paper" }],
])("flow stops when more than 3 %% of the elements are inverted, and resumes when none is: %s", async (_, how) => {
  for (const iterations of [1, 4]) {
    const lab = await laboratory({
      substeps: 2,
      iterations,
      bodies: [
        {
          name: "box",
          kind: "soft",
          mesh: { type: "box", size: [0.4, 0.4, 0.4], cells: [4, 4, 4] },
          material: { ...ISOTROPIC, plasticity: { yield: 0.001, creep: 1, max: 1 } },
          pins: [{ select: { box: { min: [-1, -1, -1], max: [1, 1, 1] } } }],
          ...how,
        },
      ],
    });
    const rest = lab.positions();
    const { tets } = lab.created.bodies[0]!;
    /**
     * Stretches the body, with `count` particles of the left face pushed through their elements.
     * @returns whether it flowed, and the number of inverted elements
     */
    const flows = (count: number): [boolean, number] => {
      let left = count;
      const pushed = Array.from({ length: rest.length / 3 }, (__, i) => rest[3 * i]! < -0.19 && left-- > 0);
      lab.put(0, (___, i) => [1.1 * rest[3 * i]! + (pushed[i] ? 0.15 : 0), rest[3 * i + 1]!, rest[3 * i + 2]!]);
      const before = meanPlasticStrain(lab);
      lab.run(1);
      return [meanPlasticStrain(lab) > before, volumeOf(lab.positions(), tets).inverted];
    };
    const [none, few, many, again, back] = [flows(0), flows(2), flows(8), flows(2), flows(0)];
    expect(few[1]).toBeGreaterThan(0);
    expect(few[1]).toBeLessThanOrEqual(9);
    expect(many[1]).toBeGreaterThan(9);
    expect(
      [none, few, many, again, back].map(([flowed]) => flowed),
      `${iterations} iterations, ${few[1]} and ${many[1]} inverted`,
    ).toEqual([true, true, false, false, true]);
  }
});
