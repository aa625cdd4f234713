/** Dozens of defective surfaces: every kind of damage to several shapes, for every role. */
import { icosphere } from "../../../../server/meshing/generators.ts";
import type { SurfaceMesh } from "../../../../server/meshing/mesh.ts";
import type { ObjectRole } from "../../../../shared/scene/objectRoles.ts";
import { inLong } from "../../../support/run/long.ts";
import { Random } from "../../../fuzz/random.ts";
import {
  box,
  bumpySphere,
  flipped,
  moebius,
  moved,
  patch,
  sheet,
  spider,
  together,
  tube,
  without,
} from "./wildShapes.ts";

export interface Wild {
  name: string;
  surface: () => SurfaceMesh;
  role: ObjectRole;
}

const noise = (surface: SurfaceMesh, amount: number): SurfaceMesh => {
  const random = new Random(7);
  return { ...surface, positions: surface.positions.map((x) => x + amount * (random.below(2001) / 1000 - 1)) };
};
/** Each triangle with its own corners, separated by a small gap. */
const soup = (surface: SurfaceMesh, gap: number): SurfaceMesh => {
  const positions: number[] = [];
  surface.triangles.forEach((v, h) => {
    for (let k = 0; k < 3; k++) positions.push(surface.positions[3 * v + k]! + gap * Math.sin(h + k));
  });
  return { positions: Float64Array.from(positions), triangles: surface.triangles.map((_, h) => h) };
};

const shapes: Record<string, () => SurfaceMesh> = {
  ball: () => bumpySphere(3),
  box: () => box(1, 0.5, 0.2),
  spider: () => spider(0.02),
  knot: () =>
    tube(60, 0.04, (t) => {
      const a = 4 * Math.PI * t * 0.98;
      const r = 0.3 + 0.12 * Math.cos(1.5 * a);
      return [r * Math.cos(a), 0.15 * Math.sin(1.5 * a), r * Math.sin(a)];
    }),
  sheet: () => sheet(10),
  bowl: () => patch(10, (u, v) => [u - 0.5, (u - 0.5) ** 2 + (v - 0.5) ** 2, v - 0.5]),
};
const damages: Record<string, (surface: SurfaceMesh) => SurfaceMesh> = {
  "as it is": (s) => s,
  "inside out": (s) => flipped(s),
  "half turned": (s) => flipped(s, (t) => t % 3 === 0),
  "with holes": (s) => without(s, (t) => t % 7 === 0),
  "from both sides": (s) => together(s, flipped(s)),
  "in loose triangles": (s) => soup(s, 1e-3),
  noisy: (s) => noise(s, 0.02),
  "through itself": (s) => together(s, moved(s, 0.7, [0.2, 0.1, 0])),
  "flattened to nothing": (s) => ({ ...s, positions: s.positions.map((x, i) => (i % 3 === 1 ? 0 : x)) }),
  "of kilometers": (s) => moved(s, 1e6, [1e6, -1e6, 3e6]),
};
const odd: Record<string, () => SurfaceMesh> = {
  moebius: () => moebius(30),
  "one triangle": () => patch(1, (u, v) => [u, 0, v]),
  "a fan of sheets on one edge": () =>
    together(...[0, 1, 2, 3].map((i) => patch(3, (u, v) => [u * Math.cos(i), v, u * Math.sin(i)]))),
  "a needle": () => box(1, 1e-4, 1e-4),
  "two balls in one point": () => together(icosphere(0.5, 2), moved(icosphere(0.5, 2), 1, [1, 0, 0])),
  "a hundred crumbs": () =>
    together(
      ...Array.from({ length: 100 }, (_, i) =>
        moved(box(1, 1, 1), 0.02, [Math.sin(i), Math.cos(3 * i), Math.sin(7 * i)]),
      ),
    ),
};

const all: Wild[] = [
  ...Object.entries(shapes).flatMap(([shape, make]) =>
    Object.entries(damages).map(([damage, harm], i) => ({
      name: `${shape} ${damage}`,
      surface: () => harm(make()),
      role: (["soft", "cloth", "soft", "rigid", "collider"] as const)[i % 5]!,
    })),
  ),
  ...Object.entries(odd).flatMap(([name, surface]) =>
    (["soft", "cloth"] as const).map((role) => ({ name: `${name} as ${role}`, surface, role })),
  ),
];

/** 72 surfaces; every ninth in the short form. */
export const FAMILY: readonly Wild[] = all.filter((_, i) => i % inLong(1, 9) === 0);
