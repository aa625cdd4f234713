/** Triangle rows: D_m^-1 and the compliance of the sheet (kernel/assembly/constraints/triangle.ts). */
import * as L from "../../../kernel/assembly/layout/layout.ts";
import type { TriangleElements } from "../../constraints/elements.ts";
import type { BlockKind } from "./kind.ts";

export const triangleBlock: BlockKind<TriangleElements> = {
  bytes: L.TRI_BYTES,
  phase: L.KIND_TRIANGLE,
  stage: L.STAGE_TRIANGLES,
  paperPhase: L.KIND_PAPER_TRIANGLE,
  remembers: { rows: L.TRI_KEPT_BYTES / 16, apart: true },
  write: writeTriangle,
  pad: padTriangle,
};

function writeTriangle(
  f32: Float32Array,
  at: number,
  e: TriangleElements,
  i: number,
  w: (corner: number) => number,
): void {
  for (let k = 0; k < 4; k++) f32[at + L.TRI_DM / 4 + 4 * k] = e.dmInverse[4 * i + k]!;
  // K over the three corners, b_2 = -(b_0 + b_1), in float32
  const f = Math.fround;
  const [m00, m01, m10, m11] = [0, 1, 2, 3].map((k) => f(e.dmInverse[4 * i + k]!)) as [number, number, number, number];
  const n0 = f(m00 + m10);
  const n1 = f(m01 + m11);
  const sum = (a: number, b: number, c: number): number => f(f(w(0) * f(a)) + f(f(w(1) * f(b)) + f(w(2) * f(c))));
  [sum(m00 * m00, m10 * m10, n0 * n0), sum(m00 * m01, m10 * m11, n0 * n1), sum(m01 * m01, m11 * m11, n1 * n1)].forEach(
    (value, k) => (f32[at + L.TRI_K / 4 + 4 * k] = value),
  );
  const { s00, s01, s11, s22 } = e.compliance;
  const V = e.volume[i]!;
  [s00, s01, s11, s22].forEach((s, k) => (f32[at + L.TRI_S / 4 + 4 * k] = s / V));
}

/**
 * Corners 0 and 1 are the dummies (1,0,0) and (0,1,0), corner 2 is (0,0,1): any compliance will do, nothing there has
 * mass.
 */
function padTriangle(f32: Float32Array, at: number): void {
  f32[at + L.TRI_DM / 4] = 1;
  f32[at + L.TRI_DM / 4 + 12] = 1;
  for (const k of [0, 2, 3]) f32[at + L.TRI_S / 4 + 4 * k] = 1;
}
