/** Bodies to wreck, and how (recovery.test.ts, figure 6). */
import type { Body } from "../../shared/scene.ts";
import { randomStream } from "../parity/kit.ts";

export const box = (youngsModulus: number, poissonsRatio: number): Body => ({ name: "box", kind: "soft", mesh: { type: "box", size: [0.3, 0.3, 0.3], cells: [4, 4, 4] }, material: { density: 500, youngsModulus, poissonsRatio, damping: 1 } });
export const bunny: Body = { name: "bunny", kind: "soft", mesh: { type: "package", package: "bunny" }, transform: { fitHeight: 0.4 }, tetrahedralize: { spacing: 0.032 }, material: { density: 300, youngsModulus: 25000, poissonsRatio: 0.4, damping: 1 } };

export type Place = (x: readonly [number, number, number]) => [number, number, number];
export const WRECKS: Record<string, () => Place> = {
  "every y zero": () => (x) => [x[0], 0, x[2]],
  mirrored: () => (x) => [-x[0], x[1], x[2]],
  "in a point": () => () => [0.1, 0.2, 0.3],
  "at random": () => {
    const random = randomStream(12);
    return () => [0.15 * random(), 0.15 * random(), 0.15 * random()];
  },
};
