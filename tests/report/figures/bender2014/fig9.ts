/**
 * Figure 9 of Bender et al. 2014: an elastoplastic body under a heavy sphere keeps its dent, its elastic twin does not.
 */
import { CUSHION, DAMPING, dentOf, DRAGON, press, type Pressing } from "../../../physics/materials/dent.ts";
import { check, short, type Figure, type Picture, type Plot, type Progress } from "../figure.ts";
import { bodyMesh, COLORS, photographMeshes } from "../drawing/photograph.ts";
import { curves } from "../drawing/plots.ts";

function plotsOf(plastic: Pressing, elastic: Pressing, pressed: number): Plot[] {
  const count = plastic.lab.created.bodies[0]!.tets.length / 4;
  const runs: [string, Pressing][] = [
    ["elastoplastic", plastic],
    ["elastic", elastic],
  ];
  return [
    {
      caption: "Dent under the sphere and after its removal.",
      spec: curves(
        { title: "time, s", zero: true },
        { title: "dent / size", zero: true },
        runs.map(([n, r]) => ({ name: n, points: r.course.map((c) => [c.time, c.dent]) })),
        [{ x: pressed, label: "sphere gone" }],
      ),
    },
    {
      caption: "Mean plastic strain.",
      spec: curves({ title: "time, s", zero: true }, { title: "mean |plastic strain|", zero: true }, [
        { name: "elastoplastic", points: plastic.course.map((c) => [c.time, c.plastic]) },
      ]),
    },
    {
      caption: "Share of inverted elements.",
      spec: curves(
        { title: "time, s", zero: true },
        { title: "inverted elements", zero: true },
        runs.map(([n, r]) => ({ name: n, points: r.course.map((c) => [c.time, c.inverted / count]) })),
        [{ y: 0.03, label: "plastic flow stops" }],
      ),
    },
  ];
}

export const figure: Figure = {
  id: "fig9",
  title: "A heavy sphere leaves its dent in a plastic dragon",
  source: "Bender et al. 2014, figure 9",
  async run(size, progress: Progress = () => {}) {
    const scene = size === "full" ? DRAGON : CUSHION;
    const { name } = scene.body;
    const { plasticity } = scene;
    const pictures: Picture[] = [];
    const run = (kind: "plastic" | "elastic"): Promise<Pressing> =>
      press(scene, kind, (lab, time) => {
        const at = [scene.pressed, scene.pressed + scene.free].findIndex((t) => Math.abs(time - t) < 0.001);
        if (at < 0) return;
        const meshes = lab.created.bodies
          .slice(0, at === 0 ? 2 : 1)
          .map((body, b) => bodyMesh(body, lab.positions(b), { color: COLORS[[2, 1][b]!]! }));
        pictures.push(
          photographMeshes(meshes, {
            caption: `${kind === "plastic" ? "Elastoplastic" : "Elastic"}, ${at === 0 ? "under the sphere" : `${scene.free} s after its removal`}.`,
            width: 480,
            height: 360,
            from: [0.3, 0.4, 1],
          }),
        );
      });
    progress(0, "elastoplastic");
    const plastic = await run("plastic");
    progress(0.4, "elastic");
    const elastic = await run("elastic");
    progress(0.8, "elastic, untouched");
    const untouched = await press(scene, "untouched");
    const count = plastic.lab.created.bodies[0]!.tets.length / 4;
    const { mass, radius } = scene.sphere;
    const m = scene.body.material as { youngsModulus: number; density: number };
    const kept = dentOf(elastic.end, untouched.end);
    const most = Math.max(...plastic.course.map((c) => c.inverted)) / count;
    return {
      text: `A sphere of ${mass} kg and ${radius} m radius falls onto a ${name} (${count} tetrahedra, k = ${short(m.youngsModulus)} Pa, ${m.density} kg/m^3, damping ${DAMPING}/s, ${name === "dragon" ? "feet" : "lower face"} fixed), lies there for ${scene.pressed} s and is removed; ${scene.free} s later the dent is measured. Once with plasticity (yield ${plasticity.yield}, creep ${plasticity.creep}/s, max ${plasticity.max}), once without. 60 Hz, 20 substeps of one iteration.

**Dent**: the largest distance of a particle from its place in the rest shape, which is rigidly moved to fit best, over the diagonal of the rest shape's bounding box.

The paper shows a picture and no numbers. The checks put the picture into numbers. The plastic body keeps a visible dent, at least 2 % of its size. Its elastic twin returns to the shape of a third ${name}, also elastic, which the sphere never touched; both sag under their own weight. The limit is 1 % of its dent under the sphere, as for the volumes of figure 6. A single mode would have exp(-${(DAMPING * scene.free) / 2}) = ${short(100 * Math.exp((-DAMPING * scene.free) / 2))} % left. And the dent is a shape, not a tangle: no element stays inverted.

Under the sphere ${name === "dragon" ? "thin parts, such as the dragon's horns, are pressed through themselves" : "few elements or none are pressed through themselves"}: up to ${(100 * most).toFixed(1)} % of the elements are inverted. They do not flow, because Green's strain cannot tell an element from its mirror image. Above 3 % the whole body would stop flowing until all elements have recovered.${size === "full" ? "" : " (The full report has the dragon.)"}`,
      checks: [
        check("elastoplastic: remaining dent over the size", plastic.after, {
          low: 0.02,
          published: "deformed persistently",
        }),
        check(
          "elastic twin: remaining dent against the untouched one, over the dent under the sphere",
          kept / elastic.under,
          { high: 0.01 },
        ),
        check("elastoplastic: mean plastic strain", plastic.course.at(-1)!.plastic, { high: plasticity.max }),
        check("elastoplastic: inverted elements at the end", plastic.course.at(-1)!.inverted, { high: 0 }),
      ],
      plots: plotsOf(plastic, elastic, scene.pressed),
      pictures,
    };
  },
};
