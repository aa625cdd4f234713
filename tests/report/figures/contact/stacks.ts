/** Stacks at default settings stand under any load, and gain no energy. */
import type { Body } from "../../../../shared/scene/scene.ts";
import { laboratory, type Laboratory } from "../../../physics/laboratory.ts";
import { middle } from "../../../physics/measures.ts";
import { bookCheck } from "../books.ts";
import { check, type Check, type Figure, type Progress } from "../figure.ts";
import { photograph } from "../drawing/photograph.ts";
import { curves, type Series } from "../drawing/plots.ts";

const G = 9.81;
/** Largest creep of the target, m/s. */
const CREEP = 1e-4;
/** Time for bodies that start within their gaps, or pressed together, to settle, s. */
const SETTLING = 10;

interface Stack {
  size: number;
  /** kg/m^3, from the bottom up. */
  densities: readonly number[];
  /** Pa; absent: rigid. */
  youngsModulus?: number;
  /** Gap between the floor and the lowest box, and between neighbors, m. */
  gaps: readonly [number, number];
  damping?: number;
}

const eight = Array<number>(8).fill(500);
/** More than any gap that contact keeps, m. */
const CLEAR = 0.006;
const STACKS: Record<string, Stack> = {
  "eight rigid boxes": { size: 0.2, densities: eight, gaps: [0.002, 0.0045] },
  "eight rigid boxes, each exactly on the other": { size: 0.2, densities: eight, gaps: [0, 0] },
  "eight boxes of 1e7 Pa": { size: 0.2, densities: eight, youngsModulus: 1e7, gaps: [0.002, 0.0045], damping: 1 },
  "rigid, ten times as heavy, exactly on it": { size: 0.2, densities: [500, 5000], gaps: [0, 0] },
  "rigid, 100 times as heavy, within its gap": { size: 0.2, densities: [500, 5e4], gaps: [0.002, 0.002] },
  "rigid, 1000 times as heavy, within its gap": { size: 0.2, densities: [500, 5e5], gaps: [0.002, 0.002] },
  "1e6 Pa, 1000 times as heavy": {
    size: 0.05,
    densities: [100, 1e5],
    youngsModulus: 1e6,
    gaps: [0.002, 0.0045],
    damping: 1,
  },
};
const SMALL = ["eight rigid boxes", "rigid, 1000 times as heavy, within its gap"];

async function build({ size, densities, youngsModulus, gaps, damping = 0 }: Stack): Promise<Laboratory> {
  const material = (density: number): object =>
    youngsModulus === undefined
      ? { density, model: "shape-matching", mode: "rigid", friction: 0.5 }
      : { density, youngsModulus, poissonsRatio: 0.3, friction: 0.5 };
  const bodies = densities.map((density, n) => ({
    name: `box ${n}`,
    kind: "soft",
    mesh: { type: "box", size: [size, size, size], cells: [2, 2, 2] },
    transform: { translate: [0, size / 2 + gaps[0] + n * (size + gaps[1]), 0] },
    material: material(density),
  })) as Body[];
  return laboratory({
    refine: true,
    gravity: [0, -G, 0],
    damping,
    bodies,
    colliders: [{ type: "plane", normal: [0, 1, 0], offset: 0, friction: 0.5 }],
  });
}

/** Kinetic and potential energy, J. */
function energy(lab: Laboratory): number {
  return lab.created.bodies.reduce((sum, { mass }, b) => {
    const [x, v] = [lab.positions(b), lab.velocities(b)];
    return mass.reduce(
      (all, m, i) => all + m * (G * x[3 * i + 1]! + (v[3 * i]! ** 2 + v[3 * i + 1]! ** 2 + v[3 * i + 2]! ** 2) / 2),
      sum,
    );
  }, 0);
}

/** @returns [s, m]: largest displacement of a box from its settled place */
async function watch(lab: Laboratory, seconds: number, settling: number): Promise<[number, number][]> {
  lab.run(60 * settling);
  const from = lab.created.bodies.map((_, b) => middle(lab.positions(b)));
  return Array.from({ length: seconds - settling }, (_, second) => {
    lab.run(60);
    const far = from.map((at, b) => Math.hypot(...middle(lab.positions(b)).map((c, r) => c - at[r]!)));
    return [settling + second + 1, Math.max(...far)];
  });
}

/**
 * Drops two boxes onto the floor from outside of all gaps. @returns relative excess of the energy over its initial
 * value
 */
async function gain(stack: Stack, seconds: number): Promise<number> {
  const lab = await build({ ...stack, gaps: [CLEAR, CLEAR], damping: 0 });
  const start = energy(lab);
  let most = -Infinity;
  for (let tick = 0; tick < 60 * seconds; tick++) {
    lab.run(1);
    most = Math.max(most, energy(lab) / start - 1);
  }
  return most;
}

/** Stacks of two boxes. */
const pairs = (): [string, Stack][] => Object.entries(STACKS).filter(([, { densities }]) => densities.length === 2);

/** Energy check of a fall from outside of all gaps, 3 s. */
async function booked(name: string, stack: Stack): Promise<Check> {
  return bookCheck(`${name}, dropped`, await build({ ...stack, gaps: [CLEAR, CLEAR], damping: 0 }), 180);
}

export const figure: Figure = {
  id: "stacks",
  title: "Stacks stand under any load",
  source: "beyond the paper; Coulomb's law and conservation of energy",
  async run(size, progress: Progress = () => {}) {
    const full = size === "full";
    const [seconds, settling] = full ? [60, SETTLING] : [5, 2];
    const names = full ? Object.keys(STACKS) : SMALL;
    const checks: Check[] = [];
    const series: Series[] = [];
    let shown: Laboratory | undefined;
    for (const [n, name] of names.entries()) {
      progress(n / names.length, name);
      const lab = await build(STACKS[name]!);
      const way = await watch(lab, seconds, settling);
      shown ??= lab;
      series.push({ name, points: way.map(([s, m]) => [s, Math.max(m, 1e-8)]) });
      checks.push(
        check(`${name}: creep from ${settling} s to ${seconds} s`, way.at(-1)![1] / (seconds - settling), {
          unit: "m/s",
          high: CREEP,
          basis: "target",
        }),
      );
      if (STACKS[name]!.densities.length === 2)
        checks.push(
          check(
            `${name}: relative excess of the energy over its initial value`,
            await gain(STACKS[name]!, full ? 5 : 1),
            { high: 2 ** -23, basis: "float32" },
          ),
        );
    }
    if (full) for (const [name, stack] of pairs()) checks.push(await booked(name, stack));
    return {
      text: `Boxes stand on each other on a floor (friction 0.5), at default settings: eight equal ones, and two with an upper one up to 1000 times as heavy. They begin where a scene's author may put them: exactly on each other, or within the gap of some millimeters that contact keeps, from which they are lifted slowly. In theory a stack does not move; the limit is 0.1 mm/s of creep. A tower of eight boxes of 1e5 Pa would fall over in reality, too: at 500 kg/m^3 a column 0.2 m wide buckles under its own weight at 0.8 m (Greenhill 1881), so the soft ones have 1e7 Pa.

Two boxes are also dropped from outside of all gaps, undamped: the sum of kinetic and potential energy never exceeds its initial value by more than the rounding of positions (half of float32's last place).`,
      checks,
      plots: [
        {
          caption: "Largest displacement of a box from its settled place.",
          spec: curves({ title: "time, s", zero: true }, { title: "displacement, m", log: true }, series, [
            { y: CREEP * (seconds - settling), label: "limit at the end" },
          ]),
        },
      ],
      pictures: [photograph(shown!, { caption: `${names[0]} after ${seconds} s.`, from: [1, 0.4, 1] })],
    };
  },
};
