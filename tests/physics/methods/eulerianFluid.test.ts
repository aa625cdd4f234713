/** Fluid on a staggered grid, in rooms. The report (figure eulerian) compares it with exact flows and Ghia's cavity. */
import { describe, expect, test } from "vitest";
import type { EulerianFluid } from "../../../shared/scene/sceneMethodTypes.ts";
import { gridLength, MacGrid, type GridSpec } from "../../../server/sim/methods/fluids/macGrid.ts";
import { add, norm, subtract, type Vector } from "../../../server/sim/reference/vector.ts";
import { middle, windForce } from "../../../server/sim/reference/wind.ts";
import { windOf } from "../../../server/sim/tuning/windRow.ts";
import { laboratory } from "../laboratory.ts";
import { block } from "./kit.ts";

describe("in a room", () => {
  const smoke = (more: Partial<EulerianFluid> = {}) =>
    block(
      { type: "eulerian-fluid", steps: 1, cells: [8, 10, 8], edge: 0.1, ...more },
      {
        mesh: { type: "lattice", arrangement: "cubic", cells: [4, 5, 4], spacing: 0.15 },
        transform: { translate: [2, 0.5, 0] },
        material: { density: 1.2 },
      },
    );

  test("a plume carries tracers up in the middle and down at the walls, in the box and around a ball", async () => {
    const center: [number, number, number] = [2, 0.6, 0];
    const lab = await laboratory({
      tickHz: 30,
      bodies: [smoke({ plume: { radius: 0.2, acceleration: 6 } })],
      colliders: [{ type: "sphere", center, radius: 0.12 }],
    });
    expect(lab.run(60)).toEqual([]);
    const x = lab.positions();
    const v = lab.velocities();
    let up = 0;
    let down = 0;
    for (let k = 0; k < x.length; k += 3) {
      expect(Math.max(Math.abs(x[k]! - 2), Math.abs(x[k + 2]!))).toBeLessThan(0.4);
      expect(Math.abs(x[k + 1]! - 0.5)).toBeLessThan(0.5);
      expect(Math.hypot(x[k]! - 2, x[k + 1]! - 0.6, x[k + 2]!)).toBeGreaterThan(0.12);
      up = Math.max(up, v[k + 1]!);
      down = Math.min(down, v[k + 1]!);
    }
    expect(up).toBeGreaterThan(0.1);
    expect(down).toBeLessThan(-0.01);
  });

  test("a grab stirs the fluid", async () => {
    const lab = await laboratory({ tickHz: 30, bodies: [smoke()], interaction: { grabMaxForce: 5 } });
    const target: [number, number, number] = [2.3, 0.5, 0];
    lab.run(20, [{ type: "grab", member: 1, grab: 0, body: 0, triangle: 37, u: 0, v: 0, target }]);
    const v = lab.velocities();
    expect(v[3 * 37]!).toBeGreaterThan(0.01);
  });

  test("a grid with too many cells for a tick, and viscosity beyond its number of parts, are refused", async () => {
    const refused = (more: Partial<EulerianFluid>) => expect(laboratory({ bodies: [smoke(more)] })).rejects;
    await refused({ cells: [30, 30, 30] }).toThrow(/\/bodies\/0\/method\/cells.*at most 16384 cells/);
    await refused({ kinematicViscosity: 100 }).toThrow(/\/bodies\/0\/method\/kinematicViscosity/);
  });
});

describe("a sheet and a jelly in a plume", () => {
  const EDGE = 0.05;
  const CELLS: [number, number, number] = [8, 12, 8];
  const wind = { velocity: [0.3, 0, 0] as [number, number, number] };
  const blown = async (more: object = {}) => {
    const smoke = block({
      ...{ type: "eulerian-fluid", cells: CELLS, edge: EDGE, steps: 1 },
      plume: { radius: 0.12, acceleration: 20 },
    });
    const sheet = {
      ...{ name: "sheet", kind: "cloth", mesh: { type: "grid", size: [0.2, 0.2], cells: [4, 4] } },
      ...{ transform: { translate: [0, 0.3, 0], rotate: [40, 0, 30] }, contact: { self: false } },
      material: { density: 3000, thickness: 0.001, youngsModulus: 20_000, poissonsRatio: 0.3, damping: 0 },
    };
    const jelly = {
      ...{ name: "jelly", kind: "soft", mesh: { type: "box", size: [0.1, 0.1, 0.1], cells: [1, 1, 1] } },
      ...{ transform: { translate: [0.1, 0.4, 0.1] } },
      material: { density: 30, youngsModulus: 20_000, poissonsRatio: 0.3, damping: 0 },
    };
    const contact = { ignore: ["sheet", "jelly"] };
    return laboratory({ substeps: 1, bodies: [{ ...smoke, contact }, sheet, jelly] as never, wind, ...more });
  };
  /** Rate of change of a body's momentum by the air, N, from the accelerations of its particles. */
  const felt = ({ created, x, acceleration }: Awaited<ReturnType<typeof laboratory>>, body: number): Vector => {
    const { bodies, massUnit } = created.layout;
    const { first, count } = bodies[body]!;
    const F: [number, number, number] = [0, 0, 0];
    for (let i = first; i < first + count; i++)
      for (let r = 0; r < 3; r++) F[r]! += (massUnit / x[4 * i + 3]!) * acceleration[4 * i + r]!;
    return F;
  };

  test("both feel the local flow of the fluid as wind", async () => {
    const lab = await blown();
    lab.run(10);
    const { layout, memory, bodies } = lab.created;
    const { state } = layout.methods[0]!;
    const more = new Float64Array(memory.buffer, state + 48 * layout.bodies[0]!.count, gridLength(CELLS)).slice();
    const spec: GridSpec = { cells: CELLS, edge: EDGE, viscosity: 0, sticks: false, lid: 0, maccormack: false };
    const grid = new MacGrid(spec, more, () => false);
    // the box surrounds the middle of the tracers
    const { positions } = bodies[0]!;
    const corner = [0, 1, 2].map((r) => {
      const along = positions.filter((_, k) => k % 3 === r);
      return 0.5 * (Math.min(...along) + Math.max(...along) - CELLS[r]! * EDGE);
    });
    const expected = [1, 2].map((body) => {
      const x = lab.positions(body);
      const v = lab.velocities(body);
      const { triangles } = bodies[body]!;
      let F: Vector = [0, 0, 0];
      for (let t = 0; t < triangles.length; t += 3) {
        const of = (a: Float64Array): [Vector, Vector, Vector] =>
          [0, 1, 2].map((k) => [...a.subarray(3 * triangles[t + k]!, 3 * triangles[t + k]! + 3)]) as never;
        const center = subtract(middle(of(x)), corner as never);
        const u = new Float64Array(3);
        grid.sample(center[0], center[1], center[2], u);
        const air = add(wind.velocity, [u[0]!, u[1]!, u[2]!]);
        F = add(F, windForce(windOf(wind), air, { x: of(x), v: of(v), closed: body === 2, reach: 0 }));
      }
      return F;
    });
    lab.run(1);
    for (const [n, F] of expected.entries()) {
      expect(norm(F)).toBeGreaterThan(1e-4);
      // float32 rounding of a few operations
      expect(norm(subtract(felt(lab, 1 + n), F)) / norm(F)).toBeLessThan(1e-4);
    }
  });

  test("neither feels the fluid outside of its box, nor if the room has no air", async () => {
    const beside = await blown({ wind: { ...wind, density: 0 } });
    beside.run(10);
    for (const body of [1, 2]) expect(felt(beside, body)).toEqual([0, 0, 0]);
    const out = await blown();
    out.put(1, (x) => [x[0] + 1, x[1], x[2]]);
    const still = await blown();
    still.put(1, (x) => [x[0] + 1, x[1], x[2]]);
    out.run(1);
    still.run(1, [{ type: "tune", member: 1, wind: { velocity: [0, 0, 0] } }]);
    expect(norm(felt(still, 1))).toBe(0);
    expect(norm(felt(out, 1))).toBeGreaterThan(0);
  });
});
