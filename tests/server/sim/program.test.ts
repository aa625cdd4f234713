/** Order of the stages of a substep, in a room that has all of them. */
import { expect, test } from "vitest";
import * as L from "../../../server/kernel/assembly/layout/layout.ts";
import { CONSTRAINTS, ELEMENT_KINDS } from "../../../server/sim/constraints/kinds.ts";
import type { Body } from "../../../shared/scene/scene.ts";
import { laboratory } from "../../physics/laboratory.ts";

const ITERATIONS = 2;
const box = (name: string, x: number, material: object, more: object = {}): Body =>
  ({
    name,
    kind: "soft",
    mesh: { type: "box", size: [0.1, 0.1, 0.1], cells: [1, 1, 1] },
    transform: { translate: [x, 0.2, 0] },
    material,
    ...more,
  }) as Body;
const soft = { density: 500, youngsModulus: 5e4, poissonsRatio: 0.3 };

/** KIND_ of all phases, in order. */
async function kindsOf(iterations = ITERATIONS): Promise<number[]> {
  const { memory } = (
    await laboratory({
      iterations,
      substeps: 2,
      bodies: [
        box("plastic", 0, { ...soft, plasticity: { yield: 0.01, creep: 1, max: 0.1 } }),
        box("viscous", 0.3, { ...soft, retardationTime: 0.1 }),
        box("whole", 0.6, {
          model: "pbd",
          density: 500,
          distance: { stiffness: 0.5 },
          volume: { of: "body", stiffness: 0.5 },
        }),
        box("rigid", 0.9, { model: "shape-matching", mode: "rigid", density: 500 }),
        box("implicit", 1.2, soft, {
          solver: "implicit",
          contact: { ignore: ["plastic", "viscous", "whole", "rigid", "ball"] },
        }),
        {
          name: "ball",
          kind: "ball",
          mesh: { type: "ball", radius: 0.05, subdivisions: 1 },
          transform: { translate: [1.5, 0.2, 0] },
          material: { density: 500 },
        },
      ],
      colliders: [
        { type: "plane", normal: [0, 1, 0], offset: 0 },
        {
          type: "box",
          center: [0, -1, 0],
          halfExtents: [1, 0.1, 1],
          motion: { keys: [{ time: 0 }, { time: 1, translate: [0, 0.1, 0] }] },
        },
      ],
    })
  ).created;
  const i32 = new Int32Array(memory.buffer);
  const header = (field: number): number => i32[(L.HEADER + field) / 4]!;
  return Array.from(
    { length: header(L.H_PHASES) },
    (_, n) => i32[(header(L.H_PROGRAM) + n * L.PHASE_BYTES + L.PHASE_KIND) / 4]!,
  );
}

const PHASES = new Set(ELEMENT_KINDS.map((kind) => CONSTRAINTS[kind].phase));
const AFTER = new Set(ELEMENT_KINDS.flatMap((kind) => CONSTRAINTS[kind].after ?? []));

test("a substep's stages are in order", async () => {
  const kinds = await kindsOf();
  const first = (kind: number): number => kinds.indexOf(kind);
  const last = (kind: number): number => kinds.lastIndexOf(kind);
  const inOrder = (...stages: number[]): void =>
    stages.slice(1).forEach((stage, n) => {
      expect(first(stages[n]!), `${stages[n]} exists`).toBeGreaterThanOrEqual(0);
      expect(first(stage), `${stage} after ${stages[n]}`).toBeGreaterThan(last(stages[n]!));
    });
  // colliders move first; safe positions are stored before any particle moves
  inOrder(L.KIND_MOVE, L.KIND_SAFE, L.KIND_PREDICT);
  // Momentum is measured after all internal forces. Velocities are computed once, then corrected. Colliders and rigid
  // bodies change positions and velocities, so they come before the verification, which has to see final positions.
  inOrder(
    L.KIND_IMPLICIT_TOGETHER,
    L.KIND_BALANCE,
    L.KIND_VELOCITY,
    L.KIND_RESTORE,
    L.KIND_COLLIDE,
    L.KIND_RIGID,
    L.KIND_VERIFY,
  );
  // plastic flow and dashpots use the final strain
  expect(kinds.slice(last(L.KIND_VERIFY) + 1).every((kind) => AFTER.has(kind))).toBe(true);
  expect(new Set(kinds.slice(last(L.KIND_VERIFY) + 1)).size).toBeGreaterThan(1);
  expect(kinds.slice(0, last(L.KIND_VERIFY)).some((kind) => AFTER.has(kind))).toBe(false);
});

test("an iteration ends with grabs and contacts satisfied", async () => {
  const kinds = await kindsOf();
  const solve = kinds.slice(kinds.lastIndexOf(L.KIND_PREDICT) + 1, kinds.indexOf(L.KIND_IMPLICIT_TOGETHER));
  const iteration = solve.slice(0, solve.length / ITERATIONS);
  expect(solve).toEqual(Array.from({ length: ITERATIONS }, () => iteration).flat());
  const [points, carry, contacts, balls] = [L.KIND_POINTS, L.KIND_CARRY, L.KIND_CONTACTS, L.KIND_BALLS].map((kind) =>
    iteration.indexOf(kind),
  );
  const own = iteration.slice(0, points);
  expect(own.filter((kind) => !PHASES.has(kind))).toEqual([L.KIND_INNER, L.KIND_ENCLOSED, L.KIND_SHAPE, L.KIND_INNER]);
  expect([own[0], own.at(-1)]).toEqual([L.KIND_INNER, L.KIND_INNER]);
  // contact reads positions without low words
  const carries = iteration.filter((kind) => kind === L.KIND_CARRY).length;
  expect([carry, contacts, balls]).toEqual([points! + 1, points! + 1 + carries, points! + 2 + carries]);
  expect(iteration.length).toBe(balls! + 1);
});

test("with one iteration, a part of the way follows the elastic solve, before grabs and contacts", async () => {
  const kinds = await kindsOf(1);
  const solves = kinds.flatMap((kind, n) => (PHASES.has(kind) ? [n] : []));
  const drifts = kinds.flatMap((kind, n) => (kind === L.KIND_DRIFT ? [n] : []));
  expect(drifts[0]).toBe(solves.at(-1)! + 1);
  expect(drifts.at(-1)).toBeLessThan(kinds.indexOf(L.KIND_POINTS));
  expect(await kindsOf()).not.toContain(L.KIND_DRIFT);
});

test("kinds of phases have distinct numbers", () => {
  const kinds = Object.entries(L).filter(([name]) => name.startsWith("KIND_"));
  expect(new Set(kinds.map(([, number]) => number)).size).toBe(kinds.length);
});

test("a program in another order than the kernel's step ends the tick", async () => {
  const { created, world } = await laboratory({ bodies: [box("one", 0, soft)] });
  const i32 = new Int32Array(created.memory.buffer);
  const [program, phases] = [i32[(L.HEADER + L.H_PROGRAM) / 4]!, i32[(L.HEADER + L.H_PHASES) / 4]!];
  const kindAt = (n: number): number => (program + n * L.PHASE_BYTES + L.PHASE_KIND) / 4;
  const find = (kind: number): number =>
    Array.from({ length: phases }, (_, n) => kindAt(n)).find((at) => i32[at] === kind)!;
  const [balance, velocity] = [find(L.KIND_BALANCE), find(L.KIND_VELOCITY)];
  [i32[balance], i32[velocity]] = [i32[velocity]!, i32[balance]!];
  expect(() => world.step([])).toThrow(/unreachable/);
});
