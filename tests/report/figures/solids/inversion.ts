/** Cost of handling flat and inverted elements: for such elements, and for all others. */
import { inversionCost, MODELS, SHAPES, type Cost } from "../../../../load-tests/inversionCost.ts";
import { randomStream } from "../../../parity/kit.ts";
import { compileKernel } from "../../../../server/kernel/compile.mjs";
import { laboratory } from "../../../physics/laboratory.ts";
import { check, type Figure, type Progress } from "../figure.ts";
import { bodyMesh, COLORS, photographMeshes } from "../drawing/photograph.ts";
import { bars } from "../drawing/plots.ts";
import { softBox } from "../../../support/bodies.ts";

/** Lines that test which lanes are sound. Without them the compiler drops the code for unsound lanes. */
const GUARDS: Record<string, RegExp> = {
  "constraints/tetrahedron.ts": /const sound = f32x4\.gt\([^;]*;/,
  "constraints/hyperelastic.ts": /const sound = v128\.andnot\([^;]*;/,
};

/**
 * Compiles a kernel without tests for flat or inverted elements.
 * @throws Error if a guard's source line has changed
 */
async function trusting(): Promise<WebAssembly.Module> {
  const left = new Set(Object.keys(GUARDS));
  const bytes = await compileKernel((name, text) => {
    const guard = GUARDS[name];
    if (!guard?.test(text)) return text;
    left.delete(name);
    return text.replace(guard, "const sound = i32x4.splat(-1);");
  });
  if (left.size > 0)
    throw new Error(`no guard found in ${[...left].join(", ")}: the figure does not know which line to leave out`);
  return new WebAssembly.Module(bytes as Uint8Array<ArrayBuffer>);
}

/** The block in its four shapes, from left to right. */
async function blocks(cells: number): Promise<ReturnType<typeof bodyMesh>[]> {
  const lab = await laboratory({
    bodies: [softBox("block", [1, 1, 1], [cells, cells, cells], { material: MODELS.StVK! })],
  });
  const body = lab.created.bodies[0]!;
  const X = body.positions;
  const random = randomStream(5);
  return Object.values(SHAPES).map((place, n) => {
    const positions = new Float64Array(X.length);
    for (let i = 0; i < X.length; i += 3)
      positions.set(
        place(X[i]!, X[i + 1]!, X[i + 2]!, () => 0.6 * random()).map((v, r) => v + (r === 0 ? 1.7 * n : 0)),
        i,
      );
    return bodyMesh(body, positions, { color: COLORS[n]!, edges: true });
  });
}

export const figure: Figure = {
  id: "inversion",
  title: "Cost of inversion",
  source: "Bender et al. 2014, section 4.2; Irving et al. 2004",
  alone: true,
  async run(size, progress: Progress = () => {}) {
    const full = size === "full";
    const cells = 6;
    const names = full ? Object.keys(MODELS) : ["StVK", "Neo-Hookean"];
    const other = full ? await trusting() : undefined;
    const costs: [string, Cost][] = [];
    for (const [n, name] of names.entries()) {
      progress(n / names.length, name);
      costs.push([name, await inversionCost(MODELS[name]!, cells, full ? 1000 : 40, other)]);
    }
    const times = ({ fastest }: Cost): number => Math.max(...Object.values(fastest)) / fastest.regular!;
    const ns = (seconds: number, { elements }: Cost): number => (1e9 * seconds) / elements;
    return {
      text: `Singular values of every deformation gradient would make every solve several times as expensive. The kernel first tests from F whether an element needs them, for four elements at a time and without a square root. Only lanes that need them are decomposed (Jacobi rotations, four lanes at once; kernel/assembly/math/svd.ts).

A block of ${cells} x ${cells} x ${cells} cubes (${5 * cells ** 3} tetrahedra) is deformed and solved once by the kernel's own functions, on one thread: **regular** is sheared by about 20 %, **flat** has every height zero, **mirrored** is inverted and strained, **at random** has random positions. In the last three every element is decomposed. Shapes alternate, a thousand times, so that other load of the machine affects all alike; the fastest pass of each shape counts.

The cost for a body without such elements is measured against **another kernel**, compiled for this figure from the same sources with the test replaced by "all are sound", so that the compiler drops the rest. Both kernels alternate, too, and the median of their ratios counts. Target: at most four times the plain solve for a decomposed element, at most 5 % for other elements. \`npm run bench -- --only inversion\` measures the first on a block of 20,480 tetrahedra.`,
      checks: costs.flatMap(([name, cost]) => [
        check(`${name}: slowest shape over regular, per element`, times(cost), { high: 4, basis: "target" }),
        ...(cost.other === undefined
          ? []
          : [
              check(`${name}: regular over the same without any test for inversion`, cost.other.ratio, {
                high: 1.05,
                basis: "target",
              }),
            ]),
      ]),
      plots: [
        {
          caption: "Fastest time for one element in one pass, ns, by shape.",
          spec: bars(
            { title: "" },
            { title: "time per element, ns" },
            costs.flatMap(([name, cost]) => [
              ...(cost.other === undefined
                ? []
                : [{ name, value: ns(cost.other.fastest, cost), group: "regular, without the test" }]),
              ...Object.entries(cost.fastest).map(([group, seconds]) => ({ name, value: ns(seconds, cost), group })),
            ]),
          ),
        },
      ],
      pictures: [
        photographMeshes(await blocks(cells), {
          caption: "The block regular, flat, mirrored and at random.",
          ground: null,
          from: [0.25, 0.35, 1],
          width: 960,
          height: 260,
        }),
      ],
    };
  },
};
