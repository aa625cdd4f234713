/**
 * Forces of finite elements and finite volumes on the same tetrahedra: patch test, rigid motion, derivatives, and that
 * the two are one. Then the room's cantilever against static finite elements of code of their own (tests/statics).
 */
import { describe, expect, test } from "vitest";
import { finiteElements, placedElements, volumeGradients } from "../../../server/sim/methods/finiteElements.ts";
import { faceAreas } from "../../../server/sim/methods/finiteVolumes.ts";
import { Tetrahedra, tetrahedraOf } from "../../../server/sim/methods/tetrahedra.ts";
import type { BodyTemplate } from "../../../server/sim/body/template.ts";
import { staticEquilibrium } from "../../statics/equilibrium.ts";
import { laboratory } from "../laboratory.ts";
import { cube, known, largest, NOTHING, outside, POISSON, randoms, templateOf, YOUNG } from "./kit.ts";

type Weights = "elements" | "volumes";

/** A cube without pins whose inner particles are moved about by up to a tenth of a cell. */
async function jittered(cells: number): Promise<BodyTemplate> {
  const mesh = { type: "box", size: [0.5, 0.5, 0.5], cells: [cells, cells, cells] } as const;
  const template = await templateOf(cube({ type: "finite-elements" }, { mesh, pins: [] } as never));
  const random = randoms(7);
  const positions = Float64Array.from(template.positions);
  for (let k = 3 * template.streamedCount; k < positions.length; k++) positions[k]! += (0.1 * 0.5 * random()) / cells;
  return { ...template, positions };
}

function model(template: BodyTemplate, warped: boolean, weights: Weights = "elements"): Tetrahedra {
  const elements = placedElements(template);
  const w = weights === "elements" ? volumeGradients(elements) : faceAreas(elements, template.positions);
  return new Tetrahedra(tetrahedraOf(elements, w), warped);
}

function forces(of: Tetrahedra, x: Float64Array): Float64Array {
  const f = new Float64Array(x.length);
  of.at(x);
  of.addForce(f);
  return f;
}

const moved = (X: Float64Array, by: (p: number[]) => number[]): Float64Array => {
  const x = new Float64Array(X.length);
  for (let i = 0; i < X.length; i += 3) x.set(by([X[i]!, X[i + 1]!, X[i + 2]!]), i);
  return x;
};

/** By 1.1 rad about (1, 2, 2)/3, and away. */
const turn = ([x, y, z]: number[]): number[] => {
  const [a, b, c] = [1 / 3, 2 / 3, 2 / 3];
  const [s, k] = [Math.sin(1.1), 1 - Math.cos(1.1)];
  const along = a * x! + b * y! + c * z!;
  return [
    x! + s * (b * z! - c * y!) - k * (x! - a * along) + 0.3,
    y! + s * (c * x! - a * z!) - k * (y! - b * along) - 0.2,
    z! + s * (a * y! - b * x!) - k * (z! - c * along) + 0.1,
  ];
};

describe.each([true, false])("warped: %s", (warped) => {
  test("patch test: a uniform strain leaves no force inside, and Hooke's stress on the faces", async () => {
    const template = await jittered(3);
    const strain = 1e-3;
    // uniaxial stress along x: nothing on the other faces
    const stretched = moved(template.positions, ([x, y, z]) => [
      x! * (1 + strain),
      y! * (1 - POISSON * strain),
      z! * (1 - POISSON * strain),
    ]);
    const f = forces(model(template, warped), stretched);
    const total = YOUNG * strain * 0.25;
    let right = 0;
    for (let i = 0; i < template.particleCount; i++) {
      const X = template.positions.subarray(3 * i, 3 * i + 3);
      const side = Math.abs(Math.abs(X[0]!) - 0.25) < 1e-9;
      if (X[0]! > 0.25 - 1e-9) right += f[3 * i]!;
      expect(Math.abs(f[3 * i + 1]!)).toBeLessThan(1e-10 * total);
      expect(Math.abs(f[3 * i + 2]!)).toBeLessThan(1e-10 * total);
      if (!side) expect(Math.abs(f[3 * i]!)).toBeLessThan(1e-10 * total);
    }
    expect(Math.abs(right / total + 1)).toBeLessThan(1e-10);
  });

  test("finite volumes have the forces of finite elements", async () => {
    const template = await jittered(3);
    const random = randoms(3);
    const x = moved(template.positions, (p) => turn(p).map((c) => c + 0.03 * random()));
    const elements = forces(model(template, warped), x);
    const volumes = forces(model(template, warped, "volumes"), x);
    const most = largest(elements);
    expect(most).toBeGreaterThan(1);
    expect(largest(elements.map((value, k) => value - volumes[k]!))).toBeLessThan(1e-12 * most);
  });
});

test("a rigid motion gives no force where stiffness is warped, and a great one where it is not", async () => {
  const template = await jittered(3);
  const x = moved(template.positions, turn);
  // E times the area of an element's face
  const unit = (YOUNG * 0.5 * 0.5) / 9;
  expect(largest(forces(model(template, true), x))).toBeLessThan(1e-12 * unit);
  expect(largest(forces(model(template, false), x))).toBeGreaterThan(0.1 * unit);
});

test("an element that is turned inside out is pulled back by finite forces", async () => {
  const template = await jittered(2);
  const x = moved(template.positions, ([a, b, c]) => [a!, -0.4 * b!, c!]);
  const of = model(template, true);
  const f = forces(of, x);
  const energy = of.energy();
  const step = x.map((value, k) => value + (1e-7 * f[k]!) / YOUNG);
  of.at(step);
  expect(energy).toBeGreaterThan(0);
  expect(of.energy()).toBeLessThan(energy);
});

test("linear forces are the derivatives of the energy, and products those of the forces", async () => {
  const template = await jittered(2);
  const random = randoms(11);
  const of = model(template, false);
  const x = template.positions.map((value) => value + 0.02 * random());
  const p = x.map(() => random());
  const d = 1e-3;
  const at = (t: number): number => {
    of.at(x.map((value, k) => value + t * p[k]!));
    return of.energy();
  };
  // quadratic: central differences are exact
  const slope = (at(d) - at(-d)) / (2 * d);
  const f = forces(of, x);
  const work = f.reduce((sum, value, k) => sum - value * p[k]!, 0);
  expect(Math.abs(slope - work)).toBeLessThan(1e-8 * Math.abs(work));
  const product = new Float64Array(x.length);
  of.addProduct(p, product, 1, 0);
  const further = forces(
    of,
    x.map((value, k) => value + p[k]!),
  );
  expect(largest(product.map((value, k) => value - (f[k]! - further[k]!)))).toBeLessThan(1e-11 * largest(product));
});

test("a free body keeps its momentum, and implicit steps solve their equation", async () => {
  const template = await jittered(2);
  const body = known(template, 1 / 240);
  const spec = { type: "finite-elements" } as const;
  const elements = finiteElements.plan(template, spec, body, "");
  const method = finiteElements.open(elements, spec, body);
  const random = randoms(5);
  const x = template.positions.map((value) => value + 0.01 * random());
  const v = x.map(() => random());
  const before = Float64Array.from(v);
  const at = model(template, true);
  const f = forces(at, x);
  const q = new Float64Array(x.length);
  method.step({ x, v, more: NOTHING }, outside(body));
  const momentum = (r: number, of: Float64Array): number =>
    template.mass.reduce((sum, m, i) => sum + m * of[3 * i + r]!, 0);
  for (let r = 0; r < 3; r++) expect(Math.abs(momentum(r, v) - momentum(r, before))).toBeLessThan(1e-9);
  // M dv = h (f - h K v')
  at.addProduct(v, q, body.h * body.h, 0);
  const left = v.map((value, k) => body.mass[Math.floor(k / 3)]! * (value - before[k]!) - body.h * f[k]! + q[k]!);
  expect(largest(left)).toBeLessThan(1e-6 * largest(f) * body.h);
});

test.each([
  ["finite-elements", true],
  ["finite-elements", false],
  ["finite-volumes", true],
] as const)("a cantilever of %s, warped %s, hangs as static finite elements of its mesh do", async (type, warped) => {
  const force = -0.4;
  const lab = await laboratory({
    bodies: [
      {
        name: "beam",
        kind: "soft",
        mesh: { type: "box", size: [1, 0.1, 0.1], cells: [10, 1, 1] },
        material: { density: 1000, damping: 8, youngsModulus: 1e6, poissonsRatio: POISSON },
        pins: [{ select: { box: { min: [-1, -1, -1], max: [-0.4999, 1, 1] } } }],
        loads: [{ select: { box: { min: [0.4999, -1, -1], max: [1, 1, 1] } }, force: [0, force, 0] }],
        contact: { self: false },
        method: { type, warped },
      },
    ],
  });
  const [beam] = lab.created.bodies;
  lab.run(180);
  const { x } = staticEquilibrium({
    rest: beam!.positions,
    tets: beam!.tets,
    material: { model: "stvk", youngsModulus: 1e6, poissonsRatio: POISSON },
    fixed: beam!.pinned,
    force: beam!.force,
  });
  const tip = (of: Float64Array): number => {
    const heights = Array.from(beam!.positions).flatMap((X, k) =>
      k % 3 === 0 && X > 0.4999 ? [of[k + 1]! - beam!.positions[k + 1]!] : [],
    );
    return heights.reduce((sum, y) => sum + y, 0) / heights.length;
  };
  const sag = tip(x);
  expect(sag).toBeLessThan(-0.002);
  expect(Math.abs(tip(lab.positions()) / sag - 1)).toBeLessThan(0.01);
});
