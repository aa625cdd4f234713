/** Figure 9 of Bender et al. 2014: an elastoplastic body under a heavy sphere keeps its dent, its elastic twin does not. */
import { CUSHION, DRAGON, PLASTIC, press, type Pressing } from "../physics/dent.ts";
import { volumeOf } from "../physics/laboratory.ts";
import { check, type Figure, type Picture, type Progress } from "./figure.ts";
import { bodyMesh, COLORS, photographMeshes } from "./photograph.ts";
import { curves } from "./plots.ts";

export const figure: Figure = {
  id: "fig9",
  title: "A heavy sphere leaves its dent in a plastic dragon",
  source: "Bender et al. 2014, figure 9",
  async run(size, progress: Progress = () => {}) {
    const scene = size === "full" ? DRAGON : CUSHION, name = scene.body.name, pictures: Picture[] = [], runs: [string, Pressing][] = [];
    for (const [n, [kind, plasticity]] of ([["elastoplastic", PLASTIC], ["elastic", undefined]] as const).entries()) {
      progress(n / 2, kind);
      const run = await press(scene, plasticity, (lab, time) => {
        const ends = [scene.pressed, scene.pressed + scene.free], at = ends.findIndex((t) => Math.abs(time - t) < 0.001);
        if (at < 0) return;
        const meshes = lab.created.bodies.slice(0, at === 0 ? 2 : 1).map((body, b) => bodyMesh(body, lab.positions(b), { color: COLORS[[2, 1][b]!]! }));
        pictures.push(photographMeshes(meshes, { caption: `${kind}, ${at === 0 ? "under the sphere" : `${scene.free} s after it is gone`}`, width: 480, height: 360, from: [0.3, 0.4, 1] }));
      });
      runs.push([kind, run]);
    }
    const [plastic, elastic] = [runs[0]![1], runs[1]![1]], { mass, radius } = scene.sphere, m = scene.body.material as { youngsModulus: number; density: number; damping: number };
    const inverted = volumeOf(plastic.lab.positions(0), plastic.lab.created.bodies[0]!.tets).inverted;
    return {
      text: `A sphere of ${mass} kg and ${radius} m radius is put on the ${name} (${plastic.lab.created.bodies[0]!.tets.length / 4} tetrahedra, k = ${m.youngsModulus} Pa, ${m.density} kg/m^3${name === "dragon" ? ", feet held" : ""}) for ${scene.pressed} s and is then taken away; ${scene.free} s later is measured how far the particles are from where they were before it came, over the body's height. Once with plasticity (yield ${PLASTIC.yield}, creep ${PLASTIC.creep}/s, max ${PLASTIC.max}), once without. 60 Hz, 20 substeps of one iteration.

The paper shows a picture of the dent. The checks say what it must mean: the plastic body keeps several times what the elastic one does, which is back to what its own weight and its last swinging make of it; and the dent is a shape, not a tangle: no element is left inverted.

Under the sphere thin parts, such as the dragon's horns, are pressed through themselves: up to some percent of the elements are inverted. They do not flow (Green's strain cannot tell an element from its mirror image), and if more than 3 % were, nothing of the body would, until they are back.${size === "full" ? "" : " (The full report has the dragon.)"}`,
      checks: [
        check("elastoplastic: what stays, root mean square over the height", plastic.after.mean, { low: 0.02, published: "deformed persistently" }),
        check("elastic twin: the same", elastic.after.mean, { high: 0.012 }),
        check("elastoplastic over elastic: largest distance of a particle that stays", plastic.after.most / elastic.after.most, { low: 3 }),
        check("elastoplastic: mean plastic strain", plastic.course.at(-1)!.plastic, { low: 0.01, high: PLASTIC.max }),
        check("elastoplastic: inverted elements at the end", inverted, { high: 0 }),
      ],
      plots: [
        { caption: "How far particles are from where they were.", spec: curves({ title: "time, s", zero: true }, { title: "root mean square distance / height", zero: true }, runs.map(([n, r]) => ({ name: n, points: r.course.map((c) => [c.time, c.moved]) })), [{ x: scene.pressed, label: "sphere gone" }]) },
        { caption: "Mean plastic strain.", spec: curves({ title: "time, s", zero: true }, { title: "mean |plastic strain|", zero: true }, [{ name: "elastoplastic", points: plastic.course.map((c) => [c.time, c.plastic]) }]) },
        { caption: "Inverted elements, of all.", spec: curves({ title: "time, s", zero: true }, { title: "inverted elements", zero: true }, runs.map(([n, r]) => ({ name: n, points: r.course.map((c) => [c.time, c.inverted / (r.lab.created.bodies[0]!.tets.length / 4)]) })), [{ y: 0.03, label: "plastic flow stops" }]) },
      ],
      pictures,
    };
  },
};
