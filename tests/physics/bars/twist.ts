/** A beam whose right end is turned and released (figure 8 of Bender et al. 2014). */
import type { Vec3 } from "../../../shared/scene/scene.ts";
import type { Plasticity } from "../../../shared/scene/sceneMaterials.ts";
import { laboratory, type Laboratory } from "../laboratory.ts";
import { meanPlasticStrain } from "../materials/plasticStrains.ts";

export const BEAM: {
  size: Vec3;
  cells: Vec3;
  youngsModulus: number;
  poissonsRatio: number;
  density: number;
  damping: number;
} = { size: [1, 0.2, 0.2], cells: [12, 3, 3], youngsModulus: 1e6, poissonsRatio: 0.3, density: 1000, damping: 5 };

/** Motion of the end: turned at an even rate, held, then released until the beam rests; rad and s. */
export const HAND = { angle: Math.PI, turning: 1, holding: 0.5, free: 2.5 };

/** The parameter sets of figure 8. The paper shows pictures and describes the differences; the numbers are ours. */
export const SETS: Record<"a" | "b" | "c" | "d", Plasticity> = {
  a: { yield: 0.04, creep: 1, max: 0.6 },
  b: { yield: 0.04, creep: 10, max: 0.6 },
  c: { yield: 0.12, creep: 1, max: 0.6 },
  d: { yield: 0.04, creep: 1, max: 0.05 },
};

/** A hundredth of the strains here, and above the effect of the first tick's jerk on the last row of elements. */
const ONSET = 2e-3;

export interface Moment {
  /** s */
  time: number;
  /** Turn of the right end about the beam's axis, rad. */
  twist: number;
  /** Mean |eps_plastic|. */
  plastic: number;
}

export interface Twist {
  lab: Laboratory;
  course: Moment[];
  /** Remaining twist. */
  residual: number;
  /** Onset of flow, s: mean |eps_plastic| exceeds ONSET; Infinity if it never does. */
  onset: number;
}

/** Rotation of the particles `end` about x from their rest places: the angle that fits best. */
export function turnOf(rest: Float64Array, now: Float64Array, end: readonly number[], before: number): number {
  const middle = (x: Float64Array, r: number): number => end.reduce((sum, i) => sum + x[3 * i + r]!, 0) / end.length;
  const [y0, z0, y1, z1] = [middle(rest, 1), middle(rest, 2), middle(now, 1), middle(now, 2)];
  let c = 0;
  let s = 0;
  for (const i of end) {
    const [a, b, p, q] = [rest[3 * i + 1]! - y0, rest[3 * i + 2]! - z0, now[3 * i + 1]! - y1, now[3 * i + 2]! - z1];
    c += a * p + b * q;
    s += a * q - b * p;
  }
  // a beam may turn by more than half a turn: choose the branch nearest to the last angle
  const angle = Math.atan2(s, c);
  return angle + 2 * Math.PI * Math.round((before - angle) / (2 * Math.PI));
}

/** @param watch called once a tick */
export async function twistBeam(
  plasticity: Plasticity | undefined,
  steps: { substeps: number; iterations: number },
  watch: (lab: Laboratory, moment: Moment) => void = () => {},
): Promise<Twist> {
  const { size, cells, ...material } = BEAM;
  const half = 0.4999 * size[0];
  const lab = await laboratory({
    ...steps,
    bodies: [
      {
        name: "beam",
        kind: "soft",
        mesh: { type: "box", size, cells },
        material: { ...material, ...(plasticity && { plasticity }) },
        pins: [{ select: { box: { min: [-10, -10, -10], max: [-half, 10, 10] } } }],
      },
    ],
  });
  const rest = lab.positions();
  const end: number[] = [];
  const w: number[] = [];
  for (let i = 0; i < rest.length / 3; i++) if (rest[3 * i]! > half) end.push(i);
  for (const i of end) w.push(lab.x[4 * i + 3]!);
  const tick = 1 / 60;
  const { turning, holding, free, angle } = HAND;
  const { origin } = lab.created.layout;
  const course: Moment[] = [];
  let residual = 0;
  let onset = Infinity;
  for (let n = 1; n * tick <= turning + holding + free + 1e-9; n++) {
    const time = n * tick;
    const turned = angle * Math.min(1, time / turning);
    for (const [k, i] of end.entries()) {
      const held = time <= turning + holding;
      const at = 4 * i;
      if (held) {
        const y = rest[3 * i + 1]!;
        const z = rest[3 * i + 2]!;
        const c = Math.cos(turned);
        const s = Math.sin(turned);
        lab.x.set([rest[3 * i]! - origin[0], c * y - s * z - origin[1], s * y + c * z - origin[2]], at);
        lab.v.fill(0, at, at + 3);
      }
      lab.x[at + 3] = held ? 0 : w[k]!;
    }
    const events = lab.run(1);
    if (events.length) throw new Error(`the beam was held: ${JSON.stringify(events[0])}`);
    residual = turnOf(rest, lab.positions(), end, residual);
    const plastic = plasticity ? meanPlasticStrain(lab) : 0;
    if (plastic > ONSET) onset = Math.min(onset, time);
    course.push({ time, twist: residual, plastic });
    watch(lab, course.at(-1)!);
  }
  return { lab, course, residual, onset };
}
