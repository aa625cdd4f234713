/** A scene with all features at any size (scale.test.ts, figure `scale`). */
import type { SimEvent } from "../../../server/sim/types.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";
import { clothGrid, softBox } from "../../support/bodies.ts";

type V = [number, number, number];

/**
 * One scene at any size: a jelly falls on another, a cloth over both, onto a floor and colliders; one is grabbed, one
 * hit. Lengths, gravity and speeds times s, moduli times s^2 and the rest as their units require.
 */
export async function run(s: number): Promise<{ lab: Laboratory; x: Float64Array[]; events: SimEvent[] }> {
  const by = (...v: V): V => [s * v[0], s * v[1], s * v[2]];
  const lab = await laboratory({
    gravity: by(0, -9.81, 0),
    worldRadius: 100 * s,
    quantum: 1e-3,
    substeps: 6,
    iterations: 2,
    bodies: [
      softBox("a", by(0.25, 0.25, 0.25), [3, 3, 3], {
        transform: { translate: by(0, 0.375, 0), rotate: [20, 10, 0] },
        velocity: by(0.5, -1, 0),
        material: { density: 500, youngsModulus: 2e4 * s * s, poissonsRatio: 0.4, friction: 0.6 },
      }),
      softBox("b", by(0.25, 0.125, 0.25), [3, 2, 3], {
        transform: { translate: by(0.03125, 0.0703125, 0) },
        material: { density: 500, youngsModulus: 5e4 * s * s, poissonsRatio: 0.3, friction: 0.6 },
      }),
      clothGrid("c", [0.75 * s, 0.75 * s], [12, 12], {
        transform: { translate: by(0, 0.625, 0), rotate: [0, 30, 5] },
        material: {
          density: 300,
          thickness: 0.001 * s,
          youngsModulus: 2e5 * s * s,
          poissonsRatio: 0.3,
          bendingStiffness: 1e-4 * s ** 5,
          friction: 0.4,
        },
      }),
    ],
    colliders: [
      { type: "plane", normal: [0, 1, 0], offset: 0 },
      { type: "sphere", center: by(0.375, 0.125, 0), radius: 0.15625 * s },
      { type: "box", center: by(-0.375, 0.125, 0), halfExtents: by(0.125, 0.125, 0.25), rotate: [0, 15, 0] },
      { type: "capsule", a: by(-0.25, 0.25, -0.375), b: by(0.25, 0.25, -0.375), radius: 0.0625 * s },
    ],
    interaction: {
      grabCompliance: 1e-3 / s ** 3,
      grabMaxForce: 50 * s ** 4,
      grabRadius: 0.125 * s,
      grabSpeed: 3 * s,
      maxImpulse: 10 * s ** 4,
    },
  });
  const events = lab.run(20);
  events.push(
    ...lab.run(25, [
      { type: "grab", member: 1, grab: 0, body: 0, triangle: 3, u: 0.25, v: 0.25, target: by(0.25, 0.75, 0.25) },
      {
        type: "impulse",
        member: 1,
        body: 2,
        triangle: 30,
        u: 0.25,
        v: 0.25,
        impulse: [0, 0.5 * s ** 4, 0.25 * s ** 4],
      },
    ]),
  );
  events.push(...lab.run(45, [{ type: "release", member: 1, grab: 0 }]));
  return { lab, x: [0, 1, 2].map((b) => lab.positions(b)), events };
}

/**
 * A cantilever and a sheet pinned along one side swing and settle for a second, at any size. Without contacts nothing
 * amplifies differences by rounding.
 */
export async function swing(s: number): Promise<Float64Array[]> {
  const left = (x: number): { select: { box: { min: V; max: V } } }[] => [
    { select: { box: { min: [-9 * s, -9 * s, -9 * s], max: [x * s, 9 * s, 9 * s] } } },
  ];
  const lab = await laboratory({
    gravity: [0, -9.81 * s, 0],
    worldRadius: 100 * s,
    quantum: 1e-3,
    bodies: [
      softBox("bar", [0.5 * s, 0.1 * s, 0.1 * s], [10, 2, 2], {
        pins: left(-0.2499),
        material: { density: 1000, youngsModulus: 2e5 * s * s, poissonsRatio: 0.35, damping: 2 },
      }),
      clothGrid("sheet", [0.4 * s, 0.4 * s], [12, 12], {
        transform: { translate: [0, s, 0] },
        pins: left(-0.1999),
        material: {
          density: 300,
          thickness: 0.001 * s,
          youngsModulus: 1e5 * s * s,
          poissonsRatio: 0.3,
          bendingStiffness: 1e-3 * s ** 5,
          damping: 2,
        },
      }),
    ],
  });
  lab.run(60);
  return [0, 1].map((b) => lab.positions(b));
}
