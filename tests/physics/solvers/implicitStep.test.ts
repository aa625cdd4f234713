/**
 * Each implicit step solves its problem (implicitProblem.ts), however the kernel does it: the state follows BDF2's
 * formulas, the objective does not rise, its gradient ends below the solver's tolerance, free bodies get exactly the
 * momentum of the inertial target, and contacts end in the state that the laws of contact allow (no pull, no
 * penetration, Coulomb's cone, and a push only where there is depth).
 */
import { describe, expect, test } from "vitest";
import type { ImplicitState } from "../../../server/sim/implicit/state.ts";
import type { Body, Scene } from "../../../shared/scene/scene.ts";
import type { Input } from "../../../server/sim/types.ts";
import { add, cross, norm, scale, subtract, type Vector } from "../../../server/sim/reference/vector.ts";
import { colliderContacts, dot, ImplicitProblem, isEuler, pairContacts } from "./implicitProblem.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";
import { lowest } from "../measures.ts";

type Room = Partial<Scene> & Pick<Scene, "bodies">;

const edge: NonNullable<Body["pins"]> = [{ select: { box: { min: [-1, -1, -1], max: [1e-3, 1, 1] } } }];
const beam = (pins?: Body["pins"], more: object = {}): Body =>
  ({
    name: "body",
    kind: "soft",
    solver: "implicit",
    contact: { self: false },
    mesh: { type: "box", size: [1, 0.1, 0.1], cells: [8, 2, 2] },
    transform: { translate: [0.5, 0, 0], rotate: [pins ? 0 : 70, 0, 0] },
    material: { density: 1000, youngsModulus: 2e5, poissonsRatio: 0.3, damping: 0.5, ...more },
    ...(pins && { pins }),
  }) as Body;
const sheet = (bendingStiffness: number, more: object = {}): Body =>
  ({
    name: "body",
    kind: "cloth",
    solver: "implicit",
    contact: { self: false },
    mesh: { type: "grid", size: [1, 1], cells: [8, 8] },
    transform: { translate: [0.5, 0, 0] },
    material: { density: 200, thickness: 1e-3, youngsModulus: 1e6, poissonsRatio: 0.3, bendingStiffness, ...more },
    pins: edge,
  }) as Body;
const ball = (more: object = {}): Body => {
  const { pins: _, ...shell } = sheet(1e-2, more);
  return { ...shell, mesh: { type: "ball", radius: 0.5, subdivisions: 1 } } as Body;
};

const GRAB: Input = { type: "grab", member: 1, grab: 0, body: 0, triangle: 5, u: 0.3, v: 0.3, target: [0.4, 0.3, 0.2] };
const TICKS = 10;

/**
 * Runs a scene whose bodies take one step in each of four substeps.
 * @param each called after every step but the first, which takes over the changes by `put`
 */
async function follow(
  lab: Laboratory,
  problems: readonly ImplicitProblem[],
  each: (before: readonly ImplicitState[], after: readonly ImplicitState[]) => void,
  inputs: readonly Input[] = [],
  ticks = TICKS,
): Promise<void> {
  let before: ImplicitState[] | undefined;
  lab.world.watchSubsteps(() => {
    const after = problems.map((problem) => problem.state());
    if (before) each(before, after);
    before = after;
    return 0;
  });
  for (let t = 0; t < ticks; t++) lab.run(1, t === 4 ? inputs : []);
}

const room = (more: Room): Promise<Laboratory> => laboratory({ gravity: [0, -9.81, 0], substeps: 4, ...more });

/** Turns body 0 about the z axis through (0.5, 0). @param rate 1/s */
function turn(lab: Laboratory, rate: number): void {
  lab.put(
    0,
    (x) => x,
    ([x, y]) => [-rate * y, rate * (x - 0.5), 0],
  );
}

/** Checks a step of a body alone. @returns the gradient that it leaves, relative to the first iterate's */
function expectSolved(problem: ImplicitProblem, before: ImplicitState, after: ImplicitState): number {
  const { h } = problem.model;
  const euler = isEuler(after);
  expect(after.x1).toEqual(before.x);
  if (!euler) expect(after.v1).toEqual(before.v);
  after.v.forEach((v, k) => {
    const moved = after.x[k]! - before.x[k]!;
    // the same sum in float64: rounding of positions of 1 m, 2^-52, over the step
    const exact = euler ? moved / h : (3 * moved - (before.x[k]! - before.x1[k]!)) / (2 * h);
    expect(Math.abs(v - exact)).toBeLessThan((8 * 2 ** -52) / h);
  });
  const aim = problem.begin(before, euler);
  const heights = [aim.start, before.x].map((y) => problem.objective(y, aim));
  const low = Math.min(...heights);
  // the solver starts at the lower one; 1e-12 is its allowance for rounding, and the sum here has another order
  expect(problem.objective(after.x, aim)).toBeLessThanOrEqual(low + 4e-12 * Math.abs(low));
  const from = heights[0]! <= heights[1]! ? aim.start : before.x;
  return problem.norm(problem.gradient(after.x, aim), before.x) / problem.norm(problem.gradient(from, aim), before.x);
}

/** Attachments of both ends of a beam. */
const attached = (a: number, b: number): Partial<Scene> => ({
  attachments: [0, 1].map((end) => ({
    from: { body: "body", near: [end, 0, 0] as [number, number, number] },
    to: { world: [end ? b : a, 0, 0] as [number, number, number] },
  })),
});

describe("a body alone", () => {
  // The solver leaves a tenth (solids) or a twentieth (sheets) of its linear problem's gradient. Terms of second order
  // in the motion of a step come on top, here less than that again.
  test.each<[string, Body, number]>([
    ["a clamped solid", beam(edge), 0.1],
    ["a viscous solid", beam(edge, { retardationTime: 0.02 }), 0.1],
    ["a sheet whose factor leaves bending out", sheet(1e-4), 0.05],
    ["a sheet whose factor contains bending", sheet(10), 0.05],
    ["a viscous sheet", sheet(1e-4, { retardationTime: 0.01 }), 0.05],
    ["a viscous sheet that resists bending", sheet(10, { retardationTime: 0.003 }), 0.05],
  ])("%s: the step ends within its tolerance", async (_, body, tolerance) => {
    const lab = await room({ bodies: [body] });
    const problem = new ImplicitProblem(lab);
    await follow(lab, [problem], ([before], [after]) =>
      expect(expectSolved(problem, before!, after!)).toBeLessThan(2 * tolerance),
    );
  });

  test.each([2, 8])("a free solid that turns by %d 1/s is solved with rotated stiffness", async (rate) => {
    const lab = await room({ bodies: [beam(undefined, rate === 8 ? { retardationTime: 0.005 } : {})] });
    turn(lab, rate);
    const problem = new ImplicitProblem(lab);
    await follow(lab, [problem], ([before], [after]) => {
      const aim = problem.begin(before!, isEuler(after!));
      const left = problem.norm(problem.gradient(after!.x, aim), before!.x);
      expect(left / problem.norm(problem.gradient(aim.start, aim), before!.x)).toBeLessThan(0.1);
    });
  });

  // With grabs and crushed elements one linear solve leaves more gradient. The objective must fall all the same.
  test.each<[string, Room, boolean]>([
    ["a clamped solid that a member grabs", { bodies: [beam(edge)] }, true],
    ["a sheet that a member grabs", { bodies: [sheet(10)] }, true],
    ["a closed shell, curved at rest, that a member grabs", { bodies: [ball()] }, true],
    ["a viscous shell that a member grabs", { bodies: [ball({ retardationTime: 0.01 })] }, true],
    [
      "a solid that its attachments crush",
      { bodies: [{ ...beam(), transform: { translate: [0.5, 0, 0] } }], ...attached(0.3, 0.7) },
      false,
    ],
  ])("%s: the objective falls in every step", async (_, scene, grabs) => {
    const lab = await room(scene);
    const problem = new ImplicitProblem(lab);
    await follow(
      lab,
      [problem],
      ([before], [after]) => void expectSolved(problem, before!, after!),
      grabs ? [GRAB] : [],
    );
  });
});

test("a body that is displaced from outside goes on as if it had always been there", async () => {
  const lab = await room({ bodies: [beam()], gravity: [0, 0, 0] });
  const problem = new ImplicitProblem(lab);
  const { x, ...old } = problem.state();
  lab.put(0, ([a, b, c]) => [1.02 * a, b, c + 0.1 * a]);
  const put = lab.positions().map((c, k) => c - lab.created.layout.origin[k % 3]!);
  const before = { ...old, x: put, x1: old.x1.map((c, k) => c + (put[k]! - x[k]!)) };
  let after: ImplicitState | undefined;
  let fromRest: number | undefined;
  lab.world.watchSubsteps(() => {
    after ??= problem.state();
    fromRest ??= problem.fromRest;
    return 0;
  });
  lab.run(1);
  expect(problem.objective(put, problem.begin(before, false))).toBeGreaterThan(1);
  expect(expectSolved(problem, before, after!)).toBeLessThan(0.2);
  // it rests: the first iterate is x, where the elastic energy is that of the new positions
  expect(fromRest).toBe(0);
});

// float64, and float32 for sheets, in sums of up to 60 terms a particle
test.each<[string, Body, number]>([
  ["a solid", beam(edge), 1e-13],
  ["a viscous solid", beam(edge, { retardationTime: 0.02 }), 1e-13],
  ["a sheet", sheet(1e-4), 60 * 2 ** -24],
  ["a viscous sheet that resists bending", sheet(10, { retardationTime: 0.003 }), 60 * 2 ** -24],
  ["a shell that is curved at rest", ball(), 60 * 2 ** -24],
])("%s: products with the Hessian and the preconditioner are those of their twins", async (_, body, tolerance) => {
  const lab = await room({ bodies: [body] });
  const problem = new ImplicitProblem(lab);
  let step = 0;
  let checked = 0;
  await follow(
    lab,
    [problem],
    ([before], [after]) => {
      // the first step of a tick computes the stresses that the others reuse
      if (++step % 4 !== 0) return;
      const { y, p, q, r, z } = problem.lastIteration();
      const errorOf = (found: Float64Array, wanted: Float64Array): number => {
        const error = found.map((value, k) => value - wanted[k]!);
        return Math.sqrt(dot(error, error) / dot(wanted, wanted));
      };
      const aim = problem.begin(before!, isEuler(after!));
      expect(errorOf(q, problem.product(y, p, aim))).toBeLessThan(tolerance);
      expect(errorOf(z, problem.preconditioned(r, before!.x))).toBeLessThan(60 * 2 ** -24);
      checked++;
    },
    [GRAB],
  );
  expect(checked).toBeGreaterThan(5);
});

/** Momentum, angular momentum about the center of mass, and that center. */
function momenta(problem: ImplicitProblem, x: Float64Array, v: Float64Array): { p: Vector; l: Vector; center: Vector } {
  const at = (values: Float64Array, i: number): Vector => [values[3 * i]!, values[3 * i + 1]!, values[3 * i + 2]!];
  const { mass } = problem.model;
  const total = mass.reduce((sum, m) => sum + m, 0);
  const mean = (values: Float64Array): Vector =>
    scale(
      1 / total,
      mass.reduce<Vector>((sum, m, i) => add(sum, scale(m, at(values, i))), [0, 0, 0]),
    );
  const [center, V] = [mean(x), mean(v)];
  const l = mass.reduce<Vector>(
    (sum, m, i) => add(sum, scale(m, cross(subtract(at(x, i), center), subtract(at(v, i), V)))),
    [0, 0, 0],
  );
  return { p: scale(total, V), l, center };
}

test.each([
  [2, 1e-11],
  [30, 1e-6],
])("a free solid that turns by %d 1/s gets BDF2's momentum and angular momentum", async (rate, tolerance) => {
  const lab = await room({ bodies: [beam()] });
  turn(lab, rate);
  const problem = new ImplicitProblem(lab);
  const { keep } = problem.model;
  await follow(lab, [problem], ([before], [after]) => {
    const aim = problem.begin(before!, false);
    expect(isEuler(after!)).toBe(false);
    const { center, l } = momenta(problem, after!.x, after!.v);
    // float64 sums of 81 particles at 1 m
    expect(norm(subtract(center, momenta(problem, aim.target, after!.v).center))).toBeLessThan(1e-13);
    // gravity has no torque about the center of mass: L' = keep (4 L - L1)/3, to Newton's third step, from a first
    // error of some percent of the step's angle (0.008 or 0.13)
    const [now, past] = [momenta(problem, before!.x, before!.v).l, momenta(problem, before!.x1, before!.v1).l];
    const wanted = scale(keep / 3, subtract(scale(4, now), past));
    expect(norm(subtract(l, wanted)) / norm(wanted)).toBeLessThan(tolerance);
  });
});

const block = (name: string, more: object, material: object = {}): Body =>
  ({
    name,
    kind: "soft",
    solver: "implicit",
    contact: { self: false, staticFriction: 0.6 },
    mesh: { type: "box", size: [0.4, 0.1, 0.2], cells: [4, 1, 2] },
    transform: { translate: [0, 0.051, 0] },
    material: { density: 1000, youngsModulus: 1e6, poissonsRatio: 0.3, damping: 0.5, friction: 0.3, ...material },
    ...more,
  }) as Body;
/** Only solids without viscosity take explicit steps in impacts. */
const IMPLICIT_IMPACT = { retardationTime: 1e-6 };
const FLOOR: Scene["colliders"] = [{ type: "plane", normal: [0, 1, 0], offset: 0, friction: 0.3, staticFriction: 0.6 }];

describe("on a plane", () => {
  test.each<[string, Body, ("sticks" | "slides")[]]>([
    ["a block that lies", block("b", {}), ["sticks"]],
    ["a block that slides", block("b", { velocity: [1, 0, 0.3] }), ["slides"]],
    [
      "a soft block that lands on an edge",
      block(
        "b",
        { velocity: [0.5, -2, 0], transform: { translate: [0, 0.14, 0], rotate: [10, 0, 20] } },
        { youngsModulus: 1e5, damping: 20, ...IMPLICIT_IMPACT },
      ),
      ["sticks", "slides"],
    ],
  ])("%s: contacts hold, slide and open as the laws of contact say", async (_, body, states) => {
    const lab = await room({ bodies: [body], colliders: FLOOR });
    const problem = new ImplicitProblem(lab);
    const seen = new Set<string>();
    let [steps, drags, pushes] = [0, 0, 0];
    await follow(
      lab,
      [problem],
      ([before], [after]) => {
        const aim = problem.begin(before!, isEuler(after!));
        // the gradient has no contact forces: at a particle on a collider it is the collider's force
        const force = problem.gradient(after!.x, aim);
        const size = Math.sqrt(dot(force, force));
        for (const { at, state, normal, place } of colliderContacts(lab)) {
          const from = [0, 1, 2].map((r) => after!.x[at + r]! - place[r]!);
          const lambda = [0, 1, 2].map((r) => force[at + r]!);
          const [gap, push] = [dot(normal, from), dot(normal, lambda)];
          const drag = Math.hypot(...lambda.map((f, r) => f - push * normal[r]!));
          seen.add(state);
          if (state === "open") {
            expect(gap).toBeGreaterThanOrEqual(-1e-15);
            continue;
          }
          force.fill(0, at, at + 3);
          expect(push).toBeGreaterThanOrEqual(0);
          expect(Math.abs(gap)).toBeLessThan(1e-15);
          if (state === "sticks") {
            expect(Math.hypot(...from)).toBeLessThan(1e-15);
            expect(drag).toBeLessThan(1.01 * 0.6 * push + 1e-9 * size);
          } else if (steps > 20 && steps < 60) {
            drags += drag;
            pushes += push;
          }
        }
        steps++;
        // everywhere else forces balance: the tolerance of touching bodies is 0.02, here three times that
        const start = problem.norm(problem.gradient(before!.x, aim), before!.x);
        expect(problem.norm(force, before!.x) / start).toBeLessThan(0.06);
      },
      [],
      24,
    );
    for (const state of states) expect(seen).toContain(state);
    // Between landing and stopping. Each solve uses the push of the previous one; the difference averages out.
    if (states[0] === "slides") expect(Math.abs(drags / pushes / 0.3 - 1)).toBeLessThan(0.03);
  });
});

const cube = (name: string, translate: Vector, velocity: Vector, rotate: Vector): Body => ({
  ...block(name, { velocity, transform: { translate, rotate } }),
  contact: { staticFriction: 0.5 },
  mesh: { type: "box", size: [0.2, 0.1, 0.2], cells: [2, 1, 2] },
});
const loose = (name: string, height: number, velocity: Vector): Body => {
  const { pins: _, contact: __, ...cloth } = sheet(1e-4, { youngsModulus: 1e5, friction: 0.4 });
  return {
    ...cloth,
    name,
    mesh: { type: "grid", size: [0.5, 0.5], cells: [5, 5] },
    transform: { translate: [0.02, height, 0.03], rotate: [0, 10 * height, 0] },
    velocity,
  } as Body;
};
const table: Scene["colliders"] = [
  {
    type: "mesh",
    mesh: { type: "box", size: [2, 0.2, 2], cells: [2, 1, 2] },
    transform: { translate: [0, -0.1, 0] },
    friction: 0.3,
  },
];

/** P'(d) of the push's potential k/2 d^2 m/(m - d), m = 0.8 rest, whose curvature stays from 0.9 m on. */
function pushAt(k: number, rest: number, d: number): number {
  const m = 0.8 * rest;
  const e = Math.min(d, 0.9 * m);
  return (0.5 * k * m * e * (2 * m - e)) / (m - e) ** 2 + (d - e) * k * (m / (m - e)) ** 3;
}

describe("bodies that touch", () => {
  test.each<[string, Room, boolean]>([
    [
      "two blocks that fall on each other and on a table, and slide",
      {
        bodies: [
          cube("low", [0, 0.052, 0], [0.5, 0, 0], [0, 0, 0]),
          cube("high", [0.02, 0.16, 0.01], [-0.5, -1, 0.2], [0, 20, 0]),
        ],
        colliders: table,
      },
      true,
    ],
    [
      "two blocks that collide in free flight",
      {
        gravity: [0, 0, 0],
        bodies: [
          cube("still", [0, 0, 0], [0, 0, 0], [0, 0, 0]),
          cube("comes", [0.03, 0.12, 0.05], [0.1, -1, 0], [5, 10, 0]),
        ],
      },
      false,
    ],
    [
      "a sheet that comes to lie on another",
      { gravity: [0, 0, 0], bodies: [loose("low", 0, [0, 0.2, 0]), loose("high", 0.012, [0.1, -0.2, 0])] },
      false,
    ],
  ])("%s: pairs push, hold and slide as the laws of contact say", async (_, scene, supported) => {
    const lab = await room(scene);
    const problems = scene.bodies.map((_body, b) => new ImplicitProblem(lab, b, 4));
    const left: number[] = [];
    let [sticking, sliding] = [0, 0];
    await follow(
      lab,
      problems,
      (before, after) => {
        const aims = problems.map((problem, b) => problem.begin(before[b]!, isEuler(after[b]!)));
        const force = problems.map((problem, b) => problem.gradient(after[b]!.x, aims[b]!));
        let touches = false;
        for (const { on, normal, s, corners, rest, stiffness, hold, shear, start, mu, push, friction } of pairContacts(
          lab,
          after,
        )) {
          const depth = rest - dot(normal, s);
          // Exactly the pairs with depth push. A free group is rotated after the solve, by a thousandth of a gap.
          if (Math.abs(depth) > 1e-3 * rest) expect(on).toBe(depth > 0);
          if (!on) continue;
          touches = true;
          expect(push).toBeGreaterThan(0);
          expect(Math.abs(push / pushAt(stiffness, rest, depth) - 1)).toBeLessThan(supported ? 1e-9 : 2e-3);
          // friction: elastic while it holds, mu p against the slip beyond; kept in float32
          const moved = subtract(s as unknown as Vector, start as unknown as Vector);
          const lift = dot(normal, moved);
          const slip = moved.map((c, r) => shear[r]! + c - lift * normal[r]!);
          const size = Math.hypot(...slip);
          const k = Math.min(hold, (mu * push) / size);
          const off = Math.hypot(...friction!.map((f, r) => f - k * slip[r]!));
          expect(off).toBeLessThan((supported ? 1e-6 : 1e-2) * mu * push);
          expect(Math.hypot(...friction!)).toBeLessThan((1 + 1e-6) * mu * push);
          if (k < hold) sliding++;
          else sticking++;
          for (const { body, at, b } of corners)
            for (let r = 0; r < 3; r++) force[body]![at + r]! += b * (friction![r]! - push * normal[r]!);
        }
        if (!touches) return;
        const start = problems.map((problem, b) => problem.gradient(before[b]!.x, aims[b]!));
        left.push(Math.hypot(...force.flatMap((f) => [...f])) / Math.hypot(...start.flatMap((f) => [...f])));
      },
      [],
      12,
    );
    expect(left.length).toBeGreaterThan(8);
    expect(sticking).toBeGreaterThan(5);
    expect(sliding).toBeGreaterThan(5);
    // forces balance: 0.02 is the tolerance of touching bodies, in another norm
    if (supported) {
      expect(Math.max(...left)).toBeLessThan(0.1);
      expect(left.sort((a, b) => a - b)[Math.floor(left.length / 2)]).toBeLessThan(0.02);
    }
  });
});

/** A stiff cube above a floor. @param y height of its center, m */
const above = (y: number, speed: number): Body =>
  block(
    "cube",
    {
      mesh: { type: "box", size: [0.1, 0.1, 0.1], cells: [2, 2, 2] },
      transform: { translate: [0, y, 0] },
      velocity: [0, -speed, 0],
    },
    { youngsModulus: 1e9, damping: 0, ...IMPLICIT_IMPACT },
  );

test("a stiff cube that lands flat stops as a whole: BDF2's memory does not give half of its speed back", async () => {
  const lab = await room({ bodies: [above(0.101, 2)], colliders: FLOOR });
  const { mass } = lab.created.bodies[0]!;
  const total = mass.reduce((sum, m) => sum + m, 0);
  let fastest = -Infinity;
  lab.world.watchSubsteps(() => {
    const v = lab.velocities();
    fastest = Math.max(fastest, mass.reduce((sum, m, i) => sum + m * v[3 * i + 1]!, 0) / total);
    return 0;
  });
  lab.run(20);
  expect(fastest).toBeGreaterThan(-2);
  expect(fastest).toBeLessThan(0.01 * 2);
});

test("a cube that starts too near a surface rises by 2 thicknesses a second, then lies still", async () => {
  const lab = await room({ bodies: [above(0.0507, 0)], colliders: table });
  const r = lab.created.bodies[0]!.contactRadius;
  lab.run(4);
  const from = lowest(lab);
  lab.run(6);
  expect(Math.abs((lowest(lab) - from) / (0.1 * 2 * r) - 1)).toBeLessThan(0.1);
  lab.run(30);
  expect(Math.abs(lowest(lab) / r - 1)).toBeLessThan(0.02);
  expect(Math.max(...lab.velocities().map(Math.abs))).toBeLessThan(1e-6);
});
