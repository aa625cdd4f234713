/** A sheet that lies on the floor, folded onto itself. */
import type { Scene } from "../../shared/scene/scene.ts";

/** Edge length of the cells, and distance of the layers, m. */
const EDGE = 0.01;
const LAYER = 0.0013;
export const SUBSTEPS = 20;

/** Wavefront text of n x n vertices, folded in the middle; the upper half is slightly shifted. */
function fold(n: number): string {
  const lines: string[] = [];
  const middle = (n - 1) / 2;
  for (let i = 0; i < n; i++)
    for (let j = 0; j < n; j++)
      lines.push(
        `v ${(middle - Math.abs(i - middle)) * EDGE} ${i > middle ? LAYER : 0} ${j * EDGE + (i > middle ? 0.03 * EDGE : 0)}`,
      );
  for (let i = 0; i + 1 < n; i++) {
    for (let j = 0; j + 1 < n; j++) {
      const a = i * n + j + 1;
      lines.push(`f ${a} ${a + 1} ${a + n}`, `f ${a + 1} ${a + n + 1} ${a + n}`);
    }
  }
  return `${lines.join("\n")}\n`;
}

/** @param file name of the mesh file beside the scene; the caller writes it. @returns its text, and the scene */
export function foldedSheet(n: number, file: string): { mesh: string; scene: Scene } {
  return {
    mesh: fold(n),
    scene: {
      version: 1,
      title: "fold",
      tickHz: 60,
      substeps: SUBSTEPS,
      bodies: [
        {
          name: "sheet",
          kind: "cloth",
          mesh: { type: "file", path: file },
          transform: { translate: [0, 0.0006, 0] },
          material: { density: 300, thickness: 0.001, youngsModulus: 1e6, poissonsRatio: 0.3, bendingStiffness: 1e-5 },
        },
      ],
      colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0 }],
    },
  };
}
