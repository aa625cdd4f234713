/**
 * Measurements of point-based bodies for their test and the report: affine maps, and a beam against finite elements.
 */
import type { PointsBody } from "../../../shared/scene/scene.ts";
import type { Method as MethodSpec, PointBased } from "../../../shared/scene/sceneMethodTypes.ts";
import { staticEquilibrium } from "../../statics/equilibrium.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";
import { block, largest, opened, outside, POISSON, YOUNG, type Opened } from "./kit.ts";

export const SPACING = 0.1;

/** 4 x 3 x 3 points, free. */
export function body(method: Partial<PointBased> = {}): PointsBody {
  return block({ type: "point-based", ...method } as MethodSpec, {
    mesh: { type: "lattice", arrangement: "cubic", cells: [4, 3, 3], spacing: SPACING },
    material: { density: 1000, youngsModulus: YOUNG, poissonsRatio: POISSON },
  });
}

export const points = (spec: Partial<PointBased> = {}, fixed = false): Promise<Opened> =>
  opened(body(spec), undefined, { fixed });

/** Forces from one explicit step from rest: M dv/h. */
export function forces({ of, method, state }: Opened, x: Float64Array): Float64Array {
  const v = new Float64Array(x.length);
  method.step({ x: x.slice(), v, more: state.more.slice() }, outside(of));
  return v.map((value, k) => (value * of.mass[Math.floor(k / 3)]!) / of.h);
}

export const energyAt = ({ method, state }: Opened, x: Float64Array): number => method.energy({ ...state, x });

export const mapped = (X: Float64Array, F: readonly number[], by: (k: number) => number = () => 0): Float64Array =>
  X.map((_, k) => {
    const p = X.subarray(k - (k % 3), k - (k % 3) + 3);
    const r = 3 * (k % 3);
    return F[r]! * p[0]! + F[r + 1]! * p[1]! + F[r + 2]! * p[2]! + by(k);
  });

/** Rotation matrix by 1.1 rad about (1, 2, 2)/3. */
function rotation(): number[] {
  const n = [1 / 3, 2 / 3, 2 / 3];
  const [s, c] = [Math.sin(1.1), Math.cos(1.1)];
  const cross = [0, -n[2]!, n[1]!, n[2]!, 0, -n[0]!, -n[1]!, n[0]!, 0];
  return cross.map((w, k) => (k % 4 === 0 ? c : 0) + s * w + (1 - c) * n[Math.floor(k / 3)]! * n[k % 3]!);
}

export const EXPLICIT = { integrator: "explicit" } as const;

/** Largest force over E s^2 and energy over E s^3 after a rotation by 1.1 rad and a shift, for points s apart. */
export async function rigidMotion(): Promise<{ force: number; energy: number }> {
  const still = await points({ ...EXPLICIT, volumeStiffness: 1 });
  const x = mapped(still.template.positions, rotation(), (k) => 0.3 - 0.2 * (k % 3));
  return {
    force: largest(forces(still, x)) / (YOUNG * SPACING ** 2),
    energy: energyAt(still, x) / (YOUNG * SPACING ** 3),
  };
}

/** Relative error of the energy of an affine map against the law of Saint Venant-Kirchhoff. */
export async function affineError(): Promise<number> {
  const F = [1.1, 0.2, 0, -0.1, 0.95, 0.05, 0.02, 0, 1.05];
  const still = await points(EXPLICIT);
  const e = F.map((_, k) => {
    const [r, s] = [Math.floor(k / 3), k % 3];
    const dot = F[r]! * F[s]! + F[3 + r]! * F[3 + s]! + F[6 + r]! * F[6 + s]!;
    return 0.5 * (dot - (r === s ? 1 : 0));
  });
  const mu = YOUNG / (2 * (1 + POISSON));
  const lambda = (YOUNG * POISSON) / ((1 + POISSON) * (1 - 2 * POISSON));
  const trace = e[0]! + e[4]! + e[8]!;
  const density = mu * e.reduce((sum, value) => sum + value * value, 0) + 0.5 * lambda * trace * trace;
  return Math.abs(energyAt(still, mapped(still.template.positions, F)) / (density * still.of.count * SPACING ** 3) - 1);
}

/** A beam of 3.5 x 1 x 1 widths, clamped in a wall, under gravity. */
export const WIDTH = 0.25;
export const BEAM = { density: 1000, youngsModulus: 1e5, poissonsRatio: POISSON };
export const GRAVITY = 0.3;

export interface Bent {
  /** Mean sag of the free part, weighted by mass, m. */
  sag: number;
  /** Mean height of each layer across the beam, m, by its distance from the wall, m. */
  line: [x: number, y: number][];
}

function bent({ created }: Laboratory, x: Float64Array): Bent {
  const [{ positions, mass, pinned }] = created.bodies as [(typeof created.bodies)[0]];
  let [sum, all] = [0, 0];
  const layers = new Map<string, number[]>();
  for (let i = 0; i < mass.length; i++) {
    const moved = x[3 * i + 1]! - positions[3 * i + 1]!;
    const layer = positions[3 * i]!.toFixed(6);
    layers.set(layer, [...(layers.get(layer) ?? []), moved]);
    if (pinned[i]) continue;
    sum += mass[i]! * moved;
    all += mass[i]!;
  }
  const line = [...layers].map(([at, moved]): [number, number] => [
    Number(at),
    moved.reduce((total, y) => total + y, 0) / moved.length,
  ]);
  return { sag: sum / all, line: line.sort(([p], [q]) => p - q) };
}

const WALL = [{ select: { box: { min: [-1, -1, -1], max: [1e-4, 1, 1] } } }];

/** Static equilibrium. @param n cells across, even */
export async function beamOfElements(n: number): Promise<Bent> {
  const lab = await laboratory({
    bodies: [
      {
        name: "beam",
        kind: "soft",
        mesh: { type: "box", size: [3.5 * WIDTH, WIDTH, WIDTH], cells: [3.5 * n, n, n] },
        transform: { translate: [1.75 * WIDTH, 0, 0] },
        material: { ...BEAM, damping: 1 },
        pins: WALL,
      } as never,
    ],
  });
  const [beam] = lab.created.bodies;
  const force = beam!.positions.map((_, k) => (k % 3 === 1 ? -GRAVITY * beam!.mass[Math.floor(k / 3)]! : 0));
  const { x } = staticEquilibrium({
    rest: beam!.positions,
    tets: beam!.tets,
    material: { model: "stvk", ...BEAM },
    fixed: beam!.pinned,
    force,
  });
  return bent(lab, x);
}

/** Beam of points; its first layer lies in the wall's face. @param n points across, odd */
export async function beamOfPoints(n: number): Promise<Bent> {
  const spacing = WIDTH / n;
  const lab = await laboratory({
    tickHz: 30,
    gravity: [0, -GRAVITY, 0],
    bodies: [
      {
        name: "beam",
        kind: "points",
        mesh: { type: "lattice", arrangement: "cubic", cells: [3.5 * n + 0.5, n, n], spacing },
        transform: { translate: [1.75 * WIDTH - spacing / 4, 0, 0] },
        material: { ...BEAM, damping: 4 },
        pins: WALL,
        method: { type: "point-based", steps: 2, stiffnessDamping: 0.01 },
      } as never,
    ],
  });
  for (let last = 0, now = -1; Math.abs(now - last) > 1e-4 * Math.abs(now); ) {
    lab.run(10);
    last = now;
    now = bent(lab, lab.positions()).sag;
  }
  return bent(lab, lab.positions());
}
