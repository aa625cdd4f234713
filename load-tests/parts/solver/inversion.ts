/**
 * Cost of flat and inverted elements (kernel/assembly/constraints/inversion.ts) relative to the regular solve, per
 * element and model: one pass over all colors of a block, with its particles in the named shape, by the kernel's own
 * functions. Both passes of a pair run within milliseconds of each other, so that other load cancels in the ratio.
 */
import { inversionCost, MODELS, SHAPES } from "../../inversionCost.ts";
import type { Row } from "../../part.ts";

export const name = "inversion";
export const about =
  "20,480 tetrahedra, all flat, mirrored or at random: ns per element, and the ratio to the regular solve";
export const runs = 3;

export async function run(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [model, material] of Object.entries(MODELS)) {
    const { fastest, elements } = await inversionCost(material, 16, 20);
    const regular = fastest.regular!;
    rows.push({ what: `${model}, regular, per element`, value: (1e9 * regular) / elements, unit: "ns" });
    for (const shape of Object.keys(SHAPES).slice(1)) {
      rows.push({ what: `${model}, ${shape}, per element`, value: (1e9 * fastest[shape]!) / elements, unit: "ns" });
      rows.push({
        what: `${model}, ${shape}, times the regular solve`,
        value: fastest[shape]! / regular,
        unit: "x",
        target: { atMost: 4 },
      });
    }
  }
  return rows;
}
