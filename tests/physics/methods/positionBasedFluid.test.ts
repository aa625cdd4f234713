/**
 * Position-based fluid against statics and momentum. docs/LIMITS.md states with numbers where it fails (front of a dam
 * break, floating bodies).
 */
import { describe, expect, test } from "vitest";
import type { PointsBody, Scene } from "../../../shared/scene/scene.ts";
import type { PositionBasedFluid } from "../../../shared/scene/sceneMethodTypes.ts";
import { laboratory } from "../laboratory.ts";
import { inLong } from "../../support/run/long.ts";
import { flows, momentumLost, pressureLine, stepped, tank, water } from "./fluidKit.ts";
import { largest, opened } from "./kit.ts";

const S = 0.04;
const METHOD: PositionBasedFluid = { type: "position-based-fluid", steps: 8 };
const block = (cells: [number, number, number], more: Partial<PositionBasedFluid> = {}): PointsBody =>
  water({ ...METHOD, ...more }, cells, S);

describe("a column in a tank", () => {
  const cells: [number, number, number] = inLong([12, 12, 12], [6, 10, 6]);
  const depth = cells[1] * S;
  const half = (cells[0] * S) / 2;
  test("settles with the pressure of its depth within 2 % and its volume within 1.5 %", async () => {
    const bodies = [block(cells, { viscosity: 0.05 })];
    const lab = await laboratory({ tickHz: 30, gravity: [0, -9.81, 0], bodies, colliders: tank(half) });
    const { method, state } = stepped(lab);
    const measure = inLong(60, 30);
    lab.run(inLong(90, 40));
    const count = state.x.length / 3;
    // points oscillate: use each one's mean over time
    const pressure = new Float64Array(count);
    const height = new Float64Array(count);
    for (let n = 0; n < measure; n++) {
      lab.run(1);
      method.pressure(state.x).forEach((p, i) => {
        pressure[i]! += p / measure;
        height[i]! += state.x[3 * i + 1]! / measure;
      });
    }
    const mean = height.reduce((sum, y) => sum + y, 0) / count;
    expect(Math.abs(mean / (depth / 2) - 1)).toBeLessThan(0.015);
    const { middle, slope } = pressureLine({ x: state.x, height, pressure }, { depth, half, spacing: S });
    expect(Math.abs(middle / ((1000 * 9.81 * depth) / 2) - 1)).toBeLessThan(inLong(0.02, 0.04));
    expect(Math.abs(slope / -9810 - 1)).toBeLessThan(inLong(0.02, 0.04));
  });
});

describe("a drop without walls", () => {
  const drop = (more: Partial<PositionBasedFluid> = {}) => opened(block([5, 5, 5], more), 1 / 240);

  test("keeps its momentum under any internal force", async () => {
    expect(await momentumLost(drop({ viscosity: 0.1, surfaceTension: 50 }))).toBeLessThan(1e-12);
  });

  test("the initial lattice is at rest", async () => {
    const { state, step } = await drop();
    const before = state.x.slice();
    for (let n = 0; n < 50; n++) step();
    expect(largest(state.x.map((x, k) => x - before[k]!))).toBeLessThan(1e-9);
  });

  test("returns to its density after compression", async () => {
    const { state, step } = await drop();
    const along = (): Float64Array => state.x.filter((_, k) => k % 3 === 0);
    const size = (): number => Math.max(...along()) - Math.min(...along());
    const before = size();
    state.x.forEach((x, k) => (state.x[k] = k % 3 === 1 ? 0.1 + 0.8 * (x - 0.1) : 0.8 * x));
    const pressed = size();
    for (let n = 0; n < 240; n++) step();
    expect(pressed).toBeLessThan(0.85 * before);
    expect(size()).toBeGreaterThan(0.97 * before);
  });

  test("viscosity damps relative motion, surface tension holds together, vorticity keeps rotation", async () => {
    const { sheared, apart, turned } = flows(drop, 60);
    expect(await sheared({ viscosity: 0.2 })).toBeLessThan(0.7 * (await sheared({ viscosity: 0 })));
    expect(await apart({ surfaceTension: 60 })).toBeLessThan(0.9 * (await apart({})));
    expect(await turned({ vorticity: 0.3 })).toBeGreaterThan(1.01 * (await turned({})));
  });
});

test("poured into a tank it stays inside, spreads, and a grab stirs it", async () => {
  const scene: Partial<Scene> & Pick<Scene, "bodies"> = {
    tickHz: 30,
    gravity: [0, -9.81, 0],
    bodies: [{ ...block([4, 8, 4]), transform: { translate: [0.08, 0.16, 0.08] } }],
    colliders: tank(0.16),
    interaction: { grabMaxForce: 400 },
  };
  const lab = await laboratory(scene);
  lab.run(60);
  const x = lab.positions();
  for (let i = 0; i < x.length; i += 3) {
    expect(x[i + 1]!).toBeGreaterThan(0.5 * S - 1e-4);
    expect(Math.max(Math.abs(x[i]!), Math.abs(x[i + 2]!))).toBeLessThan(0.16 - 0.5 * S + 1e-4);
  }
  // 128 points on 64 places: two layers
  expect(Math.max(...x.filter((_, k) => k % 3 === 1))).toBeLessThan(4 * S);
  const target: [number, number, number] = [0, 0.5, 0];
  expect(lab.run(20, [{ type: "grab", member: 1, grab: 0, body: 0, triangle: 60, u: 0, v: 0, target }])).toEqual([]);
  expect(lab.positions()[3 * 60 + 1]! - x[3 * 60 + 1]!).toBeGreaterThan(0.05);
});
