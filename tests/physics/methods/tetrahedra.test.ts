/**
 * Forces of linear tetrahedra: inverted elements, derivatives, and steps. The report
 * (report/figures/methods/linearElements.ts) shows where they are exact.
 */
import { expect, test } from "vitest";
import { finiteElements } from "../../../server/sim/methods/elements/finiteElements.ts";
import { forcesOf, known, largest, moved, NOTHING, outside, randoms, YOUNG } from "./kit.ts";
import { jittered, tetrahedra } from "./tetrahedraKit.ts";
import { vectorAt } from "../../../server/sim/reference/particles.ts";
import {
  add,
  apply,
  columns,
  cross,
  inverse,
  norm,
  scale,
  subtract,
  ZERO,
  type Vector,
} from "../../../server/sim/reference/vector.ts";

test("finite forces pull an inverted element back", async () => {
  const template = await jittered(2);
  const x = moved(template.positions, ([a, b, c]) => [a!, -0.4 * b!, c!]);
  const of = tetrahedra(template, true);
  const f = forcesOf(of, x);
  const energy = of.energy();
  const step = x.map((value, k) => value + (1e-7 * f[k]!) / YOUNG);
  of.at(step);
  expect(energy).toBeGreaterThan(0);
  expect(of.energy()).toBeLessThan(energy);
});

test("linear forces are the derivatives of the energy, and products those of the forces", async () => {
  const template = await jittered(2);
  const random = randoms(11);
  const of = tetrahedra(template, false);
  const x = template.positions.map((value) => value + 0.02 * random());
  const p = x.map(() => random());
  const d = 1e-3;
  const at = (t: number): number => {
    of.at(x.map((value, k) => value + t * p[k]!));
    return of.energy();
  };
  // the energy is quadratic: central differences are exact
  const slope = (at(d) - at(-d)) / (2 * d);
  const f = forcesOf(of, x);
  const work = f.reduce((sum, value, k) => sum - value * p[k]!, 0);
  expect(Math.abs(slope - work)).toBeLessThan(1e-8 * Math.abs(work));
  const product = new Float64Array(x.length);
  of.addProduct(p, product, 1, 0);
  const further = forcesOf(
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
  const from = Float64Array.from(x);
  const at = tetrahedra(template, true);
  const f = forcesOf(at, x);
  const q = new Float64Array(x.length);
  method.step({ x, v, more: NOTHING }, outside(body));
  const momentum = (r: number, of: Float64Array): number =>
    template.mass.reduce((sum, m, i) => sum + m * of[3 * i + r]!, 0);
  for (let r = 0; r < 3; r++) expect(Math.abs(momentum(r, v) - momentum(r, before))).toBeLessThan(1e-9);
  // M dv = h (f - h K v') and a spin
  at.addProduct(v, q, body.h * body.h, 0);
  const gained = v.map((value, k) => body.mass[Math.floor(k / 3)]! * (value - before[k]!));
  const left = gained.map((value, k) => value - body.h * f[k]! + q[k]!);
  const all = template.mass.reduce((sum, m) => sum + m, 0);
  const sum = (of: (i: number) => Vector): Vector => template.mass.reduce((s, _, i) => add(s, of(i)), ZERO);
  const c = sum((i) => scale(template.mass[i]! / all, vectorAt(from, i)));
  const arm = (i: number): Vector => subtract(vectorAt(from, i), c);
  expect(norm(sum((i) => cross(arm(i), vectorAt(gained, i))))).toBeLessThan(1e-9);
  const column = (axis: Vector): Vector => sum((i) => scale(template.mass[i]!, cross(arm(i), cross(axis, arm(i)))));
  const I = columns(column([1, 0, 0]), column([0, 1, 0]), column([0, 0, 1]));
  const spin = apply(
    inverse(I),
    sum((i) => cross(arm(i), vectorAt(left, i))),
  );
  const rest = left.map((value, k) => {
    const i = Math.floor(k / 3);
    return value - template.mass[i]! * cross(spin, arm(i))[k % 3]!;
  });
  expect(largest(rest)).toBeLessThan(1e-6 * largest(f) * body.h);
});
