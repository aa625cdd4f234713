/** Linear and warped finite elements, and finite volumes: cases in which their forces are exact, and a cantilever. */
import type { Method } from "../../../../shared/scene/sceneMethodTypes.ts";
import type { BodyTemplate } from "../../../../server/sim/body/template.ts";
import type { Tetrahedra } from "../../../../server/sim/methods/elements/linearTetrahedra.ts";
import { laboratory } from "../../../physics/laboratory.ts";
import { forcesOf, largest, moved, POISSON, randoms, YOUNG } from "../../../physics/methods/kit.ts";
import { jittered, tetrahedra } from "../../../physics/methods/tetrahedraKit.ts";
import { staticEquilibrium } from "../../../statics/equilibrium.ts";
import { check, short, type Check, type Figure, type Progress } from "../figure.ts";
import { curves, type Series } from "../drawing/plots.ts";

const MODELS: readonly (readonly [string, (template: BodyTemplate) => Tetrahedra])[] = [
  ["linear elements", (template) => tetrahedra(template, false)],
  ["warped elements", (template) => tetrahedra(template, true)],
  ["finite volumes", (template) => tetrahedra(template, true, "volumes")],
];

/** Rotates about (1, 2, 2)/3 and shifts. */
const turn =
  (angle: number) =>
  ([x, y, z]: number[]): number[] => {
    const [a, b, c] = [1 / 3, 2 / 3, 2 / 3];
    const [s, k] = [Math.sin(angle), 1 - Math.cos(angle)];
    const along = a * x! + b * y! + c * z!;
    return [
      x! + s * (b * z! - c * y!) - k * (x! - a * along) + 0.3,
      y! + s * (c * x! - a * z!) - k * (y! - b * along) - 0.2,
      z! + s * (a * y! - b * x!) - k * (z! - c * along) + 0.1,
    ];
  };

/**
 * Uniaxial stress along x: residual forces, and the pull at a face against Hooke's stress, both relative to that pull.
 */
function patch(name: string, { positions }: BodyTemplate, model: Tetrahedra): Check[] {
  const strain = 1e-3;
  const [along, across] = [1 + strain, 1 - POISSON * strain];
  const f = forcesOf(
    model,
    moved(positions, ([x, y, z]) => [along * x!, across * y!, across * z!]),
  );
  const total = YOUNG * strain * 0.25;
  let pull = 0;
  const none = f.map((value, k) => {
    if (k % 3 !== 0 || Math.abs(positions[k]!) < 0.25 - 1e-9) return value;
    if (positions[k]! > 0) pull += value;
    return 0;
  });
  return [
    check(`patch test, ${name}: largest residual force`, largest(none) / total, { high: 1e-10, basis: "exact" }),
    check(`patch test, ${name}: pull at a face minus Hooke's`, Math.abs(pull / total + 1), {
      high: 1e-10,
      basis: "exact",
    }),
  ];
}

const LENGTH = 1;
const HEIGHT = 0.1;
const BEAM_YOUNG = 1e6;
const FORCE = 0.4;
/** Sag of Timoshenko's beam with Cowper's shear coefficient of a rectangle, m. */
const THEORY =
  (FORCE * LENGTH ** 3) / (3 * BEAM_YOUNG * (HEIGHT ** 4 / 12)) +
  (FORCE * LENGTH * 2 * (1 + POISSON) * (12 + 11 * POISSON)) / (10 * (1 + POISSON) * BEAM_YOUNG * HEIGHT ** 2);

/** Mean sag of a cantilever's end in a room, and by separate code for static elements of its mesh, m. */
async function cantilever(method: Method, cells: number): Promise<{ room: number; statics: number }> {
  const end = (from: number, to: number) => ({ box: { min: [from, -1, -1], max: [to, 1, 1] } }) as const;
  const lab = await laboratory({
    bodies: [
      {
        name: "beam",
        kind: "soft",
        mesh: { type: "box", size: [LENGTH, HEIGHT, HEIGHT], cells: [10 * cells, cells, cells] },
        material: { density: 1000, damping: 5, youngsModulus: BEAM_YOUNG, poissonsRatio: POISSON },
        pins: [{ select: end(-1, -LENGTH / 2 + 1e-4) }],
        loads: [{ select: end(LENGTH / 2 - 1e-4, 1), force: [0, -FORCE, 0] }],
        contact: { self: false },
        method,
      },
    ],
  } as Parameters<typeof laboratory>[0]);
  const { positions, tets, pinned, force } = lab.created.bodies[0]!;
  lab.run(180);
  const { x } = staticEquilibrium({
    rest: positions,
    tets,
    material: { model: "stvk", youngsModulus: BEAM_YOUNG, poissonsRatio: POISSON },
    fixed: pinned,
    force,
  });
  const sag = (of: Float64Array): number => {
    const down = Array.from(positions).flatMap((X, k) =>
      k % 3 === 0 && X > LENGTH / 2 - 1e-4 ? [positions[k + 1]! - of[k + 1]!] : [],
    );
    return down.reduce((sum, y) => sum + y, 0) / down.length;
  };
  return { room: sag(lab.positions()), statics: sag(x) };
}

/** Forces of a turned cube by angle, over E times an element's face. */
function turned(template: BodyTemplate, model: Tetrahedra, cells: number): [number, number][] {
  const unit = YOUNG * (0.5 / cells) ** 2;
  return Array.from({ length: 18 }, (_, n): [number, number] => {
    const angle = 10 * (n + 1);
    return [angle, largest(forcesOf(model, moved(template.positions, turn((angle * Math.PI) / 180)))) / unit];
  });
}

/** Cases with exact forces, on a cube of `cells` cells an edge with displaced inner particles. */
async function forces(cells: number): Promise<{ checks: Check[]; rigid: Series[] }> {
  const template = await jittered(cells);
  const checks = MODELS.flatMap(([name, make]) => patch(name, template, make(template)));
  const random = randoms(3);
  const x = moved(template.positions, (p) => turn(1.1)(p).map((c) => c + 0.03 * random()));
  for (const warped of [false, true]) {
    const elements = forcesOf(tetrahedra(template, warped), x);
    const volumes = forcesOf(tetrahedra(template, warped, "volumes"), x);
    const far = largest(elements.map((value, k) => value - volumes[k]!)) / largest(elements);
    checks.push(
      check(`forces of finite volumes minus those of elements, ${warped ? "warped" : "linear"}, crumpled`, far, {
        high: 1e-12,
        basis: "the same sum; rounding",
      }),
    );
  }
  const rigid = MODELS.map(
    ([name, make]): Series => ({ name, style: "both", points: turned(template, make(template), cells) }),
  );
  const worst = (n: number): number => Math.max(...rigid[n]!.points.map(([, force]) => force));
  checks.push(
    check("largest force of a turned cube over E face, warped elements", worst(1), { high: 1e-12, basis: "exact" }),
    check("the same, finite volumes", worst(2), { high: 1e-12, basis: "exact" }),
    check("the same, linear elements: they swell", worst(0), { low: 0.1, basis: "purpose of warping" }),
  );
  return { checks, rigid };
}

const BEAMS: readonly (readonly [string, Method])[] = [
  ["linear elements", { type: "finite-elements", warped: false }],
  ["warped elements", { type: "finite-elements" }],
  ["finite volumes", { type: "finite-volumes" }],
];

async function beams(meshes: readonly number[], progress: Progress): Promise<{ checks: Check[]; series: Series[] }> {
  const checks: Check[] = [];
  const room: [number, number][] = [];
  const statics: [number, number][] = [];
  for (const cells of meshes) {
    for (const [name, method] of BEAMS) {
      // all three models on the coarsest mesh
      if (cells > 1 && name !== "warped elements") continue;
      progress(cells / 5, `cantilever of ${name}, ${cells} cells high`);
      const sag = await cantilever(method, cells);
      checks.push(
        check(
          `cantilever of ${name}, ${cells} cells high: sag over that of static elements of its mesh`,
          sag.room / sag.statics,
          { low: 0.99, high: 1.01, basis: "target" },
        ),
      );
      if (name !== "warped elements") continue;
      room.push([cells, sag.room / THEORY]);
      statics.push([cells, sag.statics / THEORY]);
    }
  }
  const [coarse, fine] = room.slice(-2);
  if (fine) {
    const order = Math.log((1 - coarse![1]) / (1 - fine[1])) / Math.log(fine[0] / coarse![0]);
    checks.push(
      check(`order of the sag's deficit against beam theory, from ${coarse![0]} to ${fine[0]} cells`, order, {
        low: 1,
        basis: "2 in the limit",
      }),
    );
  }
  return {
    checks,
    series: [
      { name: "static elements, separate code", points: statics },
      { name: "room, warped elements", points: room, style: "points" },
    ],
  };
}

export const figure: Figure = {
  id: "elements",
  title: "Finite elements and finite volumes",
  source:
    "Physically Based Deformable Models, finite element and finite volume method; Müller and Gross 2004; Teran et al. 2003; Timoshenko's beam",
  async run(size, progress: Progress = () => {}) {
    const full = size === "full";
    const cells = full ? 6 : 3;
    const { checks, rigid } = await forces(cells);
    const { checks: sags, series } = await beams(full ? [1, 2, 3] : [1], progress);
    return {
      text: `Three forces on the same linear tetrahedra under Hooke's law: linear elements, elements with warped stiffness (f = -R K (R^T x - x_0)), and finite volumes (stress times the areas around a corner). A cube of 0.5 m (${cells}³ cells, ${YOUNG} Pa, nu = ${POISSON}) whose inner particles are displaced by up to a tenth of a cell, so that no two elements are alike; float64, without a room.

- **Patch test**: uniaxial stress by 0.1 % along x. Linear shape functions represent any uniform strain exactly on any mesh: no force inside and on the sides, E times the strain on the two faces. Only rounding is left (1e-10 of the pull).
- **Volumes equal elements**: the areas of a corner's faces, a third of each, are the volume times its shape function's gradient. So forces are the same, to rounding, in a rotated cube with particles displaced by up to 3 cm at random.
- **Rotation**: about (1, 2, 2)/3, with a shift. Warped forces vanish; linear ones grow with 1 - cos of the angle, and swell a rotated body.
- **Cantilever**, in a room with default settings: ${LENGTH} x ${HEIGHT} x ${HEIGHT} m, ${BEAM_YOUNG / 1e6} MPa, ${FORCE} N over its end, damped, after three seconds. Its sag is compared with Newton's method on Saint Venant-Kirchhoff elements of the same mesh, by separate code. That law differs from Hooke's by the strain, about 0.1 %; the target is 1 %. Finer meshes tend to beam theory (Timoshenko's beam, ${short(1000 * THEORY)} mm).

Limits: linear tetrahedra cannot bend, so the beam of one cell through its height sags by a third of theory, and so do static elements. That is an error of the mesh, not of the method; it shrinks with the square of the cells once they are small.${full ? "" : " The full report has finer meshes."} Warped elements have no physical law at large strains, and their stiffness ignores the derivative of R.`,
      checks: [...checks, ...sags],
      plots: [
        {
          caption: "Largest residual force of a turned cube.",
          spec: curves({ title: "degrees" }, { title: "force / (E face)", log: true }, rigid),
        },
        {
          caption: "Sag of a cantilever over beam theory, by cells through its height.",
          spec: curves(
            { title: "cells through the height", zero: true },
            { title: "sag / theory", zero: true },
            series,
            [{ y: 1, label: "beam theory" }],
          ),
        },
      ],
      pictures: [],
    };
  },
};
