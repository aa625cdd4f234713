/** A square sheet of finite differences, for tests and the report. */
import type { ClothBody } from "../../../shared/scene/scene.ts";
import type { BodyTemplate } from "../../../server/sim/body/template.ts";
import { finiteDifferences, Sheet } from "../../../server/sim/methods/elements/finiteDifferences.ts";
import { known, templateOf } from "./kit.ts";

export const SIDE = 0.8;
export const THICKNESS = 0.01;
export const YOUNG = 1e5;
export const POISSON = 0.3;
export const RIGIDITY = 0.02;

export const sheet = (cells: number, more: Partial<ClothBody> = {}): ClothBody => ({
  name: "sheet",
  kind: "cloth",
  mesh: { type: "grid", size: [SIDE, SIDE], cells: [cells, cells] },
  material: {
    density: 200,
    thickness: THICKNESS,
    damping: 3,
    youngsModulus: YOUNG,
    poissonsRatio: POISSON,
    bendingStiffness: RIGIDITY,
  },
  contact: { self: false },
  method: { type: "finite-differences" },
  ...more,
});

export async function sheetModel(
  cells: number,
  more: Partial<ClothBody> = {},
): Promise<{ of: Sheet; template: BodyTemplate }> {
  const template = await templateOf(sheet(cells, more));
  const constants = finiteDifferences.plan(template, { type: "finite-differences" }, known(template, 1), "");
  return { of: new Sheet(constants), template };
}
