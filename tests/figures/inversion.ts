/** What it costs that elements may be flat or inverted: for those that are, and for those that are not. */
import { inversionCost, MODELS, type Cost } from "../../load-tests/inversionCost.ts";
import { compileKernel } from "../../server/kernel/compile.mjs";
import { check, type Figure, type Progress } from "./figure.ts";
import { bars } from "./plots.ts";

/** The lines that find out which lanes are unsound; without them the compiler drops what they lead to. */
const GUARDS: Record<string, RegExp> = { "tetrahedron.ts": /const sound = f32x4\.gt\(.*;/, "hyperelastic.ts": /const sound = v128\.andnot\(.*;/ };

/** The kernel as it would be if no element could be flat or inverted. @throws Error if a guard is not found as it was */
async function trusting(): Promise<WebAssembly.Module> {
  const left = new Set(Object.keys(GUARDS)), bytes = await compileKernel((name, text) => {
    const guard = GUARDS[name];
    if (!guard?.test(text)) return text;
    left.delete(name);
    return text.replace(guard, "const sound = i32x4.splat(-1);");
  });
  if (left.size > 0) throw new Error(`no guard found in ${[...left].join(", ")}: the figure no longer knows what to leave out`);
  return new WebAssembly.Module(bytes as Uint8Array<ArrayBuffer>);
}

export const figure: Figure = {
  id: "inversion",
  title: "What inversion costs",
  source: "Bender et al. 2014, section 4.2; Irving et al. 2004",
  alone: true,
  async run(size, progress: Progress = () => {}) {
    const full = size === "full", cells = 6, names = full ? Object.keys(MODELS) : ["StVK", "Neo-Hookean"], other = full ? await trusting() : undefined, costs: [string, Cost][] = [];
    for (const [n, name] of names.entries()) {
      progress(n / names.length, name);
      costs.push([name, await inversionCost(MODELS[name]!, cells, full ? 1000 : 40, other)]);
    }
    const times = ({ fastest }: Cost): number => Math.max(...Object.values(fastest)) / fastest.regular!, ns = (seconds: number, { elements }: Cost): number => (1e9 * seconds) / elements;
    return {
      text: `Singular values of every deformation gradient would make every solve several times as dear. The kernel finds out first, from F alone, whether an element can do without: four elements at a time, no square root. Only lanes that cannot are decomposed (Jacobi rotations, four lanes at once; kernel/assembly/svd.ts).

A block of ${cells} x ${cells} x ${cells} cubes (${5 * cells ** 3} tetrahedra) is put into a shape and solved once by the kernel's own functions, on one thread: **regular** is sheared by some 20 %, **flat** has every height zero, **mirrored** is turned inside out and strained, **at random** has every particle anywhere. In the last three every element is decomposed. Shapes take turns, a thousand times, so that what else the machine does meets all alike; the fastest pass of each shape counts.

What a body pays that has no such element is measured against **another kernel**, compiled for this figure from the same sources with the test for soundness replaced by "all are", so that the compiler leaves out what follows from it; both take turns, too, and the median of their ratios counts. Target: at most four times the plain solve for an element that is decomposed, at most 5 % for the rest. \`npm run bench -- --only inversion\` measures the first on a block of 20,480 tetrahedra.`,
      checks: costs.flatMap(([name, cost]) => [
        check(`${name}: slowest shape over regular, per element`, times(cost), { high: 4, basis: "target" }),
        ...(cost.other === undefined ? [] : [check(`${name}: regular over the same without any test for inversion`, cost.other.ratio, { high: 1.05, basis: "target" })]),
      ]),
      plots: [{
        caption: "Nanoseconds for one element in one pass, by shape, at best.",
        spec: bars({ title: "" }, { title: "time per element, ns" }, costs.flatMap(([name, cost]) => [
          ...(cost.other === undefined ? [] : [{ name, value: ns(cost.other.fastest, cost), group: "regular, without the test" }]),
          ...Object.entries(cost.fastest).map(([group, seconds]) => ({ name, value: ns(seconds, cost), group })),
        ])),
      }],
      pictures: [],
    };
  },
};
